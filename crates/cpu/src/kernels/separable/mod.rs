//! Pools of strided windows, one axis after the other, in blocks that stay in cache.
//!
//! A block is a box of outputs. The rows of X that its windows reach are loaded into scratch memory, converted to lanes
//! ([`lane`](super::lane)) and reduced along themselves, a few at a time. The outputs that these rows complete are then
//! reduced along the next axis, and so on ([`reduced`]). Along an axis of stride s, positions are sorted by their
//! remainder modulo s, so that neighbouring windows read neighbouring lanes:
//!
//! ```text
//! X, a row:          x0 x1 x2 x3 x4 x5 x6 x7 x8       stride 2, kernel 3
//! phase 0:           x0 x2 x4 x6 x8
//! phase 1:           x1 x3 x5 x7 --
//! maxima of windows: max(phase0[i], phase1[i], phase0[i + 1])
//! ```
//!
//! The maxima of rows follow each other without gaps, so the loops along all other axes run over whole slices without a
//! branch, however short the rows are. Rows in the padding are filled with the lowest lane.
//!
//! # Why the result is exact
//!
//! Let the elements of a window be v0, v1, .. in row-major order, those in the padding left out. The rule
//! (`NanPolicy::SeedFirst`) is: v0 is the maximum; then each v replaces it if it is greater, in IEEE's sense.
//!
//! * Let c(v) be v, or the lowest lane (-inf, or the least integer) if v is NaN. `LOWEST.step(v)` is c(v), and padding
//!   is loaded as the lowest lane.
//! * A tree of `step`s whose left part lies earlier in row-major order keeps the leftmost of the greatest c(v), also
//!   where the parts overlap, and also if an element occurs twice: of equals the left one stays. The axes are reduced
//!   from the innermost outwards, so that the left part is always the earlier one. Call the result m.
//! * If m is greater than v0, the rule ends at m: no element before m is as great, and none after it is greater. Else
//!   nothing is greater than v0, so v0 stays: with its sign, if it is a zero, and if it is NaN, because nothing is
//!   greater than NaN. A lowest lane from the padding is greater than nothing, so it never wins.
//!
//! So Y is `v0.step(m)`, and the index follows the same comparison. If v0 is not NaN, Y is m itself: if m is not
//! greater than v0 it equals v0, and then it is v0, which is the leftmost of all. So the values of blocks without NaN,
//! and of integers, are not compared with v0. Indices are, because padding before v0 may be as great as v0.
//!
//! Under `NanPolicy::SeedLowest` a constant takes the place of v0. Under `NanPolicy::PropagateLast` the rule is the
//! same in windows without NaN; blocks with a NaN have lanes which the last NaN replaces.

pub(crate) mod block;
pub(crate) mod finish;
pub(crate) mod form;
pub(crate) mod lanes;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod pool;
pub(crate) mod reduced;
pub(crate) mod run;
pub(crate) mod steps;
pub(crate) mod work;
