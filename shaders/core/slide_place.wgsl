// The index of a maximum of sliding windows.
// provides: place_of_winner, store_place

//// slide_no_index when WRITES == 0: A pool without indices.
fn place_of_winner(at: u32) -> u32 {
  return at;
}

fn store_place(number: u32, position: u32, found: bool) {
}

//// slide_index when WRITES > 0: Writes the index of a maximum to its position in the index tensor.
// requires: pool, place_of, add, index_at, plane_index, store_position, store_index, POSITION_INDEX, SAME_PLACE
fn place_of_winner(at: u32) -> u32 {
  return place_of(at);
}

fn store_place(number: u32, position: u32, found: bool) {
  var index = add(pool.index_base, vec2<u32>(position, 0u));
  if (POSITION_INDEX == 0u) {
    index = index_at(position);
  }
  if (!found) {
    index = plane_index(number);
  }
  var place = number;
  if (SAME_PLACE == 0u) {
    place = store_position(number);
  }
  store_index(place - pool.store_first, index);
}
