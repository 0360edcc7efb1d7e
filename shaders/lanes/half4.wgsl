// Four elements in two words.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 4u;
alias Vector = vec2<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x & 0xffffu, vector.x >> 16u, vector.y & 0xffffu, vector.y >> 16u);
}

fn vector_of(elements: Elements) -> Vector {
  return vec2<u32>(elements.a | (elements.b << 16u), elements.c | (elements.d << 16u));
}
