//! Numbers on a command line.

use std::fmt::Display;
use std::str::FromStr;

/// A whole number.
pub fn number<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text:?} is not a whole number: {error}"))
}

/// Whole numbers with commas or crosses between them.
pub fn numbers<T: FromStr<Err: Display>>(text: &str) -> Result<Vec<T>, String> {
    text.split([',', 'x', 'X']).map(|part| number(part.trim())).collect()
}

/// One number for both axes, or two.
pub fn pair<T: FromStr<Err: Display> + Copy>(text: &str) -> Result<[T; 2], String> {
    match numbers(text)?[..] {
        [both] => Ok([both, both]),
        [height, width] => Ok([height, width]),
        ref other => Err(format!("{} numbers, expected one, or height and width", other.len())),
    }
}
