// Maxima of windows that slide along one axis, by the algorithm of van Herk and of Gil and Werman: three comparisons and
// little more than one load for an output, however long the windows are. A pool is one such pass for each axis, the last axis
// first.
//
// The axis is cut into segments as long as a window. The window of output i is what remains of its segment from i on, and as
// much of the next one:
//
//      segment s            segment s + 1
//   | a  b  c  d  e  f  g | h  i  j  k  l  m  n |
//            [c  d  e  f  g   h  i]                   a window of seven
//             '-- suffix --'  '-- prefix
//
// An invocation goes along the axis for some segments. It holds the suffix maxima of a segment (in place of its elements),
// and takes in the next segment one element at a time: the maximum of those so far is the prefix. So each element is loaded
// once, but for those of an invocation's first segment. What is an element here is a chunk of CHUNK taps, if windows begin that
// far apart; a window then is CHUNKS of them and the first REST taps of the next.
//
// Neighbouring invocations have neighbours inside the axis, and where nothing is inside, neighbouring runs.
// Fewest bytes: what is read once, what is written once.
// provides: main
// requires: pool, invocation, WORKGROUP, Cell, join, prefer, Walk, walk_of, tap_at, last_tap_at, fetch, start, note_begin, tell_begins, emit, conclude, CHUNKS, CHUNK, READ, REST, LAST_TAP
struct Chunk {
  // The maximum of all its taps, and of the first REST.
  all: Cell,
  part: Cell,
}

// An element by its tap. Its order among those of an invocation stays below 2^15.
fn tap_of(walk: Walk, number: u32, i: u32) -> Cell {
  return fetch(tap_at(walk, number * CHUNK + i), (number - walk.begin) * READ + i);
}

fn chunk(walk: Walk, number: u32, slot: u32) -> Chunk {
  var all = tap_of(walk, number, 0u);
  note_begin(slot, all);
  for (var i = 1u; i < REST; i++) {
    all = join(all, tap_of(walk, number, i));
  }
  let part = all;
  for (var i = max(REST, 1u); i < READ; i++) {
    all = join(all, tap_of(walk, number, i));
  }
  return Chunk(all, part);
}

// Slots are in fours. What does not fill four of them is the tail.
const FOURS: u32 = CHUNKS / 4u;
const TAIL: u32 = CHUNKS % 4u;

struct Four {
  a: Cell,
  b: Cell,
  c: Cell,
  d: Cell,
}

// The chunks of an invocation's first segment from a slot on, so many as are asked for.
fn read_four(walk: Walk, slot: u32, count: u32) -> Four {
  let a = chunk(walk, walk.begin + slot, slot).all;
  var four = Four(a, a, a, a);
  if (count > 1u) {
    four.b = chunk(walk, walk.begin + slot + 1u, slot + 1u).all;
  }
  if (count > 2u) {
    four.c = chunk(walk, walk.begin + slot + 2u, slot + 2u).all;
  }
  if (count > 3u) {
    four.d = chunk(walk, walk.begin + slot + 3u, slot + 3u).all;
  }
  return four;
}

// Suffix maxima of four chunks in their place, with those of the next ones.
fn suffixes(four: Four, next: Cell) -> Four {
  let d = join(four.d, next);
  let c = join(four.c, d);
  let b = join(four.b, c);
  return Four(join(four.a, b), b, c, d);
}

// The same of the last chunks of a segment, so many as there are.
fn last_suffixes(four: Four, count: u32) -> Four {
  var last = four;
  if (count > 3u) {
    last.c = join(four.c, four.d);
  }
  if (count > 2u) {
    last.b = join(four.b, last.c);
  }
  if (count > 1u) {
    last.a = join(four.a, last.b);
  }
  return last;
}

struct Step {
  // The chunk that takes the place of the suffix maximum, and the prefix maximum up to it.
  slot: Cell,
  prefix: Cell,
}

// One output, and one chunk taken in. In a segment's first step there is no prefix yet.
fn step(walk: Walk, begin: u32, slot: u32, begins: bool, suffix: Cell, prefix: Cell) -> Step {
  let output = begin + slot;
  let entering = chunk(walk, output + CHUNKS, slot);
  var best = prefer(suffix, join(suffix, prefix), begins);
  let next = prefer(entering.all, join(prefix, entering.all), begins);
  if (REST > 0u) {
    best = join(best, entering.part);
  }
  if (LAST_TAP == 1u) {
    best = join(best, fetch(last_tap_at(walk, output * CHUNK), (output - walk.begin + CHUNKS) * READ + READ));
  }
  if (output < walk.count) {
    emit(walk, output, best);
  }
  return Step(entering.all, next);
}

struct Steps {
  four: Four,
  prefix: Cell,
}

