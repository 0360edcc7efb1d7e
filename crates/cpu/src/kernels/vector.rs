//! Vectors of elements, and how they take a further tap of each window.

use bytemuck::{Pod, cast_slice_mut};
use fearless_simd::{Select, Simd, SimdBase, SimdElement, SimdFloat, SimdWiden};
use half::{bf16, f16};
use wgpu_pooling_plan::{Element, Index, IndexType};

/// An element type in vectors. Each lane of a vector belongs to one output.
pub(crate) trait VectorCode: 'static {
    type Element: Element;
    /// The type of a vector's lanes: the bits of an element.
    type Stored: SimdElement + Pod;
    type Vector<S: Simd>: SimdBase<S, Element = Self::Stored>;
    /// The greatest elements so far.
    type Best<S: Simd>: Copy;
    /// The taps at which they were found.
    type TapIds<S: Simd>: Copy;

    /// Whether `next` replaces `best`, as in a lane of a vector.
    fn above(next: Self::Element, best: Self::Element) -> bool;

    fn begin<S: Simd>(simd: S, first: Self::Vector<S>) -> Self::Best<S>;

    /// Takes `next` where it is greater, or where it is NaN if `NAN_WINS`.
    fn step<S: Simd, const NAN_WINS: bool>(simd: S, best: Self::Best<S>, next: Self::Vector<S>) -> Self::Best<S>;

    /// Like `step`, and stores the tap.
    fn step_placed<S: Simd, const NAN_WINS: bool>(
        simd: S,
        best: (Self::Best<S>, Self::TapIds<S>),
        next: Self::Vector<S>,
        tap: Self::TapIds<S>,
    ) -> (Self::Best<S>, Self::TapIds<S>);

    fn elements<S: Simd>(best: Self::Best<S>) -> Self::Vector<S>;

    /// Every second lane of two vectors.
    fn every_second<S: Simd>(low: Self::Best<S>, high: Self::Best<S>) -> Self::Best<S>;

    fn every_second_tap<S: Simd>(low: Self::TapIds<S>, high: Self::TapIds<S>) -> Self::TapIds<S>;

    /// Whether a step takes less time than sorting two vectors.
    const IS_CHEAP: bool;

    /// Whether the loops in which NaN wins are compiled.
    const HAS_NAN: bool = Self::Element::DTYPE.is_float();

    /// One tap in all lanes: the amount that it adds to the index of a window's first tap, or its number in the table
    /// of these amounts.
    fn tap<S: Simd>(simd: S, number: usize, ahead: i64) -> Self::TapIds<S>;

    /// Taps that increase by `step` from lane to lane.
    fn along<S: Simd>(simd: S, step: i64) -> Self::TapIds<S>;

    /// Writes the indices of a vector of windows. The first window begins at index `base`.
    fn write_indices<S: Simd, I: Index>(
        simd: S,
        taps: Self::TapIds<S>,
        windows: &VectorWindows<'_, Self::TapIds<S>>,
        base: i64,
        indices: &mut [I],
    );
}

/// The windows of a vector. The index of each is `step` greater than that of the one before.
pub(crate) struct VectorWindows<'a, T> {
    pub step: i64,
    /// `step` times the number of the lane, as taps.
    pub along: T,
    /// The amount that each tap adds to the index of a window's first tap.
    pub ahead: &'a [i64],
}

/// `next` where it is greater than `best`. On x86 this is one instruction, which returns its second operand if one
/// operand is NaN or if both are zeros. Elsewhere the maximum of floats has other rules.
macro_rules! greater {
    ($best:expr, $next:expr) => {
        if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
            $next.max($best)
        } else {
            $next.simd_gt($best).select($next, $best)
        }
    };
}

/// The mask of the lanes that `next` replaces.
macro_rules! replaces {
    (float, $nan_wins:expr, $best:expr, $next:expr) => {
        if $nan_wins { $next.simd_gt($best) | $next.is_nan() } else { $next.simd_gt($best) }
    };
    (integer, $nan_wins:expr, $best:expr, $next:expr) => {
        $next.simd_gt($best)
    };
}

