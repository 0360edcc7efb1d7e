"""Local maxima beside their definition, and beside scipy where it is installed."""

from __future__ import annotations

import concurrent.futures
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import wgpu_pooling as wp

TYPES = ["u1", "i2", "i8", "u8", "f2", "f4", "f8", "bfloat16"]


def drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """A map of few values, so that plateaus are many; NaN and zeros of both signs among floats."""
    random = np.random.default_rng(sum(shape))
    floats = dtype[0] in "fb"
    values = random.choice([-0.0, 0.0, 1.0, 2.0, 2.5, 3.0, np.nan], shape) if floats else random.integers(0, 6, shape)
    if dtype == "bfloat16":
        return values.astype(pytest.importorskip("ml_dtypes").bfloat16)
    return values.astype(dtype)


def by_definition(x: np.ndarray, kernel: list[int], threshold: float | None, layout: str) -> tuple[list, list]:
    x = x.astype(np.float64) if x.dtype.kind not in "iu" else x
    first = 2 if layout == "NCHW" else 1
    found = []
    for at in itertools.product(*map(range, x.shape)):
        window = [slice(place, place + 1) for place in at]
        for axis, extent in enumerate(kernel, first):
            window[axis] = slice(max(at[axis] - extent // 2, 0), at[axis] + (extent - 1) // 2 + 1)
        around = x[tuple(window)]
        # The place of the element itself among those of its window.
        own = np.ravel_multi_index([place - part.start for place, part in zip(at, window)], around.shape)
        around = around.ravel()
        largest = (around <= x[at]).all() and (around[:own] < x[at]).all()
        if largest and (threshold is None or x[at] > threshold):
            found.append((at, x[at]))
    found.sort(key=lambda peak: peak[1], reverse=True)
    return [list(at) for at, _ in found], [value for _, value in found]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("shape", "kernel", "layout"),
    [
        ((2, 3, 40), [5], "NCHW"),
        ((1, 2, 9, 12), [3, 4], "NCHW"),
        ((2, 8, 7, 3), [2, 3], "NHWC"),
        ((1, 1, 4, 5, 6), [3, 1, 7], "NCHW"),
        ((0, 2, 4), [3], "NCHW"),
    ],
)
def test_by_definition(dtype: str, shape: tuple[int, ...], kernel: list[int], layout: Any, device: object) -> None:
    x = drawn(shape, dtype)
    for threshold in (None, 0, 2, 2.25, 99):
        positions, values = wp.local_maxima(x, kernel, threshold=threshold, layout=layout, device=device)
        assert positions.shape == (len(values), x.ndim) and positions.dtype == np.int64
        assert values.dtype == (np.float32 if dtype == "bfloat16" else x.dtype)
        expected = by_definition(x, kernel, threshold, layout)
        assert (positions.tolist(), values.tolist()) == expected
        assert (len(values) > 0) == (x.size > 0 and threshold != 99)


@pytest.mark.parametrize("distance", [1, 2, 3, 7])
@pytest.mark.parametrize("number", [None, 5])
def test_as_skimage(distance: int, number: int | None, device: object) -> None:
    feature = pytest.importorskip("skimage.feature")
    for seed, (dtype, values) in enumerate([("f4", 1000), ("u1", 6), ("i2", 30), ("f8", 3)]):
        x = np.random.default_rng(seed).integers(0, values, (3, 41, 50)).astype(dtype)
        for plane in x:
            expected = feature.peak_local_max(plane, min_distance=distance, num_peaks=np.inf if number is None else number)
            wishes = {"plateaus": "all", "exclude_border": distance, "min_distance": distance, "largest": number}
            window = [2 * distance + 1] * 2
            positions, _ = wp.local_maxima(plane[None, None], window, threshold=plane.min(), device=device, **wishes)
            assert positions[:, 2:].tolist() == expected.tolist()


def test_minima_are_maxima_of_the_negative(device: object) -> None:
    for dtype in ("i1", "i4", "i8", "f2", "f4", "f8", "bfloat16"):
        x = drawn((2, 3, 20, 21), dtype)
        for wishes in ({}, {"plateaus": "all", "largest": 7}, {"min_distance": 4, "exclude_border": [1, 2]}):
            for threshold in (None, 3, 2.25, -np.inf, np.inf):
                limit = None if threshold is None else -threshold
                minima = wp.local_maxima(x, [3, 5], threshold=threshold, minima=True, device=device, **wishes)
                maxima = wp.local_maxima(-x, [3, 5], threshold=limit, device=device, **wishes)
                assert minima[0].tolist() == maxima[0].tolist()
                assert minima[1].tolist() == (-maxima[1]).tolist()
    x = np.array([[[0, 255, 3, 7, 2]]], np.uint8)
    for threshold, found in ((None, [0, 2, 3]), (3, [0, 2]), (0, []), (-1, []), (2.5, [0, 2]), (300, [0, 2, 3])):
        assert wp.local_maxima(x, [3], threshold=threshold, minima=True, device="cpu")[1].tolist() == found


@pytest.mark.parametrize("size", [3, 5, 9])
def test_as_scipy(size: int, device: object) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    x = np.random.default_rng(size).permutation(64 * 80).reshape(64, 80).astype(np.float32)
    expected = np.argwhere(ndimage.maximum_filter(x, size, mode="constant", cval=-1) == x)
    positions, values = wp.local_maxima(x[None, None], [size, size], device=device)
    assert sorted(positions[:, 2:].tolist()) == expected.tolist()
    assert values.tolist() == sorted(x[tuple(expected.T)], reverse=True)


def test_what_lies_elsewhere(gpu: wp.Gpu) -> None:
    x = drawn((2, 9, 7, 3), "f4")
    expected = wp.local_maxima(x, [3, 3], layout="NHWC", device="cpu")
    found = wp.local_maxima(gpu.upload(x, "NHWC"), [3, 3], layout="NHWC")
    for mine, theirs in zip(found, expected):
        np.testing.assert_array_equal(mine, theirs)


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for dtype, expected in ((torch.float32, np.float32), (torch.bfloat16, np.float32), (torch.uint8, np.uint8)):
        positions, values = wp.local_maxima(torch.tensor([[[1, 3, 2, 5]]]).to(dtype), [3], device="cpu")
        assert (positions.tolist(), values.tolist(), values.dtype) == ([[0, 0, 3], [0, 0, 1]], [5, 3], expected)


def test_thresholds_are_exact() -> None:
    x = np.array([[[0.3, 0, 0.3]]], np.float16)
    assert len(wp.local_maxima(x, [3], threshold=0.3, device="cpu")[1]) == 2, "float16 has no 0.3, but one above"
    assert len(wp.local_maxima(x, [3], threshold=float(x.max()), device="cpu")[1]) == 0
    for threshold, count in ((Fraction(1, 10), 1), (Fraction(0.1), 0), (np.longdouble("0.1"), 1), (np.longdouble("-inf"), 1)):
        assert len(wp.local_maxima(np.array([[[0.1]]]), [1], threshold=threshold, device="cpu")[1]) == count, threshold
        minima = wp.local_maxima(np.array([[[-0.1]]]), [1], threshold=-threshold, minima=True, device="cpu")
        assert len(minima[1]) == count, threshold
    x = np.array([[[2**63 + 1, 0, 2**64 - 1]]], np.uint64)
    for threshold, count in ((2**63, 2), (2**63 + 1, 1), (np.uint64(2**64 - 1), 0), (2**70, 0), (-1, 2), (Fraction(1, 2), 2)):
        assert len(wp.local_maxima(x, [3], threshold=threshold, device="cpu")[1]) == count, threshold


def test_threads(device: object) -> None:
    maps = [drawn((1, 2, 60, 70 + number), "f4") for number in range(4)]
    expected = [wp.local_maxima(x, [5, 5], device="cpu") for x in maps]

    def work(number: int) -> None:
        for _ in range(5):
            for mine, theirs in zip(wp.local_maxima(maps[number], [5, 5], device=device), expected[number]):
                np.testing.assert_array_equal(mine, theirs)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(kernel_shape=[3, 3]), wp.PlanError, "kernel_shape has 2 values, expected 1"),
        (dict(kernel_shape=[0]), wp.PlanError, r"kernel_shape\[0\] is 0"),
        (dict(kernel_shape=[3], layout="CHW"), wp.PlanError, 'unknown value "CHW"'),
        (dict(kernel_shape=[3], threshold=float("nan")), wp.PlanError, 'threshold: unknown value "NaN", expected a number'),
        (dict(kernel_shape=[3], threshold="2"), TypeError, "threshold is of type str, expected a number"),
        (dict(kernel_shape=[3], threshold=True), TypeError, "threshold is of type bool, expected a number"),
        (dict(kernel_shape=[3], threshold=np.zeros(1)), TypeError, "threshold is of type numpy.ndarray, expected a number"),
        (dict(kernel_shape=3), TypeError, "kernel_shape"),
        (dict(kernel_shape=[3], plateaus="last"), wp.PlanError, 'plateaus: unknown value "last", expected first, all'),
        (dict(kernel_shape=[3], exclude_border=[1, 1]), wp.PlanError, "exclude_border has 2 values, expected 1"),
        (dict(kernel_shape=[3], exclude_border=-1), wp.PlanError, "exclude_border is -1, expected 0 to 9223372036854775807"),
        (dict(kernel_shape=[3], largest=-1), wp.PlanError, "largest is -1, expected 0 to"),
        (dict(kernel_shape=[3], min_distance=1.5), TypeError, "min_distance is of type float, expected whole numbers"),
        (dict(kernel_shape=[3], x=np.zeros(5)), wp.PlanError, "1 axes"),
        (dict(kernel_shape=[3], x=[[[1]]]), TypeError, "x is of type list"),
    ],
)
def test_misuse_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wp.local_maxima(**{"x": np.zeros((1, 1, 5), np.uint8), "device": "cpu", **arguments})


@pytest.mark.parametrize(
    ("value", "dtype", "threshold", "found"),
    [
        (2**53 + 1, np.int64, float(2**53), True),
        (2**53, np.int64, float(2**53), False),
        (2.0**53 + 4, np.float64, 2**53 + 3, True),
        (2.0**53 + 2, np.float64, 2**53 + 3, False),
        (3, np.uint8, 2.5, True),
        (3, np.uint8, 3.5, False),
        (3, np.int8, -np.inf, True),
        (3, np.float32, 10**400, False),
        (np.inf, np.float32, 10**400, True),
        (3, np.float32, -(10**400), True),
    ],
)
def test_values_and_thresholds_are_compared_as_numbers(value: float, dtype: Any, threshold: float, found: bool) -> None:
    _, values = wp.local_maxima(np.array([[[value]]], dtype), [1], threshold=threshold, device="cpu")
    assert (len(values) == 1) == found
