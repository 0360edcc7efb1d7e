"""Equality with torch, where it is installed, and its tensors in and out."""

from __future__ import annotations

import numpy as np
import pytest

import wgpu_pooling as wp

torch = pytest.importorskip("torch", reason="torch is not installed: it is not compared with (tests/python --all)")
functional = torch.nn.functional

GEOMETRIES = [
    dict(kernel_size=2),
    dict(kernel_size=3, stride=2, padding=1),
    dict(kernel_size=3, stride=1, dilation=2),
    dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
]


def equal(expected, actual):
    assert isinstance(actual, torch.Tensor)
    assert (expected.dtype, expected.shape) == (actual.dtype, actual.shape)
    assert torch.equal(expected.nan_to_num(nan=123.0), actual.nan_to_num(nan=123.0))


def data(axes, dtype, batched=True):
    x = torch.randint(-50, 50, (2, 3, 11, 10, 9)[: 2 + axes], generator=torch.Generator().manual_seed(3)).to(dtype)
    x.view(-1)[::37] = float("nan")
    return x if batched else x[0]


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_max_pool_and_unpool(axes, geometry, dtype, device):
    x = data(axes, dtype)
    pool, ours = getattr(functional, f"max_pool{axes}d"), getattr(wp, f"max_pool{axes}d")
    y, indices = pool(x, **geometry, return_indices=True)
    mine = ours(x, **geometry, return_indices=True, device=device)
    equal(y, mine[0])
    equal(indices, mine[1])
    equal(y, ours(x, **geometry, device=device))
    # Overlapping windows repeat indices, of which the last one wins in both.
    back = getattr(functional, f"max_unpool{axes}d")(y, indices, 2, 2, 0, x.shape[2:]) if geometry == GEOMETRIES[0] else None
    if back is not None:
        equal(back, getattr(wp, f"max_unpool{axes}d")(*mine, 2, 2, 0, x.shape[2:], device=device))


def test_sizes_in_brackets():
    x = data(2, torch.float32)
    equal(functional.max_pool2d(x, [2], [2], [1]), wp.max_pool2d(x, [2], [2], [1], device="cpu"))
    equal(functional.max_pool2d(x, 3, []), wp.max_pool2d(x, 3, [], device="cpu"))
    # Neither library takes them elsewhere.
    y, indices = functional.max_pool2d(x, 2, return_indices=True)
    for library, options in ((functional, {}), (wp, {"device": "cpu"})):
        with pytest.raises((RuntimeError, ValueError)):
            library.adaptive_max_pool2d(x, [5], **options)
        with pytest.raises((RuntimeError, ValueError)):
            library.max_unpool2d(y, indices, [2], **options)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("batched", [True, False])
def test_adaptive(axes, batched, device):
    x = data(axes, torch.float32, batched)
    size = (3, None, 2)[:axes]
    if axes == 1:
        size = 3
    y, indices = getattr(functional, f"adaptive_max_pool{axes}d")(x, size, return_indices=True)
    mine = getattr(wp, f"adaptive_max_pool{axes}d")(x, size, return_indices=True, device=device)
    equal(y, mine[0])
    equal(indices, mine[1])


def test_unbatched_and_strided(device):
    x = data(2, torch.float32, batched=False)
    equal(functional.max_pool2d(x, 2), wp.max_pool2d(x, 2, device=device))
    across = data(2, torch.float32).transpose(2, 3)
    equal(functional.max_pool2d(across, 2), wp.max_pool2d(across, 2, device=device))


def test_memory_is_read_where_it_lies():
    from wgpu_pooling._arrays import taken

    for dtype in (torch.float32, torch.bfloat16, torch.uint8):
        x = torch.ones(1, 1, 4, 4).to(dtype)
        (array, _), _ = taken(x, "x")
        assert array.ctypes.data == x.data_ptr()


def test_refusals():
    with pytest.raises(TypeError, match="requires a gradient.*detach"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4, requires_grad=True), 2, device="cpu")
    with pytest.raises(TypeError, match="layout"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4).to_sparse(), 2, device="cpu")
    with pytest.raises(TypeError, match="on the device meta"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4, device="meta"), 2, device="cpu")
    with pytest.raises(TypeError, match="bool, expected one of float16"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4).bool(), 2, device="cpu")


def test_words_of_16_bits_stay_numpys():
    x = torch.arange(16, dtype=torch.int32).reshape(1, 1, 4, 4).to(torch.uint16)
    assert wp.max_pool2d(x, 2, device="cpu").dtype == torch.uint16
    assert np.asarray(wp.max_pool2d(x, 2, device="cpu")).ravel().tolist() == [5, 7, 13, 15]