/// Elements that vectors compare without conversion.
macro_rules! vector_code {
    ($name:ident, $element:ty, $vector:ident, $kind:ident, $taps:ident) => {
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;
        impl VectorCode for $name {
            type Element = $element;
            type Stored = $element;
            type Vector<S: Simd> = S::$vector;
            type Best<S: Simd> = S::$vector;
            #[inline(always)]
            fn above(next: $element, best: $element) -> bool {
                next > best
            }
            #[inline(always)]
            fn begin<S: Simd>(_: S, first: S::$vector) -> S::$vector {
                first
            }
            #[inline(always)]
            fn step<S: Simd, const NAN_WINS: bool>(_: S, best: S::$vector, next: S::$vector) -> S::$vector {
                if NAN_WINS { replaces!($kind, true, best, next).select(next, best) } else { greater!(best, next) }
            }
            #[inline(always)]
            fn step_placed<S: Simd, const NAN_WINS: bool>(
                simd: S,
                (best, taps): (S::$vector, Self::TapIds<S>),
                next: S::$vector,
                tap: Self::TapIds<S>,
            ) -> (S::$vector, Self::TapIds<S>) {
                let replaced = replaces!($kind, NAN_WINS, best, next);
                (Self::step::<S, NAN_WINS>(simd, best, next), replaced.select(tap, taps))
            }
            #[inline(always)]
            fn elements<S: Simd>(best: S::$vector) -> S::$vector {
                best
            }
            #[inline(always)]
            fn every_second<S: Simd>(low: S::$vector, high: S::$vector) -> S::$vector {
                low.unzip_low(high)
            }
            const IS_CHEAP: bool = true;
            $taps!();
        }
    };
}

/// Taps are amounts to add to the index, in lanes of 32 bits.
macro_rules! taps_of_32_bits {
    () => {
        type TapIds<S: Simd> = S::i32s;
        #[inline(always)]
        fn every_second_tap<S: Simd>(low: S::i32s, high: S::i32s) -> S::i32s {
            low.unzip_low(high)
        }
        #[inline(always)]
        fn tap<S: Simd>(simd: S, _: usize, ahead: i64) -> S::i32s {
            S::i32s::splat(simd, ahead as i32)
        }
        #[inline(always)]
        fn along<S: Simd>(simd: S, step: i64) -> S::i32s {
            let lanes = S::i32s::from_fn(
                simd,
                #[inline(always)]
                |lane| lane as i32,
            );
            lanes * S::i32s::splat(simd, step as i32)
        }
        #[inline(always)]
        fn write_indices<S: Simd, I: Index>(
            simd: S,
            taps: S::i32s,
            windows: &VectorWindows<'_, S::i32s>,
            base: i64,
            indices: &mut [I],
        ) {
            let taps = taps + windows.along;
            match I::INDEX_TYPE {
                IndexType::I32 => {
                    (taps + S::i32s::splat(simd, base as i32)).store_slice(cast_slice_mut(indices));
                }
                IndexType::I64 => {
                    let base = S::i64s::splat(simd, base);
                    let (low, high) = taps.widen();
                    let (to_low, to_high) = cast_slice_mut(indices).split_at_mut(S::i64s::LEN);
                    (low + base).store_slice(to_low);
                    (high + base).store_slice(to_high);
                }
            }
        }
    };
}

/// Taps are amounts to add to the index, in lanes of 64 bits.
macro_rules! taps_of_64_bits {
    () => {
        type TapIds<S: Simd> = S::i64s;
        #[inline(always)]
        fn every_second_tap<S: Simd>(low: S::i64s, high: S::i64s) -> S::i64s {
            low.unzip_low(high)
        }
        #[inline(always)]
        fn tap<S: Simd>(simd: S, _: usize, ahead: i64) -> S::i64s {
            S::i64s::splat(simd, ahead)
        }
        #[inline(always)]
        fn along<S: Simd>(simd: S, step: i64) -> S::i64s {
            S::i64s::from_fn(
                simd,
                #[inline(always)]
                |lane| (lane as i64).wrapping_mul(step),
            )
        }
        #[inline(always)]
        fn write_indices<S: Simd, I: Index>(
            simd: S,
            taps: S::i64s,
            windows: &VectorWindows<'_, S::i64s>,
            base: i64,
            indices: &mut [I],
        ) {
            let own = taps + windows.along + S::i64s::splat(simd, base);
            match I::INDEX_TYPE {
                IndexType::I64 => own.store_slice(cast_slice_mut(indices)),
                IndexType::I32 => {
                    for (index, own) in indices.iter_mut().zip(own.as_slice()) {
                        *index = I::from_i64(*own);
                    }
                }
            }
        }
    };
}

