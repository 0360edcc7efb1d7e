//! Element types, to the bit: order, NaN, lowest values.

use half::{bf16, f16};

/// The element type of X and Y.
///
/// ```
/// use wgpu_pooling::DType;
/// assert_eq!(DType::F16.bytes(), 2);
/// assert_eq!("bf16".parse(), Ok(DType::Bf16));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE double precision.
    F64,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
}

impl DType {
    pub(crate) const ATTRIBUTE: &str = "dtype";
    pub(crate) const NAMES: &str = "f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64";

    /// Every element type.
    ///
    /// ```
    /// use wgpu_pooling::DType;
    /// assert_eq!(DType::ALL.iter().filter(|dtype| dtype.is_float()).count(), 4);
    /// ```
    pub const ALL: [DType; 12] = {
        use DType::*;
        [F32, F16, Bf16, F64, I8, U8, I16, U16, I32, U32, I64, U64]
    };

    /// The name, the bytes, the number in ONNX's `TensorProto.DataType` and the bits of the lowest finite value.
    const fn facts(self) -> (&'static str, usize, i32, u64) {
        match self {
            DType::F32 => ("f32", 4, 1, 0xFF7F_FFFF),
            DType::F16 => ("f16", 2, 10, 0xFBFF),
            DType::Bf16 => ("bf16", 2, 16, 0xFF7F),
            DType::F64 => ("f64", 8, 11, 0xFFEF_FFFF_FFFF_FFFF),
            DType::I8 => ("i8", 1, 3, 0x80),
            DType::U8 => ("u8", 1, 2, 0),
            DType::I16 => ("i16", 2, 5, 0x8000),
            DType::U16 => ("u16", 2, 4, 0),
            DType::I32 => ("i32", 4, 6, 0x8000_0000),
            DType::U32 => ("u32", 4, 12, 0),
            DType::I64 => ("i64", 8, 7, 0x8000_0000_0000_0000),
            DType::U64 => ("u64", 8, 13, 0),
        }
    }

    /// The size of one element in bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.facts().1
    }

    /// Whether this is one of the floating-point types.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::Bf16 | DType::F64)
    }

    /// The element type of a number in ONNX's `TensorProto.DataType`, which fields `data_type` and `elem_type` hold.
    ///
    /// ```
    /// use wgpu_pooling::DType;
    /// assert_eq!((DType::from_onnx(16), DType::Bf16.to_onnx()), (Some(DType::Bf16), 16));
    /// assert_eq!(DType::from_onnx(9), None, "BOOL");
    /// ```
    pub fn from_onnx(number: i32) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.to_onnx() == number)
    }

    /// The number in ONNX's `TensorProto.DataType`.
    pub const fn to_onnx(self) -> i32 {
        self.facts().2
    }

    /// The short name: `f32`, `bf16`, `u8`.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// The bits of the positive quiet NaN without a payload, for floats: those of infinity and the highest bit below.
    #[inline]
    pub(crate) fn nan_bits(self) -> u64 {
        let infinity = self.negative_infinity_bits() & (u64::MAX >> 1 >> (64 - 8 * self.bytes()));
        infinity | 1 << infinity.trailing_zeros() >> 1
    }

    /// The bits of the value of an empty window under `EmptyValue::NegInf`: -inf, or the minimum of an integer type.
    pub(crate) fn negative_infinity_bits(self) -> u64 {
        // The float that follows the lowest finite one.
        self.lowest_finite_bits() + u64::from(self.is_float())
    }

    /// The bits of the lowest finite value (`EmptyValue::LowestFinite`); the minimum of an integer type.
    #[doc(hidden)]
    pub fn lowest_finite_bits(self) -> u64 {
        self.facts().3
    }

    /// The bits of the value from which `NanPolicy::SeedLowest` starts: the lowest finite one of f32 and f64, -inf for
    /// f16 and bf16 (OpenVINO computes those in f32 and converts), the minimum of integers.
    pub(crate) fn seed_bits(self) -> u64 {
        match self {
            DType::F16 | DType::Bf16 => self.negative_infinity_bits(),
            other => other.lowest_finite_bits(),
        }
    }
}

/// What activations compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// f32, for f32, f16 and bf16.
    Single(f32),
    /// f64.
    Double(f64),
    /// The integer itself.
    Integer,
}

