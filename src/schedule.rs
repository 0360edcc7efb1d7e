//! The nouns that cross the border between planning and the device: what will be dispatched, as values.

use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;
use crate::plan::{Plan, count};

/// Words of the report (`STATUS_WORDS` in shaders/core/status.wgsl).
pub(crate) const STATUS_WORDS: u64 = 8;

/// The bytes of a tensor on the device: rounded up to whole words.
pub(crate) fn device_bytes(elements: u64, element_bytes: usize) -> u64 {
    (elements * element_bytes as u64).next_multiple_of(4)
}

/// What a device allows, in plain numbers.
///
/// ```
/// use wgpu_pooling::Limits;
/// assert_eq!(Limits::WEBGPU.max_binding_bytes, 128 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// The largest part of a buffer that a shader can see as storage, in bytes.
    pub max_binding_bytes: u64,
    /// The most workgroups along one dimension of a dispatch.
    pub max_workgroups_per_dimension: u32,
}

impl Limits {
    /// What every WebGPU device has.
    pub const WEBGPU: Limits =
        Limits { max_buffer_bytes: 256 << 20, max_binding_bytes: 128 << 20, max_workgroups_per_dimension: 65_535 };
}

/// A way to compute a plan. All families that apply give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Pools: an invocation looks at every element of its window, three spatial axes at a time.
    Direct,
    /// Pools: one pass for each axis, so that the cost grows with the sum of the kernel's extents; long windows are cut
    /// into parts.
    Separable,
    /// Unpools: every output element looks at the few sources whose windows hold it. Indices that lie outside their own
    /// windows are noticed on the device, and the steps of `ClaimEmit` then follow without a round trip.
    Streaming,
    /// Unpools: every source claims its target, then every output element looks for its owner. Any indices will do.
    ClaimEmit,
    /// Index conversions: an invocation for each index.
    Convert,
}

impl Family {
    /// The family's name.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Direct => "direct",
            Family::Separable => "separable",
            Family::Streaming => "streaming",
            Family::ClaimEmit => "claim_emit",
            Family::Convert => "convert",
        }
    }
}

/// How a kernel gets its window's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Build {
    /// From the uniform: one pipeline serves every configuration of an element type.
    #[default]
    Generic,
    /// As constants of the shader: a pipeline for each configuration.
    Specialised,
}

/// Where a pass of a pool reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The elements of X.
    Elements,
    /// The candidates of the pass before.
    Candidates,
}

/// What a pass of a pool writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sink {
    /// Candidates for the next pass.
    Candidates,
    /// Y.
    Values,
    /// Y and Indices.
    ValuesAndIndices(IndexType),
}

/// Which shader part computes the activation.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowConstants {
    pub(crate) kernel: [u32; 3],
    pub(crate) stride: [u32; 3],
    pub(crate) dilation: [u32; 3],
    pub(crate) kind: [u32; 3],
    pub(crate) nan_policy: NanPolicy,
}

/// Everything that a kernel's text depends on. Equal keys share a pipeline.
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
        /// The type of the indices: the first bad one is reported with its value.
        index_type: IndexType,
        /// What it applies to Y.
        activation: ActivationKind,
    },
}

/// A buffer as a kernel knows it.
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
}

