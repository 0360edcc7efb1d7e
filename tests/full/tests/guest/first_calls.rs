//! First calls: kernels compiled ahead and side by side, a generic build for all windows, and a cache of the caller's.

use std::collections::HashSet;

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::POISON;
use support::harness::join_all;
use support::tensors::tensor;
use wgpu_pooling::TestHooks;
use wgpu_pooling::wgpu::{self, Features};
use wgpu_pooling::{
    Backend, Build, Choice, DType, Dilate, ExecuteError, Family, Gpu, GpuOptions, IndexType, MaxPool, MaxUnpool, Open,
    Plan, PlanError, Prepare, Schedule, Tensor, families, select,
};

const SPECIALISED: Choice = Choice { family: None, build: Some(Build::Specialised) };
const GENERIC: Choice = Choice { family: None, build: Some(Build::Generic) };

fn open(options: GpuOptions) -> Gpu {
    Gpu::open_blocking(&options.poison(POISON)).unwrap()
}

fn schedules(gpu: &Gpu) -> Vec<Schedule> {
    let plan = |(kernel, dtype): (i64, DType)| -> Plan {
        let pool = MaxPool::new([kernel, kernel]).strides([2, 2]);
        pool.plan(&[1, 2, 70, 60], dtype, Some(IndexType::I64)).unwrap()
    };
    let plans = [(2, DType::F32), (3, DType::F32), (2, DType::U8), (5, DType::F16), (2, DType::F32)].map(plan);
    plans.iter().map(|plan| select(plan, &gpu.limits(), &Choice::default()).unwrap()).collect()
}

#[gpu_test]
fn random_windows_compile_one_kernel() {
    let gpu = open(GpuOptions::new());
    let x = tensor(&[1, 2, 70, 60]);
    for number in 0..24 {
        let pool = MaxPool::new([2 + number % 5, 1 + number]).strides([1 + number % 3, 2]);
        let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
        assert_eq!(pool.on(&x).run_blocking(&gpu), reference::max_pool(&plan, &x), "{pool:?}");
    }
    gpu.warm_up_blocking(&[]).unwrap();
    assert_eq!(gpu.pipeline_count(), 1, "a window that came once is not compiled for");
    // What is prepared, and a choice, are as they were asked for.
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    assert_eq!(gpu.prepare_blocking(plan.clone()).unwrap().schedule().build(), Build::Specialised);
    let prepared = gpu.with_choice(SPECIALISED).prepare_blocking(Prepare::from(plan).cached()).unwrap();
    assert_eq!(prepared.schedule().build(), Build::Specialised);
}

/// Has a plan prepared as one-shot calls do, again and again, until the specialised build has taken the generic one's
/// place. Returns how often.
fn calls_until_specialised(gpu: &Gpu, plan: impl Fn(usize) -> Plan) -> usize {
    let specialised = |call: &usize| {
        gpu.warm_up_blocking(&[]).unwrap();
        gpu.prepare_blocking(Prepare::from(plan(*call)).cached()).unwrap().schedule().build() == Build::Specialised
    };
    (0..10_000).find(specialised).expect("a plan that comes for ever is compiled for")
}

/// The steps of a composition wait for each other, and for no more calls than by themselves.
#[gpu_test]
fn a_composition_runs_generic_kernels_until_all_its_own_are_compiled() {
    let shape = [1, 2, 70, 60];
    let alone = Dilate::new([3, 3]).plan(&shape, DType::F32, None).unwrap();
    let composed = Open::new([3, 3]).plan(&shape, DType::F32, None).unwrap();
    let calls = [&alone, &composed].map(|plan| {
        let gpu = open(GpuOptions::new());
        let x = tensor(&shape);
        let mut y = tensor(&shape);
        gpu.run_blocking(plan, &[(&x).into()], &mut [(&mut y).into()]).unwrap();
        calls_until_specialised(&gpu, |_| plan.clone())
    });
    assert!(calls[0] > 8 && calls[1] <= calls[0], "{calls:?}");
}

