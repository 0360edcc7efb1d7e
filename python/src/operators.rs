//! From keyword arguments of Python to operators of the crate, which parses them and says what is wrong.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use wgpu_pooling::{
    AdaptiveMaxPool, Attribute, BlackHat, CeilRule, Close, DType, Dilate, Erode, ExecuteError, GlobalMaxPool, Gradient,
    IndexSpace, IndexType, MaxPool, MaxUnpool, Minimum, Open, Plan, PlanError, Pooling, TopHat,
};

use crate::error::{Failure, Fallible, plan_error};

/// The options: every one is a name, which the crate parses. All other keywords are attributes of ONNX.
const OPTIONS: &[&str] = &[
    "layout",
    "index_layout",
    "flatten",
    "index_order",
    "nan_policy",
    "ceil_rule",
    "same_padding",
    "size_rounding",
    "empty_value",
    "empty_index",
    "pads_limit",
    "unpool_space",
    "unpool_min_size",
    "duplicates",
    "out_of_bounds",
    "outside_window",
];

/// Keyword arguments: attributes, options, and the two that name a shape.
pub(crate) struct Keywords {
    attributes: Vec<(String, Attribute)>,
    options: Vec<(String, String)>,
}

fn wrong_type(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> Failure {
    let given =
        value.get_type().fully_qualified_name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} is of type {given}, expected {expected}")).into()
}

/// The string that an argument of this name is. What is no Unicode in it becomes U+FFFD, which no value has.
pub(crate) fn text(argument: &str, value: &Bound<'_, PyAny>) -> Fallible<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type(argument, value, "a string"))?;
    Ok(text.to_string_lossy().into_owned())
}

/// A number beyond a range is the caller's mistake as any other that does not fit. Python writes no number of
/// thousands of digits.
fn beyond(name: &str, value: &Bound<'_, PyAny>, range: &str) -> Failure {
    let number = value.str().map_or_else(|_| "a number".to_owned(), |text| text.to_string());
    plan_error(value.py(), format!("{name} has {number}, beyond {range}")).into()
}

/// A whole number.
fn integer(name: &str, value: &Bound<'_, PyAny>) -> Fallible<i64> {
    value.extract::<i64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            beyond(name, value, "64 bits")
        } else {
            wrong_type(name, value, "whole numbers")
        }
    })
}

/// A parameter of an activation, in the type that it is computed in.
fn parameter(name: &str, value: &Bound<'_, PyAny>) -> Fallible<f32> {
    match value.extract::<f64>() {
        Ok(number) if !number.is_finite() || (number as f32).is_finite() => Ok(number as f32),
        Err(error) if !error.is_instance_of::<PyOverflowError>(value.py()) => Err(wrong_type(name, value, "numbers")),
        _ => Err(beyond(name, value, "the range of float32")),
    }
}

fn items<'py>(value: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    // Lists and tuples, and what behaves like them, such as torch.Size, which is a tuple, and arrays of one axis.
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter().ok()?.collect::<PyResult<_>>().ok();
    }
    let listed = value.call_method0("tolist").ok()?;
    let list = listed.cast_into::<PyList>().ok()?;
    Some(list.iter().collect())
}

fn attribute(name: &str, value: &Bound<'_, PyAny>) -> Fallible<Attribute> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Attribute::String(text.to_string_lossy().into_owned()));
    }
    match items(value) {
        Some(items) if name == "activation_params" => {
            Ok(Attribute::Floats(items.iter().map(|item| parameter(name, item)).collect::<Fallible<_>>()?))
        }
        None if name == "activation_params" => Err(wrong_type(name, value, "a list of numbers")),
        Some(items) => Ok(Attribute::Ints(items.iter().map(|item| integer(name, item)).collect::<Fallible<_>>()?)),
        None => integer(name, value).map(Attribute::Int),
    }
}

impl Keywords {
    /// Keywords that are None count as not given.
    pub fn read(given: &Bound<'_, PyDict>) -> Fallible<Keywords> {
        let mut keywords = Keywords { attributes: Vec::new(), options: Vec::new() };
        for (name, value) in given.iter().filter(|(_, value)| !value.is_none()) {
            let name = text("the name of an attribute", &name)?;
            if OPTIONS.contains(&name.as_str()) {
                let value = text(&name, &value)?;
                keywords.options.push((name, value));
            } else {
                let value = attribute(&name, &value)?;
                keywords.attributes.push((name, value));
            }
        }
        Ok(keywords)
    }

