//! Compares results with the reference, slice by slice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use wgpu_pooling::{
    Backend, Element, ExecuteError, Index, IndexType, Outputs, Plan, Reference, Run, Tensor, TensorRef, TensorView,
};

use crate::data::cores;
use crate::failure::Failure;
use crate::work::Slices;

/// How many slices were compared, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    pub slices: usize,
    pub of: usize,
}

/// The tensors of a row as a kernel leaves them: X, the indices that an unpool reads, and the outputs.
pub struct Tensors<'a, T> {
    pub x: &'a [T],
    pub indices: &'a [u8],
    pub y: &'a [u8],
    pub indices_out: &'a [u8],
}

/// Compares as many slices as have `most_taps` taps together, but at least one. They are spread evenly from the first
/// slice to the last.
pub fn verify<T: Element>(slices: &Slices, tensors: &Tensors<'_, T>, most_taps: u64) -> Result<Verified, Failure> {
    let affordable = most_taps / slices.plans.taps().max(1);
    let count = slices.count.min(affordable.clamp(1, slices.count as u64) as usize);
    let next = AtomicUsize::new(0);
    // The failure of the slice with the lowest number so far.
    let failed: Mutex<Option<(usize, Failure)>> = Mutex::new(None);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let slice = spread(number, count, slices.count);
            if let Err(failure) = compare(slices, tensors, slice) {
                let mut failed = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if failed.as_ref().is_none_or(|(earlier, _)| slice < *earlier) {
                    *failed = Some((slice, failure));
                }
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..cores().min(count) {
            scope.spawn(work);
        }
    });
    match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        None => Ok(Verified { slices: count, of: slices.count }),
        Some((_, failure)) => Err(failure),
    }
}

/// The slice with number `number` among `count` slices spread evenly over `all`, the first and the last included.
fn spread(number: usize, count: usize, all: usize) -> usize {
    if count < 2 { 0 } else { (number as u128 * (all as u128 - 1) / (count as u128 - 1)) as usize }
}

/// Computes one slice by the reference and compares it with what is to be verified.
fn compare<T: Element>(slices: &Slices, tensors: &Tensors<'_, T>, slice: usize) -> Result<(), Failure> {
    let plans = &slices.plans;
    let x_shape = plans.x_shape();
    let x: Vec<T> = slices.elements(bytemuck::cast_slice(tensors.x), count(x_shape), slice);
    let x = TensorView::new(x_shape, &x).map_err(ExecuteError::from)?;
    match plans.plan.index_type() {
        Some(IndexType::I32) => compare_indexed::<T, i32>(slices, tensors, x, slice),
        Some(IndexType::I64) => compare_indexed::<T, i64>(slices, tensors, x, slice),
        None => same_y(slices, tensors, slice, expected::<Tensor<T>>(&plans.plan, &[x.into()])?.data()),
    }
}

