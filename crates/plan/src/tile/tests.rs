//! Tiles of small tensors on the reference, and plans of huge ones.

use super::*;
use crate::plan::{CompositionPlan, DifferencePlan, PlanStep};
use crate::reference::max_pool::max_pool_with_indices;
use crate::{
    AdaptiveMaxPool, Backend, BlackHat, DType, EmptyValue, ExecuteError, Gradient, Layout, MaxPool, NanPolicy, Open,
    Reference, StorageOrder, Stream, Tensor, TensorView, TopHat,
};

/// The tiles of a backend without a device.
fn on_host(plan: &PoolPlan, budget_bytes: u64) -> Result<Tiling, PlanError> {
    on_plan(&Plan::Pool(plan.clone()), budget_bytes)
}

fn on_plan(plan: &Plan, budget_bytes: u64) -> Result<Tiling, PlanError> {
    Tiling::new(plan, budget_bytes, |tile| Reference.stream_bytes(tile))
}

/// Data with few distinct values, so that maxima tie; with NaN payloads, infinities and both zeros.
fn tensor(shape: &[usize]) -> Tensor<f32> {
    let mut state = 99u32;
    let mut value = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match state >> 28 {
            0 => f32::from_bits(0x7FC0_0000 | state >> 8 & 0xFF),
            1 => -0.0,
            2 => f32::NEG_INFINITY,
            3 => f32::MIN,
            level => level as f32 - 4.0,
        }
    };
    let data = (0..shape.iter().product()).map(|_| value()).collect();
    Tensor::new(shape, data).unwrap()
}

fn gather(region: &Region, x: &Tensor<f32>, layout: Layout) -> Vec<f32> {
    let runs = region.runs(x.shape(), layout);
    runs.flat_map(|(first, length)| x.data()[first as usize..first as usize + length].to_vec()).collect()
}

/// Copies a tile's results to their place, and checks that nothing was written there before.
fn scatter<T: Copy>(region: &Region, shape: &[usize], layout: Layout, part: &[T], into: &mut [Option<T>]) {
    let mut rest = part;
    for (first, length) in region.runs(shape, layout) {
        for (slot, &element) in into[first as usize..first as usize + length].iter_mut().zip(rest) {
            assert!(slot.replace(element).is_none(), "an output is computed twice");
        }
        rest = &rest[length..];
    }
    assert!(rest.is_empty());
}

/// The tiles one by one on the reference, and all at once.
fn check(tiling: &Tiling, x: &Tensor<f32>) {
    let plan = tiling.plan.pool().unwrap();
    let (y, indices) = max_pool_with_indices::<f32>(plan, x.view()).unwrap();
    let (mut got_y, mut got_indices) = (vec![None; y.data().len()], vec![None; y.data().len()]);
    let layout = plan.indices.as_ref().unwrap().space.layout;
    let mut window = SplitWindow::default();
    for tile in (0..tiling.len()).filter_map(|number| tiling.tile(number)) {
        let x = gather(tile.input(), x, plan.layout());
        let part = tile.plan().pool().unwrap();
        let x = TensorView::new(part.input_shape(), &x).unwrap();
        let (y, indices) = max_pool_with_indices::<f32>(part, x).unwrap();
        let (mut y, mut indices) = (y.into_data(), indices.into_data());
        if let Some(last) = tile.last_part() {
            window.combine(part, bytemuck::bytes_of(&y[0]), indices[0] as u64);
            if !last {
                continue;
            }
            let (n, c) = (tile.output().batch.start, tile.output().channels.start);
            let out: Vec<usize> = tile.output().spatial.iter().map(|range| range.start).collect();
            let (value, index) = std::mem::take(&mut window).finish(plan, n, c, &out);
            (y, indices) = (vec![bytemuck::pod_read_unaligned(&value)], vec![index.unwrap()]);
        }
        scatter(tile.output(), plan.output_shape(), plan.layout(), &y, &mut got_y);
        scatter(tile.output(), &plan.outputs[1].shape, layout, &indices, &mut got_indices);
    }
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let got_y: Vec<f32> = got_y.into_iter().map(|value| value.expect("every output is computed")).collect();
    let got_indices: Vec<i64> = got_indices.into_iter().flatten().collect();
    assert_eq!(bits(&got_y), bits(y.data()), "{:?} {:?} {plan:?}", tiling.steps, tiling.part_taps);
    assert_eq!(got_indices, indices.data(), "{:?} {:?} {plan:?}", tiling.steps, tiling.part_taps);
}

