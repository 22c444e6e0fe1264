"""Work of many kinds for a long time, and look whether memory stays where it was.

``python soak.py [seconds] [seed]`` prints a line a minute: operations, resident size and what is in use. Each operation
checks its own result. At the end nothing may be alive, no descriptor be open and no thread run that was not there at
the beginning; and the resident size may never have been `ROOM` larger than in the first tenth of the time.
"""

import collections
import contextlib
import gc
import multiprocessing
import os
import pathlib
import pickle
import random
import sys
import tempfile
import threading
import time

import numpy as np

import tensix
from tensix import memory
from tensix.files.shared_memory import share
from tensix.testing import assert_no_leaks

ROOM = 96 << 20  # bytes: how much larger than in the first tenth of the time the process may become
KEPT = 100  # arrays and tensors that stay while other work is done
LARGEST = 100_000  # elements
FORK = multiprocessing.get_context("fork")


class Soak:
    """Hold what operations share: a die, a folder, and what is kept for a while."""

    def __init__(self, seed, folder):
        self.dice, self.folder, self.kept = random.Random(seed), pathlib.Path(folder), []

    def shape(self):
        """Return a shape; small ones are more frequent than large ones."""
        size = int(LARGEST ** self.dice.random())
        width = self.dice.randint(1, size)
        return max(size // width, 1), width

    def tensor(self, dtype=None):
        """Return a tensor of zeros and ones, whose sums are exact, of a type or of any."""
        rows, columns = self.shape()
        types = ["float64", "float32", "int64", "int32", "bfloat16", "complex128", "bool", "uint8"]
        dtype = dtype or self.dice.choice(types)
        return (tensix.arange(rows * columns) % 2).reshape(rows, columns).astype(dtype)

    def keep(self, value):
        """Keep a value; one that was kept before goes, and must be what it was."""
        self.kept.append((value, fingerprint(value)))
        if len(self.kept) > KEPT:
            place = self.dice.randrange(len(self.kept))
            self.kept[place], self.kept[-1] = self.kept[-1], self.kept[place]
            check(*self.kept.pop())


def fingerprint(value):
    """Return what changes with any byte of a tensor or an array."""
    return hash(value.tobytes())


def check(value, expected):
    """Fail if a value is no longer what it was."""
    assert fingerprint(value) == expected, f"{type(value).__name__} {value.shape} of {value.dtype} was changed"


def compute(soak):
    """Elementwise functions, broadcasting, types and reductions."""
    x = soak.tensor()
    ones = int(tensix.count_nonzero(x))
    assert complex((x * 3 + tensix.ones(1, dtype="int8")).sum(dtype="complex128")) == 3 * ones + x.size
    assert float((tensix.abs(x.astype("complex128")) + x.T.T).real.max()) == (2 if ones else 0)
    soak.keep(tensix.sqrt(x.astype("complex128")))


def views_and_copies(soak):
    """Lazy clones of views, written in any order."""
    x = tensix.arange(max(soak.shape()[1], 4))
    sharers = [x] + [x[soak.dice.randrange(3) :].lazy_clone() for _ in range(4)]
    soak.dice.shuffle(sharers)
    for mark, sharer in enumerate(sharers):
        sharer.fill_(mark)
    assert [int(sharer[-1]) for sharer in sharers] == [0, 1, 2, 3, 4]
    soak.keep(sharers[0])


def select_and_sort(soak):
    """Masks, positions, sorting and sets."""
    x = soak.tensor("int64").flatten()
    ones = int(x.sum())
    x[x == 1] = 7
    assert int(tensix.sort(x)[-1 if ones else 0]) == (7 if ones else 0)
    assert int(x[tensix.argsort(x, descending=True)][:ones].sum()) == 7 * ones
    assert tensix.unique(x).tolist() == ([0, 7] if ones else [0])


def linear_algebra(soak):
    """Solve, decompose and transform."""
    n = soak.dice.randint(2, 40)
    matrix = tensix.eye(n, dtype="float64") * 4 + 1
    assert tensix.allclose(matrix @ tensix.linalg.inv(matrix), tensix.eye(n, dtype="float64"))
    assert tensix.allclose(tensix.fft.ifft(tensix.fft.fft(matrix)).real, matrix)
    assert tensix.allclose(tensix.einsum("ij,jk->ik", matrix, matrix), matrix @ matrix)


def numpy_arrays(soak):
    """NumPy's arrays, which lie in tensix's memory."""
    array = np.arange(np.prod(soak.shape())) % 5
    total = int(array.sum())
    array.resize(array.size * 2)
    assert int(np.concatenate([array, array])[:: soak.dice.choice([1, -1])].sum()) == 2 * total
    x = tensix.from_numpy(array)
    x += 1
    assert int(np.median(x) >= 1) and int(array.sum()) == total + array.size
    soak.keep(array.copy())


def exchanges(soak):
    """Buffers, DLPack and NumPy's functions over the same bytes."""
    x = soak.tensor("float64")
    views = [np.asarray(x), np.from_dlpack(x), memoryview(x), tensix.from_dlpack(x)]
    x[0] = 5
    del x
    soak.dice.shuffle(views)
    while views:
        assert views.pop()[0, 0] == 5


def files(soak):
    """Save and load: mapped, copied, written, replaced while it is mapped."""
    x, suffix = soak.tensor("float32"), soak.dice.choice([".npy", ".npz", ".safetensors"])
    path = soak.folder / f"{soak.dice.randrange(20)}{suffix}"
    tensix.save(path, x if suffix == ".npy" else {"x": x, "row": x[0]})
    modes = ["r", "c", None, "r+"][: 3 if suffix == ".npz" else 4]  # an archive cannot be written through a map
    loaded = tensix.load(path, mmap_mode=soak.dice.choice(modes))
    found = loaded if suffix == ".npy" else loaded["x"]
    assert tensix.array_equal(found, x)
    soak.keep(found.lazy_clone())  # of a map of the file, or of memory
    with contextlib.suppress(RuntimeError):
        found[0] = 1  # refused where it is read-only
    raw = tensix.from_file(soak.folder / f"raw{soak.dice.randrange(5)}", (10, 7), dtype="int16", shared=True)
    raw += 1


def damaged_files(soak):
    """Files that are cut short or changed are refused, and nothing is left of them."""
    path = soak.folder / f"damaged{soak.dice.choice(['.npy', '.npz', '.safetensors'])}"
    tensix.save(path, soak.tensor("float32") if path.suffix == ".npy" else {"x": tensix.ones(5)})
    data = bytearray(path.read_bytes())
    for _ in range(3):
        data[soak.dice.randrange(min(len(data), 200))] ^= soak.dice.randrange(1, 256)
    path.write_bytes(data[: soak.dice.randrange(len(data))])
    with contextlib.suppress(tensix.FileFormatError, TypeError):
        loaded = tensix.load(path, mmap_mode=None)
        dict(loaded) if path.suffix != ".npy" else loaded.sum()


def pickles(soak):
    """Pickles of tensors that share bytes, in band and beside it."""
    x = soak.tensor()
    buffers = []
    data = pickle.dumps((x, x.T), 5, buffer_callback=buffers.append if soak.dice.random() < 0.5 else None)
    y, transposed = pickle.loads(data, buffers=buffers)
    assert y.is_alias_of(transposed) and y.tobytes() == x.tobytes()
    soak.keep(y)


def processes(soak):
    """Another process sees shared memory, computes and ends."""
    x = share(soak.tensor("float64"))
    before = float(x.sum())
    here, there = FORK.Pipe()
    process = FORK.Process(target=in_another_process, args=(x, there))
    process.start()
    received = here.recv()
    here.send(None)
    there.close()
    assert float(received.sum()) == before and float(x.sum()) == before + x.size
    process.join(60)
    assert process.exitcode == 0
    process.close()
    here.close()


def in_another_process(x, there):
    """Add to shared memory, and send a tensor that lies in new shared memory."""
    shared = share(x.clone())
    x += 1
    there.send(shared)
    there.recv()  # until then this process has to be there: who reads asks it for the descriptor


def threads(soak):
    """Four threads on the same operands."""
    x = soak.tensor("int64")
    total, found = int(x.sum()), []

    def work():
        own = x.lazy_clone()
        own += 1
        found.append(int(own.sum()) - x.size)

    all_threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    assert found == [total] * 4 and int(x.sum()) == total


def watchers(soak):
    """Statistics, profiles and recordings, one within the other."""
    path = soak.folder / "recording.json"
    with memory.profile(quiet=True) as profile, memory.copies() as copies, memory.record(max_events=500) as recording:
        with memory.statistics(this_thread=True) as counts:
            x = tensix.ones(1000)
            y = x.lazy_clone().fill_(2)
        snapshot = recording.snapshot()
    assert (counts.total_count, copies.count) == (2, 1), (counts.total_count, copies.count)
    assert sum(row.total_count for row in profile.rows) >= 2 and str(snapshot)
    assert str(tensix.explain(x)) and float(y.sum()) == 2000
    snapshot.save(path)
    assert str(memory.load_snapshot(path))


def allocators(soak):
    """Allocators of all kinds, each for a while; blocks outlive them."""
    kinds = [
        lambda: tensix.CPUAllocator(alignment=4096), lambda: memory.GuardAdaptor(None),
        lambda: memory.StatisticsAdaptor(None), lambda: memory.CachingAllocator(max_cached="1 MiB"),
        lambda: memory.MappedAllocator(soak.folder), memory.HugePageAllocator, memory.SharedMemoryAllocator,
        lambda: memory.TrackingAdaptor(None), lambda: memory.AlignmentAdaptor(None, 256),
    ]  # fmt: skip
    with tensix.use_allocator(soak.dice.choice(kinds)()):
        x = soak.tensor()
        soak.keep(x + x)
    soak.keep(x.lazy_clone())


def no_memory(soak):
    """Allocations that are refused leave nothing behind."""
    x = soak.tensor("float64")
    with tensix.use_allocator(memory.LimitingAdaptor(None, x.nbytes // 2)):
        for call in (x.clone, lambda: x + x, lambda: tensix.sort(x), lambda: np.ones(x.size + 5000)):
            try:
                call()
            except MemoryError:
                continue
            raise AssertionError("there was memory")


def operators(soak):
    """Operators that are declared, called and undone."""
    with tensix.Library("soaking") as library:
        library.define("twice(Tensor self) -> Tensor")
        library.impl("twice", lambda x: x + x)
        assert tensix.ops.soaking.twice(tensix.ones(3)).tolist() == [2, 2, 2]


def cycles(soak):
    """Tensors in cycles, which the collector frees."""
    x = soak.tensor()
    cycle = [x, x.weak(), x.storage().weak()]
    cycle.append(cycle)


def mistakes(soak):
    """Wrong calls, each refused in words."""
    x = tensix.ones((3, 4))
    wrong = [
        lambda: x + tensix.ones(7), lambda: x[9], lambda: x.reshape(5), lambda: x.view("float64")[:, 3],
        lambda: tensix.tensor([[1], [1, 2]]), lambda: x.fill_("a"), lambda: tensix.einsum("ij,jk", x, x),
    ]  # fmt: skip
    for call in wrong:
        try:
            call()
        except (ValueError, RuntimeError, IndexError, TypeError):
            continue
        raise AssertionError("nothing was refused")


# How often, in relation to each other: what costs much is rare.
WORK = {
    compute: 20, views_and_copies: 20, select_and_sort: 20, linear_algebra: 5, numpy_arrays: 20, exchanges: 20,
    files: 10, damaged_files: 5, pickles: 10, processes: 1, threads: 5, watchers: 2, allocators: 10, no_memory: 5,
    operators: 2, cycles: 10, mistakes: 10,
}  # fmt: skip


def resident():
    """Return the bytes of memory that the process has now."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def left_open():
    """Return what a process may forget to close: descriptors, maps of files, threads."""
    maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
    files = [line for line in maps if "memfd" in line or tempfile.gettempdir() in line]
    files = [line for line in files if ".so" not in line]  # of an environment there, loaded when it is first needed
    return len(os.listdir("/proc/self/fd")), len(files), threading.active_count()


def soak_for(seconds, seed, folder):
    """Do the work; return how often each kind was done, and the largest resident size of the first tenth and of all."""
    soak = Soak(seed, folder)
    kinds, weights = list(WORK), list(WORK.values())
    done, said, warm, peak = collections.Counter(), 0, 0, 0
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        kind = soak.dice.choices(kinds, weights)[0]
        try:
            kind(soak)
        except BaseException as error:
            error.add_note(f"in operation {done.total()} of seed {seed}")
            raise
        done[kind.__name__] += 1
        peak = max(peak, resident())
        if passed <= seconds / 10:
            warm = peak
        if passed // 60 > said:
            said = passed // 60
            print(
                f"{passed:6.0f} s  {done.total():9,} operations  {resident() >> 20:5} MiB resident  "
                f"{tensix.CPUAllocator.bytes_in_use() >> 20:4} MiB allocated", flush=True,
            )  # fmt: skip
    for value, expected in soak.kept:
        check(value, expected)
    return done, warm, peak


def main():
    """Soak for the time that was asked for and say what came of it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tensix.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder, memory.serve_numpy():
        for kind in WORK:  # what is made once is there
            kind(Soak(seed, folder))
        share(tensix.ones(1))  # begins the file that small tensors share
        gc.collect()
        before = left_open()
        with assert_no_leaks():
            done, warm, peak = soak_for(seconds, seed, folder)
        assert left_open() == before, f"descriptors, maps, threads: {before} before, {left_open()} after"
    print(", ".join(f"{name} {count:,}" for name, count in sorted(done.items())))
    print(
        f"{done.total():,} operations of {len(done)} kinds in {seconds:.0f} s; resident at most {peak >> 20} MiB, "
        f"in the first tenth {warm >> 20} MiB, at the end {resident() >> 20} MiB; nothing leaked"
    )
    assert peak <= warm + ROOM, f"the process grew by {(peak - warm) >> 20} MiB after the first tenth of the time"


if __name__ == "__main__":
    main()
