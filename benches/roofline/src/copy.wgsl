// A plain copy: a vector of 16 bytes to each invocation.
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn copy(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = (group.y * groups.x + group.x) * WORKGROUP + lane;
    if (at < arrayLength(&destination)) {
        destination[at] = source[at];
    }
}
