//! Elements as bits: which ones the random cases are made of, and how they are ordered, without calling the library.

use half::{bf16, f16};
use proptest::prelude::*;
use wgpu_pooling::DType;

use support::splitmix::splitmix64;

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
fn palette(dtype: DType) -> Vec<u64> {
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
fn nothing(dtype: DType, pick: u8) -> u64 {
    let extremes = [lowest(dtype), highest(dtype)].concat();
    let nan = quiet_nan(dtype) | (u64::from(pick % 2) * sign(dtype)) | u64::from(pick % 4);
    if dtype.is_float() && pick % 8 != 7 { nan } else { extremes[usize::from(pick / 8 % 4)] }
}

/// How the picks of a recipe become elements.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// Small integers: maxima at many places.
    Numbers,
    /// Four entries of the palette: ties everywhere.
    Few([u8; 4]),
    /// The whole palette.
    Palette,
    /// Any bits.
    Raw,
    /// Mostly what cannot win, or hardly: NaN, infinities, the lowest and the highest element.
    Nothing,
    /// NaN of both signs and -inf, or +inf if true; for integers one end of their range.
    NanAnd(bool),
}

/// Elements for a tensor of any size and type. The picks are repeated; their number is prime, so that no row or plane
/// of a small tensor repeats another.
#[derive(Debug, Clone)]
pub struct Recipe {
    style: Style,
    picks: Vec<u8>,
}

const PICKS: usize = 127;

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let style = prop_oneof![
        3 => Just(Style::Numbers),
        4 => any::<[u8; 4]>().prop_map(Style::Few),
        3 => Just(Style::Palette),
        1 => Just(Style::Raw),
        2 => Just(Style::Nothing),
        1 => any::<bool>().prop_map(Style::NanAnd),
    ];
    (style, picks()).prop_map(|(style, picks)| Recipe { style, picks })
}

/// Random numbers, repeated as often as they are needed.
pub fn picks() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), PICKS)
}

impl Recipe {
    /// Any bits instead of a few: the maximum of a long window is then rarely among its first elements.
    pub fn rich(mut self) -> Self {
        self.style = Style::Raw;
        self
    }

    /// Mostly elements about which NaN policies differ.
    pub fn about_nan(mut self) -> Self {
        self.style = match self.style {
            Style::Numbers => Style::Nothing,
            Style::Few([pick, ..]) => Style::NanAnd(pick % 2 == 0),
            style => style,
        };
        self
    }

    /// This many elements of the dtype, as bits.
    pub fn elements(&self, dtype: DType, count: usize) -> Vec<u64> {
        let palette = palette(dtype);
        let entry = |pick: u8| palette[usize::from(pick) % palette.len()];
        let picks = self.picks.iter().cycle().take(count).enumerate();
        picks
            .map(|(i, &pick)| match self.style {
                Style::Numbers if pick % 4 == 3 && !is_unsigned(dtype) => small(dtype, -((pick % 16) as i8)),
                Style::Numbers => small(dtype, (pick % 16) as i8),
                Style::Few(few) => entry(few[usize::from(pick % 4)]),
                Style::Palette => entry(pick),
                Style::Nothing if pick >= 224 => entry(pick),
                Style::Nothing => nothing(dtype, pick),
                Style::NanAnd(_) if pick % 2 == 0 => quiet_nan(dtype) | (u64::from(pick / 2 % 2) * sign(dtype)),
                Style::NanAnd(false) => lowest(dtype)[0],
                Style::NanAnd(true) => highest(dtype)[0],
                Style::Raw if pick == 0 => 0,
                Style::Raw => splitmix64(u64::from(pick) << 32 | i as u64) & mask(dtype),
            })
            .collect()
    }
}
