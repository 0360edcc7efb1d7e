// The bits of elements that are inverted before they are compared. The largest of inverted elements is the smallest
// element: floats without their sign bit's value are their negatives, and integers are reversed by inverting all bits.
// Equal elements stay equal, zeros of both signs too, and NaN stays NaN.
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
