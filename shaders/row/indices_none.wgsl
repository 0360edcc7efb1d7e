// Values alone: outputs have no indices.
// provides: Origin, origin_at, put_index
// requires: Acc
struct Origin {
  position: u32,
}

fn origin_at(position: u32) -> Origin {
  return Origin(position);
}

fn put_index(output: u32, best: Acc, found: bool, origin: Origin) {
}
