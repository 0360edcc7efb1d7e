// The maxima of a line of X, where windows have a single depth.
// provides: line_windows
// requires: Place, Row, line_at, located_windows
fn line_windows(place: Place, line: i32, number: u32) -> Row {
  return located_windows(line_at(place, place.depth, line), place, number);
}
