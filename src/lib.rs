//! Max pooling with argmax, max unpooling and adaptive max pooling on any GPU that wgpu reaches (Vulkan, Metal, DX12,
//! GL, WebGPU), and on the processors of the host, bit-exact with each other and with the specification that the caller
//! chose.
//!
//! * [`MaxPool`], [`GlobalMaxPool`]: ONNX MaxPool, opset 1 to 22, with Indices and every attribute.
//! * [`MinPool`], [`GlobalMinPool`], [`AdaptiveMinPool`]: minima over the windows of any of these.
//! * [`Dilate`], [`Erode`], [`Open`], [`Close`], [`Gradient`], [`TopHat`], [`BlackHat`]: flat morphology by boxes of
//!   any size.
//! * [`MaxUnpool`]: ONNX MaxUnpool, opset 9, 11 and 22; [`MaxUnpool::inverse_of`] undoes a given pool.
//! * [`AdaptiveMaxPool`]: OpenVINO AdaptiveMaxPool-8.
//! * [`Request::peaks`]: the local maxima of a map, or its minima, the largest first.
//! * [`IndexSpace::convert`]: indices from one convention to another, on the host.
//!
//! Operators are attributes in ONNX's words. Where runtimes disagree (NaN, ceil rounding, windows wholly in padding,
//! index conventions, the meaning of `output_shape`) there is an option with a documented default (see
//! [`conventions`](docs::conventions)), never an accident of the backend: every path gives the same bits, except the
//! four fused activations that round ([`Activation`]).
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
//! let (y, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&gpu)?;
//! let back = MaxUnpool::inverse_of(&pool, x.shape()).on(&y, &indices).run_blocking(&gpu)?;
//! assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
//! # }
//! # Ok::<(), wgpu_pooling::ExecuteError>(())
//! ```
//!
//! The same without a GPU, with the feature `cpu`, and with `rayon` on all processors:
//!
//! ```
//! # #[cfg(feature = "cpu")] {
//! use wgpu_pooling::{Cpu, MaxPool, MaxUnpool, Tensor};
//!
//! let cpu = Cpu::new();
//! let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
//! let pool = MaxPool::new([2, 2]).strides([2, 2]);
//! let (y, indices) = pool.on(&x).with_indices::<i64>().run_blocking(&cpu)?;
//! assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
//! let back = MaxUnpool::inverse_of(&pool, x.shape()).on(&y, &indices).run_blocking(&cpu)?;
//! assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
//! # }
//! # Ok::<(), wgpu_pooling::ExecuteError>(())
//! ```
//!
//! A `Device` (feature `cpu`) is a GPU or the CPU, for programs that decide at run time: `Device::open_blocking` takes
//! a GPU where there is one. [`Reference`] has the operators as plain loops, which define what a plan means and with
//! which every backend is compared. All of these are [`Backend`]s.
//!
//! Intermediate results stay on the device as `DeviceTensor`s of a `Chain`; callers with their own encoder and buffers
//! use `Prepared::encode`. The pages of the module [`docs`] say more:
//!
//! * `choosing` compares these three ways, and lists what works on which backend.
//! * `on_the_cpu` has the ways to compute on the CPU, and what they cost.
//! * `conventions` has the options on which runtimes disagree, presets, and calls of other frameworks.
//! * `guests` is for applications with their own device: a loss, runtimes, threads, limits.
//! * `services` is for programs that compute for many callers: bounds, timeouts.
//! * `memory` says where elements lie on a device, and has own kernels and textures.
//! * `rendering` has depth pyramids for occlusion culling.
//! * `hosts` says how to run a schedule on any other WebGPU.
//! * `faults` lists possible faults and the errors that callers see.
//!
//! # Features
//!
//! | feature | what it brings | default |
//! | --- | --- | --- |
//! | `gpu` | everything that runs on a GPU, and wgpu without a backend | yes |
//! | `vulkan`, `metal`, `dx12`, `gles`, `webgpu` | `gpu`, and the backend of wgpu that has this name, on platforms that have it | yes |
//! | `cpu` | the CPU backend (`Cpu`) and `Device` | no |
//! | `rayon` | the CPU backend on all processors, not on the calling thread alone; rayon | no |
//! | `avx512` | its kernels for AVX-512 too; without it processors that have AVX-512 run those for AVX2 | no |
//! | `ndarray` | views of the crate `ndarray`'s arrays as tensors, and tensors as its arrays | no |
//! | `onnx` | the module `onnx`: the pooling nodes of ONNX models and OpenVINO IRs, read from their files; roxmltree | no |
//!
//! With `default-features = false` the crate does not depend on wgpu. It has plans, schedules, shader texts and the
//! reference, all of which can be printed, compared and tested without a device. A program that brings its own device
//! chooses wgpu's backends by its own dependency on wgpu: it takes `default-features = false, features = ["gpu"]`, and
//! adds `"cpu"`, `"rayon"` and `"avx512"` for the CPU backend. These three without `"gpu"` leave wgpu out.
//!
//! ARCHITECTURE.md, beside the README, describes the library's structure, its terms and its rules.
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
mod report;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod schedule;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod select;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod tables;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod tiles;
mod uniform;
mod wgsl;

