//! The text of the first stage of a reduction: neighbouring invocations read neighbouring words of a long window, each many of
//! them, and write a candidate each. Written out by the elements of a load; the loop over loads is one.

use std::fmt::Write;

use super::memory::{Stored, words};

/// The binding of X, `load`, and `main`.
pub(super) fn text(bytes: usize, load_words: u32) -> String {
    let bytes = bytes as u32;
    let x = Stored { name: "x", bytes, words: load_words.max(bytes / 4).max(1) };
    let per_load = if load_words == 0 { 1 } else { x.per_load() };
    let mut text = String::new();
    line!(text, "@group(0) @binding(1) var<storage, read> x: array<{}>;", words(x.words));
    line!(text, "@group(0) @binding(5) var<storage, read_write> candidates_out: array<vec2<u32>>;");
    line!(text, "fn load(position: u32) -> Raw {{\n  return {};\n}}", x.single("position"));
    line!(text, "@compute @workgroup_size(WORKGROUP)");
    line!(text, "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{");
    line!(text, "  let number = invocation(group, pool.grid_width, local);");
    line!(text, "  if (number >= pool.outputs) {{\n    return;\n  }}");
    line!(text, "  let output = pool.output_first + number;");
    line!(text, "  let axis = pool.axes[2];");
    line!(text, "  let origin = output / axis.output * axis.input;");
    line!(text, "  let at = output % axis.output;");
    // A group of candidates shares a part of the window, load by load in turn.
    line!(text, "  let part = axis.stride * WORKGROUP;");
    line!(text, "  let begin = at / WORKGROUP * part;");
    line!(text, "  let end = min(begin + part, axis.input);");
    line!(text, "  let first = begin + at % WORKGROUP * {per_load}u;");
    line!(text, "  var key = start();\n  var best = origin + first;\n  var wins = false;\n  var place = first;");
    let step = format!("WORKGROUP * {per_load}u");
    // Several loads at a time, so that they are on their way together; then what is left.
    for together in [4, 1] {
        line!(text, "  for (; place + {step} * {}u < end; place += {step} * {together}u) {{", together - 1);
        for load in 0..together {
            line!(text, "    let position_{load} = origin + place + {step} * {load}u;");
            match load_words {
                0 => line!(text, "    let loaded_{load} = load(position_{load} - pool.x_first);"),
                _ => line!(text, "    let loaded_{load} = x[(position_{load} - pool.x_first) / {per_load}u];"),
            }
        }
        for load in 0..together {
            for number in 0..per_load {
                let raw = match load_words {
                    0 => format!("loaded_{load}"),
                    _ => x.element(&format!("loaded_{load}"), number),
                };
                let name = format!("{load}_{number}");
                line!(text, "    let raw_{name}: Raw = {raw};\n    let rank_{name} = rank(raw_{name});");
                line!(text, "    wins = takes(rank_{name}, raw_{name}, key);");
                line!(text, "    key = select(key, rank_{name}, wins);");
                line!(text, "    best = select(best, position_{load} + {number}u, wins);");
            }
        }
        line!(text, "  }}");
    }
    line!(text, "  let found = known(key, first < end);");
    line!(text, "  candidates_out[number] = vec2<u32>(");
    line!(text, "    select(0u, best | PRESENT, found),");
    line!(text, "    select(0u, (origin + first) | PRESENT, first < end),");
    line!(text, "  );\n}}");
    text
}
