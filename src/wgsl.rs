//! From a kernel's key to its text: a prelude of constants, then parts of shaders/ in a fixed order.
//!
//! Parts are whole, readable WGSL files; a variant is a file that defines the same names as its siblings. Nothing is
//! substituted inside a part. Four kernels have a body that depends on how many taps, outputs and words there are: blocks,
//! patches, reductions and cells. Theirs is written out behind their parts (src/wgsl/), as loops over small arrays would be
//! kept in memory by drivers.

use std::fmt::Write;

use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;
use crate::kernel::{ActivationKind, KernelKey, Sink, Source, WindowConstants};

/// Appends a line. Writing to a String cannot fail.
macro_rules! line {
    ($text:expr, $($format:tt)*) => {{
        let _ = writeln!($text, $($format)*);
    }};
}

mod block;
mod cells;
mod memory;
mod patch;
mod reduce;

macro_rules! parts {
    ($($path:literal),+ $(,)?) => {
        /// Every shader part: its path under shaders/ and its text.
        pub(crate) const PARTS: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../shaders/", $path)))),+];
    };
}

parts![
    "element/word8.wgsl",
    "element/word16.wgsl",
    "element/word32.wgsl",
    "element/word64.wgsl",
    "element/memory8.wgsl",
    "element/memory16.wgsl",
    "element/memory32.wgsl",
    "element/memory64.wgsl",
    "element/key32.wgsl",
    "element/key64.wgsl",
    "element/f32.wgsl",
    "element/f16.wgsl",
    "element/bf16.wgsl",
    "element/f64.wgsl",
    "element/i8.wgsl",
    "element/u8.wgsl",
    "element/i16.wgsl",
    "element/u16.wgsl",
    "element/i32.wgsl",
    "element/u32.wgsl",
    "element/i64.wgsl",
    "element/u64.wgsl",
    "activation/parameters.wgsl",
    "activation/none.wgsl",
    "activation/clip.wgsl",
    "activation/via_f32.wgsl",
    "activation/via_f16.wgsl",
    "activation/via_bf16.wgsl",
    "activation/exponential.wgsl",
    "activation/leaky_relu.wgsl",
    "activation/hard_sigmoid.wgsl",
    "activation/tanh.wgsl",
    "activation/sigmoid.wgsl",
    "window/windows.wgsl",
    "window/uniform.wgsl",
    "window/constant.wgsl",
    "window/whole.wgsl",
    "window/part.wgsl",
    "window/fold.wgsl",
    "core/grid.wgsl",
    "core/present.wgsl",
    "core/pick.wgsl",
    "core/pool.wgsl",
    "core/candidate.wgsl",
    "core/rank.wgsl",
    "core/elements.wgsl",
    "core/candidates.wgsl",
    "core/looked_at.wgsl",
    "core/scan.wgsl",
    "core/ordered.wgsl",
    "core/accumulators.wgsl",
    "core/scanned.wgsl",
    "core/accumulated.wgsl",
    "core/unpool.wgsl",
    "core/stream.wgsl",
    "core/convert.wgsl",
    "core/status.wgsl",
    "core/reported.wgsl",
    "core/reported_apart.wgsl",
    "core/owners.wgsl",
    "index/wide.wgsl",
    "index/divide.wgsl",
    "index/flat.wgsl",
    "index/write.wgsl",
    "index/none.wgsl",
    "index/store_i32.wgsl",
    "index/store_i64.wgsl",
    "index/read_i32.wgsl",
    "index/read_i64.wgsl",
    "kernel/pool_values.wgsl",
    "kernel/pool_candidates.wgsl",
    "kernel/pool_accumulate.wgsl",
    "kernel/unpool_check.wgsl",
    "kernel/unpool_gather.wgsl",
    "kernel/unpool_decide.wgsl",
    "kernel/unpool_clear.wgsl",
    "kernel/unpool_claim.wgsl",
    "kernel/unpool_emit.wgsl",
    "kernel/unpool_report.wgsl",
    "kernel/convert_clear.wgsl",
    "kernel/convert_indices.wgsl",
    "kernel/convert_report.wgsl",
];