#[gpu_test]
fn shapes_of_a_window_that_comes_again_take_its_own_kernel() {
    let gpu = open(GpuOptions::new());
    let shape = |call: usize| [1 + call % 2, 1 + call % 3, 64 + call % 5, 64 + 4 * (call % 7)];
    let pool = |kernel: i64| MaxPool::new([kernel, kernel]).strides([2, 2]);
    let plan = |kernel, call| pool(kernel).plan(&shape(call), DType::F32, None).unwrap();
    // More shapes than the plan cache keeps, of one window.
    let calls = calls_until_specialised(&gpu, |call| plan(3, call));
    assert!(calls > 8, "{calls}: the first calls pay for no kernel of their own");
    let compiled = gpu.pipeline_count();
    for call in 0..30 {
        assert_eq!(
            gpu.prepare_blocking(Prepare::from(plan(3, call)).cached()).unwrap().schedule().build(),
            Build::Specialised
        );
        let x = tensor(&shape(call));
        assert_eq!(pool(3).on(&x).run_blocking(&gpu), reference::max_pool(&plan(3, call), &x));
    }
    assert_eq!(gpu.pipeline_count(), compiled);
    // Another window has its own count, and another one after trimming.
    let generic = |kernel| {
        gpu.prepare_blocking(Prepare::from(plan(kernel, 0)).cached()).unwrap().schedule().build() == Build::Generic
    };
    // Fewer than it took: calls count by their time, and on a busy machine some take long.
    let few = calls / 4;
    assert!((0..few).all(|_| generic(2)));
    gpu.warm_up_blocking(&[]).unwrap();
    gpu.trim();
    assert!((0..few).all(|_| generic(2) && generic(3)));
}

#[gpu_test]
fn a_kernel_that_is_compiled_is_taken_at_once() {
    let gpu = open(GpuOptions::new());
    let plan: Plan = MaxPool::new([3, 3]).plan(&[1, 2, 70, 60], DType::F32, None).unwrap();
    let build = || gpu.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap().schedule().build();
    assert_eq!(build(), Build::Generic);
    gpu.warm_up_blocking(&[select(&plan, &gpu.limits(), &Choice::default()).unwrap()]).unwrap();
    assert_eq!((build(), gpu.pipeline_count()), (Build::Specialised, 2));
    // A run that takes longer than compiling is not begun with a slow kernel.
    let gpu = open(GpuOptions::new());
    let long = MaxPool::new([1, 8192]).plan(&[1, 1, 512, 16_384], DType::F32, None).unwrap();
    assert_eq!(gpu.prepare_blocking(Prepare::from(long).cached()).unwrap().schedule().build(), Build::Specialised);
}

#[gpu_test]
fn unpools_that_come_again_change_their_family_and_no_bit() {
    let gpu = open(GpuOptions::new());
    // Large enough to be gathered, on GPUs too.
    let extent = if gpu.limits().software { 64 } else { 1448 };
    let (pool, x) = (MaxPool::new([2, 2]).strides([2, 2]), tensor(&[1, 1, extent, extent]));
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, &x).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    let plan = unpool.plan(y.shape(), DType::F32, IndexType::I64).unwrap();
    let expected = reference::max_unpool(&plan, &y, &indices).unwrap();
    let family = || gpu.prepare_blocking(Prepare::from(plan.clone()).cached()).unwrap().schedule().family();
    assert_eq!(family(), Family::ClaimEmit);
    assert_eq!(unpool.on(&y, &indices).run_blocking(&gpu).as_ref(), Ok(&expected));
    calls_until_specialised(&gpu, |_| plan.clone());
    assert_eq!(family(), Family::Gather);
    assert_eq!(unpool.on(&y, &indices).run_blocking(&gpu), Ok(expected));
}