mod sealed {
    use super::Number;

    pub trait Sealed: Sized {
        /// The element as activations compute with it.
        fn number(self) -> Number;

        /// The element nearest to a number: floats are rounded once, integers towards zero and into their range.
        fn of_f32(number: f32) -> Self;

        /// The element nearest to a double.
        fn of_f64(number: f64) -> Self;

        /// The difference. Integers stay in their range; floats are subtracted as activations compute with them, and
        /// every NaN is the same one.
        fn minus(self, other: Self) -> Self;

        /// An integer that orders elements as `greater` does: -0 and +0 have the same rank. The rank of a NaN has no
        /// meaning.
        fn rank(self) -> i64;

        /// The element of a rank, a positive one of zeros.
        fn of_rank(rank: i64) -> Self;
    }
}

/// A Rust type of tensor elements, the host's counterpart of a [`DType`]. Sealed.
///
/// ```
/// use wgpu_pooling::Element;
///
/// fn maximum<T: Element>(data: &[T]) -> Option<T> {
///     data.iter().copied().reduce(|best, next| if next.greater(best) { next } else { best })
/// }
/// assert_eq!(maximum(&[3u8, 9, 4]), Some(9));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    note = "f32, f16, bf16, f64 and the integers of 8 to 64 bits are"
)]
pub trait Element: sealed::Sealed + bytemuck::Pod + PartialEq + core::fmt::Debug + Send + Sync {
    /// Which dtype this is.
    ///
    /// ```
    /// use wgpu_pooling::{DType, Element};
    /// assert_eq!((f32::DTYPE, u8::DTYPE), (DType::F32, DType::U8));
    /// ```
    const DTYPE: DType;

    /// IEEE `self > other`: false with NaN, and -0 equals +0. Integers as usual.
    ///
    /// ```
    /// use wgpu_pooling::Element;
    /// assert!(2u8.greater(1) && 0.0f32.greater(f32::NEG_INFINITY));
    /// assert!(!0.0f32.greater(-0.0) && !1.0f32.greater(f32::NAN));
    /// ```
    #[doc(hidden)]
    fn greater(self, other: Self) -> bool;

    /// Whether this is a NaN. Integers never are.
    ///
    /// ```
    /// use wgpu_pooling::Element;
    /// assert!(Element::is_nan(f32::NAN) && !Element::is_nan(7u8));
    /// ```
    #[doc(hidden)]
    fn is_nan(self) -> bool;

    /// The element with these bits; higher bits are ignored.
    ///
    /// ```
    /// use wgpu_pooling::Element;
    /// assert_eq!((f32::from_bits64(0x3F80_0000), i8::from_bits64(0x1FF)), (1.0, -1));
    /// ```
    fn from_bits64(bits: u64) -> Self;

    /// The element's bits, zero-extended.
    ///
    /// ```
    /// use wgpu_pooling::Element;
    /// assert_eq!((1.0f32.to_bits64(), (-1i8).to_bits64()), (0x3F80_0000, 0xFF));
    /// ```
    fn to_bits64(self) -> u64;
}

macro_rules! float_element {
    ($type:ty, $bits:ty, $signed:ty, $dtype:expr, $number:expr, $of_f32:expr, $of_f64:expr) => {
        impl sealed::Sealed for $type {
            #[inline]
            fn number(self) -> Number {
                $number(self)
            }
            #[inline]
            fn of_f32(number: f32) -> Self {
                $of_f32(number)
            }
            #[inline]
            fn of_f64(number: f64) -> Self {
                $of_f64(number)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                let of_f32 = |number: f32| Self::of_f32(if number.is_nan() { f32::NAN } else { number });
                match ($number(self), $number(other)) {
                    (Number::Single(a), Number::Single(b)) => of_f32(a - b),
                    (Number::Double(a), Number::Double(b)) if !(a - b).is_nan() => Self::of_f64(a - b),
                    _ => Self::of_f64(f64::NAN),
                }
            }
            // Sign and magnitude as two's complement. A test of the sign and one of the magnitude would be recognised
            // by compilers, which then compare floats.
            #[inline]
            fn rank(self) -> i64 {
                let bits = self.to_bits() as $signed;
                let sign = bits >> (<$bits>::BITS - 1);
                i64::from((bits ^ (sign & <$signed>::MAX)) - sign)
            }
            #[inline]
            fn of_rank(rank: i64) -> Self {
                let sign = if rank < 0 { 1 << (<$bits>::BITS - 1) } else { 0 };
                <$type>::from_bits(rank.unsigned_abs() as $bits | sign)
            }
        }
        impl Element for $type {
            const DTYPE: DType = $dtype;
            // Of integers: a program may have told the processor to take subnormal floats for zeros.
            #[inline]
            fn greater(self, other: Self) -> bool {
                !self.is_nan() && !other.is_nan() && sealed::Sealed::rank(self) > sealed::Sealed::rank(other)
            }
            #[inline]
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            #[inline]
            fn from_bits64(bits: u64) -> Self {
                <$type>::from_bits(bits as $bits)
            }
            #[inline]
            fn to_bits64(self) -> u64 {
                self.to_bits() as u64
            }
        }
    };
}

