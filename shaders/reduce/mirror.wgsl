// The bits of elements that are inverted before elements are compared. A minimum is the maximum of mirrored elements:
// floats with the other sign, integers with all bits inverted. Equal elements stay equal, zeros of both signs too, and
// NaN stays NaN.
// provides: MIRROR, mirrored
// requires: Raw

//// largest: None, for maxima.
// requires: ZERO
const MIRROR: Raw = ZERO;

// Without an operation: compilers remove one with zero too late to join the shifts on both of its sides.
fn mirrored(raw: Raw) -> Raw {
  return raw;
}

//// smallest_float when MIN && FLOAT: The sign, for minima of floats.
// requires: SIGN
const MIRROR: Raw = SIGN;

fn mirrored(raw: Raw) -> Raw {
  return raw ^ MIRROR;
}

//// smallest_integer when MIN && !FLOAT: All, for minima of integers.
// requires: ALL
const MIRROR: Raw = ALL;

fn mirrored(raw: Raw) -> Raw {
  return raw ^ MIRROR;
}