fn tuples(choices: &[Vec<usize>]) -> Vec<Vec<usize>> {
    choices.iter().fold(vec![Vec::new()], |tuples, choice| {
        let longer =
            |tuple: &Vec<usize>| choice.iter().map(|&next| [tuple.as_slice(), &[next]].concat()).collect::<Vec<_>>();
        tuples.iter().flat_map(longer).collect()
    })
}

fn every_cut(plan: &Plan, x: &Tensor<f32>) {
    let plan = plan.pool().unwrap();
    let whole = on_host(plan, u64::MAX).unwrap();
    assert_eq!(whole.len(), 1);
    let steps: Vec<Vec<usize>> =
        whole.full().iter().map(|&full| if full > 2 { vec![1, 2, full] } else { vec![1, full] }).collect();
    for steps in tuples(&steps) {
        check(&Tiling { steps, ..whole.clone() }, x);
    }
    let taps: Vec<Vec<usize>> = plan.axes.iter().map(|axis| vec![1, 2, axis.most_taps() as usize]).collect();
    let ones = vec![1; whole.steps.len()];
    for taps in tuples(&taps) {
        let part_taps = Some(taps.into_iter().map(|taps| taps as i64).collect());
        check(&Tiling { steps: ones.clone(), part_taps, ..whole.clone() }, x);
    }
}

