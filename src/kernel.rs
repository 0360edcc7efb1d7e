//! What a kernel's text depends on, and what it binds.

use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;

/// Where a pass of a pool reads.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, GlobalMaxPool, KernelKey, Limits, Source};
///
/// // By separable passes: the first reads X, those that follow read candidates.
/// let plan = GlobalMaxPool::new().plan(&[1, 1, 8, 8], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
/// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
/// assert!(matches!(schedule.dispatches()[0].key(), KernelKey::Pool { source: Source::Elements, .. }));
/// assert!(matches!(schedule.dispatches()[1].key(), KernelKey::Pool { source: Source::Candidates, .. }));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The elements of X.
    Elements,
    /// The candidates of the pass before.
    Candidates,
    /// What is known of windows that were looked at in parts.
    Accumulators,
}

/// What a pass of a pool writes.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, IndexType, KernelKey, Limits, MaxPool, Sink};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 8], DType::F32, Some(IndexType::I32))?.into();
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let sink = Sink::ValuesAndIndices(IndexType::I32);
/// assert!(matches!(schedule.dispatches()[0].key(), KernelKey::Pool { sink: it, .. } if *it == sink));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sink {
    /// Candidates for the next pass.
    Candidates,
    /// What is known so far of windows that are looked at in parts.
    Accumulators,
    /// Y.
    Values,
    /// Y and Indices.
    ValuesAndIndices(IndexType),
}

impl Sink {
    fn name(self) -> &'static str {
        match self {
            Sink::Candidates => "candidates",
            Sink::Accumulators => "accumulators",
            Sink::Values => "values",
            Sink::ValuesAndIndices(IndexType::I32) => "values+i32",
            Sink::ValuesAndIndices(IndexType::I64) => "values+i64",
        }
    }

    /// The type of the indices, if there are any.
    pub(crate) fn index_type(self) -> Option<IndexType> {
        match self {
            Sink::ValuesAndIndices(index_type) => Some(index_type),
            _ => None,
        }
    }
}

/// Which shader part computes the activation.
///
/// ```
/// use wgpu_pooling::{select, Activation, ActivationKind, Choice, DType, KernelKey, Limits, MaxPool};
///
/// // Relu is Clip from zero on; the bounds are in the uniform.
/// let plan = MaxPool::new([2]).activation(Activation::Relu).plan(&[1, 1, 8], DType::F32, None)?.into();
/// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
/// let key = schedule.dispatches()[0].key();
/// assert!(matches!(key, KernelKey::Pool { activation: ActivationKind::Clip, .. }));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivationKind {
    /// None.
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

/// The window's attributes and the NaN rule of a specialised build.
///
/// ```
/// use wgpu_pooling::{select, Build, Choice, DType, Family, KernelKey, Limits, MaxPool, WindowConstants};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 8], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Direct), build: Some(Build::Specialised) };
/// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
/// let KernelKey::Pool { constants, .. } = schedule.dispatches()[0].key() else { unreachable!() };
/// let constants: &Option<WindowConstants> = constants;
/// assert!(constants.is_some());
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowConstants {
    pub(crate) kernel: [u32; 3],
    pub(crate) stride: [u32; 3],
    pub(crate) dilation: [u32; 3],
    pub(crate) kind: [u32; 3],
    pub(crate) nan_policy: NanPolicy,
}

