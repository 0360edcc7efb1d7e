// One element in a pair of words.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 1u;
alias Vector = vec2<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector, vector, vector, vector);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a;
}
