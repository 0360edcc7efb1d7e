// Four neighbouring elements of X and of Y, by their size and by where they may begin. `load_lanes` loads
// four elements from a position on; `last` is the last element of X.
// provides: load_lanes, store_lanes
// requires: Elements, WHOLE

//// lanes8 when BYTES == 1: Four neighbouring 8-bit elements: a word of Y, and of X a word or parts of two.
// requires: x, y, X_EVEN
fn load_lanes(position: u32, last: u32) -> Elements {
  var word = x[position >> 2u];
  if (X_EVEN == 0u) {
    let shift = (position & 3u) << 3u;
    // WGSL takes shifts modulo 32, so the second word is shifted in two steps.
    word = (word >> shift) | ((x[min((position >> 2u) + 1u, last >> 2u)] << 1u) << (31u - shift));
  }
  return Elements(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu, word >> 24u);
}

// Stores the word of four elements at a position at which a word begins, unless no element of the row is left. In a row
// of whole quads it is always stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = quad.a | (quad.b << 8u) | (quad.c << 16u) | (quad.d << 24u);
  }
}

//// lanes16 when BYTES == 2: Four neighbouring 16-bit elements: two words of Y, and of X two words or parts of three.
// requires: x, y, X_EVEN
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
// requires: x, y
fn load_lanes(position: u32, last: u32) -> Elements {
  return Elements(x[position], x[min(position + 1u, last)], x[min(position + 2u, last)], x[min(position + 3u, last)]);
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

//// lanes_wide when FOURS && BYTES >= 4: Elements of a word or a pair of words in vectors of four words: rows are
// multiples of four elements.
// provides: load
// requires: Raw, one_at, four_at, put_four
fn load_lanes(position: u32, last: u32) -> Elements {
  return four_at(position);
}

// One element.
fn load(position: u32) -> Raw {
  return one_at(position);
}

// Stores four elements at a position, unless no element of the row is left. In a row of whole quads they are always
// stored.
fn store_lanes(position: u32, quad: Elements, left: i32) {
  if (WHOLE == 1u || left > 0) {
    put_four(position, quad);
  }
}
