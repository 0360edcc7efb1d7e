//! Lanes: the form of elements in scratch memory. Vector instructions compare lanes.

use bytemuck::Pod;
use half::{bf16, f16};
use wgpu_pooling_plan::Element;

use super::simd::SimdLevel;

/// A value in scratch memory.
pub(crate) trait Lane: Pod + Send + Sync + PartialOrd {
    /// The lowest lane: no lane is less.
    const LOWEST: Self;

    /// Whether lanes can be NaN.
    const HAS_NAN: bool = false;

    /// The greater one of two neighbours in row-major order; `self` if none is greater. `next` lies `ahead` taps
    /// further on, which lanes that contain their position take into account.
    fn step(self, next: Self, ahead: i32) -> Self;

    /// Whether a step takes the next lane.
    #[inline(always)]
    fn yields(self, next: Self) -> bool {
        next > self
    }

    /// Whether this is NaN, which does not equal itself.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "NaN is not equal to itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

macro_rules! value_lane {
    ($type:ty, $lowest:expr, $has_nan:literal) => {
        impl Lane for $type {
            const LOWEST: Self = $lowest;
            const HAS_NAN: bool = $has_nan;
            #[inline(always)]
            fn step(self, next: Self, _: i32) -> Self {
                if next > self { next } else { self }
            }
        }
    };
}

value_lane!(f32, f32::NEG_INFINITY, true);
value_lane!(f64, f64::NEG_INFINITY, true);
value_lane!(u8, u8::MIN, false);
value_lane!(i16, i16::MIN, false);
value_lane!(i32, i32::MIN, false);
value_lane!(i64, i64::MIN, false);
// Lanes of the flat kernel, which reads and writes elements in place. The separable kernel converts these elements to
// other lanes.
value_lane!(i8, i8::MIN, false);
value_lane!(u16, u16::MIN, false);
value_lane!(u32, u32::MIN, false);
value_lane!(u64, u64::MIN, false);

/// A float that a later NaN replaces.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(crate) struct NanWins<T>(pub T);

macro_rules! nan_wins_lane {
    ($($type:ty),+) => {
        $(impl Lane for NanWins<$type> {
            const LOWEST: Self = NanWins(<$type>::NEG_INFINITY);
            #[inline(always)]
            fn step(self, next: Self, _: i32) -> Self {
                if self.yields(next) { next } else { self }
            }
            #[inline(always)]
            fn yields(self, next: Self) -> bool {
                (next.0 > self.0) | next.0.is_nan()
            }
        })+
    };
}

nan_wins_lane!(f32, f64);

/// The greatest of these lanes, by halves. Their number is a power of two.
#[inline(always)]
pub(crate) fn greatest_lane<L: Lane, const COUNT: usize>(mut lanes: [L; COUNT]) -> L {
    let mut half = const {
        assert!(COUNT.is_power_of_two());
        COUNT / 2
    };
    while half > 0 {
        for i in 0..half {
            lanes[i] = lanes[i].step(lanes[i + half], 0);
        }
        half /= 2;
    }
    lanes[0]
}

/// An element of 8 or 16 bits and its tap in one number: the element in the upper bits, and below it a number that is
/// smaller for later taps. One maximum compares both, and of equal elements the earlier one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(crate) struct Packed(pub i32);

impl Lane for Packed {
    // The lowest element at the first tap: `step` subtracts taps from it as from any other lane.
    const LOWEST: Self = Packed(i32::MIN | 0xFFFF);
    #[inline(always)]
    fn step(self, next: Self, ahead: i32) -> Self {
        Packed(self.0.max(next.0.wrapping_sub(ahead)))
    }
}

/// Lanes whose positions are in another slice.
pub(crate) trait Positioned: Lane {
    /// An integer as wide as the lane: the amount that a position adds to the index of the window's first tap.
    type Position: Pod + Send + Sync;

    fn position(offset: i64) -> Self::Position;

    fn offset(position: Self::Position) -> i64;

