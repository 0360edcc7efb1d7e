// The ranks of a gathering unpool's sources, which number them in (n, c, spatial) order whatever the layout, and the
// elements that indices name.
// provides: rank_of, rank_of_index, source_position, named_position
// requires: gather, quotient, INNER, SAME_PLACE, POSITIONS
// The rank of the source at a position of a tensor with channels inside the last axis.
fn rank_of_inner(position: u32) -> u32 {
  let place = quotient(position, gather.split[7]);
  let n = quotient(place, gather.split[8]);
  let plane = n * gather.channels + position - place * gather.channels;
  return plane * gather.split[8].divisor + place - n * gather.split[8].divisor;
}

// The rank of the source at a position of X.
fn rank_of(position: u32) -> u32 {
  var rank = position;
  if (INNER == 1u) {
    rank = rank_of_inner(position);
  }
  return rank;
}

// The rank of the source whose index lies at a position. Channels lie inside the last axis of the index tensor if they do
// so in X and indices are stored in the order of X, or neither.
fn rank_of_index(position: u32) -> u32 {
  var rank = position;
  if (INNER == SAME_PLACE) {
    rank = rank_of_inner(position);
  }
  return rank;
}

// The position in X of the source with this rank.
fn source_position(rank: u32) -> u32 {
  var position = rank;
  if (INNER == 1u) {
    let plane = quotient(rank, gather.split[8]);
    let n = quotient(plane, gather.split[7]);
    let place = (n * gather.split[8].divisor) + rank - plane * gather.split[8].divisor;
    position = place * gather.channels + plane - n * gather.channels;
  }
  return position;
}

// The position in Y of the element that a valid index names.
fn named_position(index: u32, position: u32) -> u32 {
  var found = index;
  if (POSITIONS == 0u) {
    let plane = quotient(rank_of_index(position), gather.split[8]);
    let n = quotient(plane, gather.split[7]);
    found = n * gather.own_n + (plane - n * gather.channels) * gather.own_c;
    var rest = index;
    for (var i = 0u; i < gather.digits; i++) {
      let digit = gather.index[i];
      let over = quotient(rest, digit.radix);
      found += (rest - over * digit.radix.divisor) * digit.stride;
      rest = over;
    }
  }
  return found;
}
