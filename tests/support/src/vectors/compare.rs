//! Comparison of tensors, bit by bit.

use wgpu_pooling::{DType, Element};

use super::generated::{Digest, digest, is_nan};
use super::tensors::RawTensor;
use wgpu_pooling::with_element;

/// Which NaN equal each other. Everything else is compared by its bits, so +0 and -0 always differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NanRule {
    /// Any NaN equals any NaN.
    Any,
    /// A NaN equals only the same bits.
    Exact,
}

impl NanRule {
    fn equal(self, dtype: DType, a: u64, b: u64) -> bool {
        a == b || (self == NanRule::Any && is_nan(dtype, a) && is_nan(dtype, b))
    }
}

/// `Err` tells the first position that differs, both bits there, and how many positions differ.
pub fn compare(what: &str, expected: &RawTensor, actual: &RawTensor, nan: NanRule) -> Result<(), String> {
    let dtype = same_form(what, expected.dtype, &expected.shape, actual)?;
    let differs = |&i: &usize| !nan.equal(dtype, expected.bits(i), actual.bits(i));
    let Some(first) = (0..expected.count()).find(differs) else {
        return Ok(());
    };
    let count = (first..expected.count()).filter(differs).count();
    Err(format!(
        "{what}: {count} of {} elements differ, the first at {:?} (flat {first}): expected {}, got {}",
        expected.count(),
        coordinates(first, &expected.shape),
        describe(dtype, expected.bits(first)),
        describe(dtype, actual.bits(first)),
    ))
}

/// Compares samples first, because they can name a position, then the digest, which covers every element.
pub fn compare_digest(what: &str, expected: &Digest, actual: &RawTensor) -> Result<(), String> {
    let dtype = same_form(what, expected.dtype, &expected.shape, actual)?;
    for &(position, bits) in &expected.samples {
        if !NanRule::Any.equal(dtype, bits, actual.bits(position)) {
            return Err(format!(
                "{what}: the sample at {:?} (flat {position}) differs: expected {}, got {}",
                coordinates(position, &expected.shape),
                describe(dtype, bits),
                describe(dtype, actual.bits(position)),
            ));
        }
    }
    let actual_digest = digest(actual);
    if actual_digest == expected.digest {
        return Ok(());
    }
    Err(format!("{what}: all samples match, but the digest is {actual_digest:016x}, not {:016x}", expected.digest))
}

fn same_form(what: &str, dtype: DType, shape: &[usize], actual: &RawTensor) -> Result<DType, String> {
    if (dtype, shape) == (actual.dtype, &actual.shape[..]) {
        return Ok(dtype);
    }
    Err(format!("{what}: expected {} {shape:?}, got {} {:?}", dtype.name(), actual.dtype.name(), actual.shape))
}

/// Bits in hexadecimal, and the value that they stand for.
fn describe(dtype: DType, bits: u64) -> String {
    let digits = 2 * dtype.bytes();
    with_element!(dtype, T => format!("0x{bits:0digits$x} ({:?})", T::from_bits64(bits)))
}

fn coordinates(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        coordinates[axis] = position % shape[axis];
        position /= shape[axis];
    }
    coordinates
}