macro_rules! integer_element {
    ($type:ty, $bits:ty, $dtype:expr) => {
        impl sealed::Sealed for $type {
            #[inline]
            fn number(self) -> Number {
                Number::Integer
            }
            #[inline]
            fn of_f32(number: f32) -> Self {
                number as $type
            }
            #[inline]
            fn of_f64(number: f64) -> Self {
                number as $type
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
            #[inline]
            fn rank(self) -> i64 {
                // The top bit of unsigned integers of 64 bits would otherwise be the sign.
                (self as i64) ^ if <$type>::MIN == 0 && size_of::<$type>() == 8 { i64::MIN } else { 0 }
            }
            #[inline]
            fn of_rank(rank: i64) -> Self {
                (rank ^ if <$type>::MIN == 0 && size_of::<$type>() == 8 { i64::MIN } else { 0 }) as $type
            }
        }
        impl Element for $type {
            const DTYPE: DType = $dtype;
            #[inline]
            fn greater(self, other: Self) -> bool {
                self > other
            }
            #[inline]
            fn is_nan(self) -> bool {
                false
            }
            #[inline]
            fn from_bits64(bits: u64) -> Self {
                bits as $type
            }
            #[inline]
            fn to_bits64(self) -> u64 {
                self as $bits as u64
            }
        }
    };
}

float_element!(f32, u32, i32, DType::F32, Number::Single, |x: f32| x, |x: f64| x as f32);
float_element!(f64, u64, i64, DType::F64, Number::Double, f64::from, |x: f64| x);
float_element!(f16, u16, i16, DType::F16, |x: f16| Number::Single(x.to_f32()), f16::from_f32, f16::from_f64);
float_element!(bf16, u16, i16, DType::Bf16, |x: bf16| Number::Single(x.to_f32()), bf16::from_f32, bf16::from_f64);
integer_element!(i8, u8, DType::I8);
integer_element!(u8, u8, DType::U8);
integer_element!(i16, u16, DType::I16);
integer_element!(u16, u16, DType::U16);
integer_element!(i32, u32, DType::I32);
integer_element!(u32, u32, DType::U32);
integer_element!(i64, u64, DType::I64);
integer_element!(u64, u64, DType::U64);

/// Evaluates an expression with a name for the Rust type of a [`DType`].
///
/// ```
/// use wgpu_pooling::{DType, Element, with_element};
/// let bytes = DType::ALL.map(|dtype| with_element!(dtype, T => size_of::<T>()));
/// assert_eq!(bytes, DType::ALL.map(DType::bytes));
/// ```
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $type:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F32 => $crate::with_element!(@ $type = f32, $body),
            $crate::DType::F16 => $crate::with_element!(@ $type = $crate::half::f16, $body),
            $crate::DType::Bf16 => $crate::with_element!(@ $type = $crate::half::bf16, $body),
            $crate::DType::F64 => $crate::with_element!(@ $type = f64, $body),
            $crate::DType::I8 => $crate::with_element!(@ $type = i8, $body),
            $crate::DType::U8 => $crate::with_element!(@ $type = u8, $body),
            $crate::DType::I16 => $crate::with_element!(@ $type = i16, $body),
            $crate::DType::U16 => $crate::with_element!(@ $type = u16, $body),
            $crate::DType::I32 => $crate::with_element!(@ $type = i32, $body),
            $crate::DType::U32 => $crate::with_element!(@ $type = u32, $body),
            $crate::DType::I64 => $crate::with_element!(@ $type = i64, $body),
            $crate::DType::U64 => $crate::with_element!(@ $type = u64, $body),
        }
    };
    (@ $type:ident = $rust:ty, $body:expr) => {{
        type $type = $rust;
        $body
    }};
}

