"""The names that programs use most of NumPy, PyTorch and their tensors: each works, or its error names what to use.

They were counted on 2026-11-23 in the 374 .py files of five public repositories: karpathy/nanoGPT,
lucidrains/vit-pytorch, mwaskom/seaborn, pytorch/examples and rasbt/machine-learning-book. Of the packages: the files
with ``np.NAME`` or ``torch.NAME``. Of tensors: the files that import NumPy or PyTorch and have ``something.NAME``, for
the names that `numpy.ndarray` or `torch.Tensor` has, where something is not a module; objects of other classes with
such names, pandas' and layers', are counted, too. Behind each name stands the number of files, and what its users
write; or a part of what the error says.
"""

import subprocess
import sys

import numpy as np
import pytest

import tensix
from tensix import array_equal

NUMPY = {
    "array": (45, "`tensor` copies numbers and arrays, `asarray` shares what it can"),
    "arange": (41, "tensix.arange(6).sum() == 15"),
    "nan": (34, "tensix.isnan(tensix.asarray([tensix.nan, 1.0]))[0]"),
    "linspace": (33, "tensix.linspace(0, 1, 5)[1] == 0.25"),
    "zeros": (20, "tensix.zeros((2, 3)).shape == (2, 3)"),
    "sqrt": (18, "tensix.sqrt(X)[3] == 2"),
    "unique": (18, "tensix.unique(tensix.asarray([2, 1, 2])).tolist() == [1, 2]"),
    "asarray": (16, "tensix.asarray([1, 2]).dtype == 'int64'"),
    "mean": (16, "tensix.mean(M, axis=0).tolist() == [2.0, 3.0]"),
    "concatenate": (15, "tensix.concatenate([X, X], axis=0).shape == (8,)"),
    "inf": (14, "tensix.max(tensix.asarray([tensix.inf, 1.0])) == tensix.inf"),
    "sum": (11, "tensix.sum(M, axis=1, keepdims=True).shape == (2, 1)"),
    "repeat": (11, "tensix.repeat(X, 2).shape == (8,)"),
    "diff": (11, "array_equal(tensix.diff(X), tensix.ones(3))"),
    "c_": (10, "use `stack(tensors, axis=1)`"),
    "sort": (10, "tensix.sort(tensix.asarray([3, 1, 2])).tolist() == [1, 2, 3]"),
    "full": (9, "tensix.full((2, 2), 7).sum() == 28"),
    "tile": (9, "tensix.tile(X, (2,)).shape == (8,)"),
    "abs": (9, "tensix.abs(-X)[0] == 1"),
    "percentile": (9, "use `quantile` with a part of 1"),
    "isnan": (8, "not tensix.isnan(X).any()"),
    "square": (8, "tensix.square(X)[3] == 16"),
    "where": (8, "tensix.where(X > 2, X, 0).sum() == 7"),
    "exp": (8, "tensix.exp(X - X).sum() == 4"),
    "ones": (8, "tensix.ones(3).sum() == 3"),
    "dot": (8, "tensix.dot(X, X) == 30"),
    "log10": (7, "tensix.log10(tensix.asarray([100.0])).round() == 2"),
    "log": (7, "tensix.log(tensix.ones(1)) == 0"),
    "column_stack": (7, "use `stack(tensors, axis=1)`, or `hstack`"),
    "array_equal": (7, "tensix.array_equal(X, X)"),
}
PYTORCH = {
    "nn": (82, "tensix has no layers"),
    "cat": (74, "tensix.cat([M, M], dim=1).shape == (2, 4)"),
    "randn": (73, "tensix.randn(2, 3).shape == (2, 3)"),
    "manual_seed": (44, "tensix.manual_seed(1) and tensix.rand(1) == (tensix.manual_seed(1) and tensix.rand(1))"),
    "zeros": (44, "tensix.zeros(2, 3, dtype=tensix.float64).dtype == tensix.float64"),
    "arange": (44, "tensix.arange(3, device='cpu').numel() == 3"),
    "matmul": (41, "array_equal(tensix.matmul(M, M), M @ M)"),
    "no_grad": (37, "records no gradients"),
    "tensor": (37, "tensix.tensor([1.0, 2.0]).dtype == tensix.float32"),
    "float32": (32, "X.to(tensix.float32).dtype == tensix.float32"),
    "device": (31, "the class is `Device`"),
    "ones": (29, "tensix.ones(2, 2).shape == (2, 2)"),
    "meshgrid": (28, "tensix.meshgrid(X, X, indexing='ij')[0].shape == (4, 4)"),
    "optim": (25, "records no gradients"),
    "save": (24, "tensix.save('x.npy', X) is None"),
    "stack": (19, "tensix.stack([X, X], dim=0).shape == (2, 4)"),
    "load": (18, "tensix.save('x.npy', X) or array_equal(tensix.load('x.npy'), X)"),
    "distributed": (18, "mpi4py"),
    "from_numpy": (13, "tensix.from_numpy(X.numpy()).shape == (4,)"),
    "rand": (13, "tensix.rand(5).max() < 1"),
    "multiprocessing": (13, "SharedMemoryAllocator"),
    "randint": (12, "tensix.randint(0, 3, (5,)).max() < 3"),
    "fx": (11, "tensix trace"),
    "long": (9, "use `int64`"),
    "mean": (9, "tensix.mean(M, dim=1).tolist() == [1.5, 3.5]"),
    "Tensor": (9, "isinstance(X, tensix.Tensor)"),
    "var": (8, "tensix.var(X, dim=0, correction=1) > tensix.var(X, dim=0)"),  # the standard's correction is 0
    "__version__": (8, "tensix.__version__.split('.')[0].isdigit()"),
    "LongTensor": (8, "write `tensor(numbers, dtype=int64)`"),
    "log": (7, "tensix.log(X).dtype == tensix.float32"),
}
METHODS_OF_NUMPY = {
    "shape": (45, "x.shape == (2, 3, 4)"),
    "max": (37, "x.max(axis=0).shape == (3, 4)"),
    "mean": (34, "v.mean() == 2"),
    "min": (33, "v.min() == 1"),
    "astype": (32, "v.astype(float).dtype == float and v.astype(np.int32).tolist() == [3, 1, 2]"),
    "sum": (32, "x.sum(axis=(0, 2), keepdims=True).shape == (1, 3, 1)"),
    "size": (30, "x.size == 24"),
    "T": (29, "x[0].T.shape == (4, 3)"),
    "item": (25, "v.max().item() == 3.0"),
    "copy": (21, "not x.copy().is_alias_of(x) and x.copy().tolist() == x.tolist()"),
    "all": (21, "(v > 0).all()"),
    "data": (20, "write `x.detach()`, or `x.data_ptr()`"),
    "reshape": (20, "x.reshape(-1, 4).shape == x.reshape((6, 4)).shape == (6, 4)"),
    "flat": (17, "write `x.ravel()`"),
    "std": (15, "abs(v.std(ddof=1) - 1) < 1e-6"),
    "squeeze": (12, "x[:1].squeeze().shape == (3, 4)"),
    "tolist": (10, "v.tolist() == [3.0, 1.0, 2.0]"),
    "cumsum": (9, "v.cumsum().tolist() == [3, 4, 6]"),
    "ravel": (9, "x.ravel().shape == (24,)"),
    "any": (8, "(v > 2).any()"),
    "dtype": (7, "v.dtype == np.float32"),
    "dot": (7, "v.dot(v) == 14"),
    "view": (6, "v.view(np.int32).dtype == tensix.int32"),
    "round": (5, "(v / 3).round(2).tolist() == [1.0, *np.float32([0.33, 0.67]).tolist()]"),
    "flatten": (4, "x.flatten().shape == (24,)"),
    "clip": (4, "v.clip(0, 2).max() == 2"),
    "sort": (4, "v.sort().tolist() == [1, 2, 3]"),
    "argsort": (4, "v.argsort().tolist() == [1, 2, 0]"),
    "transpose": (4, "x.transpose().shape == (4, 3, 2) and x.transpose(2, 0, 1).shape == (4, 2, 3)"),
    "ndim": (3, "x.ndim == 3"),
}
METHODS_OF_PYTORCH = {
    "shape": (96, "x.shape[-1] == 4"),
    "to": (66, "v.to(tensix.float64).dtype == tensix.float64 and v.to('cpu') is v"),
    "norm": (66, "v.norm(dim=-1, keepdim=True).shape == (1,)"),
    "chunk": (58, "[part.shape for part in x.chunk(2, dim=-1)] == [(2, 3, 2)] * 2"),
    "device": (56, "tensix.zeros(2, device=x.device).device == x.device"),
    "backward": (54, "records no gradients"),
    "transpose": (48, "x.transpose(1, 2).shape == x.transpose(-1, -2).shape == (2, 4, 3)"),
    "mean": (48, "x.mean(dim=1, keepdim=True).shape == (2, 1, 4)"),
    "item": (44, "v.sum().item() == 6"),
    "sum": (40, "x.sum(dim=-1).shape == (2, 3)"),
    "dtype": (32, "v.dtype == tensix.float32"),
    "float": (30, "(v > 1).float().tolist() == [1, 0, 1]"),
    "size": (29, "`shape`"),
    "flatten": (27, "x.flatten(1).shape == (2, 12)"),
    "type": (27, "write `x.dtype`, or `x.to(dtype)`"),
    "view": (24, "x.view(x.shape[0], -1).shape == (2, 12)"),
    "detach": (21, "v.detach().is_alias_of(v)"),
    "sin": (21, "v.sin().dtype == tensix.float32"),
    "cos": (21, "v.cos().dtype == tensix.float32"),
    "unsqueeze": (18, "v.unsqueeze(0).shape == (1, 3)"),
    "cpu": (17, "v.cpu() is v"),
    "data": (16, "write `x.detach()`"),
    "numpy": (15, "v.detach().cpu().numpy().tolist() == [3, 1, 2]"),
    "split": (14, "[part.shape for part in x.split(2, dim=1)] == [(2, 2, 4), (2, 1, 4)]"),
    "softmax": (14, "exp(x - max(x"),
    "dim": (13, "write `x.ndim`"),
    "max": (13, "x.max(dim=1).shape == (2, 4)"),
    "ndim": (12, "x.ndim == 3"),
    "reshape": (11, "x.reshape(6, 4).shape == (6, 4)"),
    "clamp": (10, "v.clamp(min=2).tolist() == [3, 2, 2]"),
}
X = tensix.asarray([1.0, 2.0, 3.0, 4.0])
M = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])


