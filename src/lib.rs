//! Max pooling with argmax, max unpooling and adaptive max pooling on any GPU that wgpu reaches (Vulkan, Metal, DX12,
//! GL, WebGPU), and on the processors of the host, bit-exact with each other and with the specification that the caller
//! chose.
//!
//! * [`MaxPool`], [`GlobalMaxPool`]: ONNX MaxPool, opset 1 to 22, with Indices and every attribute.
//! * [`MaxUnpool`]: ONNX MaxUnpool, opset 9, 11 and 22; [`MaxUnpool::inverse_of`] undoes a given pool.
//! * [`AdaptiveMaxPool`]: OpenVINO AdaptiveMaxPool-8.
//! * [`ConvertIndices`]: indices from one convention to another.
//!
//! Operators are attributes in ONNX's words. Where runtimes disagree (NaN, ceil rounding, windows wholly in padding,
//! index conventions, the meaning of `output_shape`) there is an option with a documented default, never an accident of
//! the backend: every path gives the same bits, except the four fused activations that round ([`Activation`]).
//!
//! # Slices in, vectors out
//!
//! ```no_run
//! # #[cfg(feature = "gpu")] {
//! use wgpu_pooling::{Gpu, MaxPool, MaxUnpool, Tensor};
//!
//! let gpu = Gpu::new_blocking()?;
//! let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
//! let pool = MaxPool::new([2, 2]).strides([2, 2]);
//! let (y, indices) = gpu.max_pool_with_indices_blocking::<f32, i64>(&pool, &x)?;
//! let back = gpu.max_unpool_blocking(&MaxUnpool::inverse_of(&pool, x.shape()), &y, &indices)?;
//! assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
//! # }
//! # Ok::<(), wgpu_pooling::ExecuteError>(())
//! ```
//!
//! The same without a GPU, on all processors:
//!
//! ```
//! # #[cfg(feature = "cpu")] {
//! use wgpu_pooling::{Cpu, MaxPool, MaxUnpool, Tensor};
//!
//! let cpu = Cpu::new();
//! let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
//! let pool = MaxPool::new([2, 2]).strides([2, 2]);
//! let (y, indices) = cpu.max_pool_with_indices::<f32, i64>(&pool, &x)?;
//! assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
//! let back = cpu.max_unpool(&MaxUnpool::inverse_of(&pool, x.shape()), &y, &indices)?;
//! assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
//! # }
//! # Ok::<(), wgpu_pooling::ExecuteError>(())
//! ```
//!
//! A `Device` is either of them, for programs that decide at run time. The [`mod@reference`] has the operators as plain
//! loops, which define what a plan means, and results are compared with.
//!
//! Intermediate results stay on the device as `DeviceTensor`s of a `Chain`; callers with their own encoder and buffers
//! use `Prepared::encode`. The page `choosing` compares the three ways, and the ways to compute on the CPU; the page
//! `guests` has what an application with its own device needs: where elements lie, own kernels, textures, runtimes; the
//! page `faults` lists possible faults and the errors that callers see.
//!
//! # Bird's-eye view
//!
//! ```text
//! model's file --Model--> nodes                  the pooling nodes in it, feature onnx            | ModelError
//! node, preset --operator()--> attributes        a model's node, by its opset's rules            | PlanError
//! attributes + shape --plan()--> Plan            what must be computed                        | PlanError
//! Plan + Limits --select()--> Schedule           dispatches, scratch, bytes moved             | PlanError
//! KernelKey --wgsl()--> shader text              a prelude of constants, then parts of shaders/
//! ------------------------------------------------ effects below ------------------------------------------
//! Cpu + Plan --prepare()--> PreparedCpu          a kernel for slices of the host              | ExecuteError
//! Gpu + Schedule --prepare()--> Prepared         pipelines from the cache, scratch            | ExecuteError
//! Prepared --encode()--> the caller's encoder or open pass; nothing is submitted             | ExecuteError
//! Prepared, DeviceTensor --Chain--> DeviceTensor; run(): one submit, one readback            | ExecuteError
//! slices --max_pool(), ..--> vectors: a chain of one step                                    | ExecuteError
//! source --stream_max_pool()--> sink: a chain, or a call of the CPU, for each tile           | ExecuteError
//! ```
//!
//! Everything above the line is a value that can be printed, compared and tested without a device. With
//! `default-features = false` the crate consists of that part and the reference, and does not depend on wgpu. The
//! feature `cpu` brings the CPU backend, `gpu` the rest, `onnx` the reader of models, and the features `vulkan`,
//! `metal`, `dx12`, `gles` and `webgpu` the backends of wgpu.
//!
//! # Code map
//!
//! | where | contents | independent of |
//! | --- | --- | --- |
//! | `options.rs`, `attributes.rs`, `ops/` | ONNX's words, options on which runtimes disagree, `plan()` | devices, kernels |
//! | `geometry.rs` | every size and window formula, each with its citation | layouts, dtypes |
//! | `index.rs` | index conventions as affine maps | where indices are stored |
//! | `reduction.rs` | which element of a window wins, on the host and as parts of shaders/reduce/ | windows |
//! | `plan.rs` | plans: the computation and its tensors | kernels |
//! | `reference/` | the operators as plain loops: the oracle | speed |
//! | `family.rs`, `select/` | plan to schedule: policy, view of a tensor as three axes, families, epilogue, tuning | results, which it cannot change, but for which of equal indices wins under `Duplicates::Any` |
//! | `tile.rs` | a pool cut into tiles that fit a budget, each a plan | data |
//! | `stream/` | sources, sinks and reports of streaming runs; which boxes are read, and where results go | what computes a tile |
//! | `schedule.rs`, `report.rs`, `tables.rs`, `kernel.rs`, `uniform.rs` | dispatches; what a device says of indices; window tables, not yet filled; kernels as data; the twins of the shaders' structs | wgpu |
//! | `keys.rs`, `wgsl.rs`, `shaders/` | a kernel's key to text: constants, then the parts of shaders/ that its entry requires | ONNX's words, shapes |
//! | `cpu/` | the CPU backend: kernels on slices, and calls as those of a GPU | schedules |
//! | `gpu/device/` | a wgpu device: limits, error scopes, loss, memory, polling | schedules |
//! | `gpu/prepared/` | pipelines, resources of a schedule, encoding, the plan cache | calls |
//! | `gpu/calls/` | one-shot calls, chains, streams, the caller's own pass | formulas |
//! | `device.rs` | a GPU or the CPU behind one type | how either computes |
//! | `onnx/` | models of ONNX and OpenVINO: the pooling nodes in their files, and where runtimes disagree about them | what computes |
//! | `element.rs`, `tensor.rs`, `untyped.rs`, `arrays.rs`, `activation.rs`, `offence.rs`, `error/` | dtypes, tensors, ndarray interop, activations on the host, bad indices, errors | |
//!
//! # Floors
//!
//! Outside a folder's own files, a file imports only from floors below its own, and no imports are circular.
//!
//! ```text
//! 11  device
//! 10  cpu  gpu/calls
//!  9  stream
//!  8  gpu/prepared  tile
//!  7  gpu/device  select
//!  6  onnx  schedule
//!  5  keys  ops  reference  report  uniform
//!  4  activation  arrays  plan  tables  untyped  wgsl
//!  3  attributes  geometry  index  kernel  tensor
//!  2  error  reduction
//!  1  offence  options
//!  0  element  family
//! ```
//!
//! # Glossary
//!
//! * **node**: an operator as a model has it: type, domain, opset, attributes ([`Node`]); **preset**: a runtime's
//!   conventions.
//! * **plan**: what must be computed, on which tensors: [`Plan`]. **schedule**: how, on a device with given limits:
//!   [`Schedule`].
//! * **family**: an algorithm; **build**: whether its kernels have a window's attributes as constants or in a uniform:
//!   [`Family`], [`Build`].
//! * **kernel**: a compute shader; **key**: what its text follows from; **part**: a WGSL file under shaders/, of which
//!   it is made.
//! * **dispatch**: a kernel, a uniform, bindings and a grid; **pass**: the dispatches that reduce windows along up to
//!   three axes.
//! * **window**: the elements that one output is the maximum of; **tap**: one of them; **plane**: the spatial axes of
//!   one channel.
//! * **candidate**: the element that is the maximum so far, as an order-preserving key and a position; **accumulator**:
//!   the same with the bits of the element, between dispatches that each see a part of a window.
//! * **epilogue**: from a window's maximum to Y and Indices: empty windows, index convention, activation.
//! * **source** of an unpool: an element of X and its index; **owner** of an output: the last source that names it.
//! * **table**: the windows of an axis that no formula of 32 bits gives; **scratch**: device memory of one run.
//! * **report**: what an unpool or a conversion says of bad indices, eight words.
//! * **tile**: a box of outputs that is computed by itself because the whole exceeds a budget: [`Tiling`].
//! * **device**: what computes, a GPU or the CPU, `Device`; wgpu's own device where the text is about a GPU.
//! * **stream**: a run from a source to a sink, tile by tile, in the memory that its options allow.
//! * **preparation**: a schedule with its pipelines and buffers, `Prepared`; **plan cache**: those of recent one-shot
//!   calls; **buffer pool**: buffers that finished calls leave for later ones; **staging buffer**: what the host maps.
//!
//! # Invariants
//!
//! * Every formula exists once. No ONNX term is used after `plan()`: kernels work on axes and words.
//! * A kernel writes every element of its outputs, whatever their previous contents, and nothing else. Every word has
//!   one writer; the bytes after a packed tensor's last element are written as zeros.
//! * Sums and products of a caller's numbers never wrap: they are checked, or saturate where they are only compared. A
//!   lint enforces this in planning and selection. `geometry.rs` computes in 128 bits, checks an axis before it has
//!   windows, and documents its bounds.
//! * Floats are moved as words and compared as integers, so NaN, -0 and subnormals do not depend on the driver.
//! * Indices given to an unpool are untrusted. Nothing outside the output is ever written.
//! * No optional GPU feature is required, there is no global state, and only calls that document it submit work.
//! * wgpu objects that the crate keeps are `Owned`. A call that can need the context of a GL device is made inside its
//!   gate (`gpu/device/gate.rs`); inside the gate no code waits for the device and no caller's code runs.
//! * On a caller's device no callback is set, and every error scope that is opened is closed again in the same call.
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// On the web wgpu's objects belong to one thread, and so do those that share them.
#![cfg_attr(target_arch = "wasm32", allow(clippy::arc_with_non_send_sync))]

