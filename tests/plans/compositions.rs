//! Compositions as schedules: the dispatches of all steps, and the scratch memory between them.

use wgpu_pooling::{
    BlackHat, Build, Choice, Close, DType, Dilate, Family, Gradient, Layout, Limits, MaxPool, Open, Operand, Plan,
    PlanError, Pooling, Schedule, TopHat, families, select,
};
use wgpu_pooling_plan::{CompositionPlan, PlanStep};

const SHAPE: [usize; 4] = [2, 3, 90, 100];

fn chosen(plan: &Plan, choice: impl AsRef<[Choice]>) -> Schedule {
    select(plan, &Limits::WEBGPU, &choice).unwrap()
}

fn by_family(family: Family) -> Choice {
    Choice { family: Some(family), build: None }
}

/// The operands of each dispatch, as `writable <- read ..`.
fn operands(schedule: &Schedule) -> Vec<String> {
    let of = |operands: Vec<String>| operands.join(" ");
    let dispatch = |dispatch: &wgpu_pooling::Dispatch| {
        let named = |read_only| {
            let bindings = dispatch.bindings().filter(move |(binding, _)| binding.read_only == read_only);
            of(bindings.map(|(_, range)| range.operand.name()).filter(|name| name != "tables").collect())
        };
        format!("{} <- {}", named(false), named(true))
    };
    schedule.dispatches().iter().map(dispatch).collect()
}

#[test]
fn steps_read_what_earlier_ones_write() {
    let direct = by_family(Family::Direct);
    let plans = [
        (Open::new([3, 3]).plan(&SHAPE, DType::F32, None), vec!["scratch0 <- x", "y <- scratch0"]),
        (Close::new([3, 3]).plan(&SHAPE, DType::U8, None), vec!["scratch0 <- x", "y <- scratch0"]),
        (
            Gradient::new([3, 3]).plan(&SHAPE, DType::I16, None),
            vec!["scratch0 <- x", "scratch1 <- x", "y <- scratch0 scratch1"],
        ),
        (
            TopHat::new([3, 3]).plan(&SHAPE, DType::I64, None),
            vec!["scratch0 <- x", "scratch1 <- scratch0", "y <- x scratch1"],
        ),
        (
            BlackHat::new([3, 3]).plan(&SHAPE, DType::F32, None),
            vec!["scratch0 <- x", "scratch1 <- scratch0", "y <- scratch1 x"],
        ),
    ];
    for (plan, expected) in plans {
        let plan = plan.unwrap();
        let schedule = chosen(&plan, direct);
        assert_eq!(operands(&schedule), expected);
        let bytes = plan.inputs()[0].bytes();
        assert!(schedule.scratch().iter().all(|&scratch| scratch == bytes), "{:?}", schedule.scratch());
        let writable = schedule.with_writable_inputs();
        for dispatch in writable.dispatches() {
            let bound: Vec<Operand> = dispatch.bindings().map(|(_, range)| range.operand).collect();
            assert!((1..bound.len()).all(|later| !bound[later..].contains(&bound[later - 1])), "{bound:?}");
        }
    }
}

/// A pool whose windows no formula gives has a table; families have scratch memory of their own.
#[test]
fn what_lies_between_is_used_again_after_its_last_reader() {
    let step = |pool: &dyn Pooling, shape: &[usize], inputs: &[usize]| PlanStep {
        plan: pool.plan(shape, DType::F32, None).unwrap(),
        inputs: inputs.to_vec(),
    };
    let adaptive = wgpu_pooling::AdaptiveMaxPool::new([70_000]);
    let line = [1, 1, 100_000];
    let mut steps = vec![step(&MaxPool::new([3]).pads([1, 1]), &line, &[0])];
    for read in 1..5 {
        steps.push(step(&MaxPool::new([3]).pads([1, 1]), &line, &[read]));
    }
    steps.push(step(&adaptive, &line, &[5]));
    steps.push(step(&wgpu_pooling::AdaptiveMaxPool::new([3]), &[1, 1, 70_000], &[6]));
    steps.push(step(&wgpu_pooling::AdaptiveMaxPool::new([2]), &[1, 1, 3], &[7]));
    let (first, last) = (steps[0].plan.clone(), steps[7].plan.clone());
    let plan = Plan::Composition(CompositionPlan {
        operator: "many",
        inputs: first.inputs().to_vec(),
        outputs: last.outputs().to_vec(),
        steps,
    });
    let schedule = chosen(&plan, Choice { family: Some(Family::Direct), build: Some(Build::Generic) });
    let expected = [
        "scratch0 <- x",
        "scratch1 <- scratch0",
        "scratch0 <- scratch1",
        "scratch1 <- scratch0",
        "scratch0 <- scratch1",
        "scratch1 <- scratch0",
        // The candidates of a long window, which are the step's own.
        "scratch2 <- scratch1",
        "scratch0 <- scratch1 scratch2",
        "y <- scratch0",
    ];
    assert_eq!(operands(&schedule), expected);
    // Tables of several steps begin where a binding may.
    let tables: Vec<_> = (schedule.dispatches().iter().flat_map(|dispatch| dispatch.bindings()))
        .filter(|(_, range)| range.operand == Operand::Tables && range.bytes != Some(8))
        .map(|(_, range)| (range.offset, range.bytes.unwrap()))
        .collect();
    assert!(tables.iter().all(|(offset, _)| offset % 256 == 0) && !tables.is_empty(), "{tables:?}");
    let all = schedule.operand_bytes(Operand::Tables).unwrap();
    assert!(tables.iter().all(|(offset, bytes)| offset + bytes <= all), "{tables:?} of {all}");
    assert_eq!(schedule.window_tables().unwrap().len() as u64, all);
    // Passes by axes have candidates between them. They are the step's own, and the next step's own lie there again.
    let square = Open::new([3, 3]).plan(&SHAPE, DType::F32, None).unwrap();
    let separable = chosen(&square, by_family(Family::Separable));
    assert_eq!(
        operands(&separable),
        ["scratch1 <- x", "scratch0 <- x scratch1", "scratch1 <- scratch0", "y <- scratch0 scratch1"]
    );
}

