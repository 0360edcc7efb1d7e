//! Memory that does not suffice: the call gives an error, and the GPU goes on working. Every allocation of every kind
//! of call is made to fail in turn.

use std::sync::{Arc, OnceLock};

use gpu_test::gpu_test;
use support::calls::{self, reference};
use support::tensors::tensor;
use wgpu_pooling::TestHooks;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Buffers, Choice, DType, ExecuteError, Family, GlobalMaxPool, Gpu, GpuOptions, IndexType,
    Layout, MaxPool, MaxUnpool, OutOfBounds, Prepare, Prepared, Reference, Schedule, Tensor, TensorView, TopHat,
    select,
};

use crate::faults::{Allocations, Uncaptured, is_child, passed, run_child};

type Outcome = Result<(), ExecuteError>;

/// A pool, its inverse and a schedule with scratch memory, with the reference's results on `x`.
struct Work {
    pool: MaxPool,
    inverse: MaxUnpool,
    x: Tensor<f32>,
    pooled: (Tensor<f32>, Tensor<i64>),
    unpooled: Tensor<f32>,
    separable: Schedule,
    separated: Tensor<f32>,
    hat: Tensor<f32>,
}

impl Work {
    fn new(gpu: &Gpu) -> Work {
        let x = tensor(&[2, 3, 9, 10]);
        let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
        let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
        let pooled = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let inverse = MaxUnpool::inverse_of(&pool, x.shape());
        let unpool = inverse.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
        let unpooled = reference::max_unpool(&unpool, pooled.0.view(), pooled.1.view()).unwrap();
        let values = pool.plan(x.shape(), DType::F32, None).unwrap();
        let separated = reference::max_pool(&values, x.view()).unwrap();
        let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
        let separable = select(&values, &gpu.limits(), &choice).unwrap();
        assert!(separable.scratch_bytes() > 0);
        let hat = TopHat::new([3, 2]).on(&x).run_blocking(&Reference).unwrap();
        Work { pool, inverse, x, pooled, unpooled, separable, separated, hat }
    }

    fn one_shot_pool(&self, gpu: &Gpu) -> Outcome {
        let y = self.pool.on(self.x.view()).run_blocking(&gpu)?;
        assert_eq!(y, self.pooled.0);
        Ok(())
    }

    fn one_shot_pool_with_indices(&self, gpu: &Gpu) -> Outcome {
        let pooled = self.pool.on(self.x.view()).with_indices::<i64>().run_blocking(&gpu)?;
        assert_eq!(pooled, self.pooled);
        Ok(())
    }

    fn one_shot_unpool(&self, gpu: &Gpu) -> Outcome {
        let y = self.inverse.on(self.pooled.0.view(), self.pooled.1.view()).run_blocking(&gpu)?;
        assert_eq!(y, self.unpooled);
        Ok(())
    }

    fn one_shot_unpool_that_skips(&self, gpu: &Gpu) -> Outcome {
        let skips = self.inverse.clone().out_of_bounds(OutOfBounds::Skip);
        let y = skips.on(self.pooled.0.view(), self.pooled.1.view()).run_blocking(&gpu)?;
        assert_eq!(y, self.unpooled);
        Ok(())
    }

    fn one_shot_on_bytes(&self, gpu: &Gpu) -> Outcome {
        let plan = self.pool.plan(self.x.shape(), DType::F32, Some(IndexType::I64))?;
        let (y, indices) = &self.pooled;
        let mut outputs = (y.clone(), indices.clone());
        outputs.0.data_mut().fill(0.5);
        outputs.1.data_mut().fill(-7);
        let before = outputs.clone();
        let (first, second) = (&mut outputs.0, &mut outputs.1);
        let result = gpu.run_blocking(&plan, &[(&self.x).into()], &mut [first.into(), second.into()]);
        assert!(outputs == if result.is_ok() { self.pooled.clone() } else { before }, "all is written, or nothing");
        result
    }

