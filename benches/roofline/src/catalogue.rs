//! The catalogue: shapes that real networks pool, read from JSON.

use std::str::FromStr;

use serde_json::{Map, Value};
use wgpu_pooling::{DType, IndexType, Layout, NanPolicy, OutsideWindow, PlanError};

/// The rows that come with the crate.
pub const OWN: &str = include_str!("../../catalogue.json");

/// One shape to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    pub operator: Operator,
    /// The row's own element type, if it has one.
    pub dtype: Option<DType>,
    pub layout: Layout,
    /// The NaN rule, for element types that have a NaN.
    pub nan_policy: NanPolicy,
    /// N, C and the spatial extents of what is pooled: X of a pool, Y of an unpool.
    pub pooled: Vec<usize>,
    /// The type of the indices that a pool writes or an unpool reads.
    pub indices: Option<IndexType>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    MaxPool(Window),
    GlobalMaxPool,
    AdaptiveMaxPool { output_size: Vec<i64> },
    MaxUnpool { window: Window, indices: IndexSource, outside_window: OutsideWindow },
}

/// Attributes of a window. Those that are `None` have their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub kernel_shape: Vec<i64>,
    pub strides: Option<Vec<i64>>,
    pub pads: Option<Vec<i64>>,
    pub dilations: Option<Vec<i64>>,
}

/// Where an unpool's indices come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexSource {
    /// X and the indices are the outputs of the pool.
    Pool,
    /// Random positions in the same plane, some more than once.
    Random,
}

impl Operator {
    /// The operator's name in ONNX or OpenVINO.
    pub fn name(&self) -> &'static str {
        match self {
            Operator::MaxPool(_) => "MaxPool",
            Operator::GlobalMaxPool => "GlobalMaxPool",
            Operator::AdaptiveMaxPool { .. } => "AdaptiveMaxPool",
            Operator::MaxUnpool { .. } => "MaxUnpool",
        }
    }

    /// A short description of the operator's windows, which begins with a comma.
    pub fn in_words(&self) -> String {
        match self {
            Operator::MaxPool(window) | Operator::MaxUnpool { window, .. } => window.in_words(),
            Operator::GlobalMaxPool => String::new(),
            Operator::AdaptiveMaxPool { output_size } => format!(", output size {output_size:?}"),
        }
    }

    /// The JSON keys of this operator's rows, beside `KEYS`.
    fn keys(&self) -> &'static str {
        match self {
            Operator::MaxPool(_) => "nan_policy kernel_shape strides pads dilations",
            Operator::GlobalMaxPool => "nan_policy",
            Operator::AdaptiveMaxPool { .. } => "nan_policy output_size",
            Operator::MaxUnpool { .. } => {
                "nan_policy kernel_shape strides pads dilations output indices_from outside_window"
            }
        }
    }
}

impl Window {
    fn in_words(&self) -> String {
        let given = [("strides", &self.strides), ("pads", &self.pads), ("dilations", &self.dilations)];
        let given = given.into_iter().filter_map(|(name, values)| Some(format!(", {name} {:?}", values.as_ref()?)));
        format!(", kernel {:?}{}", self.kernel_shape, given.collect::<String>())
    }

    /// How far the window reaches along an axis.
    pub fn reach(&self, axis: usize) -> i64 {
        let dilation = self.dilations.as_ref().map_or(1, |dilations| dilations[axis]);
        (self.kernel_shape[axis] - 1) * dilation + 1
    }

    pub fn stride(&self, axis: usize) -> i64 {
        self.strides.as_ref().map_or(1, |strides| strides[axis])
    }

    fn padding(&self, axis: usize) -> i64 {
        self.pads.as_ref().map_or(0, |pads| pads[axis] + pads[axis + self.kernel_shape.len()])
    }

    /// An extent with its padding.
    fn padded(&self, axis: usize, extent: i64) -> i64 {
        extent + self.padding(axis)
    }

    /// The extent that `outputs` windows of a pool cover: what ONNX infers for an unpool.
    fn inverse(&self, axis: usize, outputs: i64) -> i64 {
        (outputs - 1) * self.stride(axis) + self.reach(axis) - self.padding(axis)
    }

    /// How many windows a pool has along an extent.
    pub fn outputs(&self, axis: usize, extent: i64) -> i64 {
        (self.padded(axis, extent) - self.reach(axis)) / self.stride(axis) + 1
    }
}

/// All rows of a catalogue, or what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let rows = document["rows"].as_array().ok_or("there is no list named rows")?;
    let rows: Vec<Row> = rows.iter().enumerate().map(|(number, row)| row_of(number, row)).collect::<Result<_, _>>()?;
    for (number, row) in rows.iter().enumerate() {
        if rows[..number].iter().any(|other| other.name == row.name) {
            return Err(format!("two rows are named {}", row.name));
        }
    }
    if rows.is_empty() { Err("the list of rows is empty".to_owned()) } else { Ok(rows) }
}

