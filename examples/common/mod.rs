//! What the programs of all examples do alike: say what is wrong in one line, print what was found, leave with a code.
//!
//! The files beside this one are taken up by the examples that need them. This one knows no GPU.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// A whole program: the command line, then `run`, which puts what there is to say into the report as far as it comes.
pub fn main<O: Parser>(run: impl FnOnce(&O, &mut String) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let mut report = String::new();
    let outcome = match O::try_parse() {
        Ok(options) => run(&options, &mut report),
        // Help is not an error and is printed as it is.
        Err(help) if !help.use_stderr() => {
            report = help.to_string();
            Ok(())
        }
        Err(error) => Err(gist(&error).into()),
    };
    // A reader that has gone away, as `head` does, is no failure.
    let _ = io::stdout().write_all(report.as_bytes());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{}: {}", O::command().get_name(), one_line(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// The first paragraph of a clap error, which says what is wrong; usage and hints follow it.
fn gist(error: &clap::Error) -> String {
    let text = error.to_string();
    let paragraph: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    let paragraph = paragraph.join(" ");
    paragraph.strip_prefix("error: ").unwrap_or(&paragraph).to_owned()
}

/// A text without line breaks. Drivers and libraries are free with them.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