#[gpu_test]
fn kernels_are_compiled_side_by_side_and_once() {
    let gpu = open(GpuOptions::new());
    let schedules = schedules(&gpu);
    let dispatches = schedules.iter().flat_map(Schedule::dispatches);
    let kernels = dispatches.map(|dispatch| dispatch.key()).collect::<HashSet<_>>().len();
    assert!(kernels >= 4);
    // Other threads prepare the same schedules meanwhile.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .flat_map(|_| {
                [
                    scope.spawn(|| gpu.warm_up_blocking(&schedules).unwrap()),
                    scope.spawn(|| {
                        for schedule in schedules.clone() {
                            gpu.prepare_blocking(schedule).unwrap();
                        }
                    }),
                ]
            })
            .collect();
        join_all(threads);
    });
    assert_eq!(gpu.pipeline_count(), kernels, "each kernel is compiled once");
    gpu.warm_up_blocking(&schedules).unwrap();
    gpu.warm_up_blocking(&[]).unwrap();
    pollster::block_on(gpu.warm_up(&schedules, |_, _| ())).unwrap();
    let mut steps = Vec::new();
    let progress = |ready, all| steps.push((ready, all));
    pollster::block_on(gpu.warm_up(&schedules, progress)).unwrap();
    assert_eq!(steps, (0..=kernels).map(|ready| (ready, kernels)).collect::<Vec<_>>());
    assert_eq!(gpu.pipeline_count(), kernels);
    // Whoever meets the loss, it is the call's error.
    gpu.trim();
    gpu.device().destroy();
    let lost = gpu.warm_up_blocking(&schedules);
    assert!(matches!(lost, Err(ExecuteError::DeviceLost(_))), "{lost:?}");
}

#[gpu_test]
fn a_choice_holds_for_the_calls_of_its_gpu() {
    let gpu = open(GpuOptions::new());
    let generic = gpu.with_choice(GENERIC);
    let x = tensor(&[1, 2, 70, 60]);
    for kernel in 2..8 {
        let pool = MaxPool::new([kernel, kernel]).strides([2, 2]);
        let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
        let expected = reference::max_pool(&plan, &x).unwrap();
        assert_eq!(pool.on(&x).run_blocking(&generic).unwrap(), expected);
        assert_eq!(generic.prepare_blocking(plan.clone()).unwrap().schedule().build(), Build::Generic);
        assert_eq!(gpu.pipeline_count(), 1, "a kernel for all windows");
    }
    // The same plan by another choice is prepared anew, and each finds its own afterwards.
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
    let expected = reference::max_pool(&plan, &x).unwrap();
    for _ in 0..3 {
        for gpu in [&gpu, &generic, &gpu.with_choice(Choice { family: Some(Family::Separable), build: None })] {
            assert_eq!(pool.on(&x).run_blocking(&gpu).unwrap(), expected);
        }
    }
    let specialised = gpu.prepare_blocking(plan.clone()).unwrap();
    assert_eq!(specialised.schedule().build(), Build::Specialised);
    let before = gpu.pipeline_count();
    assert!(before > 1);
    // Unpools take the general path, whose kernels serve every window too.
    let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    let unpool = unpool.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    assert_eq!(generic.prepare_blocking(unpool.clone()).unwrap().schedule().family(), Family::ClaimEmit);
    let preferred = families(&unpool, &gpu.limits())[0];
    assert_eq!(gpu.prepare_blocking(unpool).unwrap().schedule().family(), preferred);
    // A family that does not apply is an error of the call.
    let gathers = gpu.with_choice(Choice { family: Some(Family::Gather), build: None });
    let refused = pool.on(&x).run_blocking(&gathers);
    assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { .. }))), "{refused:?}");
    // Tensors of one Gpu are those of all that share its device.
    let prepared = generic.prepare_blocking(plan).unwrap();
    let mut chain = gpu.chain();
    let on_device = chain.upload(&x, wgpu_pooling::Layout::Nchw).unwrap();
    let [y] = chain.step(&prepared, &[&on_device]).unwrap();
    let y = chain.read_back::<f32>(&y).unwrap();
    assert_eq!(chain.run_blocking().unwrap().take(y).unwrap(), expected);
}

