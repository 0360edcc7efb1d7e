// Writing four 64-bit indices at once, in the order of Y.
// provides: first_place, indices_out, put_four_indices
// requires: Outcome, Origin, index_from, pool
@group(0) @binding(10) var<storage, read_write> indices_out: array<vec4<u32>>;

fn first_place(outer: u32, channel: u32) -> u32 {
  return 0u;
}

fn put_four_indices(point: u32, output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
  let pair = (output - pool.store_first) >> 1u;
  let first = vec4<u32>(index_from(output, a, origin, 0u), index_from(output + 1u, b, origin, 1u));
  indices_out[pair] = first;
  indices_out[pair + 1u] = vec4<u32>(index_from(output + 2u, c, origin, 2u), index_from(output + 3u, d, origin, 3u));
}
