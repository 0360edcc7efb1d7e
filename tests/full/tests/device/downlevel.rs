//! A device with wgpu's downlevel limits, and no more, runs every operator with every element type and index type, in
//! the families that are selected for it. Small tensors run in generic builds, larger ones in specialised ones.

use std::collections::BTreeSet;

use gpu_test::gpu_test;
use support::call::Call;
use support::device::POISON;
use wgpu_pooling::TestHooks;
use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, ExecuteError, GlobalMaxPool, Gpu, GpuOptions, IndexType, Layout, MaxPool,
    MaxUnpool, NanPolicy, OutOfBounds, OutsideWindow, Plan, PlanError, Pooling, wgpu,
};

use super::agree::{Undone, call, is_right, schedules};

struct Bench {
    gpu: Gpu,
    families: BTreeSet<&'static str>,
    runs: usize,
}

impl Bench {
    fn new() -> Bench {
        let limits = wgpu::Limits::downlevel_defaults();
        let gpu = Gpu::open_blocking(&GpuOptions::new().limits(limits.clone()).poison(POISON)).unwrap();
        let opened = gpu.device().limits();
        assert_eq!(opened.max_storage_buffers_per_shader_stage, limits.max_storage_buffers_per_shader_stage);
        assert_eq!(opened.max_compute_workgroup_storage_size, limits.max_compute_workgroup_storage_size);
        assert_eq!(opened.max_compute_invocations_per_workgroup, limits.max_compute_invocations_per_workgroup);
        assert_eq!(opened.max_uniform_buffer_binding_size, limits.max_uniform_buffer_binding_size);
        Bench { gpu, families: BTreeSet::new(), runs: 0 }
    }

    /// What is selected for some calls of a plan on a GPU, and on a software adapter if that differs.
    fn check(&mut self, plan: &Plan, calls: &[Call]) {
        for schedule in schedules(plan, &self.gpu.limits(), &Choice::default()) {
            self.families.insert(schedule.family().name());
            self.runs += 1;
            is_right(&self.gpu, schedule, calls);
        }
    }

    /// A pool with and without indices.
    fn pool(&mut self, pool: &dyn Pooling, shape: &[usize], dtype: DType, index_type: IndexType) -> Call {
        let with_indices = call(pool.plan(shape, dtype, Some(index_type)).unwrap());
        self.check(&with_indices.plan, std::slice::from_ref(&with_indices));
        self.values(pool, shape, dtype);
        with_indices
    }

    fn values(&mut self, pool: &dyn Pooling, shape: &[usize], dtype: DType) {
        let call = call(pool.plan(shape, dtype, None).unwrap());
        self.check(&call.plan, std::slice::from_ref(&call));
    }

    /// An unpool of what a pool gives with its own indices, and with bad ones.
    fn unpool(&mut self, unpool: &MaxUnpool, pooled: &Call) {
        let undone = Undone::new(unpool, pooled);
        let mut spoilt = undone.own.clone();
        let middle = spoilt.len() / 2;
        spoilt[middle] = -5;
        self.check(&undone.plan, &[undone.with(&undone.own), undone.with(&spoilt)]);
    }

    /// A pool, and its unpool with every rule for bad indices.
    fn both(&mut self, pool: &dyn Pooling, shape: &[usize], dtype: DType, index_type: IndexType) {
        let pooled = self.pool(pool, shape, dtype, index_type);
        let inverse = MaxUnpool::inverse_of(pool, shape);
        self.unpool(&inverse, &pooled);
        self.unpool(&inverse.clone().out_of_bounds(OutOfBounds::Skip), &pooled);
        self.unpool(&inverse.clone().outside_window(OutsideWindow::Error), &pooled);
        self.unpool(&inverse.outside_window(OutsideWindow::Skip), &pooled);
    }
}

#[gpu_test]
fn every_operator_runs_in_every_type() {
    let mut bench = Bench::new();
    let (large, large_shape) = (MaxPool::new([2, 2]).strides([2, 2]), [1, 3, 41, 50]);
    let (pool, shape) = (MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 1, 1]), [2, 3, 7, 9]);
    for dtype in DType::ALL {
        for index_type in [IndexType::I32, IndexType::I64] {
            bench.both(&pool, &shape, dtype, index_type);
            bench.pool(&GlobalMaxPool::new(), &shape, dtype, index_type);
            bench.pool(&AdaptiveMaxPool::new([3, 4]), &shape, dtype, index_type);
        }
        // Large enough for a specialised build.
        let pooled = bench.pool(&large, &large_shape, dtype, IndexType::I64);
        bench.unpool(&MaxUnpool::inverse_of(&large, &large_shape), &pooled);
    }
    println!("{} schedules, {:?}", bench.runs, bench.families);
}

