// The accumulator of a window that is reduced in parts. It holds the positions of the best and of the first element, as
// a candidate does, and both elements, so that a later dispatch does not load them from X.
// provides: Accumulated, accumulators, accumulated, keep
// requires: pool, Candidate, Raw, lift, from_pair, to_pair, VALID
struct Accumulated {
  candidate: Candidate,
  first_raw: Raw,
}

// Three pairs of words for each output.
@group(0) @binding(11) var<storage, read_write> accumulators: array<vec2<u32>>;

fn accumulated(output: u32) -> Accumulated {
  let entry = (output - pool.in_first) * 3u;
  let positions = accumulators[entry];
  var known = Accumulated();
  known.candidate.best = lift(from_pair(accumulators[entry + 1u]), positions.x & ~VALID);
  known.first_raw = from_pair(accumulators[entry + 2u]);
  known.candidate.found = (positions.x & VALID) != 0u;
  known.candidate.first = positions.y & ~VALID;
  known.candidate.seen = (positions.y & VALID) != 0u;
  return known;
}

fn keep(output: u32, known: Accumulated) {
  let entry = (output - pool.in_first) * 3u;
  accumulators[entry] = vec2<u32>(
    select(0u, known.candidate.best.at | VALID, known.candidate.found),
    select(0u, known.candidate.first | VALID, known.candidate.seen),
  );
  accumulators[entry + 1u] = to_pair(known.candidate.best.raw);
  accumulators[entry + 2u] = to_pair(known.first_raw);
}