    fn one_shot_adaptive_and_global(&self, gpu: &Gpu) -> Outcome {
        AdaptiveMaxPool::new([2, 5]).on(self.x.view()).run_blocking(&gpu)?;
        GlobalMaxPool::new().on(self.x.view()).run_blocking(&gpu).map(|_| ())
    }

    fn one_shot_composition(&self, gpu: &Gpu) -> Outcome {
        assert_eq!(TopHat::new([3, 2]).on(&self.x).run_blocking(&gpu)?, self.hat);
        Ok(())
    }

    fn composition_in_a_chain(&self, gpu: &Gpu) -> Outcome {
        let mut chain = gpu.chain();
        let x = chain.upload(self.x.view(), Layout::Nchw)?;
        let plan = TopHat::new([3, 2]).plan(self.x.shape(), DType::F32, None)?;
        let [y] = chain.step(&gpu.prepare_blocking(plan)?, &[&x])?;
        let y = chain.read_back::<f32>(&y)?;
        assert_eq!(chain.run_blocking()?.take(y)?, self.hat);
        Ok(())
    }

    fn prepared(&self, gpu: &Gpu) -> Outcome {
        let prepared = gpu.prepare_blocking(self.separable.clone())?;
        for _ in 0..2 {
            assert_eq!(calls::max_pool(&prepared, self.x.view())?, self.separated);
        }
        Ok(())
    }

    fn prepared_without_scratch(&self, gpu: &Gpu) -> Outcome {
        let prepared = gpu.prepare_blocking(Prepare::from(self.separable.clone()).scratch_of_the_run())?;
        assert_eq!(calls::max_pool(&prepared, self.x.view())?, self.separated);
        Ok(())
    }

    fn warm_up(&self, gpu: &Gpu) -> Outcome {
        gpu.warm_up_blocking(std::slice::from_ref(&self.separable))
    }

    fn upload_and_download(&self, gpu: &Gpu) -> Outcome {
        let x = gpu.upload_blocking(self.x.view(), Layout::Nchw)?;
        assert_eq!(gpu.download_blocking::<f32>(&x)?, self.x);
        Ok(())
    }

    fn prepare(&self, gpu: &Gpu) -> Result<[Prepared; 2], ExecuteError> {
        let plan = self.pool.plan(self.x.shape(), DType::F32, Some(IndexType::I64))?;
        let unpool = self.inverse.plan(plan.output_shape(), DType::F32, IndexType::I64)?;
        Ok([gpu.prepare_blocking(plan)?, gpu.prepare_blocking(unpool)?])
    }

    fn timed_chain(&self, gpu: &Gpu) -> Outcome {
        let [pool, unpool] = self.prepare(gpu)?;
        let mut chain = gpu.chain().timed();
        let x = chain.upload(self.x.view(), Layout::Nchw)?;
        let [y, indices] = chain.step(&pool, &[&x])?;
        let [back] = chain.step(&unpool, &[&y, &indices])?;
        let back = chain.read_back::<f32>(&back)?;
        assert_eq!(chain.submit()?.results_blocking()?.take(back)?, self.unpooled);
        Ok(())
    }

    /// Tries every step that fails a second time: a failed step leaves the chain as it was.
    fn chain_that_tries_twice(&self, gpu: &Gpu) -> Outcome {
        let [pool, unpool] = self.prepare(gpu)?;
        let mut first = Ok(());
        let mut chain = gpu.chain();
        let mut again = |error: ExecuteError| {
            assert!(matches!(error, ExecuteError::OutOfMemory(_)), "{error:?}");
            first = Err(error);
        };
        let mut twice = |step: &mut dyn FnMut() -> Outcome| step().or_else(|error| (again(error), step()).1);
        let (mut x, mut pooled, mut back) = (None, None, None);
        twice(&mut || chain.upload(self.x.view(), Layout::Nchw).map(|tensor| x = Some(tensor)))?;
        let x = x.unwrap();
        twice(&mut || chain.step::<2>(&pool, &[&x]).map(|tensors| pooled = Some(tensors)))?;
        let [y, indices] = pooled.unwrap();
        twice(&mut || chain.step::<1>(&unpool, &[&y, &indices]).map(|tensor| back = Some(tensor)))?;
        let [back] = back.unwrap();
        let back = chain.read_back::<f32>(&back)?;
        assert_eq!(chain.run_blocking()?.take(back)?, self.unpooled);
        first
    }

