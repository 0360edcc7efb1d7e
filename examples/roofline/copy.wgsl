// Moves as many bytes as a row's kernel: reads so many vectors of 16 bytes, writes so many others, coalesced, and computes
// next to nothing. LOADS is prepended: how many vectors each invocation reads.

struct Sizes {
    // Vectors to read and to write.
    reads: u32,
    writes: u32,
    invocations: u32,
    // Workgroups of the grid along x.
    width: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> destination: array<vec4<u32>>;

const WORKGROUP: u32 = 256u;
// What no sum of the source is expected to be.
const IMPROBABLE = vec4<u32>(0x9d2c5681u, 0x6c078966u, 0xb5297a4du, 0x1b56c4e9u);

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = (group.y * sizes.width + group.x) * WORKGROUP + lane;
    if (at >= sizes.invocations) {
        return;
    }
    // Clamped instead of branched around, so that all loads can be under way at once.
    var moved = source[min(at, sizes.reads - 1u)];
    for (var load = 1u; load < LOADS; load++) {
        moved ^= source[min(at + load * sizes.invocations, sizes.reads - 1u)];
    }
    // An invocation that has nothing to write still needs a use for what it read, or the compiler drops the loads.
    if (at < sizes.writes || all(moved == IMPROBABLE)) {
        destination[min(at, sizes.writes - 1u)] = moved;
    }
}
