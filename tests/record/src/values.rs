//! What records consist of: numbers, truth values and hashes.

use serde_json::{Number, Value, json};

/// The FNV-1a hash of bytes.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// The length of bytes, and their hash.
pub fn digest(bytes: &[u8]) -> Value {
    json!([bytes.len(), hash(bytes.iter().copied())])
}

/// The numbers and truth values of a value's `Debug` text, in their order. Names and quoted texts are left out, but for
/// the words of a table, each of which becomes its place there. A word that ends in a parenthesis in the table is one
/// before a parenthesis alone: a variant, and not the type of the same name that it holds.
pub fn debug(text: &str, words: &[&str]) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => quoted(rest),
            '-' | '0'..='9' => number(rest),
            _ if is_of_word(first) => rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let token = &rest[..length];
        rest = &rest[length..];
        values.extend(match first {
            '-' | '0'..='9' => value(token),
            _ => match token {
                "true" => Some(json!(true)),
                "false" => Some(json!(false)),
                "None" => Some(Value::Null),
                word => {
                    let opens = rest.starts_with('(');
                    let is = |known: &&str| *known == word || (opens && known.strip_suffix('(') == Some(word));
                    words.iter().position(is).map(|place| json!(place))
                }
            },
        });
    }
    values
}

/// Whether a letter can be part of a name.
pub fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The bytes of a quoted text at the beginning of a text, quotes included.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, letter)| {
        let ends = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The bytes of a number at the beginning of a text. Two points are a range.
fn number(text: &str) -> usize {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(1);
    if text[end..].starts_with('.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    let exponent = ["e-", "e"].into_iter().find(|exponent| text[end..].starts_with(exponent));
    exponent.map_or(end, |exponent| digits(end + exponent.len()))
}

/// A number; `None` for a minus sign alone.
fn value(token: &str) -> Option<Value> {
    let whole = token.parse::<i64>().map(Number::from).or_else(|_| token.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(token.parse().ok()?)).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_texts_keep_numbers_and_lose_names() {
        #[derive(Debug)]
        #[expect(dead_code, reason = "only printed")]
        enum Shape {
            Narrow { width7: f32, inside: std::ops::Range<i64> },
            Wide(Option<u8>, &'static str, Option<bool>),
        }
        let narrow = Shape::Narrow { width7: 1e-9, inside: -2..5 };
        let wide = Shape::Wide(None, "9 \"lives\" -1", Some(true));
        let text = format!("{narrow:?} {wide:?} {:?}", [0.5, u64::MAX as f64, -0.25]);
        let words = ["Narrow(", "Some", "Wide("];
        assert_eq!(json!(debug(&text, &words)), json!([1e-9, -2, 5, 2, null, 1, true, 0.5, u64::MAX as f64, -0.25]));
        assert_eq!(json!(debug("18446744073709551615 a-b", &[])), json!([u64::MAX]));
    }

    #[test]
    fn one_byte_changes_a_digest() {
        assert_eq!(digest(b"a"), json!([1, 0xAF63_DC4C_8601_EC8C_u64]));
        assert_ne!(digest(&[1, 2, 3]), digest(&[1, 2, 4]));
        assert_ne!(digest(&[0]), digest(&[0, 0]));
    }
}