    fn encoded(&self, gpu: &Gpu) -> Outcome {
        let [pool, _] = self.prepare(gpu)?;
        // These buffers are the host's: their allocations are not among those that fail.
        let buffer = |size: u64| {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            gpu.device().create_buffer(&descriptor)
        };
        let [x, y, indices] = [self.x.data().len() * 4, self.pooled.0.data().len() * 4, self.pooled.1.data().len() * 8]
            .map(|size| buffer(size as u64));
        gpu.queue().write_buffer(&x, 0, bytemuck::cast_slice(self.x.data()));
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let buffers = Buffers {
            x: Some(x.slice(..)),
            y: Some(y.slice(..)),
            indices_out: Some(indices.slice(..)),
            ..Buffers::default()
        };
        pool.encode(&mut encoder, buffers)?;
        pool.encode_pass(&mut encoder.begin_compute_pass(&Default::default()), buffers)?;
        gpu.queue().submit([encoder.finish()]);
        let y = wgpu_pooling::DeviceTensor::from_buffer(gpu, y, 0, self.pooled.0.shape(), DType::F32, Layout::Nchw)?;
        assert_eq!(gpu.download_blocking::<f32>(&y)?, self.pooled.0);
        Ok(())
    }
}

type Call = fn(&Work, &Gpu) -> Outcome;

#[gpu_test]
fn every_allocation_of_every_kind_of_call_can_fail() {
    let calls: [(&str, Call); 15] = [
        ("one-shot pool", Work::one_shot_pool),
        ("one-shot pool with indices", Work::one_shot_pool_with_indices),
        ("one-shot unpool", Work::one_shot_unpool),
        ("one-shot unpool that skips", Work::one_shot_unpool_that_skips),
        ("one-shot on bytes", Work::one_shot_on_bytes),
        ("one-shot adaptive and global pool", Work::one_shot_adaptive_and_global),
        ("one-shot composition", Work::one_shot_composition),
        ("composition in a chain", Work::composition_in_a_chain),
        ("prepared", Work::prepared),
        ("prepared without scratch", Work::prepared_without_scratch),
        ("warm-up", Work::warm_up),
        ("upload and download", Work::upload_and_download),
        ("timed chain", Work::timed_chain),
        ("chain that tries twice", Work::chain_that_tries_twice),
        ("encoded", Work::encoded),
    ];
    let mut injected = 0;
    // Poisoned outputs are mapped when they are made, other outputs are not.
    for options in [GpuOptions::new().timestamps(), GpuOptions::new().timestamps().poison(support::device::POISON)] {
        let allocations = Allocations::new();
        let gpu = Gpu::open_blocking(&options.failing_allocations_where(allocations.hook())).unwrap();
        let uncaptured = Uncaptured::on(gpu.device());
        let work = Work::new(&gpu);
        // A call after `trim` allocates all that it needs; a call after another one reuses its buffers and allocates
        // the rest.
        for (name, call, kept) in calls.into_iter().flat_map(|(name, call)| [(name, call, false), (name, call, true)]) {
            let succeed = || {
                allocations.succeed();
                call(&work, &gpu)
            };
            succeed().unwrap_or_else(|error| panic!("{name}: {error}"));
            let begin = || if kept { drop(succeed()) } else { gpu.trim() };
            begin();
            succeed().unwrap_or_else(|error| panic!("{name}, kept: {kept}: {error}"));
            let made = allocations.made();
            assert!(made > 0 || name == "warm-up", "{name} allocates");
            for number in 0..made {
                begin();
                allocations.fail(number);
                let failed = call(&work, &gpu);
                let oom = matches!(failed, Err(ExecuteError::OutOfMemory(_)));
                assert!(oom, "{name}, kept: {kept}, allocation {number} of {made}: {failed:?}");
                succeed().unwrap_or_else(|error| panic!("{name}, after allocation {number}: {error}"));
                injected += 1;
            }
        }
        uncaptured.assert_silent();
    }
    println!("{injected} allocations were made to fail");
}

