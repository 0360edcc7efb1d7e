// Whole planes in two dispatches. In this one a workgroup reduces a part of a plane to one candidate; the other one
// (kernel/pool_team.wgsl) reduces the candidates of a plane.
//
//   plane        |<------ part 0 ------>|<------ part 1 ------>|..|
//   loads        |0 1 .. 63|0 1 .. 63|..                           by invocation: neighbours read neighbouring vectors
//   candidates   [0]                    [1]                    [2]
//
// Fewest bytes: X once, and eight for each candidate.
// provides: main, candidates_out
// requires: pool, invocation, WORKGROUP, MEMBERS, run, put_in_team, join_eights, best_of_team, to_pair
@group(0) @binding(5) var<storage, read_write> candidates_out: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, 0u) / WORKGROUP;
  // Workgroups beyond the last part read it again, so that all invocations reach the barrier.
  let part = pool.output_first + min(number, pool.outputs - 1u);
  let axis = pool.axes[2];
  let number_of_plane = part / axis.output;
  let plane = number_of_plane * axis.input;
  let begin = plane + (part - number_of_plane * axis.output) * axis.stride;
  let end = min(begin + axis.stride, plane + axis.input);
  // Slices beyond the plane's end read its last element again.
  let slice = axis.stride / (WORKGROUP / MEMBERS);
  let first = min(begin + local / MEMBERS * slice, end - 1u);
  put_in_team(local, run(first, min(first + slice, end), local % MEMBERS, MEMBERS));
  join_eights(local);
  if (local == 0u && number < pool.outputs) {
    let best = best_of_team(0u, 0u);
    candidates_out[number] = vec2<u32>(best.at, to_pair(best.key).x);
  }
}