#[gpu_test]
fn every_geometry_runs_in_the_family_that_is_selected() {
    let mut bench = Bench::new();
    let nhwc = |pool: MaxPool| pool.layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    let [last, lowest] = [NanPolicy::PropagateLast, NanPolicy::SeedLowest];
    bench.both(&MaxPool::new([2, 2]).strides([2, 2]).nan_policy(last), &[2, 3, 40, 50], DType::F32, IndexType::I64);
    bench.both(&nhwc(MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4])), &[2, 21, 31, 5], DType::F16, IndexType::I32);
    bench.pool(&MaxPool::new([13, 13]).pads([6; 4]).nan_policy(lowest), &[1, 2, 60, 70], DType::F32, IndexType::I32);
    bench.pool(&nhwc(MaxPool::new([11, 9])), &[1, 60, 70, 3], DType::U8, IndexType::I64);
    bench.pool(&MaxPool::new([3, 3]).dilations([2, 3]).nan_policy(last), &[1, 3, 41, 50], DType::F64, IndexType::I64);
    bench.both(&MaxPool::new([5]).strides([3]), &[3, 7, 901], DType::F32, IndexType::I64);
    bench.both(&MaxPool::new([2, 3, 2]).strides([2, 2, 2]), &[1, 3, 11, 24, 31], DType::U8, IndexType::I32);
    bench.pool(
        &MaxPool::new([16, 16]).strides([16, 16]).nan_policy(lowest),
        &[1, 40, 48, 48],
        DType::F32,
        IndexType::I64,
    );
    // More axes than one pass reduces: values run.
    bench.values(&MaxPool::new([2; 4]), &[1, 1, 4, 4, 4, 4], DType::U8);
    bench.values(&MaxPool::new([2; 4]), &[1, 2, 9, 8, 7, 11], DType::F32);
    bench.values(&MaxPool::new([2; 5]).strides([2; 5]), &[1, 2, 5, 4, 6, 5, 7], DType::Bf16);
    for shape in [[2, 40, 31, 33], [1, 1, 400, 301]] {
        bench.pool(&GlobalMaxPool::new(), &shape, DType::F32, IndexType::I64);
        bench.pool(&AdaptiveMaxPool::new([7, 5]), &shape, DType::F64, IndexType::I32);
        bench.pool(&AdaptiveMaxPool::new([2, 2]), &shape, DType::I16, IndexType::I32);
    }
    // Indices in no order and with repeats.
    let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 20, 25], DType::F32, IndexType::I64).unwrap();
    let scattered: Vec<i64> = (0..1500).map(|at| at * 7_919 % 1_733).collect();
    let x: Vec<u64> = (0..1500).collect();
    bench.check(&unpool, &[Call::unpool(unpool.clone(), &x, &scattered)]);

    // With indices, more than three axes are refused, before anything is tried.
    let pool = MaxPool::new([2; 4]);
    let refused = call(pool.plan(&[1, 1, 4, 4, 4, 4], DType::F32, Some(IndexType::I64)).unwrap()).on(&bench.gpu);
    assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { needed: 5, limit: 4, .. }))));
    println!("{} schedules, {:?}", bench.runs, bench.families);
    // Those that are selected for tensors of such sizes; `limits` runs the others.
    let expected = ["claim_emit", "direct", "gather", "reducing", "sliding", "strip", "teamed", "thread_tile"];
    assert!(bench.families.iter().eq(&expected), "{:?}", bench.families);
}

/// WebGL has no compute shaders, and these limits say so.
#[gpu_test]
fn limits_without_compute_are_refused_by_name() {
    let limits = wgpu::Limits::downlevel_webgl2_defaults();
    let gpu = Gpu::open_blocking(&GpuOptions::new().limits(limits)).unwrap();
    let pooled = call(MaxPool::new([2, 2]).plan(&[1, 2, 5, 6], DType::F32, Some(IndexType::I64)).unwrap());
    let values = call(MaxPool::new([2, 2]).plan(&[1, 2, 5, 6], DType::F32, None).unwrap());
    let undone = Undone::new(&MaxUnpool::new([2, 2]), &pooled);
    let calls = [
        values.on(&gpu).map(drop),
        pooled.on(&gpu).map(drop),
        undone.with(&undone.own).on(&gpu).map(drop),
        gpu.prepare_blocking(values.plan.clone()).map(drop),
    ];
    for refused in calls {
        assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { limit: 0, .. }))), "{refused:?}");
    }
}