    fn ahead(position: Self::Position, ahead: Self::Position) -> Self::Position;

    /// `b` if `next` is greater than `best`, else `a`. There is no branch, because compilers turn a condition between
    /// two loads into a jump, and then emit no vector instructions.
    fn select(best: Self, next: Self, a: Self::Position, b: Self::Position) -> Self::Position;

    /// Whether `next` is greater than `best`, or equal and at an earlier position.
    fn precedes(best: (Self, Self::Position), next: (Self, Self::Position)) -> bool;
}

macro_rules! positioned {
    ($type:ty, $position:ty) => {
        impl Positioned for $type {
            type Position = $position;
            #[inline(always)]
            fn position(offset: i64) -> $position {
                offset as $position
            }
            #[inline(always)]
            fn offset(position: $position) -> i64 {
                position.into()
            }
            #[inline(always)]
            fn ahead(position: $position, ahead: $position) -> $position {
                position.wrapping_add(ahead)
            }
            #[inline(always)]
            fn select(best: Self, next: Self, a: $position, b: $position) -> $position {
                a ^ ((a ^ b) & <$position>::from(best.yields(next)).wrapping_neg())
            }
            #[inline(always)]
            fn precedes((best, a): (Self, $position), (next, b): (Self, $position)) -> bool {
                (next > best) | ((next == best) & (b < a))
            }
        }
    };
}

positioned!(f32, i32);
positioned!(f64, i64);
positioned!(i32, i32);
positioned!(i64, i64);
positioned!(NanWins<f32>, i32);
positioned!(NanWins<f64>, i64);

/// Whether there is a NaN among elements.
pub(crate) fn has_nan<T: Element>(simd: SimdLevel, elements: &[T]) -> bool {
    simd.run(
        #[inline(always)]
        || any_nan(elements),
    )
}

/// Like [`has_nan`], but inlined into the loops of its callers.
#[inline(always)]
pub(crate) fn any_nan<T: Element>(elements: &[T]) -> bool {
    if size_of::<T>() == 2 {
        // If there is a NaN, its magnitude is the greatest. Comparing unsigned integers takes one instruction each.
        let magnitudes = elements.iter().map(|element| (element.to_bits64() as u16) << 1);
        let most = magnitudes.fold(0, u16::max) >> 1;
        return T::from_bits64(most.into()).is_nan();
    }
    // Processors test two elements with one instruction for whether one of them is NaN.
    let (chunks, rest) = elements.as_chunks::<{ 2 * NAN_PAIRS }>();
    let in_chunks = chunks.iter().fold(false, |any, chunk| {
        let (a, b) = chunk.split_at(NAN_PAIRS);
        any | a.iter().zip(b).fold(false, |any, (a, b)| any | a.is_nan() | b.is_nan())
    });
    rest.iter().fold(in_chunks, |any, element| any | element.is_nan())
}

/// The pairs of elements that are tested together.
const NAN_PAIRS: usize = 64;

/// A conversion from elements to lanes and back.
pub(crate) trait Code: Send + Sync {
    type Element: Element;
    type Lane: Lane;

    fn encode(element: Self::Element) -> Self::Lane;

    /// The element that a lane stands for.
    fn decode(lane: Self::Lane) -> Self::Element;

    /// Whether a lane has the bits of its element, so that elements in memory can be used as lanes.
    const KEEPS_BITS: bool = false;

    /// Whether lanes are floats, which must be compared with the first element of a window because that may be NaN.
    const IS_FLOAT: bool = false;