impl KernelKey {
    /// The storage bindings of the kernel, in the order of their numbers.
    pub fn bindings(&self) -> Vec<Binding> {
        let read = |number| Binding { number, read_only: true };
        let write = |number| Binding { number, read_only: false };
        match *self {
            KernelKey::Pool { source, sink, .. } => {
                let mut bindings = vec![read(binding::X)];
                match sink {
                    Sink::Candidates => {}
                    Sink::Values => bindings.push(write(binding::Y)),
                    Sink::ValuesAndIndices(_) => bindings.push(write(binding::Y)),
                }
                if source == Source::Candidates {
                    bindings.push(read(binding::CANDIDATES_IN));
                }
                if sink == Sink::Candidates {
                    bindings.push(write(binding::CANDIDATES_OUT));
                }
                bindings.push(read(binding::TABLES));
                if let Sink::ValuesAndIndices(_) = sink {
                    bindings.push(write(binding::INDICES_OUT));
                }
                bindings
            }
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
            KernelKey::UnpoolDecide => vec![write(binding::STATUS), write(binding::GRIDS)],
            KernelKey::ConvertClear => vec![write(binding::STATUS)],
            KernelKey::ConvertIndices { .. } => {
                vec![read(binding::INDICES), write(binding::STATUS), write(binding::INDICES_OUT)]
            }
            KernelKey::ConvertReport { .. } => vec![read(binding::INDICES), write(binding::STATUS)],
            KernelKey::UnpoolEmit { .. } => vec![
                read(binding::X),
                write(binding::Y),
                read(binding::INDICES),
                write(binding::OWNERS),
                write(binding::STATUS),
            ],
        }
    }

    /// The kernel's name: operator, types and build, for labels and logs.
    pub fn name(&self) -> String {
        match *self {
            KernelKey::Pool { dtype, source, sink, constants, .. } => {
                let source = match source {
                    Source::Elements => "elements",
                    Source::Candidates => "candidates",
                };
                let sink = match sink {
                    Sink::Candidates => "candidates",
                    Sink::Values => "values",
                    Sink::ValuesAndIndices(IndexType::I32) => "values+i32",
                    Sink::ValuesAndIndices(IndexType::I64) => "values+i64",
                };
                let build = if constants.is_some() { "specialised" } else { "generic" };
                format!("pool {} {source} to {sink}, {build}", dtype.name())
            }
            KernelKey::UnpoolClear => "unpool clear".to_owned(),
            KernelKey::UnpoolClaim { index_type } => format!("unpool claim {}", index_type.name()),
            KernelKey::UnpoolCheck { index_type } => format!("unpool check {}", index_type.name()),
            KernelKey::UnpoolGather { dtype, .. } => format!("unpool gather {}", dtype.name()),
            KernelKey::UnpoolDecide => "unpool decide".to_owned(),
            KernelKey::ConvertClear => "convert clear".to_owned(),
            KernelKey::ConvertIndices { from_type, to_type } => {
                format!("convert {} to {}", from_type.name(), to_type.name())
            }
            KernelKey::ConvertReport { from_type } => format!("convert report {}", from_type.name()),
            KernelKey::UnpoolEmit { dtype, .. } => format!("unpool emit {}", dtype.name()),
        }
    }
}

/// One dispatch: a kernel, its uniform, its buffers and its grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    pub(crate) key: KernelKey,
    pub(crate) uniform: Vec<u8>,
    /// What is bound to each of the key's bindings, in their order.
    pub(crate) slots: Vec<Slot>,
    pub(crate) grid: [u32; 3],
    /// Where the device itself writes the grid: a scratch buffer and an offset in bytes. `grid` is then the largest.
    pub(crate) indirect: Option<(usize, u64)>,
    pub(crate) iterations: u64,
}

impl Dispatch {
    /// The kernel.
    pub fn key(&self) -> &KernelKey {
        &self.key
    }

    /// Workgroups along x, y and z; for an indirect dispatch the most that there can be.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Whether the device decides on the grid.
    pub fn is_indirect(&self) -> bool {
        self.indirect.is_some()
    }

    /// The most loop iterations that one invocation can come to, all its loops taken together.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }
}

/// What will be dispatched for a plan on a device with given limits: a value that can be printed, compared and tested
/// without a device.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool, Plan};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&Plan::from(plan), &Limits::WEBGPU, &Choice::default())?;
/// assert_eq!(schedule.family(), Family::Direct);
/// assert_eq!(schedule.bytes_moved(), 4 * (16 + 9));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub(crate) plan: Plan,
    pub(crate) family: Family,
    pub(crate) build: Build,
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) tables: Vec<u32>,
    pub(crate) scratch: Vec<u64>,
}

