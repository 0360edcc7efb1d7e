//! Pooling nodes inside other nodes and inside functions, and what is known of their inputs there.

use wgpu_pooling::onnx::{Model, ModelError, ValueSource};
use wgpu_pooling::{PlanError, Preset};

use super::build::{Build, call, function, graph_attribute, ints, model, new, node, pool, reference, tensor, value};

fn read(build: Build) -> Model {
    Model::from_onnx(build.0).unwrap()
}

fn shape(model: &Model, number: usize) -> Vec<usize> {
    model.nodes()[number].plan(Preset::Onnx).unwrap().outputs()[0].shape.clone()
}

#[test]
fn graphs_inside_nodes_see_what_is_outside() {
    let inner = new().message(1, pool(&["x"], &["then_y"], 1)).message(12, new().bytes(1, "then_y"));
    let deep = new().message(1, pool(&["then_y", ""], &["z"], 1));
    // The body of a loop has inputs of its own, which no file has; it hides the x outside.
    let body = new().message(1, pool(&["x"], &["y"], 1)).message(11, value("x", 11, &[1, 1, 6]));
    let choice = node("If", &["c"], &["y"]).bytes(3, "choice").message(
        5,
        graph_attribute(
            "then_branch",
            inner.message(1, node("If", &["c"], &["w"]).message(5, graph_attribute("else_branch", deep))),
        ),
    );
    let round = node("Loop", &["n", "c", "x"], &["v"]).message(5, graph_attribute("body", body));
    let graph = new()
        .message(1, choice)
        .message(1, round)
        .message(11, value("x", 1, &[1, 2, 8]))
        .message(12, value("y", 1, &[]));
    let model = read(model(22, graph));
    let scopes: Vec<_> = model.nodes().iter().map(|node| node.scope()).collect();
    assert_eq!(scopes, ["choice.then_branch", "choice.then_branch/If.else_branch", "Loop.body"]);
    assert_eq!((shape(&model, 0), shape(&model, 1), shape(&model, 2)), (vec![1, 2, 7], vec![1, 2, 6], vec![1, 1, 5]));
    let sources: Vec<_> = model.nodes().iter().map(|node| node.inputs()[0].source.clone()).collect();
    let loops = ValueSource::Elsewhere("Loop".to_owned());
    assert_eq!(sources, [ValueSource::Input(0), ValueSource::Output { node: 0, output: 0 }, loops]);
    assert_eq!(model.outputs(), [("y".to_owned(), ValueSource::Elsewhere("If".to_owned()))]);
}

/// A function `Own.Twice`, which pools twice: once with a kernel that its caller gives, once with its default.
fn twice() -> Build {
    let first = node("MaxPool", &["a"], &["b"]).message(5, reference("kernel_shape", "kernel"));
    let second = node("MaxPool", &["b"], &["c"]).message(5, reference("kernel_shape", "other"));
    let names = new().texts(4, &["a"]).texts(5, &["c"]).texts(6, &["kernel"]);
    function("Twice", 12, names.message(7, first).message(7, second).message(11, ints("other", &[4])))
}

#[test]
fn functions_are_walked_through_for_each_call() {
    let call = |name: &str, x: &str, y: &str, kernel| {
        call("Twice", &[x], &[y]).bytes(3, name).message(5, ints("kernel", &[kernel]))
    };
    let graph = new()
        .message(1, call("first", "x", "y", 3))
        .message(1, call("", "y", "z", 2))
        .message(11, value("x", 1, &[1, 1, 20]))
        .message(12, value("z", 1, &[]));
    let model = read(model(22, graph).message(25, twice()).message(8, new().bytes(1, "own").int(2, 1)));
    let scopes: Vec<_> = model.nodes().iter().map(|node| node.scope()).collect();
    assert_eq!(scopes, ["first.Twice", "first.Twice", "Twice.Twice", "Twice.Twice"]);
    // 20 - 2, 18 - 3, 15 - 1, 14 - 3.
    let shapes: Vec<_> = (0..4).map(|number| shape(&model, number)[2]).collect();
    assert_eq!(shapes, [18, 15, 14, 11]);
    assert_eq!(model.outputs()[0].1, ValueSource::Output { node: 3, output: 0 });
    // The opset is the function's.
    assert_eq!(model.nodes()[0].node().unwrap().opset(), 12);
}

