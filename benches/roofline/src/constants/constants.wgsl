// Kernels that each show one cost of a device. The statements of a kernel replace the line that names it, and a function
// `operation` of three registers follows.
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(0) var<storage, read_write> vectors: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read> source_vectors: array<vec4<u32>>;
// Known only when the kernel runs, so that no compiler makes one access of several.
@group(0) @binding(2) var<storage, read> strides: Strides;

override WORKGROUP: u32;
const TURNS = 64;

struct Strides {
    turn: u32,
    lane: u32,
    step: u32,
}

struct Invocation {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
}

fn lane_of(at: Invocation) -> u32 {
    return (at.group.y * at.groups.x + at.group.x) * WORKGROUP + at.local;
}

// In each turn all invocations together access a contiguous part, and each of them as many elements as there are steps.
fn place(turn: u32, lane: u32, step: u32) -> u32 {
    return turn * strides.turn + lane * strides.lane + step * strides.step;
}

@compute @workgroup_size(WORKGROUP)
fn launch(at: Invocation) {
    if (lane_of(at) == 0u) {
        words[0] += 1u;
    }
}

@compute @workgroup_size(WORKGROUP)
fn store_words(at: Invocation) {
    let lane = lane_of(at);
    //// store_words
}

@compute @workgroup_size(WORKGROUP)
fn store_vectors(at: Invocation) {
    let lane = lane_of(at);
    //// store_vectors
}

@compute @workgroup_size(WORKGROUP)
fn load(at: Invocation) {
    let lane = lane_of(at);
    var total = 0u;
    //// load
    words[lane] = total;
}

@compute @workgroup_size(WORKGROUP)
fn copy(at: Invocation) {
    let lane = lane_of(at);
    vectors[lane] = source_vectors[lane];
}

@compute @workgroup_size(WORKGROUP)
fn operate(at: Invocation) {
    let lane = lane_of(at);
    var v0 = seed(lane, 0u);
    var v1 = seed(lane, 1u);
    var v2 = seed(lane, 2u);
    var v3 = seed(lane, 3u);
    var v4 = seed(lane, 4u);
    var v5 = seed(lane, 5u);
    var v6 = seed(lane, 6u);
    var v7 = seed(lane, 7u);
    for (var turn = 0; turn < TURNS; turn += 1) {
        //// operate
    }
    words[lane] = bitcast<u32>(v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7);
}

fn seed(lane: u32, number: u32) -> i32 {
    return bitcast<i32>(lane * 0x9e3779b1u + number * 0x85ebca6bu);
}

var<workgroup> kept: array<u32, 256>;

@compute @workgroup_size(WORKGROUP)
fn exchange(at: Invocation) {
    var value = at.local;
    for (var turn = 0; turn < TURNS; turn += 1) {
        kept[at.local] = value;
        workgroupBarrier();
        value = kept[(at.local + 1u) % WORKGROUP] + 1u;
        workgroupBarrier();
    }
    words[lane_of(at)] = value;
}
