// Neighbouring elements; members beyond LANES are unused.
// provides: Elements
// requires: Raw
struct Elements {
  a: Raw,
  b: Raw,
  c: Raw,
  d: Raw,
}
