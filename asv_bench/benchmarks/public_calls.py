"""What is measured: every public function, operator, form of indexing and protocol, as it is called in each library.

The functions come from the package's own lists of names, and what a name is called with from the tables below. A name
without an entry is called with ``x``, or with ``x, y`` if it takes two tensors; what a table says of a name that does
not exist is an error, and a public name without a row is a failing test.
"""

import copy
import operator
import pickle
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from tensix import fft, functions, linalg

__all__ = ["LIBRARIES", "Row", "all_rows", "operands"]

LIBRARIES = ("tensix", "numpy", "torch")


@dataclass(frozen=True)
class Row:
    """One call: the same work in each library, whose module is ``xp``.

    A library that has nothing of the kind has None.
    """

    name: str
    chapter: str
    tensix: str
    numpy: str | None
    torch: str | None

    def codes(self):
        """Return the code of each library that has one."""
        return {library: code for library in LIBRARIES if (code := getattr(self, library))}


def operands(library, rows, columns, dtype="float32"):
    """Return the names that the codes use, in the types of a library.

    Parameters
    ----------
    library : {"tensix", "numpy", "torch"}
        Whose types they have.
    rows, columns : int
        The shape of the matrices; at least 3 and 4.
    dtype : {"float32", "float64"}, optional
        Of the real numbers. What functions of creation make is float32 in any case.

    Returns
    -------
    dict
        ``x, y`` are real between 0.1 and 0.9, ``z`` lies above 1, ``i, j`` are int64 between 1 and 7, ``b, c`` are
        boolean, ``k`` is complex64, ``o`` is written to, ``s`` is square, symmetric and positive definite, ``v, w`` are
        vectors, ``u`` is a sorted one, ``t`` has positions, ``p`` has three columns, and ``e, f, g`` have no dimension.
    """
    draw = np.random.default_rng(0)
    x, y, o = (draw.uniform(0.1, 0.9, (rows, columns)).astype(dtype) for _ in range(3))
    i, j = (draw.integers(1, 8, (rows, columns)) for _ in range(2))
    square = draw.uniform(0, 1, (rows, rows)).astype(dtype)
    arrays = {
        "x": x, "y": y, "z": x + 1, "o": o, "i": i, "j": j, "b": x > 0.5, "c": y > 0.5,
        "k": (x + 1j * y).astype("c8" if dtype == "float32" else "c16"),
        "s": square @ square.T + rows * np.eye(rows, dtype=dtype),
        "v": x[0].copy(), "w": y[0].copy(), "u": np.sort(x[0]), "t": draw.permutation(min(rows, columns))[::2].copy(),
        "p": x[:, :3].copy(), "e": np.asarray(x[0, 0]), "f": np.asarray(x[0, 0] > 0.5), "g": np.asarray(i[0, 0]),
    }  # fmt: skip
    names = {"copy": copy, "np": np, "operator": operator, "pickle": pickle, "rows": rows, "columns": columns}
    if library == "numpy":
        return {"xp": np, "random": draw, "pickled": pickle.dumps(x, 5), "list_of_x": x.tolist(), **names, **arrays}
    xp = import_module(library)
    arrays = {name: xp.from_dlpack(array) if array.ndim else xp.asarray(array) for name, array in arrays.items()}
    arrays = {name: array.clone() for name, array in arrays.items()}
    return {"xp": xp, "pickled": pickle.dumps(arrays["x"], 5), "list_of_x": x.tolist(), **names, **arrays}


SAME = "as tensix"


@dataclass(frozen=True)
class Call:
    """The arguments of a function, and how its neighbours are called where that is another way."""

    arguments: str
    numpy: str | None = SAME
    torch: str | None = SAME


