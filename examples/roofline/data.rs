//! What tensors are filled with, and how they are summed up: arithmetic that another program repeats exactly.

use std::thread;

use bytemuck::zeroed_vec;
use clap::ValueEnum;
use wgpu_pooling::half::{bf16, f16};
use wgpu_pooling::{DType, Element};

/// 2^64 over the golden ratio, the step of splitmix64.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Unpools draw their random indices from another part of the sequence than values.
pub const OF_INDICES: u64 = 1 << 48;

/// What values are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Few distinct values, so that maxima tie; NaN, infinities, -0 and subnormals among them
    Mixed,
    /// 0 to 250, which every runtime treats alike
    Peers,
}

/// Number `index` of the pseudo-random sequence: splitmix64, seeded with 0.
pub fn noise(index: u64) -> u64 {
    finish(index.wrapping_add(1).wrapping_mul(STEP))
}

fn finish(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The values of a tensor, by their positions in memory.
pub fn values<T: Element>(data: Data, count: usize) -> Vec<T> {
    match data {
        Data::Mixed => {
            let table: Vec<T> = mixture(T::DTYPE).into_iter().map(T::from_bits64).collect();
            let mask = table.len() as u64 - 1;
            filled(count, |index| table[(noise(index) & mask) as usize])
        }
        Data::Peers => {
            let table: Vec<T> = (0..251).map(|value| T::from_bits64(bits(T::DTYPE, value))).collect();
            filled(count, |index| table[(noise(index) % 251) as usize])
        }
    }
}

/// A vector whose elements follow from their positions, made by all cores.
pub fn filled<T: bytemuck::Zeroable + Copy + Send>(count: usize, element: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let mut all = zeroed_vec(count);
    let part = count.div_ceil(cores()).max(1);
    thread::scope(|scope| {
        for (number, part_of_all) in all.chunks_mut(part).enumerate() {
            let element = &element;
            scope.spawn(move || {
                for (index, place) in part_of_all.iter_mut().enumerate() {
                    *place = element((number * part + index) as u64);
                }
            });
        }
    });
    all
}

pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The sum over all elements of `finish(bits + STEP * position)`, modulo 2^64: positions count, and NaN has bits like any
/// other value.
pub fn checksum<T: Copy + Sync>(data: &[T], bits: impl Fn(T) -> u64 + Sync) -> u64 {
    let part = data.len().div_ceil(cores()).max(1);
    let sum_of = |number: usize, part_of_all: &[T]| {
        let terms = part_of_all
            .iter()
            .zip((number * part) as u64..)
            .map(|(&value, index)| finish(bits(value).wrapping_add(index.wrapping_mul(STEP))));
        terms.fold(0, u64::wrapping_add)
    };
    thread::scope(|scope| {
        let sum_of = &sum_of;
        let parts: Vec<_> =
            data.chunks(part).enumerate().map(|(number, part)| scope.spawn(move || sum_of(number, part))).collect();
        // A thread that only adds does not panic.
        parts.into_iter().map(|part| part.join().unwrap_or_default()).fold(0, u64::wrapping_add)
    })
}

/// A table of 4096 values: one in 512 is NaN, one in 512 an infinity, one in 64 a signed zero, the rest small integers.
fn mixture(dtype: DType) -> Vec<u64> {
    let sign = 1 << (8 * dtype.bytes() - 1);
    let lowest = dtype.negative_infinity_bits();
    let subnormal = 1;
    let specials = [lowest | 1, lowest, lowest ^ sign, lowest ^ sign | 1, sign, sign, 0, subnormal];
    let small = |index: usize| bits(dtype, (index % 19) as i32 - 9);
    (0..4096).map(|index| if index % 64 < 1 { specials[index / 64 % 8] } else { small(index) }).collect()
}

/// The bits of a small integer in a type.
fn bits(dtype: DType, value: i32) -> u64 {
    match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F16 => u64::from(f16::from_f32(value as f32).to_bits()),
        DType::Bf16 => u64::from(bf16::from_f32(value as f32).to_bits()),
        DType::F64 => f64::from(value).to_bits(),
        // What is too large wraps, as conversions between integers do elsewhere.
        _ => i64::from(value) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first numbers of the published generator with seed 0.
        assert_eq!([0, 1, 2].map(noise), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn elements_follow_from_their_positions() {
        let values: Vec<f32> = values(Data::Peers, 1000);
        assert!(values.iter().enumerate().all(|(index, &value)| value == (noise(index as u64) % 251) as f32));
    }

    #[test]
    fn mixtures_tie_and_have_what_is_special() {
        let values: Vec<f32> = values(Data::Mixed, 100_000);
        let share = |what: fn(&f32) -> bool| values.iter().filter(|value| what(value)).count();
        assert!((100..400).contains(&share(|value| value.is_nan())));
        assert!(share(|value| value.is_infinite()) > 50 && share(|value| value.is_subnormal()) > 50);
        assert!(share(|value| *value == 0.0 && value.is_sign_negative()) > 50);
    }

    #[test]
    fn a_checksum_knows_order_and_bits() {
        let sum = |data: &[u32]| checksum(data, u64::from);
        assert_ne!(sum(&[1, 2, 3]), sum(&[2, 1, 3]));
        assert_eq!(sum(&[0]), finish(0));
        assert_eq!(sum(&[7, 9]), finish(7).wrapping_add(finish(9u64.wrapping_add(STEP))));
    }
}
