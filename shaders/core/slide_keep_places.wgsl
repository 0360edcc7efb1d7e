// when !LAST && PLACES: A pass that is not the last writes its maxima, and their positions in X, to scratch memory.
// provides: emit, kept_out, places_out
// requires: Cell, LANES, Elements, Vector, Run, place_of, pool, raw_of, vector_of
@group(0) @binding(13) var<storage, read_write> kept_out: array<Vector>;
@group(0) @binding(15) var<storage, read_write> places_out: array<u32>;

fn emit(run: Run, output: u32, best: Cell) {
  let number = run.output + output * run.output_step - pool.slide.out_first;
  let elements = Elements(raw_of(best.a), raw_of(best.b), raw_of(best.c), raw_of(best.d));
  kept_out[number / LANES] = vector_of(elements);
  places_out[number] = place_of(best.a.at);
  if (LANES > 1u) {
    places_out[number + 1u] = place_of(best.b.at);
  }
  if (LANES > 2u) {
    places_out[number + 2u] = place_of(best.c.at);
    places_out[number + 3u] = place_of(best.d.at);
  }
}