# The functions that are not called with x, or x and y, or whose neighbours have other names or arguments.
CALLS = {
    "creation": {
        "arange": Call("columns"),
        "asarray": Call("x", torch="xp.as_tensor(x)"),
        "empty": Call("(rows, columns)", numpy="xp.empty((rows, columns), 'f4')"),
        "empty_like": Call("x"),
        "empty_strided": Call("(rows, columns), (columns, 1)", numpy=None),
        "eye": Call("rows", numpy="xp.eye(rows, dtype='f4')"),
        "from_blob": Call("x.data_ptr(), (rows, columns), dtype=xp.float32", numpy=None, torch=None),
        "from_dlpack": Call("x"),
        "from_numpy": Call("np.zeros(3)", numpy=None),
        "full": Call("(rows, columns), 2.0", numpy="xp.full((rows, columns), 2.0, 'f4')"),
        "full_like": Call("x, 2.0"),
        "linspace": Call("0.0, 1.0, columns", numpy="xp.linspace(0.0, 1.0, columns, dtype='f4')"),
        "meshgrid": Call("v, w", torch="xp.meshgrid(v, w, indexing='xy')"),
        "ones": Call("(rows, columns)", numpy="xp.ones((rows, columns), 'f4')"),
        "ones_like": Call("x"),
        "rand": Call("(rows, columns)", numpy="random.random((rows, columns), 'f4')"),
        "randint": Call("0, 9, (rows, columns)", numpy="random.integers(0, 9, (rows, columns))"),
        "rand_like": Call("x", numpy=None),
        "randint_like": Call("i, 9", numpy=None),
        "randn_like": Call("x", numpy=None),
        "randn": Call("(rows, columns)", numpy="random.standard_normal((rows, columns), 'f4')"),
        "scalar_tensor": Call("2.0", numpy="xp.asarray(2.0, 'f4')"),
        "tensor": Call("list_of_x", numpy="xp.array(list_of_x, 'f4')"),
        "tril": Call("x"),
        "triu": Call("x"),
        "zeros": Call("(rows, columns)", numpy="xp.zeros((rows, columns), 'f4')"),
        "zeros_like": Call("x"),
    },
    "data_types": {
        "astype": Call("x, xp.float64", torch="x.to(xp.float64)"),
        "can_cast": Call("xp.int32, xp.float64"),
        "finfo": Call("xp.float32"),
        "iinfo": Call("xp.int32"),
        "isdtype": Call("x.dtype, 'real floating'", torch="x.dtype.is_floating_point"),
        "promote_types": Call("xp.int32, xp.float32"),
        "result_type": Call("x, i"),
    },
    "elementwise": {
        "acosh": Call("z"),
        "bitwise_and": Call("i, j"),
        "bitwise_invert": Call("i", torch="xp.bitwise_not(i)"),
        "bitwise_left_shift": Call("i, j"),
        "bitwise_or": Call("i, j"),
        "bitwise_right_shift": Call("i, j"),
        "bitwise_xor": Call("i, j"),
        "clamp": Call("x, 0.3, 0.7", numpy="xp.clip(x, 0.3, 0.7)"),
        "clip": Call("x, 0.3, 0.7"),
        "conj": Call("k", torch="xp.conj_physical(k)"),
        "equal": Call("x, y", torch="xp.eq(x, y)"),
        "imag": Call("k", numpy="xp.imag(k).copy()", torch="xp.imag(k).clone()"),
        "logical_and": Call("b, c"),
        "logical_nor": Call("b, c", numpy="xp.logical_not(xp.logical_or(b, c))",
                            torch="xp.logical_not(xp.logical_or(b, c))"),
        "logical_not": Call("b"),
        "logical_or": Call("b, c"),
        "logical_xor": Call("b, c"),
        "positive": Call("x", torch="x.clone()"),
        "real": Call("k", numpy="xp.real(k).copy()", torch="xp.real(k).clone()"),
    },
    "familiar": {
        "allclose": Call("x, y"),
        "array_equal": Call("x, y", torch="xp.equal(x, y)"),
        "einsum": Call("'ij,kj->ik', x, y"),
        "hstack": Call("[x, y]"),
        "median": Call("x", torch=None),
        "pad": Call("x, 1", torch="xp.nn.functional.pad(x, (1, 1, 1, 1))"),
        "quantile": Call("v, 0.3"),
        "randperm": Call("columns", numpy="random.permutation(columns)"),
        "set_printoptions": Call("precision=4"),
        "split": Call("x, 2", numpy=None),
        "unique": Call("i"),
        "vstack": Call("[x, y]"),
    },
    "indexing": {
        "take": Call("x, t, axis=0", torch="xp.index_select(x, 0, t)"),
        "take_along_axis": Call("x, t[:, None], axis=0", torch="xp.take_along_dim(x, t[:, None], 0)"),
    },
    "linear_algebra": {
        "dot": Call("v, w"),
        "matmul": Call("x, x.T"),
        "matrix_transpose": Call("x", torch="x.mT"),
        "outer": Call("v, w"),
        "tensordot": Call("x, x.T, axes=1", torch="xp.tensordot(x, x.T, 1)"),
        "vecdot": Call("x, y", torch="xp.linalg.vecdot(x, y)"),
    },
    "manipulation": {
        "broadcast_arrays": Call("x, v", torch="xp.broadcast_tensors(x, v)"),
        "broadcast_shapes": Call("(3, 1), (1, 4)"),
        "broadcast_to": Call("v, (rows, columns)"),
        "cat": Call("[x, y]", numpy="xp.concatenate([x, y])"),
        "concat": Call("[x, y], axis=1", torch="xp.concat([x, y], 1)"),
        "concatenate": Call("[x, y]"),
        "expand_dims": Call("x, axis=0", torch="xp.unsqueeze(x, 0)"),
        "flip": Call("x, axis=0", torch="xp.flip(x, (0,))"),
        "moveaxis": Call("x, 0, 1"),
        "permute_dims": Call("x, (1, 0)", torch="xp.permute(x, (1, 0))"),
        "repeat": Call("x, 2", torch="xp.repeat_interleave(x, 2)"),
        "reshape": Call("x, (columns, rows)"),
        "roll": Call("x, 1, axis=0", torch="xp.roll(x, 1, 0)"),
        "squeeze": Call("x[None], axis=0", torch="xp.squeeze(x[None], 0)"),
        "stack": Call("[x, y]"),
        "tile": Call("x, (1, 2)"),
        "unstack": Call("x", numpy="tuple(x)", torch="xp.unbind(x)"),  # np.unstack: from NumPy 2.1
    },
    "searching": {
        "argwhere": Call("b"),
        "count_nonzero": Call("b"),
        "nonzero": Call("b", torch="xp.nonzero(b, as_tuple=True)"),
        "searchsorted": Call("u, v"),
        "where": Call("b, x, y"),
    },
    "sets": {
        "isin": Call("i, j"),
        "unique_all": Call("i", torch="xp.unique(i, return_inverse=True, return_counts=True)"),
        "unique_counts": Call("i", torch="xp.unique(i, return_counts=True)"),
        "unique_inverse": Call("i", torch="xp.unique(i, return_inverse=True)"),
        "unique_values": Call("i", torch="xp.unique(i)"),
    },
    "sorting": {
        "argsort": Call("x", numpy="xp.argsort(x, stable=True)", torch="xp.argsort(x, stable=True)"),
        "sort": Call("x", numpy="xp.sort(x, stable=True)", torch="xp.sort(x, stable=True)"),
    },
    "sparse": {
        "sparse_coo_tensor": Call("t[None], v[: len(t)], (rows,)", numpy=None),
    },
    "statistical": {
        "cumprod": Call("x, 1"),
        "cumsum": Call("x, 1"),
        "cumulative_prod": Call("x, axis=1", torch="xp.cumprod(x, 1)"),
        "cumulative_sum": Call("x, axis=1", torch="xp.cumsum(x, 1)"),
    },
    "utility": {
        "all": Call("b"),
        "any": Call("b"),
        "diff": Call("x"),
    },
    "linalg": {
        "cross": Call("p, p"),
        "diagonal": Call("s"),
        "matmul": Call("s, s"),
        "matrix_power": Call("s, 3"),
        "matrix_transpose": Call("s", torch="s.mT"),
        "outer": Call("v, w", torch="xp.outer(v, w)"),
        "solve": Call("s, s"),
        "tensordot": Call("s, s, axes=1", torch="xp.tensordot(s, s, 1)"),
        "trace": Call("s", torch="xp.trace(s)"),
        "vecdot": Call("s, s"),
        "vector_norm": Call("x"),
    },
    "fft": {
        "fftfreq": Call("columns"),
        "rfftfreq": Call("columns"),
    },
}  # fmt: skip
MATRIX_FUNCTIONS = set(linalg.__all__) - set(CALLS["linalg"])  # they take one matrix, which is s
TWO_TENSORS = {"add", "atan2", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot",
               "isclose", "less", "less_equal", "logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal",
               "pow", "remainder", "subtract"}  # fmt: skip

