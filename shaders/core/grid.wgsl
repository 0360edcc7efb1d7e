// The number of an invocation in a grid that is folded into x and y.
// provides: WORKGROUP, invocation
// requires: nothing
const WORKGROUP: u32 = 64u;

fn invocation(group: vec3<u32>, grid_width: u32, local: u32) -> u32 {
  return (group.y * grid_width + group.x) * WORKGROUP + local;
}
