//! The values that planning hands to the device: schedules, their dispatches, and limits.

use wgpu_pooling_plan::{OutsideWindow, Plan, PlanError};

use crate::family::{Build, Family};
use crate::kernel::{Binding, Operand};
use crate::report::Report;
use crate::tables::Tables;
use crate::wgsl::key::KernelKey;

/// The name of the limit of a kernel's bindings in errors.
pub(crate) const STORAGE_BUFFERS: &str = "max_storage_buffers";

/// What errors call the size of an operand's buffer, and the size of its binding.
fn bytes_of(operand: Operand) -> [&'static str; 2] {
    macro_rules! bytes_of {
        ($field:literal) => {
            [concat!("bytes of ", $field, " (max_buffer_bytes)"), concat!("bytes of ", $field, " (max_binding_bytes)")]
        };
    }
    match operand {
        Operand::X => bytes_of!("x"),
        Operand::Y => bytes_of!("y"),
        Operand::Indices => bytes_of!("indices"),
        Operand::IndicesOut => bytes_of!("indices_out"),
        Operand::Report => bytes_of!("report"),
        Operand::Tables => bytes_of!("window tables"),
        Operand::Scratch(_) => bytes_of!("scratch"),
    }
}

/// The most loop iterations of one submit, summed over all invocations, in calls that can split their work into several
/// submits: drivers' watchdogs reset a device after about two seconds.
pub(crate) const MAX_WORK: u64 = 1 << 31;

/// The alignment of each uniform, and of the tables, in the buffer of constants: no device requires more.
const CONSTANTS_ALIGNMENT: usize = 256;

/// The limits of a device that schedules depend on.
///
/// ```
/// use wgpu_pooling::Limits;
/// assert_eq!(Limits::WEBGPU.max_binding_bytes, 128 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    /// The largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// The largest storage binding, in bytes.
    pub max_binding_bytes: u64,
    /// The most workgroups along one dimension of a dispatch.
    pub max_workgroups_per_dimension: u32,
    /// The most storage buffers that a kernel can bind.
    pub max_storage_buffers: u32,
    /// Whether the adapter is software (wgpu's `DeviceType::Cpu`). It decides which kernels are fast, and never a
    /// result: a GPU reads memory for many neighbouring invocations at once, a CPU runs a few of them at a time.
    pub software: bool,
}

impl Limits {
    /// The limits that every WebGPU device has, for a GPU.
    ///
    /// ```
    /// use wgpu_pooling::Limits;
    /// let larger = Limits { max_binding_bytes: 1 << 30, ..Limits::WEBGPU };
    /// assert_eq!((larger.max_storage_buffers, larger.max_workgroups_per_dimension), (8, 65_535));
    /// ```
    pub const WEBGPU: Limits = Limits {
        max_buffer_bytes: 256 << 20,
        max_binding_bytes: 128 << 20,
        max_workgroups_per_dimension: 65_535,
        max_storage_buffers: 8,
        software: false,
    };
}

/// The range of a buffer that a dispatch binds.
///
/// ```
/// use wgpu_pooling::{select, BoundRange, Choice, DType, Limits, MaxPool, Operand};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let bound: Vec<BoundRange> = schedule.dispatches()[0].bindings().map(|(_, range)| range).collect();
/// assert_eq!((bound[0].operand, bound[0].offset, bound[0].bytes), (Operand::X, 0, None), "all of X");
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundRange {
    /// The buffer.
    pub operand: Operand,
    /// The offset in bytes, a multiple of 256.
    pub offset: u64,
    /// The length in bytes; `None` for all of the buffer.
    pub bytes: Option<u64>,
}

impl BoundRange {
    pub(crate) fn whole(operand: Operand) -> BoundRange {
        BoundRange { operand, offset: 0, bytes: None }
    }
}

/// One dispatch: a kernel, its uniform, its buffers and its grid.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Dispatch, Limits, MaxPool};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let dispatch: &Dispatch = &schedule.dispatches()[0];
/// assert!(dispatch.key().name().starts_with("pool f32"));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    pub(crate) key: KernelKey,
    pub(crate) uniform: Vec<u8>,
    /// The bound ranges of the dispatch, in the order of the key's bindings.
    pub(crate) operands: Vec<BoundRange>,
    pub(crate) grid: [u32; 3],
    pub(crate) iterations: u64,
    pub(crate) effort: Effort,
}

