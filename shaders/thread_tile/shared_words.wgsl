// when pool_shared_words: Y, where lines are not whole words: a word may begin at any of an invocation's four outputs.
// An invocation writes the words that end in its outputs. They may begin in those of its left neighbour, which it reads
// from workgroup memory.
//
//   outputs, four a lane    [0 0 0 0][1 1 1 1][2 2       8-bit elements, a line of ten columns, which begins with the
//   words of Y           [ : 0][0 0 0 1][1 1 1 2][2 :    last byte of a word
//
// The last invocation of a line or of a workgroup also writes the word that begins in its outputs. Such a word is that
// of another invocation too, at the beginning of the next line or in the next workgroup; each writes its own bits.
// provides: y, own_number, keep_outputs, put_kept, clear_rest
// requires: pool, Place, Elements, vector_of, output_of, OUTPUTS, ELEMENT_BITS, LINES, WORKGROUP
@group(0) @binding(2) var<storage, read_write> y: array<atomic<u32>>;

// The words of four outputs.
const KEPT: u32 = 4u / OUTPUTS;

// The outputs of each invocation, line by line.
var<workgroup> kept: array<array<u32, WORKGROUP>, LINES * KEPT>;

// The invocation's number in its workgroup.
var<private> own_number: u32;

fn keep_outputs(line: u32, four: Elements) {
  kept[line * KEPT][own_number] = vector_of(four);
  if (OUTPUTS == 2u) {
    kept[line * KEPT + 1u][own_number] = vector_of(Elements(four.c, four.d, four.c, four.d));
  }
}

// The lowest bits of a word, so many.
fn lowest(bits: i32) -> u32 {
  return select(select((1u << u32(bits & 31)) - 1u, 0xffffffffu, bits >= 32), 0u, bits <= 0);
}

// Writes bits of a word of which `number` is an output.
fn put_bits(number: u32, word: u32, own: u32) {
  if (number < pool.outputs && own != 0u) {
    if (own == 0xffffffffu) {
      atomicStore(&y[number / OUTPUTS], word);
    } else {
      atomicAnd(&y[number / OUTPUTS], ~own);
      atomicOr(&y[number / OUTPUTS], word & own);
    }
  }
}

// Clears what the last word of Y has behind its outputs.
fn clear_rest() {
  let outputs = pool.outputs % OUTPUTS;
  if (outputs != 0u) {
    atomicAnd(&y[pool.outputs / OUTPUTS], lowest(i32(outputs * ELEMENT_BITS)));
  }
}

// Writes the words of all lines.
fn put_kept(place: Place) {
  let begins = place.out_column == 0u || own_number == 0u;
  let left = pool.axes[2].output - place.out_column;
  let ends = left <= 4u || own_number == WORKGROUP - 1u;
  let own = i32(min(left, 4u) * ELEMENT_BITS);
  for (var line = 0u; line < LINES; line++) {
    let number = output_of(place, line);
    // The outputs of the first word that are the left neighbour's, and their bits.
    let before = number % OUTPUTS;
    let bits = before * ELEMENT_BITS;
    let others = select(0u, (1u << bits) - 1u, begins);
    let filled = own + i32(bits);
    // WGSL takes shifts modulo 32, so a word is shifted out in two steps.
    let rest = 31u - bits;
    let left_word = kept[line * KEPT + KEPT - 1u][max(own_number, 1u) - 1u];
    var word = kept[line * KEPT][own_number];
    put_bits(number, ((left_word >> 1u) >> rest) | (word << bits), lowest(filled) & ~others);
    if (KEPT == 2u) {
      let second = kept[line * KEPT + 1u][own_number];
      put_bits(number + OUTPUTS - before, ((word >> 1u) >> rest) | (second << bits), lowest(filled - 32));
      word = second;
    }
    if (ends) {
      put_bits(number + 4u - before, (word >> 1u) >> rest, lowest(filled - i32(32u * KEPT)));
    }
  }
}