#[cfg(feature = "cpu")]
mod device;
mod family;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod kernel;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod keys;
mod report;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod schedule;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod select;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod tables;
mod uniform;
mod wgsl;

#[cfg(feature = "cpu")]
pub use device::{Device, prepared::PreparedOn};
pub use family::{Build, Family};
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use gpu::list_adapters_blocking;
#[cfg(feature = "gpu")]
pub use gpu::{
    Bound, Buffers, Chain, DeviceTensor, Gpu, GpuOptions, Prepared, ReadBack, Results, StepTime, Submitted,
    list_adapters, required_limits,
};
pub use kernel::{Binding, Operand};
pub use report::Report;
pub use schedule::{BoundRange, Dispatch, Limits, Schedule};
pub use select::{Choice, MAX_ITERATIONS, families, select, select_tiles};
#[cfg(feature = "cpu")]
#[doc(inline)]
pub use wgpu_pooling_cpu::{Cpu, CpuKernel, PreparedCpu, SimdLevel};
#[cfg(feature = "onnx")]
#[doc(inline)]
pub use wgpu_pooling_onnx as onnx;
#[doc(inline)]
pub use wgpu_pooling_plan::{
    Activation, AdaptiveMaxPool, AsyncStreamSink, AsyncStreamSource, Attribute, AutoPad, AxisWindow, CeilRule,
    ConvertIndices, ConvertPlan, DType, Duplicates, Element, EmptyIndex, EmptyValue, ExecuteError, GlobalMaxPool,
    Index, IndexFlattening, IndexPlan, IndexSpace, IndexStrides, IndexType, Layout, MAX_SPATIAL_AXES, MaxPool,
    MaxUnpool, MaybeSend, NanPolicy, Node, NodeInput, Operator, OutOfBounds, OutsideWindow, PadsLimit, Plan, PlanError,
    PoolAxis, PoolPlan, Pooling, Preset, Region, SamePadding, SizeRounding, StorageOrder, StreamOptions,
    StreamProgress, StreamReport, StreamSink, StreamSource, Taps, Tensor, TensorMut, TensorRef, TensorSpec, TensorView,
    Tile, Tiling, UnpoolMinSize, UnpoolPlan, UnpoolSpace, element_count, reference, with_element,
};
pub use wgsl::key::KernelKey;
pub use wgsl::{part_of_line, wgsl};