    /// Takes an attribute that is a list of whole numbers, if it is given.
    fn take(&mut self, wanted: &str) -> Fallible<Option<Vec<i64>>> {
        let Some(position) = self.attributes.iter().position(|(name, _)| name == wanted) else {
            return Ok(None);
        };
        match self.attributes.swap_remove(position).1 {
            Attribute::Ints(values) => Ok(Some(values)),
            _ => Err(PyTypeError::new_err(format!("{wanted} is no list of whole numbers")).into()),
        }
    }

    fn require(&mut self, operator: &'static str, wanted: &'static str) -> Fallible<Vec<i64>> {
        self.take(wanted)?.ok_or_else(|| PlanError::MissingAttribute { operator, attribute: wanted }.into())
    }

    /// Refuses what an operator without attributes of ONNX was given.
    fn no_attributes(&self, operator: &'static str) -> Fallible<()> {
        match self.attributes.first() {
            Some((name, _)) => Err(unknown(operator, name)),
            None => Ok(()),
        }
    }
}

fn unknown(operator: &'static str, name: &str) -> Failure {
    PlanError::UnknownAttribute { operator, name: name.to_owned() }.into()
}

fn unknown_preset(given: &str, expected: &'static str) -> Failure {
    PlanError::UnknownValue { attribute: "preset", value: given.to_owned(), expected }.into()
}

/// Sets the options that all pools have; what it does not know goes on to `$more`.
macro_rules! with_pool_options {
    ($pool:ident, $options:expr, $operator:literal $(, $more:literal => $set:ident)*) => {{
        let mut $pool = $pool;
        for (name, value) in $options {
            $pool = match name.as_str() {
                "layout" => $pool.layout(value.parse()?),
                "index_layout" => $pool.index_layout(value.parse()?),
                "flatten" => $pool.flatten(value.parse()?),
                "index_order" => $pool.index_order(value.parse()?),
                "nan_policy" => $pool.nan_policy(value.parse()?),
                "empty_value" => $pool.empty_value(value.parse()?),
                "empty_index" => $pool.empty_index(value.parse()?),
                $($more => $pool.$set(value.parse()?),)*
                other => return Err(unknown($operator, other)),
            };
        }
        $pool
    }};
}

/// An operator over boxes of keywords.
macro_rules! morphology {
    ($type:ident, $keywords:ident) => {{
        let mut keywords = $keywords;
        let mut operator = $type::new(keywords.require(stringify!($type), "kernel_shape")?);
        if let Some(anchor) = keywords.take("anchor")? {
            operator = operator.anchor(anchor);
        }
        if let Some(number) = keywords.attributes.iter().position(|(name, _)| name == "iterations") {
            let Attribute::Int(iterations) = keywords.attributes.swap_remove(number).1 else {
                return Err(PyTypeError::new_err("iterations is no whole number").into());
            };
            operator = operator.iterations(iterations);
        }
        keywords.no_attributes(stringify!($type))?;
        for (name, value) in keywords.options {
            operator = match name.as_str() {
                "layout" => operator.layout(value.parse()?),
                "nan_policy" => operator.nan_policy(value.parse()?),
                "empty_value" => operator.empty_value(value.parse()?),
                other => return Err(unknown(stringify!($type), other)),
            };
        }
        operator
    }};
}

/// An error of a pool of maxima as that of its minima, by the operator that the caller named.
fn of_minima(failure: Failure) -> Failure {
    let minima = |operator: &'static str| match operator {
        "GlobalMaxPool" => "GlobalMinPool",
        "AdaptiveMaxPool" => "AdaptiveMinPool",
        _ => "MinPool",
    };
    match failure {
        Failure::Crate(ExecuteError::Plan(PlanError::UnknownAttribute { operator, name })) => {
            unknown(minima(operator), &name)
        }
        Failure::Crate(ExecuteError::Plan(PlanError::MissingAttribute { operator, attribute })) => {
            PlanError::MissingAttribute { operator: minima(operator), attribute }.into()
        }
        other => other,
    }
}

