// Indices that say that nothing won: each names the first element of its source's plane, which lies outside its window.
// provides: all_but_first
// requires: gather, name, quotient, rank_of_index, SKIPS_FIRST
// Those of four sources outside their windows whose indices say something. `position` is the position of the first
// source's index, and `step` the distance from one to the next.
fn all_but_first(outside: vec4<bool>, position: u32, step: u32) -> vec4<bool> {
  var left = outside;
  if (SKIPS_FIRST == 1u) {
    if (any(outside)) {
      left.x = outside.x && !is_first(position);
      left.y = outside.y && !is_first(position + step);
      left.z = outside.z && !is_first(position + 2u * step);
      left.w = outside.w && !is_first(position + 3u * step);
    }
  }
  return left;
}

fn is_first(position: u32) -> bool {
  let plane = quotient(rank_of_index(position), gather.split[8]);
  let n = quotient(plane, gather.split[7]);
  return name(position) == n * gather.value.n + (plane - n * gather.channels) * gather.value.c;
}
