//! Schedules are values: what they promise is tested without a device.

use wgpu_pooling::{
    AdaptiveMaxPool, Build, Choice, DType, Family, GlobalMaxPool, IndexType, Layout, Limits, MAX_ITERATIONS, MaxPool,
    MaxUnpool, Plan, PlanError, Pooling, Schedule, families, select,
};

const GENERIC: Choice = Choice { family: None, build: Some(Build::Generic) };
const BUILDS: [Build; 2] = [Build::Generic, Build::Specialised];

fn of(family: Family) -> Choice {
    Choice { family: Some(family), build: None }
}

/// What is selected where nothing is asked for.
fn selected(plan: &Plan) -> Schedule {
    select(plan, &Limits::WEBGPU, &Choice::default()).unwrap()
}

/// Every family that applies, in every build that it has for the plan.
fn schedules(plan: &Plan) -> Vec<Schedule> {
    let families = families(plan, &Limits::WEBGPU);
    assert!(!families.is_empty(), "{plan:?}");
    let of = |family: Family| {
        let choices = family.builds().iter().map(|&build| Choice { build: Some(build), ..of(family) });
        let found: Vec<Schedule> = choices.filter_map(|choice| select(plan, &Limits::WEBGPU, &choice).ok()).collect();
        assert!(!found.is_empty(), "{family:?} is said to compute {plan:?}");
        found
    };
    families.into_iter().flat_map(of).collect()
}

#[test]
fn whole_planes_take_two_dispatches_whatever_their_size() {
    // The most elements of a plane of this family, less one, in the last one.
    let shapes: [&[usize]; 5] =
        [&[1, 1, 64, 64], &[3, 5, 67, 65], &[8, 64, 512, 512], &[1, 1, 256, 512, 512], &[1, 1, (1 << 28) - 1]];
    let large = Limits { max_buffer_bytes: 1 << 40, max_binding_bytes: 1 << 40, ..Limits::WEBGPU };
    for shape in shapes {
        for (dtype, software) in [(DType::U8, false), (DType::F32, true), (DType::F64, false), (DType::F16, true)] {
            let plan = GlobalMaxPool::new().plan(shape, dtype, Some(IndexType::I64)).unwrap();
            let schedule = select(&plan, &Limits { software, ..large }, &of(Family::Reducing)).unwrap();
            assert_eq!(schedule.dispatches().len(), 2, "{shape:?}, {dtype:?}");
            loops_are_short(&schedule);
            let bytes = shape.iter().product::<usize>() * dtype.bytes();
            assert!(schedule.scratch_bytes() <= (bytes / 256) as u64, "{shape:?}, {dtype:?}");
        }
    }
}

fn loops_are_short(schedule: &Schedule) {
    for dispatch in schedule.dispatches() {
        let iterations = dispatch.iterations();
        assert!(iterations <= MAX_ITERATIONS, "{}: {iterations} for {:?}", schedule.kernel(), schedule.plan());
    }
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
                let plan = pool.plan(&shape, dtype, indices).unwrap();
                schedules(&plan).iter().for_each(loops_are_short);
            }
        }
    }
    for unpool in [
        MaxUnpool::new([2; 5]).strides([2; 5]).plan(&[2, 3, 4, 5, 6, 7, 8], DType::U8, IndexType::I64),
        MaxUnpool::new([31; 2]).plan(&[2, 3, 40, 50], DType::U8, IndexType::I64),
        MaxUnpool::new([31; 3]).plan(&[1, 1, 40, 50, 6], DType::F32, IndexType::I32),
    ] {
        schedules(&unpool.unwrap()).iter().for_each(loops_are_short);
    }
}

#[test]
fn a_long_window_slides_and_a_short_one_is_direct() {
    let family = |pool: MaxPool, shape: &[usize]| selected(&pool.plan(shape, DType::F32, None).unwrap()).family();
    assert_eq!(family(MaxPool::new([3, 3]), &[1, 1, 8, 8]), Family::Direct);
    assert_eq!(family(MaxPool::new([90, 90]), &[1, 64, 112, 112]), Family::Sliding);
}

