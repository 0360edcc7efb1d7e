//! Compares results with the reference, slice by slice.

use rayon::prelude::*;
use support::call::Call;
use support::draw::elements::{bits_of, bytes_of, mask, number};
use support::queue::winners;
use wgpu_pooling::{DType, Element, Plan, with_element};
use wgpu_pooling_plan::{AxisWindow, PoolAxis, PoolPlan};

use crate::failure::Failure;
use crate::work::Slices;

/// How many slices were compared, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    pub slices: usize,
    pub of: usize,
}

/// The outputs by their numbers; of an unpool's inputs the second one are indices too.
const NAMES: [&str; 2] = ["Y", "the index tensor"];

/// Compares as many slices of a row's outputs as have `most_taps` taps together, but at least one. They are spread
/// evenly from the first slice to the last.
pub fn verify(slices: &Slices, inputs: &[&[u8]], outputs: &[&[u8]], most_taps: u64) -> Result<Verified, Failure> {
    let affordable = most_taps / slices.plans.taps().max(1);
    let count = slices.count.min(affordable.clamp(1, slices.count as u64) as usize);
    // One slice alone can have more taps, by windows as long as it.
    let by_queue = slices.plans.taps() > most_taps;
    let numbers = (0..count).into_par_iter();
    let compared =
        numbers.map(|number| compare(slices, inputs, outputs, spread(number, count, slices.count), by_queue));
    compared.find_first(Result::is_err).unwrap_or(Ok(()))?;
    Ok(Verified { slices: count, of: slices.count })
}

/// The slice with number `number` among `count` slices spread evenly over `all`, the first and the last included.
fn spread(number: usize, count: usize, all: usize) -> usize {
    if count < 2 { 0 } else { (number as u128 * (all as u128 - 1) / (count as u128 - 1)) as usize }
}

/// Computes one slice by the reference and compares it with what is to be verified.
fn compare(slices: &Slices, inputs: &[&[u8]], outputs: &[&[u8]], slice: usize, by_queue: bool) -> Result<(), Failure> {
    let (plan, base) = (&slices.plans.plan, slices.base(slice));
    let mut own: Vec<Vec<u8>> =
        plan.inputs().iter().zip(inputs).map(|(spec, whole)| slices.own(spec, whole, slice)).collect();
    if let [_, indices] = &mut own[..] {
        *indices = moved(plan.inputs()[1].dtype, indices, -base);
    }
    let pool = plan.pool().filter(|pool| by_queue && has_no_gaps(pool));
    let by_queue = pool.and_then(|pool| with_element!(pool.dtype(), T => queued::<T>(plan, pool, &own[0])));
    let mut expected = by_queue.map_or_else(|| Call::new(plan.clone(), own).expected(), Ok)?;
    if let [_, indices] = &mut expected[..] {
        *indices = moved(plan.outputs()[1].dtype, indices, base);
    }
    for (((spec, name), expected), whole) in plan.outputs().iter().zip(NAMES).zip(expected).zip(outputs) {
        same(&format!("slice {slice} of {name}"), spec.dtype, &slices.own(spec, whole, slice), &expected)?;
    }
    Ok(())
}

/// Whether windows have no gaps, and each has a winner unless it has a NaN.
fn has_no_gaps(pool: &PoolPlan) -> bool {
    let undilated = |axis: &PoolAxis| matches!(axis.window, AxisWindow::Strided { dilation: 1, .. });
    pool.axes.iter().all(undilated) && !pool.has_empty_windows() && !pool.starts_from_value()
}

/// What a pool gives of one plane, by a monotone queue; `None` if X has a NaN.
fn queued<T: Element>(plan: &Plan, pool: &PoolPlan, x: &[u8]) -> Option<Vec<Vec<u8>>> {
    let x: Vec<T> = bits_of(T::DTYPE, x).into_iter().map(T::from_bits64).collect();
    if x.iter().any(|x| x.is_nan()) {
        return None;
    }
    let winners = winners(pool, &x);
    let y: Vec<u64> = winners.iter().map(|&place| x[place].to_bits64()).collect();
    let indices = plan.outputs().get(1).map(|indices| (indices.dtype, winners.iter().map(|&place| place as u64)));
    let indices = indices.map(|(dtype, indices)| bytes_of(dtype, &indices.collect::<Vec<_>>()));
    Some(std::iter::once(bytes_of(T::DTYPE, &y)).chain(indices).collect())
}

/// Indices moved from one plane to another. The index of a window wholly in padding is -1 in every plane.
fn moved(dtype: DType, indices: &[u8], by: i64) -> Vec<u8> {
    let moved = |bits: u64| if bits == mask(dtype) { bits } else { bits.wrapping_add_signed(by) };
    bytes_of(dtype, &bits_of(dtype, indices).into_iter().map(moved).collect::<Vec<_>>())
}

