//! Streaming runs whose sources and sinks have to wait: the bits, the counts and the errors of those that answer at
//! once.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::mem::replace;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use support::calls::reference;

use wgpu_pooling::{
    AsyncSink, AsyncSource, Backend, BoxFuture, DType, Device, Element, ExecuteError, GlobalMaxPool, Index, IndexType,
    Layout, MaxPool, MaxUnpool, Plan, Pooling, PreparedPlan, Reference, Sink, Source, Stream, StreamReport, Tensor,
    TensorMut, TensorRef, TensorView,
};

use super::On;
use support::tensors::{bits, of_all_styles as tensor};

/// Waits for a run, which any executor could move between threads.
fn wait<F: Future + Send>(run: F) -> F::Output {
    pollster::block_on(run)
}

type Job = Box<dyn FnOnce() + Send>;

/// Elements that another thread reads and writes. A call is pending a few times first, and wakes itself.
struct Elsewhere<T> {
    elements: Arc<Mutex<Vec<T>>>,
    thread: Sender<Job>,
    /// The calls that succeed before one fails.
    successes: usize,
}

impl<T: Element> Elsewhere<T> {
    fn new(elements: &[T]) -> Self {
        let (thread, jobs) = channel::<Job>();
        // It ends with its sender.
        std::thread::spawn(move || jobs.iter().for_each(|job| job()));
        Elsewhere { elements: Arc::new(Mutex::new(elements.to_vec())), thread, successes: usize::MAX }
    }

    fn empty(length: usize) -> Self {
        Elsewhere::new(&vec![T::from_bits64(0); length])
    }

    fn failing_after(self, successes: usize) -> Self {
        Elsewhere { successes, ..self }
    }

    fn bits(&self) -> Vec<u64> {
        bits(&self.elements.lock().unwrap())
    }

    /// What the other thread makes of the elements.
    async fn ask<R: Send + 'static>(&self, job: impl FnOnce(&mut Vec<T>) -> R + Send + 'static) -> R {
        pending_times(3).await;
        let answer = Arc::new(Mutex::new((None::<R>, None::<Waker>)));
        let (elements, told) = (Arc::clone(&self.elements), Arc::clone(&answer));
        let job = move || {
            let result = job(&mut elements.lock().unwrap());
            let mut told = told.lock().unwrap();
            told.0 = Some(result);
            if let Some(waker) = told.1.take() {
                waker.wake();
            }
        };
        self.thread.send(Box::new(job)).unwrap();
        poll_fn(|context| {
            let mut answer = answer.lock().unwrap();
            answer.1 = Some(context.waker().clone());
            answer.0.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Counts a call; an error that names it if it is to fail.
    fn count(&mut self, offset: u64, bytes: usize) -> io::Result<()> {
        let size = size_of::<T>() as u64;
        let failed = || io::Error::other(named(offset / size, bytes as u64 / size));
        self.successes = self.successes.checked_sub(1).ok_or_else(failed)?;
        Ok(())
    }
}

fn named(first: u64, elements: u64) -> String {
    format!("no {elements} elements from {first} on")
}

async fn pending_times(mut times: usize) {
    poll_fn(|context| {
        context.waker().wake_by_ref();
        times = times.saturating_sub(1);
        if times == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl<T: Element> AsyncSource for Elsewhere<T> {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            let mut read = bytes.to_vec();
            let answer = self.ask(move |of| of.as_slice().read(offset, &mut read).map(|()| read)).await?;
            self.count(offset, bytes.len())?;
            bytes.copy_from_slice(&answer);
            Ok(())
        })
    }
}

impl<T: Element> AsyncSink for Elsewhere<T> {
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            let written = bytes.to_vec();
            self.ask(move |to| to.write(offset, &written)).await?;
            self.count(offset, bytes.len())
        })
    }
}

