"""Print how long tensix takes compared with c10, PyTorch and NumPy, one ratio per row, or nanoseconds where it says so.

Both sides of a row do the same work, turn by turn in one process, and each is judged by its best round: noise only
ever adds time. Below 1 tensix is faster; "ok" means at or below the target.
"""

import argparse
import ctypes
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.allocation import KIB, MIB, SIZES
from benchmarks.copy_on_write import SHARED_SIZES
from benchmarks.files import model
from benchmarks.native import dispatch_loops, exchange_loops, loops
from benchmarks.native.build import HERE, build_extension
from benchmarks.served import SIZES as SERVED_SIZES
from benchmarks.served import TEMPORARIES, programs
from benchmarks.storage import touched
from benchmarks.watching import SCOPES, allocate_inside, nested
from race import Work, best_times, statement

import tensix
from tensix.core import IntrusiveTarget, Storage, make_intrusive
from tensix.memory import CachingAllocator, CallSites, StatisticsAdaptor, TrackingAdaptor, serve_numpy

try:
    import torch
    from torch.utils.cpp_extension import include_paths, library_paths
except ImportError:
    sys.exit("compare.py measures against PyTorch, which is missing. Run: pip install torch")

try:
    from safetensors import torch as safetensors
except ImportError:  # its row is left out
    safetensors = None

FAULTING_BYTES = 32 * MIB  # from here the peers fault in every page of every block


@dataclass
class Race:
    """Our best time over that of each peer."""

    name: str
    target: float
    ours: Work
    peers: dict[str, Work]

    def ratios(self, rounds):
        ours, *theirs = best_times([self.ours, *self.peers.values()], rounds)
        return {peer: ours / seconds for peer, seconds in zip(self.peers, theirs, strict=True)}


@dataclass
class Spread:
    """The slowest of our own works over the fastest."""

    name: str
    target: float
    works: list[Work]

    def ratios(self, rounds):
        times = best_times(self.works, rounds)
        return {"itself": max(times) / min(times)}


@dataclass
class Difference:
    """Nanoseconds by which one work takes longer than another that is part of it."""

    name: str
    target: float
    whole: Work
    part: Work
    against: str = "part"

    def ratios(self, rounds):
        whole, part = best_times([self.whole, self.part], rounds)
        return {self.against: (whole - part) * 1e9}


def refcount_rows():
    c10 = ctypes.CDLL(str(build_c10_loops()))
    for function in (c10.copy_destroy, c10.copy_destroy_with_python, c10.make_destroy):
        function.argtypes, function.restype = [ctypes.c_longlong], None
    target = make_intrusive(IntrusiveTarget).release()  # never freed: it outlives the measurement
    peers = {"c10": c10.copy_destroy, "c10+py": c10.copy_destroy_with_python}  # ours is a Python object always
    yield Race("incref + decref, C loop", 1.0, lambda n: loops.incref_decref(target, n), peers)
    yield Race("make + destroy, Cython loop", 4.0, loops.make_destroy, {"c10": c10.make_destroy})
    x, array = tensix.ones(3, 4), np.ones((3, 4), "f4")
    yield Race(
        "address + size + stride, Cython loop", 0.5, lambda n: loops.look_at_tensor(x, n),
        {"numpy": lambda n: loops.look_at_buffer(array, n)},
    )


def build_c10_loops():
    return build_extension(
        "c10_loops", HERE / "c10_loops.cpp", language="c++", libraries=["c10"], include_dirs=include_paths(),
        library_dirs=library_paths(), extra_compile_args=["-O2", "-std=c++20", "-DNDEBUG"],
    )


def lazy_clone_rows():
    all_ours = []
    for nbytes in SHARED_SIZES:
        ours = statement("storage.lazy_clone()", storage=touched(nbytes))
        tensor = torch.ones(nbytes, dtype=torch.uint8)
        theirs = statement("lazy_clone(tensor)", lazy_clone=torch._lazy_clone, tensor=tensor)
        yield Race(f"lazy_clone, {size(nbytes)}", 0.25, ours, {"torch": theirs})
        all_ours.append(ours)
    yield Spread("lazy_clone, slowest / fastest size", 1.25, all_ours)