/// The whole text of a kernel.
///
/// ```
/// use wgpu_pooling::{select, wgsl, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).plan(&[1, 1, 4, 4], DType::F32, None)?;
/// let schedule = select(&plan.into(), &Limits::WEBGPU, &Choice::default())?;
/// assert!(wgsl(schedule.dispatches()[0].key()).contains("fn main("));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn wgsl(key: &KernelKey) -> String {
    let mut text = prelude(key);
    for path in composition(key) {
        let (_, part) = PARTS.iter().find(|(name, _)| *name == path).unwrap_or(&("", ""));
        text.push_str(part);
        text.push('\n');
    }
    if let KernelKey::PoolBlock { dtype, sink, block, .. } = key {
        text.push_str(&block::text(*dtype, sink.index_type(), block));
    }
    if let KernelKey::PoolPatch { dtype, sink, patch, .. } = key {
        text.push_str(&patch::text(*dtype, sink.index_type(), patch));
    }
    if let KernelKey::PoolReduce { dtype, load_words, .. } = key {
        text.push_str(&reduce::text(dtype.bytes(), *load_words));
    }
    if let KernelKey::UnpoolCells { dtype, index_type, cells, .. } = key {
        text.push_str(&cells::text(dtype.bytes(), *index_type, cells));
    }
    text
}

/// The constants of a specialised build, one a line.
fn prelude(key: &KernelKey) -> String {
    let mut text = String::new();
    let constants = match key {
        KernelKey::Pool { constants, .. } => constants.as_ref(),
        KernelKey::PoolBlock { block, .. } => Some(&block.window),
        KernelKey::PoolReduce { constants, .. } => Some(constants),
        KernelKey::PoolPatch { patch, .. } => Some(&patch.window),
        _ => None,
    };
    if let Some(constants) = constants {
        let WindowConstants { kernel, stride, dilation, kind, nan_policy } = constants;
        for (name, values) in [("KERNEL", kernel), ("STRIDE", stride), ("DILATION", dilation), ("KIND", kind)] {
            for (axis, value) in values.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "const {name}_{axis}: u32 = {value}u;");
            }
        }
        let _ = writeln!(text, "const NAN_POLICY: u32 = {}u;", nan_policy_number(*nan_policy));
        if let Some(dtype) = key.dtype() {
            let _ = writeln!(text, "const FLOATS: bool = {};", dtype.is_float());
        }
    }
    text
}

/// A NaN rule as the shaders number it.
pub(crate) fn nan_policy_number(policy: NanPolicy) -> u32 {
    match policy {
        NanPolicy::SeedFirst => 0,
        NanPolicy::PropagateLast => 1,
        NanPolicy::SeedLowest => 2,
    }
}

/// The rule of a part of a window whose first element lies elsewhere: NaN never wins (shaders/core/candidate.wgsl).
pub(crate) const IGNORE_NAN: u32 = 3;