/// Bytes of address space that this process uses.
fn address_space() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096
}

/// Lets this process have this many more bytes of address space, and no more.
fn leave(bytes: u64) -> bool {
    let limit = format!("--as={}:unlimited", address_space() + bytes);
    let pid = std::process::id().to_string();
    std::process::Command::new("prlimit").args(["--pid", &pid, &limit]).status().is_ok_and(|status| status.success())
}

/// Lets this process have any memory again.
fn leave_all() -> bool {
    let pid = std::process::id().to_string();
    std::process::Command::new("prlimit")
        .args(["--pid", &pid, "--as=unlimited"])
        .status()
        .is_ok_and(|status| status.success())
}

/// Calls on a tensor that is within every limit, but larger than the memory that is left. Neither the device's memory
/// nor the host's ends the process, and after each failure a small call gives its result.
#[gpu_test]
#[cfg_attr(no_prlimit, ignore = "there is no prlimit, which limits the memory of a process")]
fn tensors_larger_than_what_is_left_of_the_memory_are_errors() {
    if !is_child() {
        let text = passed(&run_child("memory::tensors_larger_than_what_is_left_of_the_memory_are_errors", &[]));
        let said = text.lines().filter(|line| line.contains("MiB left"));
        println!("{}", said.collect::<Vec<_>>().join("\n"));
        return;
    }
    let gpu = &Gpu::new_blocking().unwrap();
    let uncaptured = Uncaptured::on(gpu.device());
    let (small, pool) = (&tensor(&[1, 1, 8, 8]), &MaxPool::new([2, 2]));
    let expected = pool.on(small.view()).run_blocking(&gpu).unwrap();
    let extent = (gpu.limits().max_binding_bytes.min(128 << 20)) as usize;
    let large = vec![7u8; extent];
    let shape = [1, 1, extent];
    let large = &TensorView::new(&shape, &large).unwrap();
    let on_device = &gpu.upload_blocking(large, Layout::Nchw).unwrap();
    let global = &gpu.prepare_blocking(GlobalMaxPool::new().plan(large.shape(), DType::U8, None).unwrap()).unwrap();
    let is_seven = |y: Tensor<u8>| assert_eq!(y.data(), [7]);
    let planned = MaxPool::new([1]).plan(large.shape(), DType::U8, Some(IndexType::I64)).unwrap();
    let calls: [(&str, &dyn Fn() -> Outcome); 7] = [
        ("upload", &|| gpu.upload_blocking(large, Layout::Nchw).map(|_| ())),
        ("zeros", &|| gpu.zeros_blocking(large.shape(), DType::U8, Layout::Nchw).map(|_| ())),
        ("download", &|| gpu.download_blocking::<u8>(on_device).map(|x| assert!(x.data() == large.data()))),
        ("pool", &|| GlobalMaxPool::new().on(large).run_blocking(&gpu).map(is_seven)),
        ("unpool", &|| {
            let unpool = MaxUnpool::new([extent as i64]);
            let (x, indices) = (TensorView::new(&[1, 1, 1], &[9u8])?, [extent as i64 - 1]);
            let y = unpool.on(x, TensorView::new(&[1, 1, 1], &indices)?).run_blocking(&gpu)?;
            assert_eq!(y.data().last(), Some(&9));
            Ok(())
        }),
        ("chain", &|| {
            let mut chain = gpu.chain();
            let x = chain.upload(large, Layout::Nchw)?;
            let [y] = chain.step(global, &[&x])?;
            let (x, y) = (chain.read_back::<u8>(&x)?, chain.read_back::<u8>(&y)?);
            let results = chain.run_blocking()?;
            is_seven(results.take(y)?);
            results.take(x).map(|_| ())
        }),
        ("reference", &|| reference_allocates(&planned, *large)),
    ];
    // Kernels are compiled while there is still memory.
    let [.., unpool, chain, _] = calls;
    [unpool, chain].into_iter().for_each(|(what, call)| call().expect(what));
    let (software, mut failed) = (gpu.adapter_info().device_type == wgpu::DeviceType::Cpu, 0);
    // 320 MiB hold a tensor and its copy, 192 the tensor, 96 neither.
    let tried = [(320, &calls[4..6]), (192, &calls[..]), (96, &calls[..])];
    for (left, (what, call)) in tried.into_iter().flat_map(|(left, calls)| calls.iter().map(move |call| (left, call))) {
        gpu.trim();
        assert!(leave(left << 20), "{left} MiB left cannot be set");
        let outcome = call();
        println!("{left} MiB left: {what}: {outcome:?}");
        let mut lost = match outcome {
            Ok(()) => false,
            Err(ExecuteError::OutOfMemory(_)) => {
                failed += 1;
                gpu.is_lost()
            }
            Err(ExecuteError::DeviceLost(_)) => true,
            Err(error) => panic!("{error:?}"),
        };
        match pool.on(small.view()).run_blocking(&gpu) {
            Ok(y) => assert!(!lost && y == expected, "{left} MiB left: a lost device computes, or wrongly"),
            // This pool may be the first whose command finds no memory, as it is on an NVIDIA H100.
            Err(ExecuteError::DeviceLost(_)) => lost = true,
            Err(error) => panic!("{left} MiB left: {error:?}"),
        }
        // Where a command finds no memory, not a buffer, wgpu gives the device up.
        if lost {
            assert!(!software, "{left} MiB left: {what}: the device is lost");
            assert!(matches!(pool.on(small.view()).run_blocking(&gpu), Err(ExecuteError::DeviceLost(_))));
            break;
        }
    }
    assert!(failed > 0 || !software, "nothing failed");
    if !gpu.is_lost() {
        assert!(leave_all());
        calls[0].1().unwrap();
    }
    uncaptured.assert_silent();
}