def cases(*tables):
    found = [(name, what) for names in tables for name, (_, what) in names.items()]
    return pytest.mark.parametrize(("name", "what"), found, ids=[name for name, _ in found])


def test_there_are_thirty_each_the_most_used_first():
    for names in (NUMPY, PYTORCH, METHODS_OF_NUMPY, METHODS_OF_PYTORCH):
        counts = [count for count, _ in names.values()]
        assert len(names) == 30
        assert counts == sorted(counts, reverse=True)


@cases(NUMPY, PYTORCH)
def test_functions(name, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if f"tensix.{name}" in what:
        assert eval(what, {"tensix": tensix, "X": X, "M": M, "array_equal": array_equal})
    else:
        with pytest.raises(AttributeError) as caught:
            getattr(tensix, name)
        assert what in str(caught.value)


@cases(METHODS_OF_NUMPY, METHODS_OF_PYTORCH)
def test_methods(name, what):
    x, v = tensix.reshape(tensix.arange(24), (2, 3, 4)).float(), tensix.tensor([3.0, 1.0, 2.0])
    if f".{name}" in what and "`" not in what:
        assert eval(what, {"tensix": tensix, "np": np, "x": x, "v": v})
    elif name == "size":  # Python itself says that an int cannot be called; where somebody looks, it is said
        assert what in tensix.Tensor.size.__doc__
    else:
        with pytest.raises(AttributeError) as caught:
            getattr(x, name)
        assert what in str(caught.value)


def test_methods_behind_these_have_advice_too():
    names = (
        "bmm div new_full new_tensor type_as logsumexp where share_memory_ exp_ searchsorted trace is_leaf partition"
    )
    for name in names.split():
        with pytest.raises(AttributeError, match=f"Tensor has no `{name}`: "):
            getattr(tensix.ones(2), name)


def test_the_advice_for_sums_of_exponentials_is_right():
    x = tensix.tensor([[1.0, 2.0, 4.0]])
    shifted = x - x.max()
    soft = (shifted - shifted.exp().sum(axis=-1, keepdims=True).log()).exp()
    np.testing.assert_allclose(soft.sum(-1).numpy(), [1.0], rtol=1e-6)


@pytest.mark.parametrize("name", ["compile", "cuda", "flatten", "jit"])
def test_functions_behind_these_have_advice_too(name):
    """In a process of its own: the text is what somebody sees who tried."""
    done = subprocess.run(
        [sys.executable, "-c", f"import tensix; tensix.{name}"], capture_output=True, text=True, check=False
    )
    assert f"AttributeError: tensix has no `{name}`: " in done.stderr
