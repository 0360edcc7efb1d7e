//! The GPU as a backend: every call that reads and writes host memory ends here.

use std::sync::Arc;

use wgpu_pooling_plan::internal::{check_operands, step_by_step, zeros};
use wgpu_pooling_plan::{
    Backend, BoxFuture, ExecuteError, Plan, PlanError, PreparedPlan, Reference, Stream, TensorMut, TensorRef,
};

use super::chain::Chain;
use super::gpu::Gpu;
use super::prepare::Prepared;
use super::results::Results;
use crate::gpu::prepared::preparation::ScratchOwner;
use crate::report::Report;
use crate::schedule::STORAGE_BUFFERS;
use crate::tiles::{TileBytes, stream_bytes};

/// The budget of a call whose tensors exceed the device's limits: a number of its largest bindings, and a limit in
/// bytes.
const OWN_BINDINGS: u64 = 4;
const OWN_BUDGET: u64 = 1 << 30;

impl Prepared {
    async fn compute(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        check_operands(self.schedule().plan(), inputs, outputs)?;
        self.compute_checked(inputs, outputs).await
    }

    /// Uploads the inputs, computes, and reads the outputs back: in one submit, unless a watchdog could stop it. The
    /// tensors have to match the plan.
    async fn compute_checked(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        // Without outputs there is nothing to compute.
        if self.schedule().dispatches.is_empty() {
            return Ok(());
        }
        let chain = self.gpu.chain();
        let mut chain = if self.is_tile { chain.on_its_own() } else { chain.one_shot() };
        let mut tensors = Vec::with_capacity(inputs.len());
        for (&x, spec) in inputs.iter().zip(self.schedule().plan().inputs()) {
            tensors.push(chain.upload(x, spec.layout)?);
        }
        let tensors = chain.record(self, &tensors.iter().collect::<Vec<_>>(), &[])?;
        let places = tensors.iter().map(|tensor| chain.read_back_bytes(tensor)).collect::<Result<Vec<_>, _>>()?;
        only_step(chain).await?.write(&places, outputs)
    }

    /// Checks the report in [`Buffers::report`](crate::Buffers::report), which the caller has read back:
    /// [`Report::check`] with the plan of this preparation. If there were bad indices, Y still has the values of the
    /// good indices.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] if there were bad indices;
    /// [`ExecuteError::OperatorMismatch`] if this is a pool, which has no report.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Prepared, Report};
    /// # fn f(unpool: Prepared, read_back: &[u8]) -> Result<(), ExecuteError> {
    /// let report = Report::from_bytes(read_back).expect("32 bytes");
    /// unpool.read_report(report)?;
    /// println!("every index was good");
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_report(&self, report: impl Into<Report>) -> Result<(), ExecuteError> {
        report.into().check(self.schedule().plan())
    }
}

impl PreparedPlan for Prepared {
    fn plan(&self) -> &Plan {
        self.schedule().plan()
    }

    fn kernel(&self) -> String {
        self.schedule().kernel()
    }

    fn device_bytes(&self) -> u64 {
        TileBytes::of(self.schedule()).device
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
        Box::pin(self.compute(inputs, outputs))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().compute(inputs, outputs))
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        let info = self.adapter_info();
        let driver = format!("{} {}", info.driver, info.driver_info);
        let parts = [info.name, info.backend.to_string(), format!("{:?}", info.device_type), driver];
        // Drivers may have line breaks in their names, and browsers do not name drivers.
        let words = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        words.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move { Ok(Arc::new(Gpu::prepare(self, plan).await?) as Arc<dyn PreparedPlan>) })
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> BoxFuture<'a, ()> {
        Box::pin(self.compute(plan, inputs, outputs))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        pollster::block_on(self.polling().compute(plan, inputs, outputs))
    }

    fn check_alive(&self) -> Result<(), ExecuteError> {
        self.inner.device.check_alive()
    }

    fn stream_bytes(&self, tile: &Plan) -> Result<u64, PlanError> {
        stream_bytes(tile, &self.inner.device.limits)
    }

    fn prepare_tile(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move {
            let prepared = self.prepare_chosen(plan, &[], ScratchOwner::Own).await?;
            Ok(Arc::new(Prepared { is_tile: true, ..prepared }) as Arc<dyn PreparedPlan>)
        })
    }
}

impl Gpu {
    /// A call through the plan cache. If the tensors exceed the device's limits, a composition is computed step by
    /// step, with what lies between in memory of the host, and anything else in tiles.
    async fn compute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        check_operands(plan, inputs, outputs)?;
        let whole = async {
            let prepared = self.prepare_cached(plan, true).await?;
            prepared.compute_checked(inputs, outputs).await
        };
        match whole.await {
            Err(error) if exceeds_limits(&error) => {}
            other => return other,
        }
        match plan {
            Plan::Composition(composition) => {
                let context = (self, composition);
                step_by_step(composition, inputs, outputs, context, |(gpu, composition), step, inputs, outputs| {
                    gpu.run(&composition.steps[step].plan, inputs, outputs)
                })
                .await
            }
            // The host has both tensors, and subtracts them in less time than they take to the device and back.
            Plan::Difference(_) => Reference.run(plan, inputs, outputs).await,
            // Boxed, so that this future is not as large.
            _ => Box::pin(self.run_in_tiles(plan, inputs, outputs)).await,
        }
    }

    /// A plan whose tensors exceed the device's limits: a stream over the caller's memory.
    async fn run_in_tiles(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        let limits = &self.inner.device.limits;
        let binding = limits.max_binding_bytes.min(limits.max_buffer_bytes);
        let (mut inputs, mut made) = (inputs.to_vec(), Vec::with_capacity(outputs.len()));
        // Outputs that an error leaves as they are get their elements at the end.
        for (output, spec) in outputs.iter().zip(plan.outputs()) {
            let bytes = if output.is_fresh() { 0 } else { spec.bytes() };
            made.push(zeros::<u8>(&[usize::try_from(bytes).unwrap_or(usize::MAX)])?);
        }
        let mut sinks = Vec::with_capacity(outputs.len());
        for (output, made) in outputs.iter_mut().zip(&mut made) {
            let (dtype, shape) = (output.dtype(), output.shape());
            sinks.push(if output.is_fresh() { output.reborrow() } else { TensorMut::new(dtype, shape, made)? });
        }
        let mut stream = Stream::new(plan.clone(), binding.saturating_mul(OWN_BINDINGS).min(OWN_BUDGET));
        for input in &mut inputs {
            stream = stream.source(input);
        }
        for sink in &mut sinks {
            stream = stream.sink(sink);
        }
        // Calls of a handle that polls wait in their first poll, so that no two tiles would be in flight.
        stream.run(&Gpu { polls: false, ..self.clone() }).await?;
        drop(sinks);
        outputs.iter_mut().zip(&made).filter(|(output, _)| !output.is_fresh()).try_for_each(|(y, made)| y.put(made))
    }
}

/// Runs a chain of one step, whose error is returned without the step's number.
async fn only_step(chain: Chain) -> Result<Results, ExecuteError> {
    let results = chain.submit()?.finished().await?;
    match results.first_report()? {
        None => Ok(results),
        Some((_, error)) => Err(error),
    }
}

/// Whether a plan failed because a tensor is too large for one schedule on this device. A kernel that binds too many
/// buffers does so for smaller tensors too.
fn exceeds_limits(error: &ExecuteError) -> bool {
    matches!(error, ExecuteError::Plan(PlanError::ExceedsLimit { what, .. }) if *what != STORAGE_BUFFERS)
}
