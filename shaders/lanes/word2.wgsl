// Two elements in two words.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 2u;
alias Vector = vec2<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x, vector.y, vector.x, vector.y);
}

fn vector_of(elements: Elements) -> Vector {
  return vec2<u32>(elements.a, elements.b);
}
