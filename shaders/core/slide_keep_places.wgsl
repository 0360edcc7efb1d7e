// A pass of sliding maxima that another one follows keeps the elements that won, and their positions in X.
// provides: emit, kept_out, places_out
// requires: Acc, First, Raw, Walk, place_of, pool
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;
@group(0) @binding(15) var<storage, read_write> places_out: array<u32>;

fn emit(walk: Walk, first: First, output: u32, best: Acc) {
  let number = walk.output + output * walk.output_step - pool.slide.out_first;
  kept_out[number] = best.raw;
  places_out[number] = place_of(best.at);
}