#[test]
fn a_function_that_nothing_calls_lacks_its_callers_attributes() {
    let model = read(model(22, new()).message(25, twice()));
    assert_eq!(model.nodes()[0].scope(), "Twice, which nothing calls");
    assert_eq!(model.nodes()[0].node(), Err(ModelError::AttributeOfCaller { name: "kernel".to_owned() }));
}

#[test]
fn an_attribute_that_the_call_leaves_out_is_absent() {
    let call = call("Twice", &["x"], &["y"]);
    let model = read(model(22, new().message(1, call).message(11, value("x", 1, &[1, 1, 20]))).message(25, twice()));
    let error = model.nodes()[0].plan(Preset::Onnx).unwrap_err();
    let attribute = "kernel_shape";
    assert_eq!(error, ModelError::Plan(PlanError::MissingAttribute { operator: "MaxPool", attribute }));
}

#[test]
fn what_the_model_does_not_say_is_named() {
    let graph = new()
        .message(1, pool(&["x"], &["y"], 1))
        .message(1, pool(&["nothing"], &["z"], 1))
        .message(1, node("Relu", &["y"], &["r"]))
        .message(1, pool(&["r"], &["s"], 1))
        .message(1, node("MaxPool", &["x"], &["t"]).bytes(7, "com.ms.internal.nhwc"))
        .message(11, value("x", 1, &[-1, 1, 9]));
    let model = read(model(22, graph));
    let errors: Vec<_> = model.nodes().iter().map(|node| node.plan(Preset::Onnx).unwrap_err().to_string()).collect();
    assert_eq!(
        errors,
        [
            "the model does not say the shape of X (\"x\"): Model::with_sizes gives sizes to [\"N\"]",
            "the model does not say the shape of X (\"nothing\"): onnx.shape_inference.infer_shapes writes shapes and \
             types into ONNX models",
            "the model does not say the shape of X (\"r\"): onnx.shape_inference.infer_shapes writes shapes and types \
             into ONNX models",
            "the model imports no opset of the domain \"com.ms.internal.nhwc\"",
        ]
    );
    let elsewhere = |node: usize| model.nodes()[node].inputs()[0].source.clone();
    assert_eq!(elsewhere(1), ValueSource::Elsewhere(String::new()));
    assert_eq!(elsewhere(2), ValueSource::Elsewhere("Relu".to_owned()));
}

#[test]
fn extents_with_names_get_their_sizes() {
    let name = |name: &str| new().bytes(2, name);
    let info = |value: &str, extent: &str| {
        let shape = new().message(1, name("N")).message(1, new().int(1, 3)).message(1, name(extent));
        new().bytes(1, value).message(2, new().message(1, new().int(1, 1).message(2, shape)))
    };
    let graph = new()
        .message(1, pool(&["x"], &["y"], 1))
        .message(1, pool(&["y"], &["z"], 1))
        .message(1, node("Relu", &["z"], &["r"]))
        .message(1, pool(&["r"], &["s"], 1))
        .message(11, info("x", "W"))
        .message(13, info("r", "W - 2"));
    let model = read(model(22, graph));
    let symbols = |node: usize| &model.nodes()[node].inputs()[0].symbols[..];
    let none: [&str; 0] = [];
    assert_eq!(symbols(0), ["N", "W"]);
    assert_eq!(symbols(1), none);
    assert_eq!(symbols(2), ["N", "W - 2"]);
    let sizes = [("N", 5), ("W", 1), ("W", 9), ("W - 2", 7)];
    let sized = model.clone().with_sizes(&sizes).unwrap();
    assert_eq!((0..3).map(|number| shape(&sized, number)).collect::<Vec<_>>(), [[5, 3, 8], [5, 3, 7], [5, 3, 6]]);
    assert!(sized.nodes()[0].inputs()[0].symbols.is_empty());
    // Another call begins anew, with the model's names.
    let partly = sized.with_sizes(&sizes[..1]).unwrap();
    let error = partly.nodes()[0].plan(Preset::Onnx).unwrap_err();
    let symbols = vec!["W".to_owned()];
    assert_eq!(error, ModelError::Unknown { operand: "X", what: "shape", name: "x".to_owned(), symbols });
    assert_eq!(partly.with_sizes(&[]), Ok(model.clone()));
    for name in ["H", ""] {
        let error = ModelError::NoSuchExtent(name.to_owned());
        assert_eq!(model.clone().with_sizes(&[("N", 2), (name, 1)]), Err(error));
    }
    let large = model.with_sizes(&[("N", usize::MAX), ("W", usize::MAX)]).unwrap();
    assert!(matches!(large.nodes()[0].plan(Preset::Onnx), Err(ModelError::Plan(_))));
}

