//! What the crate promises to a host whose device it uses: the host's callbacks and error scopes stay its own, only
//! calls that document it submit work, the host can report that the device is lost, and objects of another device are
//! refused.

use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use gpu_test::gpu_test;
use support::calls;
use support::harness::join_all;
use support::tensors::tensor;
use wgpu_pooling::wgpu::{self, BufferUsages, ErrorFilter};
use wgpu_pooling::{
    Buffers, Chain, DType, DeviceTensor, ExecuteError, Gpu, IndexType, Layout, MaxPool, MaxUnpool, Prepared,
    required_limits,
};

/// What a host hears on one of its callbacks.
type Heard = Arc<Mutex<Vec<String>>>;

/// An application with a device of its own, which it opened before it knew of this crate.
struct Host {
    device: wgpu::Device,
    queue: wgpu::Queue,
    errors: Heard,
    losses: Heard,
}

impl Host {
    fn new() -> Host {
        Host::of(&instance())
    }

    fn of(instance: &wgpu::Instance) -> Host {
        let adapter = pollster::block_on(wgpu::util::initialize_adapter_from_env_or_default(instance, None))
            .expect("an adapter; WGPU_POOLING_SKIP_GPU=1 leaves the GPU tests out");
        let descriptor =
            wgpu::DeviceDescriptor { required_limits: required_limits(&adapter), ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("the adapter opens");
        let [errors, losses] = [Heard::default(), Heard::default()];
        let heard = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error| heard.lock().unwrap().push(error.to_string())));
        let heard = Arc::clone(&losses);
        device.set_device_lost_callback(move |reason, _| heard.lock().unwrap().push(format!("{reason:?}")));
        Host { device, queue, errors, losses }
    }

    fn gpu(&self) -> Gpu {
        Gpu::from_wgpu(self.device.clone(), self.queue.clone())
    }

    /// Makes a mistake that wgpu refuses with an error that names the buffer.
    fn blunder(&self, name: &str) {
        self.buffer(name, 4, BufferUsages::MAP_READ | BufferUsages::MAP_WRITE | BufferUsages::STORAGE);
    }

    fn buffer(&self, name: &str, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: Some(name), size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// The names of the blunders that the host's callback has received since the last call.
    fn heard(&self) -> Vec<String> {
        let errors = std::mem::take(&mut *self.errors.lock().unwrap());
        errors.iter().map(|error| name_in(error)).collect()
    }

    /// Loses the device, and lets the callbacks run.
    fn lose(&self) {
        self.device.destroy();
        // A poll of a lost device may return an error.
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }

    /// Submits nothing and returns the number that wgpu gives to this submit, which it shows in its debug output. A
    /// mapping takes a number as well.
    fn submit_number(&self) -> u64 {
        let submission = format!("{:?}", self.queue.submit([]));
        let digits = submission.chars().filter(char::is_ascii_digit).collect::<String>();
        digits.parse().expect("a submission has a number")
    }
}

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env())
}

/// Which buffer an error is about: the label that wgpu quotes.
fn name_in(error: &str) -> String {
    error.split('\'').nth(1).unwrap_or(error).to_owned()
}

/// Uses the crate in all its ways: in one call, in a chain, in an encoder of the host's.
fn use_all_of_it(host: &Host, gpu: &Gpu) {
    let x = tensor(&[1, 2, 6, 6]);
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    let (y, indices) = pool.on(x.view()).with_indices::<i64>().run_blocking(&gpu).unwrap();
    let back = unpool.on(y.view(), indices.view()).run_blocking(&gpu).unwrap();
    let prepared = gpu.prepare_blocking(pool.plan(x.shape(), DType::F32, None).unwrap()).unwrap();

    let mut chain = gpu.chain();
    let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
    let [chained] = chain.step(&prepared, &[&on_device]).unwrap();
    let wanted = chain.read_back::<f32>(&chained).unwrap();
    assert_eq!(chain.run_blocking().unwrap().take(wanted).unwrap(), y);

    let out = host.buffer("y", 72, BufferUsages::STORAGE);
    let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffers = Buffers { x: Some(on_device.slice()), y: Some(out.slice(..)), ..Buffers::default() };
    prepared.encode(&mut encoder, buffers).unwrap();
    prepared.encode_pass(&mut encoder.begin_compute_pass(&Default::default()), buffers).unwrap();
    host.queue.submit([encoder.finish()]);
    assert_eq!(back.shape(), x.shape());
}

