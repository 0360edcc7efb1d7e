//! A schedule as JSON: everything that a program on another WebGPU needs to execute it.

use std::error::Error;

use serde_json::{Map, Value, json};
use wgpu_pooling::{BoundRange, Dispatch, Operand, Schedule, TensorSpec, wgsl};

/// The schedule. `buffers` has the bytes of each buffer that `bindings` name; that of the tables has its contents too.
pub fn of(schedule: &Schedule) -> Result<String, Box<dyn Error>> {
    let mut buffers = Map::new();
    for operand in schedule.operands() {
        let mut buffer = json!({ "bytes": schedule.operand_bytes(operand) });
        if operand == Operand::Tables {
            buffer["contents"] = hex(&schedule.window_tables()?).into();
        }
        buffers.insert(operand.name(), buffer);
    }
    let plan = schedule.plan();
    let document = json!({
        "operator": plan.operator(),
        "inputs": plan.inputs().iter().map(tensor).collect::<Vec<_>>(),
        "outputs": plan.outputs().iter().map(tensor).collect::<Vec<_>>(),
        "bytes_moved": schedule.bytes_moved(),
        "buffers": buffers,
        "dispatches": schedule.dispatches().iter().map(|it| dispatch(schedule, it)).collect::<Vec<_>>(),
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

fn tensor(spec: &TensorSpec) -> Value {
    json!({ "shape": spec.shape, "dtype": spec.dtype.name(), "layout": spec.layout.name(), "bytes": spec.device_bytes() })
}

fn dispatch(schedule: &Schedule, dispatch: &Dispatch) -> Value {
    let bindings = dispatch.bindings().map(|(binding, range)| {
        let mut value = bound(schedule, range);
        value["binding"] = binding.number.into();
        value["read_only"] = binding.read_only.into();
        value
    });
    let mut value = json!({
        "kernel": dispatch.key().name(),
        "family": schedule.family().name(),
        "wgsl": wgsl(dispatch.key()),
        "entry": dispatch.entry_point(),
        "workgroup_size": dispatch.workgroup_size(),
        "uniform": hex(dispatch.uniform()),
        "bindings": bindings.collect::<Vec<_>>(),
    });
    match dispatch.indirect() {
        Some(grid) => value["indirect"] = bound(schedule, grid),
        None => value["grid"] = dispatch.grid().as_slice().into(),
    }
    value
}

/// The range of a buffer.
fn bound(schedule: &Schedule, range: BoundRange) -> Value {
    let bytes = range.bytes.or_else(|| schedule.operand_bytes(range.operand));
    json!({ "buffer": range.operand.name(), "offset": range.offset, "bytes": bytes })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