/// What an invocation of a dispatch does, as far as it decides which family is selected (src/select/cost.rs).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Effort {
    /// Vector operations.
    pub operations: f64,
    /// Lines of cache that its loads touch. Neighbouring invocations that load from one line share it.
    pub lines: f64,
    /// How often it waits for loads, one after the other.
    pub waits: f64,
}

impl Dispatch {
    pub(crate) fn new(
        key: KernelKey,
        uniform: &impl bytemuck::NoUninit,
        operands: Vec<BoundRange>,
        grid: [u32; 3],
        iterations: u64,
    ) -> Dispatch {
        Dispatch {
            key,
            uniform: bytemuck::bytes_of(uniform).to_vec(),
            operands,
            grid,
            iterations,
            effort: Effort::default(),
        }
    }

    pub(crate) fn with(self, effort: Effort) -> Dispatch {
        Dispatch { effort, ..self }
    }

    /// The kernel.
    pub fn key(&self) -> &KernelKey {
        &self.key
    }

    /// The name of the entry point in the kernel's text.
    pub fn entry_point(&self) -> &'static str {
        "main"
    }

    /// The invocations of a workgroup along x, y and z, which the kernel's text says too.
    pub fn workgroup_size(&self) -> [u32; 3] {
        [self.key.workgroup(), 1, 1]
    }

    /// The contents of the uniform buffer, which is binding 0 of group 0: words in the byte order of this machine.
    pub fn uniform(&self) -> &[u8] {
        &self.uniform
    }

    /// The storage bindings of group 0, each with the range of the buffer that is bound, in the order of their numbers.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool, Operand};
    ///
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 128, 128], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// let bound: Vec<(u32, Operand)> =
    ///     schedule.dispatches()[0].bindings().map(|(binding, range)| (binding.number, range.operand)).collect();
    /// assert_eq!(bound, [(1, Operand::X), (2, Operand::Y)]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn bindings(&self) -> impl Iterator<Item = (Binding, BoundRange)> + '_ {
        self.key.bindings().iter().copied().zip(self.operands.iter().copied())
    }

    /// Workgroups along x, y and z.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// The most loop iterations, summed over all invocations. Submits are split by this number so that no watchdog
    /// resets the device.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool};
    ///
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// let dispatch = &schedule.dispatches()[0];
    /// assert_eq!(dispatch.work() % 64, 0, "one workgroup of 64");
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn work(&self) -> u64 {
        self.invocations().saturating_mul(self.iterations.max(1))
    }

    /// The invocations of the grid.
    pub(crate) fn invocations(&self) -> u64 {
        self.grid.into_iter().map(u64::from).fold(crate::kernel::WORKGROUP, u64::saturating_mul)
    }

    /// The most loop iterations of one invocation, summed over all its loops.
    #[doc(hidden)]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }
}

/// The dispatches of a plan on a device with given limits: a value that can be printed, compared and tested without a
/// device.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// assert_eq!(schedule.family(), Family::Direct);
/// assert_eq!(schedule.bytes_moved(), 4 * (16 + 9));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Schedule {
    pub(crate) plan: Plan,
    pub(crate) family: Family,
    /// The families of the later steps of a composition, each with the number of its first dispatch.
    pub(crate) later_families: Vec<(usize, Family)>,
    pub(crate) build: Build,
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) tables: Tables,
    pub(crate) scratch: Vec<u64>,
    pub(crate) clears_scratch: bool,
}

impl Schedule {
    /// A schedule without dispatches.
    pub(crate) fn new(plan: Plan, family: Family, build: Build) -> Schedule {
        let (dispatches, tables, scratch) = (Vec::new(), Tables::default(), Vec::new());
        let later_families = Vec::new();
        Schedule { plan, family, later_families, build, dispatches, tables, scratch, clears_scratch: false }
    }