/// Taps are numbers of entries in a table of amounts, in lanes of 8 or 16 bits.
macro_rules! numbered_taps {
    ($numbers:ident, $number:ty) => {
        type TapIds<S: Simd> = S::$numbers;
        #[inline(always)]
        fn every_second_tap<S: Simd>(low: S::$numbers, high: S::$numbers) -> S::$numbers {
            low.unzip_low(high)
        }
        #[inline(always)]
        fn tap<S: Simd>(simd: S, number: usize, _: i64) -> S::$numbers {
            S::$numbers::splat(simd, number as $number)
        }
        #[inline(always)]
        fn along<S: Simd>(simd: S, _: i64) -> S::$numbers {
            S::$numbers::splat(simd, 0)
        }
        #[inline(always)]
        fn write_indices<S: Simd, I: Index>(
            _: S,
            taps: S::$numbers,
            windows: &VectorWindows<'_, S::$numbers>,
            base: i64,
            indices: &mut [I],
        ) {
            let mut window = base;
            for (index, tap) in indices.iter_mut().zip(taps.as_slice()) {
                let ahead = windows.ahead.get(*tap as usize).copied().unwrap_or(0);
                *index = I::from_i64(window.wrapping_add(ahead));
                window = window.wrapping_add(windows.step);
            }
        }
    };
}

macro_rules! taps_of_8_bits {
    () => {
        numbered_taps!(u8s, u8);
    };
}

macro_rules! taps_of_16_bits {
    () => {
        numbered_taps!(u16s, u16);
    };
}

vector_code!(F32s, f32, f32s, float, taps_of_32_bits);
vector_code!(F64s, f64, f64s, float, taps_of_64_bits);
vector_code!(I8s, i8, i8s, integer, taps_of_8_bits);
vector_code!(U8s, u8, u8s, integer, taps_of_8_bits);
vector_code!(I16s, i16, i16s, integer, taps_of_16_bits);
vector_code!(U16s, u16, u16s, integer, taps_of_16_bits);
vector_code!(I32s, i32, i32s, integer, taps_of_32_bits);
vector_code!(U32s, u32, u32s, integer, taps_of_32_bits);
vector_code!(I64s, i64, i64s, integer, taps_of_64_bits);
vector_code!(U64s, u64, u64s, integer, taps_of_64_bits);

/// Floats of 16 bits: each with the integer that orders it, its magnitude with its sign, so that both zeros are 0. As
/// the next element, a NaN is the lowest integer, so that it replaces nothing. As the first element, it is the highest
/// integer.
macro_rules! vector_code_of_half {
    ($name:ident, $element:ty, $infinity:expr) => {
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name;

        impl $name {
            /// The integers that order elements, and the mask of NaN.
            #[inline(always)]
            fn keys<S: Simd>(simd: S, elements: S::i16s) -> (S::i16s, S::mask16s) {
                let magnitude = elements & S::i16s::splat(simd, i16::MAX);
                let sign = elements >> 15;
                let nan = magnitude.simd_gt(S::i16s::splat(simd, $infinity));
                ((magnitude ^ sign) - sign, nan)
            }

            #[inline(always)]
            fn replaces<S: Simd, const NAN_WINS: bool>(simd: S, best: S::i16s, next: S::i16s) -> (S::mask16s, S::i16s) {
                let (keys, nan) = Self::keys(simd, next);
                let of_nan = if NAN_WINS { i16::MAX } else { i16::MIN };
                let keys = nan.select(S::i16s::splat(simd, of_nan), keys);
                (if NAN_WINS { keys.simd_gt(best) | nan } else { keys.simd_gt(best) }, keys)
            }
        }

        impl VectorCode for $name {
            type Element = $element;
            type Stored = i16;
            type Vector<S: Simd> = S::i16s;
            /// Elements and their integers.
            type Best<S: Simd> = (S::i16s, S::i16s);
            #[inline(always)]
            fn above(next: $element, best: $element) -> bool {
                next.greater(best)
            }
            #[inline(always)]
            fn begin<S: Simd>(simd: S, first: S::i16s) -> (S::i16s, S::i16s) {
                let (keys, nan) = Self::keys(simd, first);
                (first, nan.select(S::i16s::splat(simd, i16::MAX), keys))
            }
            #[inline(always)]
            fn step<S: Simd, const NAN_WINS: bool>(
                simd: S,
                (best, of_best): (S::i16s, S::i16s),
                next: S::i16s,
            ) -> (S::i16s, S::i16s) {
                let (replaced, keys) = Self::replaces::<S, NAN_WINS>(simd, of_best, next);
                (replaced.select(next, best), keys.max(of_best))
            }
            #[inline(always)]
            fn step_placed<S: Simd, const NAN_WINS: bool>(
                simd: S,
                ((best, of_best), taps): ((S::i16s, S::i16s), S::u16s),
                next: S::i16s,
                tap: S::u16s,
            ) -> ((S::i16s, S::i16s), S::u16s) {
                let (replaced, keys) = Self::replaces::<S, NAN_WINS>(simd, of_best, next);
                ((replaced.select(next, best), keys.max(of_best)), replaced.select(tap, taps))
            }
            #[inline(always)]
            fn elements<S: Simd>((best, _): (S::i16s, S::i16s)) -> S::i16s {
                best
            }
            #[inline(always)]
            fn every_second<S: Simd>(low: Self::Best<S>, high: Self::Best<S>) -> Self::Best<S> {
                (low.0.unzip_low(high.0), low.1.unzip_low(high.1))
            }
            const IS_CHEAP: bool = false;
            taps_of_16_bits!();
        }
    };
}

