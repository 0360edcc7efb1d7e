//! Inputs to begin with: the nodes of the recorded vectors, written as the targets read them.

use serde_json::Value;
use support::place;

/// A tag in front of a number: all eight bytes follow.
const WHOLE: u8 = 0xFF;

const FILES: [&str; 6] =
    ["ort_maxpool", "ort_maxpool_nhwc", "spec_defaults", "spec_errors", "ort_maxunpool", "ort_maxunpool_nhwc"];

/// For the target `plan`: kind, shape, dtype, operator and its lists, as `cases::plan` reads them.
pub fn plans() -> Vec<Vec<u8>> {
    let folder = place::root().join("tests/vectors");
    let mut seeds = Vec::new();
    for file in FILES {
        let path = folder.join(file).with_extension("json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        seeds.extend(file["cases"].as_array().into_iter().flatten().filter_map(seed));
    }
    assert!(seeds.len() > 100, "{} seeds", seeds.len());
    seeds
}

fn seed(case: &Value) -> Option<Vec<u8>> {
    let attributes = &case["attrs"];
    let list = |value: &Value| -> Option<Vec<i64>> { value.as_array()?.iter().map(Value::as_i64).collect() };
    let shape = list(&case["inputs"]["x"]["shape"])?;
    let axes = u8::try_from(shape.len()).ok()?.checked_sub(2).filter(|&axes| axes < 4)?;
    let unpools = case["op"] == "MaxUnpool";
    // The first tag asks for up to three axes; then the operator, and X's shape with its tag.
    let mut bytes = vec![0, axes, if unpools { 4 } else { 0 }];
    let write = |bytes: &mut Vec<u8>, numbers: &[i64]| {
        // This tag asks for as many numbers as there are axes.
        bytes.push(0);
        for number in numbers {
            bytes.push(WHOLE);
            bytes.extend(number.to_le_bytes());
        }
    };
    write(&mut bytes, &shape);
    bytes.push(0);
    let lists = if unpools { ["strides", "pads"].as_slice() } else { &["strides", "dilations", "pads"] };
    // These tags ask for neither an inverse nor a preset. A pool has a tag in front that asks for a MaxPool.
    if unpools {
        bytes.push(7);
    } else {
        bytes.push(3);
    }
    let kernel = list(&attributes["kernel_shape"])?;
    if unpools {
        write(&mut bytes, &kernel);
    } else {
        write(&mut bytes, &kernel);
        bytes.push(9);
    }
    let given = |number: usize| list(&attributes[lists[number]]);
    bytes.push((0..lists.len()).filter(|&number| given(number).is_some()).fold(0, |options, bit| options | 1 << bit));
    for number in 0..lists.len() {
        if let Some(values) = given(number) {
            write(&mut bytes, &values);
        }
    }
    bytes.push(1);
    Some(bytes)
}
