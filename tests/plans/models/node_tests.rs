//! ONNX's own node tests through the reader: their plans, and their results with the recorded inputs.

use std::path::{Path, PathBuf};

use support::place;
use wgpu_pooling::onnx::{FileTensor, Model, ModelError, ValueSource};
use wgpu_pooling::{DType, ExecuteError, Plan, PlanError, Preset, Reference, TensorRef};

fn folders() -> Vec<PathBuf> {
    let root = place::root().join("tests/onnx-node-tests");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.join("model.onnx").is_file()).collect();
    folders.sort();
    folders
}

fn recorded(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join("test_data_set_0").join(name)).unwrap()
}

#[test]
fn every_node_test_agrees_bit_for_bit() {
    let folders = folders();
    assert_eq!(folders.len(), 23);
    for folder in &folders {
        let model = Model::open(&folder.join("model.onnx")).unwrap();
        let [node] = model.nodes() else { panic!("{}: {:?}", folder.display(), model.nodes()) };
        let files: Vec<_> =
            (0..model.inputs().len()).map(|number| recorded(folder, &format!("input_{number}.pb"))).collect();
        let tensors: Vec<_> = files.iter().map(|file| FileTensor::read(file).unwrap()).collect();
        for (input, tensor) in node.inputs().iter().zip(&tensors) {
            assert_eq!(input.dtype, Some(tensor.dtype()), "{}", folder.display());
            assert_eq!(input.shape.as_deref(), Some(tensor.shape()), "{}", folder.display());
        }
        let views: Vec<_> = tensors.iter().map(|tensor| tensor.view().unwrap()).collect();
        let plan = node.node().unwrap().plan(&views, node.outputs().len()).unwrap();
        // Only `output_shape` is no part of the model.
        match node.plan(Preset::Onnx) {
            Ok(known) => assert_eq!(known, plan, "{}", folder.display()),
            Err(error) => assert_eq!(
                error.to_string(),
                "the model does not say the values of output_shape (\"output_shape\")",
                "{}",
                folder.display()
            ),
        }
        let (ran, outputs) = node.run_blocking(&Reference, Preset::Onnx, &views).unwrap();
        assert_eq!(ran, plan, "{}", folder.display());
        for (number, (name, source)) in model.outputs().iter().enumerate() {
            let ValueSource::Output { node: 0, output } = *source else { panic!("{name}: {source:?}") };
            let file = recorded(folder, &format!("output_{number}.pb"));
            let expected = FileTensor::read(&file).unwrap();
            let own = &outputs[output];
            assert_eq!((own.name(), own.dtype()), (&name[..], expected.dtype()), "{}", folder.display());
            assert_eq!((own.shape(), own.bytes()), (expected.shape(), expected.bytes()), "{}", folder.display());
        }
        assert!(matches!(plan, Plan::Pool(_) | Plan::Unpool(_)));
    }
}

#[test]
fn what_a_node_does_not_take_is_refused() {
    let model = Model::open(&folders()[2].join("model.onnx")).unwrap();
    let node = &model.nodes()[0];
    let x = TensorRef::new(DType::F32, &[1, 1, 4], &[0; 16]).unwrap();
    let run = |inputs: &[TensorRef<'_>]| node.run_blocking(&Reference, Preset::Onnx, inputs).unwrap_err();
    assert!(matches!(run(&[]), ModelError::Plan(PlanError::OperandCount { actual: 0, .. })));
    assert!(matches!(run(&[x, x]), ModelError::Plan(PlanError::OperandCount { actual: 2, .. })));
    // An index that names nothing is an error of the computation.
    let unpool = folders().into_iter().find(|folder| folder.ends_with("test_maxunpool_export_without_output_shape"));
    let model = Model::open(&unpool.unwrap().join("model.onnx")).unwrap();
    let (x, far) = ([0; 16], [99i64; 4].map(i64::to_ne_bytes).concat());
    let inputs = [(DType::F32, &x[..]), (DType::I64, &far)];
    let inputs = inputs.map(|(dtype, bytes)| TensorRef::new(dtype, &[1, 1, 2, 2], bytes).unwrap());
    let error = model.nodes()[0].run_blocking(&Reference, Preset::Onnx, &inputs).unwrap_err();
    assert!(matches!(error, ModelError::Execute(ExecuteError::IndexOutOfRange { value: 99, .. })), "{error}");
}
