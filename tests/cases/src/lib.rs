//! The cases that are worked out by hand, drawn at random or made of any bytes, on every path that the features turn
//! on: the reference, with `cpu` the CPU backend, with `gpu` a GPU, with `interpreter` an interpreter of shaders.

#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod convert;
pub mod fuzz;
#[cfg(test)]
mod peaks;
#[cfg(test)]
mod random;
