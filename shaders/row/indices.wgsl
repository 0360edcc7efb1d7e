// The indices of outputs. Where indices count as positions do, within a plane or in the whole tensor, one index is looked up for
// all outputs of an invocation, and the others are counted from there.
// provides: Origin, origin_at, put_index
// requires: Acc, pool, index_at, add, index_without_winner, store_index, store_position, INDEX_MAP, SAME_PLACE
// An element and its index.
struct Origin {
  position: u32,
  index: vec2<u32>,
}

// INDEX_MAP 0: in the whole tensor. 1: within a plane, or a batch item of NHWC. 2: an index is made of the digits of its position.
fn origin_at(position: u32) -> Origin {
  if (INDEX_MAP == 0u) {
    return Origin(0u, pool.index_base);
  }
  return Origin(position, index_at(position));
}

fn put_index(output: u32, best: Acc, found: bool, origin: Origin) {
  var index = add(origin.index, vec2<u32>(best.at - origin.position, 0u));
  if (INDEX_MAP == 2u) {
    index = index_at(best.at);
  }
  index = index_without_winner(output, best, found, index);
  var place = output;
  if (SAME_PLACE == 0u) {
    place = store_position(output);
  }
  store_index(place - pool.store_first, index);
}