/// Compares computed elements with those of the reference, bit for bit.
fn same(what: &str, dtype: DType, computed: &[u8], by_reference: &[u8]) -> Result<(), Failure> {
    if computed == by_reference {
        return Ok(());
    }
    let [computed, by_reference] = [computed, by_reference].map(|bytes| bits_of(dtype, bytes));
    let differing = computed.iter().zip(&by_reference).enumerate().filter(|(_, (found, expected))| found != expected);
    let differing: Vec<_> = differing.collect();
    let Some(&(at, (&found, &expected))) = differing.first() else {
        return Err(Failure::Mismatch(format!("{what} has fewer elements than the reference")));
    };
    Err(Failure::Mismatch(format!(
        "{what}, element {at}: {:?} ({found:#x}) was computed, {:?} ({expected:#x}) by the reference; {} of {} \
         elements of the slice differ",
        number(dtype, found),
        number(dtype, expected),
        differing.len(),
        by_reference.len(),
    )))
}

/// Compares the outputs of another kernel with those of the selected kernel, byte by byte.
pub fn same_outputs(first: &[&[u8]], other: &[&[u8]]) -> Result<(), Failure> {
    for ((first, other), name) in first.iter().zip(other).zip(NAMES) {
        if first != other {
            let at = first.iter().zip(*other).position(|(a, b)| a != b).unwrap_or(first.len().min(other.len()));
            let text = format!("{name} differs from the selected kernel's at byte {at} of {}", first.len());
            return Err(Failure::Mismatch(text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wgpu_pooling::Layout;

    use super::*;
    use crate::catalogue::{OWN, Row, parse};
    use crate::data::Data;
    use crate::shrink::shrunk;
    use crate::tensors::{Tensors, parts};
    use crate::work::Plans;

    /// What the reference computes for a whole row passes slice by slice; with one bit flipped it fails.
    #[test]
    fn slices_of_the_whole_are_those_computed_alone() {
        let names = ["stem_3x3s2p1", "segnet_2x2s2_i64", "global_512x512", "adaptive_odd", "unpool_random"];
        for (name, layout) in names.into_iter().flat_map(|name| Layout::ALL.iter().map(move |&layout| (name, layout))) {
            let rows = parse(OWN).unwrap();
            let row = rows.into_iter().find(|row| row.name == name).unwrap();
            let row = shrunk(&Row { pooled: [&[2, 3], &row.pooled[2..]].concat(), layout, ..row }, 100);
            let row = Row { pooled: [&[2, 3], &row.pooled[2..]].concat(), ..row };
            let (plans, slices) = (Plans::new(&row, DType::F32).unwrap(), Slices::new(&row, DType::F32).unwrap());
            let inputs = Tensors::new(&plans, Data::Mixed).unwrap().inputs;
            let whole = Call::new(plans.plan, inputs.iter().map(|input| input.to_vec()).collect());
            let mut outputs = whole.expected().unwrap();
            let check = |outputs: &[Vec<u8>]| verify(&slices, &parts(&inputs), &parts(outputs), u64::MAX);
            assert_eq!(check(&outputs), Ok(Verified { slices: 6, of: 6 }), "{name}");
            for number in 0..outputs.len() {
                let last = outputs[number].len() - 1;
                outputs[number][last] ^= 1;
                assert!(matches!(check(&outputs), Err(Failure::Mismatch(_))), "{name}");
                outputs[number][last] ^= 1;
            }
        }
    }

    #[test]
    fn an_index_of_a_window_in_padding_is_the_same_in_every_plane() {
        let moved = |dtype, indices, by| bits_of(dtype, &super::moved(dtype, &bytes_of(dtype, indices), by));
        assert_eq!(moved(DType::I64, &[u64::MAX, 0, 5], 100), [u64::MAX, 100, 105]);
        assert_eq!(moved(DType::I32, &[0xFFFF_FFFF, 100], -100), [0xFFFF_FFFF, 0]);
    }

    #[test]
    fn slices_are_spread_from_the_first_to_the_last() {
        let taken = |count, all| (0..count).map(|number| spread(number, count, all)).collect::<Vec<_>>();
        assert_eq!(taken(1, 10), [0]);
        assert_eq!(taken(2, 10), [0, 9]);
        assert_eq!(taken(4, 10), [0, 3, 6, 9]);
        assert_eq!(taken(5, 5), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_single_bit_is_a_mismatch_with_its_place() {
        let check = |dtype, found: &[u64], expected: &[u64]| {
            same("slice 1 of Y", dtype, &bytes_of(dtype, found), &bytes_of(dtype, expected))
        };
        assert_eq!(check(DType::I16, &[3, 4], &[3, 4]), Ok(()));
        let failure = check(DType::I16, &[3, 5], &[3, 4]).unwrap_err();
        let expected = "slice 1 of Y, element 1: Integer(5) (0x5) was computed";
        assert!(matches!(&failure, Failure::Mismatch(text) if text.contains(expected)), "{failure}");
        assert!(check(DType::F16, &[0], &[0x8000]).is_err(), "zeros are told apart");
        assert!(check(DType::F16, &[0x7E00], &[0xFE00]).is_err(), "NaN are told apart");
        assert!(check(DType::I16, &[], &[1]).is_err(), "a slice that is not there");
    }
}
