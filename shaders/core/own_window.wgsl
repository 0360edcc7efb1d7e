// Whether the indices of sources lie in the sources' own windows.
// provides: in_row
// requires: gather, KERNEL_2, UNIT_COLUMNS
// Whether the indices of four sources lie in one row of their windows. `offset` is each source's index minus the index
// of its window's first element in that row. The columns from `low` up to, not including, `high` lie inside Y.
fn in_row(offset: vec4<u32>, low: vec4<u32>, high: vec4<u32>) -> vec4<bool> {
  var found = (offset - low) < (high - low);
  if (UNIT_COLUMNS == 0u) {
    found = vec4<bool>();
    for (var column = 0u; column < KERNEL_2; column++) {
      let at = vec4<u32>(column);
      found = found | ((offset == at * gather.value.axis_2) & (at >= low) & (at < high));
    }
  }
  return found;
}
