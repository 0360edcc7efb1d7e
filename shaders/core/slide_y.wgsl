// Writes results to Y in vectors of lanes.
// provides: result_of, put_vector, vector_at
// requires: activate, Raw, Vector
@group(0) @binding(2) var<storage, read_write> y: array<Vector>;

fn result_of(raw: Raw) -> Raw {
  return activate(raw);
}

fn put_vector(at: u32, vector: Vector) {
  y[at] = vector;
}

fn vector_at(at: u32) -> Vector {
  return y[at];
}
