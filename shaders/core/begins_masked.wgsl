// Which windows of the first of two passes begin with a NaN, as bits for the last one. That goes along the rows of which this pass
// computes one: a word of the mask holds 32 rows of one column, so that it finds all that it needs in few words.
//
//   row 0    o  o  N  o
//   row 1    o  o  o  o
//   row 2    N  o  o  o       N: the window begins with a NaN
//   words    4  0  1  0
//
// provides: start, note_begin, tell_begins
// requires: Cell, LANES, Walk, holds_nan, mask, pool
// What a segment has, a bit for each slot, for each lane.
var<private> begun: vec4<u32>;
// From the number of an output to its word, and the bit of this row.
var<private> word: u32;
var<private> bit: u32;

fn start(walk: Walk) {
  let row = walk.output / pool.slide.row_elements;
  let plane = row / pool.slide.rows;
  let row_of_plane = row - plane * pool.slide.rows;
  let words = (pool.slide.rows + 31u) / 32u;
  word = (plane * words + row_of_plane / 32u - row) * pool.slide.row_elements;
  bit = 1u << (row_of_plane % 32u);
}

fn note_begin(slot: u32, first: Cell) {
  let of_slot = 1u << slot;
  begun.x |= select(0u, of_slot, holds_nan(first.a));
  if (LANES > 1u) {
    begun.y |= select(0u, of_slot, holds_nan(first.b));
  }
  if (LANES > 2u) {
    begun.z |= select(0u, of_slot, holds_nan(first.c));
    begun.w |= select(0u, of_slot, holds_nan(first.d));
  }
}

// What has been noted of the segment that begins with this output.
fn tell_begins(walk: Walk, begin: u32) {
  for (var rest = begun.x | begun.y | begun.z | begun.w; rest != 0u; rest = rest & (rest - 1u)) {
    let slot = firstTrailingBit(rest);
    let at = word + walk.output + (begin + slot) * walk.output_step;
    if (begin + slot < walk.count) {
      for (var lane = 0u; lane < LANES; lane++) {
        if (((begun[lane] >> slot) & 1u) != 0u) {
          atomicOr(&mask[at + lane], bit);
        }
      }
    }
  }
  begun = vec4<u32>(0u, 0u, 0u, 0u);
}
