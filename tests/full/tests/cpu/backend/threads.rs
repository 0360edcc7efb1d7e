//! The same bits at any number of threads and at every level, in every kernel that applies, on tensors that are cut
//! into parts: whole planes, rows of a plane, channels of a row.

use support::call::{Call, Outcome, same};
use support::cpu::ways;
use support::tests;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Cpu, CpuKernel, DType, Element, ExecuteError, GlobalMaxPool, IndexFlattening,
    IndexType, Layout, MaxPool, MaxUnpool, NanPolicy, OutOfBounds, Plan, Pooling, Run, SimdLevel, StorageOrder,
    TensorMut,
};

use super::{case, policies, pools, undone};
use half::f16;

tests! {
    cpu =>
        rows,
        long_rows_of_every_type,
        rows_of_single_windows,
        planes,
        planes_of_small_types,
        planes_of_wide_types,
        long_windows,
        volumes,
        channels_last,
        channels_last_with_indices_of_either_layout,
        one_large_plane_is_one_window,
        of_equal_elements_in_parts_of_several_threads_the_first_one_wins,
        many_small_planes_are_one_window_each,
        nan_hides_no_element,
        adaptive_windows,
        dilations_and_uneven_pads,
        activations,
        unpools_of_disjoint_and_of_shared_windows,
        unpools_with_indices_of_other_planes,
        bad_indices_are_counted_and_the_first_is_named;
}

/// Every kernel, thread count and level gives this outcome, and unpools into fresh outputs too.
#[track_caller]
fn agree(case: &Call, expected: &Outcome) {
    let levels = SimdLevel::available();
    for &level in levels {
        for (name, prepared) in ways(case.plan(), &[level]).unwrap() {
            // The general kernel has no vector instructions of its own.
            if prepared.kernel() == CpuKernel::General && level != levels[0] {
                continue;
            }
            for pool in pools() {
                let outcome = pool.install(|| case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs)));
                let threads = pool.current_num_threads();
                same(expected, &outcome)
                    .unwrap_or_else(|error| panic!("{name}, {threads} threads: {error}: {:?}", case.plan()));
            }
        }
        if let plan @ Plan::Unpool(_) = case.plan() {
            let prepared = Cpu::new().with_simd(level).unwrap().prepare(plan.clone()).unwrap();
            for pool in pools() {
                // After an error they may hold anything.
                let (result, written) = pool.install(|| {
                    case.run(|inputs, outputs| {
                        let fresh = outputs.iter_mut().map(|y| {
                            let (dtype, shape) = (y.dtype(), y.shape());
                            Ok(TensorMut::new(dtype, shape, y.bytes_mut()?)?.fresh())
                        });
                        prepared.run_blocking(inputs, &mut fresh.collect::<Result<Vec<_>, ExecuteError>>()?)
                    })
                });
                let threads = pool.current_num_threads();
                same(expected, &result.map(|()| written))
                    .unwrap_or_else(|error| panic!("{level:?}, fresh, {threads} threads: {error}: {plan:?}"));
            }
        }
    }
}

/// Pools with and without indices, under each policy for NaN, agree with the reference. Gives the cases with indices
/// and their outcomes.
#[track_caller]
fn pool<P: Pooling>(shape: &[usize], dtype: DType, pool: impl Fn(NanPolicy) -> P) -> Vec<(Call, Vec<Vec<u8>>)> {
    let bytes: usize = shape.iter().product::<usize>() * dtype.bytes();
    let cases = policies(pool).enumerate().map(|(number, pool)| {
        let index_type = if number == 1 { IndexType::I32 } else { IndexType::I64 };
        let with = case(pool.plan(shape, dtype, Some(index_type)).unwrap(), number as u64 + bytes as u64);
        let expected = with.expected();
        agree(&with, &expected);
        // The values are the same without indices.
        let without = Call { work: pool.plan(shape, dtype, None).unwrap().into(), ..with.clone() };
        agree(&without, &expected.clone().map(|outputs| outputs[..1].to_vec()));
        (with, expected.unwrap())
    });
    cases.collect()
}

