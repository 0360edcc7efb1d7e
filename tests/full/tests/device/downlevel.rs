//! A device with wgpu's downlevel limits, and no more, runs every operator with every element type and index type, in
//! the families that are selected for it. Small tensors run in generic builds, larger ones in specialised ones.

use std::collections::BTreeSet;

use support::calls::{self, reference};
use support::device::POISON;
use support::tests;
use wgpu_pooling::test_hooks::TestHooks;
use wgpu_pooling::{
    AdaptiveMaxPool, Choice, DType, Element, ExecuteError, GlobalMaxPool, Gpu, GpuOptions, Index, Layout, Limits,
    MaxPool, MaxUnpool, NanPolicy, OutOfBounds, OutsideWindow, Plan, PlanError, Pooling, Prepared, Tensor, half,
    select, wgpu,
};

use super::limits::data;

tests! {
    gpu =>
        every_operator_runs_in_every_type,
        every_geometry_runs_in_the_family_that_is_selected,
        limits_without_compute_are_refused_by_name;
}

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

    /// What is selected for a plan on a GPU, and on a software adapter if that differs.
    fn prepared(&mut self, plan: &Plan) -> Vec<Prepared> {
        let limits = |software| Limits { software, ..self.gpu.limits() };
        let [hardware, software] =
            [false, true].map(|software| select(plan, &limits(software), &Choice::default()).unwrap());
        let mut schedules = vec![hardware];
        if schedules[0].dispatches() != software.dispatches() {
            schedules.push(software);
        }
        for schedule in &schedules {
            self.families.insert(schedule.family().name());
            self.runs += 1;
        }
        schedules.into_iter().map(|schedule| self.gpu.prepare_blocking(schedule).unwrap()).collect()
    }

    /// A pool with and without indices. Returns the reference's result.
    fn pool<T: Element, I: Index>(&mut self, pool: &dyn Pooling, shape: &[usize]) -> (Tensor<T>, Tensor<I>) {
        let x = data::<T>(shape, shape.iter().sum::<usize>() as u64);
        let plan = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
        let expected = reference::max_pool_with_indices::<T, I>(&plan, &x).unwrap();
        for prepared in self.prepared(&plan) {
            let (y, indices) = calls::max_pool_with_indices::<T, I>(&prepared, &x).unwrap();
            assert!(bits(&y) == bits(&expected.0), "Y, {plan:?}");
            assert!(indices == expected.1, "indices, {plan:?}");
        }
        self.values::<T>(pool, shape);
        expected
    }

    fn values<T: Element>(&mut self, pool: &dyn Pooling, shape: &[usize]) {
        let x = data::<T>(shape, shape.iter().sum::<usize>() as u64);
        let plan = pool.plan(shape, T::DTYPE, None).unwrap();
        let expected = reference::max_pool(&plan, &x).unwrap();
        for prepared in self.prepared(&plan) {
            assert!(bits(&calls::max_pool(&prepared, &x).unwrap()) == bits(&expected), "Y alone, {plan:?}");
        }
    }

    /// An unpool with good indices, and with bad ones.
    fn unpool<T: Element, I: Index>(&mut self, unpool: &MaxUnpool, x: &Tensor<T>, indices: &Tensor<I>) {
        let plan = unpool.plan(x.shape(), T::DTYPE, I::INDEX_TYPE).unwrap();
        let mut spoilt = indices.data().to_vec();
        let middle = spoilt.len() / 2;
        spoilt[middle] = I::from_i64(-5);
        let spoilt = Tensor::new(indices.shape(), spoilt).unwrap();
        for prepared in self.prepared(&plan) {
            for indices in [indices, &spoilt] {
                let expected = reference::max_unpool(&plan, x, indices);
                match (calls::max_unpool(&prepared, x, indices), expected) {
                    (Ok(y), Ok(expected)) => assert!(bits(&y) == bits(&expected), "{plan:?}"),
                    (y, expected) => assert_eq!(y.err(), expected.err(), "{plan:?}"),
                }
            }
        }
    }

    /// A pool, and its unpool with every rule for bad indices.
    fn both<T: Element, I: Index>(&mut self, pool: &dyn Pooling, shape: &[usize]) {
        let (y, indices) = self.pool::<T, I>(pool, shape);
        let inverse = MaxUnpool::inverse_of(pool, shape);
        self.unpool(&inverse, &y, &indices);
        self.unpool(&inverse.clone().out_of_bounds(OutOfBounds::Skip), &y, &indices);
        self.unpool(&inverse.clone().outside_window(OutsideWindow::Error), &y, &indices);
        self.unpool(&inverse.outside_window(OutsideWindow::Skip), &y, &indices);
    }
}

fn bits<T: Element>(tensor: &Tensor<T>) -> &[u8] {
    bytemuck::cast_slice(tensor.data())
}

fn of_types<T: Element, I: Index>(bench: &mut Bench) {
    let pool = MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 1, 1]);
    bench.both::<T, I>(&pool, &[2, 3, 7, 9]);
    bench.pool::<T, I>(&GlobalMaxPool::new(), &[2, 3, 7, 9]);
    bench.pool::<T, I>(&AdaptiveMaxPool::new([3, 4]), &[2, 3, 7, 9]);
}

