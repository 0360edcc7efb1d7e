// A pass of sliding maxima that another one follows keeps the elements that won.
// provides: emit, kept_out
// requires: Acc, First, Raw, Walk, pool
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

fn emit(walk: Walk, first: First, output: u32, best: Acc) {
  kept_out[walk.output + output * walk.output_step - pool.slide.out_first] = best.raw;
}
