//! Kernels as data: everything that a kernel's text follows from, and its bindings.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType, NanPolicy, PoolPlan};

/// The input of a pass of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PassInput {
    /// The elements of X.
    Elements,
    /// The candidates of the pass before.
    Candidates,
    /// The accumulators of windows that were reduced in parts.
    Accumulators,
}

/// The output of a pass of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PassOutput {
    /// Candidates for the next pass.
    Candidates,
    /// Accumulators of windows that are reduced in parts.
    Accumulators,
    /// Y.
    Values,
    /// Y and Indices.
    ValuesAndIndices(IndexType),
}

impl PassOutput {
    /// The outputs of a pool.
    pub fn of(plan: &PoolPlan) -> PassOutput {
        plan.indices.as_ref().map_or(PassOutput::Values, |indices| PassOutput::ValuesAndIndices(indices.index_type))
    }

    /// The spelling in a kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            PassOutput::Candidates => "candidates",
            PassOutput::Accumulators => "accumulators",
            PassOutput::Values => "values",
            PassOutput::ValuesAndIndices(IndexType::I32) => "values+i32",
            PassOutput::ValuesAndIndices(IndexType::I64) => "values+i64",
        }
    }

    /// The type of the indices, if there are any.
    pub fn index_type(self) -> Option<IndexType> {
        match self {
            PassOutput::ValuesAndIndices(index_type) => Some(index_type),
            _ => None,
        }
    }
}

/// The numbers of digits into which a kernel splits a position or an output's number to find an index or its place
/// (shaders/index/digits.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IndexDigits {
    /// From a position in X to its index.
    pub index: u32,
    /// From an output's number to its place in the index tensor.
    pub store: u32,
    /// From an output's number to the index of a window without a winner; zero where every window has a winner.
    pub empty: u32,
    /// Spatial axes on which the begin of a window without a winner is clamped.
    pub clamped_axes: u32,
}

impl IndexDigits {
    /// The constants of the kernel's prelude.
    pub fn consts(self) -> [Fact; 4] {
        let IndexDigits { index, store, empty, clamped_axes } = self;
        [("INDEX_DIGITS", index), ("STORE_DIGITS", store), ("EMPTY_DIGITS", empty), ("CLAMPED_AXES", clamped_axes)]
    }
}

/// The divisions that split an output's number to find its window (shaders/core/output_windows.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PassDigits {
    /// The number of innermost axes that need a division; the axes outside them have one output.
    pub axes: u32,
    /// 1 where channels lie inside the last axis, 0 otherwise.
    pub inner: u32,
}

impl PassDigits {
    /// Every division, which is correct for every pass.
    pub const ALL: PassDigits = PassDigits { axes: 3, inner: 1 };

    /// The constants of the kernel's prelude.
    pub fn consts(self) -> [Fact; 2] {
        [("AXES", self.axes), ("INNER", self.inner)]
    }
}

/// Which shader part computes the activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ActivationKind {
    /// No activation.
    Identity,
    /// Relu and Clip: comparisons, exact.
    Clip,
    /// LeakyRelu, in f32.
    LeakyRelu,
    /// HardSigmoid, in f32.
    HardSigmoid,
    /// Tanh, in f32.
    Tanh,
    /// Sigmoid, in f32.
    Sigmoid,
}

impl ActivationKind {
    /// The name of its part in shaders/activation/activate.wgsl.
    fn name(self) -> &'static str {
        match self {
            ActivationKind::Identity => "none",
            ActivationKind::Clip => "clip",
            ActivationKind::LeakyRelu => "leaky_relu",
            ActivationKind::HardSigmoid => "hard_sigmoid",
            ActivationKind::Tanh => "tanh",
            ActivationKind::Sigmoid => "sigmoid",
        }
    }
}

/// What is so of a kernel, as a number: 0 and 1 say whether it is.
pub(crate) type Fact = (&'static str, u32);

/// A kernel as data: the shader part with its entry point, and the facts by which parts of shaders are chosen. Some of
/// the facts are constants of its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    /// The name in labels and logs.
    pub name: String,
    /// The part with `main`, in shaders/kernel.
    pub entry: &'static str,
    /// What chooses parts, beside the constants.
    pub facts: Vec<Fact>,
    /// The constants of its prelude.
    pub consts: Vec<Fact>,
    /// Whether X and the indices that it reads are declared writable.
    pub writable_inputs: bool,
}

/// The numbers of the bindings of X and of the indices that are read.
pub(crate) const INPUT_BINDINGS: [u32; 2] = [1, 3];

impl Kernel {
    /// A kernel of which nothing is known but its entry point.
    pub fn new(name: String, entry: &'static str) -> Kernel {
        Kernel { name, entry, facts: Vec::new(), consts: Vec::new(), writable_inputs: false }
    }

