// Y as an array of vectors of four elements each.
// provides: y, put_four
// requires: Elements, Vector, vector_of
@group(0) @binding(2) var<storage, read_write> y: array<Vector>;

// Writes four elements; `number` is a multiple of four.
fn put_four(number: u32, four: Elements) {
  y[number >> 2u] = vector_of(four);
}
