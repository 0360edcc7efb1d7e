// The elements of a line that windows slide over.
// provides: SLIDES, LineElements, AlternatingElements
// requires: Row, Quad, KERNEL_2, DILATION_2, STRIDE_2
// The number of elements that enter at the last lane while the lanes slide from the windows' first tap to their last
// tap.
const SLIDES: u32 = (KERNEL_2 - 1u) * (DILATION_2 / STRIDE_2);

// The elements of the first tap, and the elements that enter as the windows slide.
struct LineElements {
  lanes: Row,
  next: Quad,
  next_4: Quad,
}

struct AlternatingElements {
  even: Row,
  odd: Row,
  next_even: Quad,
  next_odd: Quad,
}
