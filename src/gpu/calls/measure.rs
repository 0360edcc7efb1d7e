//! How long each kernel that computes a plan takes on the device.

use core::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;

use wgpu_pooling_plan::{ExecuteError, IndexType, Layout, Plan, PlanError, TensorView, UnpoolPlan};

use super::device_tensor::DeviceTensor;
use super::gpu::Gpu;
use super::prepare::Prepared;
use crate::gpu::prepared::preparation::ScratchOwner;
use crate::select::{Choice, families};

/// Each kernel takes its turn in as many rounds, and the best one counts.
const ROUNDS: usize = 5;

/// How long the runs of a round should take together, and how many there are at most.
const ENOUGH: Duration = Duration::from_millis(10);
const MOST_RUNS: u32 = 64;

/// A kernel whose first run takes so many times as long as the fastest one gets no further runs.
const HOPELESS: u32 = 8;

/// A choice of kernels for a plan or a step of one, and how long it takes on a device ([`Gpu::measure`]).
///
/// ```no_run
/// # fn f(measured: &[wgpu_pooling::ChoiceTime]) {
/// for kernels in measured {
///     println!("{:?}: {:?}", kernels.choice, kernels.duration);
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceTime {
    /// The number of the step that was timed, from 0; 0 where a plan has one step.
    pub step: usize,
    /// The family and the build, for [`Gpu::with_choice`] and [`select`](crate::select()).
    pub choice: Choice,
    /// The time of one run: by the device's clock on devices with timestamps, otherwise from submitting runs to their
    /// end, with a share of what a submit takes.
    pub duration: Duration,
}

/// A choice that applies, and the best of its runs so far.
struct Candidate {
    choice: Choice,
    prepared: Prepared,
    best: Duration,
    runs: u32,
}

