"""The custom operators in onnxruntime: a model as it is gives the bits that it gave before."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")

import wgpu_pooling as wp  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

TYPES = {
    np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.float16: TensorProto.FLOAT16,
    np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8,
}  # fmt: skip
POOL = dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
VERSION = tuple(int(number) for number in ort.__version__.split(".")[:3])


def model(op: str, attributes: dict[str, Any], inputs: list[tuple[str, int, Any]], domain: str = "", outputs: int = 1) -> bytes:
    """A model of one node. The first output is of the type of the first input."""
    node = helper.make_node(op, [name for name, _, _ in inputs], ["y", "i"][:outputs], domain=domain, name="node", **attributes)
    of_outputs = [("y", inputs[0][1]), ("i", TensorProto.INT64)][:outputs]
    graph = helper.make_graph(
        [node], "graph", [helper.make_tensor_value_info(*about) for about in inputs],
        [helper.make_tensor_value_info(name, of, None) for name, of in of_outputs],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 9
    return made.SerializeToString()


def session(of: bytes, ours: bool = True, log: int = 3, optimised: bool = True, disabled: str = "", **entries: str) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = log
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, value in entries.items():
        options.add_session_config_entry(f"wgpu_pooling.{name}", value)
    if disabled:
        options.add_session_config_entry("optimization.disable_specified_optimizers", disabled)
    if ours:
        options.register_custom_ops_library(wp.onnxruntime_library())
    return ort.InferenceSession(of, options, providers=["CPUExecutionProvider"])


@pytest.fixture(params=["cpu", "gpu"])
def place(request: pytest.FixtureRequest) -> str:
    if request.param == "gpu":
        request.getfixturevalue("gpu")
    return request.param


@pytest.mark.parametrize("dtype", list(TYPES), ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_pool_of_a_model_as_it_is(dtype: Any, outputs: int, place: str) -> None:
    x = (np.random.default_rng(1).standard_normal((2, 3, 13, 17)) * 50).astype(dtype)
    of = model("MaxPool", POOL, [("x", TYPES[dtype], x.shape)], outputs=outputs)
    expected = session(of, ours=False).run(None, {"x": x})
    actual = session(of, ai_onnx="1", device=place).run(None, {"x": x})
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(actual, expected, strict=True))


def same_bits(a: Any, b: Any) -> bool:
    nan = np.isnan(a)
    return np.array_equal(nan, np.isnan(b)) and np.array_equal(a.view(np.uint32)[~nan], b.view(np.uint32)[~nan])


def test_nan_infinities_and_zeros_are_as_in_the_kernel_with_indices(place: str) -> None:
    random = np.random.default_rng(9)
    for channels in (3, 8, 16, 32, 64) if place == "cpu" else (3, 8):
        x = random.choice([np.nan, -np.inf, -np.inf, -np.inf, -0.0, 0.0, 1.0], (2, channels, 13, 17)).astype(np.float32)
        expected = wp.max_pool(x, **POOL, preset="onnxruntime", device="cpu")
        assert np.isinf(expected).any() and np.isnan(expected).any()
        for outputs in (1, 2):
            of = model("MaxPool", POOL, [("x", TensorProto.FLOAT, x.shape)], outputs=outputs)
            assert same_bits(session(of, ai_onnx="1", device=place).run(None, {"x": x})[0], expected), (channels, outputs)
        # Its own kernel with Indices gives the lowest finite number and other elements before.
        if VERSION >= (1, 29):
            assert same_bits(session(of, ours=False).run(None, {"x": x})[0], expected)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)


def network(nodes: list[Any], x: Any, outputs: str = "y", opset: int = 13, functions: Any = (), **constants: Any) -> bytes:
    """A model of an input x. The outputs y are of its type, and i are indices."""
    kind = TYPES[x.dtype.type]
    graph = helper.make_graph(
        nodes, "graph", [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info(name, TensorProto.INT64 if name == "i" else kind, None) for name in outputs.split()],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(function.domain, 1) for function in functions]
    made = helper.make_model(graph, opset_imports=opsets, functions=functions)
    made.ir_version = 8
    return made.SerializeToString()


def networks() -> Iterator[tuple[str, bytes, Any]]:
    """Models of one pool, each of which onnxruntime's optimiser would like to change."""
    random = np.random.default_rng(3)
    for channels in (8, 16, 32, 64):
        x, w = (random.standard_normal((channels, *rest)).astype(np.float32) for rest in ((13, 15), (channels, 3, 3)))
        front = [node("Conv", "x w", "c", pads=[1] * 4), node("Relu", "c", "r")]
        for outputs in ("y", "y i"):
            nodes = [*front, node("MaxPool", "r", outputs, **POOL)]
            yield f"Conv, Relu, {channels} channels, {outputs}", network(nodes, x[None], outputs, w=w), x[None]
    x, one = random.standard_normal((1, 8, 12, 14)).astype(np.float32), np.zeros(1, np.float32)
    for opset in (8, 11, 12, 13):
        for outputs in ("p", "p i"):
            nodes = [node("MaxPool", "k", outputs, **POOL), node("Add", "p x", "y")]
            yield f"a constant, opset {opset}, {outputs}", network(nodes, one, outputs.replace("p", "y"), opset, k=x), one
    nodes = [node("MaxUnpool", "k at", "p", kernel_shape=[2]), node("Add", "p x", "y")]
    yield "an unpool of a constant", network(nodes, one, k=x[0, :1], at=np.arange(12 * 14).reshape(1, 12, 14)), one
    for value in (0, np.finfo(np.float32).min, -np.inf):
        nodes = [node("Pad", "x pads value", "p"), node("MaxPool", "p", "y", kernel_shape=[3, 3])]
        yield f"Pad of {value}", network(nodes, x, pads=[0, 0, 1, 1, 0, 0, 1, 1], value=np.float32(value)), x
    for dtype, outputs in ((np.float32, "p"), (np.float16, "p"), (np.uint8, "p i"), (np.int8, "p i")):
        front, back = (node("Transpose", "x", "t", perm=[0, 3, 1, 2]), node("Transpose", "p", "y", perm=[0, 2, 3, 1]))
        nodes, given = [front, node("MaxPool", "t", outputs, **POOL), back], (x * 9).astype(dtype)
        yield f"transposes, {given.dtype}", network(nodes, given, outputs.replace("p", "y")), given
    front = [node("QuantizeLinear", "x s z", "a"), node("DequantizeLinear", "a s z", "b")]
    back = [node("QuantizeLinear", "c s z", "d"), node("DequantizeLinear", "d s z", "y")]
    for zero in (np.uint8(3), np.int8(-3)):
        of = network([*front, node("MaxPool", "b", "c", **POOL), *back], x, s=np.float32(0.03), z=zero)
        yield f"quantised, {zero.dtype}", of, x
    nodes = [node("Relu", "X", "R"), node("MaxPool", "R", "Y", **POOL)]
    block = helper.make_function("local", "Block", ["X"], ["Y"], nodes, [helper.make_opsetid("", 13)])
    yield "a function", network([helper.make_node("Block", ["x"], ["y"], domain="local")], x, functions=[block]), x
    nodes, half = [node("Relu", "x", "r"), node("MaxPool", "r", "p", **POOL), node("Relu", "p", "y")], x.astype(np.float16)
    yield "half precision", network(nodes, half), half


