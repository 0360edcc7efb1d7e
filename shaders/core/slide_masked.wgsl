// The last pass of sliding maxima, done as if no NaN ever won: outputs whose window begins with a NaN are written once more. They
// are found by the rows of X in which the first pass has found windows that begin with one.
// provides: conclude
// requires: CHUNKS, FIRST_DILATION, FIRST_STRIDE, LANES, Walk, elements_inside, first_inside, mask_in, pool, write_first
fn lane_of(all: vec4<u32>, lane: u32) -> u32 {
  return select(select(all.x, all.y, lane == 1u), select(all.z, all.w, lane == 3u), lane > 1u);
}

// The words of all lanes.
fn words_at(at: u32) -> vec4<u32> {
  var words = vec4<u32>(mask_in[at], 0u, 0u, 0u);
  if (LANES > 1u) {
    words.y = mask_in[at + 1u];
  }
  if (LANES > 2u) {
    words.z = mask_in[at + 2u];
    words.w = mask_in[at + 3u];
  }
  return words;
}

fn conclude(walk: Walk) {
  let end = min(walk.count, walk.begin + pool.slide.segments * CHUNKS);
  if (walk.begin >= end) {
    return;
  }
  // Taps of the axis as the plan has it, and rows by them.
  let axis = pool.axes[3u + pool.slide.inner_axes];
  let start = i32(walk.class_number * axis.stride) - axis.pad_begin;
  let low = (u32(max(-start, 0)) + FIRST_DILATION - 1u) / FIRST_DILATION;
  let first_row = u32(start + i32(max(walk.begin * FIRST_STRIDE, low) * FIRST_DILATION));
  let last_row = u32(start + i32(max((end - 1u) * FIRST_STRIDE, low) * FIRST_DILATION));
  let words = (axis.input + 31u) / 32u;
  for (var word = first_row / 32u; word <= last_row / 32u; word++) {
    var rest = words_at((walk.outer * words + word) * pool.inner + walk.cell);
    while ((rest.x | rest.y | rest.z | rest.w) != 0u) {
      let lane = select(select(select(3u, 2u, rest.z != 0u), 1u, rest.y != 0u), 0u, rest.x != 0u);
      let bits = lane_of(rest, lane);
      // Its lowest bit is done with.
      rest &= rest - vec4<u32>(vec4<u32>(lane) == vec4<u32>(0u, 1u, 2u, 3u));
      let row = word * 32u + firstTrailingBit(bits);
      let tap = u32(i32(row) - start) / FIRST_DILATION;
      if (row < first_row || row > last_row || u32(i32(row) - start) % FIRST_DILATION != 0u) {
        continue;
      }
      // The windows that begin in the padding have the lowest tap as their first one.
      var output = (tap + FIRST_STRIDE - 1u) / FIRST_STRIDE;
      let behind = min(tap / FIRST_STRIDE + 1u, end);
      output = select(output, walk.begin, tap == low);
      let position = (walk.outer * axis.input + row) * elements_inside() + first_inside(walk.cell + lane);
      for (; output < behind; output++) {
        write_first(walk, lane, output, position);
      }
    }
  }
}