/// Runs with indices and without, which wait and do not.
fn check<T: Element, I: Index>(on: &On, pool: &dyn Pooling, shape: &[usize], budget: u64) {
    let x = tensor::<T>(shape);
    let plan = pool.plan(shape, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<T, I>(&plan, x.view()).unwrap();
    let (mut source, mut sink) = (Elsewhere::new(x.data()), Elsewhere::<T>::empty(y.data().len()));
    let mut indices_sink = Elsewhere::<I>::empty(y.data().len());
    let run = wait(
        Stream::new(plan.clone(), budget).source(&mut source).sink(&mut sink).sink(&mut indices_sink).run(&on.device),
    );
    assert_eq!((sink.bits(), indices_sink.bits()), (bits(y.data()), bits(indices.data())), "{plan:?}");
    let (mut view, mut got_y, mut got_indices) = (x.view(), y.data().to_vec(), indices.data().to_vec());
    let at_once = Stream::new(plan.clone(), budget)
        .source(&mut view)
        .sink(&mut got_y)
        .sink(&mut got_indices)
        .run_blocking(&on.device);
    // Peaks depend on how early the device is done with a tile.
    let counted = |report: StreamReport| {
        assert!(report.peak_bytes <= budget, "{report:?}");
        (report.tiles, report.bytes_uploaded, report.bytes_downloaded)
    };
    assert_eq!(counted(run.unwrap()), counted(at_once.unwrap()), "{plan:?}");
    assert_eq!((bits(&got_y), bits(&got_indices)), (bits(y.data()), bits(indices.data())), "{plan:?}");

    let plan = pool.plan(shape, T::DTYPE, None).unwrap();
    // A source that waits and a sink that does not.
    let mut got_y = vec![T::from_bits64(0); y.data().len()];
    let report = wait(Stream::new(plan.clone(), budget).source(&mut source).sink(&mut got_y).run(&on.device)).unwrap();
    assert_eq!(bits(&got_y), bits(y.data()), "{plan:?}");
    assert!(report.tiles > 1 && report.peak_bytes <= budget, "{report:?}");
}

#[test]
fn ends_that_wait_give_the_same_bits_and_counts() {
    for on in On::each() {
        let square = MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 2, 1]);
        let budget = on.either(24 << 10, 1 << 10);
        check::<f32, i64>(&on, &square, &[2, 3, 20, 17], budget);
        check::<u8, i32>(&on, &square.layout(Layout::Nhwc), &[2, 20, 17, 3], budget);
        // Windows in parts, whose indices the tiles have in another type than the sink.
        check::<f32, i32>(&on, &GlobalMaxPool::new(), &[2, 2, 5000], budget);
        check::<f32, i64>(
            &on,
            &MaxPool::new([60, 50]).strides([30, 40]).pads([20, 10, 20, 10]),
            &[1, 2, 64, 70],
            budget,
        );
    }
}

#[test]
fn unpools_wait_for_both_sources() {
    for on in On::each() {
        let (shape, pool) = ([2, 3, 26, 22], MaxPool::new([2, 2]).strides([2, 2]));
        let x = tensor::<f32>(&shape);
        let plan = pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
        let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
        let unpool = MaxUnpool::inverse_of(&pool, &shape).plan(y.shape(), DType::F32, IndexType::I64).unwrap();
        // Indices of other planes as well: there all sources are looked at for each tile, in several steps.
        let mixed = Tensor::new(y.shape(), indices.data().iter().rev().copied().collect()).unwrap();
        for indices in [indices, mixed] {
            let expected = reference::max_unpool(&unpool, y.view(), indices.view()).unwrap();
            let budget = on.either(24 << 10, 1 << 10);
            let (mut values, mut places) = (Elsewhere::new(y.data()), Elsewhere::new(indices.data()));
            let mut sink = Elsewhere::<f32>::empty(expected.data().len());
            let run = wait(
                Stream::new(unpool.clone(), budget)
                    .source(&mut values)
                    .source(&mut places)
                    .sink(&mut sink)
                    .run(&on.device),
            );
            assert_eq!(sink.bits(), bits(expected.data()));
            let mut got = vec![0.0f32; expected.data().len()];
            let (mut values, mut places) = (y.view(), indices.view());
            let at_once = Stream::new(unpool.clone(), budget)
                .source(&mut values)
                .source(&mut places)
                .sink(&mut got)
                .run_blocking(&on.device);
            assert_eq!(run.unwrap(), at_once.unwrap());
        }
    }
}