/// Protocol Buffers merge a message that a file has more than once: lists are joined.
#[test]
fn a_graph_in_two_parts_is_one() {
    let first = new().message(1, pool(&["x"], &["y"], 1)).message(5, tensor("s", 7, &[3]).each(7, &[1, 1, 7]));
    let second = new()
        .message(1, pool(&["y"], &["z"], 1))
        .message(11, value("x", 1, &[1, 1, 9]))
        .message(11, value("s", 7, &[3]))
        .message(12, value("z", 1, &[]));
    let model = read(model(22, first).message(7, second));
    assert_eq!((shape(&model, 0), shape(&model, 1)), (vec![1, 1, 8], vec![1, 1, 7]));
    assert_eq!(model.inputs(), ["x"], "an initializer of the other part gives s");
    assert_eq!(model.outputs(), [("z".to_owned(), ValueSource::Output { node: 1, output: 0 })]);
}

#[test]
fn an_output_shape_is_read_from_initializers_and_constants() {
    let unpool =
        |shape: &str, y: &str| node("MaxUnpool", &["x", "i", shape], &[y]).message(5, ints("kernel_shape", &[2]));
    let constant = node("Constant", &[], &["c"]).message(5, ints("value_ints", &[1, 1, 8]));
    let held = node("Constant", &[], &["d"])
        .message(5, new().bytes(1, "value").int(20, 4).message(5, tensor("", 7, &[3]).packed(7, &[1, 1, 9])));
    let graph = new()
        .message(1, constant)
        .message(1, held)
        .message(1, unpool("s", "y"))
        .message(1, unpool("c", "z"))
        .message(1, unpool("d", "w"))
        .message(1, unpool("", "v"))
        .message(5, tensor("s", 7, &[3]).each(7, &[1, 1, 7]))
        .message(11, value("x", 1, &[1, 1, 2]))
        .message(11, value("i", 7, &[1, 1, 2]))
        .message(11, value("s", 7, &[3]));
    let model = read(model(11, graph));
    let extents: Vec<_> = (0..4).map(|number| shape(&model, number)[2]).collect();
    assert_eq!(extents, [7, 8, 9, 3]);
    assert_eq!(model.inputs(), ["x", "i"], "an initializer gives s");
    let ValueSource::Constant(number) = model.nodes()[1].inputs()[2].source else { panic!() };
    assert_eq!(model.constant(number).unwrap().integers(), Some(vec![1, 1, 8]));
    let ValueSource::Constant(number) = model.nodes()[2].inputs()[2].source else { panic!() };
    assert_eq!(model.constant(number).unwrap().integers(), Some(vec![1, 1, 9]));
}

#[test]
fn lists_are_read_packed_and_one_by_one() {
    let packed = node("MaxPool", &["x"], &["y"])
        .message(5, new().bytes(1, "kernel_shape").packed(8, &[2, 3]).int(20, 7))
        // Files of the first version have no `type`.
        .message(5, new().bytes(1, "strides").each(8, &[2, 2]))
        .message(5, new().bytes(1, "auto_pad").bytes(4, "SAME_UPPER"));
    let model = read(model(1, new().message(1, packed).message(11, value("x", 1, &[1, 1, 5, 7]))));
    assert_eq!(shape(&model, 0), [1, 1, 3, 4]);
}

#[test]
fn this_crates_domain_and_onnxruntimes_are_read() {
    let adaptive =
        node("AdaptiveMaxPool", &["x"], &["y", "i"]).bytes(7, "wgpu.pooling").message(5, ints("output_size", &[3]));
    let nhwc = pool(&["x"], &["z", "j"], 1).bytes(7, "com.ms.internal.nhwc");
    let graph = new().message(1, adaptive).message(1, nhwc).message(11, value("x", 1, &[1, 5, 7]));
    let imports = [("wgpu.pooling", 1), ("com.ms.internal.nhwc", 12)];
    let imports = imports
        .iter()
        .fold(model(22, graph), |model, (domain, opset)| model.message(8, new().bytes(1, domain).int(2, *opset)));
    let model = read(imports);
    assert_eq!(shape(&model, 0), [1, 5, 3]);
    assert_eq!(shape(&model, 1), [1, 4, 7]);
    assert_eq!(model.nodes()[1].plan(Preset::Onnx).unwrap().outputs()[1].shape, [1, 7, 4]);
}
