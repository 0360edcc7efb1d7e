//! Devices that are lost before, during and after a call: every call of every kind comes back with an error, on the
//! library's own device and on a host's, whether the host reports the loss or not. A new GPU works in the same process.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};

use gpu_test::gpu_test;
use support::calls;
use support::device::gpu as shared;
use support::harness::join_all;
use support::tensors::tensor;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    Backend, Bound, Buffers, Choice, DType, DeviceTensor, ExecuteError, Gpu, Gradient, IndexType, Layout, MaxPool,
    MaxUnpool, Plan, Prepare, Prepared, PreparedPlan, ReadBack, Schedule, Submitted, Tensor, TensorMut, TensorRef,
    TensorView, select,
};

use crate::faults::{Uncaptured, comes_back, host_device};

type Outcome = Result<(), ExecuteError>;
type Call = fn(&Held) -> Outcome;

/// Whose device it is, and whether the library is told of its loss.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Device {
    Own,
    Guest,
    GuestThatPassesTheWordOn,
}

const DEVICES: [Device; 3] = [Device::Own, Device::Guest, Device::GuestThatPassesTheWordOn];

fn open(device: Device) -> (Gpu, Uncaptured) {
    let gpu = if device == Device::Own {
        Gpu::new_blocking().unwrap()
    } else {
        let (device, queue) = host_device();
        Gpu::from_wgpu(device, queue)
    };
    if device == Device::GuestThatPassesTheWordOn {
        let notify_lost = gpu.loss_notifier();
        gpu.device().set_device_lost_callback(move |reason, message| notify_lost(format!("{reason:?} {message}")));
    }
    let uncaptured = Uncaptured::on(gpu.device());
    (gpu, uncaptured)
}

/// Everything that a program can hold of a GPU when its device is lost.
struct Held {
    gpu: Gpu,
    x: Tensor<f32>,
    indices: Tensor<i64>,
    pool: MaxPool,
    schedule: Schedule,
    prepared: [Prepared; 3],
    bound: Bound,
    on_device: [DeviceTensor; 2],
    buffers: [wgpu::Buffer; 3],
}

impl Held {
    fn new(gpu: &Gpu) -> Held {
        let x = tensor(&[2, 3, 8, 10]);
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        let plan = pool.plan(x.shape(), DType::F32, None).unwrap();
        let with = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
        let unpool = MaxUnpool::new([2, 2]).plan(x.shape(), DType::F32, IndexType::I64).unwrap();
        let indices = Tensor::new(x.shape(), (0..x.data().len() as i64).collect()).unwrap();
        let schedule = select(&plan, &gpu.limits(), &Choice::default()).unwrap();
        let prepared = [plan, with, unpool].map(|plan: Plan| gpu.prepare_blocking(plan).unwrap());
        let on_device = [
            gpu.upload_blocking(x.view(), Layout::Nchw).unwrap(),
            gpu.upload_blocking(indices.view(), Layout::Nchw).unwrap(),
        ];
        let buffers = [1920, 480, 480].map(|size| {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
            gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        });
        let [x_buffer, y_buffer, _] = &buffers;
        let of_pool = Buffers { x: Some(x_buffer.slice(..)), y: Some(y_buffer.slice(..)), ..Buffers::default() };
        let bound = prepared[0].bind(of_pool).unwrap();
        Held { gpu: gpu.clone(), x, indices, pool, schedule, prepared, bound, on_device, buffers }
    }

    fn encoded(&self, pass: bool) -> Outcome {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let [x, y, _] = &self.buffers;
        let buffers = Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
        match pass {
            true => self.prepared[0].encode_pass(&mut encoder.begin_compute_pass(&Default::default()), buffers),
            false => self.prepared[0].encode(&mut encoder, buffers),
        }
    }

