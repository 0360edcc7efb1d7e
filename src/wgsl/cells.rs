//! The text of the unpool that streams: an invocation writes the cells of several neighbouring sources, and every output element
//! looks at the sources whose windows hold it. Written out for the reason that blocks are (src/wgsl/block.rs).

use std::fmt::Write;

use super::memory::{Stored, words};
use crate::index::IndexType;
use crate::kernel::Cells;

/// The bindings of X, Y and Indices in the widths that the kernel uses, and `main`.
pub(super) fn text(bytes: usize, index_type: IndexType, cells: &Cells) -> String {
    let writer = Writer { bytes: bytes as u32, index_bytes: index_type.bytes() as u32, cells, text: String::new() };
    writer.whole()
}

struct Writer<'a> {
    bytes: u32,
    index_bytes: u32,
    cells: &'a Cells,
    text: String,
}

impl Writer<'_> {
    fn whole(mut self) -> String {
        let (x, indices) = (words(self.x().words), words(self.indices().words));
        let y = words(self.store_words());
        line!(self.text, "@group(0) @binding(1) var<storage, read> x: array<{x}>;");
        line!(self.text, "@group(0) @binding(2) var<storage, read_write> y: array<{y}>;");
        line!(self.text, "@group(0) @binding(3) var<storage, read> indices: array<{indices}>;");
        self.main();
        self.text
    }

    fn x(&self) -> Stored {
        let natural = (self.bytes / 4).max(1);
        Stored { name: "x", bytes: self.bytes, words: self.cells.load_words.max(natural) }
    }

    fn indices(&self) -> Stored {
        Stored { name: "indices", bytes: self.index_bytes, words: self.cells.index_words.max(self.index_bytes / 4) }
    }

    fn store_words(&self) -> u32 {
        self.cells.store_words.max(self.bytes / 4).max(1)
    }

    /// Sources along an axis that hold the output at this place of the cells, counted from the cells' own first one.
    fn holders(&self, axis: usize, place: u32) -> std::ops::RangeInclusive<i64> {
        let [kernel, stride, pad] = self.cells.axis(axis);
        let position = i64::from(place) + pad;
        let first = -(kernel - 1 - position).div_euclid(stride);
        first..=position.div_euclid(stride)
    }

    /// Places along an axis that an invocation writes.
    fn places(&self, axis: usize) -> u32 {
        let sources = if axis == 2 { self.cells.sources } else { 1 };
        sources * self.cells.stride[axis]
    }

    /// All sources along an axis that the cells look at: those that hold one of their places, and their own, which may hold
    /// others and whose indices nobody else looks at.
    fn sources(&self, axis: usize) -> Vec<i64> {
        let own = if axis == 2 { i64::from(self.cells.sources) } else { 1 };
        let all = (0..self.places(axis)).flat_map(|place| self.holders(axis, place));
        all.chain(0..own).collect::<std::collections::BTreeSet<i64>>().into_iter().collect()
    }

    fn main(&mut self) {
        let cells = self.cells;
        let [depth, height, width] = [0, 1, 2].map(|axis| self.places(axis));
        line!(self.text, "@compute @workgroup_size(WORKGROUP)");
        line!(
            self.text,
            "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{"
        );
        line!(self.text, "  let number = invocation(group, stream.grid_width, local);");
        line!(self.text, "  if (number >= stream.blocks) {{\n    return;\n  }}");
        line!(self.text, "  var rest = number;");
        if cells.inner {
            line!(self.text, "  let across_inner = stream.inner / {}u;", cells.lanes);
            line!(self.text, "  let over_inner = rest / across_inner;");
            line!(self.text, "  let inner = (rest - over_inner * across_inner) * {}u;", cells.lanes);
            line!(self.text, "  rest = over_inner;");
        }
        for (axis, places) in [(2, width), (1, height), (0, depth)] {
            if axis < 3 - cells.axes {
                continue;
            }
            let (sources, stride) = (if axis == 2 { cells.sources } else { 1 }, cells.stride[axis]);
            line!(self.text, "  let across_{axis} = (stream.holders[{axis}].output + {}u) / {places}u;", places - 1);
            // Divisions are dear, and a remainder is another.
            line!(self.text, "  let over_{axis} = rest / across_{axis};");
            line!(self.text, "  let cell_{axis} = (rest - over_{axis} * across_{axis}) * {sources}u;");
            line!(self.text, "  rest = over_{axis};");
            line!(self.text, "  let out_{axis} = cell_{axis} * {stride}u;");
        }
        line!(self.text, "  let outer = rest;");
        line!(self.text, "  let n = outer / stream.outer_channels;");
        let inner = if cells.inner { " + inner" } else { "" };
        line!(self.text, "  let c = outer % stream.outer_channels{inner};");
        let out = |axis: usize| if axis < 3 - cells.axes { "0u".to_owned() } else { format!("out_{axis}") };
        if cells.position_index {
            let mut own = "outer".to_owned();
            for axis in 3 - cells.axes..3 {
                own = format!("({own} * stream.holders[{axis}].output + out_{axis})");
            }
            let inner = if cells.inner { " * stream.inner + inner" } else { "" };
            line!(self.text, "  let own = {own}{inner};");
        } else {
            line!(self.text, "  let own = flat(stream.value, n, c, vec3<u32>({}, {}, {}));", out(0), out(1), out(2));
        }
        line!(self.text, "  let nothing = activate(from_pair(vec2<u32>(0u, 0u)));\n  var foreign = false;");
        for source_0 in self.sources(0) {
            for source_1 in self.sources(1) {
                self.load_row(source_0, source_1);
            }
        }
        for place_0 in 0..depth {
            for place_1 in 0..height {
                self.store_row(place_0, place_1);
            }
        }
        line!(self.text, "  if (foreign) {{\n    atomicStore(&status[STATUS_FOREIGN], 1u);\n  }}");
        line!(self.text, "}}");
    }

    /// The name of a source among those that the cells look at.
    fn name(source: [i64; 3], lane: u32) -> String {
        let [a, b, c] = source.map(|source| (source + 1_000).to_string());
        format!("{a}_{b}_{c}_{lane}")
    }

    /// Loads the sources of a row with the places that they name, and looks whether those lie in their windows.
    fn load_row(&mut self, source_0: i64, source_1: i64) {
        let cells = self.cells;
        let first = 3 - cells.axes;
        let mut row = "outer".to_owned();
        let mut there = Vec::new();
        for (axis, source) in [(0, source_0), (1, source_1)] {
            if axis >= first {
                let at = format!("at_{axis}_{}_{}", source_0 + 1_000, source_1 + 1_000);
                line!(self.text, "  let {at} = i32(cell_{axis}) + ({source});");
                let input = format!("stream.holders[{axis}].input");
                row = format!("({row} * {input} + u32(clamp({at}, 0, i32({input}) - 1)))");
                there.push(format!("({at} >= 0) & ({at} < i32({input}))"));
            }
        }
        let id = format!("{}_{}", source_0 + 1_000, source_1 + 1_000);
        line!(self.text, "  let row_{id} = {row} * stream.holders[2].input;");
        let there = if there.is_empty() { "true".to_owned() } else { there.join(" & ") };
        line!(self.text, "  let there_{id} = {there};");
        let body = !cells.inner && cells.load_words > 0;
        if body {
            let sources = cells.sources;
            let cell = match cells.filled {
                true => "cell_2".to_owned(),
                false => format!("min(cell_2, stream.holders[2].input - {sources}u)"),
            };
            line!(self.text, "  let body_{id} = row_{id} + {cell};");
            for of in [self.x(), self.indices()] {
                let per_load = of.per_load();
                for load in 0..sources / per_load {
                    line!(self.text, "  let {}_{id}_{load} = {}[body_{id} / {per_load}u + {load}u];", of.name, of.name);
                }
            }
        }
        for source_2 in self.sources(2) {
            let source = [source_0, source_1, source_2];
            let name = Self::name(source, 0);
            let in_body = body && (0..i64::from(cells.sources)).contains(&source_2);
            line!(self.text, "  let at_{name} = i32(cell_2) + ({source_2});");
            let input = "stream.holders[2].input";
            if !in_body {
                let inner = if cells.inner { " * stream.inner + inner" } else { "" };
                line!(self.text, "  let from_{name} = (row_{id} + u32(clamp(at_{name}, 0, i32({input}) - 1))){inner};");
            }
            if !cells.filled {
                line!(self.text, "  let is_{name} = there_{id} & (at_{name} >= 0) & (at_{name} < i32({input}));");
            }
            for lane in 0..cells.lanes {
                let named = Self::name(source, lane);
                let [value, index] = [self.x(), self.indices()].map(|of| {
                    let per_load = of.per_load();
                    if in_body {
                        let at = source_2 as u32;
                        return of.element(&format!("{}_{id}_{}", of.name, at / per_load), at % per_load);
                    }
                    if cells.inner && (of.name == "x" || cells.same_place) {
                        let load = format!("{}[from_{name} / {per_load}u + {}u]", of.name, lane / per_load);
                        return of.element(&load, lane % per_load);
                    }
                    let from = if of.name == "x" || cells.same_place {
                        format!("from_{name}")
                    } else {
                        let [a, b] = [(0, source_0), (1, source_1)].map(|(axis, source)| {
                            if axis >= first {
                                format!("u32(max(i32(cell_{axis}) + ({source}), 0))")
                            } else {
                                "0u".to_owned()
                            }
                        });
                        let at = format!("vec3<u32>({a}, {b}, u32(max(at_{name}, 0)))");
                        format!("flat(stream.stored, n, c + {lane}u, {at})")
                    };
                    of.single(&from)
                });
                line!(self.text, "  let value_{named} = {value};\n  let index_{named} = {index};");
                self.target(source, lane);
            }
        }
    }

    /// Which place of Y a source names, counted from the cells' first, or one that is none; and whether its window has it.
    fn target(&mut self, source: [i64; 3], lane: u32) {
        let cells = self.cells;
        let (name, zeroth) = (Self::name(source, lane), Self::name(source, 0));
        // Any value that is no place of these windows will do: it is compared with theirs alone.
        let (low, mut there) = match self.index_bytes {
            4 => (format!("index_{name}"), Vec::new()),
            _ => (format!("index_{name}.x"), vec![format!("(index_{name}.y == 0u)")]),
        };
        if !cells.filled {
            there.push(format!("is_{zeroth}"));
        }
        let lane_own = if lane == 0 { "own".to_owned() } else { format!("(own + {lane}u * stream.value.c)") };
        let target = if there.is_empty() { low } else { format!("select(0xffffffffu, {low}, {})", there.join(" & ")) };
        line!(self.text, "  let target_{name} = {target};");
        // Every source is looked at by the invocation whose cells begin with it.
        let own = source[0] == 0 && source[1] == 0 && (0..i64::from(cells.sources)).contains(&source[2]);
        if !own {
            return;
        }
        let mut hits = Vec::new();
        let first = 3 - cells.axes;
        for tap_0 in 0..cells.kernel[0] {
            for tap_1 in 0..cells.kernel[1] {
                for tap_2 in 0..cells.kernel[2] {
                    let mut offset = String::new();
                    let mut inside = String::new();
                    for (axis, tap) in [(0, tap_0), (1, tap_1), (2, tap_2)] {
                        if axis < first {
                            continue;
                        }
                        let [_, stride, pad] = cells.axis(axis);
                        let place = source[axis] * stride + i64::from(tap) - pad;
                        let _ = match place {
                            0 => Ok(()),
                            1.. => write!(offset, " + {place}u * stream.value.axis_{axis}"),
                            _ => write!(offset, " - {}u * stream.value.axis_{axis}", -place),
                        };
                        // A window may reach beyond Y, where another row's places would be meant.
                        if cells.clipped {
                            let _ = write!(
                                inside,
                                " & (i32(out_{axis}) + ({place}) >= 0) & (i32(out_{axis}) + ({place}) < i32(stream.holders[{axis}].output))"
                            );
                        }
                    }
                    hits.push(format!("((target_{name} == ({lane_own}{offset})){inside})"));
                }
            }
        }
        let skipped = match self.index_bytes {
            4 => format!("(index_{name} == 0xffffffffu)"),
            _ => format!("((index_{name}.x & index_{name}.y) == 0xffffffffu)"),
        };
        let is = if cells.filled { String::new() } else { format!("is_{zeroth} & ") };
        line!(self.text, "  let hit_{name} = {};", hits.join(" | "));
        line!(self.text, "  foreign = foreign | ({is}!hit_{name} & !((stream.skip_minus_one == 1u) & {skipped}));");
    }

    /// Writes a row of the cells.
    fn store_row(&mut self, place_0: u32, place_1: u32) {
        let cells = self.cells;
        let first = 3 - cells.axes;
        let mut row = "outer".to_owned();
        let mut conditions = Vec::new();
        for (axis, place) in [(0, place_0), (1, place_1)] {
            if axis >= first {
                row = format!("({row} * stream.holders[{axis}].output + out_{axis} + {place}u)");
                if !cells.exact[axis] {
                    conditions.push(format!("out_{axis} + {place}u < stream.holders[{axis}].output"));
                }
            }
        }
        let condition = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" && ") };
        line!(self.text, "  if ({condition}) {{\n    let row_out = {row} * stream.holders[2].output;");
        let (width, lanes) = (self.places(2), cells.lanes);
        for place_2 in 0..width {
            for lane in 0..lanes {
                line!(self.text, "    var out_{place_2}_{lane} = nothing;");
                let mut place =
                    format!("own{}", if lane == 0 { String::new() } else { format!(" + {lane}u * stream.value.c") });
                for (axis, at) in [(0, place_0), (1, place_1), (2, place_2)] {
                    if axis >= first && at > 0 {
                        let _ = write!(place, " + {at}u * stream.value.axis_{axis}");
                    }
                }
                // The last source that names a place gives its value.
                for source_0 in self.holders(0, place_0) {
                    for source_1 in self.holders(1, place_1) {
                        for source_2 in self.holders(2, place_2) {
                            let name = Self::name([source_0, source_1, source_2], lane);
                            line!(
                                self.text,
                                "    out_{place_2}_{lane} = select(out_{place_2}_{lane}, activate(value_{name}), target_{name} == {place});"
                            );
                        }
                    }
                }
            }
        }
        let per_word = (4 / self.bytes).max(1);
        let natural = (self.bytes / 4).max(1);
        let per_store = self.store_words() / natural * per_word;
        let elements: Vec<(u32, u32)> =
            (0..width).flat_map(|place| (0..lanes).map(move |lane| (place, lane))).collect();
        for (number, store) in elements.chunks(per_store as usize).enumerate() {
            let packed: Vec<String> = store
                .chunks(per_word as usize)
                .map(|word| {
                    let parts = word.iter().enumerate().map(|(at, (place, lane))| match at as u32 * self.bytes * 8 {
                        0 => format!("out_{place}_{lane}"),
                        shift => format!("(out_{place}_{lane} << {shift}u)"),
                    });
                    parts.collect::<Vec<String>>().join(" | ")
                })
                .collect();
            let value = match packed.len() {
                1 => packed[0].clone(),
                _ => format!("{}({})", words(self.store_words()), packed.join(", ")),
            };
            let place = store[0].0;
            let at = if cells.inner {
                let lane = store[0].1;
                format!("((row_out + out_2 + {place}u) * stream.inner + inner) / {per_store}u + {}u", lane / per_store)
            } else {
                format!("(row_out + out_2) / {per_store}u + {number}u")
            };
            if cells.exact[2] {
                line!(self.text, "    y[{at}] = {value};");
            } else {
                line!(
                    self.text,
                    "    if (out_2 + {place}u < stream.holders[2].output) {{\n      y[{at}] = {value};\n    }}"
                );
            }
        }
        line!(self.text, "  }}");
    }
}