#[test]
fn errors_after_a_wait_have_the_numbers_of_the_call() {
    for on in On::each() {
        let plan = MaxPool::new([2]).strides([2]).plan(&[1, 64, 256], DType::F32, Some(IndexType::I64)).unwrap();
        let x = vec![1.0f32; 64 * 256];
        let run = |reads, writes, writes_of_indices| {
            let mut source = Elsewhere::new(&x).failing_after(reads);
            let mut sink = Elsewhere::<f32>::empty(x.len() / 2).failing_after(writes);
            let mut indices = Elsewhere::<i64>::empty(x.len() / 2).failing_after(writes_of_indices);
            let stream = Stream::new(plan.clone(), 48 << 10).source(&mut source).sink(&mut sink).sink(&mut indices);
            wait(stream.run(&on.device)).unwrap_err()
        };
        for calls in [0, 1, 2] {
            let error = run(calls, 9, 9);
            let ExecuteError::Source { what: "x", first, elements, error } = error else { panic!("{error:?}") };
            assert_eq!((first == 0, error), (calls == 0, named(first, elements)));
            for (expected, error) in [("y", run(99, calls, 99)), ("indices", run(99, 99, calls))] {
                let ExecuteError::Sink { what, first, elements, error } = error else { panic!("{error:?}") };
                assert_eq!((what, first == 0, error), (expected, calls == 0, named(first, elements)));
            }
        }
        // The source is too short; the other thread says so.
        let mut short = Elsewhere::new(&x[1..]);
        let (mut y, mut indices) = (vec![0.0f32; x.len() / 2], vec![0i64; x.len() / 2]);
        let stream = Stream::new(plan, 64 << 20).source(&mut short).sink(&mut y).sink(&mut indices);
        let run = wait(stream.run(&on.device));
        assert!(matches!(run, Err(ExecuteError::Source { first: 0, elements: 16384, .. })), "{run:?}");
    }
}

/// Calls an end, but never returns from the last of so many calls.
struct Stuck<'a, S> {
    end: S,
    calls: &'a AtomicUsize,
    last: usize,
}

impl<S> Stuck<'_, S> {
    async fn count(&mut self) {
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
            pending().await
        }
    }
}

impl<S: AsyncSource> AsyncSource for Stuck<'_, S> {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            self.count().await;
            self.end.read_async(offset, bytes).await
        })
    }
}

impl<S: AsyncSink> AsyncSink for Stuck<'_, S> {
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            self.count().await;
            self.end.write_async(offset, bytes).await
        })
    }
}

/// More calls than there are.
const NEVER: usize = usize::MAX;

#[test]
fn a_run_that_is_dropped_in_a_call_leaves_the_device_as_it_was() {
    for on in On::each() {
        let x = tensor::<f32>(&[8, 2, 16, 16]);
        let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
        let expected = reference::max_pool(&plan, x.view()).unwrap();
        let budget = on.either(24 << 10, 6 << 10);
        let device = &on.device;
        let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for (last_read, last_write) in [(1, NEVER), (2, NEVER), (4, NEVER), (NEVER, 1), (NEVER, 2), (NEVER, 3)] {
            let mut source = Stuck { end: x.view(), calls: &reads, last: last_read };
            let mut sink =
                Stuck { end: Elsewhere::<f32>::empty(expected.data().len()), calls: &writes, last: last_write };
            reads.store(0, Ordering::Relaxed);
            writes.store(0, Ordering::Relaxed);
            let mut run = pin!(Stream::new(plan.clone(), budget).source(&mut source).sink(&mut sink).run(device));
            let stuck = || reads.load(Ordering::Relaxed) == last_read || writes.load(Ordering::Relaxed) == last_write;
            wait(poll_fn(|context| {
                let polled = run.as_mut().poll(context);
                assert!(polled.is_pending(), "{polled:?}");
                if stuck() { Poll::Ready(()) } else { Poll::Pending }
            }));
            let (mut view, mut y) = (x.view(), vec![0.0f32; expected.data().len()]);
            // While the first run is stuck, another one is not.
            wait(Stream::new(plan.clone(), budget).source(&mut view).sink(&mut y).run(device)).unwrap();
            assert_eq!(bits(&y), bits(expected.data()));
        }
        let (mut view, mut y) = (x.view(), vec![0.0f32; expected.data().len()]);
        Stream::new(plan.clone(), budget).source(&mut view).sink(&mut y).run_blocking(device).unwrap();
        assert_eq!(bits(&y), bits(expected.data()));
    }
}

/// The reference on a device that has computed when it is asked for the second time.
struct OnePollLater;

