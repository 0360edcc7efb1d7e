//! Reads a directory of conformance vectors: manifests (`poolvec-1`) and the tensors beside them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use wgpu_pooling::{Attribute, DType};

use super::case::{Case, Expectation, Expected, Input};
use super::compare::NanRule;
use super::generated::{Digest, Generator, number_bits};
use super::recipe::Recipe;
use super::tensors::{RawTensor, dtype_named, read_safetensors};

/// Attributes in the peer's own words. They repeat what the options say, and only the options are read.
const PEER_WORDS: &[&str] = &["rounding_type", "axis", "index_element_type", "include_batch_in_index"];

/// The manifests of a directory, in the order of their names.
pub fn manifests(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", directory.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The cases of one manifest.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    let in_file = |error: String| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| in_file(error.to_string()))?;
    let manifest: Value = serde_json::from_slice(&bytes).map_err(|error| in_file(error.to_string()))?;
    let manifest = Fields::of(&manifest).map_err(in_file)?;
    let format = manifest.text("format").map_err(in_file)?;
    if format != "poolvec-1" {
        return Err(in_file(format!("unknown format {format:?}")));
    }
    let tensors = read_safetensors(&path.with_file_name(manifest.text("tensors").map_err(in_file)?))?;
    let cases = manifest.array("cases").map_err(in_file)?;
    let count = manifest.get("case_count").and_then(Value::as_u64);
    if count != Some(cases.len() as u64) {
        return Err(in_file(format!("case_count is {count:?}, but there are {} cases", cases.len())));
    }
    cases
        .iter()
        .map(|case| {
            let fields = Fields::of(case).map_err(in_file)?;
            let id = fields.text("id").map_err(in_file)?;
            read_case(id, fields, &tensors).map_err(|error| in_file(format!("{id}: {error}")))
        })
        .collect()
}

fn read_case(id: &str, fields: Fields, tensors: &HashMap<String, RawTensor>) -> Result<Case, String> {
    let dtype = dtype_named(fields.text("dtype")?)?;
    let inputs = fields.object("inputs")?;
    let x = if inputs.object("x")?.get("generated").is_some() {
        Input::Generated(generator(fields.object("generated")?.object("x")?)?)
    } else {
        Input::Stored(stored(inputs.object("x")?, tensors)?)
    };
    if x.dtype() != dtype {
        return Err(format!("x is {:?}, but the case is {dtype:?}", x.dtype()));
    }
    let indices = inputs.optional_object("indices")?.map(|given| stored(given, tensors)).transpose()?;
    Ok(Case {
        name: format!("vectors::{id}"),
        recipe: recipe(fields)?,
        x,
        indices,
        expectation: expectation(fields, dtype, tensors)?,
        specialised: false,
        nan: match fields.get("nan_payload").map(Value::as_str) {
            None => NanRule::Any,
            Some(Some("exact")) => NanRule::Exact,
            Some(other) => return Err(format!("unknown nan_payload {other:?}")),
        },
    })
}

fn recipe(fields: Fields) -> Result<Recipe, String> {
    let operator = fields.text("op")?.to_owned();
    let attributes = fields.object("attrs")?.0.iter().filter(|(name, _)| !PEER_WORDS.contains(&name.as_str()));
    let attributes =
        attributes.map(|(name, value)| Ok((name.clone(), attribute(name, value)?))).collect::<Result<_, String>>()?;
    let mut options = vec![("layout".to_owned(), fields.text("layout")?.to_owned())];
    for (name, value) in fields.object("options")?.0 {
        let value = value.as_str().ok_or_else(|| format!("options.{name} is not a string"))?;
        options.push((name.clone(), value.to_owned()));
    }
    // The one option whose absence is not the library's default.
    if operator == "MaxUnpool" && options.iter().all(|(name, _)| name != "unpool_min_size") {
        options.push(("unpool_min_size".to_owned(), "none".to_owned()));
    }
    let output_shape = fields.get("output_shape").map(integers).transpose()?;
    Ok(Recipe { operator, attributes, options, output_shape })
}

fn attribute(name: &str, value: &Value) -> Result<Attribute, String> {
    if name == "activation_params" {
        let values = value.as_array().ok_or_else(|| format!("{name} is not a list"))?;
        let floats = values.iter().map(|value| Ok(f32::from_bits(number_bits(DType::F32, value)? as u32)));
        return Ok(Attribute::Floats(floats.collect::<Result<_, String>>()?));
    }
    match value {
        Value::String(text) => Ok(Attribute::String(text.clone())),
        Value::Array(_) => integers(value).map(Attribute::Ints),
        other => other.as_i64().map(Attribute::Int).ok_or_else(|| format!("{name} is {other}")),
    }
}

