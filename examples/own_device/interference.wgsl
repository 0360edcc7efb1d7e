// The application's first kernel: waves of red, green and blue light from three lamps, added up.
//
// Integers all along, so that every device draws the same picture.

struct Picture {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
// A pixel in a word: red in the lowest byte, then green, blue and 255. So the bytes are a tensor of u8 in NHWC.
@group(0) @binding(1) var<storage, read_write> frame: array<u32>;

// Wave lengths in eighths of a pixel: red waves are the longest.
const LENGTHS = array(1520u, 1240u, 1024u);
// Where the lamps stand, in 64ths of the picture's sides.
const LAMPS = array(vec2(9u, 12u), vec2(50u, 20u), vec2(24u, 58u));
// The height of a wave's crest above its trough.
const SWING = 8064u;

// The square root, rounded down. The device's own is exact to a few units in the last place, which is less than one
// here.
fn root(square: u32) -> u32 {
    var root = u32(sqrt(f32(square)));
    root -= u32(root * root > square);
    return root + u32((root + 1u) * (root + 1u) <= square);
}

// A wave at this distance in eighths of a pixel: parabolas, which look like a sine.
fn wave(distance: u32, length: u32) -> u32 {
    let phase = distance % length * 256u / length;
    let half = phase & 127u;
    let bow = half * (127u - half);
    return select(SWING / 2u + bow, SWING / 2u - bow, phase >= 128u);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if at.x >= picture.width || at.y >= picture.height {
        return;
    }
    var sums = vec3(0u);
    for (var lamp = 0u; lamp < 3u; lamp++) {
        let place = LAMPS[lamp] * vec2(picture.width, picture.height) / 64u;
        let way = abs(vec2<i32>(at.xy) - vec2<i32>(place));
        let distance = root(u32(way.x * way.x + way.y * way.y) * 64u);
        sums += vec3(wave(distance, LENGTHS[0]), wave(distance, LENGTHS[1]), wave(distance, LENGTHS[2]));
    }
    let colours = sums * 255u / (3u * SWING);
    frame[at.y * picture.width + at.x] = colours.r | colours.g << 8u | colours.b << 16u | 255u << 24u;
}
