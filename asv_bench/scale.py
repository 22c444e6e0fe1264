"""Print what one item costs when there are many: views, storages, threads on one counter, dimensions, a large file.

Each row makes ever more of the same and divides by their number: what is flat does not grow with how many there are.
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import tensix
from tensix.testing import assert_no_leaks

GIB = 1 << 30


def resident():
    """Return the bytes that the process holds; Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def timed(make, count):
    """Return nanoseconds and bytes per item to make so many, nanoseconds to drop one, and what was made was dropped."""
    with assert_no_leaks():
        before, start = resident(), time.perf_counter()
        kept = make(count)
        made, nbytes = time.perf_counter(), resident() - before
        del kept
        dropped = time.perf_counter()
    return (made - start) / count * 1e9, nbytes / count, (dropped - made) / count * 1e9


def live_views(count):
    x = tensix.ones(1000)
    return [x[i % 1000 :] for i in range(count)]


def live_storages(count):
    return [tensix.Storage(64) for _ in range(count)]


def on_one_counter(threads, each=20_000):
    """Return nanoseconds per copy and drop of a pointer to one target, by so many threads; no count is lost."""
    pointer = tensix.make_intrusive(tensix.IntrusiveTarget)
    start = threading.Barrier(threads + 1)

    def work():
        start.wait()
        for _ in range(each):
            tensix.IntrusivePtr(pointer)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    assert pointer.use_count() == 1
    return seconds / (threads * each) * 1e9


def addition_of(ndim, calls=20_000):
    """Return nanoseconds for x + x of four elements in so many dimensions."""
    x = tensix.ones(*(1,) * (ndim - 2), 2, 2) if ndim >= 2 else tensix.ones(4)
    began = time.perf_counter()
    for _ in range(calls):
        x + x
    return (time.perf_counter() - began) / calls * 1e9


def part_of_a_file(gib, folder):
    """Return milliseconds to map a sparse file and read the last of its rows, and the bytes that became resident."""
    path = Path(folder, "sparse.npy")
    rows = gib * GIB // 4096
    header = np.lib.format.header_data_from_array_1_0(np.empty((0, 1024), "f4")) | {"shape": (rows, 1024)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + rows * 4096)
    before, start = resident(), time.perf_counter()
    x = tensix.load(path)
    assert float(x[-1].sum()) == 0.0
    seconds, nbytes = time.perf_counter() - start, resident() - before
    del x
    path.unlink()
    return seconds * 1e3, nbytes


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="where a sparse file of 20 GiB may be put for a moment")
    arguments = parser.parse_args()
    if not sys.platform.startswith("linux"):
        sys.exit("scale.py reads /proc, which only Linux has.")
    # A process each, for what one row has freed the next would find.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name, make, counts in (
            ("live storages", live_storages, (10_000, 100_000, 1_000_000)),
            ("live views", live_views, (10_000, 100_000, 1_000_000, 10_000_000)),
        ):
            for count in counts:
                made, nbytes, dropped = pool.apply(timed, (make, count))
                print(f"{count:>12,} {name:<16} {made:7.0f} ns to make, {dropped:5.0f} ns to drop, {nbytes:6.0f} bytes")
        for threads in (1, 4, 16, 64):
            spent = pool.apply(on_one_counter, (threads,))
            print(f"{threads:>12} threads, one counter {spent:5.0f} ns to copy and drop a pointer")
        for ndim in (1, 4, 16, 64):
            print(f"{ndim:>12} dimensions      {pool.apply(addition_of, (ndim,)):7.0f} ns for x + x")
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            for gib in (1, 5, 20):
                milliseconds, nbytes = pool.apply(part_of_a_file, (gib, folder))
                print(f"{gib:>8} GiB in a file     {milliseconds:7.2f} ms to map it and read a row, {nbytes:,} bytes")


if __name__ == "__main__":
    main()