/// What an invocation of a block kernel computes, and how it reads and writes.
///
/// ```
/// use wgpu_pooling::{select, Block, Choice, DType, Family, KernelKey, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 1, 8, 8], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Blocked), ..Choice::default() };
/// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
/// let KernelKey::PoolBlock { block, .. } = schedule.dispatches()[0].key() else { unreachable!() };
/// let block: &Block = block;
/// assert_eq!(block.outputs(), 4);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    pub(crate) window: WindowConstants,
    /// Axes from the last one on; those before have one element.
    pub(crate) axes: usize,
    /// Neighbours along the last axis; where `flat`, neighbours in Y, of which each has a row of its own.
    pub(crate) outputs: u32,
    pub(crate) flat: bool,
    /// Neighbours inside the last axis: channels, for NHWC.
    pub(crate) lanes: u32,
    /// Whether there is anything inside the last axis.
    pub(crate) inner: bool,
    /// Whether blocks come out even with the last axis.
    pub(crate) exact: bool,
    /// Words of a load; 0 where elements are loaded one by one.
    pub(crate) load_words: u32,
    /// Words of a store to Y; 0 where elements are stored one by one.
    pub(crate) store_words: u32,
    /// Padding before the last axis, where loads are wider than an element.
    pub(crate) pad: u32,
    /// How an index is made of a position.
    pub(crate) index_map: IndexMap,
    /// Whether indices are written in the order of Y.
    pub(crate) same_place: bool,
}

/// How a block makes an index of a position in X.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum IndexMap {
    /// The index is the position, counted from the index of the first element.
    Position,
    /// Within a plane, or a batch item of NHWC, indices count as positions do.
    Offset,
    /// By the digits of the position.
    Digits,
}

impl Block {
    /// Outputs of one invocation.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, Family, KernelKey, Layout, Limits, MaxPool};
    ///
    /// // Eight channels of two bytes.
    /// let pool = MaxPool::new([2, 2]).layout(Layout::Nhwc);
    /// let plan = pool.plan(&[1, 8, 8, 16], DType::F16, None)?.into();
    /// let choice = Choice { family: Some(Family::Blocked), ..Choice::default() };
    /// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
    /// assert!(matches!(schedule.dispatches()[0].key(), KernelKey::PoolBlock { block, .. } if block.outputs() == 8));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outputs(&self) -> u32 {
        self.outputs.saturating_mul(self.lanes)
    }

    /// Outputs that lie beside each other in Y and are written together.
    pub(crate) fn run(&self) -> u32 {
        match (self.inner && !self.flat, self.exact) {
            (true, _) => self.lanes,
            (false, true) => self.outputs,
            (false, false) => 1,
        }
    }
}

/// What a workgroup of a patch kernel computes.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, KernelKey, Limits, MaxPool, Patch};
///
/// let plan = MaxPool::new([13, 13]).pads([6; 4]).plan(&[1, 1, 40, 40], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Patched), ..Choice::default() };
/// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
/// let KernelKey::PoolPatch { patch, .. } = schedule.dispatches()[0].key() else { unreachable!() };
/// let patch: &Patch = patch;
/// assert!(patch.workgroup_bytes(false) <= 16 << 10);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Patch {
    pub(crate) window: WindowConstants,
    /// Outputs of a patch along the last axis and the one before.
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Padding before the last axis.
    pub(crate) pad: u32,
    /// Whether rows of Y come out even with four outputs.
    pub(crate) exact: bool,
    /// Whether rows of X come out even with four words, and are loaded by them.
    pub(crate) wide: bool,
    /// Outputs that an invocation takes along a row, and down a column.
    pub(crate) run: u32,
    pub(crate) fall: u32,
    pub(crate) workgroup: u32,
    /// Whether the index is the position, counted from the index of the first element.
    pub(crate) position_index: bool,
    /// Whether indices are written in the order of Y.
    pub(crate) same_place: bool,
}

impl Patch {
    /// Rows and columns of X that a patch looks at.
    pub(crate) fn inputs(&self) -> [u32; 2] {
        let WindowConstants { kernel, stride, .. } = self.window;
        let extent = |outputs: u32, axis: usize| {
            outputs.saturating_sub(1).saturating_mul(stride[axis]).saturating_add(kernel[axis])
        };
        [extent(self.height, 1), extent(self.width, 2)]
    }

    /// Columns before the first that counts, so that columns by four begin at a multiple of four.
    pub(crate) fn before(&self) -> u32 {
        self.pad.next_multiple_of(4).saturating_sub(self.pad)
    }

    /// Rows of X that a patch looks at, and columns by four.
    pub(crate) fn groups(&self) -> [u32; 2] {
        let [rows, columns] = self.inputs();
        [rows, self.before().saturating_add(columns).div_ceil(4)]
    }

