// Values alone: outputs have no indices.
// provides: Origin, origin_at, put_index, put_four_indices
// requires: Outcome
struct Origin {
  position: u32,
}

fn origin_at(position: u32) -> Origin {
  return Origin(position);
}

fn put_index(output: u32, outcome: Outcome, origin: Origin) {
}

fn put_four_indices(output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
}
