//! Streaming unpools: the bits and the errors of the reference, in the memory that was allowed.

use std::ops::ControlFlow;

use support::call::{Call, same};
use support::draw::elements::{bits_of, mixed};
use support::net::streamed;
use support::splitmix::splitmix64;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, DType, ExecuteError, IndexFlattening, IndexType, Layout, MaxPool, MaxUnpool,
    OutOfBounds, OutsideWindow, Plan, Pooling, StorageOrder,
};

use super::On;

fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = splitmix64(state);
        state >> 8
    }
}

/// Budgets from one that holds the whole unpool down to those of many tiles.
fn budgets(on: &On) -> [u64; 3] {
    on.either([64 << 20, 60 << 10, 5 << 10], [64 << 20, 6 << 10, 200])
}

/// Compares runs in each budget with the reference. Returns whether a GPU computed the one in the largest.
fn check(on: &On, call: &Call) -> bool {
    let (mut on_device, expected) = (false, call.expected());
    for budget in budgets(on) {
        let (outcome, report) = streamed(call, budget, &on.device, |_| ControlFlow::Continue(()));
        let what = |error| format!("{error}: {:?} in {budget} bytes", &call.plan);
        same(&expected, &outcome).map_err(what).unwrap();
        let Some(report) = report else { continue };
        assert!(report.peak_bytes <= budget, "{report:?} in {budget} bytes");
        assert!(budget > budgets(on)[2] || report.tiles > 1, "{report:?} in {budget} bytes");
        on_device |= budget == budgets(on)[0] && report.peak_device_bytes > 0 && report.bytes_uploaded > 0;
    }
    on_device
}

/// An unpool of drawn elements with these indices.
fn call(plan: Plan, indices: &[i64]) -> Call {
    let x: Vec<u64> = bits_of(DType::F32, &mixed(DType::F32, indices.len(), 3));
    Call::unpool(plan, &x, indices)
}

#[test]
fn what_pools_made_goes_back_in_any_budget() {
    for on in On::each() {
        let pools: Vec<(Box<dyn Pooling>, Vec<usize>)> = vec![
            (Box::new(MaxPool::new([2, 2]).strides([2, 2])), vec![2, 3, 20, 18]),
            (Box::new(MaxPool::new([3, 3]).pads([1; 4])), vec![1, 2, 30, 31]),
            (Box::new(MaxPool::new([2, 2]).storage_order(1).strides([1, 2])), vec![2, 2, 9, 12]),
            (Box::new(MaxPool::new([2, 3]).layout(Layout::Nhwc)), vec![2, 14, 15, 3]),
            (Box::new(MaxPool::new([2, 3]).layout(Layout::Nhwc).index_layout(Layout::Nhwc)), vec![2, 14, 15, 3]),
            (Box::new(MaxPool::new([2]).dilations([3]).pads([1, 1])), vec![2, 2, 400]),
            (Box::new(AdaptiveMaxPool::new([13, 9])), vec![2, 2, 30, 20]),
            (Box::new(MaxPool::new([2, 1, 2]).flatten(IndexFlattening::Batch)), vec![2, 2, 5, 6, 7]),
        ];
        for (pool, shape) in pools {
            let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
            let pooled = Call::new(plan, vec![mixed(DType::F32, shape.iter().product(), 3)]);
            let (y_shape, outputs) = (pooled.plan.output_shape(), pooled.expected().unwrap());
            let unpool = MaxUnpool::inverse_of(pool.as_ref(), &shape).activation(Activation::Relu);
            let plan = unpool.plan(y_shape, DType::F32, IndexType::I64).unwrap();
            let in_order = [plan.inputs()[0].layout, plan.index_space().unwrap().layout()] == [Layout::Nchw; 2];
            assert_eq!(check(&on, &Call::new(plan, outputs.clone())), in_order && on.is_gpu, "{shape:?}");
            let strict = unpool.outside_window(OutsideWindow::Error);
            check(&on, &Call::new(strict.plan(y_shape, DType::F32, IndexType::I64).unwrap(), outputs));
        }
    }
}

