"""Every public call that works on tensors' memory, as a function of the operands that a disturbance may change."""

import copy
import inspect
import operator
import pickle

import numpy as np

import tensix
from tensix import fft, linalg
from tensix.kernels import elementwise

WHOLE = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]
OF_THEIR_OWN = {"imag", "bitwise_invert", *WHOLE}  # called with other arguments, below
INPUTS = {
    name: 2 if "x2" in inspect.signature(getattr(elementwise, name)).parameters else 1
    for name in elementwise.__all__
    if name not in OF_THEIR_OWN
}
UNARY = [
    *[name for name, count in INPUTS.items() if count == 1],
    "sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "argmax", "argmin", "count_nonzero", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "argsort", "sort", "nonzero", "argwhere", "diff", "tril",
    "triu", "zeros_like", "ones_like", "matrix_transpose", "asarray",
]  # fmt: skip
BINARY = [*[name for name, count in INPUTS.items() if count == 2], "matmul", "vecdot", "isin"]

FUNCTIONS = {
    **{name: lambda o, f=getattr(tensix, name): f(o.x) for name in UNARY},
    **{name: lambda o, f=getattr(tensix, name): f(o.x, o.y) for name in BINARY},
    **{name: lambda o, f=getattr(tensix, name): f(o.i, o.i) for name in WHOLE},
    "bitwise_invert": lambda o: tensix.bitwise_invert(o.i),
    "imag": lambda o: tensix.imag(o.x),
    "cumulative_sum": lambda o: tensix.cumulative_sum(o.x, axis=0),
    "cumulative_prod": lambda o: tensix.cumulative_prod(o.x, axis=1),
    "clip": lambda o: tensix.clip(o.x, o.y, 0.5),
    "where": lambda o: tensix.where(o.m, o.x, o.y),
    "searchsorted": lambda o: tensix.searchsorted(o.x[0], o.y[0]),
    "take": lambda o: tensix.take(o.x, o.i, axis=0),
    "take_along_axis": lambda o: tensix.take_along_axis(o.x, o.i[None], axis=1),
    "tensordot": lambda o: tensix.tensordot(o.x, o.y, axes=1),
    "broadcast_arrays": lambda o: tensix.broadcast_arrays(o.x, o.y),
    "broadcast_to": lambda o: tensix.broadcast_to(o.x, (2, *o.x.shape)),
    "cat": lambda o: tensix.cat([o.x, o.y, o.x]),
    "concatenate": lambda o: tensix.concatenate([o.x, o.y], dim=1),
    "cumsum": lambda o: tensix.cumsum(o.x, 0),
    "cumprod": lambda o: o.x.cumprod(dim=1),
    "clamp": lambda o: o.x.clamp(o.y, 0.5),
    "outer": lambda o: tensix.outer(o.x[0], o.y[0]),
    "allclose": lambda o: tensix.allclose(o.x, o.y),
    "array_equal": lambda o: tensix.array_equal(o.x, o.y, equal_nan=True),
    "dot": lambda o: tensix.dot(o.x, o.y.T),
    "einsum": lambda o: tensix.einsum("ij,kj,ij->ik", o.x, o.y, o.x),
    "hstack": lambda o: tensix.hstack([o.x, o.y]),
    "vstack": lambda o: tensix.vstack([o.x, o.y]),
    "median": lambda o: tensix.median(o.x, axis=0),
    "quantile": lambda o: tensix.quantile(o.x, [0.2, 0.7], axis=1, keepdims=True),
    "pad": lambda o: tensix.pad(o.x, [(1, 1), (0, 2)], mode="edge"),
    "split": lambda o: tensix.split(o.x, 2),
    "unique": lambda o: tensix.unique(o.i, return_counts=True),
    "concat": lambda o: tensix.concat([o.x, o.y], axis=None),
    "stack": lambda o: tensix.stack([o.x.T, o.y], axis=1),
    "expand_dims": lambda o: tensix.expand_dims(o.x, axis=0),
    "flip": lambda o: tensix.flip(o.x),
    "moveaxis": lambda o: tensix.moveaxis(o.x, 0, 1),
    "permute_dims": lambda o: tensix.permute_dims(o.x, (1, 0)),
    "repeat": lambda o: tensix.repeat(o.x, 2),
    "reshape": lambda o: tensix.reshape(o.x.T, (-1,)),
    "roll": lambda o: tensix.roll(o.x, 3),
    "squeeze": lambda o: tensix.squeeze(o.x[None], axis=0),
    "tile": lambda o: tensix.tile(o.x, (1, 2)),
    "unstack": lambda o: tensix.unstack(o.x),
    "meshgrid": lambda o: tensix.meshgrid(o.i[:8], o.i[:8]),
    "astype": lambda o: tensix.astype(o.x, tensix.int16),
    "empty_like": lambda o: tensix.empty_like(o.x).zero_(),
    "full_like": lambda o: tensix.full_like(o.x, o.y[0, 0]),
    "empty_strided": lambda o: tensix.empty_strided((3, 4), (8, 1)).zero_(),
    "from_dlpack": lambda o: tensix.from_dlpack(o.x) + 1,
    "from_numpy": lambda o: tensix.from_numpy(np.asarray(o.x)) + 1,
    "tensor": lambda o: tensix.tensor([o.x[0, 0], o.y[0, 0], 3.0]),
    "scalar_tensor": lambda o: tensix.scalar_tensor(2.0) + o.x,
    "sparse_coo_tensor": lambda o: tensix.sparse_coo_tensor(o.i[None, :8], o.x[0, :8], (50_000,)).to_dense(),
    "zeros": lambda o: tensix.zeros((30, 30)) + o.x[:1, :1],
    "ones": lambda o: tensix.ones(3) + o.x[:1, :1],
    "full": lambda o: tensix.full((5, 5), 2.0) + o.x[:1, :1],
    "empty": lambda o: tensix.empty((5, 5)).copy_(o.x[:1, :1]),
    "arange": lambda o: tensix.arange(50_000) + o.i[:1],
    "eye": lambda o: tensix.eye(o.x.shape[0]) + o.x,
    "linspace": lambda o: tensix.linspace(0, 1, 50) + o.x[:1, :1],
    "rand": lambda o: tensix.rand(5) + o.x[:1, :1],
    "randn": lambda o: tensix.randn(5) + o.x[:1, :1],
    "randint": lambda o: tensix.randint(0, 9, (5,)) + o.i[:1],
    "rand_like": lambda o: tensix.rand_like(o.x, dtype="float32"),
    "randn_like": lambda o: tensix.randn_like(o.x, dtype="float64"),
    "randint_like": lambda o: tensix.randint_like(o.i, 9),
}
LINALG = {
    **{name: lambda o, f=getattr(linalg, name): f(o.s) for name in (
        "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "pinv", "qr",
        "slogdet", "svd", "svdvals", "trace", "vector_norm", "diagonal", "matrix_transpose")},
    **{name: lambda o, f=getattr(linalg, name): f(o.s, o.s) for name in ("matmul", "solve", "vecdot")},
    "matrix_power": lambda o: linalg.matrix_power(o.s, 3),
    "outer": lambda o: linalg.outer(o.s[0], o.s[1]),
    "cross": lambda o: linalg.cross(o.s[:, :3], o.s[:, 3:6]),
    "tensordot": lambda o: linalg.tensordot(o.s, o.s, axes=1),
}
FFT = {
    **{name: lambda o, f=getattr(fft, name): f(o.s) for name in (
        "hfft", "irfft", "irfftn", "rfft", "rfftn", "fftshift", "ifftshift", "ihfft", "fft", "fftn", "ifft", "ifftn")},
}
METHODS = {
    "clone": lambda o: o.x.clone(),
    "clone of strides": lambda o: o.x[::2, 1::2].clone(),
    "lazy_clone": lambda o: o.x.lazy_clone().fill_(7),
    "write to a lazy clone's original": lambda o: (o.x.lazy_clone(), o.x.fill_(1)),
    "copy": lambda o: copy.copy(o.x) + 1,
    "deepcopy": lambda o: copy.deepcopy(o.x).fill_(3),
    "pickle": lambda o: pickle.loads(pickle.dumps(o.x, 4)),
    "pickle of strides": lambda o: pickle.loads(pickle.dumps(o.x[:, ::2], 5)),
    "contiguous": lambda o: o.x.T.contiguous(),
    "copy_": lambda o: o.x.copy_(o.y),
    "copy_ converting": lambda o: o.i.copy_(o.x[0, : o.i.shape[0]]),
    "copy_ overlapping": lambda o: o.x[1:].copy_(o.x[:-1]),
    "fill_": lambda o: o.x.fill_(o.y[0, 0]),
    "zero_": lambda o: o.x.zero_(),
    "uniform_": lambda o: o.x.uniform_(),
    "normal_": lambda o: o.x.normal_(),
    "add_": lambda o: o.x.add_(o.y),
    "add_ overlapping": lambda o: o.x[1:].add_(o.x[:-1]),
    "mul_ by a number": lambda o: o.x.mul_(3),
    "div_": lambda o: o.x.div_(o.y),
    "sub_": lambda o: o.x.sub_(o.y.T),
    "number": lambda o: o.x + 1,
    "int + float": lambda o: o.i + o.x[0, 0],
    "add of transposed": lambda o: o.x + o.y.T,
    "add converting": lambda o: o.x + o.i[: o.x.shape[1]],
    "in place operator": lambda o: operator.iadd(o.x, o.y),
    "mask": lambda o: o.x[o.m],
    "positions": lambda o: o.x[o.i],
    "positions in a list": lambda o: o.x[[0, 1, 2]],
    "two keys": lambda o: o.x[o.i, o.i],
    "write to a mask": lambda o: operator.setitem(o.x, o.m, 1.5),
    "write to positions": lambda o: operator.setitem(o.x, o.i, o.y),
    "write to two keys": lambda o: operator.setitem(o.x, (o.i, o.i), o.y[0]),
    "write a slice": lambda o: operator.setitem(o.x, slice(1, None), o.y[1:]),
    "write a number": lambda o: operator.setitem(o.x, 0, 2.5),
    "slice": lambda o: o.x[1:, ::2] + o.y[1:, ::2],
    "as_strided": lambda o: o.x.as_strided((3, 3), (2, 1), 1) + 1,
    "expand": lambda o: o.x[:1].expand(*o.x.shape) + o.y,
    "unfold": lambda o: o.x.unfold(0, 3, 2).sum(),
    "view of another type": lambda o: o.x.view(tensix.int32) + 1,
    "sum of an axis": lambda o: o.x.sum(0),
    "argmax of an axis": lambda o: o.x.argmax(axis=0),
    "sum of the other axis": lambda o: o.x.sum(axis=1),
    "sum of transposed": lambda o: o.x.T.sum(0),
    "sum of bools": lambda o: o.m.sum(),
    "tolist": lambda o: o.x.tolist(),
    "item": lambda o: o.x[0, 0].item(),
    "repr": lambda o: repr(o.x),
    "numpy": lambda o: np.asarray(o.x).sum(),
    "memoryview": lambda o: bytes(memoryview(o.i)),
    "dlpack": lambda o: np.from_dlpack(o.x).sum(),
    "array interface": lambda o: o.x.__array_interface__["shape"],
    "to_sparse": lambda o: o.s.to_sparse().coalesce(),
    "storage clone": lambda o: o.x.storage().clone(),
    "storage lazy_clone": lambda o: o.x.storage().lazy_clone().mutable_data_ptr() > 0,
    "storage resize_": lambda o: o.y.storage().resize_(o.y.storage().nbytes() + 64),
    "storage share": lambda o: o.y.storage().share(),
    "set_data_ptr": lambda o: o.y.storage().set_data_ptr(tensix.core.get_allocator().allocate(o.y.storage().nbytes())),
    "to_device": lambda o: o.x.to_device("meta"),
    "explain": lambda o: str(tensix.explain(o.x)),
}
CALLS = {
    **FUNCTIONS, **METHODS,
    **{f"linalg.{name}": call for name, call in LINALG.items()},
    **{f"fft.{name}": call for name, call in FFT.items()},
}  # fmt: skip

# They have no tensor among their arguments and make none, or are tried by another name.
OTHERS = {
    "get_num_threads", "manual_seed", "set_num_threads", "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype",
    "promote_types", "result_type", "from_blob", "randperm", "set_printoptions",
}  # fmt: skip


def forgotten():
    """Return the public functions of arrays that no call is listed for."""
    names = {
        name for chapter in tensix.functions.CHAPTERS for name in chapter.__all__
        if callable(function := getattr(tensix, name)) and not name.startswith("__")
        and name not in elementwise.__all__ and not inspect.isclass(function)
    }
    missing = names - set(FUNCTIONS) - OTHERS
    missing |= {f"linalg.{n}" for n in set(linalg.__all__) - set(LINALG) if inspect.isroutine(getattr(linalg, n))}
    return missing | {f"fft.{n}" for n in set(fft.__all__) - set(FFT) - {"fftfreq", "rfftfreq"}}
