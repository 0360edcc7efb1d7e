"""Many images by Ray Data: actors with and without a GPU pool them, and the results go to Parquet files.

    python3 ray_images.py IMAGES OUT [--cpu-actors 2] [--gpu-actors 0] [--kill N]
    python3 pool_images.py IMAGES --make 64                    makes images to try it with

IMAGES is a folder of pictures, or of Parquet files with the columns `name` and `bytes` (of an encoded picture). With actors of both
kinds, half of the images go to each kind. With --kill, N actors are ended by signal 9, each after its first batch; Ray starts others and
gives them what was not finished. At the end it prints how many images have results, how many twice, how many none, and one SHA-256 of all
results, which is the same whatever computed them: that of pool_images.py, too.
"""

import argparse
import io
import os
import signal
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import ray
from PIL import Image

from pool_images import Pooler, summary


@ray.remote
class Kills:
    """How many actors have to be ended yet: an actor asks before its second batch."""

    def __init__(self, count: int) -> None:
        self.count = count

    def take(self) -> bool:
        self.count -= 1
        return self.count >= 0


class Pool:
    """An actor: it opens its device once, and pools batch after batch."""

    def __init__(self, device: str, kills: Any) -> None:
        self.pooler, self.kills, self.batches = Pooler(device), kills, 0

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        self.batches += 1
        if self.batches == 2 and self.kills is not None and ray.get(self.kills.take.remote()):
            os.kill(os.getpid(), signal.SIGKILL)
        sums = []
        for encoded in batch["bytes"]:
            with Image.open(io.BytesIO(encoded)) as image:
                sums.append(self.pooler(np.asarray(image.convert("RGB"))))
        return {"name": batch["name"], "sha256": np.array(sums)}


def read(folder: Path) -> Any:
    if any(folder.glob("*.parquet")):
        return ray.data.read_parquet(str(folder), columns=["name", "bytes"])
    files = ray.data.read_binary_files(str(folder), include_paths=True)
    return files.map(lambda row: {"name": Path(row["path"]).name, "bytes": row["bytes"]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cpu-actors", type=int, default=2)
    parser.add_argument("--gpu-actors", type=int, default=0)
    parser.add_argument("--kill", type=int, default=0, metavar="N")
    parser.add_argument("--batch", type=int, default=4, help="images that an actor takes at a time")
    options = parser.parse_args()
    actors = {"cpu": options.cpu_actors, "gpu": options.gpu_actors}
    if sum(actors.values()) == 0:
        parser.error("there are no actors")
    folder = Path(__file__).resolve().parent
    # Actors of a GPU share it; a cluster that counts its GPUs takes num_gpus in map_batches.
    ray.init(
        num_cpus=sum(actors.values()) + 2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}},
    )  # fmt: skip
    rows = read(options.images).materialize()
    names = [row["name"] for row in rows.select_columns(["name"]).iter_rows()]
    kills = Kills.remote(options.kill) if options.kill else None
    kinds = [kind for kind, count in actors.items() if count]
    shares = rows.split_proportionately([1 / len(kinds)] * (len(kinds) - 1)) if len(kinds) > 1 else [rows]
    shutil.rmtree(options.out, ignore_errors=True)
    for kind, share in zip(kinds, shares):
        pooled = share.map_batches(
            Pool, fn_constructor_args=(kind, kills), batch_size=options.batch, num_cpus=1,
            compute=ray.data.ActorPoolStrategy(size=actors[kind]),
        )  # fmt: skip
        pooled.write_parquet(str(options.out / kind))
    found: list[tuple[str, str]] = []
    for file in sorted(options.out.rglob("*.parquet")):
        found += [(row["name"], row["sha256"]) for row in pyarrow.parquet.read_table(file).to_pylist()]
    print(summary(found, names))
    return 0 if len(found) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
