//! Values on a command line that have names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser of values that have names, so that help and errors list them.
pub fn named<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    // clap gives back the name as it was typed, in lower or upper case.
    let of = move |text: &str| values.iter().copied().find(|&value| name(value).eq_ignore_ascii_case(text));
    PossibleValuesParser::new(values.iter().map(|&value| name(value)))
        .try_map(move |text| of(&text).ok_or("there is no such value"))
}
