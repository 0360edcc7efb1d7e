// The NaN policies, and what they mean for the first element of a window.
// provides: SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST, IGNORE, first_wins
// requires: Raw, is_nan, nan_policy
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;
const IGNORE: u32 = 3u;

// Whether the first element of a window wins regardless of its key.
fn first_wins(first: Raw) -> bool {
  return (nan_policy() == SEED_FIRST) & is_nan(first);
}
