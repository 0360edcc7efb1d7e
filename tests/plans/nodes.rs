//! Nodes of models: what an opset has, what its attributes mean, and what is refused.

use wgpu_pooling::{
    AdaptiveMaxPool, Attribute, CeilRule, DType, GlobalMaxPool, IndexType, MaxPool, MaxUnpool, NanPolicy, Node,
    Operator, PlanError, Preset, TensorRef, TensorView,
};

fn ints(values: &[i64]) -> Attribute {
    Attribute::Ints(values.to_vec())
}

fn text(value: &str) -> Attribute {
    Attribute::String(value.to_owned())
}

fn pool(opset: i64) -> Node {
    Node::new("MaxPool", opset).attribute("kernel_shape", ints(&[2]))
}

fn unpool(opset: i64) -> Node {
    Node::new("MaxUnpool", opset).attribute("kernel_shape", ints(&[2]))
}

fn x() -> TensorRef<'static> {
    TensorView::new(&[1, 1, 9], &[0.0f32; 9]).unwrap().into()
}

#[test]
fn attributes_and_outputs_come_with_their_opset() {
    for opset in -1..30 {
        let since = |first, node: Node| {
            assert_eq!(node.operator().is_ok(), (first..=28).contains(&opset), "{node:?} in opset {opset}");
        };
        since(1, pool(opset));
        since(1, Node::new("GlobalMaxPool", opset));
        since(9, unpool(opset));
        since(8, pool(opset).attribute("storage_order", Attribute::Int(0)));
        since(10, pool(opset).attribute("ceil_mode", Attribute::Int(0)));
        since(10, pool(opset).attribute("dilations", ints(&[1])));
        assert_eq!(pool(opset).plan(&[x()], 2).is_ok(), (8..=28).contains(&opset), "Indices in opset {opset}");
    }
    let error = pool(7).plan(&[x()], 2).unwrap_err();
    assert_eq!(error.to_string(), "MaxPool has the output Indices since opset 8, but the node is of opset 7");
    for domain in ["", "ai.onnx", "com.ms.internal.nhwc"] {
        let refused = pool(99).domain(domain).operator().unwrap_err().to_string();
        assert_eq!(refused, "the node is of opset 99, and opsets up to 28 are known", "{domain:?}");
    }
    assert_eq!(
        pool(i64::MIN).operator().unwrap_err().to_string(),
        r#"there is no operator "MaxPool" of the domain "" in opset -9223372036854775808"#
    );
}

#[test]
fn a_preset_says_what_ceil_mode_is() {
    let node = |opset| pool(opset).attribute("strides", ints(&[3])).attribute("ceil_mode", Attribute::Int(1));
    let outputs = |preset, opset| node(opset).preset(preset).plan(&[x()], 1).unwrap().outputs()[0].shape[2];
    for opset in [10, 11, 12, 13, 21, 22, 23] {
        use Preset::{Onnx, OnnxAfter1_23, OnnxRuntime, OpenVino, PyTorch};
        let text = if opset < 22 { 4 } else { 3 };
        for (preset, expected) in [(Onnx, text), (OnnxAfter1_23, text), (OnnxRuntime, 3), (PyTorch, 3), (OpenVino, 4)] {
            assert_eq!(outputs(preset, opset), expected, "{preset:?}, opset {opset}");
        }
    }
}

#[test]
fn a_preset_is_its_constructor_with_the_attributes_of_the_node() {
    for (preset, expected) in [
        (Preset::Onnx, MaxPool::onnx([2])),
        (Preset::OnnxRuntime, MaxPool::onnxruntime([2])),
        (Preset::OpenVino, MaxPool::openvino([2])),
        // A node without strides has strides of 1; PyTorch's own call would take the kernel's.
        (Preset::PyTorch, MaxPool::pytorch([2]).strides([1])),
    ] {
        assert_eq!(pool(12).preset(preset).operator(), Ok(Operator::MaxPool(expected)));
    }
    let strided = pool(12).preset(Preset::PyTorch).attribute("strides", ints(&[2])).operator();
    assert_eq!(strided.unwrap(), Operator::MaxPool(MaxPool::pytorch([2])));
    let of_unpool = |preset| unpool(22).preset(preset).operator();
    assert_eq!(of_unpool(Preset::Onnx).unwrap(), Operator::MaxUnpool(MaxUnpool::onnx([2])));
    assert_eq!(of_unpool(Preset::OnnxAfter1_23).unwrap(), Operator::MaxUnpool(MaxUnpool::onnx_after_1_23([2])));
    assert_eq!(of_unpool(Preset::OnnxRuntime).unwrap(), Operator::MaxUnpool(MaxUnpool::onnxruntime([2])));
    assert_eq!(of_unpool(Preset::PyTorch).unwrap(), Operator::MaxUnpool(MaxUnpool::pytorch([2]).strides([1])));
    let error = of_unpool(Preset::OpenVino).unwrap_err();
    assert_eq!(error.to_string(), "the preset openvino excludes MaxUnpool");
    let of_global = |preset| Node::new("GlobalMaxPool", 1).preset(preset).operator().unwrap();
    assert_eq!(of_global(Preset::Onnx), Operator::GlobalMaxPool(GlobalMaxPool::new()));
    let propagating = GlobalMaxPool::new().nan_policy(NanPolicy::PropagateLast);
    assert_eq!(of_global(Preset::PyTorch), Operator::GlobalMaxPool(propagating));
    let literal = pool(12).attribute("ceil_mode", Attribute::Int(1)).operator().unwrap();
    let expected = MaxPool::onnx([2]).ceil_mode(1).ceil_rule(CeilRule::CeilLiteral);
    assert_eq!(literal, Operator::MaxPool(expected));
}

