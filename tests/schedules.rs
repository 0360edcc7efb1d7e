//! Schedules are values: what they promise is tested without a device.

use wgpu_pooling::{
    AdaptiveMaxPool, Build, Choice, DType, Family, GlobalMaxPool, IndexType, Limits, MAX_ITERATIONS, MaxPool,
    MaxUnpool, Plan, PlanError, Pooling, Schedule, families, select,
};

fn schedules(plan: &Plan) -> Vec<Schedule> {
    let families = families(plan, &Limits::WEBGPU);
    assert!(!families.is_empty(), "{plan:?}");
    let choice = |family| Choice { family: Some(family), build: Some(Build::Generic) };
    families.into_iter().map(|family| select(plan, &Limits::WEBGPU, &choice(family)).unwrap()).collect()
}

#[test]
fn no_invocation_loops_longer_than_software_drivers_allow() {
    let pools: Vec<(Box<dyn Pooling>, Vec<usize>)> = vec![
        (Box::new(MaxPool::new([2, 2]).strides([2, 2])), vec![4, 8, 64, 64]),
        (Box::new(MaxPool::new([31, 31]).pads([15; 4])), vec![1, 1, 200, 300]),
        (Box::new(MaxPool::new([90, 90])), vec![1, 1, 200, 300]),
        (Box::new(MaxPool::new([20, 20, 20])), vec![1, 1, 40, 40, 40]),
        (Box::new(MaxPool::new([50_000])), vec![1, 1, 60_000]),
        (Box::new(MaxPool::new([1_000_000_000]).pads([999_999_999, 0])), vec![1, 1, 5_000]),
        (Box::new(GlobalMaxPool::new()), vec![1, 1, 256, 256, 256]),
        (Box::new(GlobalMaxPool::new()), vec![1, 2, 16_000_000]),
        (Box::new(AdaptiveMaxPool::new([7, 3])), vec![2, 3, 1_000, 1_001]),
        (Box::new(AdaptiveMaxPool::new([3; 5])), vec![2, 3, 9, 8, 7, 6, 5]),
    ];
    for (pool, shape) in pools {
        for dtype in [DType::F32, DType::U8, DType::F16] {
            for indices in [None, Some(IndexType::I64)] {
                let plan = pool.plan(&shape, dtype, indices).unwrap().into();
                for schedule in schedules(&plan) {
                    for dispatch in schedule.dispatches() {
                        let iterations = dispatch.iterations();
                        assert!(iterations <= MAX_ITERATIONS, "{}: {iterations} on {shape:?}", schedule.kernel());
                    }
                }
            }
        }
    }
    for unpool in [
        MaxUnpool::new([2; 5]).strides([2; 5]).plan(&[2, 3, 4, 5, 6, 7, 8], DType::U8, IndexType::I64),
        MaxUnpool::new([31; 2]).plan(&[2, 3, 40, 50], DType::U8, IndexType::I64),
        MaxUnpool::new([31; 3]).plan(&[1, 1, 40, 50, 6], DType::F32, IndexType::I32),
    ] {
        for schedule in schedules(&unpool.unwrap().into()) {
            assert!(schedule.dispatches().iter().all(|dispatch| dispatch.iterations() <= MAX_ITERATIONS));
        }
    }
}

#[test]
fn a_long_window_is_separable_and_a_short_one_direct() {
    let family = |pool: MaxPool, shape: &[usize]| {
        let plan = pool.plan(shape, DType::F32, None).unwrap().into();
        select(&plan, &Limits::WEBGPU, &Choice::default()).unwrap().family()
    };
    assert_eq!(family(MaxPool::new([3, 3]), &[1, 1, 8, 8]), Family::Direct);
    assert_eq!(family(MaxPool::new([90, 90]), &[1, 1, 100, 100]), Family::Separable);
}

#[test]
fn families_that_apply_are_these() {
    use Family::{Accumulating, ClaimEmit, Direct, Separable, Streaming};
    let of = |plan: Plan| families(&plan, &Limits::WEBGPU);
    let pool = |pool: &dyn Pooling, shape: &[usize]| of(pool.plan(shape, DType::F32, None).unwrap().into());
    assert_eq!(pool(&MaxPool::new([3, 3]), &[1, 1, 8, 8]), [Direct, Separable, Accumulating]);
    assert_eq!(pool(&MaxPool::new([90, 90]), &[1, 1, 99, 99]), [Separable, Accumulating]);
    assert_eq!(pool(&AdaptiveMaxPool::new([1; 4]), &[1, 1, 3, 3, 3, 3]), [Direct, Separable]);
    let unpool =
        |unpool: MaxUnpool, shape: &[usize]| of(unpool.plan(shape, DType::F32, IndexType::I64).unwrap().into());
    assert_eq!(unpool(MaxUnpool::new([2, 2]).strides([2, 2]), &[1, 1, 8, 8]), [Streaming, ClaimEmit]);
    // Too many windows hold an element, and too many axes.
    assert_eq!(unpool(MaxUnpool::new([90, 90]), &[1, 1, 99, 99]), [ClaimEmit]);
    assert_eq!(unpool(MaxUnpool::new([2; 4]), &[1, 1, 3, 3, 3, 3]), [ClaimEmit]);
}

