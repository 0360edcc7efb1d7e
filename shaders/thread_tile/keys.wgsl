// The keys of lanes.

//// keys32 when BYTES <= 4: Keys of elements of up to 32 bits.
// provides: Keys, are_greater, are_largest, chosen
// requires: Numbers, Truths, either, LARGEST_KEY
alias Keys = Numbers;

fn are_greater(a: Keys, b: Keys) -> Truths {
  return a > b;
}

fn are_largest(a: Keys) -> Truths {
  return a == Keys(LARGEST_KEY);
}

fn chosen(a: Keys, b: Keys, second: Truths) -> Keys {
  return either(a, b, second);
}

//// keys64 when BYTES == 8: Keys of elements of 64 bits.
// provides: Keys, are_greater, are_largest, chosen
// requires: Numbers, Truths, either, LARGEST_KEY
struct Keys {
  low: Numbers,
  high: Numbers,
}

fn are_greater(a: Keys, b: Keys) -> Truths {
  return (a.high > b.high) | ((a.high == b.high) & (a.low > b.low));
}

fn are_largest(a: Keys) -> Truths {
  return (a.low & a.high) == Numbers(LARGEST_KEY.x);
}

fn chosen(a: Keys, b: Keys, second: Truths) -> Keys {
  return Keys(either(a.low, b.low, second), either(a.high, b.high, second));
}

//// keys_of_integers when BYTES <= 4 && !FLOAT: Of integers of up to 32 bits: `rank` of lanes.
// provides: keys_of, are_nan
// requires: Keys, Lanes, Truths, Numbers, raws_of, SMALLEST_RAW, MIRROR
fn keys_of(taps: Lanes) -> Keys {
  return raws_of(taps) ^ Numbers(SMALLEST_RAW ^ MIRROR);
}

fn are_nan(taps: Lanes) -> Truths {
  return Truths(false);
}

//// keys_of_floats when BYTES <= 4 && FLOAT: Of floats of up to 32 bits: `rank` of lanes, whose bits stand at the top
// already.
// provides: keys_of, are_nan
// requires: Keys, Lanes, Truths, Numbers, either, BELOW, INFINITE, NAN_LOWEST, LARGEST_KEY, NAN_POLICY, PROPAGATE_LAST
fn keys_of(taps: Lanes) -> Keys {
  let sign = taps >> Numbers(31u);
  let number = Numbers(((taps & Lanes(0x7fffffff)) ^ sign) - sign);
  var keys = number + Numbers(NAN_LOWEST);
  if (NAN_POLICY == PROPAGATE_LAST) {
    keys = either(number + Numbers(0x80000000u), Numbers(LARGEST_KEY), are_nan(taps));
  }
  return keys;
}

fn are_nan(taps: Lanes) -> Truths {
  return (taps & Lanes(0x7fffffff)) > Lanes(i32(INFINITE << BELOW));
}

//// keys_of_pair when BYTES == 8 && ABREAST == 1: Of an element of 64 bits.
// provides: keys_of, are_nan
// requires: Keys, Lanes, Truths, rank, is_nan
fn keys_of(taps: Lanes) -> Keys {
  let key = rank(vec2<u32>(taps.low, taps.high));
  return Keys(key.x, key.y);
}

fn are_nan(taps: Lanes) -> Truths {
  return is_nan(vec2<u32>(taps.low, taps.high));
}

//// keys_of_pairs when BYTES == 8 && ABREAST == 4: Of four elements of 64 bits.
// provides: keys_of, are_nan
// requires: Keys, Lanes, Truths, rank, is_nan
fn keys_of(taps: Lanes) -> Keys {
  let a = rank(vec2<u32>(taps.low.x, taps.high.x));
  let b = rank(vec2<u32>(taps.low.y, taps.high.y));
  let c = rank(vec2<u32>(taps.low.z, taps.high.z));
  let d = rank(vec2<u32>(taps.low.w, taps.high.w));
  return Keys(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.y, b.y, c.y, d.y));
}

fn are_nan(taps: Lanes) -> Truths {
  return Truths(
    is_nan(vec2<u32>(taps.low.x, taps.high.x)),
    is_nan(vec2<u32>(taps.low.y, taps.high.y)),
    is_nan(vec2<u32>(taps.low.z, taps.high.z)),
    is_nan(vec2<u32>(taps.low.w, taps.high.w)),
  );
}
