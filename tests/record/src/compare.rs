//! The differences of two records.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// A place in which two records differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// The item's numbers.
    pub item: String,
    /// The way to the place in the item's line.
    pub field: String,
    /// What each record has there; `None` if it has no such place.
    pub old: Option<Value>,
    pub new: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |side: &Option<Value>| {
            let text = side.as_ref().map_or("absent".to_owned(), Value::to_string);
            if text.len() > 200 { format!("{}..", text.chars().take(200).collect::<String>()) } else { text }
        };
        write!(formatter, "item {} {}: {} -> {}", self.item, self.field, text(&self.old), text(&self.new))
    }
}

/// The places in which two records differ, item by item.
pub fn differences(old: &str, new: &str) -> Result<Vec<Difference>, String> {
    let (old, mut new) = (lines(old)?, lines(new)?);
    let mut differences = Vec::new();
    for (item, line) in &old {
        let other = new.remove(item);
        // Most lines are equal, and equal lines need not be read.
        if other != Some(line) {
            let [line, other] = [Some(*line), other].map(|line| line.map(serde_json::from_str).transpose());
            let [line, other] = [line, other].map(|line: Result<Option<Value>, _>| line.map_err(|e| e.to_string()));
            visit(item, "", line?.as_ref(), other?.as_ref(), &mut differences);
        }
    }
    for (item, line) in new {
        let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        visit(item, "", None, Some(&line), &mut differences);
    }
    Ok(differences)
}

/// The lines of a record by their items.
fn lines(text: &str) -> Result<BTreeMap<&str, &str>, String> {
    let item = |line| {
        let numbers = str::strip_prefix(line, "{\"item\":").and_then(|rest| rest.split_once(']'));
        numbers
            .map(|(item, _)| (item.trim_start_matches('['), line))
            .ok_or("a line does not begin with an item".to_owned())
    };
    text.lines().map(item).collect()
}

fn visit(item: &str, field: &str, old: Option<&Value>, new: Option<&Value>, differences: &mut Vec<Difference>) {
    match (old, new) {
        _ if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                visit(item, &format!("{field}.{key}"), old.get(key), new.get(key), differences);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for number in 0..old.len().max(new.len()) {
                let field = format!("{field}[{number}]");
                visit(item, &field, old.get(number), new.get(number), differences);
            }
        }
        _ => differences.push(Difference {
            item: item.to_owned(),
            field: field.trim_start_matches(".record.").to_owned(),
            old: old.cloned(),
            new: new.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_that_differ_are_found() {
        let line =
            |item: u32, constant: u32| format!("{{\"item\":[0,{item}],\"record\":{{\"a\":[[1,{constant}]]}}}}\n");
        let (old, new) = (line(1, 5) + &line(2, 6), line(2, 7) + &line(3, 8));
        let found = differences(&old, &new).unwrap();
        let found: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("item 0,1 : {") && found[0].ends_with("-> absent"), "{}", found[0]);
        assert_eq!(found[1], "item 0,2 a[0][1]: 6 -> 7");
        assert!(found[2].starts_with("item 0,3 : absent -> {"), "{}", found[2]);
        assert_eq!(differences(&old, &old), Ok(Vec::new()));
        assert!(differences("{}", "").is_err());
    }

    #[test]
    fn lists_of_other_lengths_differ() {
        let mut found = Vec::new();
        visit("0", "", Some(&json!([1, 2])), Some(&json!([1])), &mut found);
        let expected = Difference { item: "0".to_owned(), field: "[1]".to_owned(), old: Some(json!(2)), new: None };
        assert_eq!(found, [expected]);
    }
}
