//! The values that tensors are filled with, and checksums, by arithmetic that another program can repeat exactly.

use std::thread;

use bytemuck::zeroed_vec;
use clap::ValueEnum;
use wgpu_pooling::half::{bf16, f16};
use wgpu_pooling::{DType, Element};

/// 2^64 over the golden ratio, the step of splitmix64.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Where an unpool's random indices begin in the sequence, far behind the part that values are drawn from.
pub const OF_INDICES: u64 = 1 << 48;

/// The values that tensors are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Few distinct values, so that maxima tie; NaN, infinities, -0 and subnormals among them
    Mixed,
    /// 0 to 250, which every runtime treats alike
    Peers,
    /// One third NaN with many payloads and both signs, 14 % -0, infinities, subnormals, largest values and ties; for
    /// integers one third lowest value, 14 % largest
    Nasty,
    /// Only +0, -0 and NaN; for integers only 0
    Zeros,
}

impl Data {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Number `index` of the pseudo-random sequence: splitmix64, seeded with 0.
pub fn noise(index: u64) -> u64 {
    finish(index.wrapping_add(1).wrapping_mul(STEP))
}

/// splitmix64's mixing of bits.
pub fn finish(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The values of a tensor. Each follows from its position in memory.
pub fn values<T: Element>(data: Data, count: usize) -> Vec<T> {
    let table = match data {
        Data::Mixed => mixture(T::DTYPE),
        Data::Peers => (0..251).map(|value| bits(T::DTYPE, value)).collect(),
        Data::Nasty => nasty(T::DTYPE),
        Data::Zeros => zeros(T::DTYPE),
    };
    let table: Vec<T> = table.into_iter().map(T::from_bits64).collect();
    let choices = table.len() as u64;
    filled(count, |index| table[(noise(index) % choices) as usize])
}

/// A vector whose elements are a function of their positions, computed on all cores.
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

/// The sum over all elements of `finish(bits + STEP * position)`, modulo 2^64: it depends on the positions, and NaN
/// counts by its bits like any other value.
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

/// A table of 4096 values: for floats one in 256 is NaN, one in 256 an infinity, one in 256 is -0, one in 512 a
/// subnormal, and nearly all others are small integers.
fn mixture(dtype: DType) -> Vec<u64> {
    let sign = 1 << (8 * dtype.bytes() - 1);
    let lowest = dtype.negative_infinity_bits();
    let subnormal = 1;
    let specials = [lowest | 1, lowest, lowest ^ sign, lowest ^ sign | 1, sign, sign, 0, subnormal];
    let small = |index: usize| bits(dtype, (index % 19) as i32 - 9);
    (0..4096).map(|index| if index % 64 < 1 { specials[index / 64 % 8] } else { small(index) }).collect()
}

/// A table of 1000 values: 333 NaN, 140 times -0, 30 times +0, 40 infinities, 60 subnormals, 60 of the largest and
/// lowest finite values, the rest small integers. Integer types have their lowest value in place of NaN and their
/// largest in place of -0.
fn nasty(dtype: DType) -> Vec<u64> {
    let sign = 1 << (8 * dtype.bytes() - 1);
    let (lowest, infinity) = (dtype.lowest_finite_bits(), dtype.negative_infinity_bits() ^ sign);
    let value = |index: usize| match index {
        0..333 if dtype.is_float() => nan(dtype, index as u64),
        0..333 => lowest,
        333..473 if dtype.is_float() => sign,
        333..473 => !lowest,
        473..503 => 0,
        503..543 if dtype.is_float() => infinity ^ (sign * (index as u64 % 2)),
        // The integers from 1 to 30 are the subnormals of the smallest magnitudes.
        543..603 if dtype.is_float() => (index as u64 / 2 % 30 + 1) ^ (sign * (index as u64 % 2)),
        603..663 if dtype.is_float() => lowest ^ (sign * (index as u64 % 2)),
        _ => bits(dtype, (index % 7) as i32 - 3),
    };
    (0..1000).map(value).collect()
}

/// A table of 1000 values: half -0, 450 times +0, 50 NaN.
fn zeros(dtype: DType) -> Vec<u64> {
    let sign = 1 << (8 * dtype.bytes() - 1);
    let value = |index: usize| match index {
        _ if !dtype.is_float() => 0,
        0..500 => sign,
        500..950 => 0,
        _ => nan(dtype, index as u64),
    };
    (0..1000).map(value).collect()
}

/// The bits of a NaN, quiet or signalling, of either sign.
fn nan(dtype: DType, number: u64) -> u64 {
    let sign = 1 << (8 * dtype.bytes() - 1);
    let infinity = dtype.negative_infinity_bits() ^ sign;
    let mantissa = (1 << infinity.trailing_zeros()) - 1;
    // A mantissa of 0 would be an infinity.
    let payload = (noise(number) & mantissa).max(1);
    infinity | payload | (sign * (number % 2))
}

/// The bits of a small integer in a type.
fn bits(dtype: DType, value: i32) -> u64 {
    match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F16 => u64::from(f16::from_f32(value as f32).to_bits()),
        DType::Bf16 => u64::from(bf16::from_f32(value as f32).to_bits()),
        DType::F64 => f64::from(value).to_bits(),
        // A value that does not fit the type wraps, as in other conversions between integers.
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

    /// How many of 1000 values the predicate holds for.
    fn share<T: Element>(values: &[T], what: impl Fn(&T) -> bool) -> usize {
        values.iter().filter(|value| what(value)).count() * 1000 / values.len()
    }

    fn nasty_floats_have_what_is_hard<T: Element>() {
        let values: Vec<T> = values(Data::Nasty, 1_000_000);
        let sign = 1 << (8 * size_of::<T>() - 1);
        let is = |bits: u64| move |value: &T| value.to_bits64() == bits;
        assert!((325..342).contains(&share(&values, |value| value.is_nan())), "{:?}", T::DTYPE);
        assert!((135..145).contains(&share(&values, is(sign))), "{:?}: -0", T::DTYPE);
        for (what, bits) in
            [("infinity", T::DTYPE.negative_infinity_bits()), ("largest", T::DTYPE.lowest_finite_bits())]
        {
            assert!(share(&values, is(bits)) > 10 && share(&values, is(bits ^ sign)) > 10, "{:?}: {what}", T::DTYPE);
        }
        assert!(values.iter().any(is(1)) && values.iter().any(is(sign | 30)), "{:?}: subnormals", T::DTYPE);
        let nan: std::collections::BTreeSet<u64> =
            values.iter().filter(|value| value.is_nan()).map(|value| value.to_bits64()).collect();
        assert!(nan.len() > 100 && nan.iter().any(|bits| bits & sign == 0) && nan.iter().any(|bits| bits & sign != 0));
    }

    #[test]
    fn nasty_values_have_what_is_hard_in_every_type() {
        nasty_floats_have_what_is_hard::<f32>();
        nasty_floats_have_what_is_hard::<f64>();
        nasty_floats_have_what_is_hard::<f16>();
        nasty_floats_have_what_is_hard::<bf16>();
        let values: Vec<u8> = values(Data::Nasty, 1_000_000);
        assert!(share(&values, |value| *value == 0) > 333 && share(&values, |value| *value == 255) > 135);
        let values: Vec<i64> = super::values(Data::Nasty, 1_000_000);
        assert!(share(&values, |value| *value == i64::MIN) > 325 && share(&values, |value| *value == i64::MAX) > 130);
    }

    #[test]
    fn zeros_have_no_other_value_than_nan() {
        let values: Vec<f16> = values(Data::Zeros, 100_000);
        assert!(values.iter().all(|value| value.is_nan() || value.to_bits() & 0x7FFF == 0));
        assert!((40..60).contains(&share(&values, |value| value.is_nan())));
        assert!((490..510).contains(&share(&values, |value| value.to_bits() == 0x8000)));
        assert!(super::values::<i16>(Data::Zeros, 1000).iter().all(|&value| value == 0));
    }

    #[test]
    fn a_checksum_knows_order_and_bits() {
        let sum = |data: &[u32]| checksum(data, u64::from);
        assert_ne!(sum(&[1, 2, 3]), sum(&[2, 1, 3]));
        assert_eq!(sum(&[0]), finish(0));
        assert_eq!(sum(&[7, 9]), finish(7).wrapping_add(finish(9u64.wrapping_add(STEP))));
    }
}
