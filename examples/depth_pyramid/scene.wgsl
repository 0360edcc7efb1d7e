// The scene: a thicket of triangles, scattered over the picture at all distances.

// The depth at the greatest distance: 1, or 0 if depth is reversed.
override FAR: f32;

// A number from 0 to just below 1 for each seed.
fn noise(seed: u32) -> f32 {
    var bits = seed * 0x9e3779b9u;
    bits = (bits ^ bits >> 16u) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13u) * 0xc2b2ae35u;
    return f32((bits ^ bits >> 16u) >> 8u) / 16777216.0;
}

@vertex
fn main(@builtin(vertex_index) corner: u32, @builtin(instance_index) triangle: u32) -> @builtin(position) vec4<f32> {
    let seed = triangle * 16u;
    let centre = 2.2 * vec2(noise(seed), noise(seed + 1u)) - 1.1;
    let way = vec2(noise(seed + 4u + corner), noise(seed + 8u + corner)) - 0.5;
    let distance = 0.1 + 0.8 * noise(seed + 2u) + 0.05 * noise(seed + 12u + corner);
    return vec4(centre + 0.2 * way, mix(1.0 - FAR, FAR, distance), 1.0);
}
