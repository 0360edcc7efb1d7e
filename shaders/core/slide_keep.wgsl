// when !LAST && !PLACES: A pass that is not the last writes its maxima to scratch memory.
// provides: emit, kept_out
// requires: Cell, LANES, Elements, Vector, Run, pool, raw_of, vector_of
@group(0) @binding(13) var<storage, read_write> kept_out: array<Vector>;

fn emit(run: Run, output: u32, best: Cell) {
  let elements = Elements(raw_of(best.a), raw_of(best.b), raw_of(best.c), raw_of(best.d));
  kept_out[(run.output + output * run.output_step - pool.slide.out_first) / LANES] = vector_of(elements);
}
