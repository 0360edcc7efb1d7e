// The number of elements that enter at the last lane while the lanes slide from the windows' first tap to their last
// tap.
// provides: SLIDES
// requires: KERNEL_2, DILATION_2, STRIDE_2
const SLIDES: u32 = (KERNEL_2 - 1u) * (DILATION_2 / STRIDE_2);