fn every_operator_runs_in_every_type() {
    let mut bench = Bench::new();
    let (large, shape) = (MaxPool::new([2, 2]).strides([2, 2]), [1, 3, 41, 50]);
    macro_rules! of_every_type {
        ($($type:ty),+) => {
            $(of_types::<$type, i32>(&mut bench);
            of_types::<$type, i64>(&mut bench);
            // Large enough for a specialised build.
            let (y, indices) = bench.pool::<$type, i64>(&large, &shape);
            bench.unpool(&MaxUnpool::inverse_of(&large, &shape), &y, &indices);)+
        };
    }
    of_every_type!(f32, half::f16, half::bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64);
    println!("{} schedules, {:?}", bench.runs, bench.families);
}

fn every_geometry_runs_in_the_family_that_is_selected() {
    let mut bench = Bench::new();
    let nhwc = |pool: MaxPool| pool.layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    let [last, lowest] = [NanPolicy::PropagateLast, NanPolicy::SeedLowest];
    bench.both::<f32, i64>(&MaxPool::new([2, 2]).strides([2, 2]).nan_policy(last), &[2, 3, 40, 50]);
    bench.both::<half::f16, i32>(&nhwc(MaxPool::new([3, 3]).strides([2, 2]).pads([1; 4])), &[2, 21, 31, 5]);
    bench.pool::<f32, i32>(&MaxPool::new([13, 13]).pads([6; 4]).nan_policy(lowest), &[1, 2, 60, 70]);
    bench.pool::<u8, i64>(&nhwc(MaxPool::new([11, 9])), &[1, 60, 70, 3]);
    bench.pool::<f64, i64>(&MaxPool::new([3, 3]).dilations([2, 3]).nan_policy(last), &[1, 3, 41, 50]);
    bench.both::<f32, i64>(&MaxPool::new([5]).strides([3]), &[3, 7, 901]);
    bench.both::<u8, i32>(&MaxPool::new([2, 3, 2]).strides([2, 2, 2]), &[1, 3, 11, 24, 31]);
    bench.pool::<f32, i64>(&MaxPool::new([16, 16]).strides([16, 16]).nan_policy(lowest), &[1, 40, 48, 48]);
    // More axes than one pass reduces: values run.
    bench.values::<u8>(&MaxPool::new([2; 4]), &[1, 1, 4, 4, 4, 4]);
    bench.values::<f32>(&MaxPool::new([2; 4]), &[1, 2, 9, 8, 7, 11]);
    bench.values::<half::bf16>(&MaxPool::new([2; 5]).strides([2; 5]), &[1, 2, 5, 4, 6, 5, 7]);
    for shape in [[2, 40, 31, 33], [1, 1, 400, 301]] {
        bench.pool::<f32, i64>(&GlobalMaxPool::new(), &shape);
        bench.pool::<f64, i32>(&AdaptiveMaxPool::new([7, 5]), &shape);
        bench.pool::<i16, i32>(&AdaptiveMaxPool::new([2, 2]), &shape);
    }
    // Indices in no order and with repeats.
    let x = data::<f32>(&[1, 3, 20, 25], 5);
    let scattered = (0..x.data().len() as i64).map(|at| at * 7_919 % 1_733).collect();
    let scattered = Tensor::<i64>::new(x.shape(), scattered).unwrap();
    bench.unpool(&MaxUnpool::new([2, 2]).strides([2, 2]), &x, &scattered);

    // With indices, more than three axes are refused, before anything is tried.
    let pool = MaxPool::new([2; 4]);
    let refused = pool.on(&data::<f32>(&[1, 1, 4, 4, 4, 4], 9)).with_indices::<i64>().run_blocking(&bench.gpu);
    assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { needed: 5, limit: 4, .. }))));
    println!("{} schedules, {:?}", bench.runs, bench.families);
    // Those that are selected for tensors of such sizes; `limits` runs the others.
    let expected = ["claim_emit", "direct", "gather", "reducing", "sliding", "teamed", "thread_tile"];
    assert!(bench.families.iter().eq(&expected), "{:?}", bench.families);
}

/// WebGL has no compute shaders, and these limits say so.
fn limits_without_compute_are_refused_by_name() {
    let limits = wgpu::Limits::downlevel_webgl2_defaults();
    let gpu = Gpu::open_blocking(&GpuOptions::new().limits(limits)).unwrap();
    let x = data::<f32>(&[1, 2, 5, 6], 1);
    let pool = MaxPool::new([2, 2]);
    let indices = Tensor::new(x.shape(), (0..60).collect::<Vec<i64>>()).unwrap();
    let calls = [
        pool.on(&x).run_blocking(&gpu).map(|_| ()),
        pool.on(&x).with_indices::<i64>().run_blocking(&gpu).map(|_| ()),
        MaxUnpool::new([2, 2]).on(&x, &indices).run_blocking(&gpu).map(|_| ()),
        gpu.prepare_blocking(pool.plan(x.shape(), DType::F32, None).unwrap()).map(|_| ()),
    ];
    for refused in calls {
        assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::ExceedsLimit { limit: 0, .. }))), "{refused:?}");
    }
}
