// Last step of an unpool in which any of equal indices may win and bad indices are skipped: every source writes its
// value to the element that its index names. Elements are 32 bits wide, and stores are atomic: of several sources that
// name one element, one wins as a whole. Indices are untrusted: an index outside the valid range writes nothing.
// Fewest bytes: X once, the indices once, four for each source.
// provides: main, outputs
// requires: unpool, source, named_target, says_nothing, FIRST_AXES, number_of, PER_TURN, invocation, WORKGROUP, read_index, load, activate
@group(0) @binding(2) var<storage, read_write> outputs: array<atomic<u32>>;

fn scatter(number: u32) {
  if (number < unpool.sources) {
    let rank = unpool.source_first + number;
    let from_source = source(rank);
    let index = read_index(from_source.index_position - unpool.index_first);
    // For elements before this dispatch's first one the difference wraps to a number beyond its outputs.
    let own = from_source.target_base + named_target(index.x) - unpool.output_first;
    var writes = index.y == 0u && index.x < unpool.index_limit && own < unpool.outputs;
    if (FIRST_AXES > 0u) {
      writes = writes && !says_nothing(rank, index.x);
    }
    if (writes) {
      atomicStore(&outputs[own], activate(load(from_source.x_position - unpool.x_first)));
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = invocation(group, unpool.grid_width, local);
  for (var base = first; base < unpool.sources; base += PER_TURN * unpool.invocations) {
    for (var item = 0u; item < PER_TURN; item++) { // unrolled
      scatter(number_of(base, item));
    }
  }
}