/// The parts of a kernel, in the order of their folders: element, activation, window, core, index, kernel.
pub(crate) fn composition(key: &KernelKey) -> Vec<&'static str> {
    match *key {
        KernelKey::Pool { dtype, source, sink, activation, constants } => {
            let mut parts = element(dtype).to_vec();
            parts.push("activation/parameters.wgsl");
            let last = matches!(sink, Sink::Values | Sink::ValuesAndIndices(_));
            if last {
                parts.extend(activation_parts(activation, dtype));
            }
            parts.push("window/windows.wgsl");
            parts.push(if constants.is_some() { "window/constant.wgsl" } else { "window/uniform.wgsl" });
            if source != Source::Accumulators {
                parts.push(if sink == Sink::Accumulators { "window/part.wgsl" } else { "window/whole.wgsl" });
            }
            parts.extend(["core/grid.wgsl", "core/present.wgsl", "core/pool.wgsl", "core/candidate.wgsl"]);
            match source {
                Source::Elements if constants.is_some() => {
                    parts.extend(["core/rank.wgsl", "core/looked_at.wgsl", "core/ordered.wgsl"])
                }
                Source::Elements => parts.extend(["core/elements.wgsl", "core/looked_at.wgsl", "core/scan.wgsl"]),
                Source::Candidates => parts.extend(["core/candidates.wgsl", "core/looked_at.wgsl", "core/scan.wgsl"]),
                Source::Accumulators => {}
            }
            if source == Source::Accumulators || sink == Sink::Accumulators {
                parts.push("core/accumulators.wgsl");
            }
            if last {
                let scanned = source != Source::Accumulators;
                parts.push(if scanned { "core/scanned.wgsl" } else { "core/accumulated.wgsl" });
            }
            match sink {
                Sink::Candidates | Sink::Accumulators => {}
                Sink::Values => parts.push("index/none.wgsl"),
                Sink::ValuesAndIndices(index_type) => {
                    parts.extend(["index/wide.wgsl", "index/flat.wgsl", store_part(index_type), "index/write.wgsl"]);
                }
            }
            parts.push(match sink {
                Sink::Candidates => "kernel/pool_candidates.wgsl",
                Sink::Accumulators => "kernel/pool_accumulate.wgsl",
                Sink::Values | Sink::ValuesAndIndices(_) => "kernel/pool_values.wgsl",
            });
            parts
        }
        KernelKey::PoolBlock { dtype, sink, activation, block } => {
            let [word, _, key, order] = element(dtype);
            let mut parts = vec![word, key, order, "activation/parameters.wgsl"];
            parts.extend(activation_parts(activation, dtype));
            parts.extend(["window/windows.wgsl", "window/constant.wgsl", "window/fold.wgsl", "core/grid.wgsl"]);
            parts.extend(["core/pool.wgsl", "core/candidate.wgsl", "core/rank.wgsl"]);
            if let Some(index_type) = sink.index_type() {
                parts.extend(["index/wide.wgsl", "index/flat.wgsl"]);
                parts.extend(block::store_of_parts(Some(index_type), &block));
            }
            parts
        }
        KernelKey::PoolPatch { dtype, sink, activation, patch } => {
            let [word, _, key, order] = element(dtype);
            let mut parts = vec![word, key, order, "activation/parameters.wgsl"];
            parts.extend(activation_parts(activation, dtype));
            parts.extend(["window/windows.wgsl", "window/constant.wgsl", "window/fold.wgsl", "core/pick.wgsl"]);
            parts.extend(["core/pool.wgsl", "core/candidate.wgsl", "core/rank.wgsl"]);
            if let Some(index_type) = sink.index_type() {
                parts.extend(["index/wide.wgsl", "index/flat.wgsl"]);
                parts.extend(Some(store_part(index_type)).filter(|_| !(patch.exact && patch.same_place)));
            }
            parts
        }
        KernelKey::PoolReduce { dtype, .. } => {
            let [word, _, key, order] = element(dtype);
            let mut parts = vec![word, key, order, "activation/parameters.wgsl"];
            parts.extend(["window/windows.wgsl", "window/constant.wgsl", "core/grid.wgsl", "core/present.wgsl"]);
            parts.extend(["core/pool.wgsl", "core/candidate.wgsl", "core/rank.wgsl"]);
            parts
        }
        KernelKey::UnpoolClear => vec![
            "activation/parameters.wgsl",
            "core/grid.wgsl",
            "core/unpool.wgsl",
            "core/status.wgsl",
            "core/owners.wgsl",
            "kernel/unpool_clear.wgsl",
        ],
        KernelKey::UnpoolClaim { index_type } => vec![
            "activation/parameters.wgsl",
            "core/grid.wgsl",
            "core/unpool.wgsl",
            "core/status.wgsl",
            "core/owners.wgsl",
            read_part(index_type),
            "kernel/unpool_claim.wgsl",
        ],
        KernelKey::UnpoolCheck { index_type } => vec![
            "activation/parameters.wgsl",
            "window/windows.wgsl",
            "core/grid.wgsl",
            "core/stream.wgsl",
            "core/status.wgsl",
            read_part(index_type),
            "kernel/unpool_check.wgsl",
        ],
        KernelKey::UnpoolGather { dtype, index_type, activation } => {
            let mut parts = element(dtype).to_vec();
            parts.push("activation/parameters.wgsl");
            parts.extend(activation_parts(activation, dtype));
            parts.extend([
                "window/windows.wgsl",
                "core/grid.wgsl",
                "core/stream.wgsl",
                read_part(index_type),
                "kernel/unpool_gather.wgsl",
            ]);
            parts
        }
        KernelKey::UnpoolCells { dtype, activation, .. } => {
            let [word, _, key, order] = element(dtype);
            let mut parts = vec![word, key, order, "activation/parameters.wgsl"];
            parts.extend(activation_parts(activation, dtype));
            parts.extend(["window/windows.wgsl", "core/grid.wgsl", "core/stream.wgsl", "core/status.wgsl"]);
            parts
        }
        KernelKey::UnpoolDecide => vec![
            "activation/parameters.wgsl",
            "window/windows.wgsl",
            "core/stream.wgsl",
            "core/status.wgsl",
            "kernel/unpool_decide.wgsl",
        ],
        KernelKey::ConvertClear => vec!["core/grid.wgsl", "core/status.wgsl", "kernel/convert_clear.wgsl"],
        KernelKey::ConvertIndices { from_type, to_type } => vec![
            "core/grid.wgsl",
            "core/convert.wgsl",
            "core/status.wgsl",
            "index/wide.wgsl",
            "index/divide.wgsl",
            read_part(from_type),
            store_part(to_type),
            "kernel/convert_indices.wgsl",
        ],
        KernelKey::ConvertReport { from_type } => {
            vec!["core/convert.wgsl", "core/status.wgsl", read_part(from_type), "kernel/convert_report.wgsl"]
        }
        KernelKey::UnpoolEmit { dtype, index_type, activation } => {
            let mut parts = element(dtype).to_vec();
            parts.push("activation/parameters.wgsl");
            parts.extend(activation_parts(activation, dtype));
            parts.extend(["core/grid.wgsl", "core/unpool.wgsl", "core/owners.wgsl", "kernel/unpool_emit.wgsl"]);
            parts.extend(index_type.map_or(vec!["core/reported_apart.wgsl"], report_parts));
            parts
        }
        KernelKey::UnpoolReport { index_type } => {
            let mut parts = vec!["activation/parameters.wgsl", "core/unpool.wgsl", "kernel/unpool_report.wgsl"];
            parts.extend(report_parts(index_type));
            parts
        }
    }
}

