//! Hosts that have told their processor to take subnormal floats for zeros: the CPU backend and the reference give the
//! bits that they give elsewhere, whichever threads of a call the host has told so.

mod flags;
mod modes;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let code = support::harness::run(&arguments, modes::tests());
    if !arguments.list && !flags::KNOWN {
        println!("nothing was tested: how this processor is told to take subnormals for zeros is not known here");
    }
    code
}
