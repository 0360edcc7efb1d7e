// First step of an unpool: every source claims the element that its index names, and the last source in (n, c,
// spatial) order wins. Indices are untrusted: an index outside the valid range claims nothing.
// Fewest bytes: the indices once, four for each claim.
// provides: main
// requires: unpool, source, named_target, says_nothing, FIRST_AXES, number_of, PER_TURN, invocation, WORKGROUP, owners, read_index
// The number of bad indices, and the complement of the first one's position, or zero.
struct Bad {
  count: u32,
  first: u32,
}

fn claim(number: u32, bad: Bad) -> Bad {
  var found = bad;
  if (number < unpool.sources) {
    let rank = unpool.source_first + number;
    let from_source = source(rank);
    let index = read_index(from_source.index_position - unpool.index_first);
    let good = index.y == 0u && index.x < unpool.index_limit;
    var claims = good;
    if (FIRST_AXES > 0u) {
      claims = good && !says_nothing(rank, index.x);
    }
    // For elements before this dispatch's first one the difference wraps to a number beyond its outputs.
    let own = from_source.target_base + named_target(index.x) - unpool.output_first;
    if (claims && own < unpool.outputs) {
      atomicMax(&owners.each[own], rank + 1u);
    }
    let minus_one = index.x == 0xffffffffu && index.y == 0xffffffffu;
    let reported = !good && unpool.report == 1u && !(unpool.skip_minus_one == 1u && minus_one);
    let first = max(bad.first, ~from_source.index_position);
    found = Bad(bad.count + select(0u, 1u, reported), select(bad.first, first, reported));
  }
  return found;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = invocation(group, unpool.grid_width, local);
  var bad = Bad(0u, 0u);
  for (var base = first; base < unpool.sources; base += PER_TURN * unpool.invocations) {
    for (var item = 0u; item < PER_TURN; item++) { // unrolled
      bad = claim(number_of(base, item), bad);
    }
  }
  if (bad.count > 0u) {
    atomicAdd(&owners.bad, bad.count);
    atomicMax(&owners.first_bad, bad.first);
  }
}
