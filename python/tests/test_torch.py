"""Equality with torch, where it is installed, and its tensors in and out."""

from __future__ import annotations

import inspect
import subprocess
import sys

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


VALUES = [2, 1, 0, -1, True, False, 2.0, "2", "", "22", b"", None, [], (), [2], (2, 2), [2, 2, 2], [1, 2, 4, 4], (1, 1, 2, 4, 4), (4, 4)]
VALUES += [(2, None), (None, 2), (None, 2, 3), (True, 2), (2, 2.0), [[2, 2]], {}, {2: 2}, set(), np.int64(2), np.float32(2), 2**63, 2**64]
VALUES += [np.array([2.0, 2.0]), torch.tensor(2), torch.tensor([2, 2, 2]), torch.tensor(2.0), [torch.tensor(2), 2], torch.Size([2, 2])]
VALUES += [np.bool_(True), (np.bool_(True), 2), (2, ""), 1j]
# What torch's Python files take by accident: numbers beyond those that they read, bools, padding below 0 and results of no extent.
ACCIDENTS = {
    "kernel_size": ("False", "0"),
    "stride": ("[2, 2, 2]", "[1, 2, 4, 4]"),
    "padding": ("[2, 2, 2]", "(True, 2)", "False", "-1", "2", "(2, 2)", "torch.Size([2, 2])"),
}
# What is taken here and refused there: numbers of other libraries, 0 for False, and None for an extent.
MORE = {
    "stride": ("np.int64(2)", "tensor(2)", "[tensor(2), 2]"),
    "ceil_mode": ("0", "1", "np.True_"),
    "output_size": ("np.int64(2)", "tensor(2)", "None"),
}
MORE |= dict.fromkeys(("kernel_size", "padding"), MORE["stride"])


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        *(("max_pool2d", argument) for argument in ("kernel_size", "stride", "padding", "dilation", "ceil_mode")),
        *(("max_unpool2d", argument) for argument in ("kernel_size", "stride", "padding", "output_size")),
        ("adaptive_max_pool2d", "output_size"),
        ("adaptive_max_pool1d", "output_size"),
    ],
)
def test_what_torch_refuses_is_refused(name, argument):
    x = data(int(name[-2]), torch.float32)
    given = {"input": x} if "adaptive" in name else {"input": x, "kernel_size": 2}
    if "unpool" in name:
        given["input"], given["indices"] = functional.max_pool2d(x[..., :10, :10], 2, return_indices=True)
    for value in VALUES:
        arguments = {**given, argument: value}
        expected = y = None
        try:
            expected = getattr(functional, name)(**arguments)
        except Exception:
            pass
        try:
            y = getattr(wp, name)(**arguments, device="cpu")
        except (TypeError, wp.PlanError, IndexError, MemoryError):
            pass
        if y is None:
            assert expected is None or "unpool" in name and repr(value) in ACCIDENTS[argument], f"{value!r}"
        elif expected is None:
            any_size = argument == "output_size" and "unpool" in name and len(value) in (2, 4)
            assert any_size or repr(value) in MORE[argument], f"{value!r}"
        else:
            equal(expected, y)


def test_the_shapes_of_values_and_indices():
    y, indices = functional.max_pool2d(data(2, torch.float32), 2, return_indices=True)
    for pair in ((y, indices[0]), (y[0], indices), (y[:1], indices[0]), (y, indices[:, :, :1])):
        for library, options in ((functional, {}), (wp, {"device": "cpu"})):
            with pytest.raises((RuntimeError, ValueError)):
                library.max_unpool2d(*pair, 2, **options)


def stand_ins():
    """Tensors of torch that stand for others or have no memory."""
    import pytest
    import torch
    import wgpu_pooling as wp
    from torch._subclasses.fake_tensor import FakeTensorMode

    def refuse(x, text="(is|has|requires)"):
        with pytest.raises(TypeError, match=f"^input {text}"):
            wp.max_pool2d(x, 2, device="cpu")
        return x

    def both(x):
        refuse(x.to(torch.bfloat16))
        return refuse(x)

    plain = torch.ones(2, 1, 4, 4)
    for layout in (torch.strided, torch.jagged):
        both(torch.nested.nested_tensor([torch.ones(1, 4, 4), torch.ones(1, 4, 4)], layout=layout))
    with FakeTensorMode():
        fake = both(torch.ones(1, 1, 4, 4))
    both(fake)
    torch.vmap(both)(plain[None])
    torch.func.grad(lambda x: both(x).sum())(plain)
    torch.func.functionalize(both)(plain)
    refuse(torch._efficientzerotensor(plain.shape), "has no memory")
    freed = torch.ones(1, 1, 4, 4)
    freed.untyped_storage().resize_(0)
    refuse(freed, "has no memory: .* or its storage was freed")
    refuse(plain.to(torch.float8_e4m3fn), "is of type torch.Tensor and gives no array")
    refuse(plain.to(torch.complex64), "has elements of type complex64")
    uninitialized = torch.nn.parameter.UninitializedParameter(requires_grad=False)
    refuse(uninitialized, "is of type torch.nn.parameter.UninitializedParameter")


def test_tensors_without_memory_of_their_own():
    """In a process of its own: the compiler that torch loads for some of them does not load beside the LLVM of Mesa's drivers."""
    program = f"{inspect.getsource(stand_ins)}stand_ins()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_refusals():
    with pytest.raises(TypeError, match="requires a gradient.*detach"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4, requires_grad=True), 2, device="cpu")
    with pytest.raises(TypeError, match="is torch.sparse_coo, expected a dense"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4).to_sparse(), 2, device="cpu")
    with pytest.raises(TypeError, match="on the device meta"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4, device="meta"), 2, device="cpu")
    with pytest.raises(TypeError, match="bool, expected one of float16"):
        wp.max_pool2d(torch.ones(1, 1, 4, 4).bool(), 2, device="cpu")


def test_words_of_16_bits_stay_numpys():
    x = torch.arange(16, dtype=torch.int32).reshape(1, 1, 4, 4).to(torch.uint16)
    assert wp.max_pool2d(x, 2, device="cpu").dtype == torch.uint16
    assert np.asarray(wp.max_pool2d(x, 2, device="cpu")).ravel().tolist() == [5, 7, 13, 15]
