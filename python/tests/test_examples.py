"""The examples for many machines: one sum of all results, whatever computed them and whatever was ended on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wgpu_pooling as wp

pytest.importorskip("PIL", reason="pillow is not installed: the examples for many machines are not tried")

EXAMPLES = Path(__file__).parents[1] / "examples"
ENVIRONMENT = {**os.environ, "PYTHON": sys.executable}


def run(program: str, *arguments: object) -> str:
    """The line in which a program sums up; others print beside it."""
    command = [str(EXAMPLES / program), *map(str, arguments)]
    if program.endswith(".py"):
        command.insert(0, sys.executable)
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith(("rows ", "chunks "))]
    return lines[-1] if lines else ""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    run("pool_images.py", folder, "--make", 24)
    return folder


@pytest.fixture(scope="module")
def expected(images: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a single process on the CPU prints."""
    line = run("array_job.sh", images, tmp_path_factory.mktemp("alone"), "--shards", 1)
    assert line.startswith("rows 24, duplicates 0, lost 0, sha256 ")
    return line


def test_shards_on_the_cpu_that_are_ended(images: Path, expected: str, tmp_path: Path) -> None:
    assert run("array_job.sh", images, tmp_path, "--shards", 6, "--jobs", 3, "--kill", 3) == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")], "no half of a result is left"


def test_shards_on_both_that_are_ended(gpu: wp.Gpu, images: Path, expected: str, tmp_path: Path) -> None:
    assert run("array_job.sh", images, tmp_path, "--shards", 4, "--jobs", 2, "--device", "mixed", "--kill", 2) == expected


def test_what_is_missing_is_counted(images: Path, tmp_path: Path) -> None:
    run("pool_images.py", images, tmp_path, "--shard", 1, "--of", 4)
    command = [sys.executable, str(EXAMPLES / "pool_images.py"), str(images), str(tmp_path), "--check", "--of", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and done.stdout.startswith("rows 6, duplicates 0, lost 18, ")


def test_a_lost_gpu_is_opened_again(gpu: wp.Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    from pool_images import Pooler

    image = np.random.default_rng(1).integers(0, 256, (40, 30, 3), np.uint8)
    pooler, expected = Pooler("gpu"), Pooler("cpu")(image)
    assert pooler(image) == expected
    lost = pooler.device
    lost.notify_lost("the test says so")
    assert pooler(image) == expected and pooler.device is not lost
    with pytest.raises(wp.DeviceError, match="the test says so"):
        wp.max_pool2d(np.ones((1, 2, 2), np.float32), 2, device=lost)


@pytest.mark.parametrize("actors", [(2, 0, 0), (1, 1, 2)], ids=["cpu", "mixed, two ended"])
def test_ray(actors: tuple[int, int, int], images: Path, expected: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("ray.data", reason="ray is not installed: ray_images.py is not tried")
    if actors[1]:
        request.getfixturevalue("gpu")
    cpu, gpus, kills = actors
    arguments = ("--cpu-actors", cpu, "--gpu-actors", gpus, "--kill", kills, "--batch", 2)
    assert run("ray_images.py", images, tmp_path / "results", *arguments) == expected


def test_dask(tmp_path: Path) -> None:
    pytest.importorskip("dask.distributed", reason="dask is not installed: dask_volume.py is not tried")
    zarr = pytest.importorskip("zarr", reason="zarr is not installed: dask_volume.py is not tried")
    volume, out = tmp_path / "volume.zarr", tmp_path / "pooled.zarr"
    run("dask_volume.py", volume, "--make", "50,90,90")
    assert run("dask_volume.py", volume, out, "--workers", 2, "--kill", 1).startswith("chunks 18, lost 0, sha256 ")
    whole = wp.max_pool3d(zarr.open_array(volume, mode="r")[...][None], 3, stride=1, padding=1, device="cpu")[0]
    assert np.array_equal(zarr.open_array(out, mode="r")[...], whole)
