//! What does not need onnxruntime: which operators there are, and how a node of one is computed.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use wgpu_pooling::{
    Attribute, Backend, Cpu, Device, ExecuteError, Gpu, GpuOptions, Node, Plan, PlanError, PreparedPlan, Preset,
    TensorMut, TensorRef,
};

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

    /// The version of the operator set that the operators are of.
    ///
    /// No operator of ONNX's is of version 0. onnxruntime's optimiser rewrites nodes, and computes those of constants
    /// with a kernel of its own, by the version of their operator: so it finds nothing for these nodes and leaves them
    /// as they are, whatever their neighbours.
    pub const fn version(self) -> i32 {
        match self {
            Domain::Own | Domain::Nhwc => 1,
            Domain::Onnx => 0,
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
    #[error(
        "this session was made by the process {0} before a fork, and this is the process {1}: make one in the worker"
    )]
    Forked(u32, u32),
    #[error("the device is lost ({reason}), and another one cannot be opened: {error}")]
    NotReplaced { reason: String, error: ExecuteError },
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

    /// The open device. One that is `lost` is replaced, once for all nodes.
    fn device(&self, lost: Option<&Arc<Device>>) -> Result<Arc<Device>, ExecuteError> {
        let mut kept = locked(&self.device);
        if let Some(device) = kept.upgrade().filter(|device| !lost.is_some_and(|lost| Arc::ptr_eq(lost, device))) {
            return Ok(device);
        }
        let device = match self.place {
            Place::Cpu => Cpu::new().into(),
            Place::Gpu => Gpu::new_blocking()?.into(),
            // The CPU backend is faster than a GPU that is computed on the CPU.
            Place::Auto => Device::open_blocking(&GpuOptions::new()).0,
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

/// A node of a session. It belongs to the process that made it: a forked child has none of the threads that its device
/// and the CPU backend wait for.
pub(crate) struct Kernel {
    node: Node,
    shared: &'static Shared,
    state: Mutex<State>,
    process: u32,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // Dropping a device waits for its threads too, so that a child leaks it.
        if std::process::id() != self.process {
            // Without the lock, which a thread of the parent may have held at the fork.
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(state.clone());
        }
    }
}

/// Where a node is computed, and the last call's preparation there: most sessions have the same shapes in each call.
#[derive(Clone)]
struct State {
    device: Arc<Device>,
    prepared: Option<Arc<dyn PreparedPlan>>,
}

impl Kernel {
    /// # Errors
    /// Those of the attributes; those of opening the device.
    pub fn new(
        (domain, kind): (Domain, Kind),
        attributes: Vec<(&'static str, Attribute)>,
        shared: &'static Shared,
    ) -> Result<Kernel, Error> {
        // Attributes mean the same in every opset that onnxruntime takes, with its own conventions.
        let name = kind.name().to_string_lossy();
        let node = Node::new(name, LATEST).domain(domain.name().to_string_lossy());
        let node = node.preset(domain.preset()).attributes(attributes);
        node.operator()?;
        let state = State { device: shared.device(None)?, prepared: None };
        Ok(Kernel { node, shared, state: Mutex::new(state), process: std::process::id() })
    }

    pub fn device(&self) -> String {
        locked(&self.state).device.name()
    }

    /// The plan of the node for these inputs and this number of outputs.
    pub fn plan(&self, inputs: &[TensorRef<'_>], outputs: usize) -> Result<Plan, Error> {
        Ok(self.node.plan(inputs, outputs)?)
    }

    /// Computes a plan of this node. A device that is lost is replaced, once, by one that computes it then.
    pub fn run(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<Option<Replaced>, Error> {
        let here = std::process::id();
        if here != self.process {
            return Err(Error::Forked(self.process, here));
        }
        let state = locked(&self.state).clone();
        match self.run_on(&state, plan, inputs, outputs) {
            Err(ExecuteError::DeviceLost(reason)) => {
                let device = self.shared.device(Some(&state.device));
                let device = device.map_err(|error| Error::NotReplaced { reason: reason.clone(), error })?;
                let replaced = Replaced { reason, device: device.name() };
                let state = State { device, prepared: None };
                *locked(&self.state) = state.clone();
                self.run_on(&state, plan, inputs, outputs)?;
                Ok(Some(replaced))
            }
            other => Ok(other.map(|()| None)?),
        }
    }

    fn run_on(
        &self,
        state: &State,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        if let Some(prepared) = state.prepared.as_ref().filter(|prepared| prepared.plan() == plan) {
            return prepared.run_blocking(inputs, outputs);
        }
        let prepared = pollster::block_on(state.device.prepare(plan.clone()))?;
        let mut kept = locked(&self.state);
        // Another thread may have replaced the device meanwhile.
        if Arc::ptr_eq(&kept.device, &state.device) {
            kept.prepared = Some(Arc::clone(&prepared));
        }
        drop(kept);
        prepared.run_blocking(inputs, outputs)
    }
}

/// A device that was lost: why, and what computes instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub reason: String,
    pub device: String,
}

/// The latest opset with a rule of its own.
const LATEST: i64 = 22;

/// The attributes that are asked for, whatever the operator: one that it does not have is refused.
pub(crate) const ATTRIBUTES: [&CStr; 11] = [
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
    c"preset",
];

#[cfg(test)]
mod tests {
    use wgpu_pooling::DType;

    use super::*;

    /// Nodes of one session, of which the second one computes on the lost device first.
    #[test]
    fn a_lost_device_is_opened_again_once_for_all_nodes() {
        let shared: &'static Shared = Box::leak(Box::new(Shared::new(Place::Gpu)));
        let kernel = || {
            let attributes = vec![("kernel_shape", Attribute::Ints(vec![2])), ("strides", Attribute::Ints(vec![2]))];
            Kernel::new((Domain::Onnx, Kind::MaxPool), attributes, shared).expect("a GPU, or one in software")
        };
        let kernels = [kernel(), kernel()];
        let x: Vec<u8> = [1.0f32, 3.0, 9.0, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let y: Vec<u8> = [3.0f32, 9.0].iter().flat_map(|y| y.to_le_bytes()).collect();
        let computed = |kernel: &Kernel| {
            let x = TensorRef::new(DType::F32, &[1, 1, 4], &x).expect("the bytes of four elements");
            let plan = kernel.plan(&[x], 1).expect("a valid node");
            let mut bytes = [0xA5; 8];
            let mut outputs = [TensorMut::new(DType::F32, &[1, 1, 2], &mut bytes).expect("the bytes of two elements")];
            let lost = kernel.run(&plan, &[x], &mut outputs).expect("an answer");
            assert_eq!(bytes, y[..]);
            lost.map(|replaced| replaced.reason)
        };
        assert_eq!(computed(&kernels[0]), None);
        let opened = || kernels.each_ref().map(|kernel| Arc::clone(&locked(&kernel.state).device));
        let before = opened();
        assert!(Arc::ptr_eq(&before[0], &before[1]));
        let lose = |device: &Device| {
            let Device::Gpu(gpu) = device else { panic!("asked for a GPU") };
            gpu.loss_notifier()("the test says so".to_owned());
        };
        lose(&before[0]);
        for kernel in &kernels {
            assert_eq!(computed(kernel).as_deref(), Some("the test says so"));
            assert_eq!(computed(kernel), None);
        }
        let after = opened();
        assert!(Arc::ptr_eq(&after[0], &after[1]) && !Arc::ptr_eq(&after[0], &before[0]));
        // A node that has not noticed a loss goes on after the next one, too.
        lose(&after[0]);
        assert!(computed(&kernels[0]).is_some());
        lose(&opened()[0]);
        let x = TensorRef::new(DType::F32, &[1, 1, 4], &x).expect("the bytes of four elements");
        let plan = kernels[1].plan(&[x], 1).expect("a valid node");
        let mut bytes = [0; 8];
        let mut outputs = [TensorMut::new(DType::F32, &[1, 1, 2], &mut bytes).expect("the bytes of two elements")];
        let twice = kernels[1].run(&plan, &[x], &mut outputs);
        assert!(matches!(twice, Err(Error::Execute(ExecuteError::DeviceLost(_)))), "{twice:?}");
        assert!(computed(&kernels[1]).is_some() && computed(&kernels[1]).is_none());
    }
}