fn rows() {
    pool(&[4, 3, 100_003], DType::F32, |policy| MaxPool::new([3]).strides([2]).pads([1, 1]).nan_policy(policy));
    pool(&[1, 1, 300_001], DType::U8, |policy| MaxPool::new([5]).pads([2, 2]).nan_policy(policy));
    pool(&[1, 2, 70_003], DType::F16, |policy| MaxPool::new([4]).strides([4]).nan_policy(policy));
}

/// Rows are pooled one by one: of a plane that threads share, and of several planes.
fn rows_of_single_windows() {
    for (channels, rows) in [(1, 20_000), (3, 7_001)] {
        pool(&[1, channels, rows, 20], DType::F32, |policy| MaxPool::new([1, 20]).strides([1, 20]).nan_policy(policy));
        pool(&[1, channels, rows, 19], DType::U8, |policy| MaxPool::new([1, 5]).strides([1, 3]).nan_policy(policy));
    }
}

/// The direct kernel takes rows of wide elements in pieces of four kilobytes of outputs.
fn long_rows_of_every_type() {
    for (dtype, kernel) in DType::ALL.into_iter().flat_map(|dtype| (2..=5).map(move |kernel| (dtype, kernel))) {
        pool(&[1, 2, 9, 2200], dtype, |policy| {
            MaxPool::new([2, kernel]).strides([2, 2]).pads([0, 1, 1, 1]).nan_policy(policy)
        });
    }
}

fn planes() {
    let shape = [2, 5, 257, 251];
    pool(&shape, DType::F32, |policy| MaxPool::new([2, 2]).strides([2, 2]).nan_policy(policy));
    pool(&shape, DType::F32, |policy| MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]).nan_policy(policy));
    pool(&[1, 2, 211, 197], DType::F32, |policy| MaxPool::new([3, 3]).pads([1; 4]).nan_policy(policy));
    // One plane, whose rows are shared.
    pool(&[1, 1, 500, 601], DType::F32, |policy| MaxPool::new([3, 3]).strides([2, 2]).nan_policy(policy));
    // Planes that are narrower than vectors are.
    pool(&[3, 200, 19, 17], DType::F32, |policy| MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]).nan_policy(policy));
}

fn planes_of_small_types() {
    pool(&[1, 3, 512, 511], DType::U8, |policy| MaxPool::new([2, 2]).strides([2, 2]).nan_policy(policy));
    pool(&[2, 3, 150, 301], DType::I8, |policy| MaxPool::new([3, 3]).pads([1; 4]).nan_policy(policy));
    pool(&[2, 3, 200, 190], DType::F16, |policy| MaxPool::new([2, 2]).strides([2, 2]).nan_policy(policy));
    pool(&[2, 2, 130, 190], DType::F16, |policy| MaxPool::new([3, 3]).pads([1; 4]).nan_policy(policy));
    pool(&[2, 2, 130, 190], DType::Bf16, |policy| MaxPool::new([3, 3]).strides([2, 2]).nan_policy(policy));
    pool(&[2, 2, 130, 190], DType::U16, |policy| MaxPool::new([3, 3]).strides([2, 2]).nan_policy(policy));
    pool(&[2, 2, 130, 190], DType::I16, |policy| MaxPool::new([2, 2]).nan_policy(policy));
}

fn planes_of_wide_types() {
    for dtype in [DType::F64, DType::I64, DType::U64, DType::I32, DType::U32] {
        pool(&[2, 2, 120, 190], dtype, |policy| MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]).nan_policy(policy));
        pool(&[2, 2, 60, 130], dtype, |policy| MaxPool::new([2, 3]).nan_policy(policy));
    }
}