#[cfg(feature = "cpu")]
pub use device::Device;
pub use family::{Build, Family};
#[cfg(feature = "gpu")]
pub use gpu::{
    Bound, Buffers, Chain, DeviceTensor, Gpu, GpuOptions, Prepare, Prepared, ReadBack, Results, StepTime, Submitted,
    list_adapters, required_limits,
};
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use gpu::{ChoiceTime, list_adapters_blocking};
pub use kernel::{Binding, Operand};
pub use report::Report;
pub use schedule::{BoundRange, Dispatch, Limits, Schedule};
#[doc(hidden)]
pub use select::MAX_ITERATIONS;
#[doc(hidden)]
pub use select::Sizes;
pub use select::{Choice, families, select};
#[doc(hidden)]
pub use tiles::stream_bytes;
#[cfg(feature = "cpu")]
#[doc(inline)]
pub use wgpu_pooling_cpu::{Cpu, CpuKernel, PreparedCpu, SimdLevel};
#[cfg(feature = "onnx")]
#[doc(inline)]
pub use wgpu_pooling_onnx as onnx;
#[doc(inline)]
pub use wgpu_pooling_plan::{
    Activation, AdaptiveMaxPool, AdaptiveMinPool, AsTensor, AsyncSink, AsyncSource, Attribute, AutoPad, Backend,
    BlackHat, BoxFuture, CeilRule, Close, Complete, DType, Dilate, Duplicates, Element, EmptyIndex, EmptyValue, Erode,
    ExecuteError, GlobalMaxPool, GlobalMinPool, Gradient, Index, IndexFlattening, IndexSpace, IndexType, Ints, Layout,
    MAX_SPATIAL_AXES, MaxPool, MaxUnpool, MaybeSend, MaybeSendSync, MinPool, Minimum, NanPolicy, Node, NodeInput, Open,
    Operator, OutOfBounds, Outputs, OutsideWindow, PadsLimit, Peak, Peaks, PeaksRequest, Plan, PlanError, Plateaus,
    Pooling, PreparedPlan, Preset, Reference, Request, SamePadding, Sink, SizeRounding, Source, StorageOrder, Stream,
    StreamProgress, StreamReport, Tensor, TensorMut, TensorRef, TensorSpec, TensorView, TopHat, UnpoolMinSize,
    UnpoolSpace, ValuesOnly, element_count, with_element,
};
pub use wgsl::key::KernelKey;
pub use wgsl::wgsl;

/// The crate `half` that this crate was built with, whose `f16` and `bf16` are its element types.
///
/// ```
/// use wgpu_pooling::{half::f16, DType, Element};
/// assert_eq!(f16::DTYPE, DType::F16);
/// ```
pub use half;

/// Pages about more than one item. Each stands in `src/docs` as plain Markdown; `links.md` there says what its links
/// mean here.
// All of them are items of this crate if it has both backends.
#[cfg_attr(not(all(feature = "gpu", feature = "cpu")), allow(rustdoc::broken_intra_doc_links))]
pub mod docs {
    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/choosing.md"))]
    pub mod choosing {}

    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/conventions.md"))]
    pub mod conventions {}

    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/faults.md"))]
    pub mod faults {}

    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/guests.md"))]
    pub mod guests {}

    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/hosts.md"))]
    pub mod hosts {}

    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/memory.md"))]
    pub mod memory {}

    #[cfg(feature = "cpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/on_the_cpu.md"))]
    pub mod on_the_cpu {}

    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/rendering.md"))]
    pub mod rendering {}

    #[cfg(feature = "gpu")]
    #[doc = concat!(include_str!("docs/links.md"), include_str!("docs/services.md"))]
    pub mod services {}
}

// For the tests of this crate alone; any version may change it or leave it out.
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub use gpu::TestHooks;

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
