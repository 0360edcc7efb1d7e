// Second step of an unpool: every source claims the element that its index names, and the last in (n, c, spatial) order
// gets it. Indices are untrusted: one outside the unit claims nothing.
// Fewest bytes: the indices once, four for each claim.
// provides: main
// requires: unpool, source, invocation, WORKGROUP, owners, status, read_index
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, unpool.grid_width, local);
  if (number >= unpool.sources) {
    return;
  }
  let rank = unpool.source_first + number;
  let from_source = source(rank);
  let index = read_index(from_source.index_position - unpool.index_first);
  if (index.y == 0u && index.x < unpool.unit) {
    var rest = index.x;
    var to = from_source.target_base;
    for (var i = 0u; i < unpool.target_digits; i++) {
      let digit = unpool.targets[i];
      to += (rest % digit.radix) * digit.stride;
      rest = rest / digit.radix;
    }
    // Elements below this dispatch's first one wrap around to more than it has.
    let own = to - unpool.output_first;
    if (own < unpool.outputs) {
      atomicMax(&owners[own], rank + 1u);
    }
    return;
  }
  let minus_one = index.x == 0xffffffffu && index.y == 0xffffffffu;
  if (unpool.report == 1u && !(unpool.skip_minus_one == 1u && minus_one)) {
    atomicAdd(&status[STATUS_COUNT], 1u);
    atomicMax(&status[STATUS_FIRST], ~from_source.index_position);
  }
}