/// The pool of an operator, a preset and keywords.
pub(crate) fn pool(operator: &str, preset: &str, keywords: Keywords) -> Fallible<Box<dyn Pooling>> {
    match operator {
        "global_max_pool" => Ok(Box::new(global_max_pool(preset, keywords)?)),
        "adaptive_max_pool" => Ok(Box::new(adaptive_max_pool(preset, keywords)?)),
        "dilate" => Ok(Box::new(morphology!(Dilate, keywords))),
        "erode" => Ok(Box::new(morphology!(Erode, keywords))),
        "min_pool" => Ok(Box::new(Minimum::of(max_pool(preset, keywords).map_err(of_minima)?))),
        "global_min_pool" => Ok(Box::new(Minimum::of(global_max_pool(preset, keywords).map_err(of_minima)?))),
        "adaptive_min_pool" => Ok(Box::new(Minimum::of(adaptive_max_pool(preset, keywords).map_err(of_minima)?))),
        _ => Ok(Box::new(max_pool(preset, keywords)?)),
    }
}

/// The plan of a composition for an X of this shape and type.
pub(crate) fn composition(operator: &str, keywords: Keywords, shape: &[usize], dtype: DType) -> Fallible<Plan> {
    let plan = match operator {
        "opening" => morphology!(Open, keywords).plan(shape, dtype, None),
        "closing" => morphology!(Close, keywords).plan(shape, dtype, None),
        "gradient" => morphology!(Gradient, keywords).plan(shape, dtype, None),
        "top_hat" => morphology!(TopHat, keywords).plan(shape, dtype, None),
        _ => morphology!(BlackHat, keywords).plan(shape, dtype, None),
    };
    Ok(plan?)
}

fn max_pool(preset: &str, mut keywords: Keywords) -> Fallible<MaxPool> {
    let kernel_shape = keywords.require("MaxPool", "kernel_shape")?;
    let pool = match preset {
        "onnx" | "onnx_after_1_23" => MaxPool::onnx(kernel_shape),
        "onnxruntime" => MaxPool::onnxruntime(kernel_shape),
        "onnxruntime_nhwc" => MaxPool::onnxruntime_nhwc(kernel_shape),
        "openvino" => MaxPool::openvino(kernel_shape),
        "pytorch" => MaxPool::pytorch(kernel_shape),
        "tensorflow" => MaxPool::tensorflow(kernel_shape),
        _ => {
            let expected = "onnx, onnx_after_1_23, onnxruntime, onnxruntime_nhwc, openvino, pytorch, tensorflow";
            return Err(unknown_preset(preset, expected));
        }
    };
    // Of OpenVINO's two ceilings the one to which it maps the attribute of ONNX models. The option ceil_rule names
    // either.
    let literal = preset == "openvino"
        && keywords.attributes.iter().any(|(name, value)| name == "ceil_mode" && *value == Attribute::Int(1));
    let mut pool = pool.with_attributes(keywords.attributes)?;
    if literal {
        pool = pool.ceil_rule(CeilRule::CeilLiteral);
    }
    Ok(with_pool_options!(pool, keywords.options, "MaxPool",
        "ceil_rule" => ceil_rule, "same_padding" => same_padding, "size_rounding" => size_rounding,
        "pads_limit" => pads_limit))
}

fn global_max_pool(preset: &str, keywords: Keywords) -> Fallible<GlobalMaxPool> {
    if preset != "onnx" {
        return Err(unknown_preset(preset, "onnx"));
    }
    keywords.no_attributes("GlobalMaxPool")?;
    let pool = GlobalMaxPool::new();
    Ok(with_pool_options!(pool, keywords.options, "GlobalMaxPool"))
}

fn adaptive_max_pool(preset: &str, mut keywords: Keywords) -> Fallible<AdaptiveMaxPool> {
    let output_size = keywords.require("AdaptiveMaxPool", "output_size")?;
    keywords.no_attributes("AdaptiveMaxPool")?;
    let pool = match preset {
        "openvino" => AdaptiveMaxPool::openvino(output_size),
        "pytorch" => AdaptiveMaxPool::pytorch(output_size),
        _ => return Err(unknown_preset(preset, "openvino, pytorch")),
    };
    Ok(with_pool_options!(pool, keywords.options, "AdaptiveMaxPool"))
}