/// Looking up the first bad index.
fn report_parts(index_type: IndexType) -> Vec<&'static str> {
    vec!["core/status.wgsl", read_part(index_type), "core/reported.wgsl"]
}

/// Storage, key and order of an element type.
fn element(dtype: DType) -> [&'static str; 4] {
    let (word, memory, key) = match dtype.bytes() {
        1 => ("element/word8.wgsl", "element/memory8.wgsl", "element/key32.wgsl"),
        2 => ("element/word16.wgsl", "element/memory16.wgsl", "element/key32.wgsl"),
        4 => ("element/word32.wgsl", "element/memory32.wgsl", "element/key32.wgsl"),
        _ => ("element/word64.wgsl", "element/memory64.wgsl", "element/key64.wgsl"),
    };
    let order = match dtype {
        DType::F32 => "element/f32.wgsl",
        DType::F16 => "element/f16.wgsl",
        DType::Bf16 => "element/bf16.wgsl",
        DType::F64 => "element/f64.wgsl",
        DType::I8 => "element/i8.wgsl",
        DType::U8 => "element/u8.wgsl",
        DType::I16 => "element/i16.wgsl",
        DType::U16 => "element/u16.wgsl",
        DType::I32 => "element/i32.wgsl",
        DType::U32 => "element/u32.wgsl",
        DType::I64 => "element/i64.wgsl",
        DType::U64 => "element/u64.wgsl",
    };
    [word, memory, key, order]
}

/// The activation itself, and for those that round the way to f32 and back. Schedules ask for no other element type.
fn activation_parts(activation: ActivationKind, dtype: DType) -> Vec<&'static str> {
    let rounding = match activation {
        ActivationKind::Identity => return vec!["activation/none.wgsl"],
        ActivationKind::Clip => return vec!["activation/clip.wgsl"],
        ActivationKind::LeakyRelu => "activation/leaky_relu.wgsl",
        ActivationKind::HardSigmoid => "activation/hard_sigmoid.wgsl",
        ActivationKind::Tanh => "activation/tanh.wgsl",
        ActivationKind::Sigmoid => "activation/sigmoid.wgsl",
    };
    let via = match dtype {
        DType::F16 => "activation/via_f16.wgsl",
        DType::Bf16 => "activation/via_bf16.wgsl",
        _ => "activation/via_f32.wgsl",
    };
    match activation {
        ActivationKind::Tanh | ActivationKind::Sigmoid => vec![via, "activation/exponential.wgsl", rounding],
        _ => vec![via, rounding],
    }
}

fn store_part(index_type: IndexType) -> &'static str {
    match index_type {
        IndexType::I32 => "index/store_i32.wgsl",
        IndexType::I64 => "index/store_i64.wgsl",
    }
}

fn read_part(index_type: IndexType) -> &'static str {
    match index_type {
        IndexType::I32 => "index/read_i32.wgsl",
        IndexType::I64 => "index/read_i64.wgsl",
    }
}

#[cfg(test)]
mod tests;
