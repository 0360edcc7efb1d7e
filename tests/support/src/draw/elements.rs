//! Elements as bits: which ones drawn tensors are made of, and how they are ordered, without calling the library.

use half::{bf16, f16};
use wgpu_pooling::{DType, NanPolicy};

use super::bytes::{Bytes, random};
use crate::splitmix::splitmix64;

/// An element's value, which is ordered as its type is.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Number {
    /// Every f16, bf16 and f32 is an f64.
    Float(f64),
    Integer(i128),
}

/// The value that bits stand for.
pub fn number(dtype: DType, bits: u64) -> Number {
    match dtype {
        DType::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        DType::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
        DType::Bf16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
        DType::F64 => Number::Float(f64::from_bits(bits)),
        DType::I8 => Number::Integer((bits as i8).into()),
        DType::I16 => Number::Integer((bits as i16).into()),
        DType::I32 => Number::Integer((bits as i32).into()),
        DType::I64 => Number::Integer((bits as i64).into()),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Number::Integer(bits.into()),
    }
}

pub fn is_nan(dtype: DType, bits: u64) -> bool {
    matches!(number(dtype, bits), Number::Float(value) if value.is_nan())
}

/// A mask of the bits that an element of the dtype has.
pub fn mask(dtype: DType) -> u64 {
    u64::MAX >> (64 - 8 * dtype.bytes())
}

/// The highest bit of an element: the sign of those that have one.
pub fn sign(dtype: DType) -> u64 {
    1 << (8 * dtype.bytes() - 1)
}

/// Whether the integers of the dtype have no sign.
pub fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64)
}

/// Minus infinity, the lowest finite value: integers have their minimum for both.
pub fn lowest(dtype: DType) -> [u64; 2] {
    match float_format(dtype) {
        Some((_, fraction)) => {
            let infinity = sign(dtype) | exponent(dtype, fraction);
            [infinity, infinity - 1]
        }
        None if is_unsigned(dtype) => [0; 2],
        None => [sign(dtype); 2],
    }
}

/// Plus infinity, the largest finite value: integers have their maximum for both.
pub fn highest(dtype: DType) -> [u64; 2] {
    match float_format(dtype) {
        Some(_) => lowest(dtype).map(|bits| bits ^ sign(dtype)),
        None if is_unsigned(dtype) => [mask(dtype); 2],
        None => [sign(dtype) - 1; 2],
    }
}

/// The small integer as an element; unsigned types have it modulo their range.
pub fn small(dtype: DType, value: i8) -> u64 {
    match dtype {
        DType::F32 => u64::from(f32::from(value).to_bits()),
        DType::F16 => u64::from(f16::from_f32(value.into()).to_bits()),
        DType::Bf16 => u64::from(bf16::from_f32(value.into()).to_bits()),
        DType::F64 => f64::from(value).to_bits(),
        _ => i64::from(value) as u64 & mask(dtype),
    }
}

/// The positive quiet NaN without a payload.
pub fn quiet_nan(dtype: DType) -> u64 {
    float_format(dtype).map_or(0, |(_, fraction)| exponent(dtype, fraction) | 1 << (fraction - 1))
}

/// Bits of the exponent and of the fraction.
fn float_format(dtype: DType) -> Option<(u32, u32)> {
    match dtype {
        DType::F32 => Some((8, 23)),
        DType::F16 => Some((5, 10)),
        DType::Bf16 => Some((8, 7)),
        DType::F64 => Some((11, 52)),
        _ => None,
    }
}

/// All bits of the exponent set: infinity.
fn exponent(dtype: DType, fraction: u32) -> u64 {
    (mask(dtype) ^ sign(dtype)) >> fraction << fraction
}

