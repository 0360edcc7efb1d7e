// The application's third kernel: around each maximum that the unpool has put back into its place, a light.

struct Picture {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
// The unpool's result: zeros, and the maximum of each window and colour where it was found.
@group(0) @binding(1) var<storage, read> maxima: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

// How far a light shines, in pixels.
const REACH = 6;

fn channels(pixel: u32) -> vec3<u32> {
    return vec3(pixel, pixel >> 8u, pixel >> 16u) & vec3(255u);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if at.x >= picture.width || at.y >= picture.height {
        return;
    }
    let here = vec2<i32>(at.xy);
    let pixel = at.y * picture.width + at.x;
    var colours = channels(result[pixel]);
    for (var dy = -REACH; dy <= REACH; dy++) {
        for (var dx = -REACH; dx <= REACH; dx++) {
            let there = here + vec2(dx, dy);
            let dimming = REACH * REACH - dx * dx - dy * dy;
            let outside = any(there < vec2(0)) || any(there >= vec2<i32>(vec2(picture.width, picture.height)));
            if outside || dimming <= 0 {
                continue;
            }
            let light = channels(maxima[u32(there.y) * picture.width + u32(there.x)]);
            colours = max(colours, light * u32(dimming) / u32(REACH * REACH));
        }
    }
    result[pixel] = colours.r | colours.g << 8u | colours.b << 16u | 255u << 24u;
}