    /// The bytes of workgroup memory of a pool with or without indices.
    ///
    /// ```
    /// use wgpu_pooling::Patch;
    /// fn indices_take_more(patch: &Patch) -> bool {
    ///     patch.workgroup_bytes(true) > patch.workgroup_bytes(false)
    /// }
    /// ```
    pub fn workgroup_bytes(&self, indices: bool) -> u32 {
        let [rows, groups] = self.groups();
        let of_outputs = self.width.saturating_mul(if indices { 5 } else { 4 });
        rows.saturating_mul(groups.saturating_mul(16).saturating_add(of_outputs))
    }
}

/// What an invocation of the streaming unpool writes, and how it reads and writes: the stride cells of some sources.
///
/// ```
/// use wgpu_pooling::{select, Build, Cells, Choice, DType, IndexType, KernelKey, Limits, MaxPool, MaxUnpool};
///
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let plan = MaxUnpool::inverse_of(&pool, &[1, 1, 8, 8]).plan(&[1, 1, 4, 4], DType::F32, IndexType::I64)?.into();
/// let choice = Choice { build: Some(Build::Specialised), ..Choice::default() };
/// let schedule = select(&plan, &Limits::WEBGPU, &choice)?;
/// let cells = schedule.dispatches().iter().find_map(|dispatch| match dispatch.key() {
///     KernelKey::UnpoolCells { cells, .. } => Some(cells),
///     _ => None,
/// });
/// let cells: &Cells = cells.expect("windows that do not overlap");
/// assert_eq!(cells.sources(), 4);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cells {
    pub(crate) kernel: [u32; 3],
    pub(crate) stride: [u32; 3],
    pub(crate) pad: [u32; 3],
    /// Axes from the last one on; those before have one element.
    pub(crate) axes: usize,
    /// Neighbouring sources along the last axis.
    pub(crate) sources: u32,
    /// Neighbours inside the last axis: channels, for NHWC.
    pub(crate) lanes: u32,
    /// Whether there is anything inside the last axis.
    pub(crate) inner: bool,
    /// Whether cells come out even with Y, on each axis.
    pub(crate) exact: [bool; 3],
    /// Whether every cell has its source, and only its own.
    pub(crate) filled: bool,
    /// Whether an index is a position in Y.
    pub(crate) position_index: bool,
    /// Whether a window can reach beyond Y.
    pub(crate) clipped: bool,
    /// Words of a load of X; 0 where elements are loaded one by one.
    pub(crate) load_words: u32,
    /// Words of a load of Indices, likewise.
    pub(crate) index_words: u32,
    /// Words of a store to Y; 0 where single words are stored.
    pub(crate) store_words: u32,
    /// Whether indices lie in the order of X.
    pub(crate) same_place: bool,
}

impl Cells {
    /// Sources of one invocation.
    ///
    /// ```
    /// use wgpu_pooling::Cells;
    /// fn sources(cells: &Cells) -> u32 {
    ///     cells.sources()
    /// }
    /// ```
    pub fn sources(&self) -> u32 {
        self.sources.saturating_mul(self.lanes)
    }

    /// Kernel, stride and padding of an axis.
    pub(crate) fn axis(&self, axis: usize) -> [i64; 3] {
        [self.kernel[axis].into(), self.stride[axis].into(), self.pad[axis].into()]
    }
}

