//! The text of a patch: a workgroup loads what a rectangle of outputs looks at into its own memory, takes the maxima of rows, then
//! of their columns. Neighbouring outputs share theirs by doubling: from the maxima of two to those of four, of eight. Written
//! out for the reason that blocks are (src/wgsl/block.rs).

use std::fmt::Write;

use super::memory::{Stored, words};
use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;
use crate::kernel::Patch;

/// The bindings of X and Y, the workgroup's memory, and `main`.
pub(super) fn text(dtype: DType, index_type: Option<IndexType>, patch: &Patch) -> String {
    Writer { dtype, index_type, patch, text: String::new() }.whole()
}

struct Writer<'a> {
    dtype: DType,
    index_type: Option<IndexType>,
    patch: &'a Patch,
    text: String,
}

/// How many keys a merge compares: one, or those of four columns.
#[derive(Clone, Copy)]
enum Keys {
    One,
    Four,
}

impl Keys {
    fn largest(self) -> &'static str {
        match self {
            Keys::One => "0xffffffffu",
            Keys::Four => "vec4<u32>(0xffffffffu)",
        }
    }

    fn select(self) -> &'static str {
        match self {
            Keys::One => "select",
            Keys::Four => "pick",
        }
    }
}

impl Writer<'_> {
    fn whole(mut self) -> String {
        let patch = self.patch;
        let x = Stored { name: "x", bytes: self.dtype.bytes() as u32, words: if patch.wide { 4 } else { 1 } };
        let [rows, groups] = patch.groups();
        let found = rows * patch.width / 4;
        line!(self.text, "@group(0) @binding(1) var<storage, read> x: array<{}>;", words(x.words));
        line!(self.text, "@group(0) @binding(2) var<storage, read_write> y: array<{}>;", words(self.store_words()));
        if self.index_type.is_some() && self.whole_indices() {
            line!(self.text, "@group(0) @binding(10) var<storage, read_write> indices_out: array<vec4<u32>>;");
        }
        line!(self.text, "fn load(position: u32) -> Raw {{\n  return {};\n}}", x.single("position"));
        line!(
            self.text,
            "// What the patch looks at, four columns at a time; then what the windows of its rows found: elements, or"
        );
        line!(self.text, "// keys and, a byte each, columns.");
        line!(self.text, "var<workgroup> elements: array<vec4<u32>, {}>;", rows * groups);
        line!(self.text, "var<workgroup> of_rows: array<vec4<u32>, {found}>;");
        if self.index_type.is_some() {
            line!(self.text, "var<workgroup> columns_of_rows: array<u32, {found}>;");
        }
        self.main();
        self.text
    }

    /// Words of a store of four neighbours, or of one where rows do not come out even with four.
    fn store_words(&self) -> u32 {
        if self.patch.exact { self.dtype.bytes() as u32 } else { 1 }
    }

    /// Whether four indices are written at once.
    fn whole_indices(&self) -> bool {
        self.patch.exact && self.patch.same_place
    }

    fn main(&mut self) {
        let patch = self.patch;
        let ([rows, groups], workgroup) = (patch.groups(), patch.workgroup);
        let Patch { width, height, .. } = *patch;
        let [_, stride_1, stride_2] = patch.window.stride;
        line!(self.text, "@compute @workgroup_size({workgroup})");
        line!(
            self.text,
            "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{"
        );
        line!(self.text, "  let number = group.y * pool.grid_width + group.x;");
        line!(self.text, "  if (number >= pool.blocks) {{\n    return;\n  }}");
        line!(self.text, "  var rest = pool.block_first + number;");
        for (axis, extent) in [(2, width), (1, height)] {
            line!(self.text, "  let across_{axis} = (pool.axes[{axis}].output + {}u) / {extent}u;", extent - 1);
            line!(self.text, "  let out_{axis} = rest % across_{axis} * {extent}u;\n  rest = rest / across_{axis};");
        }
        line!(self.text, "  let plane = rest;");
        line!(self.text, "  let origin = plane * (pool.axes[1].input * pool.axes[2].input);");
        line!(self.text, "  let top = i32(out_1 * {stride_1}u) - pool.axes[1].pad_begin;");
        // Groups of four begin at multiples of four.
        line!(self.text, "  let left = i32(out_2 * {stride_2}u) - {};", patch.pad + patch.before());
        // Padding is folded onto elements of the same windows.
        line!(self.text, "  for (var item = local; item < {}u; item += {workgroup}u) {{", rows * groups);
        line!(self.text, "    let row = fold(top + i32(item / {groups}u), pool.axes[1].input, 1u);");
        line!(self.text, "    let row_at = origin + row * pool.axes[2].input - pool.x_first;");
        line!(self.text, "    let column = left + i32(item % {groups}u) * 4;");
        if patch.wide {
            line!(self.text, "    let inside = clamp(column, 0, i32(pool.axes[2].input) - 4);");
            line!(self.text, "    let four = x[(row_at + u32(inside)) / 4u];");
            line!(self.text, "    let edge = select(vec4<u32>(four.x), vec4<u32>(four.w), column > inside);");
            line!(self.text, "    elements[item] = select(edge, four, column == inside);");
        } else {
            let loads = [0, 1, 2, 3].map(|at| format!("load(row_at + fold(column + {at}, pool.axes[2].input, 1u))"));
            line!(self.text, "    elements[item] = vec4<u32>({});", loads.join(", "));
        }
        line!(self.text, "  }}\n  workgroupBarrier();");
        self.rows();
        line!(self.text, "  workgroupBarrier();");
        self.columns();
        line!(self.text, "}}");
    }

    /// Takes over the right one of two where it wins: of equals the left one stays.
    fn merge(&mut self, into: &str, left: &str, right: &str, keys: Keys) {
        let last = self.dtype.is_float() && self.patch.window.nan_policy == NanPolicy::PropagateLast;
        // Of two NaN, whose key is the largest, the right one stays: where it is at least the left one and a NaN.
        let nan = if last { format!(" | (key_{right} == {})", keys.largest()) } else { String::new() };
        line!(self.text, "    let wins_{into} = (key_{right} > key_{left}){nan};");
        line!(self.text, "    let key_{into} = {}(key_{left}, key_{right}, wins_{into});", keys.select());
        line!(self.text, "    let from_{into} = {}(from_{left}, from_{right}, wins_{into});", keys.select());
    }

    /// The maxima of so many windows of `kernel` neighbours, `stride` apart, from `key_1_i` and `from_1_i`; their names.
    fn doubled(&mut self, windows: u32, kernel: u32, stride: u32, keys: Keys) -> Vec<String> {
        let mut reach = 1;
        let mut names: Vec<String> = (0..(windows - 1) * stride + kernel).map(|at| format!("1_{at}")).collect();
        while reach * 2 <= kernel {
            let next: Vec<String> = (0..names.len() as u32 - reach).map(|at| format!("{}_{at}", reach * 2)).collect();
            for (at, into) in next.iter().enumerate() {
                let (left, right) = (names[at].clone(), names[at + reach as usize].clone());
                self.merge(into, &left, &right, keys);
            }
            names = next;
            reach *= 2;
        }
        let firsts = (0..windows).map(|window| (window * stride) as usize);
        if reach == kernel {
            return firsts.map(|first| names[first].clone()).collect();
        }
        // Two that overlap make up the rest: looking twice changes nothing.
        firsts
            .map(|first| {
                let into = format!("all_{first}");
                let (left, right) = (names[first].clone(), names[first + (kernel - reach) as usize].clone());
                self.merge(&into, &left, &right, keys);
                into
            })
            .collect()
    }

    /// Maxima along the rows.
    fn rows(&mut self) {
        let patch = self.patch;
        let ([rows, groups], run) = (patch.groups(), patch.run);
        let across = patch.width / run;
        let (kernel, stride, before) = (patch.window.kernel[2], patch.window.stride[2], patch.before());
        line!(self.text, "  for (var item = local; item < {}u; item += {}u) {{", rows * across, patch.workgroup);
        line!(self.text, "    let first = item / {across}u * {groups}u + item % {across}u * {}u;", run * stride / 4);
        let reach = (run - 1) * stride + kernel;
        for group in 0..(before + reach).div_ceil(4) {
            line!(self.text, "    let four_{group} = elements[first + {group}u];");
        }
        for at in 0..reach {
            let place = before + at;
            line!(self.text, "    let raw_{at} = four_{}.{};", place / 4, ["x", "y", "z", "w"][place as usize % 4]);
            line!(self.text, "    let key_1_{at} = rank(raw_{at});");
            let from = if self.index_type.is_some() { format!("{at}u") } else { format!("raw_{at}") };
            line!(self.text, "    let from_1_{at} = {from};");
        }
        let found = self.doubled(run, kernel, stride, Keys::One);
        line!(self.text, "    let to = item / {across}u * {}u + item % {across}u * {}u;", patch.width / 4, run / 4);
        for (word, names) in found.chunks(4).enumerate() {
            let what = if self.index_type.is_some() { "key" } else { "from" };
            let four: Vec<String> = names.iter().map(|name| format!("{what}_{name}")).collect();
            line!(self.text, "    of_rows[to + {word}u] = vec4<u32>({});", four.join(", "));
            if self.index_type.is_some() {
                // Columns are counted from the window's own first; the highest bit says that this one is a NaN.
                let bytes = names.iter().enumerate().map(|(at, name)| {
                    let first = (word as u32 * 4 + at as u32) * stride;
                    let nan =
                        if self.seeded() { format!(" | select(0u, 128u, is_nan(raw_{first}))") } else { String::new() };
                    format!("(((from_{name} - {first}u){nan}) << {}u)", at * 8)
                });
                line!(self.text, "    columns_of_rows[to + {word}u] = {};", bytes.collect::<Vec<String>>().join(" | "));
            }
        }
        line!(self.text, "  }}");
    }

    /// Whether a window's first element wins if it is a NaN.
    fn seeded(&self) -> bool {
        self.dtype.is_float() && self.patch.window.nan_policy == NanPolicy::SeedFirst
    }

    /// Maxima along the columns of these, four columns at a time, and where they go.
    fn columns(&mut self) {
        let patch = self.patch;
        let Patch { width, fall, .. } = *patch;
        let (kernel, stride) = (patch.window.kernel[1], patch.window.stride[1]);
        let across = width / 4;
        let items = across * (patch.height / fall);
        let indices = self.index_type.is_some();
        line!(self.text, "  for (var item = local; item < {items}u; item += {}u) {{", patch.workgroup);
        line!(self.text, "    let column = item % {across}u * 4u;\n    let row = item / {across}u * {fall}u;");
        line!(self.text, "    let first = row * {}u + column / 4u;", stride * across);
        for at in 0..(fall - 1) * stride + kernel {
            line!(self.text, "    let found_{at} = of_rows[first + {}u];", at * across);
            if indices {
                line!(self.text, "    let bytes_{at} = columns_of_rows[first + {}u];", at * across);
                line!(self.text, "    let key_1_{at} = found_{at};");
                line!(
                    self.text,
                    "    let from_1_{at} = ((vec4<u32>(bytes_{at}) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(127u)) + vec4<u32>({}u);",
                    at * 256
                );
            } else {
                let ranks = ["x", "y", "z", "w"].map(|lane| format!("rank(found_{at}.{lane})"));
                line!(self.text, "    let key_1_{at} = vec4<u32>({});", ranks.join(", "));
                line!(self.text, "    let from_1_{at} = found_{at};");
            }
        }
        let found = self.doubled(fall, kernel, stride, Keys::Four);
        for (window, name) in found.iter().enumerate() {
            self.outputs(window as u32, name);
        }
        line!(self.text, "  }}");
    }

    /// Four outputs beside each other: elements and indices to their places.
    fn outputs(&mut self, window: u32, name: &str) {
        let patch = self.patch;
        let [_, groups] = patch.groups();
        let [_, stride, stride_2] = patch.window.stride;
        let lowest = patch.window.nan_policy == NanPolicy::SeedLowest;
        line!(
            self.text,
            "    if (out_1 + row + {window}u < pool.axes[1].output && out_2 + column < pool.axes[2].output) {{"
        );
        line!(
            self.text,
            "      let output = (plane * pool.axes[1].output + out_1 + row + {window}u) * pool.axes[2].output + out_2 + column;"
        );
        if self.seeded() && self.index_type.is_none() {
            let places = (0..4).map(|lane| (patch.before() + lane * stride_2) / 4);
            for group in places.collect::<std::collections::BTreeSet<u32>>() {
                let at = format!("(row + {window}u) * {}u + column * {stride_2}u / 4u + {group}u", stride * groups);
                line!(self.text, "      let seeds_{group} = elements[{at}];");
            }
        }
        for lane in 0..4u32 {
            let part = ["x", "y", "z", "w"][lane as usize];
            if lowest {
                line!(self.text, "      let is_{lane} = found(key_{name}.{part});");
            }
            if self.index_type.is_none() {
                let mut raw = format!("from_{name}.{part}");
                if self.seeded() {
                    let place = patch.before() + lane * stride_2;
                    let four = ["x", "y", "z", "w"][place as usize % 4];
                    line!(self.text, "      let seed_{lane} = seeds_{}.{four};", place / 4);
                    raw = format!("select({raw}, seed_{lane}, is_nan(seed_{lane}))");
                }
                line!(self.text, "      var raw_{lane}_out = {raw};");
            } else {
                let mut from = format!("from_{name}.{part}");
                if self.seeded() {
                    // The window's first row is not merged with others by this bit.
                    let first = window * stride;
                    let nan = format!("((bytes_{first} >> {}u) & 128u) != 0u", lane * 8);
                    from = format!("select({from}, {}u, {nan})", first * 256);
                }
                line!(self.text, "      let from_{lane}_out = {from};");
                line!(
                    self.text,
                    "      let row_{lane}_in = fold(top + i32(row * {stride}u + from_{lane}_out / 256u), pool.axes[1].input, 1u);"
                );
                line!(
                    self.text,
                    "      let column_{lane}_in = fold(left + i32((column + {lane}u) * {stride_2}u + {}u + from_{lane}_out % 256u), pool.axes[2].input, 1u);",
                    patch.before()
                );
                line!(
                    self.text,
                    "      let at_{lane} = origin + row_{lane}_in * pool.axes[2].input + column_{lane}_in;"
                );
                line!(self.text, "      var raw_{lane}_out = load(at_{lane} - pool.x_first);");
            }
            if lowest {
                line!(
                    self.text,
                    "      raw_{lane}_out = select(from_pair(pool.lowest_value), raw_{lane}_out, is_{lane});"
                );
            }
        }
        self.store_values();
        self.store_indices(name, lowest);
        line!(self.text, "    }}");
    }

    /// A statement about one of the four outputs, if there is that output.
    fn guarded(&mut self, lane: u32, statement: &str) {
        if self.patch.exact || lane == 0 {
            line!(self.text, "      {statement}");
        } else {
            line!(
                self.text,
                "      if (out_2 + column + {lane}u < pool.axes[2].output) {{\n        {statement}\n      }}"
            );
        }
    }

    fn store_values(&mut self) {
        let bytes = self.dtype.bytes() as u32;
        let per_word = 4 / bytes;
        let packed: Vec<String> = (0..bytes)
            .map(|word| {
                let parts = (0..per_word).map(|at| {
                    let value = format!("activate(raw_{}_out)", word * per_word + at);
                    if at == 0 { value } else { format!("({value} << {}u)", at * bytes * 8) }
                });
                parts.collect::<Vec<String>>().join(" | ")
            })
            .collect();
        if self.patch.exact {
            let value = if bytes == 1 { packed[0].clone() } else { format!("{}({})", words(bytes), packed.join(", ")) };
            line!(self.text, "      y[(output - pool.output_first) / 4u] = {value};");
            return;
        }
        for (word, value) in packed.iter().enumerate() {
            let lane = word as u32 * per_word;
            self.guarded(lane, &format!("y[(output - pool.output_first) / {per_word}u + {word}u] = {value};"));
        }
    }

    fn store_indices(&mut self, name: &str, lowest: bool) {
        let Some(index_type) = self.index_type else {
            return;
        };
        for lane in 0..4u32 {
            let part = ["x", "y", "z", "w"][lane as usize];
            let index = match (lowest, self.patch.position_index) {
                (true, _) => format!(
                    "index_of(output + {lane}u, Candidate(Acc(key_{name}.{part}, SMALLEST_RAW, at_{lane}), is_{lane}, at_{lane}, true))"
                ),
                (_, true) => format!("add(pool.index_base, vec2<u32>(at_{lane}, 0u))"),
                (_, false) => format!("index_at(at_{lane})"),
            };
            line!(self.text, "      let index_{lane} = {index};");
        }
        if self.whole_indices() {
            let place = "(output - pool.store_first) / 4u";
            match index_type {
                IndexType::I32 => line!(
                    self.text,
                    "      indices_out[{place}] = vec4<u32>(index_0.x, index_1.x, index_2.x, index_3.x);"
                ),
                IndexType::I64 => {
                    line!(self.text, "      indices_out[{place} * 2u] = vec4<u32>(index_0, index_1);");
                    line!(self.text, "      indices_out[{place} * 2u + 1u] = vec4<u32>(index_2, index_3);");
                }
            }
            return;
        }
        for lane in 0..4 {
            let place = if self.patch.same_place {
                format!("output + {lane}u")
            } else {
                format!("store_position(output + {lane}u)")
            };
            self.guarded(lane, &format!("store_index({place} - pool.store_first, index_{lane});"));
        }
    }
}
