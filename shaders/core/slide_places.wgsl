// when !FIRST: The positions in X of the maxima of the previous pass. Only the winner's position is loaded.
// provides: place_of, places
// requires: pool
@group(0) @binding(14) var<storage, read> places: array<u32>;

fn place_of(at: u32) -> u32 {
  return places[at - pool.in_first];
}
