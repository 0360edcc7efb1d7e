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
pub(crate) enum Sink {
    /// Candidates for the next pass.
    Candidates,
    /// Accumulators of windows that are reduced in parts.
    Accumulators,
    /// Y.
    Values,
    /// Y and Indices.
    ValuesAndIndices(IndexType),
}

impl Sink {
    /// The outputs of a pool.
    pub fn of(plan: &PoolPlan) -> Sink {
        plan.indices.as_ref().map_or(Sink::Values, |indices| Sink::ValuesAndIndices(indices.index_type))
    }

    /// The spelling in a kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Sink::Candidates => "candidates",
            Sink::Accumulators => "accumulators",
            Sink::Values => "values",
            Sink::ValuesAndIndices(IndexType::I32) => "values+i32",
            Sink::ValuesAndIndices(IndexType::I64) => "values+i64",
        }
    }

    /// The type of the indices, if there are any.
    pub fn index_type(self) -> Option<IndexType> {
        match self {
            Sink::ValuesAndIndices(index_type) => Some(index_type),
            _ => None,
        }
    }
}

/// How one invocation reads a row of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RowLoads {
    /// Whether the row is loaded word by word: its elements are contiguous, several to a word.
    pub words: bool,
    /// The loads of a chunk, which are in flight together, at most eight; and the number of chunks in the longest row.
    pub together: u32,
    pub chunks: u32,
}

impl RowLoads {
    const MOST: u64 = 8;

    /// The loads for rows of at most `most_taps` elements, which are contiguous if `adjacent`. Equal chunks of at most
    /// eight loads leave few loads unused.
    pub fn of(dtype: DType, most_taps: u64, adjacent: bool) -> RowLoads {
        let per_word = 4u64.div_ceil(dtype.bytes() as u64);
        let words = adjacent && per_word > 1;
        // A row may begin and end within a word.
        let loads =
            if words { most_taps.saturating_add(per_word).saturating_sub(1).div_ceil(per_word) } else { most_taps };
        let loads = loads.max(1);
        let chunks = loads.div_ceil(RowLoads::MOST).max(1);
        let together = loads.div_ceil(chunks).clamp(1, RowLoads::MOST);
        RowLoads { words, together: together as u32, chunks: chunks as u32 }
    }
}

/// The constants of a specialised build of a tap-by-tap pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Specialised {
    pub window: WindowConstants,
    pub row: RowLoads,
    /// The most taps on the outermost axis.
    pub layers: u32,
    pub digits: PassDigits,
    pub index_digits: IndexDigits,
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
    pub fn consts(self) -> [(&'static str, u32); 4] {
        let IndexDigits { index, store, empty, clamped_axes } = self;
        [("INDEX_DIGITS", index), ("STORE_DIGITS", store), ("EMPTY_DIGITS", empty), ("CLAMPED_AXES", clamped_axes)]
    }
}

/// Adds the numbers of digits to a specialised kernel's constants.
pub(crate) fn count_digits(
    digits: Option<IndexDigits>,
    variants: &mut Vec<&'static str>,
    consts: &mut Vec<(&'static str, u32)>,
) {
    if let Some(digits) = digits {
        variants.push("index/digits_constant");
        consts.extend(digits.consts());
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
    pub fn consts(self) -> [(&'static str, u32); 2] {
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

/// The numbers of digits into which the general path of an unpool splits ranks and indices (shaders/core/unpool.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct UnpoolDigits {
    /// Digits of a source's rank; zero where the rank is the position in X and in the index tensor, and indices count n
    /// and c.
    pub source: u32,
    /// Digits of an index; zero where the index is the position in Y.
    pub target: u32,
    /// Spatial axes of a source, where the index of the first element of its plane may say that nothing won; zero where
    /// it never does.
    pub first_axes: u32,
}

impl UnpoolDigits {
    /// For a kernel that splits no number.
    pub const NONE: UnpoolDigits = UnpoolDigits { source: 0, target: 0, first_axes: 0 };
}

/// How the gathering unpool writes the cells of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CellsKernel {
    /// Windows lie apart, and rows are whole words.
    Apart,
    /// Windows lie apart, and rows begin and end within words.
    Runs,
    /// Windows overlap or begin in the padding.
    Overlaps,
}

/// The windows on the three axes of a pass and the NaN rule, as a specialised kernel has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WindowConstants {
    pub kernel: [u32; 3],
    pub stride: [u32; 3],
    pub dilation: [u32; 3],
    pub pad_begin: [i32; 3],
    pub kind: [u32; 3],
    pub nan_policy: NanPolicy,
}

impl WindowConstants {
    /// The constants of the kernel's prelude (shaders/window/pass_axis.wgsl).
    pub fn consts(&self) -> Vec<(&'static str, u32)> {
        let WindowConstants { kernel, stride, dilation, kind, nan_policy, .. } = *self;
        let axes = [
            (["KERNEL_0", "KERNEL_1", "KERNEL_2"], kernel),
            (["STRIDE_0", "STRIDE_1", "STRIDE_2"], stride),
            (["DILATION_0", "DILATION_1", "DILATION_2"], dilation),
            (["KIND_0", "KIND_1", "KIND_2"], kind),
        ];
        let mut consts: Vec<_> = axes.into_iter().flat_map(|(names, values)| names.into_iter().zip(values)).collect();
        consts.push(("NAN_POLICY", nan_policy.number()));
        consts
    }
}

/// A kernel as data: the shader part with its entry point, the fields that choose among parts that provide the same
/// names, and the constants of its prelude.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    /// The name in labels and logs.
    pub name: String,
    /// The part with `main`.
    pub entry: &'static str,
    pub element: Option<DType>,
    pub reduction: Option<Reduction>,
    pub activation: Option<ActivationKind>,
    /// The type of the indices that it reads.
    pub reads: Option<IndexType>,
    /// The type of the indices that it writes.
    pub writes: Option<IndexType>,
    /// The parts that are chosen where several provide a name.
    pub variants: Vec<&'static str>,
    pub consts: Vec<(&'static str, u32)>,
    /// Whether X and the indices that it reads are declared writable.
    pub writable_inputs: bool,
}

/// The numbers of the bindings of X and of the indices that are read.
pub(crate) const INPUT_BINDINGS: [u32; 2] = [1, 3];

impl Kernel {
    /// A kernel that reads no elements and no indices.
    pub fn new(name: String, entry: &'static str) -> Kernel {
        Kernel {
            name,
            entry,
            element: None,
            reduction: None,
            activation: None,
            reads: None,
            writes: None,
            variants: Vec::new(),
            consts: Vec::new(),
            writable_inputs: false,
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
            // No schedule has more than five.
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