    /// The plan that the schedule computes.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// This schedule with X and the input indices bound as writable storage, although no kernel writes to them.
    ///
    /// WebGPU does not permit a dispatch to bind a buffer once as read-only and once as writable storage, even if the
    /// ranges do not overlap. A program whose tensors are ranges of one large buffer, as in a memory pool, takes this
    /// schedule; then X, Y, Indices and the report may all lie in one buffer, as long as they do not overlap. Scratch
    /// memory lies elsewhere.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool, Operand};
    ///
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 8], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?.with_writable_inputs();
    /// for (binding, range) in schedule.dispatches().iter().flat_map(|dispatch| dispatch.bindings()) {
    ///     assert!(!binding.read_only || range.operand == Operand::Tables);
    /// }
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn with_writable_inputs(mut self) -> Self {
        for dispatch in &mut self.dispatches {
            dispatch.key = dispatch.key.with_writable_inputs();
        }
        self
    }

    /// Whether X and the input indices are bound as writable storage.
    pub fn writable_inputs(&self) -> bool {
        self.dispatches.iter().any(|dispatch| dispatch.key.kernel().writable_inputs)
    }

    /// The kernel family; of a composition that of its first step.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The kernel family of a dispatch, by its number: of a composition that of the step that it belongs to.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Family, Limits, Open};
    ///
    /// let plan = Open::new([3]).plan(&[1, 1, 9], DType::U8, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice { family: Some(Family::Separable), build: None })?;
    /// assert_eq!(schedule.family_of(schedule.dispatches().len() - 1), Family::Separable);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn family_of(&self, dispatch: usize) -> Family {
        let begun = self.later_families.iter().rev().find(|(first, _)| *first <= dispatch);
        begun.map_or(self.family, |(_, family)| *family)
    }

    /// How the kernels get their windows. A composition is specialised if one of its steps is.
    pub fn build(&self) -> Build {
        self.build
    }

    /// The schedule's name: operator, family (of a composition those of all steps), type, build and number of
    /// dispatches.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, TopHat};
    ///
    /// let plan = TopHat::new([3]).plan(&[1, 1, 9], DType::U8, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.kernel(), "top_hat direct+direct+direct u8 generic (3 dispatches)");
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn kernel(&self) -> String {
        let (operator, types) = (self.plan.operator(), self.plan.outputs()[0].dtype.name());
        let passes = match self.dispatches.len() {
            1 => "1 dispatch".to_owned(),
            many => format!("{many} dispatches"),
        };
        let build = match self.build {
            Build::Generic => "generic",
            Build::Specialised => "specialised",
        };
        let families = [self.family].into_iter().chain(self.later_families.iter().map(|(_, family)| *family));
        let families: Vec<_> = families.map(Family::name).collect();
        format!("{operator} {} {types} {build} ({passes})", families.join("+"))
    }

    /// The dispatches, in order.
    pub fn dispatches(&self) -> &[Dispatch] {
        &self.dispatches
    }

    /// The dispatches in slices. A slice has at most 2^31 loop iterations, or is a single dispatch. One-shot calls
    /// submit slice by slice, so that no driver's watchdog resets the device; a chain and a caller's encoder take all
    /// slices at once.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool};
    ///
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.slices(), [0..1]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn slices(&self) -> Vec<core::ops::Range<usize>> {
        let mut slices: Vec<core::ops::Range<usize>> = Vec::new();
        let mut work = 0u64;
        for ((number, dispatch), end) in self.dispatches.iter().enumerate().zip(1..) {
            work = work.saturating_add(dispatch.work());
            match slices.last_mut() {
                Some(slice) if work <= MAX_WORK => slice.end = end,
                _ => {
                    slices.push(number..end);
                    work = dispatch.work();
                }
            }
        }
        slices
    }

    /// The contents of the buffer of constants: the uniform of each dispatch, then the window tables. Fails where the
    /// host lacks the memory for tables that fit the device.
    #[cfg(feature = "gpu")]
    pub(crate) fn constants(&self) -> Result<Vec<u8>, std::collections::TryReserveError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(self.constants_bytes()).unwrap_or(usize::MAX))?;
        for dispatch in &self.dispatches {
            bytes.extend_from_slice(&dispatch.uniform);
            bytes.resize(bytes.len().next_multiple_of(CONSTANTS_ALIGNMENT), 0);
        }
        self.tables.fill(&mut bytes);
        Ok(bytes)
    }

    /// The contents of [`Operand::Tables`]: words in the byte order of this machine.
    ///
    /// # Errors
    /// Where the host lacks the memory for tables that fit the device.
    ///
    /// ```
    /// use wgpu_pooling::{select, AdaptiveMaxPool, Choice, DType, Limits, Operand};
    ///
    /// let plan = AdaptiveMaxPool::new([3]).plan(&[1, 1, 70_000], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// let bytes = schedule.window_tables().map_or(0, |tables| tables.len() as u64);
    /// assert_eq!(schedule.operand_bytes(Operand::Tables), Some(bytes));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn window_tables(&self) -> Result<Vec<u8>, std::collections::TryReserveError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(self.tables.bytes()).unwrap_or(usize::MAX))?;
        self.tables.fill(&mut bytes);
        Ok(bytes)
    }

    /// The offset of each dispatch's uniform in the buffer of constants, then the offset of the tables.
    pub(crate) fn constants_offsets(&self) -> impl Iterator<Item = u64> + '_ {
        let sizes = self.dispatches.iter().map(|dispatch| dispatch.uniform.len().next_multiple_of(CONSTANTS_ALIGNMENT));
        core::iter::once(0).chain(sizes.scan(0, |end: &mut u64, size| {
            *end = end.saturating_add(size as u64);
            Some(*end)
        }))
    }

    /// The bytes of the constants.
    pub(crate) fn constants_bytes(&self) -> u64 {
        self.constants_offsets().last().unwrap_or(0).saturating_add(self.tables.bytes())
    }

    /// The shape of Y.
    pub fn output_shape(&self) -> &[usize] {
        &self.plan.outputs()[0].shape
    }

    /// Whether the dispatches add to the report without clearing it first, as an unpool does under
    /// [`OutsideWindow::Error`](crate::OutsideWindow::Error). The caller clears such a report before the first run and
    /// after reading it. It keeps the first position and the count (modulo 2^32) over all runs. Several such unpools
    /// may share a report, which then has their total count and smallest position, but does not say which unpool it is
    /// from. Any other unpool clears its report first, and needs its own.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, IndexType, Limits, MaxUnpool, OutsideWindow};
    ///
    /// for (rule, keeps) in [(OutsideWindow::Error, true), (OutsideWindow::Scatter, false)] {
    ///     let unpool = MaxUnpool::new([2]).strides([2]).outside_window(rule);
    ///     let plan = unpool.plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    ///     assert_eq!(select(&plan, &Limits::WEBGPU, &Choice::default())?.keeps_report(), keeps);
    /// }
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn keeps_report(&self) -> bool {
        let reports = matches!(&self.plan, Plan::Unpool(plan) if plan.outside_window == OutsideWindow::Error);
        reports && self.family == Family::Gather
    }

    /// Whether a device with these limits can run the schedule. A schedule from [`select`](crate::select()) for the
    /// same limits always can.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] names the buffer, binding or grid that is too large.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool};
    ///
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.check(&Limits::WEBGPU), Ok(()));
    /// assert!(schedule.check(&Limits { max_buffer_bytes: 8, ..Limits::WEBGPU }).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn check(&self, limits: &Limits) -> Result<(), PlanError> {
        if self.dispatches.is_empty() {
            return Ok(());
        }
        let scratch = (0..self.scratch.len()).map(Operand::Scratch);
        let operands = [Operand::X, Operand::Y, Operand::Indices, Operand::IndicesOut];
        for operand in operands.into_iter().chain(scratch) {
            let [in_a_buffer, _] = bytes_of(operand);
            PlanError::within(in_a_buffer, self.operand_bytes(operand).unwrap_or(0), limits.max_buffer_bytes)?;
        }
        let constants = "bytes of uniforms and window tables (max_buffer_bytes)";
        PlanError::within(constants, self.constants_bytes(), limits.max_buffer_bytes)?;
        for range in self.dispatches.iter().flat_map(|dispatch| &dispatch.operands) {
            let [_, in_a_binding] = bytes_of(range.operand);
            let bytes = range.bytes.or_else(|| self.operand_bytes(range.operand)).unwrap_or(0);
            PlanError::within(in_a_binding, bytes, limits.max_binding_bytes)?;
        }
        for dispatch in &self.dispatches {
            let bindings = dispatch.key.bindings().len() as u64;
            PlanError::within(STORAGE_BUFFERS, bindings, limits.max_storage_buffers.into())?;
            for groups in dispatch.grid {
                PlanError::within(
                    "max_workgroups_per_dimension",
                    groups.into(),
                    limits.max_workgroups_per_dimension.into(),
                )?;
            }
        }
        Ok(())
    }

    /// The bytes of each buffer of scratch memory, in the order in which `Buffers::scratch` takes them: intermediate
    /// results of a pool, the owners of an unpool, or what lies between the steps of a composition.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool};
    /// // A single pass needs none.
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// assert!(select(&plan, &Limits::WEBGPU, &Choice::default())?.scratch().is_empty());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn scratch(&self) -> &[u64] {
        &self.scratch
    }

    /// Whether the first dispatch only clears scratch memory. Every run leaves that memory clear: a program that keeps
    /// it for this schedule alone may leave the dispatch out of all runs but the first, and of the first one too if
    /// the buffer is new, since WebGPU clears new buffers. A `Prepared` with its own scratch memory never runs it.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, IndexType, Limits, MaxUnpool};
    ///
    /// let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert!(schedule.clears_scratch() && schedule.dispatches().len() == 3);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn clears_scratch(&self) -> bool {
        self.clears_scratch
    }

    /// The operands of the plan's inputs, in their order.
    pub fn input_operands(&self) -> &'static [Operand] {
        match &self.plan {
            Plan::Pool(_) | Plan::Composition(_) => &[Operand::X],
            Plan::Unpool(_) | Plan::Difference(_) => &[Operand::X, Operand::Indices],
        }
    }

    /// The operands of the plan's outputs, in their order.
    pub fn output_operands(&self) -> &'static [Operand] {
        match &self.plan {
            Plan::Pool(_) => &[Operand::Y, Operand::IndicesOut],
            _ => &[Operand::Y],
        }
    }

    /// The bytes of an operand's tensor on the device; `None` if the plan has no such tensor.
    fn tensor_bytes(&self, operand: Operand) -> Option<u64> {
        let inputs = self.input_operands().iter().zip(self.plan.inputs());
        let mut tensors = inputs.chain(self.output_operands().iter().zip(self.plan.outputs()));
        tensors.find(|(own, _)| **own == operand).map(|(_, tensor)| tensor.device_bytes())
    }

    /// The buffers that the dispatches bind, each once.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, IndexType, Limits, MaxPool, Operand};
    ///
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 128, 128], DType::F32, Some(IndexType::I64))?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.operands(), [Operand::X, Operand::Y, Operand::IndicesOut]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn operands(&self) -> Vec<Operand> {
        let mut operands = Vec::new();
        for range in self.dispatches.iter().flat_map(|dispatch| &dispatch.operands) {
            if !operands.contains(&range.operand) {
                operands.push(range.operand);
            }
        }
        operands
    }

    /// Whether the dispatches write a report: not those of pools, whose data cannot be invalid, nor those of unpools
    /// that skip bad indices without noting them.
    fn reports(&self) -> bool {
        let reports = self.dispatches.is_empty() || self.operands().contains(&Operand::Report);
        reports && matches!(&self.plan, Plan::Unpool(plan) if plan.outside_window != OutsideWindow::Skip)
    }

    /// The bytes of an operand's buffer: whole words, and at least those of one element, since a binding cannot be
    /// empty; `None` if the schedule has no such buffer.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool, Operand};
    ///
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 5], DType::U8, None)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.operand_bytes(Operand::X), Some(8), "five bytes, in whole words");
    /// assert_eq!(schedule.operand_bytes(Operand::Report), None);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn operand_bytes(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Report => self.reports().then_some(Report::BYTES),
            Operand::Tables => Some(self.tables.bytes()),
            Operand::Scratch(number) => self.scratch.get(number).copied(),
            _ => self.tensor_bytes(operand),
        }
    }

    /// The bytes of all buffers of [`scratch`](Schedule::scratch) memory together.
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch.iter().copied().fold(0, u64::saturating_add)
    }

    /// The fewest bytes that the plan must move: inputs once, outputs once.
    pub fn bytes_moved(&self) -> u64 {
        self.plan.bytes()
    }
}
