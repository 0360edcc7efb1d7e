// Neighbouring elements, of which those that a vector has no lane for stand for nothing.
// provides: Elements
// requires: Raw
struct Elements {
  a: Raw,
  b: Raw,
  c: Raw,
  d: Raw,
}
