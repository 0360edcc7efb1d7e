// The maximum of a window, by the rules of reduce/accumulator.wgsl, in accumulators of a key and a position. In
// `combine` the elements of `a` precede those of `b`; `combine_anywhere` combines two accumulators in any order.

//// key_and_position when KEY_IS_ELEMENT || known(PLACED): What the accumulators of all orders share.
// provides: Acc, choose
// requires: Key
struct Acc {
  key: Key,
  at: u32,
}

// Selects `a` if `first`, else `b`.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.at, a.at, first));
}

//// max_of_integers when KEY_IS_ELEMENT && !FLOAT: Of integers that are read in order. The key alone determines the
// element. Among equal keys the first is kept.
// provides: lift_in_order, combine, combine_anywhere, raw_of, may_win
// requires: Acc, Key, Raw, from_pair, nan_policy, SEED_LOWEST, pool, ZERO, key, greater, mirrored
fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return Acc(key(mirrored(raw)), at);
}

fn combine(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key);
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key) | ((b.at < a.at) & !greater(a.key, b.key));
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

// The element of a key: integer keys are the elements with some bits inverted.
fn raw_of(best: Acc) -> Raw {
  return mirrored(best.key ^ key(ZERO));
}

fn may_win(best: Key) -> bool {
  return nan_policy() != SEED_LOWEST || greater(best, key(mirrored(from_pair(pool.lowest_value))));
}

//// max_of_words when KEY_IS_ELEMENT && f32: Of f32, for policies where no NaN wins by its key, and for elements that
// are read in order. The key alone determines the element, so one `max` decides. The keys of zeros also hold the sign
// and the order number, largest for the first zero.
//
//   NaN | -infinity .. -smallest | zeros, the last .. the first | +smallest .. +infinity
//
// provides: lift_in_order, combine, combine_anywhere, raw_of, may_win, holds_nan
// requires: Acc, Key, Raw, from_pair, nan_policy, SEED_LOWEST, IGNORE, pool, signed_magnitude, mirrored
// The number of keys for zeros: one bit is the sign, the bits above it are the order number, which stays below half of
// this.
const ZEROS: u32 = 0x10000u;
// The smallest key of a zero. +infinity has the largest key of all. The keys of NaN would be larger still; they wrap
// around and are the smallest.
const FIRST_ZERO: u32 = 0x807effffu;

fn ordered_key(raw: Raw, order: u32) -> Key {
  let number = signed_magnitude(raw);
  let zero = ZEROS - 2u - (order << 1u) + (raw >> 31u);
  return number + FIRST_ZERO + select(0u, ZEROS, i32(number) > 0) + select(0u, zero, number == 0u);
}

fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return Acc(ordered_key(mirrored(raw), order), at);
}

fn combine(a: Acc, b: Acc) -> Acc {
  return Acc(max(a.key, b.key), select(a.at, b.at, b.key > a.key));
}

// The keys of zeros hold the order numbers; equal keys of other elements are decided by position.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let second = b.key > a.key || (b.key == a.key && b.at < a.at);
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

fn raw_of(best: Acc) -> Raw {
  let number = best.key - FIRST_ZERO;
  let negative = (0u - number) | 0x80000000u;
  let other = select(number - ZEROS, number << 31u, number < ZEROS);
  return mirrored(select(other, negative, i32(number) < 0));
}

fn may_win(best: Key) -> bool {
  var may = nan_policy() != SEED_LOWEST || best > ordered_key(mirrored(from_pair(pool.lowest_value)), 0u);
  if (nan_policy() == IGNORE) {
    may = best >= FIRST_ZERO - 0x7f800000u;
  }
  return may;
}

// Whether all accumulated elements are NaN.
fn holds_nan(best: Acc) -> bool {
  return best.key < FIRST_ZERO - 0x7f800000u;
}

//// max_of_halves when KEY_IS_ELEMENT && FLOAT && BYTES == 2: Of 16-bit floats, for policies where no NaN wins by its
// key, and for elements that are read in order. The key alone determines the element, so one `max` decides. The upper
// half of a key is the value. The lower half holds the order number, largest for the first element, and the sign bit,
// which distinguishes the two zeros.
// provides: lift_in_order, combine, combine_anywhere, raw_of, may_win, holds_nan
// requires: Acc, Key, Raw, from_pair, nan_policy, SEED_LOWEST, IGNORE, pool, SMALLEST_NUMBER, ZERO, key_nan_lowest, mirrored
fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  let bits = mirrored(raw);
  return Acc(key_nan_lowest(bits) + (0xfffeu - (order << 1u)) + (bits >> 15u), at);
}

fn combine(a: Acc, b: Acc) -> Acc {
  return Acc(max(a.key, b.key), select(a.at, b.at, b.key > a.key));
}

// The keys hold the order numbers.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  return combine(a, b);
}

fn raw_of(best: Acc) -> Raw {
  let number = (best.key & 0xffff0000u) - key_nan_lowest(ZERO);
  let sign = u32(i32(number) >> 31u);
  let magnitude = ((number ^ sign) - sign) >> 16u;
  return mirrored(magnitude | select(sign & 0x8000u, (best.key & 1u) << 15u, number == 0u));
}

fn may_win(best: Key) -> bool {
  var may = nan_policy() != SEED_LOWEST || best > (key_nan_lowest(mirrored(from_pair(pool.lowest_value))) | 0xffffu);
  if (nan_policy() == IGNORE) {
    may = best >= SMALLEST_NUMBER;
  }
  return may;
}

// Whether all accumulated elements are NaN.
fn holds_nan(best: Acc) -> bool {
  return best.key < SMALLEST_NUMBER;
}
