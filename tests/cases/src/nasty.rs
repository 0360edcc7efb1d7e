//! Elements that are hard on kernels: NaN with payloads, zeros of both signs, infinities, subnormals, and few values
//! that tie.

use wgpu_pooling::{DType, Element};

use support::splitmix::splitmix64;

/// What a run of neighbouring elements is made of, so that there are windows with NaN and without, of ties and of zeros
/// alone.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    /// A few numbers near one, of both signs.
    Few,
    /// Zeros of both signs.
    Zeros,
    /// NaN with payloads, infinities, zeros, the largest numbers.
    Special,
    /// Subnormals of both signs, the smallest normal numbers and zeros.
    Subnormal,
    /// Subnormals of both signs and zeros alone, which are all the same to some processors.
    Tiny,
    /// Hardly anything above the lowest value.
    Lowest,
    /// Any bits.
    Any,
}

/// The styles of which most data are mixed.
pub const STYLES: &[Style] = &[Style::Few, Style::Zeros, Style::Special, Style::Subnormal, Style::Lowest, Style::Any];

/// Elements in runs of up to 255, each of one of these styles.
pub fn elements<T: Element>(count: usize, seed: u64, styles: &[Style]) -> Vec<T> {
    let (mut elements, mut run) = (Vec::with_capacity(count), seed);
    while elements.len() < count {
        run = splitmix64(run);
        let style = styles[(run >> 32) as usize % styles.len()];
        let length = (1 + run as usize % 255).min(count - elements.len());
        elements.extend((0..length as u64).map(|place| T::from_bits64(bits(T::DTYPE, style, splitmix64(run ^ place)))));
    }
    elements
}

/// The bits of an element, from a random number.
fn bits(dtype: DType, style: Style, random: u64) -> u64 {
    let (mask, sign) = (u64::MAX >> (64 - 8 * dtype.bytes()), 1 << (8 * dtype.bytes() - 1));
    let infinity: u64 = match dtype {
        DType::F16 => 0x7C00,
        DType::Bf16 => 0x7F80,
        DType::F32 => 0x7F80_0000,
        DType::F64 => 0x7FF0_0000_0000_0000,
        _ => return integer(style, random, sign) & mask,
    };
    // The exponent's lowest bit is the smallest normal number.
    let (one, smallest) = (infinity & infinity >> 1, infinity & (infinity as i64).wrapping_neg() as u64);
    let either = if random & 1 == 0 { 0 } else { sign };
    let pick = random >> 8;
    let of = |choices: &[u64]| choices[pick as usize % choices.len()] | either;
    match style {
        Style::Few => (one + pick % 12 * (smallest >> 2)) | either,
        Style::Zeros => either,
        Style::Special => {
            of(&[infinity, infinity | 1, infinity | smallest >> 1 | pick >> 32 & 15, 0, one, infinity - 1])
        }
        Style::Subnormal => of(&[0, 1, 2, smallest - 1, smallest, smallest >> 1, pick % smallest]),
        Style::Tiny => of(&[0, 1, 2, smallest - 1, smallest >> 1, pick % smallest]),
        Style::Lowest => [sign | infinity, sign | infinity, sign | (infinity - 1), infinity | 1][pick as usize % 4],
        Style::Any => random & mask,
    }
}

fn integer(style: Style, random: u64, sign: u64) -> u64 {
    match style {
        Style::Few => sign.wrapping_add(random % 12),
        Style::Zeros | Style::Subnormal | Style::Tiny => random & 1,
        Style::Special => [0, 1, u64::MAX, sign, sign - 1, sign + 1][random as usize % 6],
        Style::Lowest => sign,
        Style::Any => random,
    }
}