/// The integer type of an index tensor.
///
/// ```
/// use wgpu_pooling::IndexType;
/// assert_eq!(IndexType::I32.bytes(), 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexType {
    /// 32-bit signed integers, for index units of at most 2^31 - 1 elements.
    I32,
    /// 64-bit signed integers: ONNX.
    I64,
}

impl IndexType {
    /// The size of one index in bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.dtype().bytes()
    }

    /// The element type of tensors of such indices.
    pub const fn dtype(self) -> DType {
        match self {
            IndexType::I32 => DType::I32,
            IndexType::I64 => DType::I64,
        }
    }

    /// The short name: `i32` or `i64`.
    pub const fn name(self) -> &'static str {
        self.dtype().name()
    }
}

mod index_sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A Rust type of index tensors. Sealed: `i32` and `i64`.
///
/// ```
/// use wgpu_pooling::Index;
///
/// fn largest<I: Index>(indices: &[I]) -> Option<i64> {
///     indices.iter().map(|index| index.to_i64()).max()
/// }
/// assert_eq!((largest(&[3i32, 8, 1]), largest(&[1i64 << 40])), (Some(8), Some(1 << 40)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index type",
    label = "indices of pools are `i32` or `i64`"
)]
pub trait Index: index_sealed::Sealed + Element {
    /// Which index type this is.
    ///
    /// ```
    /// use wgpu_pooling::{Index, IndexType};
    /// assert_eq!((i32::INDEX_TYPE, i64::INDEX_TYPE), (IndexType::I32, IndexType::I64));
    /// ```
    const INDEX_TYPE: IndexType;

    /// The index with this value. A plan ensures that all its indices fit; of a larger value `i32` keeps the low 32
    /// bits.
    ///
    /// ```
    /// use wgpu_pooling::Index;
    /// assert_eq!((i32::from_i64(-1), i64::from_i64(1 << 40)), (-1, 1 << 40));
    /// ```
    fn from_i64(value: i64) -> Self;

    /// The index's value.
    ///
    /// ```
    /// use wgpu_pooling::Index;
    /// assert_eq!((-1i32).to_i64(), -1);
    /// ```
    fn to_i64(self) -> i64;
}

impl Index for i32 {
    const INDEX_TYPE: IndexType = IndexType::I32;
    #[inline]
    fn from_i64(value: i64) -> Self {
        value as i32
    }
    #[inline]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }
}

impl Index for i64 {
    const INDEX_TYPE: IndexType = IndexType::I64;
    #[inline]
    fn from_i64(value: i64) -> Self {
        value
    }
    #[inline]
    fn to_i64(self) -> i64 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_the_values_that_their_names_say() {
        macro_rules! check {
            ($constant:ident, $bits:ident: $($type:ident)+) => {
                $(assert_eq!($type::from_bits64($type::DTYPE.$bits()), $type::$constant);)+
            };
        }
        check!(NEG_INFINITY, negative_infinity_bits: f32 f16 bf16 f64);
        check!(MIN, lowest_finite_bits: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64);
        let nan = [DType::F16, DType::Bf16, DType::F32, DType::F64].map(DType::nan_bits);
        assert_eq!(nan, [0x7E00, 0x7FC0, 0x7FC0_0000, 0x7FF8_0000_0000_0000]);
    }

    #[test]
    fn greater_is_the_ieee_comparison() {
        assert!(!0.0f32.greater(-0.0) && !(-0.0f32).greater(0.0));
        assert!(!f32::NAN.greater(0.0) && !0.0f32.greater(f32::NAN));
        assert!(0.0f32.greater(f32::NEG_INFINITY));
        assert!(f16::from_bits(1).greater(f16::ZERO), "subnormals count");
    }
}