vector_code_of_half!(F16s, f16, 0x7C00);
vector_code_of_half!(Bf16s, bf16, 0x7F80);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::SimdLevel;
    use crate::kernels::simd::VectorLoop;

    /// One step in the first lane of a vector.
    struct Step<C: VectorCode>(C::Stored, C::Stored, bool);

    impl<C: VectorCode> VectorLoop for Step<C> {
        type Output = C::Stored;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> C::Stored {
            let Step(best, next, nan_wins) = self;
            let (best, next) = (C::Vector::<S>::splat(simd, best), C::Vector::<S>::splat(simd, next));
            let best = C::begin(simd, best);
            let stepped =
                if nan_wins { C::step::<S, true>(simd, best, next) } else { C::step::<S, false>(simd, best, next) };
            C::elements(stepped).as_slice()[0]
        }
    }

    fn steps_follow_the_rule<C: VectorCode>(bits: &[u64]) {
        for (&best, &next) in bits.iter().flat_map(|best| bits.iter().map(move |next| (best, next))) {
            let [best, next] = [best, next].map(C::Element::from_bits64);
            for nan_wins in [false, true] {
                let expected = if next.greater(best) || nan_wins && next.is_nan() { next } else { best };
                for &level in SimdLevel::available() {
                    let step = Step::<C>(bytemuck::cast(best), bytemuck::cast(next), nan_wins);
                    let actual: C::Element = bytemuck::cast(level.vectors(step).unwrap());
                    let bits = (actual.to_bits64(), expected.to_bits64());
                    assert_eq!(bits.0, bits.1, "{best:?} {next:?} {nan_wins} {level:?}");
                }
            }
        }
    }

    #[test]
    fn a_step_keeps_the_bits_of_nan_and_of_zeros() {
        // Zeros, subnormals, numbers, infinities and NaN with two payloads, of both signs.
        let of = |magnitudes: [u64; 7], sign: u64| {
            magnitudes.iter().flat_map(|bits| [*bits, bits | sign]).collect::<Vec<_>>()
        };
        let single = [0, 1, 0x3F80_0000, 0x4000_0000, 0x7F80_0000, 0x7F80_0001, 0x7FC0_0002];
        let double = [0, 1, 1f64.to_bits(), 2f64.to_bits(), 0x7FF << 52, 0x7FF << 52 | 1, 0x7FF8 << 48 | 2];
        steps_follow_the_rule::<F32s>(&of(single, 1 << 31));
        steps_follow_the_rule::<F64s>(&of(double, 1 << 63));
        steps_follow_the_rule::<Bf16s>(&of([0, 1, 0x3F80, 0x4000, 0x7F80, 0x7F81, 0x7FC0], 1 << 15));
        steps_follow_the_rule::<F16s>(&of([0, 1, 0x3C00, 0x4000, 0x7C00, 0x7C01, 0x7E00], 1 << 15));
        steps_follow_the_rule::<I8s>(&[0, 1, 0x7F, 0x80, 0xFF]);
        steps_follow_the_rule::<U64s>(&[0, 1, 1 << 63, u64::MAX]);
    }
}