impl Backend for OnePollLater {
    fn name(&self) -> String {
        "one poll later".to_owned()
    }

    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move { Ok(Arc::new(RunOnePollLater(plan)) as Arc<dyn PreparedPlan>) })
    }

    fn run_blocking(&self, plan: &Plan, x: &[TensorRef<'_>], y: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        Reference.run_blocking(plan, x, y)
    }
}

struct RunOnePollLater(Plan);

impl PreparedPlan for RunOnePollLater {
    fn plan(&self) -> &Plan {
        &self.0
    }

    fn kernel(&self) -> String {
        OnePollLater.name()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
        let mut asked = false;
        Box::pin(poll_fn(move |context| {
            if replace(&mut asked, true) {
                return Poll::Ready(self.run_blocking(inputs, outputs));
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        Reference.run_blocking(&self.0, inputs, outputs)
    }
}

/// An end that does something before each of its calls.
struct Told<'a, S: ?Sized, F> {
    end: &'a mut S,
    before_call: F,
}

impl<S: AsyncSource + ?Sized, F: FnMut() + Send> AsyncSource for Told<'_, S, F> {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        (self.before_call)();
        self.end.read_async(offset, bytes)
    }
}

impl<S: AsyncSink + ?Sized, F: FnMut() + Send> AsyncSink for Told<'_, S, F> {
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error> {
        (self.before_call)();
        self.end.write_async(offset, bytes)
    }
}

#[test]
fn a_tile_is_read_while_another_is_computed() {
    let x = tensor::<f32>(&[8, 2, 16, 16]);
    let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    let expected = reference::max_pool(&plan, x.view()).unwrap();
    let written_at_reads = |backend: &dyn Backend| {
        let (mut view, mut y) = (x.view(), vec![0.0f32; expected.data().len()]);
        let (writes, mut written_at_reads) = (AtomicUsize::new(0), Vec::new());
        let mut source = Told { end: &mut view, before_call: || written_at_reads.push(writes.load(Ordering::Relaxed)) };
        let mut sink = Told { end: &mut y, before_call: || _ = writes.fetch_add(1, Ordering::Relaxed) };
        wait(Stream::new(plan.clone(), 6 << 10).source(&mut source).sink(&mut sink).run(backend)).unwrap();
        assert_eq!(bits(&y), bits(expected.data()));
        written_at_reads
    };
    let in_turn: Vec<usize> = (0..4).collect();
    assert_eq!(written_at_reads(&Reference), in_turn);
    let overlapping: Vec<usize> = in_turn.iter().map(|&tile| tile.saturating_sub(1)).collect();
    assert_eq!(written_at_reads(&OnePollLater), overlapping);
}

/// The maxima of neighbouring pairs, which the device computes for each read.
struct Pairs<'a> {
    device: &'a Device,
    of: &'a [f32],
}

impl AsyncSource for Pairs<'_> {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            let pairs = &self.of[2 * offset as usize / size_of::<f32>()..][..2 * bytes.len() / size_of::<f32>()];
            let shape = [1, 1, pairs.len()];
            let x = TensorView::new(&shape, pairs).map_err(io::Error::other)?;
            let y = MaxPool::new([2]).strides([2]).on(x).run(&self.device).await.map_err(io::Error::other)?;
            bytes.copy_from_slice(bytemuck::cast_slice(y.data()));
            Ok(())
        })
    }
}

#[test]
fn a_source_may_compute_on_the_device_of_its_run() {
    for on in On::each() {
        let x: Vec<f32> = (0..1 << 14).map(|number| (number * 7919 % 1000) as f32).collect();
        let plan = MaxPool::new([3]).strides([3]).plan(&[1, 1, x.len() / 2], DType::F32, None).unwrap();
        let device = &on.device;
        let (mut pairs, mut y) = (Pairs { device, of: &x }, vec![0.0f32; plan.output_shape()[2]]);
        let stream = Stream::new(plan, on.either(24 << 10, 6 << 10)).source(&mut pairs).sink(&mut y);
        let report = wait(stream.run(device)).unwrap();
        let largest = |six: &[f32]| six.iter().copied().fold(f32::MIN, f32::max);
        assert_eq!(y, x.chunks_exact(6).map(largest).collect::<Vec<_>>());
        assert!(report.tiles > 2, "{report:?}");
    }
}