# Rows beside those of the functions, in chapters of their own: name, and what differs from it in each library.
FURTHER = {
    "axes": [
        *[(f"xp.{name}(x, axis={axis})",) for name in ("sum", "mean", "var", "prod", "max", "argmax") for axis in "01"],
        ("xp.sum(i)",), ("xp.sum(b)",), ("xp.sum(x.T, axis=0)",),
        ("xp.cumulative_sum(x, axis=0)", SAME, "xp.cumsum(x, 0)"),
        ("xp.sort(x, axis=0)", "xp.sort(x, axis=0, stable=True)", "xp.sort(x, dim=0, stable=True)"),
        ("xp.sort(i)", "xp.sort(i, stable=True)", "xp.sort(i, stable=True)"),
        ("xp.flip(x)", SAME, "xp.flip(x, (0, 1))"),
    ],
    "operators": [
        ("x + y",), ("x - y",), ("x * y",), ("x / y",), ("x // y",), ("x % y",), ("x ** 2",), ("x @ x.T",), ("-x",),
        ("+x", SAME, "x.clone()"), ("abs(x)",), ("i & j",), ("i | j",), ("i ^ j",), ("i << j",), ("i >> j",), ("~i",),
        ("x == y",), ("x != y",), ("x < y",), ("x <= y",), ("x > y",), ("x >= y",), ("x + 1",), ("1 - x",),
        ("x * 2.0",), ("i + 1",), ("i + j",), ("x + i",), ("x + v",), ("s + s.T",),
        ("x * 2 + y * 3 - z",), ("o.__iadd__(y)",), ("o.__imul__(0.5)",), ("o.__imod__(y)",),
    ],
    "indexing": [
        ("x[0]",), ("x[-1]",), ("x[0, 0]",), ("x[0:2]",), ("x[1:3, ::2]",), ("x[..., 0]",), ("x[:, None]",),
        ("x[:, 1]",), ("x[t]",), ("x[:, t]",), ("x[t, t]",), ("x[b]",), ("o[0] = 1.0",), ("o[0, 0] = 1.0",),
        ("o[0] = v",), ("o[::2] = 1.0",), ("o[t] = 1.0",), ("o[:, t] = 1.0",), ("o[b] = 1.0",), ("o[...] = x",),
    ],
    "properties": [
        ("x.shape",), ("x.dtype",), ("x.device",), ("x.ndim",), ("x.T",), ("x.mT",), ("x.nbytes",), ("x.itemsize",),
        ("x.size", SAME, "x.numel()"), ("x.stride()", "x.strides", SAME),
    ],
    "protocols": [
        ("bool(f)",), ("float(e)",), ("int(g)",), ("complex(e)",), ("operator.index(g)",), ("e.item()",),
        ("bool(e > 0)",), ("float(x[0, 0])",), ("len(x)",), ("for row in x: pass",), ("x.tolist()",), ("repr(x)",),
        ("format(e, '.2f')",), ("divmod(i, j)", SAME, None),
        ("round(e, 2)", "e.round(2)", "e.round(decimals=2)"), ("copy.copy(x)",), ("copy.deepcopy(x)",),
        ("pickle.dumps(x, 5)",), ("pickle.loads(pickled)",), ("np.asarray(x)", None, SAME),
        ("memoryview(x)", SAME, None), ("x.__dlpack__()",),
        ("xp.asarray(list_of_x)",),
    ],
    "methods": [
        ("x.clone()", "x.copy()", SAME), ("x.T.contiguous()", "np.ascontiguousarray(x.T)", SAME),
        ("o.fill_(2.0)", "o.fill(2.0)", SAME), ("o.zero_()", "o.fill(0)", SAME),
        ("o.copy_(x)", "np.copyto(o, x)", SAME), ("x.view(-1)", "x.reshape(-1)", SAME), ("x.flatten()", SAME, SAME),
        ("x.transpose(0, 1)",), ("x.permute(1, 0)", "x.transpose(1, 0)", SAME),
        ("x.unsqueeze(0)", "np.expand_dims(x, 0)", SAME), ("x[None].squeeze(0)",),
        ("x.expand(2, rows, columns)", "np.broadcast_to(x, (2, rows, columns))", SAME),
        ("x.select(0, 1)", "x[1]", SAME), ("x.narrow(1, 1, 2)", "x[:, 1:3]", SAME), ("x.unbind()", "list(x)", SAME),
        ("x.split(2)", None, SAME), ("x.chunk(2)", None, SAME), ("x.diagonal()",),
        ("x.as_strided((3, 3), (1, 1))", None, SAME), ("x.lazy_clone()", None, "xp._lazy_clone(x)"),
        ("x.to_device('cpu')", SAME, "x.to('cpu')"), ("x.detach()", "x.view()", SAME),
        ("x.unfold(0, 2, 1)", None, SAME), ("x.sum()",), ("x.exp()", "np.exp(x)", SAME), ("x.ravel()",),
        ("x.to(xp.float64)", "x.astype(xp.float64)", SAME), ("x.numpy()", "x.view()", SAME),
        ("x.tobytes()", SAME, "x.numpy().tobytes()"), ("x.norm()", "np.linalg.norm(x)", SAME),
        ("x.round(2)", SAME, "x.round(decimals=2)"),
    ],
    "layouts": [
        # reduced, sorted and selected
        ("x.T.sum(0)", SAME, SAME), ("x[:, ::2].sum()",), ("x[:, ::2].sum(0)",), ("x[:, ::2].sum(1)",),
        ("x[:, ::2].max()", SAME, SAME), ("b[:, ::2].any(1)",), ("xp.sort(i.T, stable=True)",) * 3,
        ("xp.sort(i[:, ::2], stable=True)",) * 3, ("x.T[t]",), ("x.T[:, t]",), ("xp.diff(x.T, axis=0)", SAME, None),
        ("xp.tile(x[:, ::2], (2, 2))",), ("xp.concat([x[:, ::2], y[:, ::2]])",),
    ],
}  # fmt: skip