#[test]
fn families_that_apply_are_these() {
    use Family::{Accumulating, ClaimEmit, Direct, Gather, Reducing, Separable, Sliding, Teamed, ThreadTile};
    let of = |plan: Plan| families(&plan, &Limits::WEBGPU);
    // The first is what runs; the others follow in the order of their costs.
    let pool = |pool: &dyn Pooling, shape: &[usize], expected: &[Family]| {
        let found = of(pool.plan(shape, DType::F32, None).unwrap());
        let same = found.len() == expected.len() && expected.iter().all(|family| found.contains(family));
        assert!(same && found[0] == expected[0], "{found:?} and not {expected:?}");
    };
    let thirds = MaxPool::new([3, 3]);
    pool(&thirds, &[1, 1, 8, 8], &[Direct, Separable, Accumulating, ThreadTile, Sliding, Teamed]);
    pool(&thirds, &[8, 32, 16, 16], &[ThreadTile, Sliding, Direct, Separable, Accumulating, Teamed]);
    pool(&GlobalMaxPool::new(), &[1, 8, 99, 99], &[Reducing, Teamed, Separable, Accumulating]);
    pool(&MaxPool::new([90, 90]), &[1, 8, 112, 112], &[Sliding, Separable, Accumulating, Teamed]);
    pool(&AdaptiveMaxPool::new([1; 4]), &[1, 1, 3, 3, 3, 3], &[Direct, Separable, Teamed, Reducing]);
    let unpool = |unpool: MaxUnpool, shape: &[usize]| of(unpool.plan(shape, DType::F32, IndexType::I64).unwrap());
    assert_eq!(unpool(MaxUnpool::new([2, 2]).strides([2, 2]), &[1, 1, 8, 8]), [ClaimEmit, Gather]);
    let halves = MaxUnpool::new([2, 2]).strides([2, 2]);
    assert_eq!(unpool(halves, &[1, 8, 32, 32]), [Gather, ClaimEmit]);
    // Gather does not apply where too many windows hold an element, or where there are too many axes.
    assert_eq!(unpool(MaxUnpool::new([90, 90]), &[1, 1, 99, 99]), [ClaimEmit]);
    assert_eq!(unpool(MaxUnpool::new([2; 4]), &[1, 1, 3, 3, 3, 3]), [ClaimEmit]);
}

#[test]
fn schedules_are_equal_values_and_say_what_they_move() {
    let plan: Plan =
        MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 8, 6], DType::F16, Some(IndexType::I32)).unwrap();
    let schedule = selected(&plan);
    assert_eq!(schedule, selected(&plan));
    assert_eq!(schedule.bytes_moved(), 144 * 2 + 36 * 2 + 36 * 4);
    assert_eq!(schedule.kernel(), "max_pool direct f16 generic (1 dispatch)");
    assert_eq!(schedule.scratch_bytes(), 0);
    // A window that lies wholly in the padding has no element that it could share.
    let empty = MaxPool::new([9, 9]).pads([10; 4]).plan(&[1, 1, 20, 20], DType::F32, None).unwrap();
    assert!(select(&empty, &Limits::WEBGPU, &of(Family::Sliding)).is_err());
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 10], DType::F32, IndexType::I64).unwrap();
    let schedule = select(&unpool, &Limits::WEBGPU, &of(Family::Gather)).unwrap();
    assert_eq!(schedule.scratch_bytes(), (4 + 20) * 4, "an owner for each output element");
    let kernels = |schedule: &Schedule| -> Vec<String> {
        schedule.dispatches().iter().map(|dispatch| dispatch.key().name().to_owned()).collect()
    };
    let settle = "unpool settle f32 by i64, 1x1x2";
    assert_eq!(kernels(&schedule), ["unpool clear", "unpool check i64", "unpool gather f32", settle]);
    assert!(schedule.clears_scratch());
    assert_eq!(schedule.bytes_moved(), 10 * 4 + 10 * 8 + 20 * 4);
    let schedule = select(&unpool, &Limits::WEBGPU, &of(Family::ClaimEmit)).unwrap();
    assert_eq!(kernels(&schedule), ["unpool clear", "unpool claim i64", "unpool emit f32"]);
}

#[test]
fn grids_fold_beyond_one_dimension() {
    let plan = MaxPool::new([1]).plan(&[70_000, 1, 64], DType::F32, None).unwrap();
    let schedule = select(&plan, &Limits::WEBGPU, &GENERIC).unwrap();
    let [x, y, z] = schedule.dispatches()[0].grid();
    assert!(x <= 65_535 && y == 2 && z == 1 && x * y >= 70_000, "{x} x {y}");
}