    /// A kernel of a pool, which writes what `sink` says.
    pub fn of_pool(
        name: String,
        entry: &'static str,
        plan: &PoolPlan,
        sink: PassOutput,
        activation: ActivationKind,
    ) -> Kernel {
        let minimum = u32::from(plan.reduction == Reduction::Min);
        let writes = sink.index_type().map_or(0, |index_type| index_type.bytes() as u32);
        Kernel::new(name, entry).of(plan.dtype()).activated(activation).with([("MIN", minimum), ("WRITES", writes)])
    }

    /// The kernel of elements of this type.
    pub fn of(self, dtype: DType) -> Kernel {
        let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
        let (bytes, float) = (dtype.bytes() as u32, dtype.is_float());
        self.with([("BYTES", bytes), ("FLOAT", float.into()), ("SIGNED", signed.into()), (dtype.name(), 1)])
    }

    /// The kernel with an activation of what it writes.
    pub fn activated(self, activation: ActivationKind) -> Kernel {
        self.with([(activation.name(), 1)])
    }

    /// The kernel that reads indices of this type, or none.
    pub fn reads(self, index_type: Option<IndexType>) -> Kernel {
        self.with([("READS", index_type.map_or(0, |index_type| index_type.bytes() as u32))])
    }

    /// The kernel with further facts.
    pub fn with(mut self, facts: impl IntoIterator<Item = Fact>) -> Kernel {
        self.facts.extend(facts);
        self
    }

    /// The kernel with further constants.
    pub fn constants(mut self, consts: impl IntoIterator<Item = Fact>) -> Kernel {
        self.consts.extend(consts);
        self
    }

    /// The number of a name in the conditions of parts; `None` if the kernel says nothing about it.
    pub fn fact(&self, name: &str) -> Option<u32> {
        let stated = self.facts.iter().chain(&self.consts).find(|(stated, _)| *stated == name);
        match name {
            "SEED_LOWEST" => Some(NanPolicy::SeedLowest as u32),
            "IGNORE" => Some(NanPolicy::Ignore as u32),
            _ if name == self.entry => Some(1),
            _ => stated.map(|(_, number)| *number),
        }
    }
}

/// Invocations of a workgroup (`WORKGROUP` in shaders/core/grid.wgsl).
pub(crate) const WORKGROUP: u64 = 64;

/// A buffer of a schedule, by its role.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool, Operand};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// assert_eq!(schedule.operand_bytes(Operand::X), Some(64));
/// assert_eq!(schedule.operand_bytes(Operand::Indices), None);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// X.
    X,
    /// Y.
    Y,
    /// The second input: the indices that an unpool reads, or what a difference subtracts.
    Indices,
    /// The indices that a pool writes.
    IndicesOut,
    /// The [`Report`](crate::Report) of an unpool.
    Report,
    /// The tables of windows that no formula gives: [`Schedule::window_tables`](crate::Schedule::window_tables).
    Tables,
    /// A buffer of scratch memory, by its number in [`Schedule::scratch`](crate::Schedule::scratch). Its contents need
    /// not be set, and need not persist after a run.
    Scratch(usize),
}

impl Operand {
    /// The operand's name: `x`, `y`, `indices`, `indices_out`, `report`, `tables`, or `scratch0`, `scratch1`, ...
    pub fn name(self) -> String {
        match self {
            Operand::Tables => "tables".to_owned(),
            Operand::Scratch(number) => format!("scratch{number}"),
            tensor => tensor.field().to_owned(),
        }
    }

    /// The field of `Buffers` that has the operand's buffer, for errors.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Operand::X => "x",
            Operand::Y => "y",
            Operand::Indices => "indices",
            Operand::IndicesOut => "indices_out",
            Operand::Report => "report",
            Operand::Tables => "window tables",
            // Few schedules have more than five.
            Operand::Scratch(0) => "scratch[0]",
            Operand::Scratch(1) => "scratch[1]",
            Operand::Scratch(2) => "scratch[2]",
            Operand::Scratch(3) => "scratch[3]",
            Operand::Scratch(4) => "scratch[4]",
            Operand::Scratch(_) => "scratch",
        }
    }
}

/// A storage binding of a kernel.
///
/// ```
/// use wgpu_pooling::{select, Binding, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 8], DType::F32, None)?;
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let bindings: &[Binding] = schedule.dispatches()[0].key().bindings();
/// assert!(bindings[0].read_only && !bindings[1].read_only, "X is read and Y is written");
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The binding's number in group 0. Number 0 is the uniform.
    pub number: u32,
    /// Whether the kernel only reads.
    pub read_only: bool,
}

/// The numbers of the storage bindings, as the shaders declare them.
pub(crate) mod binding {
    pub const X: u32 = 1;
    pub const Y: u32 = 2;
    pub const TABLES: u32 = 6;
    pub const INDICES_OUT: u32 = 10;
    pub const KEPT: u32 = 12;
    pub const PLACES: u32 = 14;
    pub const PLACES_OUT: u32 = 15;
    pub const FLAGS: u32 = 16;
}