#[gpu_test]
fn errors_of_the_host_reach_the_host() {
    let host = Host::new();
    let gpu = host.gpu();
    host.blunder("before");
    assert_eq!(host.heard(), ["before"]);
    use_all_of_it(&host, &gpu);
    assert!(host.heard().is_empty(), "the crate's own work raises no errors");
    host.blunder("after");
    assert_eq!(host.heard(), ["after"]);

    // An error scope of the host around calls of the crate catches only the host's errors, and is the innermost scope
    // again afterwards.
    let scope = host.device.push_error_scope(ErrorFilter::Validation);
    use_all_of_it(&host, &gpu);
    assert!(pollster::block_on(scope.pop()).is_none(), "nothing of ours falls into the host's scope");
    let scope = host.device.push_error_scope(ErrorFilter::Validation);
    use_all_of_it(&host, &gpu);
    host.blunder("in the scope");
    use_all_of_it(&host, &gpu);
    let caught = pollster::block_on(scope.pop()).expect("the host's error is in the host's scope");
    assert_eq!(name_in(&caught.to_string()), "in the scope");
    host.blunder("behind the scope");
    assert_eq!(host.heard(), ["behind the scope"]);
}

#[gpu_test]
fn between_two_calls_of_ours_no_scope_is_open() {
    let host = Host::new();
    let gpu = host.gpu();
    let x = tensor(&[1, 2, 6, 6]);
    let pool = gpu.prepare_blocking(MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap()).unwrap();
    let mut chain = gpu.chain();
    host.blunder("after chain");
    let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
    host.blunder("after upload");
    let [y] = chain.step(&pool, &[&on_device]).unwrap();
    host.blunder("after a step");
    let wanted = chain.read_back::<f32>(&y).unwrap();
    host.blunder("after read_back");
    let submitted = chain.submit().unwrap();
    host.blunder("after submit");
    let results = submitted.results_blocking().unwrap();
    host.blunder("after the results");
    results.take(wanted).unwrap();
    let expected =
        ["after chain", "after upload", "after a step", "after read_back", "after submit", "after the results"];
    assert_eq!(host.heard(), expected);

    // A pending future holds no scope open either, nor does a dropped one.
    let pool = MaxPool::new([3, 3]);
    let mut waiting = Box::pin(pool.on(x.view()).run(&gpu));
    let _ = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    host.blunder("while a future waits");
    assert_eq!(host.heard(), ["while a future waits"]);
    drop(waiting);
    host.blunder("after a future was dropped");
    assert_eq!(host.heard(), ["after a future was dropped"]);
}

#[gpu_test]
fn what_wgpu_refuses_inside_a_call_is_the_calls_error() {
    let host = Host::new();
    let gpu = host.gpu();
    let plan = MaxPool::new([2]).plan(&[1, 1, 8], DType::F32, None).unwrap();
    let prepared = gpu.prepare_blocking(plan).unwrap();
    let [x, y] = ["x", "y"].map(|name| host.buffer(name, 32, BufferUsages::STORAGE));
    let buffers = Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
    // The host has destroyed this buffer by mistake: the call that uses it returns the error.
    x.destroy();
    let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let scope = host.device.push_error_scope(ErrorFilter::Validation);
    let refused = prepared.encode(&mut encoder, buffers);
    assert!(matches!(&refused, Err(ExecuteError::Device(text)) if text.contains("destroyed")), "{refused:?}");
    assert!(pollster::block_on(scope.pop()).is_none(), "the error is returned, so the host does not hear it again");
    assert!(host.heard().is_empty());

    // The refused call leaves nothing behind that would spoil the next call.
    drop(encoder);
    use_all_of_it(&host, &gpu);
    assert!(host.heard().is_empty());
}