impl Gpu {
    /// Times every kernel that can compute a plan on this device, in all builds: the choices, fastest first. All of
    /// them give the same bits (but for which of equal indices wins under
    /// [`Duplicates::Any`](crate::Duplicates::Any)), so a program may keep whichever is fastest where it runs.
    /// Nothing is kept here, and no later call changes.
    ///
    /// Each step of a composition is timed by itself, and the choices of the first step come first. The fastest of each
    /// step are a list for [`Gpu::with_choice`].
    ///
    /// This compiles all of these kernels and runs each several times, on tensors of its own: elements are zero, and
    /// the indices of an unpool are those of a pool. It takes seconds, and longer where a kernel is slow for the
    /// plan. A plan without outputs has no kernels.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the plan exceeds the device's limits; otherwise the errors of compiling, allocating
    /// and running.
    ///
    /// ```no_run
    /// # async fn f(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = MaxPool::new([5, 5]).strides([3, 3]).plan(&[8, 64, 112, 112], DType::F32, None)?;
    /// let measured = gpu.measure(&plan).await?;
    /// let prepared = gpu.with_choice(measured[0].choice).prepare(plan).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn measure(&self, plan: &Plan) -> Result<Vec<ChoiceTime>, ExecuteError> {
        let Plan::Composition(composition) = plan else { return self.measure_step(plan, 0).await };
        let mut measured = Vec::new();
        for (number, step) in composition.steps.iter().enumerate() {
            measured.extend(self.measure_step(&step.plan, number).await?);
        }
        Ok(measured)
    }

    async fn measure_step(&self, plan: &Plan, step: usize) -> Result<Vec<ChoiceTime>, ExecuteError> {
        let mut candidates = self.candidates(plan).await?;
        if candidates.is_empty() {
            // The error of a plan that no kernel computes.
            let prepared = self.prepare_chosen(plan.clone(), &[], ScratchOwner::Own).await?;
            debug_assert!(prepared.schedule().dispatches().is_empty(), "a family that is selected applies");
            return Ok(Vec::new());
        }
        let inputs = self.inputs_of(plan).await?;
        let mut outputs = Vec::new();
        for spec in plan.outputs() {
            outputs.push(self.zeros(&spec.shape, spec.dtype, spec.layout).await?);
        }
        for candidate in &mut candidates {
            // Drivers finish compiling at first use: the first run is no measurement.
            self.time(candidate, &inputs, &outputs).await?;
            candidate.best = self.time(candidate, &inputs, &outputs).await?;
        }
        let fastest = candidates.iter().map(|candidate| candidate.best).min().unwrap_or_default();
        for candidate in &mut candidates {
            let runs = ENOUGH.as_nanos().checked_div(candidate.best.as_nanos()).unwrap_or(u128::MAX);
            candidate.runs = u32::try_from(runs).unwrap_or(MOST_RUNS).clamp(1, MOST_RUNS);
        }
        let hopeless = fastest.saturating_mul(HOPELESS);
        for _ in 0..ROUNDS {
            for candidate in candidates.iter_mut().filter(|candidate| candidate.best <= hopeless) {
                candidate.best = self.time(candidate, &inputs, &outputs).await?.min(candidate.best);
            }
        }
        let time = |it: &Candidate| ChoiceTime { step, choice: it.choice, duration: it.best };
        let mut measured: Vec<ChoiceTime> = candidates.iter().map(time).collect();
        measured.sort_by_key(|it| it.duration);
        Ok(measured)
    }

    /// Times every kernel that can compute a plan on this device: the blocking twin of [`Gpu::measure`].
    ///
    /// # Errors
    /// As [`Gpu::measure`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{DType, Gpu, MaxPool};
    /// let plan = MaxPool::new([2, 2]).plan(&[8, 64, 112, 112], DType::F32, None)?;
    /// println!("{:?}", Gpu::new_blocking()?.measure_blocking(&plan)?);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn measure_blocking(&self, plan: &Plan) -> Result<Vec<ChoiceTime>, ExecuteError> {
        pollster::block_on(self.polling().measure(plan))
    }

    /// Every family and build that applies, prepared.
    async fn candidates(&self, plan: &Plan) -> Result<Vec<Candidate>, ExecuteError> {
        let mut candidates = Vec::new();
        for family in families(plan, &self.limits()) {
            for &build in family.builds() {
                let choice = Choice { family: Some(family), build: Some(build) };
                match self.prepare_chosen(plan.clone(), &[choice], ScratchOwner::Own).await {
                    Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { .. } | PlanError::ExceedsLimit { .. })) => {}
                    Err(error) => return Err(error),
                    // There is one kernel for differences, whatever is chosen.
                    Ok(prepared) if prepared.schedule().build() != build => {}
                    Ok(prepared) if prepared.schedule().dispatches().is_empty() => {}
                    Ok(prepared) => candidates.push(Candidate { choice, prepared, best: Duration::ZERO, runs: 1 }),
                }
            }
        }
        Ok(candidates)
    }

    /// The time of one run, from as many runs as the candidate takes in a round.
    async fn time(
        &self,
        candidate: &Candidate,
        inputs: &[DeviceTensor],
        outputs: &[DeviceTensor],
    ) -> Result<Duration, ExecuteError> {
        let (inputs, outputs): (Vec<_>, Vec<_>) = (inputs.iter().collect(), outputs.iter().collect());
        let mut chain = self.chain().timed();
        for _ in 0..candidate.runs {
            chain.step_into(&candidate.prepared, &inputs, &outputs)?;
        }
        let begin = Instant::now();
        let results = chain.run().await?;
        let elapsed = begin.elapsed();
        let of_device = results.timings().map(|steps| steps.iter().map(|step| step.duration).sum());
        Ok(of_device.unwrap_or(elapsed).checked_div(candidate.runs).unwrap_or_default())
    }

    /// Tensors to compute on.
    async fn inputs_of(&self, plan: &Plan) -> Result<Vec<DeviceTensor>, ExecuteError> {
        let mut inputs = Vec::new();
        for (number, spec) in plan.inputs().iter().enumerate() {
            inputs.push(match plan {
                Plan::Unpool(unpool) if number == 1 => self.indices_of(unpool, spec.layout).await?,
                _ => self.zeros(&spec.shape, spec.dtype, spec.layout).await?,
            });
        }
        Ok(inputs)
    }

    /// The indices of a pool whose windows have their maxima first.
    async fn indices_of(&self, plan: &UnpoolPlan, layout: Layout) -> Result<DeviceTensor, ExecuteError> {
        let shape = plan.inputs.get(1).map_or(&[][..], |spec| &spec.shape);
        let indices = first_positions(plan, layout, plan.input_elements());
        match plan.index_type {
            IndexType::I32 => {
                // Plans are refused where 32-bit indices could overflow.
                let indices: Vec<i32> = indices.into_iter().map(|index| index as i32).collect();
                self.upload(TensorView::new(shape, &indices)?, layout).await
            }
            IndexType::I64 => self.upload(TensorView::new(shape, &indices)?, layout).await,
        }
    }
}

/// The index of the first element of each window, in the order of the index tensor.
fn first_positions(plan: &UnpoolPlan, layout: Layout, sources: u64) -> Vec<i64> {
    let strides = plan.space.strides();
    let first = |axis: usize, source: usize| {
        let window = plan.windows.as_ref().and_then(|windows| windows.get(axis));
        let extent = plan.space.extents.get(axis).copied().unwrap_or(1);
        let position = window.map_or(source as i64, |window| window.taps(source, extent).first);
        position.clamp(0, (extent as i64).saturating_sub(1).max(0))
    };
    let of = |source: u64| {
        let mut rest = source as usize;
        let mut digit = |radix: usize| {
            let digit = rest.checked_rem(radix).unwrap_or(0);
            rest = rest.checked_div(radix).unwrap_or(0);
            digit
        };
        let inner = if layout == Layout::Nhwc { digit(plan.channels) } else { 0 };
        let mut at: Vec<i64> =
            plan.x_extents.iter().enumerate().rev().map(|(axis, &extent)| first(axis, digit(extent))).collect();
        at.reverse();
        let channel = if layout == Layout::Nhwc { inner } else { digit(plan.channels) };
        strides.flat(rest, channel, &at)
    };
    (0..sources).map(of).collect()
}
