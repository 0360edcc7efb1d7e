//! The text of a block kernel: an invocation computes several neighbouring outputs, straight on, without a loop or an array.
//!
//! Blocks, reductions and cells are not made of parts alone. Their bodies depend on how many taps, outputs and words there are, and
//! loops over small arrays, which would say the same, were measured at more than twice the time on software Vulkan: drivers
//! keep such arrays in memory. So these are written out, and everything that has a meaning of its own (order, windows,
//! indices, activations) stays in the parts.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::memory::{Stored, words};
use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;
use crate::kernel::{Block, IndexMap};

/// The bindings of X, Y and Indices in the widths that the kernel uses, `load`, and `main`.
pub(super) fn text(dtype: DType, index_type: Option<IndexType>, block: &Block) -> String {
    let writer = Writer { bytes: dtype.bytes() as u32, index_type, block, text: String::new() };
    writer.whole()
}

struct Writer<'a> {
    bytes: u32,
    index_type: Option<IndexType>,
    block: &'a Block,
    text: String,
}

impl Writer<'_> {
    fn whole(mut self) -> String {
        self.bindings();
        self.load();
        self.main();
        self.text
    }

    /// Words of one element, at least one.
    fn natural(&self) -> u32 {
        (self.bytes / 4).max(1)
    }

    /// Words of a load.
    fn load_words(&self) -> u32 {
        self.block.load_words.max(self.natural())
    }

    /// Words of a store to Y.
    fn store_words(&self) -> u32 {
        self.block.store_words.max(self.natural())
    }

    /// Words of a store to Indices.
    fn index_words(&self, index_type: IndexType) -> u32 {
        let natural = index_type.bytes() as u32 / 4;
        // The last of flat outputs may not be there.
        let run = if self.block.flat { natural } else { self.block.run() * natural };
        [4, 2, 1].into_iter().find(|words| run.is_multiple_of(*words) && *words >= natural).unwrap_or(natural)
    }

    fn bindings(&mut self) {
        let (load, store) = (words(self.load_words()), words(self.store_words()));
        line!(self.text, "@group(0) @binding(1) var<storage, read> x: array<{load}>;");
        line!(self.text, "@group(0) @binding(2) var<storage, read_write> y: array<{store}>;");
        if let Some(index_type) = self.index_type.filter(|_| self.block.same_place) {
            let store = words(self.index_words(index_type));
            line!(self.text, "@group(0) @binding(10) var<storage, read_write> indices_out: array<{store}>;");
        }
    }

    fn x(&self) -> Stored {
        Stored { name: "x", bytes: self.bytes, words: self.load_words() }
    }

    /// One element by its position, however wide the words are.
    fn load(&mut self) {
        line!(self.text, "fn load(position: u32) -> Raw {{\n  return {};\n}}", self.x().single("position"));
    }

    fn main(&mut self) {
        let block = self.block;
        line!(self.text, "@compute @workgroup_size(WORKGROUP)");
        line!(
            self.text,
            "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{"
        );
        line!(self.text, "  let number = invocation(group, pool.grid_width, local);");
        line!(self.text, "  if (number >= pool.blocks) {{\n    return;\n  }}");
        for name in self.bests() {
            line!(self.text, "  var key_{name} = SMALLEST_KEY;\n  var raw_{name} = ZERO;");
            if self.index_type.is_some() {
                line!(self.text, "  var at_{name} = 0u;");
            }
        }
        line!(self.text, "  var wins = false;");
        if block.flat {
            // What lies behind the last output is looked at as that one is, and written as zero.
            line!(self.text, "  let last = pool.output_first + pool.outputs - 1u;");
            line!(self.text, "  let output = pool.output_first + number * {}u;", block.outputs);
            for output in 0..block.outputs {
                line!(self.text, "  var origin_{output} = 0u;");
                line!(self.text, "  {{\n  var rest = min(output + {output}u, last);");
                self.coordinates(1, 1);
                line!(self.text, "  origin_{output} = {};", self.origin());
                self.window(output..output + 1);
                line!(self.text, "  }}");
            }
        } else {
            line!(self.text, "  var rest = pool.block_first + number;");
            self.coordinates(block.outputs, block.lanes);
            line!(self.text, "  let origin_0 = {};", self.origin());
            self.window(0..block.outputs);
            let output = if block.inner {
                "(row * pool.axes[2].output + out_2) * pool.inner + inner"
            } else {
                "row * pool.axes[2].output + out_2"
            };
            line!(self.text, "  let output = {output};");
        }
        self.finish();
        line!(self.text, "}}");
    }

    /// Takes a block's number apart, where so many outputs and lanes make one.
    fn coordinates(&mut self, outputs: u32, lanes: u32) {
        let block = self.block;
        let by = |extent: &str, count: u32| match count {
            1 => extent.to_owned(),
            _ => format!("(({extent} + {}u) / {count}u)", count - 1),
        };
        let times = |count: u32| if count == 1 { String::new() } else { format!(" * {count}u") };
        if block.inner {
            line!(self.text, "  let across_inner = {};", by("pool.inner", lanes));
            line!(self.text, "  let over_inner = rest / across_inner;");
            line!(self.text, "  let inner = (rest - over_inner * across_inner){};\n  rest = over_inner;", times(lanes));
        }
        line!(self.text, "  let across = {};", by("pool.axes[2].output", outputs));
        // Divisions are dear, and a remainder is another.
        line!(self.text, "  let row = rest / across;");
        line!(self.text, "  let out_2 = (rest - row * across){};\n  rest = row;", times(outputs));
        for axis in (3 - block.axes..2).rev() {
            line!(self.text, "  let over_{axis} = rest / pool.axes[{axis}].output;");
            line!(
                self.text,
                "  let out_{axis} = rest - over_{axis} * pool.axes[{axis}].output;\n  rest = over_{axis};"
            );
        }
        line!(self.text, "  let outer = rest;");
    }

    /// Where the plane, or the batch item of NHWC, begins in X.
    fn origin(&self) -> String {
        let axes = (3 - self.block.axes..3).map(|axis| format!(" * pool.axes[{axis}].input"));
        let inner = if self.block.inner { " * pool.inner" } else { "" };
        format!("outer{}{inner}", axes.collect::<String>())
    }

    /// Looks at the windows of these outputs.
    fn window(&mut self, outputs: std::ops::Range<u32>) {
        self.places(outputs.len() as u32);
        let [planes, rows, _] = self.block.window.kernel;
        for tap_0 in 0..planes {
            for tap_1 in 0..rows {
                self.row(tap_0, tap_1, outputs.clone());
            }
        }
    }

    /// Where the rows and columns of the block lie: coordinates in X, those in the padding folded onto taps inside.
    fn places(&mut self, outputs: u32) {
        let block = self.block;
        let window = &block.window;
        for axis in 3 - block.axes..2 {
            let (stride, dilation) = (window.stride[axis], window.dilation[axis]);
            for tap in 0..window.kernel[axis] {
                line!(
                    self.text,
                    "  let place_{axis}_{tap} = fold(i32(out_{axis} * {stride}u) - pool.axes[{axis}].pad_begin + {}, pool.axes[{axis}].input, {dilation}u);",
                    tap * dilation
                );
            }
        }
        let (stride, dilation) = (window.stride[2], window.dilation[2]);
        if block.load_words > 0 && !block.inner {
            line!(self.text, "  let body = out_2 * {stride}u;");
        }
        for column in self.columns(outputs) {
            if self.in_body(column).is_none() {
                line!(
                    self.text,
                    "  let place_2_{column} = fold(i32(out_2 * {stride}u) - pool.axes[2].pad_begin + {column}, pool.axes[2].input, {dilation}u);"
                );
            }
        }
    }

    /// The columns that some output of the block looks at, counted from the first tap of the first.
    fn columns(&self, outputs: u32) -> Vec<u32> {
        let window = &self.block.window;
        let taps = (0..outputs).flat_map(|output| {
            (0..window.kernel[2]).map(move |tap| output * window.stride[2] + tap * window.dilation[2])
        });
        taps.collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Where a column lies behind the first element of the block's own columns, if it is one of them and they are loaded in
    /// words.
    fn in_body(&self, column: u32) -> Option<u32> {
        let block = self.block;
        if block.inner || block.load_words == 0 {
            return None;
        }
        column.checked_sub(block.pad).filter(|&at| at < block.outputs * block.window.stride[2])
    }

    /// Output and lane of every best.
    fn bests(&self) -> Vec<String> {
        let lanes = self.block.lanes;
        (0..self.block.outputs).flat_map(|output| (0..lanes).map(move |lane| format!("{output}_{lane}"))).collect()
    }

    /// One row of taps: its loads first, then the comparisons.
    fn row(&mut self, tap_0: u32, tap_1: u32, outputs: std::ops::Range<u32>) {
        let block = self.block;
        let place_0 =
            if block.axes > 2 { format!("outer * pool.axes[0].input + place_0_{tap_0}") } else { "outer".to_owned() };
        let place_1 =
            if block.axes > 1 { format!("({place_0}) * pool.axes[1].input + place_1_{tap_1}") } else { place_0 };
        line!(self.text, "  {{\n    let row_in = ({place_1}) * pool.axes[2].input;");
        let columns = self.columns(outputs.len() as u32);
        let raws = if block.inner { self.load_lanes(&columns) } else { self.load_columns(&columns) };
        let indices = self.index_type.is_some();
        let first_row = tap_0 == 0 && tap_1 == 0;
        for (column, lane, raw) in &raws {
            line!(self.text, "    let raw_{column}_{lane}_in: Raw = {raw};");
            line!(self.text, "    let rank_{column}_{lane} = rank(raw_{column}_{lane}_in);");
        }
        let window = &block.window;
        for tap in 0..window.kernel[2] {
            for output in outputs.clone() {
                let column = (output - outputs.start) * window.stride[2] + tap * window.dilation[2];
                for lane in 0..block.lanes {
                    let (best, from) = (format!("{output}_{lane}"), format!("{column}_{lane}"));
                    if first_row && tap == 0 {
                        line!(self.text, "    key_{best} = seed(raw_{from}_in);\n    raw_{best} = raw_{from}_in;");
                        if indices {
                            line!(self.text, "    at_{best} = at_{column};");
                        }
                        continue;
                    }
                    line!(self.text, "    wins = takes(rank_{from}, raw_{from}_in, key_{best});");
                    line!(self.text, "    key_{best} = select(key_{best}, rank_{from}, wins);");
                    line!(self.text, "    raw_{best} = select(raw_{best}, raw_{from}_in, wins);");
                    if indices {
                        line!(self.text, "    at_{best} = select(at_{best}, at_{column}, wins);");
                    }
                }
            }
        }
        line!(self.text, "  }}");
    }

    /// Loads the columns of a row where neighbours on the last axis are neighbours in memory: in words where the block's own
    /// columns begin at one, element by element beside them.
    fn load_columns(&mut self, columns: &[u32]) -> Vec<(u32, u32, String)> {
        let per_load = self.x().per_load();
        let mut loads = BTreeSet::new();
        let mut raws = Vec::new();
        for &column in columns {
            let raw = match self.in_body(column) {
                Some(at) => {
                    line!(self.text, "    let at_{column} = row_in + body + {at}u;");
                    loads.insert(at / per_load);
                    self.x().element(&format!("load_{}", at / per_load), at % per_load)
                }
                None => {
                    line!(self.text, "    let at_{column} = row_in + place_2_{column};");
                    line!(self.text, "    let load_{column}_apart = load(at_{column} - pool.x_first);");
                    format!("load_{column}_apart")
                }
            };
            raws.push((column, 0, raw));
        }
        for load in loads {
            line!(self.text, "    let load_{load} = x[(row_in + body - pool.x_first) / {per_load}u + {load}u];");
        }
        raws
    }

    /// Loads the columns of a row where a column's elements are neighbours in memory.
    fn load_lanes(&mut self, columns: &[u32]) -> Vec<(u32, u32, String)> {
        let per_load = self.x().per_load();
        let mut raws = Vec::new();
        for &column in columns {
            line!(self.text, "    let at_{column} = (row_in + place_2_{column}) * pool.inner + inner;");
            if self.block.load_words == 0 {
                line!(self.text, "    let load_{column} = load(at_{column} - pool.x_first);");
                raws.push((column, 0, format!("load_{column}")));
                continue;
            }
            for load in 0..self.block.lanes / per_load {
                line!(
                    self.text,
                    "    let load_{column}_{load} = x[(at_{column} - pool.x_first) / {per_load}u + {load}u];"
                );
            }
            for lane in 0..self.block.lanes {
                let raw = self.x().element(&format!("load_{column}_{}", lane / per_load), lane % per_load);
                raws.push((column, lane, raw));
            }
        }
        raws
    }

    /// A statement that writes an output, if there is that output.
    fn guarded(&mut self, number: &str, statement: &str) {
        if self.block.flat {
            line!(self.text, "    if ({number} <= last) {{\n      {statement}\n    }}");
        } else {
            line!(self.text, "    {statement}");
        }
    }

    /// Values, indices and where they go.
    fn finish(&mut self) {
        let block = self.block;
        let lowest = block.window.nan_policy == NanPolicy::SeedLowest;
        if self.index_type.is_some() && block.index_map == IndexMap::Offset && !lowest {
            for output in 0..if block.flat { block.outputs } else { 1 } {
                line!(self.text, "  let index_origin_{output} = index_at(origin_{output});");
            }
        }
        // Outputs that are written together: all of the block where neighbours are neighbours in memory, else the lanes.
        let runs: Vec<Vec<(u32, u32)>> = if block.inner && !block.flat {
            (0..block.outputs).map(|output| (0..block.lanes).map(|lane| (output, lane)).collect()).collect()
        } else if block.exact {
            vec![(0..block.outputs).map(|output| (output, 0)).collect()]
        } else {
            (0..block.outputs).map(|output| vec![(output, 0)]).collect()
        };
        for run in runs {
            let first = run[0].0;
            let apart = if block.inner && !block.flat { " * pool.inner" } else { "" };
            let offset = format!("output + {first}u{apart}");
            if block.exact {
                line!(self.text, "  {{");
            } else {
                line!(self.text, "  if (out_2 + {first}u < pool.axes[2].output) {{");
            }
            line!(self.text, "    let output_at = {offset};");
            for &(output, lane) in &run {
                let name = format!("{output}_{lane}");
                if lowest {
                    line!(self.text, "    let found_{name} = found(key_{name});");
                    line!(
                        self.text,
                        "    raw_{name} = select(from_pair(pool.lowest_value), raw_{name}, found_{name});"
                    );
                }
            }
            self.store_values(&run);
            if let Some(index_type) = self.index_type {
                self.store_indices(&run, index_type, lowest);
            }
            line!(self.text, "  }}");
        }
    }

    fn store_values(&mut self, run: &[(u32, u32)]) {
        let per_word = (4 / self.bytes).max(1) as usize;
        let packed: Vec<String> = run
            .chunks(per_word)
            .map(|chunk| {
                let lanes = chunk.iter().enumerate().map(|(at, (output, lane))| {
                    let value = format!("activate(raw_{output}_{lane})");
                    let value = match self.block.flat && *output > 0 {
                        true => format!("select(ZERO, {value}, output + {output}u <= last)"),
                        false => value,
                    };
                    if at == 0 { value } else { format!("({value} << {}u)", at as u32 * self.bytes * 8) }
                });
                lanes.collect::<Vec<String>>().join(" | ")
            })
            .collect();
        // Elements of 64 bits are two words each.
        let per_store = (self.store_words() / self.natural()) as usize;
        let elements = per_store * per_word;
        for (number, store) in packed.chunks(per_store).enumerate() {
            let value = if store.len() == 1 {
                store[0].clone()
            } else {
                format!("{}({})", words(self.store_words()), store.join(", "))
            };
            line!(self.text, "    y[(output_at - pool.output_first) / {elements}u + {number}u] = {value};");
        }
    }

    fn store_indices(&mut self, run: &[(u32, u32)], index_type: IndexType, lowest: bool) {
        let block = self.block;
        for &(output, lane) in run {
            let name = format!("{output}_{lane}");
            let at = if lane > 0 { format!("at_{name} + {lane}u") } else { format!("at_{name}") };
            let number =
                if block.inner && !block.flat { format!("output_at + {lane}u") } else { format!("output + {output}u") };
            let origin = if block.flat { output } else { 0 };
            let index = if lowest {
                format!("index_of({number}, Candidate(Acc(key_{name}, SMALLEST_RAW, {at}), found_{name}, {at}, true))")
            } else {
                match block.index_map {
                    IndexMap::Position => format!("add(pool.index_base, vec2<u32>({at}, 0u))"),
                    IndexMap::Offset => {
                        format!("add(index_origin_{origin}, vec2<u32>({at} - origin_{origin}, 0u))")
                    }
                    IndexMap::Digits => format!("index_at({at})"),
                }
            };
            line!(self.text, "    let index_{name} = {index};");
            if !block.same_place {
                let store = format!("store_index(store_position({number}) - pool.store_first, index_{name});");
                self.guarded(&number, &store);
            }
        }
        if !block.same_place {
            return;
        }
        let wide = self.index_words(index_type);
        let (part, per_store) = match index_type {
            IndexType::I32 => (".x", wide as usize),
            IndexType::I64 => ("", wide as usize / 2),
        };
        for (number, store) in run.chunks(per_store).enumerate() {
            let values: Vec<String> =
                store.iter().map(|(output, lane)| format!("index_{output}_{lane}{part}")).collect();
            let value =
                if values.len() == 1 { values[0].clone() } else { format!("{}({})", words(wide), values.join(", ")) };
            let store = format!("indices_out[(output_at - pool.store_first) / {per_store}u + {number}u] = {value};");
            let first = run[number * per_store].0;
            self.guarded(&format!("output + {first}u"), &store);
        }
    }
}
