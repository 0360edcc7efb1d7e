// Four neighbours of a line of X, loaded one by one.
// provides: row_elements, row_columns
// requires: Elements, load, pool
// The columns of the four, clamped to the line.
fn row_columns(column: i32, width: u32) -> vec4<u32> {
  return vec4<u32>(clamp(vec4<i32>(column) + vec4<i32>(0, 1, 2, 3), vec4<i32>(0), vec4<i32>(i32(width) - 1)));
}

fn row_elements(origin: u32, column: i32, width: u32) -> Elements {
  let at = row_columns(column, width) + (origin - pool.x_first);
  return Elements(load(at.x), load(at.y), load(at.z), load(at.w));
}
