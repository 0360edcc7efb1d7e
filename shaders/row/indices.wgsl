// The indices of outputs. Where indices count points as positions or as lines do, one index is made for all outputs of an
// invocation, and the others are counted from there.
// provides: Origin, origin_at, origin_of, index_from
// requires: Outcome, pool, index_at, add, multiply, element_at, first_place, index_without_winner, CHANNELS_INSIDE, CHANNELS_ALONG, INDEX_MAP
struct Origin {
  // A point, and the index of its element in a channel. Where channels lie along lines (CHANNELS_ALONG), each element is a point.
  point: u32,
  channel: u32,
  index: vec2<u32>,
  // What the place of an index is counted from; where channels lie along lines, the batch item.
  store: u32,
}

fn item_at(plane: u32) -> u32 {
  return plane / (pool.axes[0].input * pool.axes[1].input * pool.axes[2].input);
}

// INDEX_MAP 0: in the whole tensor. 1: within a plane, or a batch item of NHWC. 2: an index is made of the digits of its position.
// 3: within a channel of NHWC, where positions count all channels from one point to the next and indices do not.
fn origin_at(plane: u32) -> Origin {
  var origin = Origin(0u, 0u, pool.index_base, 0u);
  if (INDEX_MAP != 0u) {
    origin = Origin(plane, 0u, index_at(plane), 0u);
  }
  if (CHANNELS_ALONG != 0u) {
    origin.store = item_at(plane);
    if (INDEX_MAP == 3u) {
      origin.point = origin.store * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
      origin.index = add(pool.index_base, multiply(pool.index_outer, origin.store));
    }
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
  if (CHANNELS_ALONG == 0u) {
    origin.store = first_place(outer, channel);
  }
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
    var points = result.at - origin.point;
    if (CHANNELS_ALONG != 0u) {
      let elements = points;
      points = elements / pool.channels;
      channel = elements - points * pool.channels;
    }
    index = add(add(origin.index, multiply(pool.index_channel, channel)), vec2<u32>(points, 0u));
  } else {
    index = add(origin.index, vec2<u32>(element_at(result.at - origin.point, channel), 0u));
  }
  return index_without_winner(output, result, index);
}
