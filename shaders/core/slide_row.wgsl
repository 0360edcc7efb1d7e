// Four neighbours of a line of X, and their columns, clamped to the line.
// provides: row_elements, row_columns
// requires: Elements, pool

//// slide_row_fours when FOURS && pool_sliding_row: Four neighbours of a line of X in one load. Lines are multiples of
// four, so all four lie inside the line or all outside.
// provides: element
// requires: Raw, four_at, one_at
fn inside(column: i32, width: u32) -> u32 {
  return u32(clamp(column, 0, i32(width) - 4));
}

fn row_columns(column: i32, width: u32) -> vec4<u32> {
  let low = inside(column, width);
  let shift = select(vec4<u32>(0u), vec4<u32>(3u), column > i32(low));
  return low + select(shift, vec4<u32>(0u, 1u, 2u, 3u), column == i32(low));
}

fn row_elements(origin: u32, column: i32, width: u32) -> Elements {
  let low = inside(column, width);
  var four = four_at(origin + low - pool.x_first);
  if (column < i32(low)) {
    four = Elements(four.a, four.a, four.a, four.a);
  }
  if (column > i32(low)) {
    four = Elements(four.d, four.d, four.d, four.d);
  }
  return four;
}

fn element(position: u32) -> Raw {
  return one_at(position - pool.x_first);
}

//// slide_row_ones: Four neighbours of a line of X, loaded one by one.
// requires: load
fn row_columns(column: i32, width: u32) -> vec4<u32> {
  return vec4<u32>(clamp(vec4<i32>(column) + vec4<i32>(0, 1, 2, 3), vec4<i32>(0), vec4<i32>(i32(width) - 1)));
}

fn row_elements(origin: u32, column: i32, width: u32) -> Elements {
  let at = row_columns(column, width) + (origin - pool.x_first);
  return Elements(load(at.x), load(at.y), load(at.z), load(at.w));
}