/// Everything that a kernel's text depends on. Equal keys share a pipeline.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Limits, MaxPool};
///
/// // The shape is no part of it.
/// let key = |extent| {
///     let plan = MaxPool::new([2]).plan(&[1, 1, extent], DType::F32, None)?.into();
///     Ok::<_, wgpu_pooling::PlanError>(*select(&plan, &Limits::WEBGPU, &Choice::default())?.dispatches()[0].key())
/// };
/// assert_eq!(key(8)?, key(9)?);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKey {
    /// A pass of a pool.
    Pool {
        /// The element type.
        dtype: DType,
        /// Where it reads.
        source: Source,
        /// What it writes.
        sink: Sink,
        /// What it applies to Y.
        activation: ActivationKind,
        /// `None` for the generic build.
        constants: Option<WindowConstants>,
    },
    /// A pool of small windows, a block of outputs for each invocation.
    PoolBlock {
        /// The element type.
        dtype: DType,
        /// What it writes.
        sink: Sink,
        /// What it applies to Y.
        activation: ActivationKind,
        /// What an invocation computes.
        block: Block,
    },
    /// A pool of large windows that overlap, a patch of outputs for each workgroup.
    PoolPatch {
        /// The element type, of at most 32 bits.
        dtype: DType,
        /// What it writes.
        sink: Sink,
        /// What it applies to Y.
        activation: ActivationKind,
        /// What a workgroup computes.
        patch: Patch,
    },
    /// The first stage of a pool of whole planes: many candidates for each.
    PoolReduce {
        /// The element type.
        dtype: DType,
        /// The NaN rule; the window is the plane.
        constants: WindowConstants,
        /// Words of a load; 0 where elements are loaded one by one.
        load_words: u32,
    },
    /// Nobody owns anything.
    UnpoolClear,
    /// Sources claim their targets.
    UnpoolClaim {
        /// The type of the indices.
        index_type: IndexType,
    },
    /// Indices outside their own windows are noticed.
    UnpoolCheck {
        /// The type of the indices.
        index_type: IndexType,
    },
    /// Output words are written from the sources whose windows hold them.
    UnpoolGather {
        /// The element type.
        dtype: DType,
        /// The type of the indices.
        index_type: IndexType,
        /// What it applies to Y.
        activation: ActivationKind,
    },
    /// Output words are written by the invocation that has their cells, and indices outside their own windows are noticed.
    UnpoolCells {
        /// The element type.
        dtype: DType,
        /// The type of the indices.
        index_type: IndexType,
        /// What it applies to Y.
        activation: ActivationKind,
        /// What an invocation writes.
        cells: Cells,
    },
    /// The grids of the general path are written.
    UnpoolDecide,
    /// The report of a conversion is cleared.
    ConvertClear,
    /// Indices are converted.
    ConvertIndices {
        /// The type that is read.
        from_type: IndexType,
        /// The type that is written.
        to_type: IndexType,
    },
    /// The first bad index of a conversion is looked up.
    ConvertReport {
        /// The type that is read.
        from_type: IndexType,
    },
    /// Output words are written from their owners.
    UnpoolEmit {
        /// The element type.
        dtype: DType,
        /// The type of the indices, the first bad one of which is reported with its value; `None` where that is left to
        /// `UnpoolReport`, since the device has too few storage buffers.
        index_type: Option<IndexType>,
        /// What it applies to Y.
        activation: ActivationKind,
    },
    /// The first bad index of an unpool is looked up.
    UnpoolReport {
        /// The type of the indices.
        index_type: IndexType,
    },
}

/// A buffer as a kernel knows it.
///
/// ```
/// use wgpu_pooling::Slot;
/// assert_ne!(Slot::Scratch(0), Slot::Scratch(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// X.
    X,
    /// Y.
    Y,
    /// The indices that are read.
    Indices,
    /// The indices that are written.
    IndicesOut,
    /// The report of an unpool or a conversion.
    Status,
    /// The windows that are not given by a formula.
    Tables,
    /// Scratch memory, by number.
    Scratch(usize),
}

/// A storage binding of a kernel.
///
/// ```
/// use wgpu_pooling::{Binding, KernelKey};
///
/// let bindings: Vec<Binding> = KernelKey::UnpoolClear.bindings();
/// assert!(bindings.iter().all(|binding| binding.number > 0 && !binding.read_only));
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
    pub const INDICES: u32 = 3;
    pub const CANDIDATES_IN: u32 = 4;
    pub const CANDIDATES_OUT: u32 = 5;
    pub const TABLES: u32 = 6;
    pub const OWNERS: u32 = 7;
    pub const STATUS: u32 = 8;
    pub const GRIDS: u32 = 9;
    pub const INDICES_OUT: u32 = 10;
    pub const ACCUMULATORS: u32 = 11;
}