#[test]
fn a_choice_goes_to_each_step_to_which_it_applies() {
    let plan = TopHat::new([3, 3]).plan(&SHAPE, DType::F32, None).unwrap();
    let named = |choice: &[Choice]| chosen(&plan, choice).kernel();
    let [tile, separable] = [Family::ThreadTile, Family::Separable].map(by_family);
    assert_eq!(named(&[separable]), "top_hat separable+separable+direct f32 specialised (5 dispatches)");
    assert_eq!(named(&[tile, separable]), "top_hat thread_tile+separable+direct f32 specialised (4 dispatches)");
    let schedule = chosen(&plan, [tile, separable]);
    let of_dispatches: Vec<Family> = (0..4).map(|number| schedule.family_of(number)).collect();
    assert_eq!(of_dispatches, [Family::ThreadTile, Family::Separable, Family::Separable, Family::Direct]);
    let generic = Choice { family: None, build: Some(Build::Generic) };
    assert_eq!(named(&[generic]), "top_hat direct+direct+direct f32 generic (3 dispatches)");
    // A family that computes no pool of the plan is refused; one that computes a pool is not.
    let refused = select(&plan, &Limits::WEBGPU, &by_family(Family::ClaimEmit));
    assert!(matches!(refused, Err(PlanError::KernelDoesNotApply { .. })), "{refused:?}");
    let found = families(&plan, &Limits::WEBGPU);
    assert_eq!(found[0], chosen(&plan, Choice::default()).family());
    for family in [Family::Direct, Family::ThreadTile, Family::Sliding, Family::Separable] {
        assert!(found.contains(&family), "{family:?} is not in {found:?}");
    }
}

#[test]
fn scratch_memory_counts_against_the_limits() {
    let plan = Open::new([3, 3]).plan(&[1, 1, 64, 64], DType::F32, None).unwrap();
    let whole = chosen(&plan, Choice::default());
    assert_eq!(whole.scratch(), [4 * 64 * 64]);
    let limits = Limits { max_buffer_bytes: 4 * 64 * 64 - 1, ..Limits::WEBGPU };
    assert!(matches!(whole.check(&limits), Err(PlanError::ExceedsLimit { .. })));
    assert!(matches!(select(&plan, &limits, &Choice::default()), Err(PlanError::ExceedsLimit { .. })));
    assert!(families(&plan, &limits).is_empty());
}

#[test]
fn a_box_of_one_element_and_a_tensor_of_none_are_compositions_too() {
    let nothing = Gradient::new([3]).plan(&[0, 1, 9], DType::F32, None).unwrap();
    let schedule = chosen(&nothing, Choice::default());
    assert!(schedule.dispatches().is_empty() && schedule.scratch().is_empty());
    let plan = Close::new([1, 1]).layout(Layout::Nhwc).plan(&[1, 4, 5, 3], DType::Bf16, None).unwrap();
    assert_eq!(chosen(&plan, Choice::default()).dispatches().len(), 2);
    assert_eq!(Dilate::new([1]).plan(&[1, 1, 9], DType::U8, None).unwrap().operator(), "dilate");
}
