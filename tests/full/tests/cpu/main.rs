//! The CPU backend beside the reference, what its calls promise, and the modules that a GPU runs too, in the program
//! `device`.

mod backend;
mod stops;

use std::process::ExitCode;

use cases::streams;
use libtest_mimic::Arguments;
use support::cpu::Host;
use support::harness;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // Before anything uses rayon's global pool, which is one of them. A test that is asked for by its whole name may
    // want the pool for itself.
    if !arguments.exact {
        Host::all();
    }
    let lists = [backend::tests(), stops::tests(), streams::tests()];
    harness::run(&arguments, lists.into_iter().flatten().collect())
}
