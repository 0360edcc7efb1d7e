//! Schedules on the host: an interpreter of shaders runs every workgroup of every dispatch. It needs no driver and
//! compiles nothing, so a kernel that only one case takes costs no more than one that all take.
//!
//! The invocations of a workgroup run in step, each statement for all of them before the next one, so that barriers
//! need nothing. What lies outside of a buffer is read as zero; a store there is an error, since not every device
//! leaves it out. What is not found in this crate's kernels is an error too.

mod buffers;
mod expressions;
mod machine;
mod mask;
mod memory;
mod operations;

use std::sync::Arc;

use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgpu_pooling::{
    BoxFuture, ExecuteError, KernelKey, Operand, Plan, PreparedPlan, Report, Schedule, TensorMut, TensorRef, wgsl,
};

use buffers::Buffers;
use machine::workgroup;

/// A kernel's text, parsed.
struct Kernel {
    module: Module,
    info: ModuleInfo,
}

impl Kernel {
    fn of(key: &KernelKey) -> Kernel {
        let text = wgsl(key);
        let parsed = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text));
        let module = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
        // The crate's devices have no optional features.
        let valid = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        let info = valid.unwrap_or_else(|error| panic!("{}\n{text}", error.emit_to_string(&text)));
        Kernel { module, info }
    }
}

struct Interpreted(Schedule);

/// A schedule that computes its plan in the interpreter.
pub fn interpreted(schedule: Schedule) -> Arc<dyn PreparedPlan> {
    Arc::new(Interpreted(schedule))
}

impl Interpreted {
    /// The buffers after all dispatches.
    fn executed(&self, inputs: &[TensorRef<'_>]) -> Buffers {
        let mut buffers = Buffers::new(&self.0, inputs);
        // A kernel that is cut into many dispatches is parsed once.
        let mut parsed: Vec<(&KernelKey, Kernel)> = Vec::new();
        for dispatch in self.0.dispatches() {
            buffers.bind(dispatch);
            let key = dispatch.key();
            let known = parsed.iter().position(|(own, _)| *own == key).unwrap_or_else(|| {
                parsed.push((key, Kernel::of(key)));
                parsed.len() - 1
            });
            let uniform: Vec<u32> = bytemuck::pod_collect_to_vec(dispatch.uniform());
            let grid = dispatch.grid();
            for number in 0..grid.into_iter().product() {
                let number = [number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]];
                workgroup(&parsed[known].1, [number, grid], &uniform, &mut buffers)
                    .unwrap_or_else(|error| panic!("{}: {error}", key.name()));
            }
        }
        buffers
    }
}

impl PreparedPlan for Interpreted {
    fn plan(&self) -> &Plan {
        self.0.plan()
    }

    fn kernel(&self) -> String {
        self.0.kernel()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.run_blocking(inputs, outputs) })
    }

    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        let mut buffers = self.executed(inputs);
        if let Some(bytes) = buffers.bytes(Operand::Report) {
            Report::from_bytes(bytes).expect("the bytes of a report").check(self.plan())?;
        }
        for (&operand, tensor) in self.0.output_operands().iter().zip(outputs) {
            let bytes = tensor.bytes_mut()?;
            if let Some(buffer) = buffers.bytes(operand).filter(|_| !bytes.is_empty()) {
                let (of_tensor, tail) = buffer.split_at(bytes.len());
                assert!(tail.iter().all(|&byte| byte == 0), "bytes after {operand:?} are {tail:x?}");
                bytes.copy_from_slice(of_tensor);
            }
        }
        Ok(())
    }
}