impl Schedule {
    /// The plan that this computes.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The kernel family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// How the kernels get their windows.
    pub fn build(&self) -> Build {
        self.build
    }

    /// The name of what runs: operator, family, types and passes.
    pub fn kernel(&self) -> String {
        let (operator, types) = match &self.plan {
            Plan::Pool(plan) => (plan.operator(), plan.dtype().name()),
            Plan::Unpool(plan) => (plan.operator(), plan.dtype().name()),
            Plan::Convert(plan) => ("convert_indices", plan.to_type.name()),
        };
        let passes = match self.dispatches.len() {
            1 => "1 dispatch".to_owned(),
            many => format!("{many} dispatches"),
        };
        let build = match self.build {
            Build::Generic => "generic",
            Build::Specialised => "specialised",
        };
        format!("{operator} {} {types} {build} ({passes})", self.family.name())
    }

    /// The dispatches, in order.
    pub fn dispatches(&self) -> &[Dispatch] {
        &self.dispatches
    }

    /// The shape of Y, or of the converted indices.
    pub fn output_shape(&self) -> &[usize] {
        match &self.plan {
            Plan::Pool(plan) => plan.output_shape(),
            Plan::Unpool(plan) => plan.output_shape(),
            Plan::Convert(plan) => plan.output_shape(),
        }
    }

    /// The bytes of X on the device: whole words; `None` where there is none.
    pub fn x_bytes(&self) -> Option<u64> {
        match &self.plan {
            Plan::Pool(plan) => Some(device_bytes(count(plan.input_shape()), plan.dtype().bytes())),
            Plan::Unpool(plan) => Some(device_bytes(count(plan.input_shape()), plan.dtype().bytes())),
            Plan::Convert(_) => None,
        }
    }

    /// The bytes of the indices that are read; `None` where there are none.
    pub fn indices_bytes(&self) -> Option<u64> {
        match &self.plan {
            Plan::Pool(_) => None,
            Plan::Unpool(plan) => Some(device_bytes(count(plan.indices_shape()), plan.index_type().bytes())),
            Plan::Convert(plan) => Some(device_bytes(count(plan.input_shape()), plan.from_type.bytes())),
        }
    }

    /// The bytes of Y on the device: whole words; `None` where there is none.
    pub fn y_bytes(&self) -> Option<u64> {
        match &self.plan {
            Plan::Pool(plan) => Some(device_bytes(count(plan.output_shape()), plan.dtype().bytes())),
            Plan::Unpool(plan) => Some(device_bytes(count(plan.output_shape()), plan.dtype().bytes())),
            Plan::Convert(_) => None,
        }
    }

    /// The bytes of the indices that are written; `None` where there are none.
    pub fn indices_out_bytes(&self) -> Option<u64> {
        match &self.plan {
            Plan::Pool(plan) => {
                plan.indices().map(|indices| device_bytes(count(plan.output_shape()), indices.index_type.bytes()))
            }
            Plan::Unpool(_) => None,
            Plan::Convert(plan) => Some(device_bytes(count(plan.output_shape()), plan.to_type.bytes())),
        }
    }

    /// The bytes of the report; `None` where nothing can be wrong with the data.
    pub fn status_bytes(&self) -> Option<u64> {
        match &self.plan {
            Plan::Pool(_) => None,
            Plan::Unpool(_) | Plan::Convert(_) => Some(STATUS_WORDS * 4),
        }
    }

    /// The bytes of scratch memory on the device: candidates or owners.
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch.iter().sum()
    }

    /// The fewest bytes that the plan must move: inputs once, outputs once.
    pub fn bytes_moved(&self) -> u64 {
        match &self.plan {
            Plan::Pool(plan) => plan.bytes(),
            Plan::Unpool(plan) => plan.bytes(),
            Plan::Convert(plan) => plan.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_tensor_owns_whole_words() {
        assert_eq!([0, 1, 4, 5].map(|elements| device_bytes(elements, 1)), [0, 4, 4, 8]);
        assert_eq!(device_bytes(3, 2), 8);
    }
}