fn expectation(fields: Fields, dtype: DType, tensors: &HashMap<String, RawTensor>) -> Result<Expectation, String> {
    if fields.get("expect_error").and_then(Value::as_bool) == Some(true) {
        return match fields.text("strictness")? {
            "must_reject" => Ok(Expectation::MustReject),
            "peer_limit" => Ok(Expectation::MayReject),
            other => Err(format!("unknown strictness {other:?}")),
        };
    }
    let given = fields.object("expected")?;
    let expected = |given: Fields, dtype: DType| {
        if given.get("digest").is_some() {
            digest(given, dtype).map(Expected::Digest)
        } else {
            stored(given, tensors).map(Expected::Stored)
        }
    };
    Ok(Expectation::Output {
        y: expected(given.object("y")?, dtype)?,
        // The index type is that of the stored tensor; a digest of indices is one of 64-bit words.
        indices: given.optional_object("indices")?.map(|given| expected(given, DType::I64)).transpose()?,
    })
}

fn stored(given: Fields, tensors: &HashMap<String, RawTensor>) -> Result<RawTensor, String> {
    let name = given.text("tensor")?;
    let tensor = tensors.get(name).ok_or_else(|| format!("there is no tensor {name}"))?;
    if extents(given.required("shape")?)? != tensor.shape {
        return Err(format!("the tensor {name} has the shape {:?}", tensor.shape));
    }
    Ok(tensor.clone())
}

fn generator(given: Fields) -> Result<Generator, String> {
    let kind = given.text("kind")?;
    if kind != "splitmix64_table" {
        return Err(format!("unknown kind of generated tensor {kind:?}"));
    }
    let dtype = dtype_named(given.text("dtype")?)?;
    let table = given.array("table")?.iter().map(|value| number_bits(dtype, value)).collect::<Result<Vec<_>, _>>()?;
    if table.is_empty() {
        return Err("the table is empty".to_owned());
    }
    let seed = given.required("seed")?.as_u64().ok_or("the seed is not an unsigned integer")?;
    Ok(Generator { dtype, shape: extents(given.required("shape")?)?, seed, table })
}

fn digest(given: Fields, dtype: DType) -> Result<Digest, String> {
    let text = given.text("digest")?;
    let digest = u64::from_str_radix(text, 16).map_err(|error| format!("digest {text:?}: {error}"))?;
    let at = extents(given.required("sample_at")?)?;
    let samples = given.array("sample")?;
    if at.len() != samples.len() {
        return Err(format!("{} sample positions, but {} samples", at.len(), samples.len()));
    }
    let bits = samples.iter().map(|sample| number_bits(dtype, sample)).collect::<Result<Vec<_>, _>>()?;
    Ok(Digest { dtype, shape: extents(given.required("shape")?)?, digest, samples: at.into_iter().zip(bits).collect() })
}

fn integers(value: &Value) -> Result<Vec<i64>, String> {
    let integer = |value: &Value| value.as_i64().ok_or_else(|| format!("{value} is not an integer"));
    value.as_array().ok_or_else(|| format!("{value} is not a list"))?.iter().map(integer).collect()
}

fn extents(value: &Value) -> Result<Vec<usize>, String> {
    let extent = |value: i64| usize::try_from(value).map_err(|_| format!("{value} is not an extent"));
    integers(value)?.into_iter().map(extent).collect()
}

/// The fields of a JSON object, with errors that name the field.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn of(value: &'a Value) -> Result<Self, String> {
        value.as_object().map(Fields).ok_or_else(|| format!("{value} is not an object"))
    }

    /// The field, unless it is absent or null.
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn required(self, name: &str) -> Result<&'a Value, String> {
        self.get(name).ok_or_else(|| format!("there is no field {name:?}"))
    }

    fn text(self, name: &str) -> Result<&'a str, String> {
        self.required(name)?.as_str().ok_or_else(|| format!("{name} is not a string"))
    }

    fn array(self, name: &str) -> Result<&'a [Value], String> {
        self.required(name)?.as_array().map(Vec::as_slice).ok_or_else(|| format!("{name} is not a list"))
    }

    fn object(self, name: &str) -> Result<Fields<'a>, String> {
        Fields::of(self.required(name)?).map_err(|error| format!("{name}: {error}"))
    }

    fn optional_object(self, name: &str) -> Result<Option<Fields<'a>>, String> {
        self.get(name).map(|_| self.object(name)).transpose()
    }
}