/// The unpool of a preset and keywords.
pub(crate) fn unpool(preset: &str, mut keywords: Keywords) -> Fallible<MaxUnpool> {
    let kernel_shape = keywords.require("MaxUnpool", "kernel_shape")?;
    let mut unpool = match preset {
        "onnx" => MaxUnpool::onnx(kernel_shape),
        "onnx_after_1_23" => MaxUnpool::onnx_after_1_23(kernel_shape),
        "onnxruntime" => MaxUnpool::onnxruntime(kernel_shape),
        "onnxruntime_nhwc" => MaxUnpool::onnxruntime_nhwc(kernel_shape),
        "pytorch" => MaxUnpool::pytorch(kernel_shape),
        _ => {
            return Err(unknown_preset(preset, "onnx, onnx_after_1_23, onnxruntime, onnxruntime_nhwc, pytorch"));
        }
    };
    if let Some(output_shape) = keywords.take("output_shape")? {
        unpool = unpool.output_shape(output_shape);
    }
    set_unpool_options(unpool, keywords)
}

/// The inverse of a pool on an input of this shape.
pub(crate) fn inverse(pool: &dyn Pooling, input_shape: &[usize], keywords: Keywords) -> Fallible<MaxUnpool> {
    set_unpool_options(MaxUnpool::inverse_of(pool, input_shape), keywords)
}

fn set_unpool_options(unpool: MaxUnpool, keywords: Keywords) -> Fallible<MaxUnpool> {
    let mut unpool = unpool.with_attributes(keywords.attributes)?;
    for (name, value) in keywords.options {
        unpool = match name.as_str() {
            "layout" => unpool.layout(value.parse()?),
            "index_layout" => unpool.index_layout(value.parse()?),
            "flatten" => unpool.flatten(value.parse()?),
            "index_order" => unpool.index_order(value.parse()?),
            "unpool_space" => unpool.unpool_space(value.parse()?),
            "unpool_min_size" => unpool.unpool_min_size(value.parse()?),
            "duplicates" => unpool.duplicates(value.parse()?),
            "out_of_bounds" => unpool.out_of_bounds(value.parse()?),
            "outside_window" => unpool.outside_window(value.parse()?),
            other => return Err(unknown("MaxUnpool", other)),
        };
    }
    Ok(unpool)
}

/// An index convention on a tensor of this shape: N, C, then the spatial extents.
pub(crate) fn index_space(shape: &[usize], keywords: Keywords) -> Fallible<IndexSpace> {
    let [batch, channels, extents @ ..] = shape else {
        return Err(PlanError::Rank { rank: shape.len(), max_spatial: wgpu_pooling::MAX_SPATIAL_AXES }.into());
    };
    keywords.no_attributes("ConvertIndices")?;
    let mut space = IndexSpace::new(*batch, *channels, extents);
    for (name, value) in keywords.options {
        space = match name.as_str() {
            "flatten" => space.with_flatten(value.parse()?),
            "index_order" => space.with_order(value.parse()?),
            "index_layout" => space.with_layout(value.parse()?),
            other => return Err(unknown("ConvertIndices", other)),
        };
    }
    Ok(space)
}

/// An index type by its name in numpy, which is the value of this argument.
pub(crate) fn index_type(argument: &'static str, name: &Bound<'_, PyAny>) -> Fallible<IndexType> {
    let name = text(argument, name)?;
    match name.as_str() {
        "int32" => Ok(IndexType::I32),
        "int64" => Ok(IndexType::I64),
        _ => Err(PlanError::UnknownValue { attribute: argument, value: name, expected: "int32, int64" }.into()),
    }
}

/// A shape of Python: whole numbers that are not negative.
pub(crate) fn extents(name: &'static str, given: &Bound<'_, PyAny>) -> Fallible<Vec<usize>> {
    let given_items = items(given).ok_or_else(|| wrong_type(name, given, "a list of whole numbers"))?;
    let extent = |(axis, item): (usize, &Bound<'_, PyAny>)| {
        let value = integer(name, item)?;
        usize::try_from(value).map_err(|_| PlanError::Negative { attribute: name, axis, value }.into())
    };
    given_items.iter().enumerate().map(extent).collect()
}
