//! Devices of others, devices that are lost, memory that does not suffice, threads: what needs devices or processes of
//! its own.

mod faults;
mod first_calls;
mod hosts;
mod loss;
mod memory;
mod pages;
mod refusals;
mod threads;
mod validation;
