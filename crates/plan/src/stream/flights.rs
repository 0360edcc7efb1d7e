//! Tiles in flight: a backend computes one while the next is read and the last is written.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::progress::{Buffer, Running};
use crate::backend::{Backend, BoxFuture, PreparedPlan};
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::untyped::{TensorMut, TensorRef};

/// The most tiles in flight on a backend whose calls wait. On one that computes while it is polled there is one.
pub const IN_FLIGHT: u64 = 2;

/// The tensors of a tile.
#[derive(Default)]
pub(super) struct Tensors {
    pub inputs: Vec<Buffer>,
    pub outputs: Vec<Buffer>,
}

/// A tile that a backend computes. `T` tells the caller which one it is.
struct Flight<T> {
    tile: T,
    bytes: [u64; 2],
    device_bytes: u64,
    state: State,
}

enum State {
    Waiting(BoxFuture<'static, Tensors>),
    Done(Result<Tensors, ExecuteError>),
}

/// The tiles in flight, the tensors of tiles that have landed, and the preparation of the last tile. The next tile uses
/// it too if the plans of both are equal, as in most pools without indices.
pub(super) struct Flights<'b, T> {
    backend: &'b dyn Backend,
    prepared: Option<Arc<dyn PreparedPlan>>,
    idle: Vec<Tensors>,
    flights: VecDeque<Flight<T>>,
}

impl<'b, T> Flights<'b, T> {
    pub fn new(backend: &'b dyn Backend) -> Self {
        Flights { backend, prepared: None, idle: Vec::new(), flights: VecDeque::new() }
    }

    /// Prepares a tile's plan, and takes memory for its tensors.
    pub async fn prepare(
        &mut self,
        plan: &Plan,
        running: &mut Running<'_>,
    ) -> Result<(Arc<dyn PreparedPlan>, Tensors), ExecuteError> {
        let run = match self.prepared.take().filter(|prepared| prepared.plan() == plan) {
            Some(same) => same,
            // The previous preparation has been dropped before the next one is made.
            None => self.backend.prepare_tile(plan.clone()).await?,
        };
        self.prepared = Some(Arc::clone(&run));
        let mut tensors = self.idle.pop().unwrap_or_default();
        tensors.inputs.resize_with(plan.inputs().len(), Buffer::default);
        tensors.outputs.resize_with(plan.outputs().len(), Buffer::default);
        let buffers = tensors.inputs.iter_mut().chain(&mut tensors.outputs);
        for (buffer, spec) in buffers.zip(plan.inputs().iter().chain(plan.outputs())) {
            running.resize(buffer, spec.bytes())?;
        }
        Ok((run, tensors))
    }

    /// Starts computing a tile whose inputs have been read. At the first poll a device begins; a backend without a
    /// device finishes.
    pub async fn launch(&mut self, tile: T, run: Arc<dyn PreparedPlan>, tensors: Tensors, running: &mut Running<'_>) {
        let device_bytes = run.device_bytes();
        running.take_device(device_bytes);
        if device_bytes == 0 {
            running.pass_host(run.plan().bytes_between());
        }
        let sum = |buffers: &[Buffer]| buffers.iter().map(|buffer| buffer.bytes().len() as u64).sum();
        let bytes = [sum(&tensors.inputs), sum(&tensors.outputs)];
        let mut computed: BoxFuture<'static, Tensors> = Box::pin(compute(run, tensors));
        let state = match poll_fn(|context| Poll::Ready(computed.as_mut().poll(context))).await {
            Poll::Ready(done) => State::Done(done),
            Poll::Pending => State::Waiting(computed),
        };
        self.flights.push_back(Flight { tile, bytes, device_bytes, state });
    }

    /// The tile that was launched first, with its outputs: if it is computed, if no more tiles may be in flight, or if
    /// `all` are to land. [`Flights::reuse`] takes its tensors back.
    pub async fn landed(&mut self, all: bool, running: &mut Running<'_>) -> Result<Option<(T, Tensors)>, ExecuteError> {
        let done = self.flights.front().is_some_and(|flight| matches!(flight.state, State::Done(_)));
        if !(all || done || self.flights.len() as u64 >= IN_FLIGHT) {
            return Ok(None);
        }
        let Some(flight) = self.flights.pop_front() else { return Ok(None) };
        let tensors = match flight.state {
            State::Done(done) => done?,
            State::Waiting(computed) => computed.await?,
        };
        running.free_device(flight.device_bytes);
        if flight.device_bytes > 0 {
            let [up, down] = flight.bytes;
            running.report.bytes_uploaded = running.report.bytes_uploaded.saturating_add(up);
            running.report.bytes_downloaded = running.report.bytes_downloaded.saturating_add(down);
        }
        Ok(Some((flight.tile, tensors)))
    }

    /// Keeps the tensors of a written tile for the next tile.
    pub fn reuse(&mut self, tensors: Tensors) {
        self.idle.push(tensors);
    }
}

/// Computes the outputs of a plan from its inputs.
async fn compute(run: Arc<dyn PreparedPlan>, mut tensors: Tensors) -> Result<Tensors, ExecuteError> {
    let plan = run.plan();
    let inputs: Vec<TensorRef<'_>> = plan
        .inputs()
        .iter()
        .zip(&tensors.inputs)
        .map(|(spec, buffer)| TensorRef::new(spec.dtype, &spec.shape, buffer.bytes()))
        .collect::<Result<_, _>>()?;
    let mut outputs: Vec<TensorMut<'_>> = plan
        .outputs()
        .iter()
        .zip(&mut tensors.outputs)
        .map(|(spec, buffer)| Ok(TensorMut::new(spec.dtype, &spec.shape, buffer.bytes_mut())?.fresh()))
        .collect::<Result<_, ExecuteError>>()?;
    run.run(&inputs, &mut outputs).await?;
    drop(outputs);
    Ok(tensors)
}
