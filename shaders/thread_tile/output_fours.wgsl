// Y as an array of vectors, to write four elements at once.
// provides: y, put_four
// requires: Elements

//// output_fours when PUT_FOURS && BYTES <= 4: Y as an array of vectors of four elements each.
// requires: Vector, vector_of
@group(0) @binding(2) var<storage, read_write> y: array<Vector>;

// Writes four elements; `number` is a multiple of four.
fn put_four(number: u32, four: Elements) {
  y[number >> 2u] = vector_of(four);
}

//// output_fours64 when PUT_FOURS && BYTES == 8: Y as an array of vectors of two 64-bit elements each.
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Writes four elements; `number` is a multiple of four.
fn put_four(number: u32, four: Elements) {
  let place = number >> 1u;
  y[place] = vec4<u32>(four.a, four.b);
  y[place + 1u] = vec4<u32>(four.c, four.d);
}