/// The crate `half` that this crate was built with, whose `f16` and `bf16` are its element types.
///
/// ```
/// use wgpu_pooling::{half::f16, DType, Element};
/// assert_eq!(f16::DTYPE, DType::F16);
/// ```
pub use half;

#[cfg(any(feature = "cpu", feature = "gpu"))]
#[cfg_attr(feature = "gpu", doc = include_str!("choosing.md"))]
#[cfg_attr(feature = "cpu", doc = include_str!("on_the_cpu.md"))]
pub mod choosing {}

#[cfg(feature = "gpu")]
#[doc = include_str!("faults.md")]
pub mod faults {}

#[cfg(feature = "gpu")]
#[doc = include_str!("guests.md")]
pub mod guests {}

#[doc = include_str!("growing.md")]
pub mod growing {}

// For the tests of this crate alone; any version may change it or leave it out.
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod test_hooks {
    pub use crate::gpu::TestHooks;
}

#[doc = include_str!("hosts.md")]
pub mod hosts {}

/// The wgpu that this crate was built with, for callers who bring their own device.
///
/// ```no_run
/// use wgpu_pooling::{wgpu, Gpu};
///
/// fn share(device: &wgpu::Device, queue: &wgpu::Queue) -> Gpu {
///     Gpu::from_wgpu(device.clone(), queue.clone())
/// }
/// ```
#[cfg(feature = "gpu")]
pub use wgpu;

/// The README's program has to compile.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