fn long_windows() {
    let same_size = |kernel: i64, policy| MaxPool::new([kernel, kernel]).pads([kernel / 2; 4]).nan_policy(policy);
    pool(&[1, 3, 101, 170], DType::F32, |policy| same_size(5, policy));
    pool(&[1, 2, 61, 130], DType::F32, |policy| same_size(13, policy));
    pool(&[1, 1, 40, 170], DType::F32, |policy| same_size(31, policy));
    pool(&[1, 2, 61, 130], DType::U8, |policy| same_size(13, policy));
    pool(&[1, 2, 61, 70], DType::F16, |policy| same_size(9, policy));
    pool(&[1, 2, 150, 301], DType::F32, |policy| MaxPool::new([9, 14]).strides([4, 7]).nan_policy(policy));
    pool(&[1, 2, 20_000], DType::F32, |policy| MaxPool::new([63]).pads([31, 31]).nan_policy(policy));
    pool(&[1, 20, 40, 50], DType::F64, |policy| MaxPool::new([1, 11]).pads([0, 5, 0, 5]).nan_policy(policy));
    pool(&[1, 20, 40, 50], DType::I16, |policy| MaxPool::new([11, 1]).pads([5, 0, 5, 0]).nan_policy(policy));
}

fn volumes() {
    // As many groups of rows in a plane as the direct kernel keeps for the planes that follow, fewer, and more.
    for outputs in [31, 32, 33] {
        pool(&[2, 3, 2 * outputs, 6, 9], DType::F32, |policy| {
            MaxPool::new([2, 2, 2]).strides([2, 2, 2]).nan_policy(policy)
        });
    }
    pool(&[2, 2, 40, 65, 70], DType::F32, |policy| MaxPool::new([2, 2, 2]).strides([2, 2, 2]).nan_policy(policy));
    pool(&[1, 2, 15, 45, 70], DType::F32, |policy| MaxPool::new([3, 3, 3]).pads([1; 6]).nan_policy(policy));
    pool(&[1, 1, 30, 45, 70], DType::U8, |policy| {
        MaxPool::new([3, 2, 3]).strides([2, 1, 2]).pads([1, 0, 1, 1, 1, 0]).nan_policy(policy)
    });
}

fn channels_last() {
    let pool_of = |policy| MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4]).layout(Layout::Nhwc).nan_policy(policy);
    pool(&[2, 90, 101, 24], DType::F32, pool_of);
    pool(&[1, 200, 203, 3], DType::F32, pool_of);
    pool(&[1, 200, 203, 3], DType::U8, |policy| MaxPool::new([2, 2]).layout(Layout::Nhwc).nan_policy(policy));
    pool(&[1, 90, 101, 33], DType::F16, pool_of);
    pool(&[1, 2000, 70], DType::F32, |policy| MaxPool::new([7]).layout(Layout::Nhwc).nan_policy(policy));
    pool(&[2, 300, 400, 1], DType::F32, pool_of);
    pool(&[2, 12, 30, 31, 7], DType::F32, |policy| {
        MaxPool::new([2, 3, 2]).strides([2, 2, 2]).layout(Layout::Nhwc).nan_policy(policy)
    });
}

fn channels_last_with_indices_of_either_layout() {
    let (last, first) = ([2, 90, 101, 12], [2, 12, 90, 101]);
    for (data, indices, flatten, shape) in [
        (Layout::Nhwc, Layout::Nchw, IndexFlattening::Tensor, last),
        (Layout::Nhwc, Layout::Nchw, IndexFlattening::Plane, last),
        (Layout::Nhwc, Layout::Nhwc, IndexFlattening::Tensor, last),
        (Layout::Nchw, Layout::Nhwc, IndexFlattening::Tensor, first),
        (Layout::Nchw, Layout::Nchw, IndexFlattening::Batch, first),
    ] {
        pool(&shape, DType::F32, |policy| {
            let pool = MaxPool::new([3, 3]).strides([2, 2]).layout(data).index_layout(indices);
            pool.flatten(flatten).nan_policy(policy)
        });
    }
    // Half a megabyte of indices, which are moved to the other layout in pieces.
    for (data, indices, shape) in
        [(Layout::Nchw, Layout::Nhwc, [1, 40, 45, 45]), (Layout::Nhwc, Layout::Nchw, [1, 45, 45, 40])]
    {
        pool(&shape, DType::F32, |policy| MaxPool::new([1, 1]).layout(data).index_layout(indices).nan_policy(policy));
    }
    pool(&first, DType::F32, |policy| {
        MaxPool::new([3, 3]).strides([2, 2]).index_order(StorageOrder::ColumnMajor).nan_policy(policy)
    });
}

