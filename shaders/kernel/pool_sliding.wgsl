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
// requires: pool, invocation, WORKGROUP, Acc, combine, Walk, walk_of, tap_at, last_tap_at, fetch, First, first_of, emit, CHUNKS, CHUNK, READ, REST, LAST_TAP
struct Chunk {
  // The maximum of all its taps, and of the first REST.
  all: Acc,
  part: Acc,
}

fn chunk(walk: Walk, number: u32) -> Chunk {
  let tap = number * CHUNK;
  var all = fetch(tap_at(walk, tap));
  for (var i = 1u; i < REST; i++) {
    all = combine(all, fetch(tap_at(walk, tap + i)));
  }
  let part = all;
  for (var i = max(REST, 1u); i < READ; i++) {
    all = combine(all, fetch(tap_at(walk, tap + i)));
  }
  return Chunk(all, part);
}

struct Four {
  a: Acc,
  b: Acc,
  c: Acc,
  d: Acc,
}

fn read_four(walk: Walk, number: u32, slot: u32) -> Four {
  let a = chunk(walk, number + slot).all;
  var b = a;
  var c = a;
  var d = a;
  if (slot + 1u < CHUNKS) {
    b = chunk(walk, number + slot + 1u).all;
  }
  if (slot + 2u < CHUNKS) {
    c = chunk(walk, number + slot + 2u).all;
  }
  if (slot + 3u < CHUNKS) {
    d = chunk(walk, number + slot + 3u).all;
  }
  return Four(a, b, c, d);
}

// Suffix maxima in the place of elements, from those of the next four on.
fn suffixes(slot: u32, four: Four, next: Acc) -> Four {
  var a = four.a;
  var b = four.b;
  var c = four.c;
  var d = four.d;
  if (slot + 4u < CHUNKS) {
    d = combine(d, next);
  }
  if (slot + 3u < CHUNKS) {
    c = combine(c, d);
  }
  if (slot + 2u < CHUNKS) {
    b = combine(b, c);
  }
  if (slot + 1u < CHUNKS) {
    a = combine(a, b);
  }
  return Four(a, b, c, d);
}

struct Step {
  // The element that takes the place of the suffix maximum, and the prefix maximum up to it.
  slot: Acc,
  prefix: Acc,
}

// One output, and one element taken in.
fn step(walk: Walk, first: First, output: u32, slot: u32, suffix: Acc, prefix: Acc) -> Step {
  let entering = chunk(walk, output + CHUNKS);
  var best = suffix;
  var next = entering.all;
  if (slot > 0u) {
    best = combine(suffix, prefix);
    next = combine(prefix, entering.all);
  }
  if (REST > 0u) {
    best = combine(best, entering.part);
  }
  if (LAST_TAP == 1u) {
    best = combine(best, fetch(last_tap_at(walk, output * CHUNK)));
  }
  if (output < walk.count) {
    emit(walk, first, output, best);
  }
  return Step(entering.all, next);
}

struct Steps {
  four: Four,
  prefix: Acc,
}

fn four_steps(walk: Walk, first: First, begin: u32, slot: u32, four: Four, prefix: Acc) -> Steps {
  let a = step(walk, first, begin + slot, slot, four.a, prefix);
  var b = a;
  if (slot + 1u < CHUNKS) {
    b = step(walk, first, begin + slot + 1u, slot + 1u, four.b, a.prefix);
  }
  var c = b;
  if (slot + 2u < CHUNKS) {
    c = step(walk, first, begin + slot + 2u, slot + 2u, four.c, b.prefix);
  }
  var d = c;
  if (slot + 3u < CHUNKS) {
    d = step(walk, first, begin + slot + 3u, slot + 3u, four.d, c.prefix);
  }
  return Steps(Four(a.slot, b.slot, c.slot, d.slot), d.prefix);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let walk = walk_of(number, pool.slide.segments * CHUNKS);
  let first = first_of(walk);
  // The slots of a segment, by fours; those beyond CHUNKS are never read.
  var s0 = read_four(walk, walk.begin, 0u);
  var s1 = s0;
  var s2 = s0;
  var s3 = s0;
  var s4 = s0;
  var s5 = s0;
  var s6 = s0;
  var s7 = s0;
  if (CHUNKS > 4u) {
    s1 = read_four(walk, walk.begin, 4u);
  }
  if (CHUNKS > 8u) {
    s2 = read_four(walk, walk.begin, 8u);
  }
  if (CHUNKS > 12u) {
    s3 = read_four(walk, walk.begin, 12u);
  }
  if (CHUNKS > 16u) {
    s4 = read_four(walk, walk.begin, 16u);
  }
  if (CHUNKS > 20u) {
    s5 = read_four(walk, walk.begin, 20u);
  }
  if (CHUNKS > 24u) {
    s6 = read_four(walk, walk.begin, 24u);
  }
  if (CHUNKS > 28u) {
    s7 = read_four(walk, walk.begin, 28u);
  }
  for (var segment = 0u; segment < pool.slide.segments; segment++) {
    let begin = walk.begin + segment * CHUNKS;
    s7 = suffixes(28u, s7, s7.d);
    s6 = suffixes(24u, s6, s7.a);
    s5 = suffixes(20u, s5, s6.a);
    s4 = suffixes(16u, s4, s5.a);
    s3 = suffixes(12u, s3, s4.a);
    s2 = suffixes(8u, s2, s3.a);
    s1 = suffixes(4u, s1, s2.a);
    s0 = suffixes(0u, s0, s1.a);
    var steps = four_steps(walk, first, begin, 0u, s0, s0.a);
    s0 = steps.four;
    if (CHUNKS > 4u) {
      steps = four_steps(walk, first, begin, 4u, s1, steps.prefix);
      s1 = steps.four;
    }
    if (CHUNKS > 8u) {
      steps = four_steps(walk, first, begin, 8u, s2, steps.prefix);
      s2 = steps.four;
    }
    if (CHUNKS > 12u) {
      steps = four_steps(walk, first, begin, 12u, s3, steps.prefix);
      s3 = steps.four;
    }
    if (CHUNKS > 16u) {
      steps = four_steps(walk, first, begin, 16u, s4, steps.prefix);
      s4 = steps.four;
    }
    if (CHUNKS > 20u) {
      steps = four_steps(walk, first, begin, 20u, s5, steps.prefix);
      s5 = steps.four;
    }
    if (CHUNKS > 24u) {
      steps = four_steps(walk, first, begin, 24u, s6, steps.prefix);
      s6 = steps.four;
    }
    if (CHUNKS > 28u) {
      steps = four_steps(walk, first, begin, 28u, s7, steps.prefix);
      s7 = steps.four;
    }
  }
}