    /// A pool on bytes: a lost device leaves the output as it was.
    fn executed(&self, call: impl FnOnce(&[TensorRef<'_>], &mut [TensorMut<'_>]) -> Outcome) -> Outcome {
        let mut y = Tensor::new(self.prepared[0].schedule().output_shape(), vec![f32::NAN; 2 * 3 * 4 * 5])?;
        let result = call(&[(&self.x).into()], &mut [(&mut y).into()]);
        assert!(y.data().iter().all(|value| value.is_nan() == result.is_err()), "all is written, or nothing");
        result
    }

    fn bound(&self) -> Outcome {
        let [x, y, _] = &self.buffers;
        let buffers = Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
        self.prepared[0].bind(buffers).map(|_| ())
    }

    /// Records what was bound before the loss.
    fn recorded(&self) -> Outcome {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        self.bound.encode(&mut encoder.begin_compute_pass(&Default::default()))
    }

    fn chain(&self) -> Result<(Submitted, ReadBack<f32>), ExecuteError> {
        let mut chain = self.gpu.chain();
        let [y] = chain.step(&self.prepared[2], &[&self.on_device[0], &self.on_device[1]])?;
        let y = chain.read_back::<f32>(&y)?;
        Ok((chain.submit()?, y))
    }

    /// Runs a chain and takes its results.
    fn results(&self) -> Outcome {
        let (submitted, y) = self.chain()?;
        submitted.results_blocking()?.take(y).map(|_| ())
    }
}

/// Every kind of call, except those that need no work on the device.
const CALLS: [(&str, Call); 21] = [
    ("max_pool", |held| held.pool.on(held.x.view()).run_blocking(&held.gpu).map(|_| ())),
    ("max_pool_with_indices", |held| {
        held.pool.on(held.x.view()).with_indices::<i64>().run_blocking(&held.gpu).map(|_| ())
    }),
    ("max_unpool", |held| {
        MaxUnpool::new([2, 2]).on(held.x.view(), held.indices.view()).run_blocking(&held.gpu).map(|_| ())
    }),
    ("composition", |held| Gradient::new([2, 2]).on(&held.x).run_blocking(&held.gpu).map(|_| ())),
    ("composition in a chain", |held| {
        let plan = Gradient::new([2, 2]).plan(held.x.shape(), DType::F32, None)?;
        let prepared = held.gpu.prepare_blocking(Prepare::from(plan).cached())?;
        held.gpu.chain().step::<1>(&prepared, &[&held.on_device[0]]).map(|_| ())
    }),
    ("bind", Held::bound),
    ("prepared max_pool", |held| calls::max_pool(&held.prepared[0], held.x.view()).map(|_| ())),
    ("prepared max_pool_with_indices", |held| {
        calls::max_pool_with_indices::<f32, i64>(&held.prepared[1], held.x.view()).map(|_| ())
    }),
    ("prepared max_unpool", |held| {
        calls::max_unpool(&held.prepared[2], held.x.view(), held.indices.view()).map(|_| ())
    }),
    ("prepare", |held| {
        let plan = held.pool.plan(held.x.shape(), DType::F32, None)?;
        held.gpu.prepare_blocking(plan).map(|_| ())
    }),
    ("prepare_schedule", |held| held.gpu.prepare_blocking(held.schedule.clone()).map(|_| ())),
    ("prepare_without_scratch", |held| {
        held.gpu.prepare_blocking(Prepare::from(held.schedule.clone()).scratch_of_the_run()).map(|_| ())
    }),
    ("a kernel that was not compiled", |held| {
        let plan = held.pool.plan(held.x.shape(), DType::U8, None)?;
        held.gpu.prepare_blocking(plan).map(|_| ())
    }),
    ("warm_up", |held| held.gpu.warm_up_blocking(std::slice::from_ref(&held.schedule))),
    ("upload", |held| held.gpu.upload_blocking(held.x.view(), Layout::Nchw).map(|_| ())),
    ("download", |held| held.gpu.download_blocking::<f32>(&held.on_device[0]).map(|_| ())),
    ("chain", Held::results),
    ("execute", |held| {
        let plan = held.pool.plan(held.x.shape(), DType::F32, None)?;
        held.executed(|x, y| held.gpu.run_blocking(&plan, x, y))
    }),
    ("prepared execute", |held| held.executed(|x, y| held.prepared[0].run_blocking(x, y))),
    ("encode", |held| held.encoded(false)),
    ("encode_pass", |held| held.encoded(true)),
];

