// Neighbouring elements as one vector of memory.
// provides: LANES, Vector, elements_of, vector_of
// requires: Elements

//// one when LANES == 1: One element, in a word or in a pair of words.
// requires: Raw
const LANES: u32 = 1u;
alias Vector = Raw;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector, vector, vector, vector);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a;
}

//// word2 when LANES == 2 && LANE_BYTES == 4: Two elements in two words.
const LANES: u32 = 2u;
alias Vector = vec2<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x, vector.y, vector.x, vector.y);
}

fn vector_of(elements: Elements) -> Vector {
  return vec2<u32>(elements.a, elements.b);
}

//// word4 when LANES == 4 && LANE_BYTES == 4: Four elements in four words.
const LANES: u32 = 4u;
alias Vector = vec4<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x, vector.y, vector.z, vector.w);
}

fn vector_of(elements: Elements) -> Vector {
  return vec4<u32>(elements.a, elements.b, elements.c, elements.d);
}

//// pair2 when LANES == 2 && LANE_BYTES == 8: Two elements in two pairs of words.
const LANES: u32 = 2u;
alias Vector = vec4<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.xy, vector.zw, vector.xy, vector.zw);
}

fn vector_of(elements: Elements) -> Vector {
  return vec4<u32>(elements.a, elements.b);
}

//// half2 when LANES == 2 && LANE_BYTES == 2: Two elements in a word.
const LANES: u32 = 2u;
alias Vector = u32;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector & 0xffffu, vector >> 16u, vector & 0xffffu, vector >> 16u);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a | (elements.b << 16u);
}

//// half4 when LANES == 4 && LANE_BYTES == 2: Four elements in two words.
const LANES: u32 = 4u;
alias Vector = vec2<u32>;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector.x & 0xffffu, vector.x >> 16u, vector.y & 0xffffu, vector.y >> 16u);
}

fn vector_of(elements: Elements) -> Vector {
  return vec2<u32>(elements.a | (elements.b << 16u), elements.c | (elements.d << 16u));
}

//// byte4 when LANES == 4 && LANE_BYTES == 1: Four elements in a word.
const LANES: u32 = 4u;
alias Vector = u32;

fn elements_of(vector: Vector) -> Elements {
  return Elements(vector & 0xffu, (vector >> 8u) & 0xffu, (vector >> 16u) & 0xffu, vector >> 24u);
}

fn vector_of(elements: Elements) -> Vector {
  return elements.a | (elements.b << 8u) | (elements.c << 16u) | (elements.d << 24u);
}
