//! Measuring which kernels are fast: every kernel that applies is timed, and each may be taken.

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::gpu;
use support::tensors::tensor;
use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, ExecuteError, GlobalMaxPool, Gpu, GpuOptions, IndexType, Layout, MaxPool,
    MaxUnpool, OutsideWindow, Plan, PlanError, Reference, TopHat, families, select,
};

/// Every family and build that can be selected for a plan.
fn choices(plan: &Plan, gpu: &Gpu) -> Vec<Choice> {
    let mut choices = Vec::new();
    for family in families(plan, &gpu.limits()) {
        for &build in family.builds() {
            let choice = Choice { family: Some(family), build: Some(build) };
            choices.extend(select(plan, &gpu.limits(), &choice).is_ok().then_some(choice));
        }
    }
    choices
}

/// Measures a plan; the choices are all that can be selected, each once, in the order of their times.
fn measured(plan: &Plan, gpu: &Gpu) -> Vec<Choice> {
    let measured = gpu.measure_blocking(plan).unwrap();
    assert!(measured.windows(2).all(|pair| pair[0].duration <= pair[1].duration), "{measured:?}");
    assert!(measured.iter().all(|it| !it.duration.is_zero()), "{measured:?}");
    let found: Vec<Choice> = measured.iter().map(|it| it.choice).collect();
    let expected = choices(plan, gpu);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(expected.iter().all(|choice| found.contains(choice)), "{found:?} and not {expected:?}");
    found
}

#[gpu_test]
fn every_kernel_that_applies_is_timed_fastest_first() {
    let x = tensor(&[2, 3, 40, 44]);
    let pool = MaxPool::new([3, 3]).pads([1; 4]);
    let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
    let expected = reference::max_pool::<f32>(&plan, x.view()).unwrap();
    let choices = measured(&plan, gpu());
    assert!(choices.len() >= 6, "{choices:?}");
    for choice in choices {
        let y = pool.on(&x).run_blocking(&gpu().with_choice(choice)).unwrap();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(y.data()), bits(expected.data()), "{choice:?}");
    }
    for plan in [
        AdaptiveMaxPool::new([5, 3]).plan(&[1, 4, 31, 17], DType::F16, Some(IndexType::I64)).unwrap(),
        GlobalMaxPool::new().layout(Layout::Nhwc).plan(&[2, 20, 20, 5], DType::U8, Some(IndexType::I32)).unwrap(),
    ] {
        measured(&plan, gpu());
    }
}

/// Each step is measured by itself, and the best of each are a choice for the whole.
#[gpu_test]
fn the_steps_of_a_composition_are_timed_one_by_one() {
    let x = tensor(&[1, 2, 40, 44]);
    let hat = TopHat::new([3, 3]);
    let plan = hat.plan(x.shape(), DType::F32, None).unwrap();
    let measured = gpu().measure_blocking(&plan).unwrap();
    let best: Vec<Choice> =
        (0..3).map(|step| measured.iter().find(|it| it.step == step).expect("each step").choice).collect();
    assert!(measured.is_sorted_by_key(|it| (it.step, it.duration)), "{measured:?}");
    assert_eq!(measured.iter().filter(|it| it.step == 2).count(), 1, "there is one kernel of differences");
    let expected = hat.on(&x).run_blocking(&Reference).unwrap();
    let chosen = gpu().with_choice(&best);
    assert_eq!(hat.on(&x).run_blocking(&chosen).unwrap(), expected);
    let families: Vec<&str> = best.iter().map(|choice| choice.family.expect("a family").name()).collect();
    let kernel = chosen.prepare_blocking(plan).unwrap().schedule().kernel();
    assert!(kernel.contains(&families.join("+")), "{kernel} is not {families:?}");
}

#[gpu_test]
fn the_clock_of_the_device_is_taken_where_there_is_one() {
    let gpu = Gpu::open_blocking(&GpuOptions::default().timestamps()).unwrap();
    let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 8, 64, 64], DType::F64, Some(IndexType::I64)).unwrap();
    measured(&plan, &gpu);
}

#[gpu_test]
fn an_unpool_is_measured_with_indices_in_its_windows() {
    let pool = MaxPool::new([2, 3]).strides([2, 3]).layout(Layout::Nhwc).pads([0, 1, 0, 1]);
    for index_type in [IndexType::I32, IndexType::I64] {
        for rule in [OutsideWindow::default(), OutsideWindow::Error] {
            // Where an index outside its window is an error, measuring would fail if there were one.
            let unpool = MaxUnpool::inverse_of(&pool, &[2, 24, 31, 8]).outside_window(rule);
            let pooled = pool.plan(&[2, 24, 31, 8], DType::F32, Some(index_type)).unwrap();
            measured(&unpool.plan(pooled.output_shape(), DType::F32, index_type).unwrap(), gpu());
        }
    }
}

#[gpu_test]
fn plans_without_kernels_are_told_apart() {
    let empty = MaxPool::new([2, 2]).plan(&[0, 3, 8, 8], DType::F32, None).unwrap();
    assert_eq!(gpu().measure_blocking(&empty).unwrap(), []);
    // More elements than kernels can number, on any device.
    let huge = MaxPool::new([2, 2]).plan(&[1, 1, 1 << 16, 1 << 16], DType::U8, None).unwrap();
    let error = gpu().measure_blocking(&huge).unwrap_err();
    assert!(matches!(error, ExecuteError::Plan(PlanError::ExceedsLimit { .. })), "{error}");
}