fn one_large_plane_is_one_window() {
    for dtype in [DType::F32, DType::U8, DType::F16, DType::F64, DType::Bf16] {
        pool(&[1, 1, 701, 1025], dtype, |policy| GlobalMaxPool::new().nan_policy(policy));
    }
    pool(&[1, 3, 401, 700], DType::F32, |policy| GlobalMaxPool::new().nan_policy(policy));
    pool(&[2, 90, 101, 24], DType::F32, |policy| GlobalMaxPool::new().layout(Layout::Nhwc).nan_policy(policy));
    pool(&[1, 1, 30, 101, 90], DType::F32, |policy| GlobalMaxPool::new().nan_policy(policy));
    // The same as a pool whose window is its input.
    pool(&[1, 1, 701, 1025], DType::F32, |policy| MaxPool::new([701, 1025]).nan_policy(policy));
}

/// Threads share a plane in blocks, here of 4,096 elements; the second plane has these elements at these places.
fn of_equal_elements_in_parts_of_several_threads_the_first_one_wins() {
    let (shape, plane) = ([1, 2, 700, 600], 700 * 600);
    let last = plane - 1;
    let pooled = |policy, elements: &[(usize, f32)]| {
        let mut x = vec![-1.0f32; 2 * plane];
        elements.iter().for_each(|&(place, element)| x[plane + place] = element);
        let plan = GlobalMaxPool::new().nan_policy(policy).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let case = Call::new(plan, vec![bytemuck::cast_slice(&x).to_vec()]);
        let expected = case.expected();
        agree(&case, &expected);
        let outputs = expected.unwrap();
        let (y, indices): (&[f32], Vec<i64>) =
            (bytemuck::cast_slice(&outputs[0]), bytemuck::pod_collect_to_vec(&outputs[1]));
        (y[1], indices[1] - plane as i64)
    };
    let first = NanPolicy::SeedFirst;
    assert_eq!(pooled(first, &[(last, 5.0)]), (5.0, last as i64));
    assert_eq!(pooled(first, &[(40_000, 5.0), (200_000, 5.0), (last, 5.0)]), (5.0, 40_000));
    let nan_begins_a_block = [(4096, f32::NAN), (4097, -0.0), (last, 0.0)];
    assert_eq!(pooled(first, &nan_begins_a_block).1, 4097);
    assert_eq!(pooled(first, &[]), (-1.0, 0));
    let last_nan = pooled(NanPolicy::PropagateLast, &[(3, f32::NAN), (300_000, f32::NAN), (last, 9.0)]);
    assert!(last_nan.0.is_nan() && last_nan.1 == 300_000);
}

fn many_small_planes_are_one_window_each() {
    pool(&[32, 300, 7, 7], DType::F32, |policy| GlobalMaxPool::new().nan_policy(policy));
    pool(&[32, 301, 7, 7], DType::U8, |policy| GlobalMaxPool::new().nan_policy(policy));
    pool(&[20, 301, 5, 5], DType::F16, |policy| GlobalMaxPool::new().nan_policy(policy));
    pool(&[20, 301, 5, 5], DType::F64, |policy| GlobalMaxPool::new().nan_policy(policy));
}