/// Where wgpu gives up the device over an allocation, the call's error has both, and later calls the loss.
#[gpu_test]
fn a_device_that_is_lost_for_lack_of_memory_says_so() {
    type Loses = Box<dyn Fn(String) + Send + Sync>;
    let loses: Arc<OnceLock<Loses>> = Arc::default();
    let asked = Arc::clone(&loses);
    let hook = move || asked.get().is_some_and(|lose| (lose("no memory".to_owned()), true).1);
    let gpu = Gpu::open_blocking(&GpuOptions::new().failing_allocations_where(hook)).unwrap();
    assert!(loses.set(Box::new(gpu.loss_notifier())).is_ok() && !gpu.is_lost());
    let failed = gpu.upload_blocking(tensor(&[1, 1, 8]).view(), Layout::Nchw);
    let says_so = |error: &String| error.ends_with("; the device is lost over it");
    assert!(matches!(&failed, Err(ExecuteError::OutOfMemory(error)) if says_so(error)), "{failed:?}");
    assert!(gpu.is_lost());
    let later = MaxPool::new([2, 2]).on(tensor(&[1, 1, 8, 8]).view()).run_blocking(&gpu);
    assert_eq!(later, Err(ExecuteError::DeviceLost("no memory".to_owned())));
}

/// The bytes of all buffers of a device, if its backend says so.
fn allocated(gpu: &Gpu) -> Option<u64> {
    gpu.device().generate_allocator_report().map(|report| report.total_allocated_bytes)
}

