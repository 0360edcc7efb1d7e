// Later passes of sliding maxima read the elements that won in the pass before.
// provides: fetch
// requires: Acc, kept, lift, pool
fn fetch(at: u32) -> Acc {
  return lift(kept[at - pool.in_first], at);
}
