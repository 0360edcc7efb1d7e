"""Devices for the tests: each test that takes `device` runs on the CPU and on a GPU.

Without a GPU adapter the tests on it fail and say what to install; WGPU_POOLING_SKIP_GPU=1 leaves them out, and the run says so.
"""

from __future__ import annotations

import os
import tempfile

import pytest

import wgpu_pooling as wp

# Vulkan loaders look for this folder and complain where it is missing.
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())

SKIPS_GPU = os.environ.get("WGPU_POOLING_SKIP_GPU") == "1"


@pytest.fixture(scope="session")
def gpu() -> wp.Gpu:
    if SKIPS_GPU:
        pytest.skip("left out: WGPU_POOLING_SKIP_GPU=1")
    return wp.Gpu()


@pytest.fixture(params=["cpu", "gpu"])
def device(request: pytest.FixtureRequest) -> object:
    return "cpu" if request.param == "cpu" else request.getfixturevalue("gpu")


def pytest_report_header() -> str:
    if SKIPS_GPU:
        return "tests on a GPU: left out, WGPU_POOLING_SKIP_GPU=1"
    return f"adapters: {', '.join(f'{a.name} ({a.backend})' for a in wp.adapters()) or 'none'}"
