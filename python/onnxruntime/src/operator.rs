//! What does not need onnxruntime: which operators there are, and how a node of one is computed.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use wgpu_pooling::{Attribute, Cpu, Device, ExecuteError, Gpu, Node, PlanError, PreparedOn, Preset, TensorRef, wgpu};

/// An operator's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    MaxPool,
    MaxUnpool,
    AdaptiveMaxPool,
}

/// Whether an input or an output can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

/// The element type of an input or an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    OfX,
    I64,
}

impl Kind {
    pub const fn name(self) -> &'static CStr {
        match self {
            Kind::MaxPool => c"MaxPool",
            Kind::MaxUnpool => c"MaxUnpool",
            Kind::AdaptiveMaxPool => c"AdaptiveMaxPool",
        }
    }

    /// X of a pool; X, Indices and `output_shape` of an unpool.
    pub const fn inputs(self) -> &'static [(Elements, Need)] {
        const X: (Elements, Need) = (Elements::OfX, Need::Required);
        match self {
            Kind::MaxPool | Kind::AdaptiveMaxPool => &[X],
            Kind::MaxUnpool => &[X, (Elements::I64, Need::Required), (Elements::I64, Need::Optional)],
        }
    }

    /// Y, and Indices of a pool.
    pub const fn outputs(self) -> &'static [(Elements, Need)] {
        const Y: (Elements, Need) = (Elements::OfX, Need::Required);
        match self {
            Kind::MaxPool | Kind::AdaptiveMaxPool => &[Y, (Elements::I64, Need::Optional)],
            Kind::MaxUnpool => &[Y],
        }
    }
}

/// A domain with its operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    Own,
    Nhwc,
    Onnx,
}

impl Domain {
    pub const fn name(self) -> &'static CStr {
        match self {
            Domain::Own => c"wgpu.pooling",
            Domain::Nhwc => c"com.ms.internal.nhwc",
            Domain::Onnx => c"",
        }
    }

    pub const fn kinds(self) -> &'static [Kind] {
        match self {
            Domain::Own => &[Kind::MaxPool, Kind::MaxUnpool, Kind::AdaptiveMaxPool],
            Domain::Nhwc | Domain::Onnx => &[Kind::MaxPool, Kind::MaxUnpool],
        }
    }

    /// The runtime whose conventions hold where it departs from the specification.
    const fn preset(self) -> Preset {
        match self {
            Domain::Own => Preset::Onnx,
            Domain::Nhwc | Domain::Onnx => Preset::OnnxRuntime,
        }
    }
}

/// Where nodes are computed, as the session's configuration says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Auto,
    Gpu,
    Cpu,
}

/// What can go wrong before a node is computed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("wgpu_pooling.device is {0:?}; auto, gpu and cpu are possible")]
    Place(String),
    #[error("wgpu_pooling.ai_onnx is {0:?}; 0 and 1 are possible")]
    AiOnnx(String),
    #[error("a dimension of {0} is negative")]
    NegativeDimension(i64),
    #[error("onnxruntime {0}")]
    Runtime(String),
    #[error("the call ended in a panic; this is an error of wgpu-pooling")]
    Panic,
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Error {
        Error::Execute(error.into())
    }
}

impl Place {
    pub fn parse(text: Option<&str>) -> Result<Place, Error> {
        match text {
            None | Some("auto") => Ok(Place::Auto),
            Some("gpu") => Ok(Place::Gpu),
            Some("cpu") => Ok(Place::Cpu),
            Some(other) => Err(Error::Place(other.to_owned())),
        }
    }
}

/// Whether `ai.onnx` is asked for.
pub(crate) fn parse_ai_onnx(text: Option<&str>) -> Result<bool, Error> {
    match text {
        None | Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => Err(Error::AiOnnx(other.to_owned())),
    }
}

/// The device that the nodes of one registration share. It is open as long as one of them lives.
#[derive(Debug)]
pub(crate) struct Shared {
    place: Place,
    device: Mutex<Weak<Device>>,
}

impl Shared {
    pub fn new(place: Place) -> Shared {
        Shared { place, device: Mutex::new(Weak::new()) }
    }

    fn device(&self) -> Result<Arc<Device>, ExecuteError> {
        let mut kept = locked(&self.device);
        if let Some(device) = kept.upgrade() {
            return Ok(device);
        }
        let device = match self.place {
            Place::Cpu => Cpu::new().into(),
            Place::Gpu => Gpu::new_blocking()?.into(),
            Place::Auto => match Gpu::new_blocking() {
                // The CPU backend is faster than a GPU that is computed on the CPU.
                Ok(gpu) if gpu.adapter_info().device_type != wgpu::DeviceType::Cpu => gpu.into(),
                _ => Cpu::new().into(),
            },
        };
        let device = Arc::new(device);
        *kept = Arc::downgrade(&device);
        Ok(device)
    }
}

/// What is behind the lock. A panic while it was held left no half of anything there: only whole values are put there.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A node of a session.
pub(crate) struct Kernel {
    node: Node,
    device: Arc<Device>,
    /// The last call's preparation: most sessions have the same shapes in each call.
    prepared: Mutex<Option<Arc<PreparedOn>>>,
}

impl Kernel {
    /// # Errors
    /// Those of the attributes; those of opening the device.
    pub fn new(
        (domain, kind): (Domain, Kind),
        attributes: Vec<(&'static str, Attribute)>,
        shared: &Shared,
    ) -> Result<Kernel, Error> {
        // Attributes mean the same in every opset that onnxruntime takes, with its own conventions.
        let name = kind.name().to_string_lossy();
        let node = Node::new(name, LATEST).domain(domain.name().to_string_lossy());
        let node = node.preset(domain.preset()).attributes(attributes);
        node.operator()?;
        Ok(Kernel { node, device: shared.device()?, prepared: Mutex::new(None) })
    }

    pub fn device(&self) -> String {
        self.device.name()
    }

    /// The node made ready for these inputs and this number of outputs.
    pub fn prepare(&self, inputs: &[TensorRef<'_>], outputs: usize) -> Result<Arc<PreparedOn>, Error> {
        let plan = self.node.plan(inputs, outputs)?;
        let kept = locked(&self.prepared).clone();
        if let Some(prepared) = kept.filter(|prepared| *prepared.plan() == plan) {
            return Ok(prepared);
        }
        let prepared = Arc::new(self.device.prepare_blocking(plan)?);
        *locked(&self.prepared) = Some(prepared.clone());
        Ok(prepared)
    }
}

/// The latest opset with a rule of its own.
const LATEST: i64 = 22;

/// The attributes that are asked for, whatever the operator: one that it does not have is refused.
pub(crate) const ATTRIBUTES: [&CStr; 10] = [
    c"kernel_shape",
    c"strides",
    c"pads",
    c"dilations",
    c"auto_pad",
    c"ceil_mode",
    c"storage_order",
    c"output_size",
    c"activation",
    c"activation_params",
];
