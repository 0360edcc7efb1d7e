// The first stage of a tree reduction of whole planes: eight invocations share a slice of a plane ("part" below), and
// each writes its candidate for the next stage.
//
//   plane        |<------ part 0 ------>|<------ part 1 ------>|..|
//   loads        |0 1 .. 7|0 1 .. 7|..  |8 9 ..15|8 9 ..15|..   by invocation: eight read a cache line of 128 bytes
//   candidates   [0] [1] .. [7]          [8] [9] .. [15]
//
// Slices are small so that a processor that runs few invocations at a time still reads X front to back.
// Fewest bytes: X once, and eight for each candidate.
// provides: main, candidates_out
// requires: pool, invocation, WORKGROUP, run, may_win, VALID
// Invocations that share a slice.
const MEMBERS: u32 = 8u;

@group(0) @binding(5) var<storage, read_write> candidates_out: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.outputs) {
    return;
  }
  let output = pool.output_first + number;
  let axis = pool.axes[2];
  let number_of_plane = output / axis.output;
  let plane = number_of_plane * axis.input;
  let place = output - number_of_plane * axis.output;
  let part = axis.stride * MEMBERS;
  let begin = plane + place / MEMBERS * part;
  let end = min(begin + part, plane + axis.input);
  let best = run(begin, end, place % MEMBERS, MEMBERS);
  // An invocation without loads returns the first element of the slice, which is as valid a candidate as any other
  // element.
  candidates_out[number] = vec2<u32>(select(0u, best.at | VALID, may_win(best.key)), begin | VALID);
}
