//! Small files that ask for much work: each is refused when the budget of its length is spent, and models that are
//! merely large are read. A test that fails here by running for minutes has found a loop that spends nothing.

use wgpu_pooling::Preset;
use wgpu_pooling::onnx::{Model, ModelError};

use super::build::{
    Build, all, branch, call, function, graph_attribute, ints, model, new, node, pool, reference, value,
};
use super::ir::net;

fn whole(graph: Build, functions: impl IntoIterator<Item = Build>) -> Vec<u8> {
    let functions = functions.into_iter().map(|function| new().message(25, function));
    all([model(22, graph), all(functions)]).0
}

/// A model that calls a function with this body eight to the power of eight times, in few bytes.
fn called(body: Build, more: Option<Build>) -> Vec<u8> {
    let mut functions = vec![function("f0", 22, body)];
    for level in 0..8 {
        let inner = new().message(7, call(&format!("f{level}"), &["x"], &["x"]));
        functions.push(function(&format!("f{}", level + 1), 22, all(vec![inner; 8])));
    }
    whole(new().message(1, call("f8", &["x"], &["y"])), functions.into_iter().chain(more))
}

fn nested(depth: usize, inner: Build) -> Build {
    (0..depth).fold(inner, |graph, _| new().message(1, branch(graph)))
}

#[track_caller]
fn refused(what: &str, length: usize, read: Result<Model, ModelError>) {
    match read {
        Err(ModelError::TooMuchWork { bytes, limit }) => {
            assert_eq!(bytes, length as u64, "{what}");
            assert!(limit < 100 * bytes + 10_000_000, "{what}: {limit} steps for {bytes} bytes");
        }
        other => panic!("{what}: {:?}", other.map(|model| model.nodes().len())),
    }
}

#[test]
fn what_each_call_of_a_function_repeats_is_bounded() {
    let names: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let long = "n".repeat(10_000);
    let repeat = |count: usize, message: Build| all(vec![message; count]);
    let dimensions = new().message(2, repeat(1000, new().message(1, new())));
    let typed = new().bytes(1, "x").message(2, new().message(1, dimensions));
    let lists = all((0..60).map(|number| new().message(5, ints(&format!("a{number}"), &[1; 250]))));
    let graphs = new().message(5, repeat(1000, new().message(11, new())));
    let opsets = all((0..1000).map(|number| new().message(9, new().bytes(1, format!("d{number}")))));
    let first = new().message(7, pool(&["x"], &["b"], 10)).message(12, value("x", 1, &[4; 12]));
    let second = new().message(7, node("MaxPool", &["b"; 8], &[]));
    for (what, body) in [
        ("calls", new()),
        ("nodes", repeat(100, new().message(7, new()))),
        ("names", repeat(2, new().message(7, node("A", &[], &names)))),
        ("types", new().message(12, typed).message(7, node("MaxPool", &["x"; 8], &[]))),
        ("declared names", all(names.iter().map(|name| new().message(12, new().bytes(1, name))))),
        ("attributes", new().message(7, node("A", &[], &[]).message(5, new().each(8, &[1; 1000])))),
        ("attributes of pooling nodes", new().message(7, all([node("MaxPool", &[], &[]), lists]))),
        ("graphs of attributes", new().message(7, all([node("A", &[], &[]), graphs]))),
        ("defaults", all(names.iter().map(|name| new().message(11, new().bytes(1, name))))),
        ("opsets", all([opsets, new().message(7, node("MaxPool", &[], &[]))])),
        ("plans", all([first, second])),
        ("long names", new().message(7, node("MaxPool", &[], &[]).bytes(3, &long))),
        ("long names of attributes", new().message(7, node("MaxPool", &[], &[]).message(5, new().bytes(1, &long)))),
        ("nested scopes", new().message(7, branch(nested(50, new().message(1, node("MaxPool", &["q"; 8], &[])))))),
    ] {
        let bytes = called(body, None);
        refused(what, bytes.len(), Model::from_onnx(bytes));
    }
    // Attributes that calls give, and inputs that they look up.
    let given = all(names.iter().map(|name| new().message(5, new().bytes(1, name))));
    for (what, node) in
        [("given attributes", all([call("g", &[], &[]), given])), ("inputs of calls", call("g", &names, &names))]
    {
        let bytes = called(
            new().message(7, branch(nested(40, new().message(1, node)))),
            Some(function("g", 22, new().texts(4, &names))),
        );
        refused(what, bytes.len(), Model::from_onnx(bytes));
    }
}

#[test]
fn what_many_nodes_share_is_bounded() {
    let long = "n".repeat(10_000);
    let pools = all(vec![new().message(1, node("MaxPool", &[], &[])); 10_000]);
    let inside = node("If", &[], &[]).bytes(3, &long).message(5, graph_attribute("then_branch", pools));
    let bytes = whole(new().message(1, inside), []);
    refused("the path of where nodes are", bytes.len(), Model::from_onnx(bytes));
    let branches = new().message(5, all(vec![new().message(11, new()); 60_000]));
    let bytes = whole(new().message(1, all([node("If", &[], &[]).bytes(3, &long), branches])), []);
    refused("the path of empty graphs", bytes.len(), Model::from_onnx(bytes));
    let constant = new().message(1, node("Constant", &[], &["a"]).message(5, ints("value_ints", &[1; 64])));
    let outputs = all(vec![new().message(12, new().bytes(1, "a")); 100_000]);
    let bytes = whole(all([constant, outputs]), []);
    refused("constants that are listed again", bytes.len(), Model::from_onnx(bytes));
}

