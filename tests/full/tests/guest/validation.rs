//! Vulkan's validation layer has no complaint about the crate's work. Where the layer is not installed (Debian, Ubuntu:
//! vulkan-validationlayers), the test shows as ignored.
//!
//! The layer writes to the process's own output, so the work is done in a child process and its output is searched. In
//! the child wgpu's debug flag is off: with the flag naga adds debug information that old layers take for an error.

use gpu_test::gpu_test;
use support::calls::{self, reference};
use wgpu_pooling::{
    AdaptiveMaxPool, Buffers, Choice, DType, Element, Family, Gpu, GpuOptions, IndexType, Layout, MaxPool, MaxUnpool,
    Plan, Prepare, Tensor, TopHat, families, select,
};

use crate::faults::{is_child, passed, run_child};

#[gpu_test]
#[cfg_attr(no_validation_layer, ignore = "the Vulkan validation layer is not installed")]
fn the_validation_layer_has_nothing_to_say() {
    if is_child() {
        return work();
    }
    let environment = [("WGPU_VALIDATION", "1"), ("WGPU_DEBUG", "0")];
    let said = passed(&run_child("validation::the_validation_layer_has_nothing_to_say", &environment));
    let complaints = ["VUID-", "Validation Error", "UNASSIGNED-", "SYNC-HAZARD"];
    let complaint = said.lines().find(|line| complaints.iter().any(|complaint| line.contains(complaint)));
    assert_eq!(complaint, None);
}

fn tensor<T: Element>(shape: &[usize]) -> Tensor<T> {
    let count = shape.iter().product::<usize>();
    let bytes: Vec<u8> = (0..count * size_of::<T>()).map(|i| (i * 7919 % 251) as u8).collect();
    Tensor::new(shape, bytemuck::pod_collect_to_vec(&bytes)).expect("the data fits")
}

/// Every family, one-shot and chained, encoded into a pass, with good and bad indices, and a device that is lost.
fn work() {
    let gpu = Gpu::open_blocking(&GpuOptions::new().timestamps()).expect("the other tests have said what to install");
    let libraries = std::fs::read_to_string("/proc/self/maps").expect("this is Linux");
    assert!(libraries.contains("VkLayer_khronos_validation"), "the layer is installed, and not loaded");
    operators::<f32>(&gpu);
    operators::<u8>(&gpu);
    operators::<i64>(&gpu);
    encoded(&gpu);
    let pool = MaxPool::new([2]);
    let x = tensor::<f32>(&[1, 1, 64]);
    gpu.device().destroy();
    assert!(pool.on(x.view()).run_blocking(&gpu).is_err());
}

fn operators<T: Element>(gpu: &Gpu) {
    let x = tensor::<T>(&[2, 3, 13, 11]);
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    let plan = pool.plan(x.shape(), T::DTYPE, Some(IndexType::I64)).expect("a valid pool");
    let expected = reference::max_pool_with_indices::<T, i64>(&plan, x.view()).expect("the plan's own tensor");
    for family in families(&plan, &gpu.limits()) {
        let choice = Choice { family: Some(family), ..Choice::default() };
        let schedule = select(&plan, &gpu.limits(), &choice).expect("the family applies");
        let prepared = gpu.prepare_blocking(schedule).expect("the schedule fits");
        assert_eq!(calls::max_pool_with_indices::<T, i64>(&prepared, x.view()).as_ref(), Ok(&expected));
    }
    let inverse = MaxUnpool::inverse_of(&pool, x.shape());
    let inverse: Plan = inverse.plan(plan.output_shape(), T::DTYPE, IndexType::I64).expect("the inverse");
    let (y, indices) = &expected;
    for family in families(&inverse, &gpu.limits()) {
        let choice = Choice { family: Some(family), ..Choice::default() };
        let schedule = select(&inverse, &gpu.limits(), &choice).expect("the family applies");
        let prepared = gpu.prepare_blocking(schedule).expect("the schedule fits");
        calls::max_unpool(&prepared, y.view(), indices.view()).expect("the pool's own indices");
        // With indices of other windows the general path runs behind the fast one.
        let foreign = Tensor::new(indices.shape(), indices.data().iter().rev().copied().collect()).expect("as many");
        calls::max_unpool(&prepared, y.view(), foreign.view()).expect("indices in range");
        let bad = Tensor::new(indices.shape(), vec![-9; indices.data().len()]).expect("as many");
        assert!(calls::max_unpool(&prepared, y.view(), bad.view()).is_err());
    }
    let global = AdaptiveMaxPool::new([1, 1]);
    global.on(x.view()).with_indices::<i32>().run_blocking(&gpu).expect("a valid pool");
    TopHat::new([3, 2]).on(&x).run_blocking(&gpu).expect("a difference that GPUs have");
}

fn encoded(gpu: &Gpu) {
    let x = tensor::<f32>(&[1, 2, 40, 40]);
    let plan: Plan = MaxPool::new([5, 5]).plan(x.shape(), DType::F32, None).expect("a valid pool");
    let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
    let schedule = select(&plan, &gpu.limits(), &choice).expect("the family applies");
    let pool = gpu.prepare_blocking(Prepare::from(schedule).scratch_of_the_run()).expect("the schedule fits");
    let mut chain = gpu.chain().timed();
    let x = chain.upload(x.view(), Layout::Nchw).expect("a small tensor");
    let [y] = chain.step(&pool, &[&x]).expect("the plan's own tensor");
    let own = gpu.prepare_blocking(pool.schedule().plan().clone()).expect("a valid pool");
    let mut pass = chain.encoder().begin_compute_pass(&Default::default());
    let buffers = Buffers { x: Some(x.slice()), y: Some(y.slice()), ..Buffers::default() };
    own.encode_pass(&mut pass, buffers).expect("the buffers fit");
    drop(pass);
    let y = chain.read_back::<f32>(&y).expect("a tensor of this chain");
    let results = chain.run_blocking().expect("the device answers");
    assert_eq!(results.take(y).expect("asked of this chain").shape(), &[1, 2, 36, 36]);
}
