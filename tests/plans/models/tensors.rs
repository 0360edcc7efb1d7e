//! Tensors in a model, in files of their own, and beside a model.

use std::path::PathBuf;

use wgpu_pooling::DType;
use wgpu_pooling::onnx::{FileTensor, Model, ModelError, ValueSource};

use super::build::{Build, model, new, pool, tensor, value};

fn bytes(build: Build) -> (DType, Vec<u8>) {
    let tensor = FileTensor::read(&build.0).unwrap();
    (tensor.dtype(), tensor.bytes().to_vec())
}

#[test]
fn elements_are_read_from_each_list() {
    let floats = [1.5f32, -2.0].map(f32::to_le_bytes);
    assert_eq!(bytes(tensor("", 1, &[2]).bytes(4, floats.concat())), (DType::F32, floats.concat()));
    let doubles = [1.5f64, -2.0].map(f64::to_le_bytes);
    assert_eq!(bytes(tensor("", 11, &[2]).bytes(10, doubles.concat())), (DType::F64, doubles.concat()));
    for (number, dtype, field, width) in [
        (2, DType::U8, 5, 1),
        (3, DType::I8, 5, 1),
        (4, DType::U16, 5, 2),
        (5, DType::I16, 5, 2),
        (6, DType::I32, 5, 4),
        (7, DType::I64, 7, 8),
        (10, DType::F16, 5, 2),
        (12, DType::U32, 11, 4),
        (13, DType::U64, 11, 8),
        (16, DType::Bf16, 5, 2),
    ] {
        let expected: Vec<u8> = [3i64, 100].iter().flat_map(|value| value.to_le_bytes()[..width].to_vec()).collect();
        let one_by_one = tensor("", number, &[2]).each(field, &[3, 100]);
        assert_eq!(bytes(one_by_one), (dtype, expected.clone()));
        assert_eq!(bytes(tensor("", number, &[1, 2]).packed(field, &[3, 100])), (dtype, expected));
    }
    assert_eq!(bytes(tensor("", 3, &[1]).each(5, &[-1])), (DType::I8, vec![0xFF]));
    assert_eq!(bytes(tensor("", 7, &[]).each(7, &[-1])), (DType::I64, vec![0xFF; 8]), "a scalar");
    assert_eq!(bytes(tensor("", 7, &[0, 3])), (DType::I64, vec![]), "no elements");
}

#[test]
fn tensors_of_a_wrong_length_or_type_are_refused() {
    let read = |build: Build| FileTensor::read(&build.0).map(|_| ()).unwrap_err();
    let short = ModelError::TensorLength { name: "t".to_owned(), expected: 12, actual: 8 };
    assert_eq!(read(tensor("t", 1, &[3]).bytes(9, [0; 8])), short);
    assert!(matches!(read(tensor("", 1, &[1]).bytes(9, [0; 8])), ModelError::TensorLength { expected: 4, .. }));
    assert!(matches!(read(tensor("", 2, &[1]).each(5, &[1, 2])), ModelError::TooMany { .. }));
    assert_eq!(read(tensor("", 8, &[1])), ModelError::ElementType { number: 8 });
    assert_eq!(read(tensor("", 99, &[1])), ModelError::ElementType { number: 99 });
    assert!(matches!(read(tensor("", 1, &[-1])), ModelError::Malformed { .. }));
    assert!(matches!(read(tensor("", 1, &[1 << 40, 1 << 40])), ModelError::Malformed { .. }));
    let huge = read(tensor("", 1, &[1 << 40]).bytes(9, [0; 4]));
    assert!(matches!(huge, ModelError::TensorLength { actual: 4, .. }), "no memory is taken for what is not there");
    assert!(matches!(read(tensor("", 1, &[1]).int(14, 1)), ModelError::External { .. }));
}

/// A model whose node pools an initializer that lies in another file.
pub fn external(entries: &[(&str, &str)], shape: &[i64]) -> Build {
    let entries = entries.iter().map(|(key, text)| new().bytes(1, key).bytes(2, text));
    let tensor = entries.fold(tensor("w", 2, shape).int(14, 1), |tensor, entry| tensor.message(13, entry));
    model(22, new().message(1, pool(&["w"], &["y"], 1)).message(5, tensor).message(12, value("y", 2, &[])))
}

pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("models").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("inner/data")).unwrap();
    std::fs::write(folder.join("outside"), [9; 64]).unwrap();
    std::fs::write(folder.join("inner/data/weights"), (0..64).collect::<Vec<u8>>()).unwrap();
    folder
}

/// What becomes of the constant of a model in the folder `inner`.
fn read(folder: &std::path::Path, entries: &[(&str, &str)], shape: &[i64]) -> Result<Vec<u8>, ModelError> {
    let path = folder.join("inner/model.onnx");
    std::fs::write(&path, external(entries, shape).0).unwrap();
    let model = Model::open(&path).unwrap();
    let ValueSource::Constant(number) = model.nodes()[0].inputs()[0].source else { panic!("{:?}", model.nodes()) };
    assert_eq!(model.nodes()[0].inputs()[0].dtype, Some(DType::U8), "shape and type need no data");
    model.constant(number).map(|tensor| tensor.bytes().to_vec())
}

#[test]
fn external_data_are_read_beside_the_model() {
    let folder = folder("beside");
    let at = |offset, length| [("location", "data/weights"), ("offset", offset), ("length", length)];
    assert_eq!(read(&folder, &at("3", "4"), &[1, 1, 4]), Ok(vec![3, 4, 5, 6]));
    assert_eq!(read(&folder, &at("60", "4"), &[1, 1, 4]), Ok(vec![60, 61, 62, 63]));
    assert_eq!(read(&folder, &[("location", "data/weights")], &[1, 1, 2]), Ok(vec![0, 1]));
    let with_a_dot = [("location", "./data/weights"), ("checksum", "x")];
    assert_eq!(read(&folder, &with_a_dot, &[1, 1, 2]), Ok(vec![0, 1]));
}

#[test]
fn external_data_elsewhere_and_of_another_length_are_refused() {
    let folder = folder("elsewhere");
    let absolute = folder.join("outside").display().to_string();
    for location in ["../outside", "data/../../outside", &absolute, "", "..", "data", "missing", "C:\\x", "a\\..\\b"] {
        let error = read(&folder, &[("location", location)], &[1, 1, 2]).unwrap_err();
        assert!(matches!(error, ModelError::External { .. }), "{location:?}: {error}");
    }
    let most = u64::MAX.to_string();
    for (offset, length, shape) in [
        ("65", "1", 1),
        ("63", "2", 2),
        (&most[..], "2", 2),
        ("1", &most, 2),
        ("-1", "2", 2),
        ("0", "-1", 2),
        ("0", "99999999999999999999999", 2),
        ("0", "3", 2),
        ("0", "2", 3),
        ("", "2", 2),
    ] {
        let entries = [("location", "data/weights"), ("offset", offset), ("length", length)];
        let error = read(&folder, &entries, &[1, 1, shape]).unwrap_err();
        assert!(matches!(error, ModelError::External { .. }), "{offset} {length}: {error}");
    }
    let huge = read(&folder, &[("location", "data/weights")], &[1, 1, 1 << 50]).unwrap_err();
    assert!(matches!(huge, ModelError::External { .. }), "{huge}");
    let model = Model::from_onnx(external(&[("location", "data/weights")], &[1, 1, 2]).0).unwrap();
    assert!(matches!(model.constant(0), Err(ModelError::External { .. })), "no folder is known");
}