def all_rows():
    """Return every row, in the order of the chapters.

    Returns
    -------
    list of Row

    Raises
    ------
    LookupError
        If a table above speaks of a function that is not public.
    """
    found = []
    chapters = {module.__name__.rpartition(".")[2]: module for module in (*functions.CHAPTERS, linalg, fft)}
    for chapter, module in chapters.items():
        names = [name for name in module.__all__ if is_function(getattr(module, name)) and not name.startswith("__")]
        calls = CALLS.get(chapter, {})
        if unknown := set(calls) - set(names):
            raise LookupError(
                f"{chapter} has no function {', '.join(sorted(unknown))}: take it out of CALLS in {__file__}"
            )
        prefix = f"{chapter}." if module in (linalg, fft) else ""
        found += [row_of(prefix + name, chapter, calls.get(name) or usual_call(prefix + name)) for name in names]
    for chapter, rows in FURTHER.items():
        for ours, *others in rows:
            numpy, torch = (ours if code is SAME else code for code in others or (SAME, SAME))
            found.append(Row(ours.removeprefix("xp."), chapter, ours, numpy, torch))
    return found


def is_function(value):
    """Return whether it is called for a result; the classes of several results are not."""
    return callable(value) and not isinstance(value, type)


def usual_call(name):
    """Return how a function is called that no table speaks of."""
    if name in TWO_TENSORS:
        return Call("x, y")
    return Call("s" if name.removeprefix("linalg.") in MATRIX_FUNCTIONS else "x")


def row_of(name, chapter, call):
    """Return the row of a function."""
    ours = f"xp.{name}({call.arguments})"
    return Row(name, chapter, ours, *(ours if code is SAME else code for code in (call.numpy, call.torch)))
