// Maxima of windows that slide along the innermost axis, by the method of kernel/pool_sliding.wgsl. Here the lanes of a
// vector are neighbouring outputs, and neighbouring elements.
//
// An invocation computes RUN neighbouring outputs of a line. Elements are loaded in aligned vectors of four, and
// regrouped into vectors of four that begin at the first window:
//
//   loaded       . . . a | b c d e | f g h i | j k l m | n . . .       LEFT = 3, CHUNKS = 10, RUN = 4
//   window 0          [a   b c d e   f g h i   j]
//   window 3                   [d e   f g h i   j k l m]
//   begins            '--------'                                       suffix maxima of the first RUN elements
//   core                         e   f g h i   j                       the other elements that all windows contain
//   ends                                         k l m                 prefix maxima of the elements after window 0
//
// Elements in the padding are replaced by the nearest element inside. No window is empty, so the nearest element
// belongs to the same window.
//
// Neighbouring invocations compute neighbouring runs.
// Fewest bytes: its input once, its output once. Each output loads CHUNKS / RUN elements and one more.
// provides: main
// requires: pool, invocation, WORKGROUP, Acc, Cell, combine, combine_anywhere, join, Run, row_run, row_quad, note_start, store_nan_starts, emit, conclude, RUN, CHUNKS, LEFT
const QUADS: u32 = RUN / 4u;
// Whole vectors of four in the core, and the remaining elements.
const WHOLE: u32 = (CHUNKS - RUN) / 4u;
const LEFT_OVER: u32 = (CHUNKS - RUN) % 4u;

// Two consecutive vectors of four.
struct Pair {
  here: Cell,
  next: Cell,
}

// Four neighbours, beginning `by` elements after the first element of the pair.
fn behind(pair: Pair, by: u32) -> Cell {
  let p = pair.here;
  let q = pair.next;
  var four = p;
  if (by == 1u) {
    four = Cell(p.b, p.c, p.d, q.a);
  }
  if (by == 2u) {
    four = Cell(p.c, p.d, q.a, q.b);
  }
  if (by == 3u) {
    four = Cell(p.d, q.a, q.b, q.c);
  }
  return four;
}

// The pair advanced by four elements, with the next four of the line loaded.
fn advanced(run: Run, pair: Pair, number: u32) -> Pair {
  return Pair(pair.next, row_quad(run, number));
}

// Suffix maxima of four elements.
fn suffixes(four: Cell) -> Cell {
  let c = combine(four.c, four.d);
  let b = combine(four.b, c);
  return Cell(combine(four.a, b), b, c, four.d);
}

// Suffix maxima of four elements, continued into the elements after them; `next` is the maximum of those.
fn suffixes_before(four: Cell, next: Acc) -> Cell {
  return suffixes(Cell(four.a, four.b, four.c, combine(four.d, next)));
}

// The maximum of four elements in any order.
fn all_of(four: Cell) -> Acc {
  return combine_anywhere(combine_anywhere(four.a, four.b), combine_anywhere(four.c, four.d));
}

// The prefix maxima of four outputs: for the first output the maximum of the core, and for each next output one more of
// the ends. `core` then includes all four ends.
struct Prefixes {
  four: Cell,
  core: Acc,
}

fn prefixes(core: Acc, ends: Cell) -> Prefixes {
  let b = combine(core, ends.a);
  let c = combine(b, ends.b);
  let d = combine(c, ends.c);
  return Prefixes(Cell(core, b, c, d), combine(d, ends.d));
}

fn four_outputs(run: Run, slot: u32, begins: Cell, behind_them: Cell) {
  let output = run.begin + slot;
  if (output < run.count) {
    var four = run;
    four.lanes = min(4u, run.count - output);
    emit(four, output, join(begins, behind_them));
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let run = row_run(number);
  var pair = Pair(row_quad(run, 0u), row_quad(run, 1u));
  var begins: array<Cell, QUADS>;
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    if (quad > 0u) {
      pair = advanced(run, pair, quad + 1u);
    }
    begins[quad] = behind(pair, LEFT);
    note_start(4u * quad, begins[quad]);
  }
  var core = begins[QUADS - 1u].d;
  begins[QUADS - 1u] = suffixes(begins[QUADS - 1u]);
  for (var quad = 1u; quad < QUADS; quad++) { // unrolled
    begins[QUADS - 1u - quad] = suffixes_before(begins[QUADS - 1u - quad], begins[QUADS - quad].a);
  }
  store_nan_starts(run, run.begin);
  pair = advanced(run, pair, QUADS + 1u);
  var ends = behind(pair, LEFT);
  if (WHOLE > 0u) {
    var fours = ends;
    for (var i = 1u; i < WHOLE; i++) {
      pair = advanced(run, pair, QUADS + 1u + i);
      fours = join(fours, behind(pair, LEFT));
    }
    core = combine(core, all_of(fours));
    pair = advanced(run, pair, QUADS + 1u + WHOLE);
    ends = behind(pair, LEFT);
  }
  // The remaining elements of the core precede the ends in the same vector.
  if (LEFT_OVER > 0u) {
    core = combine(core, ends.a);
  }
  if (LEFT_OVER > 1u) {
    core = combine(core, ends.b);
  }
  if (LEFT_OVER > 2u) {
    core = combine(core, ends.c);
  }
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    var next = ends;
    if (LEFT_OVER > 1u || quad + 1u < QUADS) {
      pair = advanced(run, pair, QUADS + 2u + WHOLE + quad);
      next = behind(pair, LEFT);
    }
    let all = prefixes(core, behind(Pair(ends, next), LEFT_OVER));
    four_outputs(run, 4u * quad, begins[quad], all.four);
    core = all.core;
    ends = next;
  }
  conclude(run);
}
