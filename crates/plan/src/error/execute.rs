//! Errors that depend on data or on a device.

use super::plan::PlanError;

/// The reason why a computation has no result: the plan, the data or the device.
///
/// The caller's data is unchanged when an error is returned. Outputs may be written in part where a call was stopped
/// ([`ExecuteError::Interrupted`]) or ran out of memory ([`ExecuteError::OutOfMemory`]), in streams, which write tile
/// by tile, and where the caller said that they are [fresh](crate::TensorMut::fresh).
///
/// ```
/// use wgpu_pooling::{ExecuteError, MaxUnpool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 1], &[1.0f32])?;
/// let indices = TensorView::new(&[1, 1, 1], &[7i64])?;
/// let error = MaxUnpool::new([2]).strides([2]).on(x, indices).run_blocking(&Reference).unwrap_err();
/// assert_eq!(error, ExecuteError::IndexOutOfRange { position: 0, value: 7, index_count: 2, count: 1 });
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The attributes, shapes or limits do not allow the computation.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A tensor of another element or index type than the plan was made for.
    #[error("{what} is {actual}, but the plan was made for {expected}")]
    TypeMismatch {
        /// Which tensor: `x`, `indices` or `y`.
        what: &'static str,
        /// The plan's type.
        expected: &'static str,
        /// The tensor's type.
        actual: &'static str,
    },
    /// A device tensor was requested as elements of another type.
    #[error("the tensor is {tensor}, but was asked for as {asked}")]
    ReadBackType {
        /// The tensor's element type.
        tensor: &'static str,
        /// The requested type.
        asked: &'static str,
    },
    /// A tensor of another shape than the plan was made for.
    #[error("{what} has the shape {actual:?}, but the plan was made for {expected:?}")]
    ShapeMismatch {
        /// Which tensor: `x`, `indices` or `y`.
        what: &'static str,
        /// The plan's shape.
        expected: Vec<usize>,
        /// The tensor's shape.
        actual: Vec<usize>,
    },
    /// A device tensor of another layout than the plan was made for.
    #[error("{what} is laid out {actual}, but the plan was made for {expected}")]
    LayoutMismatch {
        /// Which tensor: `x`, `indices` or `y`.
        what: &'static str,
        /// The plan's layout.
        expected: crate::options::Layout,
        /// The tensor's layout.
        actual: crate::options::Layout,
    },
    /// The plan is a pool where an unpool is needed, or the other way round.
    #[error("the plan is of the kind {planned}, but the call is of the kind {called}")]
    OperatorMismatch {
        /// The plan's operator.
        planned: &'static str,
        /// The call's operator.
        called: &'static str,
    },
    /// An unpool or [`IndexSpace::convert`](crate::IndexSpace::convert) met indices outside the index space. Nothing
    /// was written for them, and no output is returned.
    #[error("indices[{position}] is {value}, outside the valid range [0, {index_count}); {count} such indices in all")]
    IndexOutOfRange {
        /// The flat position of the first bad index in the index tensor, as stored.
        position: u64,
        /// Its value.
        value: i64,
        /// The first value that is too large: valid indices are 0 to `index_count - 1`.
        index_count: u64,
        /// The number of bad indices.
        count: u64,
    },
    /// Indices of an unpool lie outside their own windows, under [`OutsideWindow::Error`](crate::OutsideWindow::Error).
    /// No output is returned.
    #[error("indices[{position}] lies outside its own window; {count} such indices in all")]
    IndexOutsideWindow {
        /// The flat position of the first of them in the index tensor, as stored.
        position: u64,
        /// The number of such indices; that of a report which was kept over many runs is modulo 2^32.
        count: u64,
    },
    /// [`IndexSpace::convert`](crate::IndexSpace::convert) met indices that name elements of another plane, which a
    /// convention that does not count planes cannot.
    #[error("indices[{position}] is {value}, which names another plane than its own; {count} bad indices in all")]
    IndexNotInPlane {
        /// The flat position of the first bad index in the index tensor, as stored.
        position: u64,
        /// Its value.
        value: i64,
        /// The number of bad indices, including those outside the range.
        count: u64,
    },
    /// A buffer that the schedule needs was not given. Every unpool needs a report, except those that skip bad indices.
    #[error("{what} is missing, but the schedule needs it")]
    BufferMissing {
        /// Which buffer, by the field of `Buffers` or the name of the argument.
        what: &'static str,
    },
    /// A buffer slice that is too short.
    #[error("{what} has {actual} bytes, but {needed} are needed")]
    BufferTooShort {
        /// Which buffer, by the field of `Buffers` or the name of the argument.
        what: &'static str,
        /// The bytes needed: whole words.
        needed: u64,
        /// The slice's bytes.
        actual: u64,
    },
    /// A buffer slice whose offset the device cannot bind.
    #[error("{what} begins at byte {offset}, which is no multiple of {alignment}")]
    BufferMisaligned {
        /// Which buffer, by the field of `Buffers` or the name of the argument.
        what: &'static str,
        /// The slice's offset in its buffer, in bytes.
        offset: u64,
        /// The device's alignment, in bytes.
        alignment: u64,
    },
    /// A buffer that was created without a usage that the schedule needs.
    #[error("the buffer of {what} was not made with the usage {usage}")]
    BufferUsage {
        /// Which buffer, by the field of `Buffers` or the name of the argument.
        what: &'static str,
        /// The missing usage.
        usage: &'static str,
    },
    /// One buffer was given for two purposes, and at least one of them writes. A dispatch must not bind one buffer as
    /// read-only and as writable storage, even where the slices do not overlap. Outputs may be parts of one buffer, and
    /// with `Schedule::with_writable_inputs` inputs too; scratch memory may
    /// not.
    #[error(
        "{first} and {second} are slices of one buffer, and one of them is written; see Schedule::with_writable_inputs"
    )]
    BufferShared {
        /// One of them, by its field.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Two tensors in one buffer, of which one is bound as writable, overlap.
    #[error(
        "{first} in bytes {} to {} and {second} in bytes {} to {} of one buffer overlap",
        of_first.start, of_first.end, of_second.start, of_second.end
    )]
    BufferOverlap {
        /// One of them, by its field.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// The bytes of the first in the buffer.
        of_first: std::ops::Range<u64>,
        /// The bytes of the second in the buffer.
        of_second: std::ops::Range<u64>,
    },
    /// The call needs a feature that the device was not opened with.
    #[error("the device was not opened with the feature {feature}")]
    FeatureMissing {
        /// The feature's name in `wgpu::Features`.
        feature: &'static str,
    },
    /// A tensor or a prepared schedule of another `Gpu` than the call's. Clones of a `Gpu` count as the same one. Two
    /// `Gpu`s made of one device do not, because wgpu cannot compare devices across instances.
    #[error("{what} belongs to another Gpu")]
    OtherGpu {
        /// A tensor, or the kind of the prepared plan: `pool` or `unpool`.
        what: &'static str,
    },
    /// A readback (`ReadBack`) that was requested from another chain.
    #[error("the readback was asked of another chain")]
    OtherChain,
    /// A step of a chain met bad data.
    #[error("step {step} of the chain, {kernel}: {error}")]
    InChain {
        /// The step's number, from 0, in the order in which the steps were encoded.
        step: usize,
        /// The schedule's name.
        kernel: String,
        /// The error of the step.
        error: Box<ExecuteError>,
    },
    /// A source of a stream failed.
    #[error("reading {elements} elements of {what} from {first} on: {error}")]
    Source {
        /// The input: `x` or `indices`.
        what: &'static str,
        /// The first element.
        first: u64,
        /// The number of elements requested.
        elements: u64,
        /// The source's error.
        error: String,
    },
    /// A sink of a stream failed.
    #[error("writing {elements} elements to {what} from {first} on: {error}")]
    Sink {
        /// The output: `y` or `indices`.
        what: &'static str,
        /// The first element.
        first: u64,
        /// The number of elements written.
        elements: u64,
        /// The sink's error.
        error: String,
    },
    /// The progress callback of a stream stopped it. Tiles that were written until then stay written.
    #[error("stopped after {done} of {tiles} tiles")]
    Stopped {
        /// The tiles that were written.
        done: u64,
        /// The tiles of the whole run.
        tiles: u64,
    },
    /// The caller stopped a call of the CPU backend. Outputs of the caller have been written in part.
    #[error("interrupted by the caller")]
    Interrupted,
    /// The processor lacks the vector instructions that were asked for.
    #[error("this processor does not have {level}")]
    SimdMissing {
        /// The name of the level.
        level: &'static str,
    },
    /// No adapter matches the request.
    #[error("no usable GPU adapter: {0}")]
    NoAdapter(String),
    /// The adapter did not open a device.
    #[error("the adapter opened no device: {0}")]
    NoDevice(String),
    /// The device is lost; a new one has to be opened.
    #[error("the device is lost: {0}")]
    DeviceLost(String),
    /// The device or the host is out of memory. The device remains usable.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// wgpu refused a shader or a call. This is a defect of the crate, unless a caller's buffers are at fault, or a
    /// caller's device was lost and its loss was not reported through `Gpu::loss_notifier`.
    #[error("refused by wgpu: {0}")]
    Device(String),
}
