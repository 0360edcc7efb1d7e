// Four elements in a word.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 4u;
alias Vector = u32;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector & 0xffu, (vector >> 8u) & 0xffu, (vector >> 16u) & 0xffu, vector >> 24u);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a | (elements.b << 8u) | (elements.c << 16u) | (elements.d << 24u);
}