/// A cache with this data, as a program has it that saved the data itself.
fn cache(gpu: &Gpu, data: Option<&[u8]>) -> wgpu::PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor { label: Some("saved"), data, fallback: true };
    // SAFETY: the data is none, or what `PipelineCache::get_data` gave on the same adapter in this process.
    unsafe { gpu.device().create_pipeline_cache(&descriptor) }
}

#[gpu_test]
fn a_cache_of_the_callers_is_looked_up() {
    let options = || GpuOptions::new().features(Features::PIPELINE_CACHE);
    // Each window has its own kernel.
    let open = |options| open(options).with_choice(SPECIALISED);
    let gpu = open(options());
    if !gpu.device().features().contains(Features::PIPELINE_CACHE) {
        // Only Vulkan has such caches; elsewhere there is nothing to hand over.
        assert_ne!(gpu.adapter_info().backend, wgpu::Backend::Vulkan, "every Vulkan device has pipeline caches");
        return;
    }
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let x: Tensor<f32> = tensor(&[1, 2, 70, 60]);
    let expected = reference::max_pool(&pool.plan(x.shape(), DType::F32, None).unwrap(), &x).unwrap();
    let empty = cache(&gpu, None);
    gpu.use_pipeline_cache(empty.clone()).unwrap();
    assert_eq!(pool.on(&x).run_blocking(&gpu).unwrap(), expected);
    // How much of it is in the cache is the driver's business.
    let data = empty.get_data().expect("a Vulkan cache has data");
    // The next run of the program.
    let next = open(options());
    next.use_pipeline_cache(cache(&next, Some(&data))).unwrap();
    assert_eq!(pool.on(&x).run_blocking(&next).unwrap(), expected);
    // Another cache takes the place of the first.
    gpu.use_pipeline_cache(cache(&gpu, None)).unwrap();
    let wider = MaxPool::new([3, 3]);
    let expected = reference::max_pool(&wider.plan(x.shape(), DType::F32, None).unwrap(), &x).unwrap();
    assert_eq!(wider.on(&x).run_blocking(&gpu).unwrap(), expected);
    // No cache at all, and a device without the feature, which refuses one before a pipeline is compiled with it.
    gpu.use_pipeline_cache(None).unwrap();
    assert!(MaxPool::new([4, 4]).on(&x).run_blocking(&gpu).is_ok());
    let without = open(GpuOptions::new());
    without.use_pipeline_cache(None).unwrap();
    let refused = without.use_pipeline_cache(cache(&gpu, None));
    assert_eq!(refused, Err(ExecuteError::FeatureMissing { feature: "PIPELINE_CACHE" }));
    assert!(wider.on(&x).run_blocking(&without).is_ok());
}

/// wgpu refuses a pipeline with a cache of another device of its instance, so the refusal shows that pipelines are
/// looked up.
#[gpu_test]
fn a_pipeline_is_made_with_the_cache_that_was_handed_over() {
    let adapter = pollster::block_on(GpuOptions::new().request_adapter()).unwrap();
    if !adapter.features().contains(Features::PIPELINE_CACHE) {
        assert_ne!(adapter.get_info().backend, wgpu::Backend::Vulkan, "every Vulkan device has pipeline caches");
        return;
    }
    let [own, other] = [(), ()].map(|()| {
        let required_limits = wgpu_pooling::required_limits(&adapter);
        let required_features = Features::PIPELINE_CACHE;
        let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        Gpu::from_wgpu(device, queue)
    });
    let plan = MaxPool::new([2, 2]).plan(&[1, 1, 8, 8], DType::F32, None).unwrap();
    own.use_pipeline_cache(cache(&other, None)).unwrap();
    let refused = own.prepare_blocking(plan.clone());
    assert!(matches!(refused, Err(ExecuteError::Device(_))), "{refused:?}");
    assert_eq!(own.pipeline_count(), 0);
    own.use_pipeline_cache(cache(&own, None)).unwrap();
    own.prepare_blocking(plan).unwrap();
}
