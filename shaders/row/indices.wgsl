// The indices of outputs. Where indices count points as positions or as lines do, one index is made for all outputs of an
// invocation, and the others are counted from there.
// provides: Origin, origin_at, origin_of, index_from
// requires: Outcome, pool, index_at, add, multiply, element_at, first_place, index_without_winner, CHANNELS_INSIDE, INDEX_MAP
struct Origin {
  // A point, and the index of its element in a channel.
  point: u32,
  channel: u32,
  index: vec2<u32>,
  // What the place of an index is counted from.
  store: u32,
}

// INDEX_MAP 0: in the whole tensor. 1: within a plane, or a batch item of NHWC. 2: an index is made of the digits of its position.
// 3: within a channel of NHWC, where positions count all channels from one point to the next and indices do not.
fn origin_at(plane: u32) -> Origin {
  var origin = Origin(0u, 0u, pool.index_base, 0u);
  if (INDEX_MAP != 0u) {
    origin = Origin(plane, 0u, index_at(plane), 0u);
  }
  return origin;
}

// Of a channel of the planes of all depths with this number, and of one of these planes.
fn origin_of(outer: u32, plane: u32, channel: u32) -> Origin {
  var origin = origin_at(plane);
  if (CHANNELS_INSIDE != 0u) {
    origin = Origin(0u, channel, add(pool.index_base, vec2<u32>(channel, 0u)), 0u);
    if (INDEX_MAP != 0u) {
      let before = add(multiply(pool.index_outer, outer), multiply(pool.index_channel, channel));
      origin.point = outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
      origin.index = add(pool.index_base, before);
    }
  }
  origin.store = first_place(outer, channel);
  return origin;
}

// Of an output in a lane of four.
fn index_from(output: u32, result: Outcome, origin: Origin, lane: u32) -> vec2<u32> {
  // Where a quad is four channels, they are neighbours.
  var channel = 0u;
  if (CHANNELS_INSIDE == 4u) {
    channel = lane;
  }
  var index: vec2<u32>;
  if (INDEX_MAP == 2u) {
    index = index_at(element_at(result.at, origin.channel + channel));
  } else if (INDEX_MAP == 3u) {
    let points = vec2<u32>(result.at - origin.point, 0u);
    index = add(add(origin.index, multiply(pool.index_channel, channel)), points);
  } else {
    index = add(origin.index, vec2<u32>(element_at(result.at - origin.point, channel), 0u));
  }
  return index_without_winner(output, result, index);
}