#[track_caller]
fn is_lost(what: &str, outcome: &Outcome) {
    assert!(matches!(outcome, Err(ExecuteError::DeviceLost(_))), "{what}: {outcome:?}");
}

#[gpu_test]
fn every_call_after_the_loss_is_an_error() {
    let mut calls = 0;
    for device in DEVICES {
        // Each call in turn is the first that meets the loss.
        let held = comes_back("opening", move || {
            let (gpu, uncaptured) = open(device);
            (Held::new(&gpu), uncaptured)
        });
        let (held, uncaptured) = (Arc::new(held.0), held.1);
        for (name, call) in CALLS {
            let held = Arc::clone(&held);
            comes_back(name, move || call(&held)).unwrap_or_else(|error| panic!("{device:?}: {name}: {error}"));
        }
        drop(held);
        for (first, _) in CALLS.iter().enumerate() {
            let outcomes = comes_back("calls after the loss", move || {
                let (gpu, uncaptured) = open(device);
                let held = Held::new(&gpu);
                gpu.device().destroy();
                let order = (first..CALLS.len()).chain(0..first).take(3);
                let mut outcomes: Vec<_> = order.map(|number| (CALLS[number].0, CALLS[number].1(&held))).collect();
                // Recording does not ask the device, but a loss that another call has met is known to it.
                outcomes.push(("a bound encode", held.recorded()));
                uncaptured.assert_silent();
                outcomes
            });
            for (name, outcome) in outcomes {
                is_lost(&format!("{device:?}: {name}"), &outcome);
                calls += 1;
            }
        }
        uncaptured.assert_silent();
    }
    println!("{calls} calls on lost devices");
}

