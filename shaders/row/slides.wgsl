// The elements that enter behind the lanes while windows slide from their first tap to their last.
// provides: SLIDES
// requires: KERNEL_2, DILATION_2, STRIDE_2
const SLIDES: u32 = (KERNEL_2 - 1u) * (DILATION_2 / STRIDE_2);
