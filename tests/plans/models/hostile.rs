//! Files from strangers: cut off, mutated, nested without end. The reader gives an error or a model, and neither panics
//! nor takes more memory or time than its limits allow.

use wgpu_pooling::onnx::{FileTensor, Model, ModelError};
use wgpu_pooling::{Attribute, Preset};

use super::build::{
    all, branch, call, function, graph_attribute, ints, model, new, next, node, pool, reference, tensor, text, value,
};

/// A model with everything that the reader looks at.
fn whole() -> Vec<u8> {
    let branch = new().message(1, pool(&["x"], &["b"], 2)).message(12, value("b", 1, &[]));
    let unpool = node("MaxUnpool", &["y", "i", "s"], &["z"]).message(5, ints("kernel_shape", &[2, 2]));
    let own = node("MaxPool", &["a"], &["b"]).message(5, reference("kernel_shape", "kernel"));
    let own = function("Own", 22, new().texts(4, &["a"]).texts(5, &["b"]).message(7, own));
    let external = new().bytes(1, "location").bytes(2, "weights");
    let graph = new()
        .message(1, pool(&["x"], &["y", "i"], 2).message(5, text("auto_pad", "NOTSET")))
        .message(1, unpool)
        .message(1, node("If", &["c"], &["w"]).message(5, graph_attribute("then_branch", branch)))
        .message(1, call("Own", &["x"], &["v"]).message(5, ints("kernel", &[3, 3])))
        .message(5, tensor("s", 7, &[4]).packed(7, &[1, 1, 9, 9]))
        .message(5, tensor("e", 1, &[4]).message(13, external).int(14, 1))
        .message(11, value("x", 1, &[1, 1, 8, 8]))
        .message(12, value("z", 1, &[]))
        .message(13, value("y", 1, &[1, 1, 7, 7]));
    model(22, graph).message(25, own).0
}

/// Everything that a caller can ask of a model.
fn ask(bytes: Vec<u8>) -> Result<usize, ModelError> {
    let model = Model::from_onnx(bytes)?;
    for node in model.nodes() {
        for preset in [Preset::Onnx, Preset::OnnxRuntime, Preset::OpenVino, Preset::PyTorch] {
            let _ = node.plan(preset);
        }
        for trap in node.traps() {
            assert!(!trap.to_string().is_empty());
        }
    }
    for number in 0..10 {
        let _ = model.constant(number).map(|tensor| tensor.integers());
    }
    Ok(model.nodes().len())
}

#[test]
fn every_beginning_of_a_model_is_an_error_or_a_model() {
    let whole = whole();
    assert_eq!(ask(whole.clone()), Ok(4));
    for length in 0..whole.len() {
        let _ = ask(whole[..length].to_vec());
    }
}

#[test]
fn mutated_models_do_not_panic() {
    let whole = whole();
    let mut state = 17;
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(&mut state) % 4 {
            let at = next(&mut state) % bytes.len();
            match next(&mut state) % 4 {
                0 => bytes[at] = next(&mut state) as u8,
                1 => bytes[at] ^= 1 << (next(&mut state) % 8),
                2 => bytes.insert(at, [0, 1, 0x7F, 0x80, 0xFF][next(&mut state) % 5]),
                _ => drop(bytes.remove(at)),
            }
        }
        read += usize::from(ask(bytes).is_ok());
    }
    assert!(read > 1_000 && read < 19_000, "{read} of 20000 mutated models were read");
}

#[test]
fn mutated_tensors_do_not_panic() {
    let whole = tensor("t", 1, &[2, 2]).bytes(4, [1.0f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat()).0;
    assert_eq!(FileTensor::read(&whole).unwrap().shape(), [2, 2]);
    let mut state = 5;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(&mut state) % 3 {
            let at = next(&mut state) % bytes.len();
            bytes[at] = next(&mut state) as u8;
        }
        let _ = FileTensor::read(&bytes).map(|tensor| tensor.integers());
    }
}

#[test]
fn graphs_without_end_are_refused() {
    let mut graph = new().message(1, pool(&["x"], &["y"], 1));
    for _ in 0..100_000 {
        graph = new().message(1, branch(graph));
        if graph.0.len() > 60_000 {
            break;
        }
    }
    let error = ask(model(22, graph).0).unwrap_err();
    let what = "graphs and functions inside each other";
    assert_eq!(error, ModelError::TooMany { what, found: 65, limit: 64 });
}

/// Functions that call each other twice, forty deep: a million million calls.
#[test]
fn functions_that_call_each_other_come_to_an_end() {
    let mut build = model(22, new().message(1, call("f0", &[], &[])));
    for number in 0..40 {
        let next = new().message(7, call(&format!("f{}", number + 1), &[], &[]));
        build = build.message(25, function(&format!("f{number}"), 22, all([next.clone(), next])));
    }
    assert!(matches!(ask(build.0), Err(ModelError::TooMuchWork { .. })));
    let own = call("f", &[], &[]);
    let body = new().message(7, own.clone()).message(7, new());
    let forever = model(22, new().message(1, own)).message(25, function("f", 22, body));
    assert!(matches!(ask(forever.0), Err(ModelError::TooMany { .. })));
}

#[test]
fn more_of_anything_than_is_read_is_refused() {
    let long = model(22, new().message(1, node("MaxPool", &["x"], &["y"]).message(5, ints("kernel_shape", &[1; 300]))));
    let long = Model::from_onnx(long.0).unwrap();
    assert!(matches!(long.nodes()[0].node(), Err(ModelError::TooMany { limit: 256, .. })));
    let operands = model(22, new().message(1, node("MaxPool", &["x"; 9], &["y"])));
    let operands = Model::from_onnx(operands.0).unwrap();
    assert!(matches!(operands.nodes()[0].node(), Err(ModelError::TooMany { found: 9, .. })));
    let axes = model(22, new().message(1, pool(&["x"], &["y"], 1)).message(11, value("x", 1, &[1; 65])));
    assert!(matches!(Model::from_onnx(axes.0), Err(ModelError::TooMany { limit: 64, .. })));
}

#[test]
fn a_text_that_is_no_text_is_refused_by_the_node() {
    let wrong = text("auto_pad", [0xFF, 0xFE]);
    let build = model(22, new().message(1, pool(&["x"], &["y"], 1).message(5, wrong)));
    let model = Model::from_onnx(build.0).unwrap();
    let node = model.nodes()[0].node().unwrap();
    assert_eq!(node.attribute_values()[1], ("auto_pad".to_owned(), Attribute::Other));
    assert!(node.operator().is_err());
}