@pytest.mark.parametrize(("name", "of", "x"), [pytest.param(*about, id=about[0]) for about in networks()])
def test_our_kernel_computes_a_pool_whatever_is_around_it(
    name: str, of: bytes, x: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    # Some versions put a Pad of zeros into the pool, whose own pads are no zeros.
    expected = session(of, ours=False, optimised="Pad" not in name).run(None, {"x": x})
    capfd.readouterr()
    ours = session(of, log=1, ai_onnx="1", device="cpu")
    assert capfd.readouterr().err.count("wgpu-pooling computes the node") == 1
    actual = ours.run(None, {"x": x})
    assert all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(actual, expected, strict=True))


def test_a_pool_of_a_constant_keeps_infinities() -> None:
    k = np.full((1, 8, 6, 6), -np.inf, np.float32)
    of = network([node("MaxPool", "k", "p", **POOL), node("Add", "p x", "y")], np.zeros(1, np.float32), k=k)
    assert np.isneginf(session(of, ai_onnx="1", device="cpu").run(None, {"x": np.zeros(1, np.float32)})[0]).all()


def test_half_precision_between_casts_is_rounded() -> None:
    x = np.random.default_rng(6).standard_normal((1, 8, 12, 14)).astype(np.float32)
    casts = node("Cast", "x", "h", to=TensorProto.FLOAT16), node("Cast", "p", "y", to=TensorProto.FLOAT)
    of = network([casts[0], node("MaxPool", "h", "p", **POOL), casts[1]], x)
    expected = wp.max_pool(x.astype(np.float16), **POOL, device="cpu").astype(np.float32)
    assert np.array_equal(session(of, ai_onnx="1", device="cpu").run(None, {"x": x})[0], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_pools_beside_quantised_convolutions(dtype: Any, capfd: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(7)
    x, w = random.standard_normal((1, 8, 12, 14)).astype(np.float32), random.integers(-5, 5, (8, 8, 3, 3)).astype(np.int8)
    front = [node("QuantizeLinear", "x s z", "a"), node("QLinearConv", "a s z w s o s z", "b", pads=[1] * 4)]
    nodes = [*front, node("MaxPool", "b", "c", **POOL), node("DequantizeLinear", "c s z", "y")]
    of = network(nodes, x, s=np.float32(0.1), z=dtype(3), w=w, o=np.int8(0))
    expected = session(of, ours=False).run(None, {"x": x})[0]
    assert np.array_equal(session(of, ai_onnx="1", device="cpu").run(None, {"x": x})[0], expected)
    if VERSION < (1, 18, 1):
        pytest.skip("onnxruntime before 1.18.1 disables no optimisers by an entry")
    ours = session(of, log=1, disabled="NhwcTransformer;TransposeOptimizer_CPUExecutionProvider", ai_onnx="1", device="cpu")
    assert "wgpu-pooling computes the node" in capfd.readouterr().err
    assert np.array_equal(ours.run(None, {"x": x})[0], expected)


def attribute(name: str, value: Any) -> Any:
    return helper.make_attribute(name, value, attr_type=onnx.AttributeProto.INTS if value == [] else None)


@pytest.mark.parametrize(
    "attributes",
    [
        *([attribute(name, [])] for name in ("strides", "dilations", "pads")),
        [attribute("pads", []), attribute("auto_pad", "SAME_UPPER")],
        *([attribute("auto_pad", auto_pad), attribute("pads", [1, 1, 1, 1])] for auto_pad in ("", "NOTSET", "VALID")),
        *([attribute("strides", [2, 2]), attribute("ceil_mode", mode)] for mode in (-1, 0, 1, 2)),
    ],
    ids=lambda attributes: ", ".join(f"{a.name}={helper.get_attribute_value(a)}" for a in attributes),
)  # fmt: skip
def test_attributes_that_onnxruntime_reads_as_their_defaults(attributes: list[Any]) -> None:
    if VERSION < (1, 21, 1) and any(a.name == "ceil_mode" and a.i not in (0, 1) for a in attributes):
        pytest.skip("onnxruntime before 1.21.1 rounds up for a ceil_mode that there is not")
    x = np.random.default_rng(8).standard_normal((1, 2, 8, 8)).astype(np.float32)
    inputs = [("x", TensorProto.FLOAT, None)]
    made = onnx.ModelProto.FromString(model("MaxPool", dict(kernel_shape=[3, 3]), inputs, outputs=2))
    made.graph.node[0].attribute.extend(attributes)
    of = made.SerializeToString()
    expected = session(of, ours=False).run(None, {"x": x})
    actual = session(of, ai_onnx="1", device="cpu").run(None, {"x": x})
    assert all(np.array_equal(a, b) for a, b in zip(actual, expected, strict=True))


def test_an_unpool_with_empty_attributes() -> None:
    x, at = np.arange(6, dtype=np.float32).reshape(1, 2, 3), np.arange(6).reshape(1, 2, 3)
    inputs = [("x", TensorProto.FLOAT, None), ("at", TensorProto.INT64, None)]
    made = onnx.ModelProto.FromString(model("MaxUnpool", dict(kernel_shape=[2]), inputs))
    made.graph.node[0].attribute.extend([attribute("strides", []), attribute("pads", [])])
    feed, of = {"x": x, "at": at}, made.SerializeToString()
    expected = session(of, ours=False).run(None, feed)[0]
    assert np.array_equal(session(of, ai_onnx="1", device="cpu").run(None, feed)[0], expected)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_pads_beside_auto_pad_are_ignored(auto_pad: str) -> None:
    x = np.random.default_rng(5).standard_normal((1, 2, 8, 8)).astype(np.float32)
    of = model("MaxPool", dict(kernel_shape=[2, 2], auto_pad=auto_pad, pads=[1, 1, 1, 1]), [("x", TensorProto.FLOAT, x.shape)])
    expected = session(of, ours=False).run(None, {"x": x})[0]
    assert np.array_equal(session(of, ai_onnx="1", device="cpu").run(None, {"x": x})[0], expected)


FORKED = """
import os, sys, numpy as np, onnxruntime as ort, wgpu_pooling as wp
options = ort.SessionOptions()
options.add_session_config_entry("wgpu_pooling.ai_onnx", "1")
options.add_session_config_entry("wgpu_pooling.device", sys.argv[2])
options.register_custom_ops_library(wp.onnxruntime_library())
x = np.ones((4, 16, 256, 256), np.float32)
session = ort.InferenceSession(sys.argv[1], options)
session.run(None, {"x": x})
if os.fork() == 0:
    try:
        session.run(None, {"x": x})
        os._exit(2)
    except Exception as error:
        del session
        os._exit(0 if "before a fork" in str(error) else 3)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
session.run(None, {"x": x})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_told_at_once(place: str, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(model("MaxPool", POOL, [("x", TensorProto.FLOAT, [None, None, None, None])]))
    command = [sys.executable, "-c", FORKED, str(tmp_path / "model.onnx"), place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]


def test_an_unpool_of_a_model_as_it_is(place: str) -> None:
    x = np.random.default_rng(2).standard_normal((2, 3, 13, 17)).astype(np.float32)
    y, at = wp.max_pool(x, **POOL, indices="int64", device="cpu")
    inputs = [("x", TensorProto.FLOAT, y.shape), ("at", TensorProto.INT64, at.shape)]
    given = {"x": y, "at": at}
    for more, size in (([], None), ([("shape", TensorProto.INT64, [4])], np.array(x.shape))):
        of = model("MaxUnpool", POOL, inputs + more)
        feed = given if size is None else {**given, "shape": size}
        expected = session(of, ours=False).run(None, feed)[0]
        assert np.array_equal(session(of, ai_onnx="1", device=place).run(None, feed)[0], expected)


def test_the_log_says_that_our_kernel_ran(capfd: pytest.CaptureFixture[str]) -> None:
    of = model("MaxPool", POOL, [("x", TensorProto.FLOAT, [1, 1, 4, 4])])
    session(of, log=1, ai_onnx="1", device="cpu")
    assert 'wgpu-pooling computes the node "node", MaxPool of f32, on CPU' in capfd.readouterr().err
    session(of, log=1, device="cpu")
    assert "wgpu-pooling computes" not in capfd.readouterr().err, "ai.onnx has to be asked for"


def test_the_domains_of_their_own(place: str) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 13, 17)).astype(np.float32)
    y, at = wp.max_pool(x, **POOL, indices="int64", device="cpu")
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    of = model("MaxPool", {**POOL, "activation": "Relu"}, [("x", TensorProto.FLOAT, last.shape)], "com.ms.internal.nhwc", 2)
    own_y, own_at = session(of, device=place).run(None, {"x": last})
    assert np.array_equal(own_y.transpose(0, 3, 1, 2), np.maximum(y, 0)) and np.array_equal(own_at, at)
    of = model("MaxPool", POOL, [("x", TensorProto.FLOAT, x.shape)], "wgpu.pooling", 2)
    own = session(of, device=place).run(None, {"x": x})
    assert np.array_equal(own[0], y) and np.array_equal(own[1], at)
    of = model("AdaptiveMaxPool", dict(output_size=[5, 3]), [("x", TensorProto.FLOAT, x.shape)], "wgpu.pooling", 2)
    own = session(of, device=place).run(None, {"x": x})
    expected = wp.adaptive_max_pool(x, [5, 3], indices="int64", device="cpu")
    assert all(np.array_equal(a, b) for a, b in zip(own, expected, strict=True))


def test_a_node_of_our_domain_names_its_preset() -> None:
    x = np.array([[[np.nan, 1, 2, np.nan, 3, 0]]], np.float32)
    for preset, nan_policy in (("openvino", "seed_lowest"), ("pytorch", "propagate_last")):
        for of, expected in (
            (model("AdaptiveMaxPool", dict(output_size=[2], preset=preset), [("x", TensorProto.FLOAT, x.shape)], "wgpu.pooling", 2),
             wp.adaptive_max_pool(x, [2], preset=preset, indices="int64", device="cpu")),
            (model("MaxPool", dict(kernel_shape=[3], strides=[3], preset=preset), [("x", TensorProto.FLOAT, x.shape)], "wgpu.pooling", 2),
             wp.max_pool(x, kernel_shape=[3], strides=[3], preset=preset, nan_policy=nan_policy, indices="int64", device="cpu")),
        ):  # fmt: skip
            own = session(of, device="cpu").run(None, {"x": x})
            assert all(np.array_equal(a, b, equal_nan=a.dtype == np.float32) for a, b in zip(own, expected, strict=True)), preset
    of = model("MaxPool", dict(kernel_shape=[3], preset="tflite"), [("x", TensorProto.FLOAT, x.shape)], "wgpu.pooling")
    with pytest.raises(Exception, match="tflite"):
        session(of, device="cpu")


def test_errors_are_exceptions_with_our_texts() -> None:
    shape = (1, 1, 2, 2)
    of = model("MaxUnpool", dict(kernel_shape=[2, 2], strides=[2, 2]), [("x", TensorProto.FLOAT, shape), ("at", TensorProto.INT64, shape)])
    at = np.zeros(shape, np.int64)
    at[0, 0, 1, 1] = 12345
    with pytest.raises(Exception, match="12345"):
        session(of, ai_onnx="1", device="cpu").run(None, {"x": np.ones(shape, np.float32), "at": at})
    with pytest.raises(Exception, match="tpu.*auto, gpu and cpu"):
        session(of, device="tpu")
    of = model("MaxPool", dict(kernel_shape=[9, 9]), [("x", TensorProto.FLOAT, None)])
    with pytest.raises(Exception, match="9"):
        session(of, ai_onnx="1", device="cpu").run(None, {"x": np.ones(shape, np.float32)})


@pytest.mark.parametrize("wrong", [dict(strides=2), dict(strides=[2.0, 2.0]), dict(ceil_mode=1.0), dict(auto_pad=3)], ids=str)
def test_an_attribute_of_a_wrong_kind_is_refused(wrong: dict[str, Any]) -> None:
    of = model("MaxPool", {"kernel_shape": [2, 2], **wrong}, [("x", TensorProto.FLOAT, [1, 1, 4, 4])], "wgpu.pooling")
    with pytest.raises(Exception, match=next(iter(wrong))):
        session(of, device="cpu")


def test_an_attribute_of_another_operator_is_refused() -> None:
    of = model("AdaptiveMaxPool", dict(output_size=[1, 1], strides=[1, 1]), [("x", TensorProto.FLOAT, [1, 1, 4, 4])], "wgpu.pooling")
    with pytest.raises(Exception, match="strides"):
        session(of, device="cpu")


def test_every_element_type_of_our_domain() -> None:
    # onnxruntime has no inputs of bfloat16 from numpy; the others are all that it hands over.
    for name in ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        x = (np.random.default_rng(4).standard_normal((2, 3, 13, 17)) * 50).astype(np.int64).astype(name)
        of = model("MaxPool", POOL, [("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)], "wgpu.pooling", 2)
        own = session(of, device="cpu").run(None, {"x": x})
        expected = wp.max_pool(x, **POOL, indices="int64", device="cpu")
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(own, expected, strict=True)), name


def test_other_shapes_in_each_call_and_several_threads(place: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    of = model("MaxPool", POOL, [("x", TensorProto.FLOAT, [None, 3, None, None])], outputs=2)
    own, plain = session(of, ai_onnx="1", device=place), session(of, ours=False)

    def equal(seed: int) -> bool:
        random = np.random.default_rng(seed)
        x = random.standard_normal((1 + seed % 3, 3, 9 + seed % 7, 20)).astype(np.float32)
        return all(np.array_equal(a, b) for a, b in zip(own.run(None, {"x": x}), plain.run(None, {"x": x})))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(equal, range(40)))


EXPORT = """
import sys, numpy as np, torch, wgpu_pooling as wp

extents = [int(extent) for extent in sys.argv[2:]]
pool = getattr(torch.nn.functional, f"adaptive_max_pool{len(extents)}d")

class Model(torch.nn.Module):
    def forward(self, x):
        return *pool(x, (5, 3, 4)[:len(extents)], return_indices=True), pool(x[0], 2)

x = torch.randn(2, 3, *extents)
x[0, 0, 3], x[1, 2, 5] = float("nan"), -float("inf")
model = Model().eval()
torch.onnx.export(model, (x,), f"{sys.argv[1]}/model.onnx", dynamo=True, custom_translation_table=wp.torch_onnx_translations())
np.savez(f"{sys.argv[1]}/expected.npz", x.numpy(), *(output.numpy() for output in model(x)))
"""


@pytest.mark.parametrize("extents", [(13,), (13, 17), (13, 17, 6)], ids=["1d", "2d", "3d"])
def test_torch_exports_adaptive_pools(extents: tuple[int, ...], place: str, tmp_path: Path) -> None:
    for package in ("torch", "onnxscript"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: torch's export is not tried (tests/python --all)")
    # The exporter loads triton, which ends a process that has Mesa's LLVM in it already.
    command = [sys.executable, "-c", EXPORT, str(tmp_path), *map(str, extents)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    x, *expected = np.load(tmp_path / "expected.npz").values()
    own = session((tmp_path / "model.onnx").read_bytes(), device=place).run(None, {"x": x})
    for actual, other in zip(own, expected, strict=True):
        assert np.array_equal(actual, other, equal_nan=actual.dtype == np.float32)
