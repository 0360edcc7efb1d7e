"""Kinds of arrays, element types, and memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import wgpu_pooling as wp
from wgpu_pooling._arrays import taken

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES = [np.dtype(name) for name in ["float16", "float32", "float64", *INTEGERS]] + [np.dtype(ml_dtypes.bfloat16)]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_element_type(dtype: np.dtype, device: object) -> None:
    x = np.random.default_rng(1).integers(0, 100, (2, 3, 8, 9)).astype(dtype)
    windows = x[:, :, :, :8].reshape(2, 3, 4, 2, 4, 2).astype(np.float64)
    y, indices = wp.max_pool(x, kernel_shape=[2, 2], strides=[2, 2], indices="int32", device=device)
    assert (y.dtype, indices.dtype) == (dtype, np.int32)
    np.testing.assert_array_equal(y.astype(np.float64), windows.max((3, 5)))
    np.testing.assert_array_equal(x.ravel()[indices], y)
    back = wp.inverse_max_pool(y, indices, x.shape, pool=dict(kernel_shape=[2, 2], strides=[2, 2]), device=device)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.ravel()[indices], y)
    assert np.count_nonzero(back.astype(np.float64)) <= y.size


def test_shapes_and_orders_in_memory(device: object) -> None:
    x = np.random.default_rng(2).standard_normal((2, 3, 6, 8)).astype(np.float32)
    expected = wp.max_pool2d(x, 2, device=device)
    big_endian = x.astype(">f4")
    assert not big_endian.dtype.isnative
    whole = np.zeros((2, 3, 6, 16), np.float32)
    whole[..., ::2] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape)
    assert not unaligned.flags.aligned
    for same in (np.asfortranarray(x), big_endian, whole[..., ::2], x[::-1][::-1], read_only, unaligned):
        result = wp.max_pool2d(same, 2, device=device)
        assert result.dtype == np.float32 and result.flags.writeable
        np.testing.assert_array_equal(expected, result)
    # torch leaves N out.
    np.testing.assert_array_equal(expected[0], wp.max_pool2d(x[0], 2, device=device))


def test_one_memory_goes_in() -> None:
    class Interface:
        def __init__(self, x: np.ndarray) -> None:
            self.__array_interface__ = x.__array_interface__
            self.x = x

    class Dlpack:
        def __init__(self, x: np.ndarray) -> None:
            self.x = x

        def __dlpack__(self, **options: object) -> object:
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.x.__dlpack_device__()

    class Array:
        def __init__(self, x: np.ndarray) -> None:
            self.x = x

        def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
            return self.x

    x = np.ones((1, 1, 4, 4), np.float32)
    for given in (x, Interface(x), Dlpack(x), Array(x), x.view(type("Own", (np.ndarray,), {}))):
        (array, name), _ = taken(given, "x")
        assert np.shares_memory(array, x) and name == "f32"
        np.testing.assert_array_equal(wp.max_pool2d(given, 2, device="cpu"), np.ones((1, 1, 2, 2), np.float32))


def test_no_more_memory_than_the_outputs() -> None:
    """numpy tells tracemalloc what it allocates: the outputs, and no copy of the input."""
    import tracemalloc

    x = np.zeros((4, 16, 256, 256), np.float32)
    wp.max_pool2d(x, 2, return_indices=True, device="cpu")
    tracemalloc.start()
    y, indices = wp.max_pool2d(x, 2, return_indices=True, device="cpu")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < y.nbytes + indices.nbytes + (1 << 20), f"{peak} bytes"
    assert peak >= y.nbytes + indices.nbytes, "the measurement sees numpy's memory"


def test_memory_of_another_device_is_refused() -> None:
    class Cuda:
        def __dlpack__(self, **_: object) -> object:
            raise AssertionError("is not asked for")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(TypeError, match="input is in the memory of a device.*2.*copy it to the host"):
        wp.max_pool2d(Cuda(), 2, device="cpu")


@pytest.mark.parametrize("error", [AttributeError, BufferError, KeyError, RuntimeError, ValueError, MemoryError])
@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_device__", "__array_interface__", "__array__", "__index__"])
def test_conversions_that_fail_end_in_a_documented_class(name: str, error: type[Exception]) -> None:
    class Foreign:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    def fails(*_: object, **__: object) -> None:
        raise error("of its own")

    setattr(Foreign, name, property(fails) if name == "__array_interface__" else fails)
    if name == "__dlpack_device__":
        Foreign.__dlpack__ = fails  # type: ignore[attr-defined]
    if name == "__index__":
        with pytest.raises(TypeError, match=r"^kernel_size is of type [\w.]*test_arrays\.\S*Foreign, expected whole numbers"):
            wp.max_pool2d(np.ones((1, 1, 4, 4)), Foreign(), device="cpu")
        return
    # What fails with AttributeError when it is read is not there.
    text = "expected an array" if (name, error) == ("__array_interface__", AttributeError) else "of its own"
    with pytest.raises(MemoryError if error is MemoryError else TypeError, match=text):
        wp.max_pool2d(Foreign(), 2, device="cpu")


@pytest.mark.parametrize(
    "interface",
    [
        None,
        {},
        dict(shape=(1, 1, -4, 4), typestr="<f4", data=b"x" * 64, version=3),
        dict(shape="none", typestr="<f4", data=b"x" * 64, version=3),
        dict(shape=(1, 1, 2, 2), typestr="|O", data=b"x" * 64, version=3),
    ],
)
def test_interfaces_that_lie(interface: object) -> None:
    foreign = type("Foreign", (), {"__array_interface__": interface, "__dlpack_device__": lambda _: "cpu"})()
    with pytest.raises(TypeError, match="^input (is|has)"):
        wp.max_pool2d(foreign, 2, device="cpu")


def test_jax() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed: its arrays are not tried")
    for dtype in (jax.numpy.float32, jax.numpy.bfloat16):
        x = jax.numpy.arange(16, dtype=dtype).reshape(1, 1, 4, 4)
        y = wp.max_pool2d(x, 2, device="cpu")
        assert isinstance(y, jax.Array) and y.dtype == dtype
        assert y.ravel().tolist() == [5, 7, 13, 15]


def test_pyarrow() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: its tensors are not tried")
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    rows = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(x)
    y = wp.max_pool2d(rows, 2, device="cpu")
    assert isinstance(y, pyarrow.FixedShapeTensorArray)
    assert y.to_numpy_ndarray().ravel().tolist() == [5, 7, 13, 15]
    # Neither a null for a whole row nor one among its elements is a number.
    for row in (None, [None] + [1.0] * 15):
        storage = pyarrow.array([[1.0] * 16, row], pyarrow.list_(pyarrow.float32(), 16))
        nulls = pyarrow.ExtensionArray.from_storage(pyarrow.fixed_shape_tensor(pyarrow.float32(), (1, 4, 4)), storage)
        with pytest.raises(TypeError, match="input has nulls"):
            wp.max_pool2d(nulls, 2, device="cpu")
        assert wp.max_pool2d(nulls[:1], 2, device="cpu").to_numpy_ndarray().ravel().tolist() == [1] * 4
    with pytest.raises(wp.PlanError, match="pyarrow has elements"):
        wp.max_pool2d(rows[:0], 2, device="cpu")
    y = wp.max_pool2d(pyarrow.Tensor.from_numpy(x), 2, device="cpu")
    assert isinstance(y, pyarrow.Tensor) and y.to_numpy().ravel().tolist() == [5, 7, 13, 15]


def test_tensors_on_a_gpu(gpu: wp.Gpu) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 8, 8)).astype(np.float32)
    on_gpu = gpu.upload(x)
    assert (on_gpu.shape, on_gpu.dtype, on_gpu.layout, on_gpu.nbytes) == (x.shape, "float32", "NCHW", x.nbytes)
    assert on_gpu.device is gpu
    np.testing.assert_array_equal(on_gpu.numpy(), x)
    y, indices = wp.max_pool2d(on_gpu, 2, return_indices=True)
    back = wp.max_unpool2d(y, indices, 2)
    expected_y, expected_indices = wp.max_pool2d(x, 2, return_indices=True, device="cpu")
    np.testing.assert_array_equal(y.numpy(), expected_y)
    np.testing.assert_array_equal(indices.numpy(), expected_indices)
    np.testing.assert_array_equal(back.numpy(), wp.max_unpool2d(expected_y, expected_indices, 2, device="cpu"))
    grid = wp.adaptive_max_pool2d(back, (2, 2))
    np.testing.assert_array_equal(grid.numpy(), wp.adaptive_max_pool2d(back.numpy(), (2, 2), device="cpu"))
    halves = gpu.upload(x.astype(ml_dtypes.bfloat16))
    assert wp.max_pool2d(halves, 2).numpy().dtype == ml_dtypes.bfloat16
    converted = wp.convert_indices(indices, x.shape, {"flatten": "plane"}, {})
    np.testing.assert_array_equal(x.ravel()[converted.numpy()], expected_y)
    # ONNX's unpool counts the whole tensor, and the Gpu knows that these indices do not.
    with pytest.raises(wp.PlanError, match="indices count"):
        wp.max_unpool(y, indices, kernel_shape=[2, 2], strides=[2, 2])
    bad = gpu.upload(np.full((2, 3, 4, 4), 99, np.int64))
    with pytest.raises(IndexError, match=r"indices\[0\] is 99, outside the valid range \[0, 64\)"):
        wp.max_unpool2d(y, bad, 2)
    for device in ("cpu", wp.Gpu(gpu.name, gpu.backend)):
        with pytest.raises(TypeError, match="input is on <Gpu"):
            wp.max_pool2d(on_gpu, 2, device=device)
    with pytest.raises(TypeError, match="^input and indices are of two kinds"):
        wp.max_unpool2d(y, expected_indices, 2)
    with pytest.raises(wp.PlanError, match="lacks N"):
        wp.max_pool2d(gpu.upload(x[0]), 2)
    with pytest.raises(TypeError, match="on a device already"):
        gpu.upload(on_gpu)
    with pytest.raises(TypeError, match="^indices is on <Gpu"):
        wp.convert_indices(indices, x.shape, {"flatten": "plane"}, {}, device="cpu")
    with pytest.raises(TypeError, match="^layout is of type int, expected a string"):
        gpu.upload(x, 3)  # type: ignore[arg-type]
    rows = gpu.upload(x, "NHWC")
    with pytest.raises(wp.PlanError, match="^input is laid out"):
        wp.max_pool2d(rows, 2)
    for convert in (np.asarray, np.array, lambda y: np.stack([y, y]), lambda y: np.asarray([y]), lambda y: y + x, np.exp):
        with pytest.raises(TypeError, match=r"numpy\(\)"):
            convert(y)
