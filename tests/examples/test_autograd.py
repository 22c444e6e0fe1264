"""The example of reverse-mode differentiation: its gradients, its errors, and the memory that it keeps."""

import importlib
from pathlib import Path

import pytest

import tensix

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def autograd(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("autograd")


FUNCTIONS = {
    "add": lambda x, y: x + y + 2,
    "broadcast": lambda x, y: x * y[0] + y[:, :1],
    "sub": lambda x, y: 1 - x - y,
    "div": lambda x, y: x / y + 2 / x,
    "pow": lambda x, y: x**y + x**3 + 2**y,
    "maximum": lambda x, y: tensix.maximum(x, y) * tensix.minimum(x, 1.2),
    "where": lambda x, y: tensix.where(x > y, x * y, y),
    "elementwise": lambda x, y: tensix.exp(-x) + tensix.log(y) * tensix.sqrt(x) + tensix.tanh(x * y),
    "matmul": lambda x, y: x @ y.T @ x,
    "batch": lambda x, y: x.reshape(2, 2, 3) @ y[0].unsqueeze(1) * y.mT[0, 0],
    "reductions": lambda x, y: x.sum(axis=0) * y.mean(axis=(1,), keepdims=True) + x.mean() * y.sum(),
    "cat": lambda x, y: tensix.concat([x, y * x, x], axis=1) ** 2,
    "views": lambda x, y: x[1:, ::2].expand(2, 3, 2) * y.flatten()[3:5] + x.clone().unsqueeze(0).squeeze(0)[0, 0],
    "twice": lambda x, y: (x * x) * (x * x) + y * 0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_differences(autograd, name):
    tensix.manual_seed(3)
    values = [tensix.rand(4, 3, dtype="float64") + 0.5 for _ in range(2)]
    parameters = [autograd.parameter(value.clone()) for value in values]
    with autograd.recording():
        result = FUNCTIONS[name](*parameters)
        weights = tensix.rand(*result.shape, dtype="float64")
        autograd.backward((result * weights).sum())
    for which, value in enumerate(values):
        found = autograd.gradient(parameters[which])
        assert found.shape == value.shape
        for place in [(0, 0), (1, 2), (3, 1)]:
            ends = []
            for step in (1e-6, -1e-6):
                moved = [one.clone() for one in values]
                moved[which][place] += step
                ends.append((FUNCTIONS[name](*moved) * weights).sum().item())
            assert found[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-7)


def test_gradients_are_those_of_torch(autograd):
    torch = pytest.importorskip("torch")
    tensix.manual_seed(1)
    sizes = [(16, 8), (8, 8), (8, 4)]
    ours = [autograd.parameter(tensix.randn(*size)) for size in sizes]
    theirs = [torch.tensor(one.tolist(), requires_grad=True) for one in ours]
    inputs = tensix.randn(32, 16)
    x, y = inputs, torch.tensor(inputs.tolist())
    with autograd.recording():
        for matrix in ours:
            x = tensix.maximum(tensix.tanh(x @ matrix), 0.0) + 0.5
        autograd.backward((x * x).mean())
    for matrix in theirs:
        y = torch.relu(torch.tanh(y @ matrix)) + 0.5
    (y * y).mean().backward()
    for one, other in zip(ours, theirs, strict=True):
        assert autograd.gradient(one).numpy() == pytest.approx(other.grad.numpy(), abs=1e-6)


def test_the_network_learns_as_with_gradients_by_hand(autograd):
    assert autograd.train() == pytest.approx(autograd.training.train(), rel=1e-5)
    assert autograd.train()[-1] < 0.8 * autograd.train()[0]


def test_backward_frees_what_it_used(autograd):
    """Of eight results of a megabyte, those that are used are gone before the gradients take their place."""
    x = autograd.parameter(tensix.full((1 << 18,), 0.5))
    with tensix.memory.record() as recording, autograd.recording():
        y = x
        for _ in range(8):
            y = tensix.exp(-y)
        y = y.sum()
        kept = tensix.memory_allocated()
        autograd.backward(y)
        left = tensix.memory_allocated()
    assert kept - left >= 7 << 20  # eight results are freed, the gradient of the parameter is new
    blocks = recording.snapshot()["blocks"]
    times = zip(blocks["nbytes"], blocks["allocated_ns"], blocks["freed_ns"], strict=True)
    large = [(made, freed) for nbytes, made, freed in times if nbytes == 1 << 20]
    most = max(sum(made <= now and (freed is None or freed > now) for made, freed in large) for now, _ in large)
    assert most <= 8 + 4 and len(large) >= 8 + 16  # gradients of all would take 16 at once


def test_misuse_is_refused(autograd):
    x = autograd.parameter(tensix.ones(3))
    with autograd.recording():
        with pytest.raises(RuntimeError, match=r"add_.Tensor: a tensor with a gradient would be written"):
            x += 1
        with pytest.raises(NotImplementedError, match="cumulative_sum: no rule for its gradient"):
            tensix.cumulative_sum(x)
        with pytest.raises(NotImplementedError, match="two or more dimensions"):
            tensix.ones(2, 3) @ x
        with pytest.raises(RuntimeError, match=r"one element is required, found shape \(3,\)"):
            autograd.backward(x * 2)
        y = tensix.exp(x)
        loss = (y * y).sum()
        y.detach().zero_()
        with pytest.raises(RuntimeError, match="needs was written meanwhile"):
            autograd.backward(loss)
        loss = (x * x).sum()
        autograd.backward(loss)
        with pytest.raises(RuntimeError, match="used and freed before"):
            autograd.backward(loss)
        assert (x > 0).all() and x.detach().impl.autograd_meta is None and autograd.gradient(x).tolist() == [2, 2, 2]
    assert (x * 2).impl.autograd_meta is None
