// Two elements in two pairs of words.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 2u;
alias Vector = vec4<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.xy, vector.zw, vector.xy, vector.zw);
}

fn vector_of(elements: Elements) -> Vector {
  return vec4<u32>(elements.a, elements.b);
}
