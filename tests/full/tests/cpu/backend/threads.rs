//! What threads that share a call could lose, on tensors that are cut into parts: whole planes, rows of a plane, blocks
//! of a window. Drawn tensors of this size are in tests/cases.

use support::call::Call;
use support::net::Net;
use wgpu_pooling::{
    AdaptiveMaxPool, DType, Element, GlobalMaxPool, IndexFlattening, IndexType, Layout, MaxPool, MaxUnpool, NanPolicy,
    OutOfBounds, Plan, Pooling,
};

use super::case;
use half::f16;

/// Every kernel gives the reference's outcome, at each level and on the threads that are next.
#[track_caller]
fn agree(net: &Net, case: &Call) {
    net.agree(case).unwrap_or_else(|error| panic!("{error}: {:?}", &case.plan));
}

fn net() -> Net {
    Net::new(0).only("CPU").every_level()
}

/// Threads share a plane in blocks, here of 4,096 elements; the second plane has these elements at these places.
#[test]
fn of_equal_elements_in_parts_of_several_threads_the_first_one_wins() {
    let net = net();
    let (shape, plane) = ([1, 2, 700, 600], 700 * 600);
    let last = plane - 1;
    let pooled = |policy, elements: &[(usize, f32)]| {
        let mut x = vec![-1.0f32; 2 * plane];
        elements.iter().for_each(|&(place, element)| x[plane + place] = element);
        let plan = GlobalMaxPool::new().nan_policy(policy).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let case = Call::new(plan, vec![bytemuck::cast_slice(&x).to_vec()]);
        agree(&net, &case);
        let outputs = case.expected().unwrap();
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

/// Planes with a NaN at every place and the maximum at some distance from it: a loop that compares the two with each
/// other loses the maximum.
#[test]
fn nan_hides_no_element() {
    let net = net();
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
                agree(&net, &case);
            }
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

#[test]
fn unpools_with_indices_of_other_planes() {
    let net = net();
    let shape = [3, 5, 20_000];
    let unit = 3 * 5 * 40_000;
    let doubled = || MaxUnpool::new([2]).strides([2]);
    // Every index names an element of any plane, and many are named more than once; then all name one of a few.
    for (step, most) in [(7919, unit), (1, 11), (39_999, unit)] {
        let case = unpool(doubled(), shape, |place| place.wrapping_mul(step).rem_euclid(most));
        agree(&net, &case);
    }
    let agrees = |case: &Call| agree(&net, case);
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

#[test]
fn bad_indices_are_counted_and_the_first_is_named() {
    let net = net();
    let shape = [3, 5, 20_000];
    for first in [0, 1, 77_777, 299_999] {
        for also in [299_999, 150_000] {
            let bad = |place: i64| if place == first || place == also { i64::MIN + place } else { 2 * place };
            let case = unpool(MaxUnpool::new([2]).strides([2]), shape, bad);
            assert!(case.expected().is_err());
            agree(&net, &case);
        }
    }
}
