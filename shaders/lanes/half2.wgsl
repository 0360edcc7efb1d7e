// Two elements in a word.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 2u;
alias Vector = u32;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector & 0xffffu, vector >> 16u, vector & 0xffffu, vector >> 16u);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a | (elements.b << 16u);
}