def allocation_rows():
    """Yield allocate + free, then allocate + touch every page + free, for each size; a whole tensor on every side."""
    names = {"empty": tensix.empty, "our_uint8": tensix.uint8,
             "torch_empty": torch.empty, "numpy_empty": np.empty, "uint8": torch.uint8,
             "numpy_uint8": np.dtype("u1"), "touch": loops.touch,
             "touch_tensor": loops.touch_tensor, "touch_array": loops.touch_array}
    for nbytes in SIZES:
        names["n"] = nbytes
        yield Race(
            f"allocate + free, {size(nbytes)}", 1.0, statement("empty(n, dtype=our_uint8)", **names),
            {"torch": statement("torch_empty(n, dtype=uint8)", **names),
             "numpy": statement("numpy_empty(n, dtype=numpy_uint8)", **names)},
        )
    for nbytes in SIZES:
        names["n"] = nbytes
        yield Race(
            f"allocate + touch + free, {size(nbytes)}", 0.1 if nbytes >= FAULTING_BYTES else 1.0,
            statement("x = empty(n, dtype=our_uint8); touch(x.mutable_data_ptr(), n); del x", **names),
            {"torch": statement("x = torch_empty(n, dtype=uint8); touch(x.data_ptr(), n); del x", **names)},
        )
        yield Race(  # NumPy's address takes a microsecond in Python: both in C
            f"allocate + touch + free, {size(nbytes)}", 0.1 if nbytes >= FAULTING_BYTES else 1.0,
            statement("x = empty(n, dtype=our_uint8); touch_tensor(x); del x", **names),
            {"numpy": statement("x = numpy_empty(n, dtype=numpy_uint8); touch_array(x); del x", **names)},
        )


def adaptor_rows():
    """Yield what adaptors add to an allocation and its free: a storage through each less one without."""
    caching = CachingAllocator()
    for name, adaptor, target in (
        ("statistics", StatisticsAdaptor(caching), 10.0), ("call sites", TrackingAdaptor(caching), 2000.0),
    ):  # fmt: skip
        whole, part = (statement("Storage(1024, a)", Storage=Storage, a=allocator) for allocator in (adaptor, caching))
        yield Difference(f"allocate + free, {name}, ns", target, whole, part, "without")


def small_call_rows():
    """Yield calls on 3 x 4 tensors: so few elements that all time goes into the call itself."""
    ours = {"x": tensix.rand(3, 4), "y": tensix.rand(3, 4), "lib": tensix, "b": tensix.ones(3, 4, dtype=tensix.bool)}
    torchs = {"x": torch.rand(3, 4), "y": torch.rand(3, 4), "lib": torch, "b": torch.ones(3, 4, dtype=torch.bool)}
    numpys = {"x": np.random.rand(3, 4).astype("f4"), "y": np.random.rand(3, 4).astype("f4"), "lib": np,
              "b": np.ones((3, 4), "?"), "rand": np.random.default_rng(0).random}
    # where NumPy's or PyTorch's spelling differs: (name, ours, torch's, NumPy's)
    for name, *codes in (
        ("x[0]",), ("x[0:2]",), ("x[1:3, ::2]",), ("x.T",), ("x.reshape(4, 3)",), ("x + y",), ("x @ y.T",),
        ("empty(3, 4)", "lib.empty(3, 4)", "lib.empty(3, 4)", "lib.empty((3, 4), 'f4')"),
        ("x.clone()", "x.clone()", "x.clone()", "x.copy()"), ("x.sum()",),
        ("x.T.contiguous()", "x.T.contiguous()", "x.T.contiguous()", "lib.ascontiguousarray(x.T)"), ("x * 2",),
        ("x < y",), ("lib.where(b, x, y)",), ("lib.sqrt(x)",), ("x.__iadd__(y)",),
        ("rand(3, 4)[0] + rand(3, 4)", "lib.rand(3, 4)[0] + lib.rand(3, 4)", "lib.rand(3, 4)[0] + lib.rand(3, 4)",
         "rand((3, 4), 'f4')[0] + rand((3, 4), 'f4')"),
    ):  # fmt: skip
        us, them, numpy = codes or [name] * 3
        target = (0.25, 0.5) if name.startswith("rand") else (0.2, 1.0)
        yield Race(name, target[0], statement(us, **ours), {"torch": statement(them, **torchs)})
        yield Race(name, target[1], statement(us, **ours), {"numpy": statement(numpy, **numpys)})


