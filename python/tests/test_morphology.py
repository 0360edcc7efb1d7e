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


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_as_scipy(dtype: Any, size: int, device: object) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    for x, sizes in ((image((203,), dtype), size), (image((110, 103), dtype), (size, 2)), (image((9, 8, 104), dtype), (3, 4, size))):
        for name in ("grey_dilation", "grey_erosion"):
            expected = getattr(ndimage, name)(x, size=sizes)
            np.testing.assert_array_equal(getattr(wp, name)(x, sizes, device=device), expected)


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
        (lambda x: wp.erode(x, [3], anchor=[3]), r"anchor\[0\] is 3, outside a box of extent 3"),
        (lambda x: wp.dilate(x, [3], anchor=[0, 0]), "anchor has 2 values, expected 1"),
        (lambda x: wp.dilate(x, [3], iterations=0), r'iterations: unknown value "0", expected at least 1'),
        (lambda x: wp.erode(x, [0]), r"kernel_shape\[0\] is 0"),
        (lambda x: wp.erode(x, [2**62], iterations=2**40), "exceed 64-bit positions"),
    ],
)
def test_misuse_is_refused_with_numbers(call: Any, message: str) -> None:
    with pytest.raises(wp.PlanError, match=message):
        call(np.zeros((1, 1, 5), np.uint8))