/// As exporters write them: functions of some nodes which are called often, and which call each other.
#[test]
fn a_large_model_that_is_no_attack_is_read() {
    let body = |number: usize| {
        let steps = (0..20).map(|step| {
            let names = [format!("val_{step}"), format!("val_{}", step + 1)];
            let node = node(["Mul", "Add", "Cast"][step % 3], &[&names[0], "weight"], &[&names[1]]);
            new().message(7, node.bytes(3, format!("node_{step}")).message(5, ints("axes", &[1, 2])))
        });
        let pool = node("MaxPool", &["val_0"], &["z"]).message(5, reference("kernel_shape", "kernel"));
        let pool = if number == 0 { new().message(7, pool) } else { new() };
        let head = new().texts(4, &["val_0", "weight"]).texts(5, &["val_20"]).texts(6, &["kernel"]);
        function(&format!("layer_{number}"), 22, all([all(steps), pool, head]))
    };
    let calls = (0..5000).map(|number| {
        let inputs = [format!("layers.{number}.output"), format!("layers.{}.weight", number % 50)];
        let call = call(
            &format!("layer_{}", number % 50),
            &[&inputs[0], &inputs[1]],
            &[&format!("layers.{}.output", number + 1)],
        );
        new().message(1, call.bytes(3, format!("/model/layers.{number}")).message(5, ints("kernel", &[2, 2])))
    });
    let infos =
        (0..5000).map(|number| new().message(13, value(&format!("layers.{number}.output"), 1, &[1, 8, 16, 16])));
    let model = Model::from_onnx(whole(all([all(infos), all(calls)]), (0..50).map(body))).unwrap();
    assert_eq!(model.nodes().len(), 100);
    assert_eq!(model.nodes()[99].plan(Preset::Onnx).unwrap().outputs()[0].shape, [1, 8, 15, 15]);
}

/// The longest chain of pools that is read, and one pool more.
#[test]
fn each_pool_of_a_chain_is_planned_once() {
    let chain = |pools: usize| {
        let pools = (0..pools).map(|number| {
            let (x, y) = (number.to_string(), (number + 1).to_string());
            new().message(1, node("GlobalMaxPool", &[&x], &[&y]))
        });
        Model::from_onnx(whole(all(pools).message(11, value("0", 1, &[1, 2, 9])), []))
    };
    let model = chain(1 << 14).unwrap();
    let last = model.nodes().last().unwrap().plan(Preset::Onnx).unwrap();
    assert_eq!((last.inputs()[0].shape.as_slice(), last.output_shape()), (&[1, 2, 1][..], &[1, 2, 1][..]));
    let more = chain((1 << 14) + 1).map(|model| model.nodes().len());
    assert_eq!(more, Err(ModelError::TooMany { what: "pooling nodes", found: 16_385, limit: 16_384 }));
}

/// Layers that all take the same output of the layer g.
fn takers(kind: &str, count: usize) -> (String, String) {
    let layers = (0..count).map(|number| {
        let ports = "<port id='0'/><port id='1'/>";
        format!("<layer id='{number}' type='{kind}' version='opset8'><input>{ports}</input></layer>")
    });
    let edges = (0..count).flat_map(|number| {
        [0, 1].map(|port| format!("<edge from-layer='g' from-port='p' to-layer='{number}' to-port='{port}'/>"))
    });
    (layers.collect(), edges.collect())
}

#[test]
fn layers_that_many_take_from_are_looked_at_once() {
    for ports in ["<port id='1'/>", "<other/>"] {
        let giver = format!(
            "<layer id='g' type='A'><output>{}<port id='p' precision='f32'/></output></layer>",
            ports.repeat(20_000)
        );
        for kind in ["MaxPool", "Result"] {
            let (layers, edges) = takers(kind, 2000);
            let model = Model::from_ir(&net(&(giver.clone() + &layers), &edges), &[]).unwrap();
            assert_eq!(model.nodes().len() + model.outputs().len(), 2000);
            assert!(model.nodes().iter().all(|node| node.inputs()[1].dtype.is_some()));
        }
    }
}

#[test]
fn what_layers_share_is_bounded() {
    let long = "n".repeat(20_000);
    let attributes = |count: usize| (0..count).map(|number| format!(" a{number}=''")).collect::<String>();
    let giver =
        |head: &str, data: &str| format!("<layer id='g' {head}><data {data}/><output><port id='p'/></output></layer>");
    let constant = format!("offset='{}' size='8' element_type='i64' {}", "0".repeat(100_000), attributes(100));
    for (what, giver, kind) in [
        ("a name", giver(&format!("type='A' name='{long}'"), ""), "MaxPool"),
        ("a type", giver(&format!("type='{long}'"), ""), "MaxPool"),
        ("a constant", giver("type='Const'", &constant), "AdaptiveMaxPool"),
    ] {
        let (layers, edges) = takers(kind, 4000);
        let text = net(&(giver + &layers), &edges);
        refused(what, text.len(), Model::from_ir(&text, &[1; 8]));
    }
    for (what, text) in [
        ("attributes", format!("<net{}/>", attributes(20_000))),
        ("a path", format!("<net><layer name='{long}'>{}</layer></net>", "<body/>".repeat(10_000))),
    ] {
        refused(what, text.len(), Model::from_ir(&text, &[]));
    }
}
