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
    line!(text, "  var key = Key();\n  var best = 0u;\n  var found = false;\n  var wins = false;");
    line!(text, "  for (var place = first; place < end; place += WORKGROUP * {per_load}u) {{");
    line!(text, "    let position = origin + place;");
    let element = |element: u32| match load_words {
        0 => "load(position - pool.x_first)".to_owned(),
        _ => x.element("loaded", element),
    };
    if load_words > 0 {
        line!(text, "    let loaded = x[(position - pool.x_first) / {per_load}u];");
    }
    for number in 0..per_load {
        line!(text, "    let raw_{number}: Raw = {};", element(number));
        line!(text, "    let rank_{number} = rank(raw_{number});");
    }
    for number in 0..per_load {
        line!(text, "    wins = eligible(raw_{number}) & (!found | takes(rank_{number}, raw_{number}, key));");
        line!(text, "    key = select(key, rank_{number}, wins);");
        line!(text, "    best = select(best, position + {number}u, wins);");
        line!(text, "    found = found | wins;");
    }
    line!(text, "  }}");
    line!(text, "  candidates_out[number] = vec2<u32>(");
    line!(text, "    select(0u, best | PRESENT, found),");
    line!(text, "    select(0u, (origin + first) | PRESENT, first < end),");
    line!(text, "  );\n}}");
    text
}