#[test]
fn long_axes_need_no_tables_where_a_formula_does() {
    // 20 million outputs along one axis: a table with an entry for each would exceed a binding.
    let unpool = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 10_000_000], DType::F32, IndexType::I64).unwrap();
    assert_eq!(selected(&unpool).family(), Family::Gather);
    assert_eq!(families(&unpool, &Limits::WEBGPU)[0], Family::Gather, "select takes the first");
}

#[test]
fn axes_that_shrink_are_reduced_first() {
    // The other way round there would be 10^10 candidates between the passes.
    let plan = AdaptiveMaxPool::new([1, 100_000]).plan(&[1, 1, 100_000, 1], DType::F32, None).unwrap();
    let choice = Choice { build: Some(Build::Generic), ..of(Family::Separable) };
    let schedule = select(&plan, &Limits::WEBGPU, &choice).unwrap();
    assert!(schedule.scratch_bytes() < 1 << 20, "{} bytes", schedule.scratch_bytes());
}

#[test]
fn a_schedule_knows_which_devices_can_run_it() {
    let plan = MaxPool::new([1]).plan(&[1, 1, 65_536 * 64], DType::F32, None).unwrap();
    let large = Limits { max_workgroups_per_dimension: 100_000, ..Limits::WEBGPU };
    let schedule = select(&plan, &large, &GENERIC).unwrap();
    assert_eq!(schedule.check(&large), Ok(()));
    let what = "max_workgroups_per_dimension";
    assert_eq!(schedule.check(&Limits::WEBGPU), Err(PlanError::ExceedsLimit { what, needed: 65_536, limit: 65_535 }));
    let few = Limits { max_storage_buffers: 4, ..Limits::WEBGPU };
    let unpool = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64).unwrap();
    let what = "max_storage_buffers";
    let schedule = selected(&unpool);
    assert_eq!(schedule.check(&few), Err(PlanError::ExceedsLimit { what, needed: 5, limit: 4 }));
    // On a device with four storage buffers an unpool needs one dispatch more.
    let apart = select(&unpool, &few, &Choice::default()).unwrap();
    assert_eq!((schedule.dispatches().len(), apart.dispatches().len()), (3, 4));
}

