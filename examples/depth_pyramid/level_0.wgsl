// The depth texture as level 0: rows without gaps at the beginning of the buffer.
//
// A copy from the texture would pad each row to a multiple of 256 bytes, and WebGPU copies not every format of depth.

@group(0) @binding(0) var depth: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> levels: array<f32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    let size = textureDimensions(depth);
    if all(at.xy < size) {
        levels[at.y * size.x + at.x] = textureLoad(depth, at.xy, 0).x;
    }
}
