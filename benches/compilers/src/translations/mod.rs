//! What the shaders become on their way to a driver: the texts of a broad sweep, naga's translations of them, and what
//! can be seen to be wrong in those.

pub mod faults;
pub mod sweep;
pub mod writers;
