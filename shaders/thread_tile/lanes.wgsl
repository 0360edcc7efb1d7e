// Elements as lanes: neighbouring elements side by side in a vector, so that one line of text computes all of them.

//// one_lane when ABREAST == 1: One element.
// provides: Numbers, Truths, Lanes32, either
alias Numbers = u32;
alias Truths = bool;
alias Lanes32 = i32;

fn either(a: Numbers, b: Numbers, second: Truths) -> Numbers {
  return select(a, b, second);
}

//// four_lanes when ABREAST == 4: Four elements. GLSL before 4.50 cannot select integers by a vector.
// provides: Numbers, Truths, Lanes32, either
alias Numbers = vec4<u32>;
alias Truths = vec4<bool>;
alias Lanes32 = vec4<i32>;

fn either(a: Numbers, b: Numbers, second: Truths) -> Numbers {
  return vec4<u32>(
    select(a.x, b.x, second.x),
    select(a.y, b.y, second.y),
    select(a.z, b.z, second.z),
    select(a.w, b.w, second.w),
  );
}

//// lanes32 when BYTES <= 4: Elements of up to 32 bits as signed lanes. Integers compare as lanes do; floats keep their
// bits, at the top. The mask of minima is applied on the way (reduce/mirror.wgsl).
//
// Under IGNORE every NaN becomes a negative one of the largest magnitude, which never wins, and where it is a maximum
// the window is empty: its element is the value of such windows.
// provides: Lane, Lanes, lane_from, raws_of, BELOW, ABSENT
// requires: Raw, Numbers, Lanes32, OUTPUTS, SMALLEST_RAW, FLOATS, MIRROR, mirrored, is_nan, are_nan, either, from_pair, pool, NAN_POLICY, IGNORE
alias Lane = i32;
alias Lanes = Lanes32;
// The bits of a lane below a float, or above an integer.
const BELOW: u32 = 32u - 32u / OUTPUTS;
// Whether the elements are integers with a sign.
const SIGNED: bool = !FLOATS && SMALLEST_RAW != 0u;
// The lane of a NaN that is ignored.
const ABSENT: Lane = i32((0xffffffffu >> BELOW) << BELOW);

fn lane_from(raw: Raw) -> Lane {
  let bits = mirrored(raw);
  var lane = i32(bits);
  if (FLOATS) {
    lane = i32(bits << BELOW);
    if (NAN_POLICY == IGNORE) {
      lane = select(lane, ABSENT, is_nan(bits));
    }
  } else if (SIGNED) {
    lane = i32(bits << BELOW) >> BELOW;
  } else if (BELOW == 0u) {
    lane = i32(bits ^ 0x80000000u);
  }
  return lane;
}

fn raws_of(lanes: Lanes) -> Numbers {
  var raws = Numbers(lanes) & Numbers(0xffffffffu >> BELOW);
  if (FLOATS) {
    raws = Numbers(lanes) >> Numbers(BELOW);
  } else if (BELOW == 0u && !SIGNED) {
    raws = Numbers(lanes) ^ Numbers(0x80000000u);
  }
  raws = raws ^ Numbers(MIRROR);
  if (FLOATS && NAN_POLICY == IGNORE) {
    raws = either(raws, Numbers(from_pair(pool.lowest_value)), are_nan(lanes));
  }
  return raws;
}

//// lanes64 when BYTES == 8: Elements of 64 bits, as their low and their high words.
// provides: Lane, Lanes, lane_from
// requires: Raw, Numbers
alias Lane = Raw;
struct Lanes {
  low: Numbers,
  high: Numbers,
}

fn lane_from(raw: Raw) -> Lane {
  return raw;
}
