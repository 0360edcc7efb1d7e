// Maxima that stand whatever the first element of their window is.
// provides: First, first_of, settle
// requires: Acc, Walk
struct First {
  nothing: u32,
}

fn first_of(walk: Walk) -> First {
  return First(0u);
}

fn settle(first: First, output: u32, best: Acc) -> Acc {
  return best;
}