/// What the reference computes.
fn expected<O: Outputs>(plan: &Plan, inputs: &[TensorRef<'_>]) -> Result<O, ExecuteError> {
    pollster::block_on(Reference.prepare(plan.clone()))?.call_blocking(inputs)
}

fn compare_indexed<T: Element, I: Index>(
    slices: &Slices,
    tensors: &Tensors<'_, T>,
    x: TensorView<'_, T>,
    slice: usize,
) -> Result<(), Failure> {
    let base = slices.base(slice);
    let plan = &slices.plans.plan;
    match plan {
        Plan::Pool(_) => {
            let (y, indices): (Tensor<T>, Tensor<I>) = expected(plan, &[x.into()])?;
            same_y(slices, tensors, slice, y.data())?;
            let found: Vec<I> = slices.in_planes(tensors.indices_out, count(&plan.outputs()[1].shape), slice);
            let indices: Vec<I> = indices.data().iter().map(|index| moved(*index, base)).collect();
            same("the index tensor", slice, &found, &indices)
        }
        _ => {
            let whole: Vec<I> = slices.in_planes(tensors.indices, count(&plan.inputs()[1].shape), slice);
            let own: Vec<I> = whole.iter().map(|index| moved(*index, -base)).collect();
            let own = TensorView::new(&plan.inputs()[1].shape, &own).map_err(ExecuteError::from)?;
            same_y(slices, tensors, slice, expected::<Tensor<T>>(plan, &[x.into(), own.into()])?.data())
        }
    }
}

/// An index moved from one plane to another. The index of a window wholly in padding is -1 in every plane.
fn moved<I: Index>(index: I, by: i64) -> I {
    if index.to_i64() == -1 { index } else { I::from_i64(index.to_i64() + by) }
}

fn same_y<T: Element>(
    slices: &Slices,
    tensors: &Tensors<'_, T>,
    slice: usize,
    by_reference: &[T],
) -> Result<(), Failure> {
    same("Y", slice, &slices.elements::<T>(tensors.y, by_reference.len(), slice), by_reference)
}

/// Compares computed elements with those of the reference, bit for bit.
fn same<E: Element>(what: &str, slice: usize, computed: &[E], by_reference: &[E]) -> Result<(), Failure> {
    if bytemuck::cast_slice::<E, u8>(computed) == bytemuck::cast_slice::<E, u8>(by_reference) {
        return Ok(());
    }
    let differs = computed.iter().zip(by_reference).enumerate();
    let mut differing = differs.filter(|(_, (found, expected))| found.to_bits64() != expected.to_bits64());
    let Some((at, (found, expected))) = differing.next() else {
        return Err(Failure::Mismatch(format!("{what} has fewer elements than the reference")));
    };
    Err(Failure::Mismatch(format!(
        "slice {slice} of {what}, element {at}: {found:?} (0x{:x}) was computed, {expected:?} (0x{:x}) by the \
         reference; {} of {} elements of the slice differ",
        found.to_bits64(),
        expected.to_bits64(),
        1 + differing.count(),
        by_reference.len(),
    )))
}

/// Compares an output of another kernel with that of the selected kernel, byte by byte.
pub fn same_bytes(what: &str, first: &[u8], other: &[u8]) -> Result<(), Failure> {
    match first.iter().zip(other).position(|(a, b)| a != b) {
        None if first.len() == other.len() => Ok(()),
        at => {
            let at = at.unwrap_or(first.len().min(other.len()));
            Err(Failure::Mismatch(format!("{what} differs from the selected kernel's at byte {at} of {}", first.len())))
        }
    }
}

fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

#[cfg(test)]
mod tests {
    use wgpu_pooling::{DType, Layout};

    use super::*;
    use crate::catalogue::{OWN, Row, parse};
    use crate::data::{Data, values};
    use crate::shrink::shrunk;
    use crate::work::Plans;

    /// What the reference computes for a whole row passes slice by slice; with one bit flipped it fails.
    #[test]
    fn slices_of_the_whole_are_those_computed_alone() {
        let names = ["stem_3x3s2p1", "segnet_2x2s2_i64", "global_512x512", "adaptive_odd", "unpool_random"];
        for (name, layout) in names.into_iter().flat_map(|name| Layout::ALL.iter().map(move |&layout| (name, layout))) {
            let rows = parse(OWN).unwrap();
            let row = rows.into_iter().find(|row| row.name == name).unwrap();
            let row = Row { pooled: [&[2, 3], &row.pooled[2..]].concat(), layout, ..row };
            let row = shrunk(&row, 100);
            let row = Row { pooled: [&[2, 3], &row.pooled[2..]].concat(), ..row };
            let (plans, slices) = (Plans::new(&row, DType::F32).unwrap(), Slices::new(&row, DType::F32).unwrap());
            let x: Vec<f32> = values(Data::Mixed, count(plans.x_shape()));
            let view = TensorView::new(plans.x_shape(), &x).unwrap();
            let (mut y, indices, indices_out) = match &plans.plan {
                Plan::Pool(plan) if plan.indices.is_some() => {
                    let (y, indices): (Tensor<f32>, Tensor<i64>) = expected(&plans.plan, &[view.into()]).unwrap();
                    (y.into_data(), Vec::new(), indices.into_data())
                }
                Plan::Pool(_) => {
                    let y: Tensor<f32> = expected(&plans.plan, &[view.into()]).unwrap();
                    (y.into_data(), Vec::new(), Vec::new())
                }
                Plan::Unpool(plan) => {
                    let plane = row.pooled[2..].iter().product::<usize>() as i64;
                    let per_plane = (x.len() / 6) as i64;
                    let indices: Vec<i64> = (0..x.len() as i64).map(|at| at / per_plane * plane + at % plane).collect();
                    let read = TensorView::new(&plan.inputs[1].shape, &indices).unwrap();
                    let y: Tensor<f32> = expected(&plans.plan, &[view.into(), read.into()]).unwrap();
                    (y.into_data(), indices.clone(), Vec::new())
                }
                Plan::Difference(_) => unreachable!("rows are pools and unpools"),
            };
            let check = |y: &[f32], indices_out: &[i64]| {
                let [indices, indices_out] = [&indices[..], indices_out].map(bytemuck::cast_slice);
                let tensors = Tensors { x: &x, indices, y: bytemuck::cast_slice(y), indices_out };
                verify(&slices, &tensors, u64::MAX)
            };
            let of = slices.count;
            assert_eq!(check(&y, &indices_out), Ok(Verified { slices: of, of }), "{name}");
            if let Some((last, before)) = indices_out.split_last() {
                assert!(matches!(check(&y, &[before, &[last ^ 1]].concat()), Err(Failure::Mismatch(_))), "{name}");
            }
            let last = y.len() - 1;
            y[last] = f32::from_bits(y[last].to_bits() ^ 1);
            assert!(matches!(check(&y, &indices_out), Err(Failure::Mismatch(_))), "{name}");
        }
    }

    #[test]
    fn an_index_of_a_window_in_padding_is_the_same_in_every_plane() {
        assert_eq!([-1i64, 0, 5].map(|index| moved(index, 100)), [-1, 100, 105]);
        assert_eq!([-1i32, 100].map(|index| moved(index, -100)), [-1, 0]);
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
        assert_eq!(same("Y", 1, &[3i16, 4], &[3, 4]), Ok(()));
        let failure = same("Y", 1, &[3i16, 5], &[3, 4]).unwrap_err();
        assert!(matches!(&failure, Failure::Mismatch(text) if text.contains("slice 1 of Y, element 1: 5 (0x5)")));
        assert!(same("Y", 0, &[0.0f32], &[-0.0]).is_err());
        assert!(same("Y", 1, &[], &[1i16]).is_err(), "a slice that is not there");
        assert!(same("Y", 0, &[f32::NAN], &[-f32::NAN]).is_err(), "NaN are told apart");
    }
}