    /// Whether `decode` does not return the bits of this element: zeros with a sign and NaN, in codes that turn floats
    /// into integers.
    #[inline(always)]
    fn is_lossy(_: Self::Element) -> bool {
        false
    }
}

macro_rules! code {
    ($name:ident, $element:ty, $lane:ty, $is_float:literal, $keeps_bits:literal, $encode:expr, $decode:expr) => {
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;
        impl Code for $name {
            type Element = $element;
            type Lane = $lane;
            const IS_FLOAT: bool = $is_float;
            const KEEPS_BITS: bool = $keeps_bits;
            #[inline(always)]
            fn encode(element: $element) -> $lane {
                $encode(element)
            }
            #[inline(always)]
            fn decode(lane: $lane) -> $element {
                $decode(lane)
            }
        }
    };
}

// Floats where NaN wins.
code!(NanF32, f32, NanWins<f32>, true, true, NanWins, |lane: NanWins<f32>| lane.0);
code!(NanF64, f64, NanWins<f64>, true, true, NanWins, |lane: NanWins<f64>| lane.0);
code!(NanF16, f16, NanWins<f32>, true, false, |x| NanWins(WideF16::encode(x)), |lane: NanWins<f32>| WideF16::decode(
    lane.0
));
code!(NanBf16, bf16, NanWins<f32>, true, false, |x| NanWins(WideBf16::encode(x)), |lane: NanWins<f32>| {
    WideBf16::decode(lane.0)
});

// Integers without conversion.
code!(SameI8, i8, i8, false, true, |x| x, |x| x);
code!(SameU16, u16, u16, false, true, |x| x, |x| x);
code!(SameU32, u32, u32, false, true, |x| x, |x| x);
code!(SameU64, u64, u64, false, true, |x| x, |x| x);

// Inverting the top bit turns an unsigned integer into a signed one with the same order, and back.
code!(OfF32, f32, f32, true, true, |x| x, |x| x);
code!(OfF64, f64, f64, true, true, |x| x, |x| x);
code!(OfU8, u8, u8, false, true, |x| x, |x| x);
code!(OfI8, i8, u8, false, false, |x: i8| x as u8 ^ 0x80, |x: u8| (x ^ 0x80) as i8);
code!(OfI16, i16, i16, false, true, |x| x, |x| x);
code!(OfU16, u16, i16, false, false, |x: u16| (x ^ 0x8000) as i16, |x: i16| x as u16 ^ 0x8000);
code!(OfI32, i32, i32, false, true, |x| x, |x| x);
code!(OfU32, u32, i32, false, false, |x: u32| (x ^ 1 << 31) as i32, |x: i32| x as u32 ^ 1 << 31);
code!(OfI64, i64, i64, false, true, |x| x, |x| x);
code!(OfU64, u64, i64, false, false, |x: u64| (x ^ 1 << 63) as i64, |x: i64| x as u64 ^ 1 << 63);

/// The integer that orders a float of 16 bits: its magnitude with its sign. Both zeros become 0.
#[inline(always)]
fn key_of_half(bits: u16) -> i16 {
    let sign = bits as i16 >> 15;
    ((bits as i16 & i16::MAX) ^ sign).wrapping_sub(sign)
}

/// The bits of the float with this key. Key 0 becomes +0.
#[inline(always)]
fn half_of_key(key: i16) -> u16 {
    let sign = key >> 15;
    ((key ^ sign).wrapping_sub(sign) | (sign & i16::MIN)) as u16
}

macro_rules! code_of_half {
    ($name:ident, $element:ty, $infinity:expr) => {
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;
        impl Code for $name {
            type Element = $element;
            type Lane = i16;
            #[inline(always)]
            fn encode(element: $element) -> i16 {
                let bits = element.to_bits();
                if bits & 0x7FFF > $infinity { i16::MIN } else { key_of_half(bits) }
            }
            #[inline(always)]
            fn decode(lane: i16) -> $element {
                <$element>::from_bits(half_of_key(lane))
            }
            #[inline(always)]
            fn is_lossy(element: $element) -> bool {
                let bits = element.to_bits();
                (bits & 0x7FFF > $infinity) | (bits == 0x8000)
            }
        }
    };
}

code_of_half!(OfF16, f16, 0x7C00);
code_of_half!(OfBf16, bf16, 0x7F80);

// Floats of 16 bits as wider floats, for data with NaN or zeros with a sign. A bfloat16 keeps its value. A half keeps
// the bits of its magnitude, which gives another value in the same order.
code!(WideBf16, bf16, f32, true, false, |x: bf16| f32::from_bits(u32::from(x.to_bits()) << 16), |lane: f32| {
    bf16::from_bits((lane.to_bits() >> 16) as u16)
});
code!(WideF16, f16, f32, true, false, wide_half, |lane: f32| {
    let bits = lane.to_bits();
    f16::from_bits(((bits >> 16) & 0x8000) as u16 | ((bits >> 13) & 0x7FFF) as u16)
});

#[inline(always)]
fn wide_half(half: f16) -> f32 {
    let bits = u32::from(half.to_bits());
    let magnitude = bits & 0x7FFF;
    let nan = if magnitude > 0x7C00 { 0x7F80_0000 } else { 0 };
    f32::from_bits(((bits & 0x8000) << 16) | (magnitude << 13) | nan)
}

/// Integers of 8 and 16 bits as lanes of 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widened<T>(std::marker::PhantomData<T>);

macro_rules! widened {
    ($($element:ty),+) => {
        $(impl Code for Widened<$element> {
            type Element = $element;
            type Lane = i32;
            #[inline(always)]
            fn encode(element: $element) -> i32 {
                element.into()
            }
            #[inline(always)]
            fn decode(lane: i32) -> $element {
                lane as $element
            }
        })+
    };
}

widened!(i8, u8, i16, u16);

/// The number of bits below the element in a packed lane.
pub(crate) const TAP_BITS: u32 = 16;
/// The number of taps that a packed lane can distinguish.
pub(crate) const PACKED_TAPS: usize = 1 << TAP_BITS;

/// A code for elements of 8 or 16 bits whose lanes also contain the tap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithTap<C>(std::marker::PhantomData<C>);

impl<C: Code> Code for WithTap<C>
where
    C::Lane: Narrow,
{
    type Element = C::Element;
    type Lane = Packed;
    #[inline(always)]
    fn encode(element: C::Element) -> Packed {
        Packed((C::encode(element).widen() << TAP_BITS) | (PACKED_TAPS as i32 - 1))
    }
    #[inline(always)]
    fn decode(lane: Packed) -> C::Element {
        C::decode(C::Lane::narrow(lane.0 >> TAP_BITS))
    }
    #[inline(always)]
    fn is_lossy(element: C::Element) -> bool {
        C::is_lossy(element)
    }
}

impl Packed {
    /// The number of the tap, counted from the window's first one.
    #[inline(always)]
    pub fn tap(self) -> usize {
        (!self.0 & (PACKED_TAPS as i32 - 1)) as usize
    }