/// The family and the build that `select` takes by default, by geometry. A new family adds rows, and changes the rows
/// of the plans that it takes over.
#[test]
fn what_is_selected_by_geometry() {
    use Build::{Generic, Specialised};
    use DType::{F16, F32, F64, U8};
    use Family::{Accumulating, ClaimEmit, Direct, Gather, Reducing, Sliding, Strip, Teamed, ThreadTile};

    let of = |pool: &dyn Pooling, shape: &[usize], dtype| pool.plan(shape, dtype, None).unwrap();
    let apart = |kernel: i64| MaxPool::new([kernel, kernel]).strides([kernel, kernel]);
    let (halves, nhwc) = (|| apart(2), |pool: MaxPool| pool.layout(Layout::Nhwc));
    let square = |kernel: i64| MaxPool::new([kernel, kernel]).pads([kernel / 2; 4]);
    let image: &[usize] = &[1, 64, 112, 112];
    let inverse = |pool: MaxPool, shape: &[usize], dtype| {
        let pooled = pool.plan(shape, dtype, Some(IndexType::I64)).unwrap();
        MaxUnpool::inverse_of(&pool, shape).plan(pooled.output_shape(), dtype, IndexType::I64).unwrap()
    };
    let rows: Vec<(&str, Plan, Family, Build)> = vec![
        // The size decides on the build: all small tensors share one generic kernel, a large tensor gets a kernel for
        // its window.
        ("a small tensor", of(&halves(), &[1, 1, 63, 64], F32), Direct, Generic),
        ("the smallest that is large", of(&halves(), &[1, 1, 64, 64], F32), ThreadTile, Specialised),
        ("a small tensor with a long window", of(&MaxPool::new([40, 40]), &[1, 1, 60, 60], F32), Direct, Generic),
        // Small windows: elements that neighbouring windows share are loaded once.
        ("2x2", of(&halves(), image, F32), ThreadTile, Specialised),
        ("2x2 of bytes", of(&halves(), &[1, 64, 128, 128], U8), ThreadTile, Specialised),
        ("2x2 of eight bytes", of(&halves(), image, F64), ThreadTile, Specialised),
        ("2x2 in odd rows", of(&halves(), &[1, 64, 111, 111], F32), ThreadTile, Specialised),
        ("2x2 of two bytes in odd rows", of(&halves(), &[1, 64, 111, 111], F16), ThreadTile, Specialised),
        ("2x2 of four channels", of(&nhwc(halves()), &[1, 112, 112, 4], F16), ThreadTile, Specialised),
        ("2x2 of six channels", of(&nhwc(halves()), &[1, 112, 112, 6], F16), ThreadTile, Specialised),
        ("2x2 of six channels of bytes", of(&nhwc(halves()), &[1, 112, 112, 6], U8), ThreadTile, Specialised),
        ("3x3 by 2 of eight bytes", of(&square(3).strides([2, 2]), image, F64), ThreadTile, Specialised),
        ("3x3 of eight bytes", of(&square(3), image, F64), ThreadTile, Specialised),
        ("3x3 in odd rows", of(&square(3), &[1, 64, 111, 111], F32), ThreadTile, Specialised),
        ("3x3", of(&square(3), image, F32), ThreadTile, Specialised),
        ("5x5", of(&square(5), image, F32), ThreadTile, Specialised),
        ("7x7 apart", of(&apart(7), image, F32), ThreadTile, Specialised),
        ("2x2x2", of(&MaxPool::new([2, 2, 2]).strides([2, 2, 2]), &[1, 8, 32, 32, 32], F32), ThreadTile, Specialised),
        ("2x2 of channels", of(&nhwc(halves()), &[1, 112, 112, 64], F32), ThreadTile, Specialised),
        ("3x3 of channels", of(&nhwc(square(3)), &[1, 112, 112, 64], F32), ThreadTile, Specialised),
        ("adaptive, all windows alike", of(&AdaptiveMaxPool::new([56, 56]), image, F32), ThreadTile, Specialised),
        // Large windows that overlap.
        ("7x7", of(&square(7), image, F32), Sliding, Specialised),
        ("9x9", of(&square(9), image, F32), Sliding, Specialised),
        ("31 in a row", of(&MaxPool::new([31]).pads([15, 15]), &[1, 64, 16_000], F32), Sliding, Specialised),
        ("9x9 of eight bytes", of(&square(9), image, F64), Sliding, Specialised),
        ("9x9 by 2", of(&square(9).strides([2, 2]), image, F32), Sliding, Specialised),
        ("9x9 by 3", of(&square(9).strides([3, 3]), image, F32), Sliding, Specialised),
        ("9x9 by 3 and 1", of(&square(9).strides([3, 1]), image, F32), Sliding, Specialised),
        ("9x9 by 3, of bytes", of(&square(9).strides([3, 3]), image, U8), Sliding, Specialised),
        // Whole planes.
        ("global", of(&GlobalMaxPool::new(), image, F32), Teamed, Specialised),
        ("global of few", of(&GlobalMaxPool::new(), &[64, 128, 7, 7], F32), Teamed, Specialised),
        ("global of fewer", of(&GlobalMaxPool::new(), &[64, 128, 5, 5], F32), ThreadTile, Specialised),
        ("global of very few", of(&GlobalMaxPool::new(), &[64, 128, 3, 3], F32), ThreadTile, Specialised),
        ("global of few bytes", of(&GlobalMaxPool::new(), &[64, 128, 5, 5], U8), Teamed, Specialised),
        // Large windows that lie apart.
        ("64x64", of(&apart(64), &[1, 3, 256, 256], F32), Teamed, Specialised),
        ("adaptive, of large windows", of(&AdaptiveMaxPool::new([3, 3]), &[1, 64, 112, 113], F32), Teamed, Specialised),
        ("16x16", of(&apart(16), &[1, 3, 256, 256], F32), Teamed, Specialised),
        ("16x16 of many", of(&apart(16), &[256, 3, 256, 256], F32), Teamed, Specialised),
        ("9x9 apart", of(&apart(9), &[1, 3, 252, 252], F32), Direct, Specialised),
        // Plans to which these families do not apply: windows of many taps, windows of several sizes, empty windows,
        // more axes.
        ("adaptive, of several sizes", of(&AdaptiveMaxPool::new([50, 50]), image, F32), Direct, Specialised),
        ("windows in padding", of(&MaxPool::new([2, 2]).pads([2; 4]), image, F32), Direct, Specialised),
        ("four axes", of(&MaxPool::new([2; 4]), &[1, 4, 12, 12, 12, 12], F32), Sliding, Specialised),
        ("90x90", of(&MaxPool::new([90, 90]), image, F32), Sliding, Specialised),
        ("more than a binding", of(&GlobalMaxPool::new(), &[1, 1, 6_000, 6_000], F32), Accumulating, Generic),
        // Unpools: the cells of a few sources, else element by element, else by claims.
        ("into a small tensor", inverse(halves(), &[1, 1, 62, 64], F32), ClaimEmit, Generic),
        ("2x2 back", inverse(halves(), image, F32), Gather, Specialised),
        ("2x2 of bytes back", inverse(halves(), image, U8), Gather, Specialised),
        ("2x2 of eight bytes back", inverse(halves(), image, F64), Gather, Specialised),
        ("2x2 of many back", inverse(halves(), &[8, 64, 112, 112], F32), Gather, Specialised),
        ("3x3 by 2 back", inverse(square(3).strides([2, 2]), image, F32), Gather, Specialised),
        ("2x2 of channels back", inverse(nhwc(halves()), &[1, 112, 112, 64], F32), Gather, Specialised),
        ("2x2 of bytes in odd rows back", inverse(halves(), &[1, 64, 111, 111], U8), Gather, Specialised),
        ("3x3 back", inverse(square(3), image, F32), Gather, Specialised),
        ("6x6 back", inverse(apart(6), image, F32), Gather, Specialised),
        ("9x9 back", inverse(apart(9), image, F32), ClaimEmit, Generic),
        ("7x7 over each other back", inverse(square(7), image, F32), ClaimEmit, Generic),
        ("dilated back", inverse(MaxPool::new([2, 2]).dilations([2, 2]), image, F32), ClaimEmit, Generic),
        ("90x90 back", inverse(MaxPool::new([90, 90]), &[1, 1, 300, 300], F32), ClaimEmit, Generic),
        ("four axes back", inverse(MaxPool::new([2; 4]), &[1, 4, 12, 12, 12, 12], F32), ClaimEmit, Generic),
    ];
    // What differs on GPUs.
    let on_gpus = [
        ("7x7", ThreadTile, Specialised),
        ("9x9", Strip, Specialised),
        ("global", Reducing, Generic),
        ("9x9 apart", Teamed, Specialised),
        ("four axes", Direct, Specialised),
    ];
    for (named, ..) in on_gpus {
        assert!(rows.iter().any(|(what, ..)| *what == named), "{named} is no row");
    }
    let mut wrong = Vec::new();
    for (what, plan, family, build) in rows {
        let on_a_gpu = on_gpus.iter().find(|(named, ..)| *named == what);
        let on_a_gpu = on_a_gpu.map_or((family, build), |&(_, family, build)| (family, build));
        for (software, expected) in [(true, (family, build)), (false, on_a_gpu)] {
            let limits = Limits { software, ..Limits::WEBGPU };
            let schedule = select(&plan, &limits, &Choice::default()).unwrap();
            let found = (schedule.family(), schedule.build());
            if found != expected {
                wrong.push(format!("{what}, software {software}: {found:?} and not {expected:?}"));
            }
            assert_eq!(families(&plan, &limits)[0], schedule.family(), "{what}: select takes the first");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A choice is kept to the letter, whether it names a family, a build or both; what cannot be kept is an error.
#[test]
fn what_is_asked_for_is_what_runs() {
    let pool: Plan = MaxPool::new([3, 3]).plan(&[8, 32, 16, 16], DType::F32, None).unwrap();
    let unpool: Plan =
        MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 64, 56, 56], DType::F32, IndexType::I64).unwrap();
    for (plan, families_of_kind) in [
        (&pool, &[Family::Direct, Family::ThreadTile, Family::Separable, Family::Accumulating][..]),
        (&unpool, &[Family::Gather, Family::ClaimEmit][..]),
    ] {
        for &family in families_of_kind {
            for build in BUILDS {
                let choice = Choice { build: Some(build), ..of(family) };
                match select(plan, &Limits::WEBGPU, &choice) {
                    Ok(schedule) => assert_eq!((schedule.family(), schedule.build()), (family, build)),
                    Err(PlanError::KernelDoesNotApply { .. }) => {
                        assert!(!family.builds().contains(&build), "{choice:?}")
                    }
                    Err(error) => panic!("{choice:?}: {error}"),
                }
            }
            let schedule = select(plan, &Limits::WEBGPU, &of(family)).unwrap();
            assert!(family.builds().contains(&schedule.build()), "{family:?}");
        }
        for build in BUILDS {
            let schedule = select(plan, &Limits::WEBGPU, &Choice { family: None, build: Some(build) }).unwrap();
            assert_eq!(schedule.build(), build);
        }
    }
}
