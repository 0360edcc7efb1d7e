//! What all examples have in common: they print a report, print an error in one line, and exit with a code.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// The whole program: parses the command line and calls `run`, whose report is printed even if it fails.
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
    let mut stdout = io::stdout();
    let written = stdout.write_all(report.as_bytes()).and_then(|()| stdout.flush());
    // It is no failure if the reader has closed the pipe, as `head` does.
    let written = written.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(format!("the report cannot be written: {error}").into()),
    });
    match outcome.and(written) {
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

/// A text without line breaks, which the messages of drivers and libraries may have.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