fn four_steps(walk: Walk, begin: u32, slot: u32, count: u32, begins: bool, four: Four, prefix: Cell) -> Steps {
  var one = step(walk, begin, slot, begins, four.a, prefix);
  var next = Four(one.slot, one.slot, one.slot, one.slot);
  if (count > 1u) {
    one = step(walk, begin, slot + 1u, false, four.b, one.prefix);
    next.b = one.slot;
  }
  if (count > 2u) {
    one = step(walk, begin, slot + 2u, false, four.c, one.prefix);
    next.c = one.slot;
  }
  if (count > 3u) {
    one = step(walk, begin, slot + 3u, false, four.d, one.prefix);
    next.d = one.slot;
  }
  return Steps(next, one.prefix);
}

// The slots of a segment.
struct Slots {
  s0: Four,
  s1: Four,
  s2: Four,
  s3: Four,
  s4: Four,
  s5: Four,
  s6: Four,
  s7: Four,
  tail: Four,
}

// All fours move up by one, and another one comes in at their end. Loops over slots turn them around, since what is indexed
// would lie in memory.
fn turned(slots: Slots, four: Four) -> Slots {
  var next = slots;
  next.s0 = four;
  if (FOURS > 1u) {
    next.s0 = slots.s1;
    next.s1 = four;
  }
  if (FOURS > 2u) {
    next.s1 = slots.s2;
    next.s2 = four;
  }
  if (FOURS > 3u) {
    next.s2 = slots.s3;
    next.s3 = four;
  }
  if (FOURS > 4u) {
    next.s3 = slots.s4;
    next.s4 = four;
  }
  if (FOURS > 5u) {
    next.s4 = slots.s5;
    next.s5 = four;
  }
  if (FOURS > 6u) {
    next.s5 = slots.s6;
    next.s6 = four;
  }
  if (FOURS > 7u) {
    next.s6 = slots.s7;
    next.s7 = four;
  }
  return next;
}

// The suffix maxima of a four that others follow, or that is the last one.
fn suffixes_before(slots: Four, next: Four, follows: bool) -> Four {
  var all = last_suffixes(slots, 4u);
  if (follows) {
    all = suffixes(slots, next.a);
  }
  return all;
}

fn suffixes_of(slots: Slots) -> Slots {
  var all = slots;
  if (TAIL > 0u) {
    all.tail = last_suffixes(all.tail, TAIL);
  }
  var next = all.tail;
  if (FOURS > 7u) {
    all.s7 = suffixes_before(all.s7, next, TAIL > 0u);
    next = all.s7;
  }
  if (FOURS > 6u) {
    all.s6 = suffixes_before(all.s6, next, TAIL > 0u || FOURS > 7u);
    next = all.s6;
  }
  if (FOURS > 5u) {
    all.s5 = suffixes_before(all.s5, next, TAIL > 0u || FOURS > 6u);
    next = all.s5;
  }
  if (FOURS > 4u) {
    all.s4 = suffixes_before(all.s4, next, TAIL > 0u || FOURS > 5u);
    next = all.s4;
  }
  if (FOURS > 3u) {
    all.s3 = suffixes_before(all.s3, next, TAIL > 0u || FOURS > 4u);
    next = all.s3;
  }
  if (FOURS > 2u) {
    all.s2 = suffixes_before(all.s2, next, TAIL > 0u || FOURS > 3u);
    next = all.s2;
  }
  if (FOURS > 1u) {
    all.s1 = suffixes_before(all.s1, next, TAIL > 0u || FOURS > 2u);
    next = all.s1;
  }
  if (FOURS > 0u) {
    all.s0 = suffixes_before(all.s0, next, TAIL > 0u || FOURS > 1u);
  }
  return all;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let walk = walk_of(number, pool.slide.segments * CHUNKS);
  start(walk);
  var slots: Slots;
  for (var four = 0u; four < FOURS; four++) {
    slots = turned(slots, read_four(walk, four * 4u, 4u));
  }
  if (TAIL > 0u) {
    slots.tail = read_four(walk, FOURS * 4u, TAIL);
  }
  for (var segment = 0u; segment < pool.slide.segments; segment++) {
    let begin = walk.begin + segment * CHUNKS;
    if (begin >= walk.count) {
      break;
    }
    tell_begins(walk, begin);
    slots = suffixes_of(slots);
    // Without a prefix any cell will do.
    var prefix = slots.tail.a;
    for (var four = 0u; four < FOURS; four++) {
      if (begin + four * 4u >= walk.count) {
        break;
      }
      let steps = four_steps(walk, begin, four * 4u, 4u, four == 0u, slots.s0, prefix);
      slots = turned(slots, steps.four);
      prefix = steps.prefix;
    }
    if (TAIL > 0u) {
      slots.tail = four_steps(walk, begin, FOURS * 4u, TAIL, FOURS == 0u, slots.tail, prefix).four;
    }
  }
  conclude(walk);
}
