"""ONNX's own node tests, and models that onnxruntime runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wgpu_pooling as wp

onnx = pytest.importorskip("onnx", reason="onnx is not installed: its node tests are not run")
from onnx import helper, numpy_helper  # noqa: E402

FOLDER = Path(__file__).parents[2] / "tests" / "onnx-node-tests"


@pytest.mark.parametrize("folder", sorted(FOLDER.glob("test_*")), ids=lambda folder: folder.name)
def test_node(folder: Path, device: object) -> None:
    graph = onnx.load(folder / "model.onnx").graph
    (node,) = graph.node

    def tensor(kind: str, position: int) -> np.ndarray:
        content = (folder / "test_data_set_0" / f"{kind}_{position}.pb").read_bytes()
        return numpy_helper.to_array(onnx.TensorProto.FromString(content))

    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
    inputs = [tensor("input", position) for position in range(len(graph.input))]
    if node.op_type == "MaxUnpool":
        shape = inputs[2].tolist() if len(inputs) == 3 else None
        results = [wp.max_unpool(inputs[0], inputs[1], output_shape=shape, device=device, **attributes)]
    elif node.op_type == "GlobalMaxPool":
        results = [wp.global_max_pool(inputs[0], device=device)]
    elif len(graph.output) == 2:
        results = list(wp.max_pool(inputs[0], indices="int64", device=device, **attributes))
    else:
        results = [wp.max_pool(inputs[0], device=device, **attributes)]
    for position, result in enumerate(results):
        expected = tensor("output", position)
        assert expected.dtype == result.dtype
        np.testing.assert_array_equal(expected, result)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8])
@pytest.mark.parametrize(
    "attributes",
    [
        dict(kernel_shape=[2, 2], strides=[2, 2]),
        dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], dilations=[2, 2]),
        dict(kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1, storage_order=1),
        dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER"),
    ],
)
def test_onnxruntime(dtype: type, attributes: dict, device: object) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: it is not compared with")
    x = np.random.default_rng(7).integers(-9, 9, (2, 3, 13, 11)).astype(dtype)
    node = helper.make_node("MaxPool", ["x"], ["y", "indices"], **attributes)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [node],
        "pool",
        [helper.make_tensor_value_info("x", element, x.shape)],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in [("y", element), ("indices", 7)]],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})
    y, indices = wp.max_pool(x, preset="onnxruntime", indices="int64", device=device, **attributes)
    np.testing.assert_array_equal(expected[0], y)
    np.testing.assert_array_equal(expected[1], indices)
