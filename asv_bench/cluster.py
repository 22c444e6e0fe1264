"""Measure Dask with tensix on this machine: sharing a tensor, unmanaged memory, and the cost of recording.

Run ``python asv_bench/cluster.py [share] [unmanaged] [overhead]`` with distributed and pandas installed; without names,
all. Four workers of two threads, which share the machine's memory as `LocalCluster` does by default; nothing else
should run on the machine.
"""

import contextlib
import statistics
import sys
import time
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import pandas as pd

import tensix
from tensix.files.dask_sharing import ShareTensors
from tensix.memory import SharedMemoryAllocator, cluster

GIB = 1 << 30
ROUNDS = 5


def proportional_bytes(dask_worker):
    """Return the memory of a worker, of which what others map too counts by its share."""
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return int(rollup.partition("Pss:")[2].split()[0]) << 10


def make_shared():
    with tensix.use_allocator(SharedMemoryAllocator()):
        return tensix.ones(GIB // 4)


def first_of(x):
    return x[0].item()


def sum_of(x):
    return x.sum().item()


def total(client):
    return sum(client.run(proportional_bytes).values())


def milliseconds(client, function, value, workers):
    """Return how long a task on each of some workers takes."""
    began = time.perf_counter()
    client.gather([client.submit(function, value, workers=[one], pure=False) for one in workers])
    return f"{1e3 * (time.perf_counter() - began):.0f}"


def last_transfer(dask_worker):
    """Return when a worker last began to get a tensor of another, and when it had it."""
    found = dask_worker.transfer_incoming_log[-1]
    return found["start"], found["stop"]


def share(client):
    """Hand 1 GiB of one worker to all four, some times; the first connects the workers."""
    client.register_plugin(ShareTensors())
    workers = [*client.scheduler_info(n_workers=-1)["workers"]]
    before = total(client)
    for _ in range(ROUNDS):
        shown = [milliseconds(client, int, 0, workers)]
        x = client.submit(make_shared, workers=workers[:1], pure=False)
        distributed.wait(x)
        shown += [milliseconds(client, function, x, workers) for function in (first_of, sum_of)]
        copies = (total(client) - before) / GIB
        starts, stops = zip(*client.run(last_transfer, workers=workers[1:]).values(), strict=True)
        span = 1e3 * (max(stops) - min(starts))
        print(f"share: a task on each without it, with 1 GiB mapped, read: {', '.join(shown)} ms; {copies:.2f} GiB; "
              f"all others have it {span:.0f} ms after the first asked")  # fmt: skip
        del x
        time.sleep(1)


def rechunk(client):
    return da.ones((16000, 8000), chunks=(500, 8000)).rechunk((16000, 250)).persist()


def numbers(seed, rows=500_000):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"key": rng.integers(0, 2_000_000, rows), "value": rng.random(rows)})


def part_of(frame, part, parts):
    return frame[frame["key"] % parts == part]


def merged(*frames):
    half = len(frames) // 2
    left, right = (pd.concat(some).sort_values("key") for some in (frames[:half], frames[half:]))
    return left.merge(right, on="key")


def sort_merge(client, parts=8):
    made = [client.submit(numbers, seed) for seed in range(2 * parts)]
    return [client.submit(merged, *[client.submit(part_of, one, part, parts) for one in made]) for part in range(parts)]


def images(client):
    stack = da.random.random((128, 1024, 1024), chunks=(4, 1024, 1024))
    return da.map_overlap(lambda image: image - image.mean(axis=0), stack, depth=(0, 8, 8), boundary="none").persist()


WORKLOADS = {"rechunk": rechunk, "sort-merge": sort_merge, "image stack": images}


def unmanaged_of(dask_scheduler):
    return [100 * worker.memory.unmanaged / worker.memory_limit for worker in dask_scheduler.workers.values()]


def unmanaged(name, recorded):
    """Show the most that a worker holds beyond results: before a program, in its course, two seconds after it."""
    with started() as client, cluster.record(client, limit="80%") if recorded else contextlib.nullcontext():
        shown = [max(client.run_on_scheduler(unmanaged_of))]
        result, most = WORKLOADS[name](client), 0
        while not all(future.done() for future in distributed.futures_of(result)):
            most = max(most, *client.run_on_scheduler(unmanaged_of))
            time.sleep(0.1)
        time.sleep(2)
        shown += [most, max(client.run_on_scheduler(unmanaged_of))]
        del result
    shares = ", ".join(f"{share:.1f}" for share in shown)
    print(f"unmanaged: {name}{', recorded' * recorded}: {shares} % of a worker's limit: before, most, after")


def overhead(client, name):
    """Time a program with and without a recording, in turn."""
    seconds = {False: [], True: []}
    for _ in range(ROUNDS):
        for recorded, found in seconds.items():
            with cluster.record(client, limit="80%") if recorded else contextlib.nullcontext():
                began = time.perf_counter()
                distributed.wait(WORKLOADS[name](client))
                found.append(time.perf_counter() - began)
            time.sleep(0.5)
    least, median = ([function(one) for one in seconds.values()] for function in (min, statistics.median))
    print(f"overhead: {name}: {least[0]:.2f} s, recorded {least[1]:.2f} s ({100 * (least[1] / least[0] - 1):+.0f} %); "
          f"median {median[0]:.2f} s, recorded {median[1]:.2f} s")  # fmt: skip


@contextlib.contextmanager
def started():
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=2, dashboard_address=":0") as made,
        distributed.Client(made) as client,
    ):
        yield client


def main():
    chosen = sys.argv[1:] or ["share", "unmanaged", "overhead"]
    if "share" in chosen:
        with started() as client:
            share(client)
    for name in WORKLOADS:
        if "unmanaged" in chosen:
            for recorded in (False, True):
                unmanaged(name, recorded)
        if "overhead" in chosen:
            with started() as client:
                overhead(client, name)


if __name__ == "__main__":
    main()
