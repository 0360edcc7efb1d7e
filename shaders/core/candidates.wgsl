// when CANDIDATES: Visiting the candidates that an earlier pass wrote.
// provides: visit, candidates_in
// requires: pool, Candidate, consider, see, element, lift, VALID
@group(0) @binding(4) var<storage, read> candidates_in: array<vec2<u32>>;

fn visit(candidate: ptr<function, Candidate>, place: u32) {
  let stored = candidates_in[place - pool.in_first];
  if ((stored.y & VALID) != 0u) {
    see(candidate, stored.y & ~VALID);
  }
  if ((stored.x & VALID) != 0u) {
    let position = stored.x & ~VALID;
    consider(candidate, lift(element(position), position));
  }
}
