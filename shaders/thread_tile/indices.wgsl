// when WRITES > 0: The indices of outputs. Where the difference of two indices is the difference of the two positions,
// or of the two points, an invocation computes the index of one point, the origin, and derives the indices of its
// outputs from it.
// provides: Origin, origin_at, origin_of, index_from, volume
// requires: Outcome, pool, index_at, add, multiply, element_at, index_without_winner, SAME_PLACE, CHANNELS_INSIDE, CHANNELS_ALONG, INDEX_MAP
struct Origin {
  // A point, a channel, and the index of the point's element in that channel. Where channels lie along lines
  // (CHANNELS_ALONG), each element is a point.
  point: u32,
  channel: u32,
  index: vec2<u32>,
  // The offset from points of Y to positions in the index tensor (`first_place`); where channels lie along lines, the
  // number of the batch item.
  store: u32,
}

fn item_at(plane: u32) -> u32 {
  return plane / (pool.axes[0].input * pool.axes[1].input * pool.axes[2].input);
}

// INDEX_MAP 0: indices are positions in the whole tensor. 1: positions within a plane, or within a batch item of NHWC.
// 2: indices are computed from the digits of positions. 3: NHWC data with indices within a channel; the positions of
// neighbouring points differ by the number of channels, and their indices by one.
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

// The number of outputs along all axes: those of one channel of a batch item, or, where channels lie along lines, those
// of a batch item.
fn volume() -> u32 {
  return pool.axes[0].output * pool.axes[1].output * pool.axes[2].output;
}

// The offset of positions in the index tensor: the position of an index is its point times the distance between
// neighbouring points, plus this offset, modulo 2^32.
fn first_place(outer: u32, channel: u32) -> u32 {
  var place = 0u;
  if (SAME_PLACE == 0u) {
    if (CHANNELS_INSIDE != 0u) {
      place = (outer * (pool.inner - 1u) + channel) * volume();
    } else {
      let item = outer / pool.channels;
      let own = outer - item * pool.channels;
      place = own - own * pool.channels * volume() - item * (pool.channels - 1u) * pool.channels * volume();
    }
  }
  return place;
}

// The origin of a channel. `outer` is the number of the channel's plane, counted with all its depths; `plane` is the
// first point of that plane or of one of its depths.
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

// The index of an output in lane `lane` of a quad.
fn index_from(output: u32, result: Outcome, origin: Origin, lane: u32) -> vec2<u32> {
  // Where a quad is four channels, lanes are neighbouring channels.
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