# One million float32 lie in the caches of a server, sixteen million in none, and NumPy faults in their pages each time.
LARGE = {"1 M": 1024, "16 M": 4096}  # the side of a square
LARGE_CALLS = (  # where NumPy's spelling differs: (ours, NumPy's)
    ("x + y",), ("x * 2",), ("x / y",), ("-x",), ("x < y",), ("lib.sqrt(x)",), ("lib.exp(x)",), ("lib.where(b, x, y)",),
    ("x + y[0]",), ("x + y[:, :1]",), ("x[:, ::2] + y[:, ::2]",), ("x[::-1] + y[::-1]",), ("x.T + y.T",), ("x + y.T",),
    ("x + i",), ("x.__iadd__(y)",), ("i // 3",), ("b & b",), ("x.clone()", "x.copy()"), ("lib.astype(x, lib.float64)",),
    *((f"{source}.{name}({axis})",) for source, name in (("x", "sum"), ("x", "max"), ("x", "mean"), ("x", "var"),
      ("x", "prod"), ("x", "argmax"), ("i", "sum"), ("b", "all")) for axis in ("", "0", "1")),
)  # fmt: skip


def large_call_rows():
    """Yield calls on one million and on sixteen million elements, one thread on both sides."""
    tensix.set_num_threads(1)
    for count, side in LARGE.items():
        generator = np.random.default_rng(0)
        arrays = {name: generator.random((side, side), "f4") for name in "xy"}
        arrays |= {"i": generator.integers(0, 99, (side, side), "i4"), "b": np.ones((side, side), "?")}
        ours = {name: tensix.asarray(array, copy=True) for name, array in arrays.items()}
        for code, *other in LARGE_CALLS:
            peer = statement(other[0] if other else code, lib=np, **arrays)
            yield Race(f"{code}, {count}", 1.05, statement(code, lib=tensix, **ours), {"numpy": peer})
    tensors = {name: torch.from_numpy(arrays[name]) for name in "xy"}  # sixteen million: a fresh result of 64 MiB
    yield Race("x + y, 16 M", 0.5, statement("x + y", **ours), {"torch": statement("x + y", **tensors)})


def thread_rows():
    """Yield calls on sixteen million elements on two threads against one."""
    x = tensix.rand(4096, 4096)
    y = tensix.rand(4096, 4096)
    for code in ("x + y", "x.__iadd__(y)", "x + y.T", "lib.exp(x)", "x.sum()", "x.sum(0)", "x.sum(1)", "x.max()",
                 "x.clone()"):  # fmt: skip
        two, one = (
            statement(f"threads({n}); {code}", x=x, y=y, lib=tensix, threads=tensix.set_num_threads) for n in (2, 1)
        )
        yield Race(f"{code}, two threads", 0.6, two, {"one": one})


