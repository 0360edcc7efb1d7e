// Four elements in four words.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements
const LANES: u32 = 4u;
alias Vector = vec4<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x, vector.y, vector.z, vector.w);
}

fn vector_of(elements: Elements) -> Vector {
  return vec4<u32>(elements.a, elements.b, elements.c, elements.d);
}