fn row_of(number: usize, value: &Value) -> Result<Row, String> {
    let fields = value.as_object().ok_or_else(|| format!("row {number} is no object"))?;
    let name = fields.get("name").and_then(Value::as_str).ok_or_else(|| format!("row {number} has no name"))?;
    Fields { fields }.row(name).map_err(|error| format!("row {name}: {error}"))
}

/// The JSON keys that every row may have; `Operator::keys` has those of each operator.
const KEYS: &str = "name op x dtype layout indices from";

/// Gives X of a pool back if it has windows along every axis.
fn pooled(x: Vec<i64>, window: &Window) -> Result<Vec<i64>, String> {
    let windows = |axis: usize| (window.padded(axis, x[axis + 2]) >= window.reach(axis)).then_some(());
    match (0..x.len() - 2).find(|&axis| windows(axis).is_none()) {
        None => Ok(x),
        Some(axis) => Err(format!(
            "axis {axis}: a window reaches over {} of {} elements, padding included, so that there is no output",
            window.reach(axis),
            window.padded(axis, x[axis + 2])
        )),
    }
}

/// The fields of a row.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn row(&self, name: &str) -> Result<Row, String> {
        let x = self.numbers("x")?.ok_or("x is missing")?;
        if x.len() < 3 || x.iter().any(|&extent| extent < 1) {
            return Err("x has to be N, C and at least one spatial extent, all positive".to_owned());
        }
        let axes = x.len() - 2;
        let operator = self.operator(axes)?;
        // If unknown keys were ignored, a row could be measured as something other than it says.
        let known = KEYS.split(' ').chain(operator.keys().split(' '));
        if let Some(key) = self.fields.keys().find(|key| !known.clone().any(|known| known == *key)) {
            return Err(format!("{key} is no key of a row of {}", operator.name()));
        }
        let pooled = match &operator {
            Operator::MaxUnpool { window, .. } => self.unpooled(&x, window)?,
            Operator::MaxPool(window) => pooled(x, window)?,
            _ => x,
        };
        let indices = match self.text("indices")? {
            None | Some("none") => None,
            Some("i32") => Some(IndexType::I32),
            Some("i64") => Some(IndexType::I64),
            Some(other) => return Err(format!("indices {other:?}, expected none, i32 or i64")),
        };
        if indices.is_none() && matches!(operator, Operator::MaxUnpool { .. }) {
            return Err("an unpool reads indices: i32 or i64".to_owned());
        }
        let layout = self.named("layout")?.unwrap_or_default();
        let dtype = self.named("dtype")?;
        let nan_policy = self.text("nan_policy")?.map(nan_policy).transpose()?.unwrap_or_default();
        let pooled = pooled.iter().map(|&extent| extent as usize).collect();
        Ok(Row { name: name.to_owned(), operator, dtype, layout, nan_policy, pooled, indices })
    }

    fn operator(&self, axes: usize) -> Result<Operator, String> {
        match self.text("op")? {
            Some("MaxPool") => Ok(Operator::MaxPool(self.window(axes)?)),
            Some("GlobalMaxPool") => Ok(Operator::GlobalMaxPool),
            Some("AdaptiveMaxPool") => {
                let output_size = self.positive("output_size", axes)?.ok_or("output_size is missing")?;
                Ok(Operator::AdaptiveMaxPool { output_size })
            }
            Some("MaxUnpool") => {
                let indices = match self.text("indices_from")? {
                    None | Some("pool") => IndexSource::Pool,
                    Some("random, with repeats") => IndexSource::Random,
                    Some(other) => {
                        return Err(format!("indices_from {other:?}, expected pool, or random, with repeats"));
                    }
                };
                let outside_window = self.named("outside_window")?.unwrap_or_default();
                Ok(Operator::MaxUnpool { window: self.window(axes)?, indices, outside_window })
            }
            Some(other) => Err(format!("op {other:?} is none of the crate's")),
            None => Err("op is missing".to_owned()),
        }
    }

    fn window(&self, axes: usize) -> Result<Window, String> {
        let pads = self.numbers("pads")?;
        if let Some(pads) = pads.as_ref().filter(|pads| pads.len() != 2 * axes || pads.iter().any(|&pad| pad < 0)) {
            return Err(format!("pads {pads:?}, expected {} numbers from 0 on", 2 * axes));
        }
        Ok(Window {
            kernel_shape: self.positive("kernel_shape", axes)?.ok_or("kernel_shape is missing")?,
            strides: self.positive("strides", axes)?,
            pads,
            dilations: self.positive("dilations", axes)?,
        })
    }

    /// The shape of an unpool's output: `output`, or what ONNX infers. A pool of this shape has to give `x`.
    fn unpooled(&self, x: &[i64], window: &Window) -> Result<Vec<i64>, String> {
        let spatial = match self.positive("output", x.len() - 2)? {
            Some(output) => output,
            None => x[2..].iter().enumerate().map(|(axis, &extent)| window.inverse(axis, extent)).collect(),
        };
        for (axis, (&output, &extent)) in spatial.iter().zip(&x[2..]).enumerate() {
            if window.outputs(axis, output) != extent {
                return Err(format!("axis {axis}: a pool of {output} elements does not give {extent}"));
            }
        }
        Ok([&x[..2], &spatial].concat())
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        let text = |value: &'a Value| value.as_str().ok_or_else(|| format!("{key} is no text"));
        self.fields.get(key).map(text).transpose()
    }

    /// A value of the library's by its name.
    fn named<T: FromStr<Err = PlanError>>(&self, key: &str) -> Result<Option<T>, String> {
        self.text(key)?.map(str::parse).transpose().map_err(|error: PlanError| error.to_string())
    }

    fn numbers(&self, key: &str) -> Result<Option<Vec<i64>>, String> {
        let Some(value) = self.fields.get(key) else { return Ok(None) };
        let numbers = value.as_array().and_then(|list| list.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
        let small = |numbers: &Vec<i64>| numbers.iter().all(|number| number.unsigned_abs() < 1 << 31);
        numbers.filter(small).map(Some).ok_or_else(|| format!("{key} is no list of whole numbers below 2^31"))
    }

    /// One positive number for each axis.
    fn positive(&self, key: &str, axes: usize) -> Result<Option<Vec<i64>>, String> {
        match self.numbers(key)? {
            Some(numbers) if numbers.len() != axes || numbers.iter().any(|&number| number < 1) => {
                Err(format!("{key} {numbers:?}, expected {axes} numbers from 1 on"))
            }
            numbers => Ok(numbers),
        }
    }
}

