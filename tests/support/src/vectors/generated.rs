//! Large cases: the input is made from a seed, the expected output is known by a digest and a few samples.

use half::{bf16, f16};
use serde_json::Value;
use wgpu_pooling::{DType, Element};

use super::tensors::RawTensor;
use crate::splitmix::splitmix64;
use wgpu_pooling::with_element;

/// An input whose element i is `table[splitmix64(seed + i) % table.len()]`.
#[derive(Debug, Clone)]
pub struct Generator {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub seed: u64,
    /// Bits of the elements to choose from.
    pub table: Vec<u64>,
}

impl Generator {
    pub fn tensor(&self) -> RawTensor {
        let choose = |i: u64| {
            let choice = splitmix64(self.seed.wrapping_add(i)) % self.table.len() as u64;
            self.table[choice as usize]
        };
        let count = self.shape.iter().product::<usize>() as u64;
        with_element!(self.dtype, T => {
            let elements: Vec<T> = (0..count).map(|i| T::from_bits64(choose(i))).collect();
            RawTensor::of(&self.shape, &elements)
        })
    }
}

/// An expected tensor that is not stored.
#[derive(Debug, Clone)]
pub struct Digest {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub digest: u64,
    /// Positions and bits of a few elements: they tell where to look when the digest does not match.
    pub samples: Vec<(usize, u64)>,
}

/// `sum of (splitmix64(i) | 1) * (bits(i) + 1)`, wrapping; a NaN counts as all ones of its width.
pub fn digest(tensor: &RawTensor) -> u64 {
    let ones = u64::MAX >> (64 - 8 * tensor.dtype.bytes());
    (0..tensor.count()).fold(0, |sum: u64, i| {
        let bits = if is_nan(tensor.dtype, tensor.bits(i)) { ones } else { tensor.bits(i) };
        sum.wrapping_add((splitmix64(i as u64) | 1).wrapping_mul(bits.wrapping_add(1)))
    })
}

/// Whether the bits are a NaN of the dtype.
pub fn is_nan(dtype: DType, bits: u64) -> bool {
    dtype.is_float() && with_element!(dtype, T => T::from_bits64(bits).is_nan())
}

/// The bits of a number of a manifest: a JSON number, or a string for what JSON cannot write (`"nan"`, `"-inf"`).
pub fn number_bits(dtype: DType, value: &Value) -> Result<u64, String> {
    let wrong = || format!("{value} is not a {}", dtype.name());
    if !dtype.is_float() {
        let number = value.as_i64().map(|number| number as u64).or_else(|| value.as_u64()).ok_or_else(wrong)?;
        let bits = with_element!(dtype, T => T::from_bits64(number).to_bits64());
        return Ok(bits);
    }
    let number = match value {
        Value::String(text) => text.parse::<f64>().map_err(|_| wrong())?,
        other => other.as_f64().ok_or_else(wrong)?,
    };
    Ok(match dtype {
        DType::F32 => u64::from((number as f32).to_bits()),
        DType::F16 => u64::from(f16::from_f64(number).to_bits()),
        DType::Bf16 => u64::from(bf16::from_f64(number).to_bits()),
        _ => number.to_bits(),
    })
}