    /// Whether the element is greater than that of another lane.
    #[inline(always)]
    pub fn above(self, other: Packed) -> bool {
        self.0 >> TAP_BITS > other.0 >> TAP_BITS
    }
}

/// Lanes for the same elements, with positions of the same type.
pub(crate) trait NanCode<C: Code<Lane: Positioned>>:
    Code<Element = C::Element, Lane: Positioned<Position = <C::Lane as Positioned>::Position>>
{
}
impl<C: Code<Lane: Positioned>, N> NanCode<C> for N where
    N: Code<Element = C::Element, Lane: Positioned<Position = <C::Lane as Positioned>::Position>>
{
}

/// Lanes that fit in the upper half of a packed lane.
pub(crate) trait Narrow: Lane {
    fn widen(self) -> i32;
    fn narrow(wide: i32) -> Self;
}

impl Narrow for u8 {
    #[inline(always)]
    fn widen(self) -> i32 {
        // The lowest lane must become the lowest packed lane.
        i32::from(self) + i32::from(i16::MIN)
    }
    #[inline(always)]
    fn narrow(wide: i32) -> u8 {
        (wide - i32::from(i16::MIN)) as u8
    }
}

impl Narrow for i16 {
    #[inline(always)]
    fn widen(self) -> i32 {
        self.into()
    }
    #[inline(always)]
    fn narrow(wide: i32) -> i16 {
        wide as i16
    }
}