/// The bindings of a pool in one pass, whose windows are constants and never empty.
fn pool_bindings(sink: Sink, nan_policy: NanPolicy) -> Vec<Binding> {
    let of = |number, read_only| Binding { number, read_only };
    let mut bindings = vec![of(binding::X, true), of(binding::Y, false)];
    if let Sink::ValuesAndIndices(_) = sink {
        // Only a window without a winner needs the way from an output to its index.
        if nan_policy == NanPolicy::SeedLowest {
            bindings.push(of(binding::TABLES, true));
        }
        bindings.push(of(binding::INDICES_OUT, false));
    }
    bindings
}

impl KernelKey {
    /// The element type, for kernels that move elements.
    pub(crate) fn dtype(&self) -> Option<DType> {
        match *self {
            KernelKey::Pool { dtype, .. }
            | KernelKey::PoolBlock { dtype, .. }
            | KernelKey::PoolPatch { dtype, .. }
            | KernelKey::PoolReduce { dtype, .. }
            | KernelKey::UnpoolCells { dtype, .. }
            | KernelKey::UnpoolGather { dtype, .. }
            | KernelKey::UnpoolEmit { dtype, .. } => Some(dtype),
            _ => None,
        }
    }

    /// The storage bindings of the kernel, in the order of their numbers.
    ///
    /// ```
    /// use wgpu_pooling::KernelKey;
    /// let numbers: Vec<u32> = KernelKey::UnpoolDecide.bindings().iter().map(|binding| binding.number).collect();
    /// assert!(numbers.is_sorted());
    /// ```
    pub fn bindings(&self) -> Vec<Binding> {
        let read = |number| Binding { number, read_only: true };
        let write = |number| Binding { number, read_only: false };
        match *self {
            KernelKey::Pool { source, sink, .. } => {
                let mut bindings = Vec::new();
                // What was accumulated brings its elements along.
                if source != Source::Accumulators {
                    bindings.push(read(binding::X));
                }
                if matches!(sink, Sink::Values | Sink::ValuesAndIndices(_)) {
                    bindings.push(write(binding::Y));
                }
                if source == Source::Candidates {
                    bindings.push(read(binding::CANDIDATES_IN));
                }
                if sink == Sink::Candidates {
                    bindings.push(write(binding::CANDIDATES_OUT));
                }
                // Windows are looked at again only for the indices of those that are empty.
                if source != Source::Accumulators || matches!(sink, Sink::ValuesAndIndices(_)) {
                    bindings.push(read(binding::TABLES));
                }
                if let Sink::ValuesAndIndices(_) = sink {
                    bindings.push(write(binding::INDICES_OUT));
                }
                if source == Source::Accumulators || sink == Sink::Accumulators {
                    bindings.push(write(binding::ACCUMULATORS));
                }
                bindings
            }
            KernelKey::PoolBlock { sink, block, .. } => pool_bindings(sink, block.window.nan_policy),
            KernelKey::PoolPatch { sink, patch, .. } => pool_bindings(sink, patch.window.nan_policy),
            KernelKey::PoolReduce { .. } => vec![read(binding::X), write(binding::CANDIDATES_OUT)],
            KernelKey::UnpoolClear => vec![write(binding::OWNERS), write(binding::STATUS)],
            KernelKey::UnpoolClaim { .. } => {
                vec![read(binding::INDICES), write(binding::OWNERS), write(binding::STATUS)]
            }
            KernelKey::UnpoolCheck { .. } => {
                vec![read(binding::INDICES), read(binding::TABLES), write(binding::STATUS)]
            }
            KernelKey::UnpoolGather { .. } => {
                vec![read(binding::X), write(binding::Y), read(binding::INDICES), read(binding::TABLES)]
            }
            KernelKey::UnpoolCells { .. } => {
                vec![read(binding::X), write(binding::Y), read(binding::INDICES), write(binding::STATUS)]
            }
            KernelKey::UnpoolDecide => vec![write(binding::STATUS), write(binding::GRIDS)],
            KernelKey::ConvertClear => vec![write(binding::STATUS)],
            KernelKey::ConvertIndices { .. } => {
                vec![read(binding::INDICES), write(binding::STATUS), write(binding::INDICES_OUT)]
            }
            KernelKey::ConvertReport { .. } => vec![read(binding::INDICES), write(binding::STATUS)],
            KernelKey::UnpoolReport { .. } => vec![read(binding::INDICES), write(binding::STATUS)],
            KernelKey::UnpoolEmit { index_type: None, .. } => {
                vec![read(binding::X), write(binding::Y), write(binding::OWNERS)]
            }
            KernelKey::UnpoolEmit { index_type: Some(_), .. } => vec![
                read(binding::X),
                write(binding::Y),
                read(binding::INDICES),
                write(binding::OWNERS),
                write(binding::STATUS),
            ],
        }
    }

