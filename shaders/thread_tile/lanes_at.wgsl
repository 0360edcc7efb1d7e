// Lanes from memory.

//// one_at_once when ABREAST == 1 && BYTES <= 4: One element of X as lanes.
// provides: lanes_at
// requires: Lanes, lane_from, load
fn lanes_at(position: u32) -> Lanes {
  return Lanes(lane_from(load(position)));
}

//// pair_at_once when ABREAST == 1 && BYTES == 8: One element of 64 bits of X as lanes.
// provides: lanes_at
// requires: Lanes, load
fn lanes_at(position: u32) -> Lanes {
  let raw = load(position);
  return Lanes(raw.x, raw.y);
}

//// four_at_once when ABREAST == 4: Four elements of X as lanes.
// provides: lanes_at
// requires: Lanes, lane_from, lanes_from, four_at
fn lanes_at(position: u32) -> Lanes {
  let four = four_at(position);
  return lanes_from(lane_from(four.a), lane_from(four.b), lane_from(four.c), lane_from(four.d));
}
