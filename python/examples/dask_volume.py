"""Max pooling of a volume that is larger than memory, in chunks with a halo, by Dask: a zarr array in, a zarr array out.

    python3 dask_volume.py VOLUME.zarr OUT.zarr [--device cpu|gpu|mixed] [--workers 4] [--kill N]
    python3 dask_volume.py VOLUME.zarr --make 96,160,160       makes a volume to try it with

Each chunk is read with the voxels around it that windows of 3x3x3 with a stride of 1 reach, pooled, and written without them; the
result has the bits of a pool of the whole volume. Workers are processes. With --kill, N of them are ended by signal 9, each after its
first chunk; Dask gives their chunks to others. At the end it prints how many chunks there are, how many are lost, and one SHA-256
of the result, which is the same whatever computed it.
"""

import argparse
import hashlib
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import zarr
from dask.distributed import Client, LocalCluster, get_worker

import wgpu_pooling as wp

WINDOW = 3
HALO = WINDOW // 2


def device(name: str) -> Any:
    """The device of a worker, opened by its first chunk: of mixed workers every second one has a GPU."""
    worker = get_worker()
    if not hasattr(worker, "pooling_device"):
        gpu = name == "gpu" or name == "mixed" and int(worker.name) % 2 == 1
        worker.pooling_device = wp.Gpu() if gpu else "cpu"
    return worker.pooling_device


def end(kills: str) -> None:
    """Ends this worker before its second chunk, if there is a file left that asks for it: one worker for each."""
    worker = get_worker()
    worker.chunks = getattr(worker, "chunks", 0) + 1
    for asked in Path(kills).iterdir() if worker.chunks == 2 else ():
        try:
            asked.unlink()
        except FileNotFoundError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)


def pooled(block: np.ndarray, place: str, kills: str) -> np.ndarray:
    """The maxima of the windows around each voxel of a chunk with its halo; those of the halo are cut off afterwards."""
    end(kills)
    try:
        return wp.max_pool3d(block[None], WINDOW, stride=1, padding=HALO, device=device(place))[0]
    except wp.DeviceError:
        # The device was lost: another one, and the chunk once more.
        del get_worker().pooling_device
        return wp.max_pool3d(block[None], WINDOW, stride=1, padding=HALO, device=device(place))[0]


def make(path: str, shape: list[int]) -> None:
    volume = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    array = zarr.create_array(path, shape=shape, chunks=[min(extent, 40) for extent in shape], dtype="f4", overwrite=True)
    array[...] = volume


def compute(source: str, target: str, options: argparse.Namespace) -> None:
    volume = da.from_zarr(source)
    # Outside the volume there is nothing, and no window takes it: NaN would win, and -inf never does.
    cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with tempfile.TemporaryDirectory() as kills, cluster, Client(cluster):
        for number in range(options.kill):
            (Path(kills) / str(number)).touch()
        result = da.map_overlap(
            pooled, volume, depth=HALO, boundary=-np.inf, dtype=volume.dtype, meta=volume._meta,
            place=options.device, kills=kills,
        )  # fmt: skip
        result.to_zarr(target, overwrite=True)
        print(f"{options.kill - len(list(Path(kills).iterdir()))} workers were ended", file=sys.stderr)


def summary(target: str) -> str:
    result = zarr.open_array(target, mode="r")
    digest, lost = hashlib.sha256(), result.nchunks - result.nchunks_initialized
    # A slab at a time: the volume may be larger than memory.
    for begin in range(0, result.shape[0], result.chunks[0]):
        digest.update(np.ascontiguousarray(result[begin : begin + result.chunks[0]]))
    return f"chunks {result.nchunks}, lost {lost}, sha256 {digest.hexdigest()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("volume")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--device", choices=["cpu", "gpu", "mixed"], default="cpu")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill", type=int, default=0, metavar="N")
    parser.add_argument("--make", metavar="D,H,W")
    options = parser.parse_args()
    if options.make:
        make(options.volume, [int(extent) for extent in options.make.split(",")])
        return
    if not options.out:
        parser.error("a name for the result is missing")
    compute(options.volume, options.out, options)
    print(summary(options.out))


if __name__ == "__main__":
    main()
