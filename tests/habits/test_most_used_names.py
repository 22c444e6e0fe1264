"""The thirty names that programs use most of NumPy and of PyTorch: each works, or its error names what to use.

They were counted on 2026-11-23, by the number of .py files with ``np.NAME`` or ``torch.NAME`` among the 374 of five
public repositories: karpathy/nanoGPT, lucidrains/vit-pytorch, mwaskom/seaborn, pytorch/examples and
rasbt/machine-learning-book. Behind each name stands the number of files, and what its users write, with ``tensix`` for
the package; or a part of what the error says.
"""

import subprocess
import sys

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
X = tensix.asarray([1.0, 2.0, 3.0, 4.0])
M = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
CASES = [(name, what) for names in (NUMPY, PYTORCH) for name, (_, what) in names.items()]


def test_there_are_thirty_each_the_most_used_first():
    for names in (NUMPY, PYTORCH):
        counts = [count for count, _ in names.values()]
        assert len(names) == 30
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(("name", "what"), CASES, ids=[name for name, _ in CASES])
def test_it_works_or_names_what_to_use(name, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if f"tensix.{name}" in what:
        assert eval(what, {"tensix": tensix, "X": X, "M": M, "array_equal": array_equal})
    else:
        with pytest.raises(AttributeError) as caught:
            getattr(tensix, name)
        assert what in str(caught.value)


@pytest.mark.parametrize("name", ["compile", "cuda", "flatten", "jit"])
def test_names_behind_these_have_advice_too(name):
    """In a process of its own: the text is what somebody sees who tried."""
    done = subprocess.run(
        [sys.executable, "-c", f"import tensix; tensix.{name}"], capture_output=True, text=True, check=False
    )
    assert f"AttributeError: tensix has no `{name}`: " in done.stderr
