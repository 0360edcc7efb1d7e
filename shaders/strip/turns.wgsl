// How often a strip is computed: `turn_after` is the next turn, or 0.
// provides: begin_doubts, seen, note_doubts, note_zero, turn_after
// requires: Best, Place

//// turns_sure when !FLOAT: Once.
// provides: nan_met
// requires: Kept
fn begin_doubts(local: u32) {
}

fn seen(place: Place, line: u32, turn: u32) {
}

fn note_doubts(best: Best, turn: u32) {
}

fn note_zero(result: Kept) {
}

fn nan_met() -> bool {
  return false;
}

fn turn_after(turn: u32, local: u32) -> u32 {
  return 0u;
}

//// turns_of_places when FLOAT && PLACED: Once. Under SEED_FIRST a NaN that is the first element of its window wins,
// though not by its key; nobody looks for one where the workgroup has met no NaN.
// provides: nan_met
// requires: taps, TAPS, BELOW, INFINITE, NAN_POLICY, SEED_FIRST, Kept
var<workgroup> nans: atomic<u32>;

fn begin_doubts(local: u32) {
  if (local == 0u) {
    atomicStore(&nans, 0u);
  }
  workgroupBarrier();
}

fn seen(place: Place, line: u32, turn: u32) {
}

fn note_doubts(best: Best, turn: u32) {
  if (NAN_POLICY == SEED_FIRST) {
    var signed = u32(taps[0]);
    var most = taps[0];
    for (var tap = 1u; tap < TAPS; tap++) { // unrolled
      signed = max(signed, u32(taps[tap]));
      most = max(most, taps[tap]);
    }
    let largest = i32(INFINITE << BELOW);
    if (most > largest || signed > (u32(largest) | 0x80000000u)) {
      atomicStore(&nans, 1u);
    }
  }
}

fn note_zero(result: Kept) {
}

fn nan_met() -> bool {
  return atomicLoad(&nans) != 0u;
}

fn turn_after(turn: u32, local: u32) -> u32 {
  return 0u;
}

//// turns_doubtful when FLOAT && !PLACED: The maxima of floats alone tell neither which of both zeros is the first, nor
// what becomes of NaN. Where a workgroup meets a NaN that is not ignored, or both -0 and a maximum that is a zero, it
// computes its strips again:
//
//   turn 1    Only if a window may hold both zeros, or a NaN under PROPAGATE_LAST. Each element is replaced by a code
//             that is the larger, the earlier it stands, if it is a zero; under PROPAGATE_LAST by a larger one, the
//             larger the later it stands, if it is NaN; by 0 otherwise. Y gets the codes.
//   turn 2    NaN is replaced by the lowest element. Before it writes Y, an invocation reads the code, if there is one.
//             Where the maximum is a zero, the element that the code names is the maximum; where the code is that of a
//             NaN, too.
// provides: ZERO_CODE, NAN_CODE, has_codes
// requires: taps, TAPS, BEFORE, Lane, lowest_lane, pool, BELOW, INFINITE, NAN_POLICY, PROPAGATE_LAST, IGNORE
const ZERO_CODE: u32 = 0x7fffu;
const NAN_CODE: u32 = 0x8000u;

// What a workgroup has met.
const NAN: u32 = 1u;
const MINUS_ZERO: u32 = 2u;
const ZERO_MAXIMUM: u32 = 4u;

var<workgroup> doubts: atomic<u32>;
// The turn after turn 0.
var<workgroup> second: u32;
var<private> met: u32;
// The smallest magnitude of a maximum, without its sign.
var<private> smallest: u32 = 0xffffffffu;

fn begin_doubts(local: u32) {
  if (local == 0u) {
    atomicStore(&doubts, 0u);
  }
  workgroupBarrier();
}

fn is_nan_lane(tap: Lane) -> bool {
  return (tap & 0x7fffffff) > i32(INFINITE << BELOW);
}

fn code(tap: Lane, number: u32) -> Lane {
  var found = 0u;
  if ((u32(tap) << 1u) == 0u) {
    found = ZERO_CODE - number;
  }
  if (NAN_POLICY == PROPAGATE_LAST && is_nan_lane(tap)) {
    found = NAN_CODE + number;
  }
  return i32(found);
}

fn seen(place: Place, line: u32, turn: u32) {
  if (turn == 1u) {
    for (var tap = BEFORE; tap < TAPS; tap++) { // unrolled
      // Outside the line stand copies of what lies inside.
      let inside = u32(place.column) + tap - BEFORE < pool.axes[2].input;
      taps[tap] = select(0, code(taps[tap], line * 64u + tap - BEFORE), inside);
    }
  }
  if (turn == 2u) {
    for (var tap = BEFORE; tap < TAPS; tap++) { // unrolled
      taps[tap] = select(taps[tap], lowest_lane(), is_nan_lane(taps[tap]));
    }
  }
}

fn note_doubts(best: Best, turn: u32) {
  var signed = u32(taps[0]);
  for (var tap = 1u; tap < TAPS; tap++) { // unrolled
    signed = max(signed, u32(taps[tap]));
  }
  let largest = i32(INFINITE << BELOW);
  var nan = (best.most > largest) | (signed > (u32(largest) | 0x80000000u));
  if (NAN_POLICY == IGNORE) {
    nan = false;
  }
  met |= select(0u, NAN, nan) | select(0u, MINUS_ZERO, best.least == i32(0x80000000u));
}

fn note_zero(result: Lane) {
  smallest = min(smallest, u32(result) << 1u);
}

fn has_codes() -> bool {
  return second == 1u;
}

fn turn_after(turn: u32, local: u32) -> u32 {
  if (turn == 0u) {
    atomicOr(&doubts, met | select(0u, ZERO_MAXIMUM, smallest == 0u));
  }
  workgroupBarrier();
  if (local == 0u) {
    let all = atomicLoad(&doubts);
    let nan = (all & NAN) != 0u;
    let zeros = (all & MINUS_ZERO) != 0u && (nan || (all & ZERO_MAXIMUM) != 0u);
    let codes = zeros || (nan && NAN_POLICY == PROPAGATE_LAST);
    second = select(select(0u, 2u, nan), 1u, codes);
  }
  var next = workgroupUniformLoad(&second);
  if (turn == 1u) {
    next = 2u;
  } else if (turn == 2u) {
    next = 0u;
  }
  return next;
}