#[test]
fn domains_decide_the_layout_and_who_has_activations() {
    let nhwc = "com.ms.internal.nhwc";
    let runtime = |node: Node| node.preset(Preset::OnnxRuntime).operator();
    assert_eq!(runtime(pool(11).domain(nhwc)), Ok(Operator::MaxPool(MaxPool::onnxruntime_nhwc([2]))));
    assert_eq!(runtime(unpool(11).domain(nhwc)), Ok(Operator::MaxUnpool(MaxUnpool::onnxruntime_nhwc([2]))));
    assert_eq!(pool(11).domain("ai.onnx").operator(), pool(11).operator());
    let relu = |node: Node| node.attribute("activation", text("Relu"));
    assert!(relu(pool(11).domain(nhwc)).operator().is_ok() && relu(unpool(11).domain(nhwc)).operator().is_ok());
    for (operator, node) in [("MaxPool", pool(11)), ("MaxUnpool", unpool(11))] {
        let name = "activation".to_owned();
        assert_eq!(relu(node.clone()).operator(), Err(PlanError::UnknownAttribute { operator, name }));
        let parameters = node.attribute("activation_params", Attribute::Floats(vec![0.5]));
        assert!(matches!(parameters.operator(), Err(PlanError::UnknownAttribute { .. })));
    }
    for (op_type, domain) in [("MaxPool", "com.microsoft"), ("maxpool", ""), ("AveragePool", ""), ("", "")] {
        let error = Node::new(op_type, 12).domain(domain).attribute("kernel_shape", ints(&[2])).operator();
        let (op_type, domain) = (op_type.to_owned(), domain.to_owned());
        assert_eq!(error, Err(PlanError::UnknownOperator { op_type, domain, opset: 12 }));
    }
}

fn padded(auto_pad: &str) -> Node {
    pool(12).attribute("auto_pad", text(auto_pad)).attribute("pads", ints(&[1, 1]))
}

#[test]
fn onnxruntime_takes_no_pads_beside_auto_pad() {
    for auto_pad in ["SAME_UPPER", "SAME_LOWER", "VALID"] {
        let alone = pool(12).attribute("auto_pad", text(auto_pad)).preset(Preset::OnnxRuntime);
        let plan = |node: Node| node.plan(&[x()], 1);
        assert_eq!(plan(padded(auto_pad).preset(Preset::OnnxRuntime)), plan(alone));
        assert!(matches!(plan(padded(auto_pad)), Err(PlanError::PadsWithAutoPad { .. })), "{auto_pad}");
    }
    let padded = padded("NOTSET").preset(Preset::OnnxRuntime).operator();
    assert_eq!(padded, Ok(Operator::MaxPool(MaxPool::onnxruntime([2]).pads([1, 1]))));
}