#[gpu_test]
fn the_loss_can_be_awaited() {
    let reasons = comes_back("waiting for the loss", || {
        let gpu = Gpu::new_blocking().unwrap();
        let waits = std::thread::spawn({
            let loss = gpu.until_lost();
            move || pollster::block_on(loss)
        });
        assert!(pin!(gpu.until_lost()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        gpu.device().destroy();
        let Err(ExecuteError::DeviceLost(reason)) = MaxPool::new([2]).on(&tensor(&[1, 1, 4])).run_blocking(&gpu) else {
            panic!("the device is destroyed");
        };
        // One began to wait before the loss, the other after it.
        [reason, waits.join().unwrap(), pollster::block_on(gpu.until_lost())]
    });
    assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{reasons:?}");
}

#[gpu_test]
fn calls_during_the_loss_come_back() {
    let (mut answers, mut losses) = (0, 0);
    for device in DEVICES {
        for round in 0..4 {
            let outcomes = comes_back("calls during the loss", move || {
                let (gpu, uncaptured) = open(device);
                let held = Held::new(&gpu);
                // Submitted before the loss, read after it.
                let (early, y) = held.chain().unwrap();
                let finished = held.chain().unwrap();
                let results = finished.0.results_blocking().unwrap();
                let mut recorded = gpu.chain();
                let [pooled] = recorded.step(&held.prepared[0], &[&held.on_device[0]]).unwrap();
                recorded.read_back::<f32>(&pooled).unwrap();
                let mut outcomes = std::thread::scope(|scope| {
                    let calls = [0, 2, 6, 12, 13, 14].map(|number| {
                        let held = &held;
                        scope.spawn(move || {
                            let mut outcomes = Vec::new();
                            for _ in 0..30 {
                                outcomes.push((CALLS[number].0, CALLS[number].1(held)));
                            }
                            outcomes
                        })
                    });
                    for _ in 0..round * 500 {
                        std::thread::yield_now();
                    }
                    gpu.device().destroy();
                    join_all(calls).into_iter().flatten().collect::<Vec<_>>()
                });
                for (name, call) in CALLS {
                    is_lost(name, &call(&held));
                }
                outcomes.push(("results", early.results_blocking().and_then(|results| results.take(y)).map(|_| ())));
                outcomes.push(("results of before", results.take(finished.1).map(|_| ())));
                let run = recorded.run_blocking().map(|_| ());
                is_lost("a chain that was recorded before", &run);
                uncaptured.assert_silent();
                outcomes
            });
            for (name, outcome) in outcomes {
                match outcome {
                    Ok(()) => answers += 1,
                    Err(ExecuteError::DeviceLost(_)) => losses += 1,
                    Err(error) => panic!("{device:?}: {name}: {error:?}"),
                }
            }
        }
    }
    println!("{answers} calls were answered, {losses} met the loss");
    assert!(losses > 0);
}

/// A waker that sends on a channel, then panics.
struct Bell(mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Nobody listens once the call is answered.
        let _ = self.0.send(());
        // A panic that prints nothing.
        std::panic::resume_unwind(Box::new("this waker panics"));
    }
}

#[gpu_test]
fn a_waker_that_panics_takes_no_other_call_with_it() {
    let (gpu, uncaptured) = open(Device::Own);
    let held = Arc::new(Held::new(&gpu));
    let mut panics = 0;
    for _ in 0..20 {
        let held = Arc::clone(&held);
        panics += comes_back("a call beside a waker that panics", move || {
            let (sender, receiver) = mpsc::channel();
            let waker = Waker::from(Arc::new(Bell(sender)));
            let mut future = pin!(held.pool.on(held.x.view()).run(&held.gpu));
            let first = future.as_mut().poll(&mut Context::from_waker(&waker));
            // This chain is submitted behind the call, and the same thread of the library waits for both.
            assert_eq!(held.results(), Ok(()));
            // A waker that panics may break only its own caller's call.
            usize::from(first.is_pending() && receiver.try_recv().is_ok())
        });
    }
    println!("{panics} wakers panicked");
    assert!(panics > 0);
    uncaptured.assert_silent();
}

#[gpu_test]
fn a_new_gpu_works_beside_what_is_left_of_a_lost_one() {
    for device in DEVICES {
        comes_back("a new GPU", move || {
            let (gpu, _) = open(device);
            let held = Held::new(&gpu);
            let pending = held.chain().unwrap();
            gpu.device().destroy();
            let (fresh, uncaptured) = open(device);
            assert!(held.pool.on(held.x.view()).run_blocking(&shared()).is_ok(), "other devices still work");
            let x = TensorView::new(&[1, 1, 4], &[3.0f32, 1.0, 2.0, 9.0]).unwrap();
            let y = MaxPool::new([2]).strides([2]).on(x).run_blocking(&fresh).unwrap();
            assert_eq!(y.data(), [3.0, 9.0]);
            // Objects of the lost GPU are refused, and dropping them raises no error.
            let mut chain = fresh.chain();
            assert!(matches!(
                chain.step::<1>(&held.prepared[0], &[&held.on_device[0]]),
                Err(ExecuteError::OtherGpu { .. })
            ));
            drop((pending, held, gpu));
            assert_eq!(
                MaxPool::new([4])
                    .on(TensorView::new(&[1, 1, 4], &[3u8, 1, 2, 9]).unwrap())
                    .run_blocking(&fresh)
                    .unwrap()
                    .data(),
                [9]
            );
            uncaptured.assert_silent();
        });
    }
}

#[gpu_test]
fn dropping_everything_at_once_hangs_nothing() {
    for lost in [false, true] {
        for device in DEVICES {
            comes_back("dropping", move || {
                let (gpu, _) = open(device);
                let held = Held::new(&gpu);
                let pending: Vec<_> = (0..5).map(|_| held.chain().unwrap()).collect();
                {
                    let mut future = pin!(held.pool.on(held.x.view()).run(&gpu));
                    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                }
                if lost {
                    gpu.device().destroy();
                }
                drop(gpu);
                drop(held);
                drop(pending);
            });
        }
    }
}