#[test]
fn tiles_and_parts_of_windows_give_what_the_whole_gives() {
    let empties = [EmptyIndex::MinusOne, EmptyIndex::OrtUnderflow, EmptyIndex::ClampedStart, EmptyIndex::UnitBase];
    let mut pools = Vec::new();
    for &policy in NanPolicy::ALL {
        let pool = || MaxPool::new([3, 2]).nan_policy(policy);
        pools.push(pool().strides([2, 1]).pads([1, 0, 2, 1]));
        pools.push(pool().dilations([2, 3]).pads([2, 1, 0, 3]).strides([1, 2]));
        for empty in empties {
            // Windows that end before the input, step over it and begin after it.
            let pool = pool().dilations([7, 1]).pads([9, 4, 8, 5]).empty_index(empty);
            pools.push(pool.empty_value(EmptyValue::LowestFinite));
        }
    }
    let shape = [2, 3, 5, 4];
    for (number, pool) in pools.into_iter().enumerate() {
        let pool = if number % 2 == 1 { pool.index_order(StorageOrder::ColumnMajor) } else { pool };
        let pool = if number % 3 == 1 { pool.flatten(IndexFlattening::Batch) } else { pool };
        let layout = if number % 5 > 2 { Layout::Nhwc } else { Layout::Nchw };
        let pool =
            pool.layout(layout).activation(if number % 4 == 1 { Activation::Relu } else { Activation::Identity });
        every_cut(&pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(), &tensor(&shape));
    }
    let nhwc = MaxPool::new([2, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc).pads([1, 1, 1, 1]);
    every_cut(&nhwc.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap(), &tensor(&shape));
    let adaptive = AdaptiveMaxPool::new([3, 6]).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    every_cut(&adaptive, &tensor(&shape));
    let line = MaxPool::new([4]).strides([3]).pads([2, 1]);
    every_cut(&line.plan(&[2, 1, 17], DType::F32, Some(IndexType::I64)).unwrap(), &tensor(&[2, 1, 17]));
    let solid = MaxPool::new([2, 1, 2]).strides([1, 2, 2]).pads([0, 0, 1, 1, 0, 0]);
    every_cut(&solid.plan(&[1, 2, 3, 3, 4], DType::F32, Some(IndexType::I64)).unwrap(), &tensor(&[1, 2, 3, 3, 4]));
}

#[test]
fn on_the_cpu_nothing_but_the_budget_limits_tiles() {
    let shape = [3, 5, 1 << 16, 70_000];
    for (kernel, budget) in [(2, 20), (2, 4 << 10), (2, 1 << 30), (2, 1 << 50), (3000, 1 << 20), (3000, 1 << 40)] {
        for indices in [None, Some(IndexType::I64)] {
            let pool = MaxPool::new([kernel, kernel]).strides([2, 3]).pads([1, 0, 0, 1]);
            let plan = pool.plan(&shape, DType::F32, indices).unwrap();
            let tiling = on_host(plan.pool().unwrap(), budget).unwrap();
            assert!(tiling.peak_bytes() <= budget, "{tiling:?}");
            assert!(budget < 1 << 40 || tiling.peak_bytes() > budget / 2 || tiling.len() == 1, "{tiling:?}");
            for tile in [0, tiling.len() / 2, tiling.len() - 1].into_iter().filter_map(|number| tiling.tile(number)) {
                let bytes = tile.plan().bytes();
                assert!(bytes <= tiling.peak_bytes(), "{bytes} bytes: {tile:?} of {tiling:?}");
            }
        }
    }
}

#[test]
fn outermost_axes_are_cut_first() {
    let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[4, 8, 64, 64], DType::F32, None).unwrap();
    let steps = |budget| on_host(plan.pool().unwrap(), budget).unwrap().steps;
    assert_eq!(steps(1 << 30), [4, 8, 32, 32]);
    let bytes = |tiling: &Tiling| tiling.peak_bytes();
    let whole = bytes(&on_host(plan.pool().unwrap(), 1 << 30).unwrap());
    assert_eq!(steps(whole), [4, 8, 32, 32]);
    assert_eq!(steps(whole - 1), [3, 8, 32, 32]);
    let channels = steps(whole / 6);
    assert!(channels[0] == 1 && (1..8).contains(&channels[1]) && channels[2..] == [32, 32], "{channels:?}");
    let rows = steps(whole / 60);
    assert!(rows[..2] == [1, 1] && (1..32).contains(&rows[2]) && rows[3] == 32, "{rows:?}");
    let too_small = on_host(plan.pool().unwrap(), 10);
    assert!(matches!(too_small, Err(PlanError::ExceedsLimit { limit: 10, .. })), "{too_small:?}");
}

/// A box of Y of an opening reads what both of its boxes reach; of a top-hat X is there once, and the difference reads
/// its middle.
#[test]
fn the_halo_of_a_composition_is_that_of_all_its_steps() {
    let shape = [1, 1, 40, 50];
    let tile = |plan: &Plan| {
        let mut tiling = on_plan(plan, 1 << 20).unwrap();
        tiling.steps = vec![1, 1, 10, 25];
        tiling.tile(5).unwrap()
    };
    let opened = Open::new([3, 5]).plan(&shape, DType::F32, None).unwrap();
    let hat = TopHat::new([3, 5]).plan(&shape, DType::F32, None).unwrap();
    let gradient = Gradient::new([3, 5]).plan(&shape, DType::F32, None).unwrap();
    let (opened, hat, gradient) = (tile(&opened), tile(&hat), tile(&gradient));
    for tile in [&opened, &hat, &gradient] {
        assert_eq!(tile.output().spatial, [20..30, 25..50]);
    }
    assert_eq!((&opened.input().spatial, &hat.input().spatial), (&vec![18..32, 21..50], &vec![18..32, 21..50]));
    assert_eq!(gradient.input().spatial, [19..31, 23..50]);
    let steps = |tile: &Tile| match tile.plan() {
        Plan::Composition(plan) => {
            plan.steps.iter().map(|step| (step.plan.operator(), step.inputs.clone())).collect::<Vec<_>>()
        }
        plan => panic!("{plan:?}"),
    };
    assert_eq!(steps(&opened), [("erode", vec![0]), ("dilate", vec![1])]);
    assert_eq!(steps(&gradient), [("dilate", vec![0]), ("erode", vec![0]), ("difference", vec![1, 2])]);
    let of_hat = [("erode", vec![0]), ("dilate", vec![1]), ("crop", vec![0]), ("difference", vec![3, 2])];
    assert_eq!(steps(&hat), of_hat);
}

