// The application's second kernel: the frame at a quarter of its brightness.

struct Picture {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
@group(0) @binding(1) var<storage, read> frame: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if at.x >= picture.width || at.y >= picture.height {
        return;
    }
    let pixel = at.y * picture.width + at.x;
    // Four bytes are shifted at once; what falls from one into the next is masked out.
    result[pixel] = frame[pixel] >> 2u & 0x003f3f3fu | 0xff000000u;
}
