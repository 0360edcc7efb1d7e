"""The documentation's examples, the types, and what the installed files tell of the machine that built them."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wgpu_pooling as wp
from wgpu_pooling import _devices, _local_maxima, _morphology, _onnx, _onnxruntime, _torch

INSTALLED = Path(wp.__file__).parent
# No errors of their own, or packages that are not always there.
WITHOUT = ("adapters", "default_device", "onnxruntime_library", "torch_onnx_translations")
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


@pytest.mark.parametrize("module", [_devices, _local_maxima, _morphology, _onnx, _onnxruntime, _torch], ids=lambda module: module.__name__)
def test_examples(module: object) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


def test_every_function_has_an_example() -> None:
    for name in wp.__all__:
        item = getattr(wp, name)
        assert item.__doc__, name
        if callable(item) and not isinstance(item, type):
            assert ">>>" in item.__doc__ and "Raises" in item.__doc__ or name in WITHOUT, name


def test_the_example_of_the_readme() -> None:
    readme = Path(__file__).parents[1] / "README.md"
    results = doctest.testfile(str(readme), module_relative=False)
    assert results.attempted > 5 and results.failed == 0


def test_types() -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: the types are not checked")
    program = """
import numpy as np
import wgpu_pooling as wp
from numpy.typing import NDArray
x: NDArray[np.float32] = np.zeros((1, 1, 4, 4), np.float32)
y: NDArray[np.float32] = wp.max_pool2d(x, 2)
y, i = wp.max_pool(x, kernel_shape=[2, 2], indices="int64")
wp.max_pool(x, kernel_shape=[2, 2], kernel=3)
"""
    for arguments, expected in [
        (["mypy", "--config-file", str(PROJECT), "-p", "wgpu_pooling"], 0),
        (["mypy.stubtest", "wgpu_pooling._native"], 0),
        (["mypy", "--strict", "-c", program], 1),
    ]:
        done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd="/")
        assert done.returncode == expected, done.stdout + done.stderr
    # The last line of the program is wrong, and no other.
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert all(line.startswith("<string>:8:") for line in errors), done.stdout
    assert 'Unexpected keyword argument "kernel"' in done.stdout


def test_no_path_of_the_builder() -> None:
    """Names of folders in which packages are built, in the library and in the files beside it."""
    paths = re.compile(rb"(/root/|/home/|/Users/|/tmp/|[A-Z]:\\Users\\|\.cargo/registry|file://)[\w./-]*")
    metadata = next(INSTALLED.parent.glob("wgpu_pooling-*.dist-info"))
    files = [
        file
        for folder in (INSTALLED, metadata)
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc" and file.name not in ("direct_url.json", "RECORD")
    ]
    assert any(file.suffix in (".so", ".pyd", ".dylib") for file in files)
    for file in files:
        found = {match.group(0) for match in paths.finditer(file.read_bytes())}
        # Mesa's and the X server's own paths, which wgpu looks for, are no builder's.
        found = {path for path in found if not path.startswith(b"/tmp/.X11")}
        assert not found, f"{file.name}: {sorted(found)[:5]}"
    assert not list(metadata.rglob("*sbom*"))
