// The index of an output: that of its winner, or the convention's index for a window without a winner.
// provides: index_of
// requires: pool, Candidate, index_at, plane_index, add, multiply, window_of, digits_of, clamped_axes
const EMPTY_CONSTANT: u32 = 0u;
const EMPTY_OFFSET: u32 = 1u;
const EMPTY_CLAMPED: u32 = 2u;
// The same for windows with taps, of which none is an element: under IGNORE.
const EMPTY_ALL_CLAMPED: u32 = 3u;

fn index_of(output: u32, candidate: Candidate) -> vec2<u32> {
  var index = index_at(candidate.best.at);
  if (!candidate.found) {
    index = vec2<u32>();
    if (candidate.seen || pool.empty_kind != EMPTY_CONSTANT) {
      index = plane_index(output);
    }
    if (!candidate.seen) {
      index = add(index, pool.empty_index);
    }
  }
  let clamped = pool.empty_kind == EMPTY_ALL_CLAMPED || (!candidate.seen && pool.empty_kind == EMPTY_CLAMPED);
  if (!candidate.found && clamped) {
    var rest = output / pool.channels_inner;
    for (var i = 0u; i < clamped_axes(); i++) {
      let digit = pool.spatial[i];
      let digits = digits_of(rest, digit.radix);
      let first = window_of(pool.axes[3u + i], digits.digit).first;
      index = add(index, multiply(digit.stride, first));
      rest = digits.rest;
    }
  }
  return index;
}