/// Planes with a NaN at every place and the maximum at some distance from it: a loop that compares the two with each
/// other loses the maximum.
fn nan_hides_no_element() {
    fn planes<T: Element>(elements: usize, distances: &[usize], [low, high, nan]: [u64; 3]) -> Vec<u8> {
        let plane = |place: usize, distance: usize| {
            let mut plane = vec![T::from_bits64(low); elements];
            plane[(place + distance) % elements] = T::from_bits64(high);
            plane[place] = T::from_bits64(nan);
            plane
        };
        let all = distances.iter().flat_map(|&distance| (0..elements).flat_map(move |place| plane(place, distance)));
        bytemuck::cast_slice(&all.collect::<Vec<_>>()).to_vec()
    }
    let distances = [1, 64, 192];
    let shape = [1, 19 * 17 * distances.len(), 19, 17];
    let single = planes::<f32>(19 * 17, &distances, [0x3F80_0000, 0x4000_0000, 0x7FC0_0000]);
    let half = planes::<f16>(19 * 17, &distances, [0x3C00, 0x4000, 0x7E00]);
    for policy in NanPolicy::ALL {
        let pools: [&dyn Pooling; 3] = [
            &GlobalMaxPool::new().nan_policy(*policy),
            &AdaptiveMaxPool::new([2, 3]).nan_policy(*policy),
            &MaxPool::new([5, 5]).strides([2, 2]).pads([2; 4]).nan_policy(*policy),
        ];
        for (pool, (dtype, x)) in
            pools.iter().flat_map(|pool| [(DType::F32, &single), (DType::F16, &half)].map(|x| (pool, x)))
        {
            for index_type in [None, Some(IndexType::I64)] {
                let case = Call::new(pool.plan(&shape, dtype, index_type).unwrap(), vec![x.clone()]);
                agree(&case, &case.expected());
            }
        }
    }
}

fn adaptive_windows() {
    pool(&[1, 16, 157, 151], DType::F32, |policy| AdaptiveMaxPool::new([6, 5]).nan_policy(policy));
    pool(&[1, 16, 57, 43], DType::U8, |policy| AdaptiveMaxPool::new([6, 6]).nan_policy(policy));
    pool(&[8, 300, 14, 14], DType::F32, |policy| AdaptiveMaxPool::new([7, 7]).nan_policy(policy));
    pool(&[1, 3, 60, 70], DType::F32, |policy| AdaptiveMaxPool::new([130, 111]).nan_policy(policy));
    pool(&[1, 57, 43, 40], DType::F16, |policy| AdaptiveMaxPool::new([6, 7]).layout(Layout::Nhwc).nan_policy(policy));
    pool(&[1, 4, 20, 31, 33], DType::F32, |policy| AdaptiveMaxPool::new([3, 7, 4]).nan_policy(policy));
}

fn dilations_and_uneven_pads() {
    pool(&[1, 3, 150, 201], DType::F32, |policy| {
        MaxPool::new([3, 3]).dilations([2, 2]).pads([2; 4]).nan_policy(policy)
    });
    pool(&[1, 3, 150, 201], DType::F32, |policy| {
        MaxPool::new([3, 4]).strides([2, 3]).dilations([4, 5]).pads([3, 1, 0, 6]).ceil_mode(1).nan_policy(policy)
    });
    pool(&[1, 3, 150, 201], DType::U8, |policy| {
        MaxPool::new([4, 3]).strides([3, 2]).pads([3, 0, 1, 2]).ceil_mode(1).nan_policy(policy)
    });
    // Strides that pass over elements, and windows wholly in padding.
    pool(&[1, 3, 300, 301], DType::F32, |policy| MaxPool::new([2, 2]).strides([5, 3]).nan_policy(policy));
    pool(&[1, 3, 90, 97], DType::F32, |policy| {
        MaxPool::new([3, 3]).dilations([1, 50]).pads([2, 100, 2, 100]).nan_policy(policy)
    });
}

fn activations() {
    let clip = Activation::Clip { min: -0.75, max: f32::MIN_POSITIVE };
    for activation in [Activation::Relu, clip] {
        for dtype in [DType::F32, DType::F16, DType::I8] {
            pool(&[1, 3, 150, 201], dtype, |policy| {
                MaxPool::new([3, 3]).strides([2, 2]).activation(activation).nan_policy(policy)
            });
        }
    }
}