#[gpu_test]
fn nothing_is_submitted_but_by_the_call_that_says_so() {
    let host = Host::new();
    let gpu = host.gpu();
    let x = tensor(&[1, 2, 6, 6]);
    let before = host.submit_number();
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I32)).unwrap();
    let prepared = gpu.prepare_blocking(plan).unwrap();
    let on_device = gpu.upload_blocking(x.view(), Layout::Nchw).unwrap();
    let mut chain = gpu.chain();
    chain.step::<2>(&prepared, &[&on_device]).unwrap();
    drop(chain);
    let [y, indices] = ["y", "indices"].map(|name| host.buffer(name, 72, BufferUsages::STORAGE));
    let buffers = Buffers {
        x: Some(on_device.slice()),
        y: Some(y.slice(..)),
        indices_out: Some(indices.slice(..)),
        ..Buffers::default()
    };
    let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    prepared.encode(&mut encoder, buffers).unwrap();
    prepared.encode_pass(&mut encoder.begin_compute_pass(&Default::default()), buffers).unwrap();
    assert_eq!(
        host.submit_number(),
        before + 1,
        "preparing, uploading and encoding submit nothing, nor does a dropped chain"
    );

    // However many steps a chain has and however much it reads back, it takes the numbers of one submit and one
    // mapping.
    for steps in [1, 5] {
        let before = host.submit_number();
        let mut chain = gpu.chain();
        for _ in 0..steps {
            let [y, indices] = chain.step(&prepared, &[&on_device]).unwrap();
            chain.read_back::<f32>(&y).unwrap();
            chain.read_back::<i32>(&indices).unwrap();
        }
        chain.run_blocking().unwrap();
        assert_eq!(host.submit_number(), before + 3, "{steps} steps");
    }
}

/// The error of every call that needs the device.
fn every_call(gpu: &Gpu, prepared: &Prepared, on_device: &DeviceTensor, chains: [Chain; 2]) -> Vec<ExecuteError> {
    let x = tensor(&[1, 2, 6, 6]);
    let plan = MaxPool::new([3, 3]).plan(x.shape(), DType::F32, None).unwrap();
    let buffers = Buffers { x: Some(on_device.slice()), y: Some(on_device.slice()), ..Buffers::default() };
    let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let [mut chain, submitted] = chains;
    vec![
        MaxPool::new([2, 2]).on(x.view()).run_blocking(&gpu).unwrap_err(),
        gpu.prepare_blocking(plan).unwrap_err(),
        gpu.upload_blocking(x.view(), Layout::Nchw).unwrap_err(),
        gpu.download_blocking::<f32>(on_device).unwrap_err(),
        calls::max_pool(&prepared, x.view()).unwrap_err(),
        prepared.encode(&mut encoder, buffers).unwrap_err(),
        prepared.encode_pass(&mut encoder.begin_compute_pass(&Default::default()), buffers).unwrap_err(),
        chain.upload(x.view(), Layout::Nchw).unwrap_err(),
        chain.step::<1>(prepared, &[on_device]).unwrap_err(),
        chain.run_blocking().unwrap_err(),
        submitted.submit().unwrap_err(),
    ]
}

#[gpu_test]
fn the_hosts_word_that_the_device_is_lost_counts() {
    let host = Host::new();
    let x = tensor(&[1, 2, 6, 6]);
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    for through_the_notifier in [false, true] {
        let gpu = host.gpu();
        let prepared = gpu.prepare_blocking(plan.clone()).unwrap();
        let on_device = gpu.upload_blocking(x.view(), Layout::Nchw).unwrap();
        let chains = [gpu.chain(), gpu.chain()];
        if through_the_notifier {
            let notify_lost = gpu.loss_notifier();
            notify_lost("it fell off the bus".to_owned());
        } else {
            gpu.loss_notifier()("it fell off the bus".to_owned());
        }
        gpu.loss_notifier()("a later reason, which explains nothing".to_owned());
        for error in every_call(&gpu, &prepared, &on_device, chains) {
            assert_eq!(error, ExecuteError::DeviceLost("it fell off the bus".to_owned()));
        }
    }
    assert!(host.losses.lock().unwrap().is_empty(), "the device itself is well");
    use_all_of_it(&host, &host.gpu());
}

