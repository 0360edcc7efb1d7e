"""The custom operators in onnxruntime: a model as it is gives the bits that it gave before."""

import importlib.util
import os
import subprocess
import sys
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


def session(of: bytes, ours: bool = True, log: int = 3, **entries: str) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = log
    for name, value in entries.items():
        options.add_session_config_entry(f"wgpu_pooling.{name}", value)
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


def test_nan_and_infinities_are_as_in_the_kernel_with_indices(place: str) -> None:
    random = np.random.default_rng(9)
    x = random.choice([np.nan, -np.inf, np.inf, -0.0, 0.0, 1.0], (2, 3, 13, 17)).astype(np.float32)
    inputs = [("x", TensorProto.FLOAT, x.shape)]
    expected = session(model("MaxPool", POOL, inputs, outputs=2), ours=False).run(None, {"x": x})[0]
    for outputs in (1, 2):
        of = model("MaxPool", POOL, inputs, outputs=outputs)
        y = session(of, ai_onnx="1", device=place).run(None, {"x": x})[0]
        numbers = ~np.isnan(expected)
        assert np.array_equal(np.isnan(y), ~numbers)
        assert np.array_equal(y.view(np.uint32)[numbers], expected.view(np.uint32)[numbers])


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