/// Elements that are hard for kernels, plain ones first: a case is shrunk towards the beginning.
pub fn palette(dtype: DType) -> Vec<u64> {
    let mut palette: Vec<u64> = [0, 1, 2, -1, -2, 7].map(|value| small(dtype, value)).to_vec();
    let (sign, most) = (sign(dtype), mask(dtype));
    if let Some((_, fraction)) = float_format(dtype) {
        let infinity = exponent(dtype, fraction);
        let quiet = infinity | 1 << (fraction - 1);
        let one = small(dtype, 1);
        palette.extend([sign, infinity, sign | infinity, infinity - 1, sign | (infinity - 1)]);
        // Quiet and signalling NaN of both signs, with the smallest, the largest and other payloads.
        palette.extend([quiet, sign | quiet, infinity | 1, sign | infinity | 1, most, most ^ sign, quiet | 5]);
        // Subnormals, the smallest normal and the neighbours of one.
        palette.extend([1, sign | 1, (1 << fraction) - 1, sign | ((1 << fraction) - 1), 1 << fraction, one + 1]);
        if fraction > 32 {
            // Elements that differ in one word of the pair only, and low words whose highest bit is set.
            palette.extend([one + (1 << 31), one + (1 << 32), infinity | 1 << 31, 1 << 31, 1 << 32]);
        }
    } else {
        palette.extend([sign, sign - 1, most, most - 1, sign + 1, sign - 2, 0]);
        if dtype.bytes() == 8 {
            palette.extend([1 << 32, (1 << 32) - 1, 1 << 31, (1 << 31) - 1, sign | 1 << 31, (1 << 32) + 1]);
        }
    }
    palette
}

/// A NaN in most cases, or else an extreme; for integers an extreme.
fn nothing(dtype: DType, pick: u64) -> u64 {
    let extremes = [lowest(dtype), highest(dtype)].concat();
    let nan = quiet_nan(dtype) | ((pick % 2) * sign(dtype)) | (pick % 4);
    if dtype.is_float() && pick % 8 != 7 { nan } else { extremes[(pick / 8 % 4) as usize] }
}

/// What neighbouring elements are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Small integers: maxima at many places.
    Numbers,
    /// Four entries of the palette: ties everywhere.
    Few,
    /// The whole palette.
    Palette,
    /// Zeros of both signs; of integers zeros and ones.
    Zeros,
    /// Subnormals of both signs, zeros and the smallest normal numbers.
    Subnormal,
    /// Subnormals of both signs and zeros alone, which are all the same to some processors.
    Tiny,
    /// Mostly what cannot win, or hardly: NaN, infinities, the lowest and the highest element.
    Nothing,
    /// NaN of both signs; of integers the lowest value.
    Nan,
    /// Small numbers and NaN with the sign bit, which is no maximum by its bits; of integers numbers alone.
    SignedNan,
    /// NaN of both signs and -inf; for integers their lowest value.
    NanAndLowest,
    /// NaN of both signs and +inf; for integers their highest value.
    NanAndHighest,
    /// Nearly all elements are the same one.
    Alike,
    /// Any bits: the maximum of a long window is then rarely among its first elements.
    Raw,
}

use Style::{
    Alike, Few, Nan, NanAndHighest, NanAndLowest, Nothing, Numbers, Palette, Raw, SignedNan, Subnormal, Tiny, Zeros,
};

/// What tensors are made of. Several styles alternate in runs, so that some windows have NaN and others none.
const MIXES: &[&[Style]] = &[
    &[Numbers],
    &[Few],
    &[Palette],
    ALL,
    &[Numbers, Zeros, Subnormal],
    &RARELY_NAN,
    &[Few],
    &[Nothing],
    &[Tiny],
    &[Numbers, Palette],
    &[Palette],
    &[Few],
    &[NanAndLowest],
    &[Raw],
    &[NanAndHighest],
    &[Alike],
];

const ALL: &[Style] = &[Numbers, Few, Zeros, Subnormal, NanAndLowest, Palette, Nan, Raw];

/// One run of a hundred has NaN.
const RARELY_NAN: [Style; 100] = {
    let mut styles = [Numbers; 100];
    styles[50] = Palette;
    styles
};

/// Elements for a tensor of any size and type. Those of small tensors are the picks one after the other, repeated;
/// their number is prime, so that no row or plane repeats another.
#[derive(Debug, Clone)]
pub struct Recipe {
    styles: &'static [Style],
    picks: Vec<u8>,
}

const PICKS: usize = 127;

/// The most elements of a tensor that has its picks in turn.
const SMALL: usize = 1024;

impl Recipe {
    pub fn draw(bytes: &mut Bytes<'_>) -> Recipe {
        let styles = bytes.of(MIXES);
        Recipe { styles, picks: picks(bytes) }
    }

