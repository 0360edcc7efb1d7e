//! Indices are untrusted: whatever bits they have, nothing outside the output is written, and the error names the first
//! offender as the reference does. Tested in calls, and encoded into slices of poisoned buffers, where Y has what the
//! good ones name.

use gpu_test::gpu_test;
use support::call::{Call, same};
use support::calls;
use support::device::gpu;
use support::draw::bytes::{Bytes, random};
use support::draw::elements::Recipe;
use support::net::encoded_words;
use wgpu_pooling::{
    Build, Choice, DType, Family, IndexFlattening, IndexType, MaxUnpool, OutOfBounds, PreparedPlan, Tensor, select,
};

/// Index tensors for each way to compute an unpool.
const TENSORS: u64 = 48;

/// Any bits, bits whose low word is a valid index, valid indices with one bit changed, edges, and valid indices.
fn index(bytes: &mut Bytes<'_>, unit: i64) -> i64 {
    let valid = bytes.below(unit as usize) as i64;
    match bytes.byte() % 8 {
        0 => bytes.word() as i64,
        1 => valid | (bytes.word() as i64) << 32,
        2 => valid ^ 1 << bytes.below(64),
        3 => bytes.of(&[-1, i64::MIN, i64::MAX, unit, unit - 1, -unit, 0, 1 << 31, (1 << 32) - 1, -(1 << 31), 1 << 63]),
        _ => valid,
    }
}

/// Tries many index tensors on every family in every build. Returns the number of bad indices.
fn tried(unpool: &MaxUnpool, shape: &[usize], dtype: DType, index_type: IndexType) -> usize {
    let plan = unpool.plan(shape, dtype, index_type).unwrap();
    let skipping = unpool.clone().out_of_bounds(OutOfBounds::Skip).plan(shape, dtype, index_type).unwrap();
    let unit = plan.index_space().unwrap().index_count() as i64;
    let (count, mut bad) = (shape.iter().product(), 0);
    let all =
        [(Family::Gather, Build::Generic), (Family::Gather, Build::Specialised), (Family::ClaimEmit, Build::Generic)];
    for (family, build) in all {
        let choice = Choice { family: Some(family), build: Some(build) };
        let Ok(schedule) = select(&plan, &gpu().limits(), &choice) else { continue };
        let prepared = gpu().prepare_blocking(schedule).unwrap();
        for number in 0..TENSORS {
            let (elements, indices) = (random(3, "elements", number), random(3, "indices", number));
            let x = Recipe::draw(&mut Bytes(&elements)).elements(dtype, count);
            let mut bytes = Bytes(&indices);
            let indices: Vec<i64> = (0..count).map(|_| index(&mut bytes, unit)).collect();
            bad += indices.iter().filter(|index| !(0..unit).contains(index)).count();
            let call = Call::unpool(plan.clone(), &x, &indices);
            let expected = call.expected();
            let check = |found| same(&expected, &found).unwrap_or_else(|error| panic!("{choice:?}: {error}: {call:?}"));
            check(call.outcome(|x, y| prepared.run_blocking(x, y)));
            let written = Call::unpool(skipping.clone(), &x, &indices).expected().unwrap();
            check(call.outcome(|inputs, outputs| {
                let [y, _, report] = encoded_words(&prepared, inputs)?;
                let y: &[u8] = bytemuck::cast_slice(&y);
                assert_eq!(
                    (&y[..written[0].len()], &y[written[0].len()..]),
                    (&written[0][..], &[0; 3][..y.len() - written[0].len()])
                );
                if let Some(report) = report.first_chunk() {
                    prepared.read_report(report)?;
                }
                outputs[0].bytes_mut()?.copy_from_slice(&written[0]);
                Ok(())
            }));
        }
    }
    bad
}

#[gpu_test]
fn any_bits_as_indices_write_nothing_outside_the_output() {
    let mut bad = 0;
    for rule in [OutOfBounds::Error, OutOfBounds::Skip] {
        let apart = MaxUnpool::new([2, 2]).strides([2, 2]).out_of_bounds(rule);
        let overlapping = MaxUnpool::new([3, 3]).strides([1, 2]).out_of_bounds(rule);
        let planes = apart.clone().flatten(IndexFlattening::Plane);
        // An odd number of packed elements, so that the last word has bytes behind them.
        let shape = [1, 3, 3, 3];
        bad += tried(&apart, &shape, DType::F32, IndexType::I64);
        bad += tried(&overlapping, &shape, DType::F32, IndexType::I32);
        bad += tried(&overlapping, &shape, DType::U8, IndexType::I64);
        bad += tried(&apart, &[1, 1, 3, 3], DType::U8, IndexType::I32);
        bad += tried(&planes, &shape, DType::F64, IndexType::I64);
    }
    println!("{bad} bad indices");
}

/// A plan takes index tensors of its own index type only.
#[gpu_test]
fn both_index_types_refuse_what_the_other_takes() {
    let x = Tensor::new([1, 1, 2], vec![1.0f32, 2.0]).unwrap();
    for index_type in [IndexType::I32, IndexType::I64] {
        let plan = MaxUnpool::new([2]).plan(x.shape(), DType::F32, index_type).unwrap();
        let prepared = gpu().prepare_blocking(plan).unwrap();
        let wide = Tensor::new([1, 1, 2], vec![0i64, 1]).unwrap();
        let narrow = Tensor::new([1, 1, 2], vec![0i32, 1]).unwrap();
        let outcomes = [
            calls::max_unpool(&prepared, x.view(), wide.view()).is_ok(),
            calls::max_unpool(&prepared, x.view(), narrow.view()).is_ok(),
        ];
        assert_eq!(outcomes, [index_type == IndexType::I64, index_type == IndexType::I32]);
    }
}