#[test]
fn onnxruntime_reads_empty_attributes_as_their_defaults() {
    let read = |node: Node| node.preset(Preset::OnnxRuntime).operator();
    for (name, value) in [
        ("strides", ints(&[])),
        ("dilations", ints(&[])),
        ("pads", ints(&[])),
        ("auto_pad", text("")),
        ("ceil_mode", Attribute::Int(2)),
        ("ceil_mode", Attribute::Int(-1)),
    ] {
        let node = pool(12).attribute(name, value);
        assert_eq!(read(node.clone()), read(pool(12)), "{name}");
        assert_ne!(node.preset(Preset::Onnx).plan(&[x()], 1), pool(12).plan(&[x()], 1), "{name}");
    }
    assert_eq!(read(padded("")), read(padded("NOTSET")));
    let empty = unpool(11).attribute("strides", ints(&[])).attribute("pads", ints(&[]));
    assert_eq!(read(empty), read(unpool(11)));
    for name in ["auto_pad", "ceil_mode"] {
        let of_a_pool = unpool(11).attribute(name, if name == "auto_pad" { text("") } else { Attribute::Int(0) });
        assert!(matches!(read(of_a_pool), Err(PlanError::UnknownAttribute { .. })), "{name}");
    }
    assert!(read(pool(12).attribute("auto_pad", text("SAME"))).is_err());
    assert!(read(pool(12).attribute("strides", text(""))).is_err());
}