    /// Mostly elements in which this policy differs from others.
    pub fn about_nan(mut self, policy: NanPolicy) -> Self {
        self.styles = match (policy, self.styles) {
            (NanPolicy::PropagateLast, [Numbers] | [Few]) => &[SignedNan],
            (NanPolicy::PropagateLast | NanPolicy::SeedFirst, other) => other,
            (_, [Numbers]) => &[Nothing],
            (_, [Few]) if self.picks[0].is_multiple_of(2) => &[NanAndLowest],
            (_, [Few]) => &[NanAndHighest],
            (_, [Numbers, Zeros, Subnormal]) => &[Numbers, Nan],
            (_, other) => other,
        };
        self
    }

    /// Any bits.
    pub fn raw(mut self) -> Self {
        self.styles = &[Raw];
        self
    }

    /// This many elements of the dtype, as bits.
    pub fn elements(&self, dtype: DType, count: usize) -> Vec<u64> {
        let palette = palette(dtype);
        let seed = self.picks.iter().fold(0, |seed, &pick| splitmix64(seed ^ u64::from(pick)));
        let pick = |place: usize| match count <= SMALL {
            true => u64::from(self.picks[place % PICKS]),
            false => splitmix64(seed ^ place as u64) >> 16,
        };
        let (mut elements, mut run) = (Vec::with_capacity(count), seed);
        while elements.len() < count {
            run = splitmix64(run);
            let style = self.styles[(run >> 32) as usize % self.styles.len()];
            let longest = if self.styles.len() == 1 { count } else { count.div_ceil(4).min(255) };
            let end = (elements.len() + 1 + run as usize % longest).min(count);
            elements
                .extend((elements.len()..end).map(|place| self.element(style, dtype, &palette, place, pick(place))));
        }
        elements
    }

    /// The bits of an element. A pick of zero gives a plain one.
    fn element(&self, style: Style, dtype: DType, palette: &[u64], place: usize, pick: u64) -> u64 {
        let entry = |pick: u64| palette[(pick % palette.len() as u64) as usize];
        let nan = || quiet_nan(dtype) | (pick / 2 % 2 * sign(dtype));
        let either = |bits: u64| bits | (pick / 8 % 2 * sign(dtype));
        let small_fraction = |most: u64| match float_format(dtype) {
            Some((_, fraction)) => either(
                [0, 1, 2, 1 << (fraction - 1), (1 << fraction) - 1, pick / 16 % (1 << fraction), 1 << fraction]
                    [(pick % most) as usize],
            ),
            None => pick % 2,
        };
        match style {
            Numbers if pick % 4 == 3 && !is_unsigned(dtype) => small(dtype, -((pick % 16) as i8)),
            Numbers => small(dtype, (pick % 16) as i8),
            Few => entry(self.picks[1 + (pick % 4) as usize].into()),
            Palette => entry(pick),
            Zeros if dtype.is_float() => pick % 2 * sign(dtype),
            Zeros => pick % 2,
            Subnormal => small_fraction(7),
            Tiny => small_fraction(6),
            Nothing if pick % 8 == 7 => entry(pick / 8),
            Nothing => nothing(dtype, pick),
            Nan if dtype.is_float() => nan(),
            NanAndLowest | NanAndHighest if pick.is_multiple_of(2) && dtype.is_float() => nan(),
            Nan | NanAndLowest => lowest(dtype)[0],
            NanAndHighest => highest(dtype)[0],
            SignedNan if pick % 8 == 7 && dtype.is_float() => quiet_nan(dtype) | sign(dtype),
            SignedNan => small(dtype, (pick % 8) as i8),
            Alike if pick % 512 == 511 => entry(pick / 512),
            Alike => entry(self.picks[1].into()),
            Raw if pick == 0 => 0,
            Raw => splitmix64(pick << 32 | place as u64) & mask(dtype),
        }
    }
}

/// Random numbers, repeated as often as they are needed.
pub fn picks(bytes: &mut Bytes<'_>) -> Vec<u8> {
    (0..PICKS).map(|_| bytes.byte()).collect()
}

/// The bytes of elements, from their bits.
pub fn bytes_of(dtype: DType, bits: &[u64]) -> Vec<u8> {
    bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(dtype.bytes())).collect()
}

/// The bits of elements, from their bytes.
pub fn bits_of(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let word = |element: &[u8]| element.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(dtype.bytes()).map(word).collect()
}

/// The bytes of elements of all styles, from a seed.
pub fn mixed(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let recipe = Recipe { styles: ALL, picks: picks(&mut Bytes(&random(seed, "elements", 0))) };
    bytes_of(dtype, &recipe.elements(dtype, count))
}