#[test]
fn any_indices_land_where_they_say_and_the_last_wins() {
    for on in On::each() {
        for (layout, order) in [
            (Layout::Nchw, StorageOrder::RowMajor),
            (Layout::Nhwc, StorageOrder::RowMajor),
            (Layout::Nchw, StorageOrder::ColumnMajor),
        ] {
            let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).layout(layout).index_order(order);
            let shape = if layout == Layout::Nchw { [2, 3, 11, 9] } else { [2, 11, 9, 3] };
            let plan = unpool.plan(&shape, DType::F32, IndexType::I64).unwrap();
            let unit = plan.index_space().unwrap().index_count();
            let mut noise = noise(8);
            // Indices into all planes, then indices of a few places only, so that the order decides.
            for spread in [unit, 5] {
                let indices: Vec<i64> = (0..594).map(|_| (noise() % spread * (unit / spread)) as i64).collect();
                check(&on, &call(plan.clone(), &indices));
            }
            // More sources than a tile takes at a time: the later sources must not overwrite what the first ones have
            // written.
            check(&on, &call(plan, &(0..594).map(|position| position / 6).collect::<Vec<i64>>()));
        }
    }
}

/// Indices that stay in their planes, so that planes can be computed by themselves, and among them some that name
/// nothing.
#[test]
fn indices_of_own_planes_that_name_nothing_are_left_out() {
    for on in On::each() {
        let shape = [2, 3, 13, 11];
        for outside in [OutsideWindow::Scatter, OutsideWindow::Skip] {
            for order in [StorageOrder::RowMajor, StorageOrder::ColumnMajor] {
                for flatten in [IndexFlattening::Tensor, IndexFlattening::Batch, IndexFlattening::Plane] {
                    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).index_order(order).flatten(flatten);
                    let unpool = unpool.out_of_bounds(OutOfBounds::Skip).outside_window(outside);
                    let plan = unpool.activation(Activation::Relu).plan(&shape, DType::F32, IndexType::I64).unwrap();
                    let (mut noise, unit) = (noise(17), plan.index_space().unwrap().index_count() as i64);
                    let index = |position: usize| {
                        let (plane, source) = (position / 143, position % 143);
                        // Mostly in the source's own window, as a pool's.
                        let [dy, dx] =
                            [noise() % 5, noise() % 5].map(|step| (step == 4) as usize * 2 + step as usize % 2);
                        let at = [2 * (source / 11) + dy, 2 * (source % 11) + dx].map(|at| at as i64);
                        let at = [at[0].min(25), at[1].min(21)];
                        match noise() % 9 {
                            0 => [-1, unit + 3, i64::MIN, i64::MAX][position % 4],
                            _ => plan.index_space().unwrap().encode(plane / 3, plane % 3, &at),
                        }
                    };
                    let indices: Vec<i64> = (0..858).map(index).collect();
                    check(&on, &call(plan.clone(), &indices));
                }
            }
        }
    }
}

#[test]
fn bad_indices_are_counted_before_anything_is_written() {
    for on in On::each() {
        let unpool = MaxUnpool::new([2, 2]).strides([2, 2]);
        let shape = [2, 3, 20, 30];
        let mut noise = noise(1);
        let mut indices: Vec<i64> = (0..3600).map(|_| (noise() % 14400) as i64).collect();
        for (position, value) in [(3599, -1), (77, 14400), (2000, i64::MIN), (78, i64::MAX)] {
            indices[position] = value;
        }
        let plan = |unpool: &MaxUnpool| unpool.plan(&shape, DType::F32, IndexType::I64).unwrap();
        let refused = call(plan(&unpool), &indices);
        let error = ExecuteError::IndexOutOfRange { position: 77, value: 14400, index_count: 14400, count: 4 };
        assert_eq!(refused.expected(), Err(error));
        check(&on, &refused);
        check(&on, &call(plan(&unpool.out_of_bounds(OutOfBounds::Skip)), &indices));
    }
}