#[test]
fn schedules_are_equal_values_and_say_what_they_move() {
    let plan: Plan =
        MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 8, 6], DType::F16, Some(IndexType::I32)).unwrap().into();
    let schedule = select(&plan, &Limits::WEBGPU, &Choice::default()).unwrap();
    assert_eq!(schedule, select(&plan, &Limits::WEBGPU, &Choice::default()).unwrap());
    assert_eq!(schedule.bytes_moved(), 144 * 2 + 36 * 2 + 36 * 4);
    assert_eq!(schedule.kernel(), "max_pool direct f16 generic (1 dispatch)");
    assert_eq!(schedule.scratch_bytes(), 0);
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 10], DType::F32, IndexType::I64).unwrap().into();
    let schedule = select(&unpool, &Limits::WEBGPU, &Choice::default()).unwrap();
    assert_eq!(schedule.family(), Family::Streaming);
    assert_eq!(schedule.scratch_bytes(), 20 * 4 + 3 * 12, "an owner for each output element, and three grids");
    let indirect: Vec<bool> = schedule.dispatches().iter().map(|dispatch| dispatch.is_indirect()).collect();
    assert_eq!(indirect, [false, false, false, false, true, true, true]);
    assert_eq!(schedule.bytes_moved(), 10 * 4 + 10 * 8 + 20 * 4);
}

#[test]
fn grids_fold_beyond_one_dimension() {
    let plan = MaxPool::new([1]).plan(&[70_000, 1, 64], DType::F32, None).unwrap().into();
    let schedule = select(&plan, &Limits::WEBGPU, &Choice::default()).unwrap();
    let [x, y, z] = schedule.dispatches()[0].grid();
    assert!(x <= 65_535 && y == 2 && z == 1 && x * y >= 70_000, "{x} x {y}");
}

#[test]
fn long_axes_need_no_tables_where_a_formula_does() {
    // 20 million outputs on one axis: a table for each would exceed a binding.
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 10_000_000], DType::F32, IndexType::I64).unwrap().into();
    let schedule = select(&unpool, &Limits::WEBGPU, &Choice::default()).unwrap();
    assert_eq!(schedule.family(), Family::Streaming);
    assert_eq!(families(&unpool, &Limits::WEBGPU)[0], Family::Streaming, "select takes the first that applies");
}

#[test]
fn axes_that_shrink_are_reduced_first() {
    // The other way round there would be 10^10 candidates between the passes.
    let plan = AdaptiveMaxPool::new([1, 100_000]).plan(&[1, 1, 100_000, 1], DType::F32, None).unwrap().into();
    let choice = Choice { family: Some(Family::Separable), build: Some(Build::Generic) };
    let schedule = select(&plan, &Limits::WEBGPU, &choice).unwrap();
    assert!(schedule.scratch_bytes() < 1 << 20, "{} bytes", schedule.scratch_bytes());
}

#[test]
fn a_schedule_knows_which_devices_can_run_it() {
    let plan = MaxPool::new([1]).plan(&[1, 1, 65_536 * 64], DType::F32, None).unwrap().into();
    let large = Limits { max_workgroups_per_dimension: 100_000, ..Limits::WEBGPU };
    let schedule = select(&plan, &large, &Choice::default()).unwrap();
    assert_eq!(schedule.check(&large), Ok(()));
    let what = "workgroups along a dimension";
    assert_eq!(schedule.check(&Limits::WEBGPU), Err(PlanError::ExceedsLimit { what, needed: 65_536, limit: 65_535 }));
    let few = Limits { max_storage_buffers: 4, ..Limits::WEBGPU };
    let unpool = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64).unwrap().into();
    let what = "storage buffers of a kernel";
    assert_eq!(select(&unpool, &few, &Choice::default()), Err(PlanError::ExceedsLimit { what, needed: 5, limit: 4 }));
}
