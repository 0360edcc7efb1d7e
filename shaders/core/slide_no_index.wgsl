// Values alone.
// provides: found_at, store_found
// requires: nothing
fn found_at(at: u32) -> u32 {
  return at;
}

fn store_found(number: u32, position: u32, found: bool) {
}
