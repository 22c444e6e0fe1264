"""Other ways to the calls of ``calls.py`` and what lies around them, as functions of the same operands.

Methods, operator signs, NumPy's functions on tensors, files, shared memory, watchers, allocators, storages and the
dispatcher. The first word of a name is the public name that it calls.
"""

import ast
import copy
import ctypes
import functools
import operator
import pathlib
import pickle
import tempfile

import numpy as np
from calls import CALLS, INPUTS

import tensix
from tensix import files, linalg, memory
from tensix.dispatch.schema import parse_schema
from tensix.files.shared_memory import share
from tensix.testing import DeleteTracker, FailingAllocator, FakeAllocator, assert_no_leaks

TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(TEMPORARY.name)


def methods(names, operand=None):
    """Return a call of each method of `x`, with the operand of a name if there is one."""
    if operand is None:
        return {name: lambda o, name=name: getattr(o.x, name)() for name in names}
    return {name: lambda o, name=name: getattr(o.x, name)(getattr(o, operand)) for name in names}


def method(name, *arguments, **options):
    """Return a call of a method of `x` with arguments."""
    call = operator.methodcaller(name, *arguments, **options)
    return lambda o: call(o.x)


UNARY = [name for name, count in INPUTS.items() if count == 1 and hasattr(tensix.Tensor, name)]
BINARY = [name for name, count in INPUTS.items() if count == 2 and hasattr(tensix.Tensor, name)]
WHOLE = [f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift")]
SIGNS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge"]
WHOLE_SIGNS = ["and", "or", "xor", "lshift", "rshift"]
WRITING_SIGNS = [name for name in SIGNS if hasattr(operator, f"i{name}")]
REFLECTED = [name for name in [*SIGNS, *WHOLE_SIGNS] if f"__r{name}__" in vars(tensix.Tensor)]


def with_buffers(o):
    """Pickle a tensor with its bytes beside it."""
    buffers = []
    data = pickle.dumps(o.x, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


TENSOR = {
    **methods(UNARY),
    **methods(BINARY, "y"),
    **{name: lambda o, name=name: getattr(o.i, name)(o.i) for name in WHOLE},
    "bitwise_invert": lambda o: o.i.bitwise_invert(),
    **methods([
        "all", "any", "argmax", "argmin", "argsort", "argwhere", "bool", "clone", "contiguous", "copy", "count_nonzero",
        "cpu", "detach", "diff", "double", "flatten", "flip", "float", "half", "int", "is_contiguous", "lazy_clone",
        "long", "max", "mean", "median", "min", "nonzero", "normal_", "numpy", "prod", "ravel", "round",
        "sort", "squeeze", "std", "storage", "suggest_memory_format", "sum", "t", "tobytes", "to_sparse", "tolist",
        "tril", "triu", "unbind", "uniform_", "unique", "unstack", "var", "weak", "zero_", "__abs__", "__array__",
        "__copy__", "__dlpack__", "__neg__", "__pos__", "__repr__", "__round__", "__sizeof__", "_repr_html_",
    ]),
    **methods([
        "add_", "copy_", "div_", "dot", "expand_as", "is_alias_of", "matmul", "mul_", "reshape_as", "set_", "sub_",
        "view_as",
    ], "y"),
    "outer": lambda o: o.x[0].outer(o.y[0]),
    "norm": lambda o: o.x.norm(dim=0),
    "as_strided": method("as_strided", (3, 3), (2, 1), 1),
    "astype": method("astype", "float32", copy=True),
    "astype of int": lambda o: o.i.astype("complex64"),
    "chunk": method("chunk", 2),
    "clamp": lambda o: o.x.clamp(0.5, o.y),
    "clip": lambda o: o.x.clip(max=o.y),
    "cumprod": method("cumprod", 0),
    "cumsum": method("cumsum", dim=1),
    "cumulative_prod": method("cumulative_prod", axis=0),
    "cumulative_sum": method("cumulative_sum", axis=1, include_initial=True),
    "diagonal": method("diagonal", 1),
    "expand": lambda o: o.x[None].expand(3, *o.x.shape),
    "fill_": method("fill_", 3),
    "from_storage": lambda o: tensix.Tensor.from_storage(o.x.storage(), 1, (2, 2), (2, 1), o.x.dtype),
    "from_impl": lambda o: tensix.Tensor.from_impl(tensix.Tensor.weak(o.x).lock()),
    "imag": lambda o: o.x.astype("complex64").imag + 1,
    "isclose": lambda o: o.x.isclose(o.y, equal_nan=True),
    "item": lambda o: o.x[0, 0].item(),
    "movedim": method("movedim", 0, 1),
    "mT": lambda o: o.x.mT,
    "mutable_data_ptr": lambda o: o.x.lazy_clone().mutable_data_ptr() > 0,
    "narrow": method("narrow", 0, 1, 2),
    "permute": method("permute", 1, 0),
    "quantile": lambda o: o.x.quantile([0.1, 0.6], axis=0),
    "real": lambda o: o.x.astype("complex64").real + 1,
    "repeat": method("repeat", 2),
    "repeat of each": lambda o: o.i.repeat(tensix.arange(o.i.size)),
    "reshape": lambda o: o.x.T.reshape(-1),
    "resize_": lambda o: o.x.clone().resize_(50, 50)[0, :4],  # the elements behind are what the memory held
    "roll": method("roll", 1, axis=0),
    "select": method("select", 0, 1),
    "split": method("split", 2, 1),
    "stride": method("stride"),
    "T": lambda o: o.x.T,
    "take": lambda o: o.x.take(o.i, axis=1),
    "take_along_axis": lambda o: o.x.take_along_axis(o.i[None], axis=1),
    "tile": method("tile", (2, 1)),
    "to a type": method("to", "float64"),
    "to another tensor's type": lambda o: o.x.to(o.i),
    "to a device": lambda o: o.x.to_device("meta"),
    "to_device": method("to_device", "cpu"),
    "transpose": method("transpose", 0, 1),
    "unflatten": lambda o: o.x.unflatten(1, (1, -1)),
    "unfold": method("unfold", 0, 3, 1),
    "unsqueeze": method("unsqueeze", 1),
    "view": lambda o: o.x.view(-1),
    "view of another type": method("view", "int8"),
    "coalesce": lambda o: o.s.to_sparse().coalesce(),
    "to_dense": lambda o: o.s.to_sparse().to_dense(),
    "indices": lambda o: o.s.to_sparse().coalesce().indices(),
    "values": lambda o: o.s.to_sparse().coalesce().values(),
    "allocator": lambda o: type(o.x.allocator),
    "__array_function__": lambda o: np.concatenate([o.x, o.y]),
    "__array_interface__": lambda o: sorted(o.x.__array_interface__),
    "__array_ufunc__": lambda o: np.add(o.x, 1),
    "__bool__": lambda o: bool(o.x[0, 0]),
    "__buffer__": lambda o: bytes(memoryview(o.x)),
    "__complex__": lambda o: complex(o.x[0, 0]),
    "__contains__": lambda o: 1.5 in o.x,
    "__deepcopy__": lambda o: copy.deepcopy([o.x, o.x.T]),
    "__divmod__": lambda o: divmod(o.x, o.y),
    "__dlpack__ of a copy": method("__dlpack__", copy=True, max_version=(1, 0)),
    "__float__": lambda o: float(o.x[0, 0]),
    "__format__": lambda o: f"{o.x[0, 0]:.3f}",
    "__getitem__": lambda o: o.x[1:, None, ..., ::-1],
    "__getitem__ of tensors": lambda o: o.x[o.i, o.i],
    "__getitem__ of a mask": lambda o: o.x[o.m],
    "__index__": lambda o: operator.index(o.i[1]),
    "__int__": lambda o: int(o.x[0, 0]),
    "__invert__": lambda o: ~o.i,
    "__iter__": lambda o: list(o.x),
    "__len__": lambda o: len(o.x),
    "__rdivmod__": lambda o: divmod(7, o.y),
    "__reduce_ex__": lambda o: pickle.loads(pickle.dumps((o.x, o.x.T, o.i), 2)),
    "__reduce_ex__ with buffers": with_buffers,
    "__setitem__": lambda o: operator.setitem(o.x, (slice(1, None), 0), 5),
    "__setitem__ of tensors": lambda o: operator.setitem(o.x, o.i, o.x[0]),
    "__setitem__ of a mask": lambda o: operator.setitem(o.x, o.m, 0.25),
    "__setitem__ overlapping": lambda o: operator.setitem(o.x, slice(1, None), o.x[:-1]),
    "__setitem__ of another type": lambda o: operator.setitem(o.x, 0, o.i),
    **{f"__{n}__": lambda o, f=getattr(operator, f"__{n}__"): f(o.x, o.y) for n in SIGNS},
    **{f"__{n}__": lambda o, f=getattr(operator, f"__{n}__"): f(o.i, o.i) for n in WHOLE_SIGNS},
    **{f"__{n}__ of types": lambda o, f=getattr(operator, f"__{n}__"): f(o.i, o.x) for n in SIGNS},
    **{f"__i{n}__": lambda o, f=getattr(operator, f"__i{n}__"): f(o.x, o.y) for n in WRITING_SIGNS},
    **{f"__i{n}__ overlapping": lambda o, f=getattr(operator, f"__i{n}__"): f(o.x, o.x.T) for n in WRITING_SIGNS},
    **{f"__i{n}__": lambda o, f=getattr(operator, f"__i{n}__"): f(o.i, o.i) for n in WHOLE_SIGNS},
    **{f"__r{n}__": lambda o, n=n: getattr(o.i, f"__r{n}__")(2) for n in REFLECTED if n != "matmul"},
    "__rmatmul__": lambda o: np.ones((3, o.x.shape[0]), "float32") @ o.x,
}  # fmt: skip

# Functions of elements that write to memory which is there.
OUT = {
    **{
        f"{n} out": lambda o, f=getattr(tensix, n): f(o.x, out=o.y)
        for n in ("exp", "sqrt", "negative", "square", "abs")
    },
    **{
        f"{n} out": lambda o, f=getattr(tensix, n): f(o.i, o.y, out=o.x)
        for n in ("add", "multiply", "maximum", "hypot")
    },
    "add out overlapping": lambda o: tensix.add(o.x, o.y, out=o.x.T),
    "where of numbers": lambda o: tensix.where(o.m, 1, o.i),
    "asarray immutable": lambda o: tensix.asarray(np.asarray(o.x).copy(), immutable=True).lazy_clone().add_(1),
    "asarray copy": lambda o: tensix.asarray(o.x, copy=True, dtype="float64"),
    "from_numpy": lambda o: tensix.from_numpy(np.arange(9.0)),
    "from_dlpack copy": lambda o: tensix.from_dlpack(o.x, copy=True),
    "from_blob": lambda o: tensix.from_blob(o.x.data_ptr(), (2, 2), dtype=o.x.dtype, deleter=id).sum(),
    "tensor of lists": lambda o: tensix.tensor([[1, 2.5], [3, 4]]),
    "randperm": lambda o: tensix.randperm(20),
    "Generator": lambda o: tensix.randn(9, generator=tensix.Generator(3)),
    "max of axes": lambda o: tensix.max(o.x, axis=(0, 1), keepdims=True),
    "einsum of one": lambda o: tensix.einsum("ii", o.s),
    "pad constant": lambda o: tensix.pad(o.x, ((1, 0), (0, 2)), constant_values=7),
    "split into parts": lambda o: tensix.split(o.x[:4], [1, 3]),
    "median of all": lambda o: tensix.median(o.x),
    "unique of all": lambda o: tensix.unique(o.i, return_inverse=True, return_counts=True),
    "linalg.solve of a factor": lambda o: linalg.solve(linalg.qr(o.s).R, o.s),
}

UFUNCS = [np.sin, np.exp, np.isnan, np.modf, np.frexp, np.sign, np.logical_not, np.rint]
BINARY_UFUNCS = [np.add, np.hypot, np.greater, np.logaddexp, np.fmax, np.divmod, np.ldexp]
OF_NUMPY = [
    np.all, np.argmax, np.argsort, np.average, np.corrcoef, np.cov, np.cumsum, np.diff, np.fft.fft2, np.flip,
    np.gradient, np.linalg.eigvals, np.linalg.norm, np.linalg.svd, np.mean, np.median, np.nanmean, np.nansum,
    np.nonzero, np.ptp, np.ravel, np.rot90, np.round, np.sort, np.std, np.sum, np.trace, np.transpose, np.unique,
    np.var, np.copy, np.histogram, np.array_repr, np.ones_like, np.triu, np.cross, np.squeeze, np.diagonal,
]  # fmt: skip
NUMPY = {
    **{f"numpy.{f.__name__}": lambda o, f=f: f(o.x) for f in UFUNCS},
    **{f"numpy.{f.__name__}": lambda o, f=f: f(o.x, o.y) for f in BINARY_UFUNCS if f is not np.ldexp},
    "numpy.ldexp": lambda o: np.ldexp(o.x, o.i),
    **{f"numpy.{f.__name__}": lambda o, f=f: f(o.x) for f in OF_NUMPY if f is not np.cross},
    "numpy.empty_like": lambda o: np.empty_like(o.x).shape,
    "numpy.cross": lambda o: np.cross(o.s[:, :3], o.s[:, 3:6]),
    "numpy.sin where": lambda o: np.sin(o.x, where=o.m, out=o.y),
    "numpy.add out": lambda o: np.add(o.x, o.y, out=o.x),
    "numpy.add at": lambda o: np.add.at(o.x, [0, 1], 2.0),
    "numpy.add reduce": lambda o: np.add.reduce(o.x, axis=0),
    "numpy.add outer": lambda o: np.add.outer(o.x[0], o.y[0]),
    "numpy.multiply accumulate": lambda o: np.multiply.accumulate(o.x),
    "numpy.concatenate": lambda o: np.concatenate([o.x, o.y], axis=1),
    "numpy.stack": lambda o: np.stack([o.x, o.y]),
    "numpy.where": lambda o: np.where(o.m, o.x, 0),
    "numpy.einsum": lambda o: np.einsum("ij,jk", o.x, o.y),
    "numpy.matmul": lambda o: np.matmul(o.x, o.y),
    "numpy.dot": lambda o: np.dot(o.x, o.y),
    "numpy.percentile": lambda o: np.percentile(o.x, [10, 90], axis=1),
    "numpy.take": lambda o: np.take(o.x, o.i, axis=0),
    "numpy.pad": lambda o: np.pad(o.x, 1),
    "numpy.split": lambda o: np.split(o.x[:4], 2),
    "numpy.reshape": lambda o: np.reshape(o.x, -1),
    "numpy.broadcast_to": lambda o: np.broadcast_to(o.x, (2, *o.x.shape)),
    "numpy.searchsorted": lambda o: np.searchsorted(o.x[0], o.y[0]),
    "numpy.interp": lambda o: np.interp(o.x[0], o.i, o.y[0]),
    "numpy.clip": lambda o: np.clip(o.x, 0.5, o.y),
    "numpy.copyto": lambda o: np.copyto(o.x, o.y),
    "numpy.fill_diagonal": lambda o: np.fill_diagonal(o.x, 9),
    "numpy.put": lambda o: np.put(o.x, [0, 3], 5),
    "numpy.putmask": lambda o: np.putmask(o.x, o.m, 5),
    "numpy.linalg.solve": lambda o: np.linalg.solve(o.s, o.s),
    "numpy.asarray": lambda o: np.asarray(o.x),
    "numpy.array": lambda o: np.array(o.x, dtype="float64"),
    "numpy.from_dlpack": lambda o: np.from_dlpack(o.x),
    "numpy array + tensor": lambda o: np.ones(o.x.shape) + o.x,
}


def saved(name, *value, **options):
    """Write a file and return how many bytes it has."""
    tensix.save(FOLDER / name, *value, **options)
    return (FOLDER / name).stat().st_size


def file_of(o, suffix):
    """Return the path of a file with two tensors; written once for each shape."""
    path = FOLDER / f"{o.x.shape[0]}{suffix}"
    if not path.exists():
        tensix.save(
            path, tensix.ones(o.x.shape) if suffix == ".npy" else {"x": tensix.ones(o.x.shape), "i": tensix.arange(7)}
        )
    return path


def loaded(o, suffix, mmap_mode):
    """Load a file and add to its tensor."""
    found = tensix.load(file_of(o, suffix), mmap_mode=mmap_mode)
    return (found if suffix == ".npy" else found["x"]) + 1


FILES = {
    "save npy": lambda o: saved("a.npy", o.x),
    "save npy of strides": lambda o: saved("b.npy", o.x[:, ::2]),
    "save npy of columns": lambda o: saved("c.npy", o.x.T),
    "save npz": lambda o: saved("a.npz", {"x": o.x, "i": o.i}, compress=True),
    "save safetensors": lambda o: saved("a.safetensors", {"x": o.x.T, "m": o.m}, metadata={"of": "a test"}),
    **{
        f"load {suffix} {mode}": functools.partial(loaded, suffix=suffix, mmap_mode=mode)
        for suffix in (".npy", ".npz", ".safetensors") for mode in ("r", "c", None)
    },
    "from_file": lambda o: tensix.from_file(FOLDER / "raw", (3, 4), dtype="float32", shared=True) + 1,
    "TensorFile": lambda o: [dict(file) for file in [tensix.load(file_of(o, ".npz"))]],
    "files.RawFile": lambda o: files.RawFile(file_of(o, ".npy")).close(),
    "share": lambda o: share(o.x),
    "share of strides": lambda o: share(o.x[:, ::2]) + 1,
}  # fmt: skip


def watched(watcher, o):
    """Return what a watcher of memory saw, in a form that can be compared."""
    with watcher:
        y = o.x.lazy_clone()
        y += o.y
    return y


def recorded(o):
    """Record, save, load and look."""
    with memory.record(max_events=100) as recording:
        kept = o.x + o.y
        snapshot = recording.snapshot()
    snapshot.save(FOLDER / "snapshot.json")
    return len(str(memory.load_snapshot(FOLDER / "snapshot.json"))) > 0, kept


def declared(o):
    """Declare an operator, implement it, call it, and undo it."""
    with tensix.Library("declared") as library:
        library.define("twice(Tensor self, *, int times=2) -> Tensor")
        library.impl("twice", lambda x, times: x * times, "CPU")
        library.fallback(lambda op, *args, **kwargs: op(*args, **kwargs), "PrivateUse1")
        return tensix.ops.declared.twice(o.x, times=3)


def filled(allocator, nbytes=200):
    """Take a block and write it."""
    storage = tensix.Storage(nbytes, allocator)
    tensix.Tensor.from_storage(storage, 0, (nbytes,), (1,), "uint8").fill_(7)
    return bytes(memoryview(tensix.Tensor.from_storage(storage.lazy_clone(), 0, (nbytes,), (1,), "uint8")))


def served(o):
    """Serve NumPy for a while."""
    with memory.serve_numpy():
        return np.arange(10_000.0) + 1


def torch_refused(o):
    """Ask for PyTorch where it is not imported; ``tests/exchange`` serves it where it is."""
    try:
        memory.serve_torch(tensix.CPUAllocator())
    except RuntimeError as error:
        return "import torch" in str(error)
    return False


def with_allocator(o):
    with tensix.use_allocator(memory.StatisticsAdaptor(None)):
        return o.x + o.y


LIBC = ctypes.CDLL(None)
LIBC.malloc.restype, LIBC.malloc.argtypes, LIBC.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
ELEMENTS = tensix.register_type(list)


def handled_elements():
    """Return whether elements that are constructed, copied and destroyed leave none behind."""
    block = (ctypes.c_void_p * 4)()
    address = ctypes.addressof(block)
    ELEMENTS.construct(address, 4)
    try:
        ELEMENTS.copy(address, address + 2 * ELEMENTS.itemsize, 2)
        return block[2] == block[0]
    finally:
        ELEMENTS.destroy(address, 4)


AROUND = {
    "explain": lambda o: len(str(tensix.explain(o.x.lazy_clone()))) > 0,
    "Explanation": lambda o: isinstance(tensix.explain(o.x.storage()), tensix.Explanation),
    "profile": lambda o: watched(memory.profile(quiet=True), o),
    "copies": lambda o: watched(memory.copies(), o),
    "statistics": lambda o: watched(memory.statistics(), o),
    "record": recorded,
    "snapshot": recorded,
    "memory_summary": lambda o: len(memory.memory_summary()) > 0,
    "resident": lambda o: memory.resident().total > 0,
    "ResidentParts": lambda o: "libraries" in str(memory.resident()),
    "mark": lambda o: memory.mark("here") is None,
    "serve_numpy": served,
    "serve_torch": torch_refused,
    "use_allocator": with_allocator,
    "assert_no_leaks": lambda o: assert_no_leaks()(lambda: float(o.x.sum()))(),
    "Library": declared,
    "CPUAllocator": lambda o: filled(tensix.CPUAllocator(alignment=256)),
    "CachingAllocator": lambda o: filled(memory.CachingAllocator(tensix.get_allocator())),
    "GuardAdaptor": lambda o: filled(memory.GuardAdaptor(None)),
    "LimitingAdaptor": lambda o: filled(memory.LimitingAdaptor(None, "1 MiB")),
    "LoggingAdaptor": lambda o: filled(memory.LoggingAdaptor(None, FOLDER / "log")),
    "StatisticsAdaptor": lambda o: filled(memory.StatisticsAdaptor(None)),
    "TrackingAdaptor": lambda o: filled(memory.TrackingAdaptor(None)),
    "AlignmentAdaptor": lambda o: filled(memory.AlignmentAdaptor(None, 512)),
    "FailureCallbackAdaptor": lambda o: filled(memory.FailureCallbackAdaptor(None, lambda nbytes: False)),
    "CallSites": lambda o: memory.CallSites().capture() >= 0,
    "CallbackAllocator": lambda o: filled(memory.CallbackAllocator(LIBC.malloc, LIBC.free)),
    "FunctionAllocator": lambda o: filled(memory.FunctionAllocator(LIBC.malloc, LIBC.free)),
    "MappedAllocator": lambda o: filled(memory.MappedAllocator(FOLDER)),
    "HugePageAllocator": lambda o: filled(memory.HugePageAllocator()),
    "SharedMemoryAllocator": lambda o: filled(memory.SharedMemoryAllocator()),
    "FailingAllocator": lambda o: filled(FailingAllocator(None)),
    "FakeAllocator": lambda o: tensix.Storage(10, FakeAllocator()).nbytes(),
    "DeleteTracker": lambda o: tensix.Storage.from_data_ptr(8, tensix.DataPtr(16, 16, DeleteTracker())).nbytes(),
    "DataPtr": lambda o: tensix.DataPtr.from_callable(16, id).get(),
    "Storage": lambda o: tensix.Storage(100).nbytes(),
    "Storage clone": lambda o: o.x.storage().clone().nbytes(),
    "Storage lazy_clone": lambda o: o.x.storage().lazy_clone().mutable_data_ptr() > 0,
    "Storage resize_": lambda o: tensix.Storage(100, resizable=True).resize_(300),
    "Storage share": lambda o: o.y.storage().share().nbytes(),
    "Storage weak": lambda o: o.y.storage().weak().lock().use_count(),
    "TypeMeta construct, copy and destroy": lambda o: handled_elements(),
    "TypedStorage": lambda o: tensix.TypedStorage(ELEMENTS, 3).storage().lazy_clone().mutable_data_ptr() > 0,
    "IntrusivePtr": lambda o: tensix.make_intrusive(tensix.IntrusiveTarget).copy().use_count(),
    "WeakIntrusivePtr": lambda o: o.x.weak().copy().lock().use_count(),
    "FunctionSchema": lambda o: str(parse_schema("f(Tensor(a!) x, int[2] y=1) -> Tensor(a!)")),
    "dispatcher": lambda o: tensix.dispatcher.get_op_table("add.Tensor")(o.x, o.y),
    "ops": lambda o: tensix.ops.tensix.add(o.x, o.y),
    "include_keys": lambda o: str(tensix.DispatchKeySet("CPU")),
}
FRONTS = {
    **{f"Tensor.{name}": call for name, call in TENSOR.items()},
    **OUT, **NUMPY, **FILES, **AROUND,
}  # fmt: skip

# They make no memory of tensix, or do so in another call that is here: looks at a tensor, and what reports are made of.
LOOKS = {
    "backward", "base", "body_address", "data_ptr", "defined", "device", "dim", "dtype", "is_coalesced", "is_cow",
    "is_shared", "is_sparse", "itemsize", "layout", "nbytes", "ndim", "nnz", "numel", "impl", "readonly", "shape",
    "size", "storage_offset",
    "use_count", "version", "weak_use_count", "__array_namespace__", "__dask_tokenize__", "__delitem__", "__dir__",
    "__dlpack_device__", "__hash__", "__init__",
}  # fmt: skip
REPORTS = {
    "Adaptor", "Advice", "CachingStats", "CopyRow", "Frame", "Profile", "ProfileRow", "Snapshot", "TrackedBlock",
    "cluster", "load_snapshot", "max_memory_allocated", "memory_allocated", "memory_reserved",
    "reset_peak_memory_stats",
}  # fmt: skip


def forgotten():
    """Return the public names that make memory and that no call is listed for."""
    tried = {name.split()[0] for name in FRONTS} | {name.split()[0] for name in CALLS}
    stub = ast.parse(pathlib.Path(tensix.__file__).with_name("_tensor.pyi").read_text())
    [tensor] = [one for one in stub.body if isinstance(one, ast.ClassDef) and one.name == "Tensor"]
    names = {f"Tensor.{one.name}" for one in tensor.body if isinstance(one, ast.FunctionDef) and one.name not in LOOKS}
    names |= set(memory.__all__) - REPORTS
    return names - tried
