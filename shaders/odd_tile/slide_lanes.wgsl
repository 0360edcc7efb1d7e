// Slides the lanes of a row along their line.
// provides: slide_lanes
// requires: Acc, Quad, Row, high_of, with_quads, QUADS
// Moves the element of each lane to the lane before it, with `next` in the last lane.
fn slide_lanes(lanes: Row, next: Acc) -> Row {
  let low = lanes.low;
  let high = high_of(lanes);
  let behind = Quad(high.b, high.c, high.d, next);
  var first = behind;
  if (QUADS > 1u) {
    first = Quad(low.b, low.c, low.d, high.a);
  }
  return with_quads(lanes, first, behind);
}
