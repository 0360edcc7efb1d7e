//! The values that tensors are filled with, and checksums, by arithmetic that another program can repeat exactly.

use bytemuck::{cast_slice_mut, pod_read_unaligned};
use clap::ValueEnum;
use rayon::prelude::*;
use support::draw::elements::{bits_of, mixed, palette, quiet_nan, sign};
use support::splitmix::{STEP, splitmix64};
use wgpu_pooling::half::{bf16, f16};
use wgpu_pooling::{DType, Element, IndexType, Plan, TensorSpec, with_element};

use crate::tensors::Aligned;

/// Where an unpool's random indices begin in the sequence, far behind the part that values are drawn from.
const OF_INDICES: u64 = 1 << 48;

/// The values that tensors are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Few distinct values, so that maxima tie; NaN, infinities, -0 and subnormals among them
    Mixed,
    /// 0 to 250, which every runtime treats alike
    Peers,
    /// What is hard in drawn tests: NaN with many payloads and both signs, zeros of both signs, infinities, subnormals,
    /// largest values and ties; of integers the lowest and largest values
    Nasty,
    /// Only +0, -0 and NaN; for integers only 0
    Zeros,
}

impl Data {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The bits of the values, each as often as its share of a tensor is.
    fn table(self, dtype: DType) -> Vec<u64> {
        match self {
            // For floats one in 64 is a special one, and all others are small integers.
            Data::Mixed => {
                let special = palette(dtype);
                let small = |index: usize| bits(dtype, (index % 19) as i32 - 9);
                let value = |index| if index % 64 == 0 { special[index / 64 % special.len()] } else { small(index) };
                (0..4096).map(value).collect()
            }
            Data::Peers => (0..251).map(|value| bits(dtype, value)).collect(),
            Data::Nasty => bits_of(dtype, &mixed(dtype, 4096, 0)),
            Data::Zeros if dtype.is_float() => [vec![quiet_nan(dtype)], vec![sign(dtype); 10], vec![0; 9]].concat(),
            Data::Zeros => vec![0],
        }
    }
}

/// Number `index` of the pseudo-random sequence: splitmix64, seeded with 0.
pub fn noise(index: u64) -> u64 {
    splitmix64(index.wrapping_mul(STEP))
}

/// The values of a tensor. Each follows from its position in memory.
pub fn values(data: Data, spec: &TensorSpec) -> Aligned {
    with_element!(spec.dtype, T => {
        let table: Vec<T> = data.table(T::DTYPE).into_iter().map(T::from_bits64).collect();
        let choices = table.len() as u64;
        filled(spec, |index| table[(noise(index) % choices) as usize])
    })
}

/// Random positions for an unpool: each element of X has one in its own plane, and some have the same one.
pub fn random_indices(plan: &Plan) -> Aligned {
    let (plane, spec) = (plan.index_space().unwrap().strides().c, &plan.inputs()[1]);
    // Index tensors lie in planes, whatever the layout of X.
    let per_plane = spec.shape[2..].iter().product::<usize>() as u64;
    let index = |at: u64| (at / per_plane) as i64 * plane + (noise(OF_INDICES + at) % plane as u64) as i64;
    match plan.index_type() {
        Some(IndexType::I32) => filled(spec, |at| index(at) as i32),
        _ => filled(spec, index),
    }
}

/// A tensor whose elements are a function of their positions, computed on all cores.
fn filled<T: Element>(spec: &TensorSpec, element: impl Fn(u64) -> T + Sync) -> Aligned {
    let mut all = Aligned::zeros(spec.bytes());
    let places = cast_slice_mut::<u8, T>(&mut all).par_iter_mut().enumerate();
    places.for_each(|(index, place)| *place = element(index as u64));
    all
}

/// The checksums of Y and of a pool's indices, widened to 64 bits.
pub fn checksums(plan: &Plan, outputs: &[&[u8]]) -> (u64, Option<u64>) {
    let count = plan.outputs()[0].element_count() as usize;
    let y = with_element!(plan.outputs()[0].dtype, T => checksum(outputs[0], count, T::to_bits64));
    let indices = outputs.get(1).map(|indices| match plan.index_type() {
        Some(IndexType::I32) => checksum(indices, count, |index: i32| i64::from(index) as u64),
        _ => checksum(indices, count, |index: i64| index as u64),
    });
    (y, indices)
}

/// The sum over the elements of splitmix64's output for `bits + STEP * (position - 1)`, modulo 2^64: it depends on the
/// positions, and NaN counts by its bits like any other value.
fn checksum<T: Element>(bytes: &[u8], count: usize, bits: impl Fn(T) -> u64 + Sync) -> u64 {
    // Bytes that were read back are not aligned for every element type.
    let elements = bytes.par_chunks_exact(size_of::<T>()).take(count).enumerate();
    let term = |(index, element): (usize, &[u8])| {
        let position = (index as u64).wrapping_sub(1);
        splitmix64(bits(pod_read_unaligned(element)).wrapping_add(position.wrapping_mul(STEP)))
    };
    elements.map(term).reduce(|| 0, u64::wrapping_add)
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
    use support::draw::elements::{is_nan, mask};
    use wgpu_pooling::Layout;

    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first numbers of the published generator with seed 0.
        assert_eq!([0, 1, 2].map(noise), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn data_have_what_their_names_say() {
        for dtype in DType::ALL {
            let drawn = |data| {
                let spec = TensorSpec { shape: vec![1, 1, 100_000], dtype, layout: Layout::Nchw };
                bits_of(dtype, &values(data, &spec))
            };
            let count = |data, what: &dyn Fn(u64) -> bool| drawn(data).into_iter().filter(|&bits| what(bits)).count();
            let share = |data, what| count(data, what) as f64 / 1e5;
            let (nan, negative_zero) = (|bits| is_nan(dtype, bits), |bits| bits == sign(dtype));
            let peer = |at| bits(dtype, (noise(at) % 251) as i32) & mask(dtype);
            assert!((0..).map(peer).zip(drawn(Data::Peers)).all(|(peer, found)| peer == found), "{dtype:?}");
            if dtype.is_float() {
                assert!((0.002..0.008).contains(&share(Data::Mixed, &nan)), "{dtype:?}");
                assert!(share(Data::Nasty, &nan) > 0.2 && share(Data::Nasty, &negative_zero) > 0.05, "{dtype:?}");
                assert!((0.04..0.06).contains(&share(Data::Zeros, &nan)), "{dtype:?}");
                assert!((0.49..0.51).contains(&share(Data::Zeros, &negative_zero)), "{dtype:?}");
            } else {
                assert_eq!(share(Data::Zeros, &|bits| bits == 0), 1.0, "{dtype:?}");
            }
        }
    }

    #[test]
    fn a_checksum_knows_order_and_bits() {
        let sum = |data: &[u32]| checksum(bytemuck::cast_slice(data), data.len(), |word: u32| word.into());
        assert_ne!(sum(&[1, 2, 3]), sum(&[2, 1, 3]));
        assert_eq!(sum(&[0]), splitmix64(STEP.wrapping_neg()));
        assert_eq!(sum(&[7, 9]), splitmix64(7u64.wrapping_sub(STEP)).wrapping_add(splitmix64(9)));
    }
}