#[test]
fn a_node_of_this_crates_domain_may_name_its_preset() {
    let named = |node: Node, preset: &str| node.domain("wgpu.pooling").attribute("preset", text(preset));
    let adaptive = || Node::new("AdaptiveMaxPool", 1).attribute("output_size", ints(&[3]));
    let torch = |node: Node| named(node, "pytorch").preset(Preset::OnnxRuntime).operator();
    assert_eq!(torch(adaptive()), Ok(Operator::AdaptiveMaxPool(AdaptiveMaxPool::pytorch([3]))));
    assert_eq!(torch(pool(1)), Ok(Operator::MaxPool(MaxPool::pytorch([2]).strides([1]))));
    assert_eq!(torch(unpool(1)), Ok(Operator::MaxUnpool(MaxUnpool::pytorch([2]).strides([1]))));
    // Its indices are i64, and the plan is that of the preset.
    let plan = named(adaptive(), "pytorch").plan(&[x()], 2).unwrap();
    assert_eq!(plan, AdaptiveMaxPool::pytorch([3]).plan(x().shape(), x().dtype(), Some(IndexType::I64)).unwrap());
    let error = |node: Node| node.operator().unwrap_err().to_string();
    let unknown = error(named(pool(1), "tflite"));
    assert!(unknown.contains("preset") && unknown.contains("tflite") && unknown.contains("pytorch"), "{unknown}");
    assert_eq!(error(named(named(pool(1), "onnx"), "onnx")), r#"a node of wgpu.pooling is given "preset" twice"#);
    let number = pool(1).domain("wgpu.pooling").attribute("preset", Attribute::Int(1)).operator();
    assert!(matches!(number, Err(PlanError::AttributeKind { .. })));
    // Other domains have no such attribute.
    for domain in ["", "com.ms.internal.nhwc", "openvino"] {
        let other = named(pool(8), "pytorch").domain(domain).operator();
        assert!(matches!(other, Err(PlanError::UnknownAttribute { .. })), "{domain}: {other:?}");
    }
}

#[test]
fn attributes_that_the_operator_does_not_take_are_refused() {
    let missing = |operator| Err(PlanError::MissingAttribute { operator, attribute: "kernel_shape" });
    for preset in Preset::ALL {
        assert_eq!(Node::new("MaxPool", 12).preset(*preset).operator(), missing("MaxPool"));
        assert_eq!(Node::new("MaxUnpool", 12).preset(*preset).operator(), missing("MaxUnpool"));
        let twice = pool(12).preset(*preset).attribute("kernel_shape", ints(&[3])).operator();
        assert!(matches!(twice, Err(PlanError::RepeatedAttribute { .. })), "{twice:?}");
        let text = Node::new("MaxPool", 12).attribute("kernel_shape", Attribute::Int(2)).preset(*preset).operator();
        assert!(matches!(text, Err(PlanError::AttributeKind { .. })), "{text:?}");
        let unknown = pool(12).preset(*preset).attribute("stride", ints(&[2])).operator();
        assert!(matches!(unknown, Err(PlanError::UnknownAttribute { operator: "MaxPool", .. })), "{unknown:?}");
    }
    let global = Node::new("GlobalMaxPool", 12).attribute("kernel_shape", ints(&[2])).operator();
    assert!(matches!(global, Err(PlanError::UnknownAttribute { operator: "GlobalMaxPool", .. })), "{global:?}");
    for name in ["dilations", "ceil_mode", "storage_order", "auto_pad", "output_shape"] {
        let unknown = unpool(22).attribute(name, Attribute::Int(0)).operator();
        assert!(matches!(unknown, Err(PlanError::UnknownAttribute { operator: "MaxUnpool", .. })), "{unknown:?}");
    }
    let tensor = pool(12).attribute("strides", Attribute::Other).operator().unwrap_err();
    assert_eq!(tensor.to_string(), "strides: expected integers, got another kind");
    let error = pool(12).attribute("ceil_mode", Attribute::Int(2)).operator();
    assert!(matches!(error, Err(PlanError::UnknownValue { attribute: "ceil_mode", .. })), "{error:?}");
}

#[test]
fn inputs_and_outputs_are_counted_and_typed() {
    let indices: TensorRef<'_> = TensorView::new(&[1, 1, 9], &[0i64; 9]).unwrap().into();
    let count = |operator, what, expected, actual| PlanError::OperandCount { operator, what, expected, actual };
    for outputs in [0, 3, usize::MAX] {
        assert_eq!(pool(12).plan(&[x()], outputs), Err(count("MaxPool", "outputs", "1 or 2", outputs)));
    }
    assert_eq!(pool(12).plan(&[], 1), Err(count("MaxPool", "inputs", "1", 0)));
    assert_eq!(pool(12).plan(&[], 1).unwrap_err().to_string(), "MaxPool: expected 1 inputs, got 0");
    assert_eq!(pool(12).plan(&[x(), x()], 1), Err(count("MaxPool", "inputs", "1", 2)));
    let global = Node::new("GlobalMaxPool", 12);
    assert_eq!(global.plan(&[x()], 2), Err(count("GlobalMaxPool", "outputs", "1", 2)));
    assert_eq!(global.plan(&[], 1), Err(count("GlobalMaxPool", "inputs", "1", 0)));
    assert_eq!(unpool(12).plan(&[x()], 1), Err(count("MaxUnpool", "inputs", "2 or 3", 1)));
    assert_eq!(unpool(12).plan(&[x(), x(), x(), x()], 1), Err(count("MaxUnpool", "inputs", "2 or 3", 4)));
    assert_eq!(unpool(12).plan(&[x(), indices], 2), Err(count("MaxUnpool", "outputs", "1", 2)));
    let error = unpool(12).plan(&[x(), x()], 1).unwrap_err();
    assert_eq!(error.to_string(), "MaxUnpool: I is f32 of shape [1, 1, 9], expected indices of i64 or i32");
    let few: TensorRef<'_> = TensorView::new(&[9], &[0i64; 9]).unwrap().into();
    let error = unpool(12).plan(&[x(), few], 1).unwrap_err();
    assert_eq!(error.to_string(), "MaxUnpool: I is i64 of shape [9], expected an index for each element of X");
    let shape = |shape: &[usize], values: &[i64]| {
        let given = TensorRef::from(TensorView::new(shape, values).unwrap()).bytes().to_vec();
        unpool(12).plan(&[x(), indices, TensorRef::new(DType::I64, shape, &given).unwrap()], 1)
    };
    assert_eq!(shape(&[3], &[1, 1, 12]).unwrap().outputs()[0].shape, [1, 1, 12]);
    let error = shape(&[1, 3], &[1, 1, 12]).unwrap_err();
    assert_eq!(error.to_string(), "MaxUnpool: output_shape is i64 of shape [1, 3], expected a list of i64");
    assert!(matches!(shape(&[2], &[1, 12]), Err(PlanError::AttributeLength { attribute: "output_shape", .. })));
    assert!(matches!(shape(&[0], &[]), Err(PlanError::AttributeLength { attribute: "output_shape", .. })));
    assert!(matches!(shape(&[3], &[1, 1, -1]), Err(PlanError::Negative { attribute: "output_shape", .. })));
    let narrow = unpool(12).plan(&[x(), indices, TensorRef::new(DType::I32, &[3], &[0; 12]).unwrap()], 1);
    assert!(matches!(narrow, Err(PlanError::OperandType { operand: "output_shape", .. })), "{narrow:?}");
}

#[test]
fn bytes_that_are_not_a_shapes_are_refused() {
    for dtype in DType::ALL {
        let bytes = vec![0; 6 * dtype.bytes() + 1];
        for actual in 0..bytes.len() {
            let made = TensorRef::new(dtype, &[2, 3], &bytes[..actual]);
            assert_eq!(made.is_ok(), actual == 6 * dtype.bytes(), "{dtype:?}, {actual} bytes");
        }
    }
    assert!(TensorRef::new(DType::F64, &[0, 3], &[]).is_ok());
    assert!(matches!(TensorRef::new(DType::U8, &[usize::MAX; 3], &[]), Err(PlanError::ShapeOverflow { .. })));
}
