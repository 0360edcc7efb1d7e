//! The texts of a broad sweep: operators, element types, layouts, geometries, NaN policies, index types, activations,
//! families, builds.

use std::collections::BTreeMap;

use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Choice, DType, Duplicates, Family, GlobalMaxPool, IndexFlattening, IndexType, Layout,
    Limits, MaxPool, MaxUnpool, Minimum, NanPolicy, OutOfBounds, OutsideWindow, Plan, PlanError, TensorSpec, select,
    wgsl,
};
use wgpu_pooling_plan::DifferencePlan;

const ACTIVATIONS: [Activation; 6] = [
    Activation::Relu,
    Activation::Clip { min: -1.0, max: 6.0 },
    Activation::LeakyRelu { alpha: 0.1 },
    Activation::HardSigmoid { alpha: 0.2, beta: 0.5 },
    Activation::Tanh,
    Activation::Sigmoid,
];

/// Pools that differ in what a text depends on, with shapes that the kernels' blocks divide and shapes that they do
/// not.
fn pools() -> Vec<(MaxPool, Vec<Vec<usize>>)> {
    let of = |kernel: &[i64]| MaxPool::new(kernel);
    vec![
        (of(&[2, 2]).strides([2, 2]), vec![vec![1, 2, 8, 64], vec![1, 2, 9, 35]]),
        (of(&[3, 3]).pads([1; 4]), vec![vec![1, 2, 8, 32], vec![1, 2, 7, 13]]),
        (of(&[3, 2]).dilations([1, 2]).pads([1; 4]), vec![vec![1, 2, 8, 13]]),
        (of(&[3, 3]).pads([1; 4]).strides([2, 2]), vec![vec![1, 2, 8, 13]]),
        (of(&[2, 3, 3]), vec![vec![1, 2, 4, 9, 12]]),
        (of(&[4]).strides([4]).storage_order(1), vec![vec![1, 2, 64]]),
        (of(&[2, 1, 2]).strides([2, 1, 2]), vec![vec![1, 2, 8, 3, 32]]),
        (of(&[2, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc), vec![vec![1, 3, 3, 16], vec![1, 3, 3, 5]]),
        (of(&[3, 3]).pads([1; 4]).layout(Layout::Nhwc), vec![vec![1, 6, 6, 8]]),
        (of(&[7, 7]).pads([3; 4]), vec![vec![1, 2, 16, 16], vec![1, 2, 15, 15]]),
        (of(&[5, 20]).pads([2, 3, 2, 3]).strides([2, 3]), vec![vec![1, 2, 40, 61]]),
        (of(&[13]).pads([6, 6]).flatten(IndexFlattening::Plane), vec![vec![1, 2, 64]]),
        (of(&[2, 2, 2, 2]).strides([2; 4]), vec![vec![1, 1, 4, 4, 4, 4]]),
        // A window can be empty.
        (of(&[2]).dilations([3]).pads([1, 3]).ceil_mode(1), vec![vec![1, 2, 6]]),
    ]
}

/// Appends the texts of a plan in every family and build that applies, as GPUs and as software adapters take them.
fn add(texts: &mut BTreeMap<String, String>, plan: &Plan) -> usize {
    let mut schedules = 0;
    let builds = Family::ALL.iter().flat_map(|&family| family.builds().iter().map(move |&build| (family, build)));
    for (family, build) in builds {
        for software in [false, true] {
            let choice = Choice { family: Some(family), build: Some(build) };
            match select(plan, &Limits { software, ..Limits::WEBGPU }, &choice) {
                Ok(schedule) => {
                    schedules += 1;
                    // Some have their inputs bound as writable, which changes a declaration alone.
                    let schedule =
                        if texts.len().is_multiple_of(8) { schedule.with_writable_inputs() } else { schedule };
                    for dispatch in schedule.dispatches() {
                        texts.entry(wgsl(dispatch.key())).or_insert_with(|| dispatch.key().name().to_owned());
                    }
                }
                Err(PlanError::KernelDoesNotApply { .. } | PlanError::NotOnGpu { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    schedules
}

fn index_types() -> [Option<IndexType>; 3] {
    [None, Some(IndexType::I32), Some(IndexType::I64)]
}

/// Every text, once, with the name of a kernel that has it.
pub fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut schedules = 0;
    for dtype in DType::ALL {
        // Integers are pooled as by default where NaN is ignored.
        let of_type = |policy: &&NanPolicy| dtype.is_float() || **policy != NanPolicy::Ignore;
        for &nan_policy in NanPolicy::ALL.iter().filter(of_type) {
            for (number, (pool, shapes)) in pools().into_iter().enumerate() {
                let pool = pool.nan_policy(nan_policy);
                // Minima have the texts of maxima but for a constant.
                if nan_policy == NanPolicy::SeedFirst {
                    let index_type = Some(IndexType::I64).filter(|_| number % 2 == 0);
                    schedules += add(&mut texts, &Minimum::of(&pool).plan(&shapes[0], dtype, index_type).unwrap());
                }
                for (shape, index_type) in shapes.iter().flat_map(|shape| index_types().map(|it| (shape, it))) {
                    schedules += add(&mut texts, &pool.plan(shape, dtype, index_type).unwrap());
                }
            }
        }
        for index_type in index_types() {
            let adaptive = AdaptiveMaxPool::new([3, 5]).plan(&[1, 2, 7, 11], dtype, index_type).unwrap();
            let global = GlobalMaxPool::new().plan(&[1, 2, 40, 41], dtype, index_type).unwrap();
            schedules += add(&mut texts, &adaptive) + add(&mut texts, &global);
        }
        for index_type in [IndexType::I32, IndexType::I64] {
            for (pool, shapes) in pools() {
                for shape in &shapes {
                    let indices = pool.plan(shape, dtype, Some(index_type)).unwrap();
                    for &rule in OutsideWindow::ALL {
                        let unpool = MaxUnpool::inverse_of(&pool, shape).outside_window(rule);
                        schedules += add(&mut texts, &unpool.plan(indices.output_shape(), dtype, index_type).unwrap());
                    }
                    let unpool = MaxUnpool::inverse_of(&pool, shape).duplicates(Duplicates::Any);
                    let unpool = unpool.out_of_bounds(OutOfBounds::Skip);
                    schedules += add(&mut texts, &unpool.plan(indices.output_shape(), dtype, index_type).unwrap());
                }
            }
        }
        let spec = TensorSpec { shape: vec![1, 2, 40], dtype, layout: Layout::Nchw };
        schedules += add(&mut texts, &Plan::Difference(DifferencePlan::of(&spec)));
        schedules += activations(&mut texts, dtype);
    }
    assert!(schedules > 10_000, "the sweep has only {schedules} schedules");
    texts
}

/// Every activation that a type has, in a pool with and without indices and in its inverse.
fn activations(texts: &mut BTreeMap<String, String>, dtype: DType) -> usize {
    let mut schedules = 0;
    for activation in ACTIVATIONS {
        for (pool, shapes) in pools().into_iter().take(8) {
            let pool = pool.activation(activation);
            let plan = match pool.plan(&shapes[0], dtype, None) {
                Err(PlanError::ActivationType { .. }) => continue,
                plan => plan.unwrap(),
            };
            schedules += add(texts, &plan);
            schedules += add(texts, &pool.plan(&shapes[0], dtype, Some(IndexType::I64)).unwrap());
            let unpool = MaxUnpool::inverse_of(&pool, &shapes[0]).activation(activation);
            let indices = pool.plan(&shapes[0], dtype, Some(IndexType::I32)).unwrap();
            schedules += add(texts, &unpool.plan(indices.output_shape(), dtype, IndexType::I32).unwrap());
        }
    }
    schedules
}
