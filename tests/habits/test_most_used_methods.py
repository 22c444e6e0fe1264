"""The thirty attributes that programs use most of arrays and of tensors: each works, or says what to use.

They were counted on 2026-11-23 in the repositories of `test_most_used_names.py`: the number of .py files that import
NumPy or PyTorch and have ``something.NAME``, for the names that `numpy.ndarray` or `torch.Tensor` has, where something
is not a module. Objects of other classes with such names, pandas' and layers', are counted, too. Behind each name
stands the number of files, and what its users write; or a part of what the error says.
"""

import numpy as np
import pytest

import tensix

NUMPY = {
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
PYTORCH = {
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
CASES = [(name, what) for names in (NUMPY, PYTORCH) for name, (_, what) in names.items()]


def test_there_are_thirty_each_the_most_used_first():
    for names in (NUMPY, PYTORCH):
        counts = [count for count, _ in names.values()]
        assert len(names) == 30
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(("name", "what"), CASES, ids=[name for name, _ in CASES])
def test_it_works_or_names_what_to_use(name, what):
    x, v = tensix.reshape(tensix.arange(24), (2, 3, 4)).float(), tensix.tensor([3.0, 1.0, 2.0])
    if f".{name}" in what and "`" not in what:
        assert eval(what, {"tensix": tensix, "np": np, "x": x, "v": v})
    elif name == "size":  # Python itself says that an int cannot be called; where somebody looks, it is said
        assert what in tensix.Tensor.size.__doc__
    else:
        with pytest.raises(AttributeError) as caught:
            getattr(x, name)
        assert what in str(caught.value)


def test_names_behind_these_have_advice_too():
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
