"""Whatever is passed, the answer is right or an exception of the documented classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import wgpu_pooling as wp

X = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)


def test_classes() -> None:
    assert issubclass(wp.PlanError, wp.PoolingError) and issubclass(wp.PlanError, ValueError)
    assert issubclass(wp.DeviceError, wp.PoolingError)
    assert wp.PlanError.__module__ == "wgpu_pooling"


@pytest.mark.parametrize(
    ("attributes", "error", "text"),
    [
        (dict(kernel_shape=[6, 6]), wp.PlanError, "axis 0: the effective kernel 6 exceeds the padded input 4"),
        (dict(kernel_shape=[2]), wp.PlanError, "kernel_shape has 1 values, expected 2"),
        (dict(kernel_shape=[]), wp.PlanError, "kernel_shape has 0 values, expected 2"),
        (dict(kernel_shape=[0, 2]), wp.PlanError, r"kernel_shape\[0\] is 0, but must be at least 1"),
        (dict(kernel_shape=[2, 2], strides=[-1, 1]), wp.PlanError, r"strides\[0\] is -1"),
        (dict(kernel_shape=[2, 2], pads=[0, 0, 0, -1]), wp.PlanError, r"pads\[3\] is -1, but must not be negative"),
        (dict(kernel_shape=[2**63, 2]), wp.PlanError, "kernel_shape has 9223372036854775808, beyond 64 bits"),
        (dict(kernel_shape=[10**5000, 2]), wp.PlanError, "kernel_shape has a number, beyond 64 bits"),
        (dict(kernel_shape=[2**63 - 1, 2]), wp.PlanError, "axis 0"),
        (dict(kernel_shape=[2, 2], dilations=[2**62, 1], pads=[2**62] * 4), wp.PlanError, "axis 0"),
        (dict(kernel_shape=[2, 2], strides=[2**63 - 1, 1], pads=[1, 1, 1, 1]), None, ""),
        (dict(kernel_shape=2), TypeError, "kernel_shape is no list"),
        (dict(kernel_shape="22"), TypeError, "kernel_shape is no list"),
        (dict(kernel_shape=None), wp.PlanError, "kernel_shape"),
        (dict(kernel_shape=[2.5, 2]), TypeError, "kernel_shape is of type float, expected whole numbers"),
        (dict(kernel_shape=[None, 2]), TypeError, "kernel_shape is of type NoneType"),
        (dict(kernel_shape=[2, 2], strides=2), TypeError, "strides"),
        (dict(kernel_shape=[2, 2], auto_pad="FULL"), wp.PlanError, "expected NOTSET, VALID, SAME_UPPER, SAME_LOWER"),
        (dict(kernel_shape=[2, 2], auto_pad=3), TypeError, "auto_pad"),
        (dict(kernel_shape=[2, 2], nan_policy="never"), wp.PlanError, "expected seed_first"),
        (dict(kernel_shape=[2, 2], nan_policy=1), TypeError, "nan_policy is of type int, expected a string"),
        (dict(kernel_shape=[2, 2], kernel=3), wp.PlanError, "kernel"),
        (dict(kernel_shape=[2, 2], unpool_space="output_shape"), wp.PlanError, "unpool_space"),
        (dict(kernel_shape=[2, 2], ceil_mode=2), wp.PlanError, "ceil_mode"),
        (dict(kernel_shape=[2, 2], preset="caffe"), wp.PlanError, "preset.*caffe.*expected onnx"),
        (dict(kernel_shape=[2, 2], indices="int16"), wp.PlanError, "indices.*int16.*expected int32, int64"),
        (dict(kernel_shape=[2, 2], indices=True), TypeError, "indices"),
        (dict(kernel_shape=[2, 2], device="cuda"), TypeError, 'expected None, "cpu" or a Gpu'),
        (dict(kernel_shape=[2, 2], device=0), TypeError, 'expected None, "cpu" or a Gpu'),
        (dict(kernel_shape=[2, 2], activation="Clip", activation_params=[float("nan")]), wp.PlanError, "not a number"),
        (dict(kernel_shape=[2, 2], activation="Clip", activation_params=["a"]), TypeError, "activation_params"),
        (dict(kernel_shape=[2, 2], activation="Clip", activation_params=6.0), TypeError, "expected a list of numbers"),
        (dict(kernel_shape=[2, 2], activation="Clip", activation_params=[-1e300]), wp.PlanError, "has -1e.300, beyond the range"),
        (dict(kernel_shape=[2, 2], activation="Clip", activation_params=[0, 10**400]), wp.PlanError, "has 1000*, beyond the range"),
        (dict(kernel_shape=[2, 2], pads=[2**40] * 4), wp.PlanError, "more elements than 64-bit"),
    ],
)
def test_attributes(attributes: dict, error: type | None, text: str) -> None:
    attributes = {"device": "cpu", **attributes}
    if error is None:
        assert wp.max_pool(X, **attributes).shape == (1, 2, 1, 5)
        return
    with pytest.raises(error, match=text):
        wp.max_pool(X, **attributes)


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (X.astype(bool), TypeError, "bool, expected one of float16"),
        (X.astype(complex), TypeError, "complex128, expected one of"),
        (X.astype(object), TypeError, "object, expected one of"),
        (X.astype("S4"), TypeError, "expected one of"),
        (X.astype("M8[s]"), TypeError, "expected one of"),
        (X.astype([("a", "f4")]), TypeError, "expected one of"),
        (np.zeros((1, 1, 4, 4), "V2"), TypeError, "expected one of"),
        (X.astype(np.longdouble), TypeError, "expected one of"),
        (np.ma.masked_array(X), TypeError, "masked"),
        ([[[[1.0]]]], TypeError, "of type list"),
        (None, TypeError, "of type NoneType"),
        (Path(), TypeError, r"x is of type pathlib\.\w*Path, expected an array"),
        (wp, TypeError, "x is of type module"),
        (np.ndarray, TypeError, "x is of type type and gives no array"),
        ("x", TypeError, "of type str"),
        (3, TypeError, "of type int"),
        (np.float32(3), wp.PlanError, "0 axes"),
        (np.zeros(4, np.float32), wp.PlanError, "1 axes"),
        (np.zeros((1,) * 13, np.float32), wp.PlanError, "13 axes"),
        (np.zeros((1, 1, 0, 4), np.float32), wp.PlanError, "extent 0"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_tensors(x: object, error: type, text: str, device: object) -> None:
    with pytest.raises(error, match=text):
        wp.max_pool(x, kernel_shape=[2, 2], device=device)


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 0, 4, 4), (0, 0, 4, 4)])
def test_empty_tensors(shape: tuple[int, ...], device: object) -> None:
    y, indices = wp.max_pool2d(np.zeros(shape, np.float32), 2, return_indices=True, device=device)
    assert y.shape == indices.shape == (*shape[:2], 2, 2)
    assert wp.max_unpool2d(y, indices, 2, device=device).shape == shape
    assert wp.adaptive_max_pool2d(X, 0, device=device).shape == (1, 2, 0, 0)


def test_more_elements_than_memory() -> None:
    """Strides of zero make a large array of one element; its outputs are larger than any memory."""
    x = np.broadcast_to(np.float32(1), (1, 1, 2, 2))
    with pytest.raises(MemoryError):
        wp.max_pool(x, kernel_shape=[1, 1], pads=[2**24] * 4, indices="int64", device="cpu")
    with pytest.raises((wp.PlanError, MemoryError)):
        wp.max_unpool2d(np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1, 1), np.int64), 2, output_size=(2**30, 2**30), device="cpu")


def test_indices(device: object) -> None:
    x = np.ones((1, 2, 1, 1), np.float32)

    def unpool(indices: object, **more: object) -> np.ndarray:
        return wp.max_unpool2d(x, np.reshape(indices, (1, 2, 1, 1)), 2, device=device, **more)

    with pytest.raises(IndexError, match=r"indices\[1\] is -7, outside the valid range \[0, 4\); 1 such"):
        unpool([3, -7])
    with pytest.raises(IndexError, match=r"indices\[0\] is 9223372036854775807, .*; 2 such"):
        unpool([2**63 - 1, 4])
    with pytest.raises(TypeError, match="indices are of type float64, expected int32 or int64"):
        unpool([1.0, 2.0])
    with pytest.raises(TypeError, match="bool, expected"):
        unpool([True, False])
    with pytest.raises(ValueError, match=r"indices has the shape \[1, 1, 1, 1\], but .* \[1, 2, 1, 1\]"):
        wp.max_unpool2d(x, np.zeros((1, 1, 1, 1), np.int64), 2, device=device)
    with pytest.raises(IndexError, match="outside its own window"):
        pool = dict(kernel_shape=[2, 2], strides=[2, 2])
        wp.inverse_max_pool(
            np.ones((1, 1, 2, 2), np.float32),
            np.zeros((1, 1, 2, 2), np.int64),
            (1, 1, 4, 4),
            pool=pool,
            outside_window="error",
            device=device,
        )
    with pytest.raises(IndexError, match="another plane"):
        wp.convert_indices(np.reshape([1, 1], (1, 2, 1)), [1, 2, 1], {}, {"flatten": "plane"}, device=device)
    with pytest.raises(wp.PlanError, match=r"shape\[0\] is -1"):
        wp.convert_indices(np.zeros((1, 1, 1), np.int64), [-1, 1, 1], {}, {}, device=device)
    with pytest.raises(wp.PlanError, match="to|indices"):
        wp.convert_indices(np.zeros((1, 1, 1), np.int64), [1, 1, 1], {}, {}, to="int8", device=device)
    with pytest.raises(wp.PlanError, match="the pool to be inverted gives"):
        wp.inverse_max_pool(X, np.zeros(X.shape, np.int64), (1, 2, 9, 9), pool={"kernel_shape": [2, 2]}, device=device)
    with pytest.raises(wp.PlanError, match="more elements"):
        wp.inverse_max_pool(X, X.astype(int), (2**40, 2**40, 9, 9), pool={"kernel_shape": [2, 2]}, device=device)


def unpool(**arguments: object) -> np.ndarray:
    return wp.max_unpool2d(**{"input": X, "indices": X.astype(int), "kernel_size": 2, "device": "cpu", **arguments})


def test_torchs_words() -> None:
    for call, text in [
        (lambda: wp.max_pool2d(X, 2, padding=2, device="cpu"), r"^padding\[0\] is 2, above the limit of 1$"),
        (lambda: wp.max_pool2d(X, 2, padding=(0, -1), device="cpu"), r"padding\[1\] is -1"),
        (lambda: wp.max_pool2d(X, 2, stride=(1, 0), device="cpu"), r"stride\[1\] is 0"),
        (lambda: wp.max_pool2d(X, 2, dilation=0, device="cpu"), r"dilation\[0\] is 0"),
        (lambda: wp.max_pool2d(X, (2, 2**64), device="cpu"), "kernel_size has 18446744073709551616, beyond 64 bits"),
        (lambda: wp.max_pool2d(X, 2**62, dilation=4, device="cpu"), "kernel_size .*, stride .*, dilation 4 and padding"),
        (lambda: wp.max_pool2d(X, (2, 2, 2), device="cpu"), "kernel_size has 3 values, expected 1 or 2"),
        (lambda: wp.max_pool2d(X[0, 0], 2, device="cpu"), "input has 2 axes, expected 3 or 4"),
        (lambda: wp.max_pool1d(X, 2, device="cpu"), "input has 4 axes, expected 2 or 3"),
        (lambda: wp.max_pool2d(X, 9, device="cpu"), "the effective kernel 9 exceeds"),
        (lambda: wp.adaptive_max_pool2d(X, -1, device="cpu"), r"output_size\[0\] is -1"),
        (lambda: wp.adaptive_max_pool2d(X, (None, 2, 3), device="cpu"), "output_size has 3 values, expected 2"),
        (lambda: unpool(output_size=(8,)), "output_size has 1 values, expected 2 or 4"),
        (lambda: unpool(output_size=(2, 8, 8)), "output_size has 3 values, expected 2 or 4"),
        (lambda: unpool(output_size=(1, 1, 2, 8, 8)), "output_size has 5 values, expected 2 or 4"),
        (lambda: unpool(output_size=(8, -1)), r"output_size\[1\] is -1"),
        (lambda: unpool(kernel_size=[2]), "kernel_size has 1 values, expected 2"),
        (lambda: unpool(stride=[]), "stride has 0 values, expected 2"),
        (lambda: unpool(padding=(0, 0, 0)), "padding has 3 values, expected 2"),
        (lambda: unpool(padding=(0, -1)), r"padding\[1\] is -1"),
        (lambda: unpool(indices=X[0].astype(int)), r"indices has the shape \[2, 4, 4\], but input has \[1, 2, 4, 4\]"),
        (lambda: unpool(input=X[0]), r"indices has the shape \[1, 2, 4, 4\], but input has \[2, 4, 4\]"),
    ]:
        with pytest.raises(wp.PlanError, match=text):
            call()


def test_torchs_parameters() -> None:
    pool = "input kernel_size stride=None padding=0 dilation=1 ceil_mode=False return_indices=False device=None"
    unpool = "input indices kernel_size stride=None padding=0 output_size=None device=None"
    adaptive = "input output_size return_indices=False device=None"
    for family, expected in (("max_pool", pool), ("max_unpool", unpool), ("adaptive_max_pool", adaptive)):
        for axes in (1, 2, 3):
            parameters = inspect.signature(getattr(wp, f"{family}{axes}d")).parameters.values()
            names = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters]
            assert " ".join(names) == expected
            assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == ["device"]


# What torch refuses for a number, alone or in brackets.
NO_NUMBERS = ["", "2", b"\2", 2.0, 0.0, True, False, np.float32(2), np.bool_(True), {}, {2}, {2: 2}, Decimal(2), (n for n in (2, 2))]
NO_NUMBERS += [np.array([2, 2]), [2.0, 2], (2, True), (2, ""), [[2, 2], 2], (np.float64(2), 2), (Decimal(2), 2)]


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        *((wp.max_pool2d, name) for name in ("kernel_size", "stride", "padding", "dilation")),
        *((unpool, name) for name in ("kernel_size", "stride", "padding", "output_size")),
        (wp.adaptive_max_pool2d, "output_size"),
    ],
)
def test_what_is_no_number_is_refused(function: Callable[..., object], argument: str) -> None:
    others = {} if function is unpool else {"input": X, "device": "cpu"}
    if function is wp.max_pool2d:
        others["kernel_size"] = 2
    none_is_known = argument == "stride" or argument == "output_size"
    for value in [*NO_NUMBERS, *([] if none_is_known else [None, (2, None)])]:
        with pytest.raises(TypeError, match=rf"^{argument} is of type [\w.]+, expected whole numbers"):
            function(**{**others, argument: value})
    for value in (np.int8(2), [np.int64(2), 2], range(2, 4)):
        try:
            function(**{**others, argument: value})
        except (wp.PlanError, IndexError) as error:
            assert "of type" not in str(error)
        except TypeError:
            assert argument == "output_size" and function is unpool and value is not range(2, 4)


def test_flags() -> None:
    for argument in ("ceil_mode", "return_indices"):
        for value in ("no", "", 0.5, 2, None, [1], np.zeros(2)):
            with pytest.raises(TypeError, match=f"^{argument} is of type .*, expected bool"):
                wp.max_pool2d(X, 3, **{argument: value}, device="cpu")
    assert wp.max_pool2d(X, 3, 2, ceil_mode=np.bool_(True), device="cpu").shape == (1, 2, 2, 2)
    assert len(wp.max_pool2d(X, 3, return_indices=1, device="cpu")) == 2


def test_openvinos_two_ceilings() -> None:
    """Windows of 2, 3 apart, on 9 elements: "ceil" keeps the one that starts where the elements end, "ceil_torch" drops it."""
    x = np.zeros((1, 1, 9), np.float32)
    for options, outputs in [
        (dict(ceil_mode=1), 4),
        (dict(ceil_mode=1, ceil_rule="ceil_literal"), 4),
        (dict(ceil_mode=1, ceil_rule="ceil_drop"), 3),
        (dict(ceil_rule="ceil_drop"), 3),
        (dict(ceil_mode=0), 3),
    ]:
        y = wp.max_pool(x, kernel_shape=[2], strides=[3], preset="openvino", device="cpu", **options)
        assert y.shape == (1, 1, outputs), options
    # The other presets have one ceiling.
    assert wp.max_pool(x, kernel_shape=[2], strides=[3], ceil_mode=1, device="cpu").shape == (1, 1, 3)
    with pytest.raises(wp.PlanError, match="ceil_mode"):
        wp.max_pool(x, kernel_shape=[2], preset="openvino", ceil_mode=2, device="cpu")


def test_other_arguments_are_named() -> None:
    one = np.zeros((1, 1, 1), np.int64)
    for call, error, text in [
        (lambda: wp.inverse_max_pool(X, X, X.shape, pool=3, device="cpu"), TypeError, "pool is of type int, expected a dict"),
        (lambda: wp.inverse_max_pool(X, X, X.shape, pool={"kernel_shape": [1, 1]}, preset="", device="cpu"), wp.PlanError, "preset"),
        (lambda: wp.convert_indices(one, [1, 1, 1], None, {}, device="cpu"), TypeError, "source is of type NoneType"),
        (lambda: wp.convert_indices(one, [1, 1, 1], {}, "flatten", device="cpu"), TypeError, "target is of type str"),
        (lambda: wp.convert_indices(one, [1, 1, 1], {}, {}, to="int8", device="cpu"), wp.PlanError, "^to: unknown value"),
        (lambda: wp.max_pool(X, kernel_shape=[2, Decimal(2)], device="cpu"), TypeError, "kernel_shape is of type decimal.Decimal"),
        (lambda: wp.max_pool2d(X, 2, device=np.zeros(2)), TypeError, "^device is"),
        (lambda: wp.max_pool(one, kernel_shape=[1], empty_value="nan", device="cpu"), wp.PlanError, "nan is not defined for i64"),
        (lambda: wp.max_pool(X, kernel_shape=[2, 2], preset=None, device="cpu"), TypeError, "^preset is of type NoneType"),
        (lambda: wp.max_pool(X, kernel_shape=[2, 2], indices=8, device="cpu"), TypeError, "^indices is of type int, expected a string"),
        (lambda: wp.max_pool(X, kernel_shape=[2, 2], auto_pad="\ud800", device="cpu"), wp.PlanError, "^auto_pad"),
        (lambda: wp.max_unpool(X, X, kernel_shape=[2, 2], preset=Decimal(2), device="cpu"), TypeError, "^preset is of type decimal.Dec"),
        (lambda: wp.convert_indices(one, [1, 1, 1], {}, {}, to=8, device="cpu"), TypeError, "^to is of type int"),
        (lambda: wp.convert_indices(one, [1, 1, 1], {1: 2}, {}, device="cpu"), TypeError, "^the name of an attribute is of type int"),
        (lambda: wp.Gpu(3), TypeError, "^adapter_name is of type int, expected a string"),
        (lambda: wp.Gpu(backend=3), TypeError, "^backend is of type int"),
        (lambda: wp.Gpu(power_preference=3), TypeError, "^power_preference is of type int"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(wp.DeviceError, match="no usable GPU adapter.*no such adapter"):
        wp.Gpu("no such adapter")
    with pytest.raises(wp.PlanError, match="backend.*expected vulkan"):
        wp.Gpu(backend="cuda")
    with pytest.raises(wp.PlanError, match="power_preference"):
        wp.Gpu(power_preference="much")  # type: ignore[arg-type]


def test_random_calls(device: object) -> None:
    """Calls with attributes at random: a result of the shape that both devices agree on, or a documented exception."""
    random = np.random.default_rng(11)
    results = 0
    for _ in range(600):
        axes = int(random.integers(1, 4))
        x = random.integers(-9, 9, random.integers(0, 6, axes + 2)).astype(random.choice(["f4", "i1", "f2", "u8"]))
        draw = lambda low, high, count: random.integers(low, high, count).tolist()  # noqa: E731
        attributes = dict(
            kernel_shape=draw(0, 4, axes), strides=draw(0, 4, axes), pads=draw(-1, 3, 2 * axes), ceil_mode=draw(0, 3, 1)[0]
        )
        try:
            y, indices = wp.max_pool(x, indices="int64", device=device, **attributes)
        except (wp.PlanError, TypeError, MemoryError):
            continue
        results += 1
        assert y.shape == indices.shape and y.dtype == x.dtype
        assert ((indices >= -1) & (indices < x.size)).all()
        found = indices >= 0
        np.testing.assert_array_equal(x.ravel()[indices[found]], y[found])
    assert results > 30
