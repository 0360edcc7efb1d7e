//! ONNX's own node tests through the reader: their plans, and their results with the recorded inputs.

use std::path::{Path, PathBuf};

use support::place;
use wgpu_pooling::onnx::{FileTensor, Model, ValueSource};
use wgpu_pooling::{Backend, Plan, Preset, Reference, TensorMut};

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
        let mut bytes: Vec<Vec<u8>> = plan.outputs().iter().map(|output| vec![0; output.bytes() as usize]).collect();
        let outputs = plan.outputs().iter().zip(&mut bytes);
        let mut outputs: Vec<_> =
            outputs.map(|(output, bytes)| TensorMut::new(output.dtype, &output.shape, bytes).unwrap()).collect();
        Reference.run_blocking(&plan, &views[..plan.inputs().len()], &mut outputs).unwrap();
        for (number, (name, source)) in model.outputs().iter().enumerate() {
            let ValueSource::Output { node: 0, output } = *source else { panic!("{name}: {source:?}") };
            let file = recorded(folder, &format!("output_{number}.pb"));
            let expected = FileTensor::read(&file).unwrap();
            assert_eq!(plan.outputs()[output].shape, expected.shape(), "{}", folder.display());
            assert_eq!(bytes[output], expected.bytes(), "{}", folder.display());
        }
        assert!(matches!(plan, Plan::Pool(_) | Plan::Unpool(_)));
    }
}
