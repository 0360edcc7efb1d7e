//! A schedule as JSON: everything that a program on another WebGPU needs to execute it.

use std::collections::TryReserveError;

use serde_json::{Map, Value, json};
use wgpu_pooling::{BoundRange, Dispatch, IndexSpace, KernelKey, Limits, Operand, Schedule, TensorSpec};

/// The schedule, and the limits that it was selected for. `buffers` has the bytes of each buffer that `bindings` name;
/// that of the tables has its contents too. `wgsl` gives the text of a kernel.
pub fn of(
    schedule: &Schedule,
    limits: &Limits,
    mut wgsl: impl FnMut(&KernelKey) -> String,
) -> Result<Value, TryReserveError> {
    let mut buffers = Map::new();
    for operand in schedule.operands() {
        let mut buffer = json!({ "bytes": schedule.operand_bytes(operand) });
        if operand == Operand::Tables {
            buffer["contents"] = hex(&schedule.window_tables()?).into();
        }
        buffers.insert(operand.name(), buffer);
    }
    let plan = schedule.plan();
    let tensors = |specs: &[TensorSpec], operands: &[Operand]| -> Vec<Value> {
        specs.iter().zip(operands).map(|(spec, &operand)| tensor(spec, operand)).collect()
    };
    let dispatches = (0..).zip(schedule.dispatches()).map(|it| dispatch(schedule, it, wgsl(it.1.key())));
    let dispatches = dispatches.collect::<Vec<_>>();
    let slices = schedule.slices().into_iter().map(|slice| [slice.start, slice.end]);
    Ok(json!({
        "operator": plan.operator(),
        "inputs": tensors(plan.inputs(), schedule.input_operands()),
        "outputs": tensors(plan.outputs(), schedule.output_operands()),
        "index_space": plan.index_space().map(space),
        "bytes_moved": schedule.bytes_moved(),
        "keeps_report": schedule.keeps_report(),
        "clears_scratch": schedule.clears_scratch(),
        "slices": slices.collect::<Vec<_>>(),
        "buffers": buffers,
        "limits": {
            "max_buffer_bytes": limits.max_buffer_bytes,
            "max_binding_bytes": limits.max_binding_bytes,
            "max_workgroups_per_dimension": limits.max_workgroups_per_dimension,
            "max_storage_buffers": limits.max_storage_buffers,
            "software": limits.software,
        },
        "dispatches": dispatches,
    }))
}

fn tensor(spec: &TensorSpec, operand: Operand) -> Value {
    let (dtype, layout) = (spec.dtype.name(), spec.layout.name());
    json!({ "buffer": operand.name(), "shape": spec.shape, "dtype": dtype, "layout": layout })
}

fn space(space: &IndexSpace) -> Value {
    let (flatten, order) = (space.flatten().name(), space.order().name());
    json!({ "flatten": flatten, "order": order, "layout": space.layout().name(), "shape": space.shape() })
}

fn dispatch(schedule: &Schedule, (number, dispatch): (usize, &Dispatch), wgsl: String) -> Value {
    let bindings = dispatch.bindings().map(|(binding, range)| {
        let mut value = bound(schedule, range);
        value["binding"] = binding.number.into();
        value["read_only"] = binding.read_only.into();
        value
    });
    json!({
        "kernel": dispatch.key().name(),
        "family": schedule.family_of(number).name(),
        "wgsl": wgsl,
        "entry": dispatch.entry_point(),
        "workgroup_size": dispatch.workgroup_size(),
        "uniform": hex(dispatch.uniform()),
        "bindings": bindings.collect::<Vec<_>>(),
        "grid": dispatch.grid(),
    })
}

/// The range of a buffer.
fn bound(schedule: &Schedule, range: BoundRange) -> Value {
    let bytes = range.bytes.or_else(|| schedule.operand_bytes(range.operand));
    json!({ "buffer": range.operand.name(), "offset": range.offset, "bytes": bytes })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