    /// The kernel's name: operator, types and build, for labels and logs.
    ///
    /// ```
    /// use wgpu_pooling::{IndexType, KernelKey};
    /// let key = KernelKey::ConvertIndices { from_type: IndexType::I64, to_type: IndexType::I32 };
    /// assert_eq!(key.name(), "convert i64 to i32");
    /// ```
    pub fn name(&self) -> String {
        match *self {
            KernelKey::Pool { dtype, source, sink, constants, .. } => {
                let source = match source {
                    Source::Elements => "elements",
                    Source::Candidates => "candidates",
                    Source::Accumulators => "accumulators",
                };
                let sink = sink.name();
                let build = if constants.is_some() { "specialised" } else { "generic" };
                format!("pool {} {source} to {sink}, {build}", dtype.name())
            }
            KernelKey::PoolBlock { dtype, sink, block, .. } => {
                let [depth, height, width] = block.window.kernel;
                let (sink, outputs, lanes) = (sink.name(), block.outputs, block.lanes);
                format!("pool {} to {sink}, {depth}x{height}x{width}, {outputs}x{lanes} outputs", dtype.name())
            }
            KernelKey::PoolPatch { dtype, sink, patch, .. } => {
                let [_, rows, columns] = patch.window.kernel;
                let (sink, height, width) = (sink.name(), patch.height, patch.width);
                format!("pool {} to {sink}, {rows}x{columns}, patches of {height}x{width} outputs", dtype.name())
            }
            KernelKey::PoolReduce { dtype, load_words, .. } => {
                format!("pool {} reduced to candidates, {load_words} words a load", dtype.name())
            }
            KernelKey::UnpoolClear => "unpool clear".to_owned(),
            KernelKey::UnpoolClaim { index_type } => format!("unpool claim {}", index_type.name()),
            KernelKey::UnpoolCheck { index_type } => format!("unpool check {}", index_type.name()),
            KernelKey::UnpoolGather { dtype, .. } => format!("unpool gather {}", dtype.name()),
            KernelKey::UnpoolCells { dtype, index_type, cells, .. } => {
                let [depth, height, width] = cells.kernel;
                let (index, sources, lanes) = (index_type.name(), cells.sources, cells.lanes);
                format!("unpool cells {} by {index}, {depth}x{height}x{width}, {sources}x{lanes} sources", dtype.name())
            }
            KernelKey::UnpoolDecide => "unpool decide".to_owned(),
            KernelKey::ConvertClear => "convert clear".to_owned(),
            KernelKey::ConvertIndices { from_type, to_type } => {
                format!("convert {} to {}", from_type.name(), to_type.name())
            }
            KernelKey::ConvertReport { from_type } => format!("convert report {}", from_type.name()),
            KernelKey::UnpoolEmit { dtype, .. } => format!("unpool emit {}", dtype.name()),
            KernelKey::UnpoolReport { index_type } => format!("unpool report {}", index_type.name()),
        }
    }
}
