//! Plans on slices: views of tensors, the kernels, and how their work is shared among threads.

pub(crate) mod axes;
pub(crate) mod choose;
pub(crate) mod columns;
pub(crate) mod direct;
pub(crate) mod flat;
pub(crate) mod general;
pub(crate) mod global;
pub(crate) mod interleaved;
pub(crate) mod lane;
pub(crate) mod multiples;
pub(crate) mod own_windows;
pub(crate) mod parts;
pub(crate) mod passes;
pub(crate) mod pool;
pub(crate) mod reduce;
pub(crate) mod runs;
pub(crate) mod scratch;
pub(crate) mod separable;
pub(crate) mod simd;
pub(crate) mod small_planes;
pub(crate) mod subnormals;
pub(crate) mod taps;
pub(crate) mod transpose;
pub(crate) mod unpool;
pub(crate) mod vector;
pub(crate) mod view;