#[gpu_test]
fn the_hosts_lost_callback_stays_the_hosts() {
    // One host passes the loss on to the crate, the other does not.
    let [told, silent] = [Host::new(), Host::new()];
    let gpus = [told.gpu(), silent.gpu()];
    let notify_lost = gpus[0].loss_notifier();
    let heard = Arc::clone(&told.losses);
    told.device.set_device_lost_callback(move |reason, _| {
        heard.lock().unwrap().push(format!("{reason:?}"));
        notify_lost(format!("the host heard {reason:?}"));
    });
    for (host, gpu) in [(&told, &gpus[0]), (&silent, &gpus[1])] {
        use_all_of_it(host, gpu);
        assert!(host.losses.lock().unwrap().is_empty());
        host.lose();
        assert_eq!(*host.losses.lock().unwrap(), ["Destroyed"], "the host's callback is called, once");
        let error = MaxPool::new([2, 2]).on(tensor(&[1, 1, 4, 4]).view()).run_blocking(&gpu).unwrap_err();
        match error {
            ExecuteError::DeviceLost(reason) if std::ptr::eq(host, &told) => {
                assert_eq!(reason, "the host heard Destroyed");
            }
            ExecuteError::DeviceLost(_) | ExecuteError::Device(_) if std::ptr::eq(host, &silent) => {}
            other => panic!("{other:?}"),
        }
        assert!(host.heard().is_empty(), "a lost device is no uncaptured error");
    }
}

#[gpu_test]
fn the_notifier_keeps_nothing_alive() {
    let host = Host::new();
    let gpu = host.gpu();
    let notify_lost = gpu.loss_notifier();
    let token = Arc::new(());
    let alive = Arc::downgrade(&token);
    // The device owns its callback: a callback that in turn held the device would keep both alive for ever.
    host.device.set_device_lost_callback(move |_, _| {
        let _ = &token;
        notify_lost("gone".to_owned());
    });
    use_all_of_it(&host, &gpu);
    drop(gpu);
    assert!(alive.upgrade().is_some());
    drop(host);
    assert!(alive.upgrade().is_none(), "the device outlives its last handle");
}

#[gpu_test]
fn many_gpus_live_side_by_side() {
    let hosts = [Host::new(), Host::new()];
    let x = tensor(&[1, 2, 6, 6]);
    let pool = MaxPool::new([2, 2]);
    let expected = pool.on(x.view()).run_blocking(&hosts[0].gpu()).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = hosts
            .iter()
            .chain(&hosts)
            .map(|host| {
                scope.spawn(|| {
                    let gpu = host.gpu();
                    for _ in 0..4 {
                        assert_eq!(pool.on(x.view()).run_blocking(&gpu).unwrap(), expected);
                    }
                })
            })
            .collect();
        join_all(threads);
    });

    // Two `Gpu`s on one device: each has to be notified of a loss by itself.
    let [first, second] = [hosts[0].gpu(), hosts[0].gpu()];
    first.loss_notifier()("the first alone".to_owned());
    assert!(matches!(pool.on(x.view()).run_blocking(&first), Err(ExecuteError::DeviceLost(_))));
    assert_eq!(pool.on(x.view()).run_blocking(&second).unwrap(), expected);
    assert!(hosts.iter().all(|host| host.heard().is_empty()));
}

/// Objects made through one `Gpu` are refused by another one, in three situations: two hosts whose devices compare
/// equal in wgpu, two hosts on devices of one instance, and one host whose device has two `Gpu`s.
#[gpu_test]
fn what_belongs_to_another_gpu_is_refused() {
    let instance = instance();
    let apart = [Host::new(), Host::new()];
    let beside = [Host::of(&instance), Host::of(&instance)];
    let alone = Host::new();
    refuses([apart[0].gpu(), apart[1].gpu()]);
    refuses([beside[0].gpu(), beside[1].gpu()]);
    refuses([alone.gpu(), alone.gpu()]);
    let mut hosts = apart.iter().chain(&beside).chain([&alone]);
    assert!(hosts.all(|host| host.heard().is_empty()), "wgpu was not even asked");
}

