//! Writes a row as an entry of a catalogue, which `--catalogue` can read.

use serde_json::{Map, Value, json};
use wgpu_pooling::{DType, Layout, NanPolicy, OutsideWindow};

use crate::catalogue::{IndexSource, Operator, Row, Window};

impl Row {
    /// The row in an element type as an entry of a catalogue. Attributes with their defaults are left out.
    pub fn entry(&self, dtype: DType) -> Value {
        let mut fields = Map::new();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("name", json!(self.name));
        set("op", json!(self.operator.name()));
        set("dtype", json!(dtype.name()));
        if self.layout != Layout::default() {
            set("layout", json!(self.layout.name()));
        }
        if self.nan_policy != NanPolicy::default() {
            set("nan_policy", json!(self.nan_policy.name()));
        }
        set("x", json!(self.pooled));
        match &self.operator {
            Operator::MaxPool(window) => window.describe(&mut set),
            Operator::GlobalMaxPool => {}
            Operator::AdaptiveMaxPool { output_size } => {
                set("output_size", json!(output_size));
            }
            Operator::MaxUnpool { window, indices, outside_window } => {
                // `pooled` is the shape of an unpool's output; the shape of X follows from it.
                let outputs =
                    self.pooled[2..].iter().enumerate().map(|(axis, &extent)| window.outputs(axis, extent as i64));
                let outer = self.pooled[..2].iter().map(|&extent| extent as i64);
                set("x", json!(outer.chain(outputs).collect::<Vec<i64>>()));
                set("output", json!(self.pooled[2..]));
                window.describe(&mut set);
                if *indices == IndexSource::Random {
                    set("indices_from", json!("random, with repeats"));
                }
                if *outside_window != OutsideWindow::default() {
                    set("outside_window", json!(outside_window.name()));
                }
            }
        }
        if let Some(index_type) = self.indices {
            set("indices", json!(index_type.name()));
        }
        Value::Object(fields)
    }
}

impl Window {
    fn describe(&self, mut set: impl FnMut(&str, Value) -> Option<Value>) {
        set("kernel_shape", json!(self.kernel_shape));
        for (key, numbers) in [("strides", &self.strides), ("pads", &self.pads), ("dilations", &self.dilations)] {
            if let Some(numbers) = numbers {
                set(key, json!(numbers));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::catalogue::{OWN, parse};
    use crate::options::Options;
    use crate::tasks::{Task, tasks};

    /// Writes a row into a catalogue and reads it back.
    fn read_back(row: &Row, dtype: DType) -> Row {
        let rows = parse(&json!({ "rows": [row.entry(dtype)] }).to_string()).unwrap();
        rows.into_iter().next().unwrap()
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let options = Options::parse_from(["roofline", "--sweep=300", "--seed=5", "--nan-policy=seed-lowest"]);
        for Task { row, dtype, .. } in tasks(&options).unwrap().tasks {
            assert_eq!(read_back(&row, dtype), row);
        }
        for row in parse(OWN).unwrap() {
            assert_eq!(read_back(&row, DType::F16), Row { dtype: Some(DType::F16), ..row });
        }
    }
}
