// The index of an output: that of its winner, or what the convention has where there is none.
// provides: index_of
// requires: pool, Candidate, index_at, add, multiply, window_of
const EMPTY_CONSTANT: u32 = 0u;
const EMPTY_OFFSET: u32 = 1u;
const EMPTY_CLAMPED: u32 = 2u;

fn index_of(output: u32, candidate: Candidate) -> vec2<u32> {
  if (candidate.found) {
    return index_at(candidate.best.at);
  }
  if (!candidate.seen && pool.empty_kind == EMPTY_CONSTANT) {
    return pool.empty_index;
  }
  // (n, c, 0, .., 0): what a window without a winner has under SEED_LOWEST.
  var rest = output;
  var index = pool.empty_base;
  for (var i = 0u; i < pool.empty_digits; i++) {
    let digit = pool.empty[i];
    index = add(index, multiply(digit.stride, rest % digit.radix));
    rest = rest / digit.radix;
  }
  if (candidate.seen) {
    return index;
  }
  index = add(index, pool.empty_index);
  if (pool.empty_kind == EMPTY_OFFSET) {
    return index;
  }
  rest = output / pool.channels_inner;
  for (var i = 0u; i < pool.spatial_axes; i++) {
    let digit = pool.spatial[i];
    let first = window_of(pool.axes[3u + i], rest % digit.radix).first;
    index = add(index, multiply(digit.stride, first));
    rest = rest / digit.radix;
  }
  return index;
}
