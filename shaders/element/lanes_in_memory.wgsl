// Four neighbouring elements of X and of Y, by their size and by where they may begin.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Elements, WHOLE

//// lanes8: Four neighbouring 8-bit elements: a word of Y, and of X a word or parts of two.
// requires: X_EVEN
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Elements {
  var word = x[position >> 2u];
  if (X_EVEN == 0u) {
    let shift = (position & 3u) << 3u;
    // WGSL takes shifts modulo 32, so the second word is shifted in two steps.
    word = (word >> shift) | ((x[min((position >> 2u) + 1u, last >> 2u)] << 1u) << (31u - shift));
  }
  return Elements(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu, word >> 24u);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return (x[position >> 2u] >> ((position & 3u) << 3u)) & 0xffu;
}

// Stores the word of four elements at a position at which a word begins, unless no element of the row is left. In a row
// of whole quads it is always stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = quad.a | (quad.b << 8u) | (quad.c << 16u) | (quad.d << 24u);
  }
}

//// lanes16: Four neighbouring 16-bit elements: two words of Y, and of X two words or parts of three.
// requires: X_EVEN
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Elements {
  let word = position >> 1u;
  let low = x[word];
  let high = x[min(word + 1u, last >> 1u)];
  var lanes = Elements(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
  if (X_EVEN == 0u && (position & 1u) == 1u) {
    lanes = Elements(lanes.b, lanes.c, lanes.d, x[min(word + 2u, last >> 1u)] & 0xffffu);
  }
  return lanes;
}

// One element.
fn load_lane(position: u32) -> Raw {
  return (x[position >> 1u] >> ((position & 1u) << 4u)) & 0xffffu;
}

// Stores up to `left` of the four elements at a position at which a word begins. The row is whole words; in a row of
// whole quads all four are stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  let word = position >> 1u;
  if (WHOLE == 1u || left > 0) {
    y[word] = quad.a | (quad.b << 16u);
  }
  if (WHOLE == 1u || left > 2) {
    y[word + 1u] = quad.c | (quad.d << 16u);
  }
}

//// lanes_apart: Elements of a word or a pair of words, loaded one by one from any position.
// requires: Word
@group(0) @binding(1) var<storage, read> x: array<Word>;
@group(0) @binding(2) var<storage, read_write> y: array<Word>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Elements {
  return Elements(x[position], x[min(position + 1u, last)], x[min(position + 2u, last)], x[min(position + 3u, last)]);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return x[position];
}

// Stores up to `left` of the four elements at a position. In a row of whole quads all four are stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position] = quad.a;
  }
  if (WHOLE == 1u || left > 1) {
    y[position + 1u] = quad.b;
  }
  if (WHOLE == 1u || left > 2) {
    y[position + 2u] = quad.c;
  }
  if (WHOLE == 1u || left > 3) {
    y[position + 3u] = quad.d;
  }
}

//// lanes32_wide: Four neighbouring 32-bit elements as one vector: rows are multiples of four.
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Elements {
  let four = x[position >> 2u];
  return Elements(four.x, four.y, four.z, four.w);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return x[position >> 2u][position & 3u];
}

// Stores four elements at a position, unless no element of the row is left. In a row of whole quads they are always
// stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = vec4<u32>(quad.a, quad.b, quad.c, quad.d);
  }
}

//// lanes64_wide: Four neighbouring 64-bit elements, two to a vector: rows are multiples of four.
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Elements {
  let pair = (position >> 2u) << 1u;
  let low = x[pair];
  let high = x[pair + 1u];
  return Elements(low.xy, low.zw, high.xy, high.zw);
}

// One element.
fn load_lane(position: u32) -> Raw {
  let pair = x[position >> 1u];
  return select(pair.xy, pair.zw, (position & 1u) == 1u);
}

// Stores four elements at a position, unless no element of the row is left. In a row of whole quads they are always
// stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 1u] = vec4<u32>(quad.a, quad.b);
    y[(position >> 1u) + 1u] = vec4<u32>(quad.c, quad.d);
  }
}