/// A rule for NaN by its name, as the crate or as a command line spells it.
pub fn nan_policy(name: &str) -> Result<NanPolicy, String> {
    let names = || NanPolicy::ALL.iter().map(|policy| policy.name()).collect::<Vec<_>>().join(", ");
    name.replace('-', "_").parse().map_err(|_| format!("{name:?} is no NaN policy: {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_catalogue_is_read() {
        let rows = parse(OWN).unwrap();
        let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(row("stem_3x3s2p1").indices, None);
        assert_eq!(row("f16_2x2s2_i32").dtype, Some(DType::F16));
        assert_eq!(row("nhwc_2x2s2").layout, Layout::Nhwc);
        assert_eq!(row("unpool_2x2s2").pooled, [16, 64, 224, 224], "inferred");
        assert_eq!(row("unpool_3x3s2p1").pooled, [32, 64, 112, 112], "given");
        assert!(matches!(row("unpool_random").operator, Operator::MaxUnpool { indices: IndexSource::Random, .. }));
        let own = &row("own_windows_2x2s2").operator;
        assert!(matches!(own, Operator::MaxUnpool { outside_window: OutsideWindow::Error, .. }), "{own:?}");
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said() {
        let table = [
            (r#"{"rows": []}"#, "empty"),
            (r#"{}"#, "no list named rows"),
            (r#"{"rows": [{"op": "MaxPool"}]}"#, "row 0 has no name"),
            (r#"{"rows": [{"name": "a", "op": "MaxPool", "x": [1, 1], "kernel_shape": []}]}"#, "row a: x has to be"),
            (r#"{"rows": [{"name": "a", "op": "MaxPool", "x": [1, 1, 4]}]}"#, "kernel_shape is missing"),
            (r#"{"rows": [{"name": "a", "op": "Pool", "x": [1, 1, 4]}]}"#, "op \"Pool\""),
            (
                r#"{"rows": [{"name": "a", "op": "GlobalMaxPool", "x": [1, 1, 4], "strides": [1]}]}"#,
                "strides is no key of a row of GlobalMaxPool",
            ),
            (
                r#"{"rows": [{"name": "a", "op": "MaxPool", "x": [1, 1, 4], "kernel_shape": [5], "output_size": [1]}]}"#,
                "output_size is no key of a row of MaxPool",
            ),
            (
                r#"{"rows": [{"name": "a", "op": "MaxPool", "x": [1, 1, 9, 4], "kernel_shape": [1, 5],
                   "dilations": [1, 2], "pads": [0, 1, 0, 2]}]}"#,
                "axis 1: a window reaches over 9 of 7 elements",
            ),
            (r#"{"rows": [{"name": "a", "op": "GlobalMaxPool", "x": [1, 1, 4], "dtype": "f8"}]}"#, "f8"),
            (
                r#"{"rows": [{"name": "a", "op": "GlobalMaxPool", "x": [1, 1, 4], "nan_policy": "none"}]}"#,
                "\"none\" is no NaN policy: seed_first, propagate_last, seed_lowest, ignore",
            ),
            (
                r#"{"rows": [{"name": "a", "op": "MaxUnpool", "x": [1, 1, 4], "kernel_shape": [2], "strides": [2],
                   "output": [7], "indices": "i64"}]}"#,
                "a pool of 7 elements does not give 4",
            ),
        ];
        for (text, expected) in table {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{expected:?} is not in {error:?}");
        }
    }
}
