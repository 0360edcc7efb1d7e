// when WRITES == 0: A pool without indices.
// provides: Origin, origin_at, origin_of, put_index, put_index_in, put_four_indices
// requires: Outcome
struct Origin {
  plane: u32,
}

fn origin_at(plane: u32) -> Origin {
  return Origin(plane);
}

fn origin_of(outer: u32, plane: u32, channel: u32) -> Origin {
  return Origin(plane);
}

fn put_index(output: u32, result: Outcome, origin: Origin) {
}

fn put_index_in(point: u32, output: u32, result: Outcome, origin: Origin) {
}

fn put_four_indices(point: u32, output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
}