def file_rows():
    """Yield loading by map: a model of 92 MB with every tensor taken, and one tensor; no element is touched.

    NumPy maps .npy files only, so its model is a folder of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        tensors, path = model(), Path(folder, "model.safetensors")
        tensix.save(path, tensors)
        for name, x in tensors.items():
            tensix.save(Path(folder, f"{name}.npy"), x)
        one = Path(folder, f"{next(iter(tensors))}.npy")
        names = {"lib": tensix, "np": np, "torch": torch, "path": path, "one": one, "n": 1 << 20,
                 "all": [Path(folder, f"{name}.npy") for name in tensors]}
        theirs = statement("[np.load(one, mmap_mode='r') for one in all]", **names)
        yield Race("load a model of 92 MB", 1.0, statement("dict(lib.load(path))", **names), {"numpy": theirs})
        theirs = statement("np.load(one, mmap_mode='r')", **names)
        yield Race("load .npy, 4 MiB", 1.0, statement("lib.load(one)", **names), {"numpy": theirs})
        ours = statement("lib.from_file(one, n, offset=128)", **names)
        theirs = statement("np.memmap(one, 'f4', 'c', 128, n)", **names)
        yield Race("from_file, 4 MiB", 1.0, ours, {"numpy": theirs})
        if safetensors is not None:
            theirs = statement("load_file(path)", load_file=safetensors.load_file, path=path)
            yield Race("load a model of 92 MB", 1.0, statement("dict(lib.load(path))", **names), {"safetens": theirs})


def dispatcher_rows():
    """Yield the dispatcher's cost: a call through the operator's table less a direct call of its kernel."""
    x, y = tensix.rand(3, 4), tensix.rand(3, 4)
    yield Difference(
        "dispatch of add, ns", 30.0, lambda n: dispatch_loops.through_the_table(x, y, n),
        lambda n: dispatch_loops.straight_to_the_kernel(x, y, n),
    )  # fmt: skip


def watching_rows():
    """Yield what it costs to watch an allocation and its free, and to take the stack that it comes from."""
    allocate = statement("Storage(64)", Storage=Storage)
    for name, target, scope in SCOPES:
        yield Difference(f"{name}, ns", target, partial(allocate_inside, scope), allocate, "off")
    capture, nothing = statement("capture()", capture=CallSites().capture), statement("pass")
    yield Difference("call site, ns", 2000.0, partial(nested, 20, capture), partial(nested, 20, nothing), "off")


def served_rows():
    """Yield NumPy's arrays in tensix's memory against the same in NumPy's own, with operands of the same memory.

    Once it was served, NumPy's own side passes through tensix's functions too: some 20 instructions for a small array.
    """
    for nbytes in SERVED_SIZES:
        target = 1.03 if nbytes < 64 * KIB else 0.8 if nbytes <= MIB else 0.7
        with serve_numpy():
            ours = programs(nbytes)
        for name, theirs in programs(nbytes).items():
            peers = {"numpy": statement(theirs)}
            work = partial(served, statement(ours[name]))
            yield Race(f"served {name}, {size(nbytes)}", target if name in TEMPORARIES else 1.03, work, peers)


def served(work, repeat):
    with serve_numpy():
        work(repeat)


def exchange_rows():
    """Yield exchange with other libraries, against what they do with each other."""
    names = {"x": tensix.ones(3, 4), "a": np.ones((3, 4), "f4"), "t": torch.ones(3, 4), "lib": tensix, "np": np}
    names |= {"torch": torch}
    for ours, target, peers in (
        ("x.__dlpack__()", 0.5, ("a.__dlpack__()", "t.__dlpack__()")),
        ("x.__dlpack__(max_version=(1, 0))", 0.5, ("a.__dlpack__(max_version=(1, 0))",)),
        ("lib.from_dlpack(x)", 0.5, ("np.from_dlpack(a)",)), ("lib.from_dlpack(a)", 0.5, ("np.from_dlpack(a)",)),
        ("lib.from_dlpack(t)", 0.5, ("np.from_dlpack(t)",)), ("lib.from_numpy(a)", 1.0, ("torch.from_numpy(a)",)),
        ("lib.asarray(x)", 1.0, ("torch.from_numpy(a)",)), ("lib.asarray(a)", 1.0, ("torch.from_numpy(a)",)),
        ("lib.asarray(t)", 1.0, ("torch.from_numpy(a)",)), ("memoryview(x)", 1.0, ("memoryview(a)",)),
    ):  # fmt: skip
        them = {"torch" if one[0] == "t" else "numpy": statement(one, **names) for one in peers}
        yield Race(ours, target, statement(ours, **names), them)
    by_table, by_capsule = exchange_loops.hand_over_by_table, exchange_loops.hand_over_by_capsule
    yield Race(  # each by the fastest way that it has
        "DLPack to a library in C", 0.5, partial(by_table, names["x"]),
        {"numpy": partial(by_capsule, names["a"]), "torch": partial(by_table, names["t"])},
    )  # fmt: skip
    yield Race(
        "DLPack to C, by capsule", 1.0, partial(by_capsule, names["x"]), {"numpy": partial(by_capsule, names["a"])}
    )


def size(nbytes):
    return next(f"{nbytes // one} {unit}" for one, unit in ((MIB, "MiB"), (KIB, "KiB"), (1, "B")) if nbytes >= one)


ROWS = (
    refcount_rows,
    lazy_clone_rows,
    allocation_rows,
    adaptor_rows,
    small_call_rows,
    large_call_rows,
    thread_rows,
    file_rows,
    watching_rows,
    served_rows,
    exchange_rows,
    dispatcher_rows,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=50, help="turns of each side (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)

    print(f"{'work':<36} {'against':<8} {'target':>6} {'ratio':>6}")
    for rows in ROWS:
        for row in rows():
            if options.only not in row.name:
                continue
            for peer, ratio in row.ratios(options.rounds).items():
                verdict = "ok" if ratio <= row.target else "over"
                print(f"{row.name:<36} {peer:<8} {row.target:>6.2f} {ratio:>6.2f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