#[test]
fn compositions_in_tiles_are_the_whole() {
    let shape = [2, 2, 7, 9];
    let x = tensor(&shape);
    for layout in [Layout::Nchw, Layout::Nhwc] {
        for nan_policy in NanPolicy::ALL {
            macro_rules! plan {
                ($type:ident) => {
                    $type::new([3, 2]).anchor([0, 1]).layout(layout).nan_policy(*nan_policy)
                };
            }
            let plans = [
                plan!(Open).plan(&shape, DType::F32, None),
                plan!(Gradient).iterations(2).plan(&shape, DType::F32, None),
                plan!(TopHat).plan(&shape, DType::F32, None),
                plan!(BlackHat).plan(&shape, DType::F32, None),
            ];
            for plan in plans.map(Result::unwrap) {
                let mut expected = tensor(&shape);
                Reference.run_blocking(&plan, &[(&x).into()], &mut [(&mut expected).into()]).unwrap();
                let ExecuteError::Plan(PlanError::ExceedsLimit { needed: least, limit: 0, .. }) =
                    Stream::new(plan.clone(), 0)
                        .source(&mut x.view())
                        .sink(&mut vec![0f32; 252])
                        .run_blocking(&Reference)
                        .unwrap_err()
                else {
                    panic!("the least budget")
                };
                for budget in [least, least + 100, 700, 1500, 1 << 20] {
                    let (mut read, mut y) = (x.view(), vec![7f32; x.data().len()]);
                    let stream = Stream::new(plan.clone(), budget.max(least)).source(&mut read).sink(&mut y);
                    let report = stream.run_blocking(&Reference).unwrap();
                    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&y), bits(expected.data()), "{} in {budget} bytes, {report:?}", plan.operator());
                    assert!(report.peak_bytes <= budget.max(least), "{report:?}");
                }
            }
        }
    }
}

/// Two pools read boxes of X of which neither has the other in it.
#[test]
fn a_tensor_that_two_steps_read_is_there_as_the_union() {
    let shape = [1, 1, 6, 11];
    let reaching = |pads| {
        let plan = MaxPool::new([2, 3]).pads(pads).plan(&shape, DType::F32, None).unwrap();
        plan.pool().unwrap().clone()
    };
    let (left, right) = (reaching([1, 2, 0, 0]), reaching([0, 0, 1, 2]));
    let difference = Plan::Difference(DifferencePlan::of(&left.outputs[0]));
    let rest =
        vec![PlanStep { plan: Plan::Pool(right), inputs: vec![0] }, PlanStep { plan: difference, inputs: vec![1, 2] }];
    let plan = Plan::Composition(CompositionPlan::new("slope", left, rest));
    let x = tensor(&shape);
    let mut expected = tensor(&shape);
    Reference.run_blocking(&plan, &[(&x).into()], &mut [(&mut expected).into()]).unwrap();
    let mut tiling = on_plan(&plan, 1 << 20).unwrap();
    tiling.steps = vec![1, 1, 2, 3];
    for tile in (0..tiling.len()).filter_map(|number| tiling.tile(number)) {
        let own = Tensor::new(tile.plan().input_shape(), gather(tile.input(), &x, Layout::Nchw)).unwrap();
        let mut y = tensor(tile.plan().output_shape());
        Reference.run_blocking(tile.plan(), &[(&own).into()], &mut [(&mut y).into()]).unwrap();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(y.data()), bits(&gather(tile.output(), &expected, Layout::Nchw)), "{:?}", tile.output());
    }
}
