// The indices of outputs. Where indices count as positions do, within a plane or in the whole tensor, one index is looked up for
// all outputs of an invocation, and the others are counted from there.
// provides: Origin, origin_at, index_from
// requires: Outcome, pool, index_at, add, multiply, index_without_winner, CHANNELS_INSIDE, INDEX_MAP
// An element and its index.
struct Origin {
  position: u32,
  index: vec2<u32>,
}

// INDEX_MAP 0: in the whole tensor. 1: within a plane, or a batch item of NHWC. 2: an index is made of the digits of its position.
// 3: within a channel of NHWC, where positions count all channels from one column to the next and indices do not.
fn origin_at(position: u32) -> Origin {
  var origin = Origin(0u, pool.index_base);
  if (INDEX_MAP != 0u) {
    origin = Origin(position, index_at(position));
  }
  return origin;
}

fn index_from(output: u32, result: Outcome, origin: Origin) -> vec2<u32> {
  var index = add(origin.index, vec2<u32>(result.at - origin.position, 0u));
  if (INDEX_MAP == 2u) {
    index = index_at(result.at);
  }
  if (INDEX_MAP == 3u) {
    let distance = result.at - origin.position;
    let columns = distance / pool.inner;
    index = add(origin.index, vec2<u32>(columns, 0u));
    if (CHANNELS_INSIDE == 4u) {
      // The fastest digit of a position is the channel; what is left are channels behind the origin's.
      index = add(index, multiply(pool.index[0].stride, distance - columns * pool.inner));
    }
  }
  return index_without_winner(output, result, index);
}
