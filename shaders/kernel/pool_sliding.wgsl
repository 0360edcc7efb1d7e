// Maxima of windows that slide along one axis. Neighbouring windows share all but their ends, and an invocation reads
// the shared elements once. A pool is one such pass for each axis, the last axis first.
//
// An invocation computes RUN neighbouring windows of CHUNKS elements each; CHUNKS is at least RUN:
//
//   elements          a  b  c  d  e  f  g  h  i          CHUNKS = 6, RUN = 4
//   window 0         [a  b  c  d  e  f]
//   window 1            [b  c  d  e  f  g]
//   window 2               [c  d  e  f  g  h]
//   window 3                  [d  e  f  g  h  i]
//                     '-------'                          the begins: suffix maxima of the first RUN elements
//                                e  f                    the core, which all windows contain
//                                      g  h  i           the ends: prefix maxima of the elements after the first window
//
// If windows begin CHUNK taps apart, each element in the picture is a chunk of CHUNK taps. A window then consists of
// CHUNKS chunks and the first REST taps of the next chunk.
//
// Neighbouring invocations compute lines with neighbouring inner coordinates, or neighbouring runs of a line where the
// axis is the innermost one.
// Fewest bytes: its input once, its output once. Each output loads CHUNKS / RUN elements and one more.
// provides: main, Chunk, tap_of
// requires: pool, invocation, WORKGROUP, Cell, join, Run, run_of, tap_at, fetch, chunk, with_last_tap, note_start, store_nan_starts, emit, conclude, RUN, CHUNKS, CHUNK, READ, REST
struct Chunk {
  // The maximum of all taps of the chunk, the maximum of its first REST taps, and its first tap.
  all: Cell,
  part: Cell,
  first: Cell,
}

// Loads tap `i` of chunk `number`. The order numbers of the elements of an invocation stay below 2^15.
fn tap_of(run: Run, number: u32, i: u32) -> Cell {
  return fetch(tap_at(run, number * CHUNK + i), (number - run.begin) * READ + i);
}

// The maximum of the first chunk of a window. Also notes whether the window begins with a NaN (`note_start`).
fn begin_of(run: Run, slot: u32) -> Cell {
  let begin = chunk(run, run.begin + slot);
  note_start(slot, begin.first);
  return begin.all;
}

// Emits one output from its begin and from `core`, the maximum of the core and of the ends so far. Returns `core` with
// the next end.
fn step(run: Run, slot: u32, begin: Cell, core: Cell) -> Cell {
  let output = run.begin + slot;
  var best = join(begin, core);
  var next = core;
  if (REST > 0u || slot + 1u < RUN) {
    let entering = chunk(run, output + CHUNKS);
    next = join(core, entering.all);
    if (REST > 0u) {
      best = join(best, entering.part);
    }
  }
  best = with_last_tap(run, best, slot);
  if (output < run.count) {
    emit(run, output, best);
  }
  return next;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let run = run_of(number, RUN);
  var begins: array<Cell, RUN>;
  for (var slot = 0u; slot < RUN; slot++) { // unrolled
    begins[slot] = begin_of(run, slot);
  }
  // The last chunk of the begins; all windows contain it.
  var core = begins[RUN - 1u];
  for (var slot = 1u; slot < RUN; slot++) { // unrolled
    begins[RUN - 1u - slot] = join(begins[RUN - 1u - slot], begins[RUN - slot]);
  }
  store_nan_starts(run, run.begin);
  for (var i = RUN; i < CHUNKS; i++) {
    core = join(core, chunk(run, run.begin + i).all);
  }
  for (var slot = 0u; slot < RUN; slot++) { // unrolled
    core = step(run, slot, begins[slot], core);
  }
  conclude(run);
}
