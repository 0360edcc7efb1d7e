// The lanes of a row slide along a line.
// provides: slide_lanes
// requires: Acc, Quad, Row, high_of, with_quads, QUADS
// The lanes one element further, with `next` as the new last lane.
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