fn refuses([here, there]: [Gpu; 2]) {
    let x = tensor(&[1, 2, 6, 6]);
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I32)).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    let unpool = unpool.plan(plan.output_shape(), DType::F32, IndexType::I32).unwrap();
    let [pool_here, pool_there] = [&here, &there].map(|gpu| gpu.prepare_blocking(plan.clone()).unwrap());
    let unpool_here = here.prepare_blocking(unpool).unwrap();
    let [x_here, x_there] = [&here, &there].map(|gpu| gpu.upload_blocking(x.view(), Layout::Nchw).unwrap());
    let mut chain = there.chain();
    let [y_there, indices_there] = chain.step(&pool_there, &[&x_there]).unwrap();
    chain.run_blocking().unwrap();

    // A clone is the same `Gpu`.
    let mut chain = here.clone().chain();
    let refused = |what| ExecuteError::OtherGpu { what };
    assert_eq!(chain.step::<2>(&pool_here, &[&x_there]).unwrap_err(), refused("x"));
    assert_eq!(chain.step::<2>(&pool_there, &[&x_here]).unwrap_err(), refused("pool"));
    assert_eq!(chain.read_back::<f32>(&x_there).unwrap_err(), refused("tensor"));
    assert_eq!(here.download_blocking::<f32>(&x_there).unwrap_err(), refused("tensor"));
    let [y, indices] = chain.step(&pool_here, &[&x_here]).unwrap();
    assert_eq!(chain.step::<1>(&unpool_here, &[&y_there, &indices]).unwrap_err(), refused("x"));
    assert_eq!(chain.step::<1>(&unpool_here, &[&y, &indices_there]).unwrap_err(), refused("indices"));
    // The refused calls have left no trace in the chain.
    let [back] = chain.step(&unpool_here, &[&y, &indices]).unwrap();
    let wanted = chain.read_back::<f32>(&back).unwrap();
    let results = chain.run_blocking().unwrap();
    assert_eq!(results.take(wanted).unwrap().shape(), x.shape());
}

/// A buffer does not say which device it belongs to, so wgpu detects the mistake and the call returns wgpu's error.
#[gpu_test]
fn buffers_of_another_device_are_an_error_of_the_call() {
    let instance = instance();
    let hosts = [Host::of(&instance), Host::of(&instance)];
    let gpu = hosts[0].gpu();
    let plan = MaxPool::new([2, 2]).plan(&[1, 2, 6, 6], DType::F32, None).unwrap();
    let pool = gpu.prepare_blocking(plan).unwrap();
    let foreign = hosts[1].buffer("foreign", 288, BufferUsages::STORAGE);
    let y = hosts[0].buffer("y", 288, BufferUsages::STORAGE);
    let mut encoder = hosts[0].device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffers = Buffers { x: Some(foreign.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
    assert!(matches!(pool.encode(&mut encoder, buffers), Err(ExecuteError::Device(_))));
    let tensor = DeviceTensor::from_buffer(&gpu, foreign, 0, [1, 2, 6, 6], DType::F32, Layout::Nchw).unwrap();
    assert!(matches!(gpu.chain().step::<1>(&pool, &[&tensor]), Err(ExecuteError::Device(_))));
    assert!(hosts.iter().all(|host| host.heard().is_empty()));
}

#[gpu_test]
fn a_readback_of_another_chain_is_refused() {
    let gpu = Host::new().gpu();
    let x = tensor(&[1, 2, 6, 6]);
    let on_device = gpu.upload_blocking(x.view(), Layout::Nchw).unwrap();
    let [mut first, mut second] = [gpu.chain(), gpu.chain()];
    let wanted = [first.read_back::<f32>(&on_device).unwrap(), second.read_back::<f32>(&on_device).unwrap()];
    let [of_first, of_second] = wanted;
    let [first, second] = [first.run_blocking().unwrap(), second.run_blocking().unwrap()];
    assert_eq!(first.take(of_second).unwrap_err(), ExecuteError::OtherChain);
    assert_eq!(first.take(of_first).unwrap(), x, "the results are as good as before");
    drop(second);
}
