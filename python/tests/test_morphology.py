"""Dilation and erosion beside OpenCV and scipy, where they are installed, and beside their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wgpu_pooling as wp

TYPES = [np.uint8, np.uint16, np.int16, np.float32, np.float64]
SIZES = [1, 2, 3, 4, 5, 8, 13, 31, 101]


def image(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    values = random.integers(0, 60000, shape) if np.dtype(dtype).kind in "iu" else random.normal(size=shape)
    return np.asarray(values).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_as_opencv(dtype: Any, size: int, device: object) -> None:
    cv2 = pytest.importorskip("cv2")
    for channels, (rows, columns) in ((1, (size, size)), (3, (size, 3)), (4, (2, size))):
        x = image((1, 43, 57, channels), dtype)
        kernel = np.ones((rows, columns), np.uint8)
        for name, mine in (("dilate", wp.dilate), ("erode", wp.erode)):
            theirs = getattr(cv2, name)
            expected = theirs(x[0], kernel).reshape(x.shape)
            np.testing.assert_array_equal(mine(x, [rows, columns], layout="NHWC", device=device), expected)
            anchor = [rows - 1, 0]
            expected = theirs(x[0], kernel, anchor=(0, rows - 1), iterations=3).reshape(x.shape)
            found = mine(x, [rows, columns], anchor=anchor, iterations=3, layout="NHWC", device=device)
            np.testing.assert_array_equal(found, expected)
            expected = theirs(x[0], kernel, anchor=(0, -1)).reshape(x.shape)
            found = mine(x, [rows, columns], anchor=[-1, 0], layout="NHWC", device=device)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_as_scipy(dtype: Any, size: int, device: object) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    for x, sizes in ((image((203,), dtype), size), (image((110, 103), dtype), (size, 2)), (image((9, 8, 104), dtype), (3, 4, size))):
        for name in ("grey_dilation", "grey_erosion"):
            expected = getattr(ndimage, name)(x, size=sizes)
            np.testing.assert_array_equal(getattr(wp, name)(x, sizes, device=device), expected)


COMPOSITIONS = [
    (wp.opening, "MORPH_OPEN", "grey_opening"),
    (wp.closing, "MORPH_CLOSE", "grey_closing"),
    (wp.gradient, "MORPH_GRADIENT", "morphological_gradient"),
    (wp.top_hat, "MORPH_TOPHAT", "white_tophat"),
    (wp.black_hat, "MORPH_BLACKHAT", "black_tophat"),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_compositions_as_opencv(dtype: Any, size: int, device: object) -> None:
    cv2 = pytest.importorskip("cv2")
    for channels, (rows, columns) in ((1, (size, size)), (3, (size, 3)), (4, (2, size))):
        x = image((1, 43, 57, channels), dtype)
        kernel = np.ones((rows, columns), np.uint8)
        for mine, operation, _ in COMPOSITIONS:
            theirs = getattr(cv2, operation)
            found = mine(x, [rows, columns], layout="NHWC", device=device)
            expected = cv2.morphologyEx(x[0], theirs, kernel).reshape(x.shape)
            np.testing.assert_array_equal(found, expected)
            options = {"anchor": [rows - 1, 0], "iterations": 3, "layout": "NHWC"}
            found = mine(x, [rows, columns], device=device, **options)
            expected = cv2.morphologyEx(x[0], theirs, kernel, anchor=(0, rows - 1), iterations=3).reshape(x.shape)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 3, 5, 13, 31, 101])
def test_compositions_as_scipy(dtype: Any, size: int, device: object) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    for x, sizes in ((image((203,), dtype), [size]), (image((110, 103), dtype), [size, 3]), (image((9, 8, 104), dtype), [3, 5, size])):
        # Their differences wrap around, and ours do not.
        x = x // 2 if x.dtype.kind == "i" else x
        for mine, _, name in COMPOSITIONS:
            found = mine(x[None, None], sizes, device=device)
            np.testing.assert_array_equal(found[0, 0], getattr(ndimage, name)(x, size=sizes))


def test_compositions_stay_on_the_device(gpu: wp.Gpu) -> None:
    x = image((2, 3, 20, 31), np.int16)
    for mine, _, _ in COMPOSITIONS:
        on_device = mine(gpu.upload(x), [3, 4], anchor=[0, 3])
        assert isinstance(on_device, wp.DeviceTensor)
        np.testing.assert_array_equal(on_device.numpy(), mine(x, [3, 4], anchor=[0, 3], device="cpu"))


def test_differences_saturate(device: object) -> None:
    x = np.array([[[-30000, 30000, 0, -5]]], np.int16)
    np.testing.assert_array_equal(wp.gradient(x, [3], device=device), [[[32767, 32767, 30005, 5]]])
    y = wp.gradient(np.array([[[np.inf, np.inf, 1, np.nan]]], np.float32), [2], device=device)
    np.testing.assert_array_equal(y, np.array([[[np.nan, np.nan, np.inf, 0]]], np.float32))


@pytest.mark.parametrize("mine", [mine for mine, _, _ in COMPOSITIONS], ids=lambda mine: mine.__name__)
def test_compositions_refuse_misuse_with_numbers(mine: Any, device: object) -> None:
    x = np.zeros((1, 1, 5), np.uint8)
    for kernel_shape, options, message in [
        ([3, 3], {}, "has 2 values, expected 1"),
        ([3], {"anchor": [3]}, r"anchor\[0\] is 3, outside a box of extent 3"),
        ([3], {"iterations": 0}, r"iterations is 0, but must be at least 1 \(OpenCV's 0 gives back X\)"),
        ([0], {}, r"kernel_shape\[0\] is 0"),
        ([2**62], {"iterations": 2**40}, f"a box of extent {2**62} with iterations {2**40} exceeds 64-bit positions"),
    ]:
        with pytest.raises(wp.PlanError, match=message):
            mine(x, kernel_shape, device=device, **options)


def test_boxes_by_their_definition(device: object) -> None:
    x = image((2, 3, 9, 11), np.int16)
    for mine, wins in ((wp.dilate, np.max), (wp.erode, np.min)):
        y = mine(x, [4, 3], anchor=[3, 0], device=device)
        for row in range(9):
            for column in range(11):
                box = x[:, :, max(row - 3, 0) : row + 1, column : column + 3]
                np.testing.assert_array_equal(y[:, :, row, column], wins(box, axis=(2, 3)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: wp.dilate(x, [3, 3]), "has 2 values, expected 1"),
        (lambda x: wp.erode(x, [3], anchor=[-2]), r"anchor\[0\] is -2, outside a box of extent 3"),
        (lambda x: wp.dilate(x, [3], anchor=[0, 0]), "anchor has 2 values, expected 1"),
        (lambda x: wp.dilate(x, [3], iterations=-(2**63)), "iterations is -9223372036854775808, but must be at least 1"),
        (lambda x: wp.dilate(x, [3], iterations=2**63), "iterations has 9223372036854775808, beyond 64 bits"),
        (lambda x: wp.erode(x, [0]), r"kernel_shape\[0\] is 0"),
        (lambda x: wp.erode(x, [2], iterations=2**62), f"a box of extent 2 with iterations {2**62} exceeds 64-bit positions"),
        (lambda x: wp.grey_dilation(x[0, 0, 0], 2), "x has 0 axes, expected 1 to 10"),
        (lambda x: wp.grey_erosion(x.reshape((5,) + (1,) * 10), 2), "x has 11 axes, expected 1 to 10"),
        (lambda x: wp.grey_dilation(x[0], [2, 0]), r"^size\[1\] is 0, but must be at least 1"),
        (lambda x: wp.grey_erosion(x[0], [2]), "^size has 1 values, expected 2"),
        (lambda x: wp.grey_erosion(x[0], 2**63), "^size has 9223372036854775808, beyond 64 bits"),
    ],
)
def test_misuse_is_refused_with_numbers(call: Any, message: str) -> None:
    with pytest.raises(wp.PlanError, match=message):
        call(np.zeros((1, 1, 5), np.uint8))


def test_scipys_sizes_are_integers_or_any_sequence_of_them() -> None:
    x = image((5, 6), np.uint8)
    expected = wp.grey_dilation(x, [3, 3], device="cpu")
    sizes: list[Any] = [3, np.int64(3), np.array(3), (3, 3), np.array([3, 3])]
    for size in sizes:
        np.testing.assert_array_equal(wp.grey_dilation(x, size, device="cpu"), expected)
    wrongs: list[Any] = [3.0, None, "3", np.array(3.0), [3, 3.0]]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="size is of type"):
            wp.grey_erosion(x, wrong, device="cpu")


def test_nan_is_ignored(device: object) -> None:
    random = np.random.default_rng(7)
    x = random.normal(size=(41, 53)).astype(np.float32)
    x[random.random(x.shape) < 0.3] = np.nan
    x[10:30, 5:40] = np.nan
    options: dict[str, Any] = {"nan_policy": "ignore", "empty_value": "nan", "device": device}

    def windows(of: np.ndarray) -> np.ndarray:
        padded = np.pad(of, 1, constant_values=np.nan)
        return np.lib.stride_tricks.sliding_window_view(padded, (3, 3))

    def most(of: np.ndarray) -> np.ndarray:
        return np.asarray(np.fmax.reduce(windows(of), axis=(2, 3)))

    def least(of: np.ndarray) -> np.ndarray:
        return np.asarray(np.fmin.reduce(windows(of), axis=(2, 3)))

    image = x[None, None]
    np.testing.assert_array_equal(wp.grey_dilation(x, 3, **options), most(x))
    np.testing.assert_array_equal(wp.grey_erosion(x, 3, **options), least(x))
    np.testing.assert_array_equal(wp.dilate(image, [3, 3], **options)[0, 0], most(x))
    np.testing.assert_array_equal(wp.opening(image, [3, 3], **options)[0, 0], most(least(x)))
    np.testing.assert_array_equal(wp.closing(image, [3, 3], **options)[0, 0], least(most(x)))
    np.testing.assert_array_equal(wp.gradient(image, [3, 3], **options)[0, 0], most(x) - least(x))
    # Without the option nothing is -inf but a box of NaN alone.
    found = wp.dilate(image, [3, 3], nan_policy="ignore", device=device)[0, 0]
    np.testing.assert_array_equal(np.isneginf(found), np.isnan(most(x)))


def test_what_nothing_won_comes_back_as_nothing(device: object) -> None:
    x = np.array([[[9, 1, np.nan, np.nan, 2, 3]]], np.float32)
    for options in (dict(nan_policy="ignore"), dict(nan_policy="seed_lowest"), dict(preset="openvino")):
        preset = options.pop("preset", "onnx")
        pool: dict[str, Any] = {"kernel_shape": [2], "strides": [2], **options}
        y, indices = wp.max_pool(x, indices="int64", preset=preset, device=device, **pool)
        back = wp.inverse_max_pool(y, indices, x.shape, pool=pool, preset=preset, device=device)
        np.testing.assert_array_equal(back, [[[9, 0, 0, 0, 0, 3]]])
