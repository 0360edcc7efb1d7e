// The bits of elements that are inverted before elements are compared. A minimum is the maximum of mirrored elements:
// floats with the other sign, integers with all bits inverted. Equal elements stay equal, zeros of both signs too, and
// NaN stays NaN.
// provides: MIRROR
// requires: Raw

//// largest: None, for maxima.
// requires: ZERO
const MIRROR: Raw = ZERO;

//// smallest_float: The sign, for minima of floats.
// requires: SIGN
const MIRROR: Raw = SIGN;

//// smallest_integer: All, for minima of integers.
// requires: ALL
const MIRROR: Raw = ALL;