fn unpools_of_disjoint_and_of_shared_windows() {
    for (kernel, dtype, layout) in [
        (2, DType::F32, Layout::Nchw),
        (3, DType::F32, Layout::Nchw),
        (2, DType::U8, Layout::Nchw),
        (3, DType::F16, Layout::Nhwc),
        (2, DType::F64, Layout::Nhwc),
    ] {
        let pool_of = |policy| MaxPool::new([kernel, kernel]).strides([2, 2]).layout(layout).nan_policy(policy);
        let shape = [2, 60, 70, 64];
        for (pooled, outputs) in pool(&shape, dtype, pool_of) {
            let unpool = undone(MaxUnpool::inverse_of(&pool_of(NanPolicy::ALL[0]), &shape), &pooled, &outputs);
            agree(&unpool, &unpool.expected());
        }
    }
}

/// An unpool of one-dimensional planes with the indices that a function gives for each place.
fn unpool(unpool: MaxUnpool, shape: [usize; 3], index: impl Fn(i64) -> i64) -> Call {
    let plan: Plan = unpool.plan(&shape, DType::F32, IndexType::I64).unwrap();
    let mut case = case(plan, 7);
    let count = shape.iter().product::<usize>() as i64;
    case.inputs.push((0..count).flat_map(|place| index(place).to_ne_bytes()).collect());
    case
}

fn unpools_with_indices_of_other_planes() {
    let shape = [3, 5, 20_000];
    let unit = 3 * 5 * 40_000;
    let doubled = || MaxUnpool::new([2]).strides([2]);
    // Every index names an element of any plane, and many are named more than once; then all name one of a few.
    for (step, most) in [(7919, unit), (1, 11), (39_999, unit)] {
        let case = unpool(doubled(), shape, |place| place.wrapping_mul(step).rem_euclid(most));
        agree(&case, &case.expected());
    }
    let agrees = |case: &Call| agree(case, &case.expected());
    let skipping = || doubled().out_of_bounds(OutOfBounds::Skip);
    agrees(&unpool(skipping(), shape, |place| if place % 3 == 0 { -place } else { place * 31 % (2 * unit) }));
    agrees(&unpool(skipping().flatten(IndexFlattening::Plane), shape, |place| place * 31 % 40_010));
    agrees(&unpool(doubled().flatten(IndexFlattening::Batch), shape, |place| place * 31 % (5 * 40_000)));
    // Channels last: places of their own planes but for one, which is another's, and then no one's.
    let last = [3, 20_000, 5];
    for index_layout in [Layout::Nchw, Layout::Nhwc] {
        let unpool_of = |rule| doubled().layout(Layout::Nhwc).index_layout(index_layout).out_of_bounds(rule);
        // In the order in which the indices lie.
        let own = |place: i64| match index_layout {
            Layout::Nchw => place / 20_000 * 40_000 + place % 20_000 * 2,
            Layout::Nhwc => place / 5 * 10 + place % 5,
        };
        for (rule, other) in [(OutOfBounds::Error, 3), (OutOfBounds::Error, unit), (OutOfBounds::Skip, -1)] {
            for odd in [0, 123_457, 299_999] {
                let index = |place| if place == odd { other } else { own(place) };
                agrees(&unpool(unpool_of(rule), last, index));
            }
        }
    }
}

fn bad_indices_are_counted_and_the_first_is_named() {
    let shape = [3, 5, 20_000];
    for first in [0, 1, 77_777, 299_999] {
        for also in [299_999, 150_000] {
            let bad = |place: i64| if place == first || place == also { i64::MIN + place } else { 2 * place };
            let case = unpool(MaxUnpool::new([2]).strides([2]), shape, bad);
            let expected = case.expected();
            assert!(expected.is_err());
            agree(&case, &expected);
        }
    }
}