/// Waits, without a call on the device, until its buffers take no more than this.
#[track_caller]
fn comes_down_to(what: &str, gpu: &Gpu, bytes: u64) {
    let start = std::time::Instant::now();
    while allocated(gpu).is_some_and(|now| now > bytes) {
        assert!(start.elapsed() < crate::faults::PATIENCE, "{what}: {:?} bytes remain, of {bytes}", allocated(gpu));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The memory of what is dropped comes back by itself, not with the next call.
#[gpu_test]
fn what_is_dropped_is_freed() {
    let allocations = Allocations::new();
    let gpu = Gpu::open_blocking(&GpuOptions::new().failing_allocations_where(allocations.hook())).unwrap();
    // wgpu frees what it made the device with.
    gpu.queue().submit([]);
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let Some(empty) = allocated(&gpu) else {
        println!("left out: {:?} does not say what its buffers take", gpu.adapter_info().backend);
        return;
    };
    let (waiting, mebibyte) = (64 << 20, 1 << 20);
    let x = Tensor::new([1, 1, 80 * mebibyte], vec![1u8; 80 * mebibyte]).unwrap();
    let shape = [1, 1, 5 * mebibyte];
    let part = TensorView::new(&shape, &x.data()[..5 * mebibyte]).unwrap();

    // A large upload takes the tensor's bytes, without those of the copy, and leaves nothing.
    let on_device = gpu.upload_blocking(x.view(), Layout::Nchw).unwrap();
    comes_down_to("a copy", &gpu, empty + on_device.bytes());
    drop(on_device);
    comes_down_to("a tensor", &gpu, empty);

    // Of many small ones, the copies that wait for a submit are bounded; so are the tensors that they keep.
    let mut most = 0;
    for _ in 0..40 {
        drop(gpu.upload_blocking(part, Layout::Nchw).unwrap());
        most = most.max(allocated(&gpu).unwrap() - empty);
    }
    assert!(most <= 2 * (waiting + 2 * part.data().len() as u64), "{most} bytes of dropped uploads");
    let mut chain = gpu.chain();
    for _ in 0..40 {
        drop(chain.upload(part, Layout::Nchw).unwrap());
    }
    drop(chain);
    gpu.trim();
    comes_down_to("what trim frees", &gpu, empty);

    // Work that nobody waits for.
    let plan = GlobalMaxPool::new().plan(part.shape(), DType::U8, None).unwrap();
    let pool = gpu.prepare_blocking(plan).unwrap();
    let prepared = allocated(&gpu).unwrap();
    let mut chain = gpu.chain();
    let on_device = chain.upload(part, Layout::Nchw).unwrap();
    let [y] = chain.step(&pool, &[&on_device]).unwrap();
    drop((on_device, chain.submit().unwrap(), y));
    comes_down_to("a chain that is not waited for", &gpu, prepared);

    // A call that fails after its upload.
    gpu.trim();
    let empty = allocated(&gpu).unwrap();
    allocations.fail(2);
    let failed = calls::max_pool(&pool, part);
    assert!(matches!(failed, Err(ExecuteError::OutOfMemory(_))), "{failed:?}");
    comes_down_to("a call that failed", &gpu, empty);
}

/// Runs the reference on a pool whose indices take eight bytes for each byte of X.
fn reference_allocates(plan: &wgpu_pooling::Plan, x: TensorView<'_, u8>) -> Outcome {
    // From 128 MiB of X on, the indices need more than the limits above leave, so the call fails at once and computes
    // nothing.
    if x.data().len() < 128 << 20 {
        return Ok(());
    }
    reference::max_pool_with_indices::<u8, i64>(plan, x).map(|_| ())
}
