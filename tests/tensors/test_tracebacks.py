"""Tracebacks of calls that fail: the user's line, where the call came in, and where it failed."""

import traceback

import pytest

import tensix

X = tensix.ones(3, 4)
Y = tensix.ones(5)
FAILING = {
    "an operator sign": lambda: X + Y,
    "an index": lambda: X[10],
    "an index of two": lambda: X[0:2, 9],
    "a mask": lambda: X[X[:2] > 0],
    "a view": lambda: X.view(5),
    "a reduction": lambda: X.sum(axis=5),
    "a product": lambda: X @ X,
    "a factory": lambda: tensix.empty(-1),
    "numbers": lambda: tensix.tensor([1, "a"]),
    "an assignment": lambda: X.__setitem__(0, Y),
    "an elementwise function": lambda: tensix.add(X, "a"),
    "a conversion": lambda: tensix.astype(X, "foo"),
}


@pytest.mark.parametrize("what", FAILING)
def test_two_frames_of_ours_at_most(what):
    with pytest.raises(Exception) as caught:
        FAILING[what]()
    names = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    users = max(i for i, name in enumerate(names) if name == __file__)
    assert 1 <= len(names) - 1 - users <= 2


def test_where_it_came_in_and_where_it_failed():
    with pytest.raises(IndexError) as caught:
        _ = X[10]
    came_in, failed = traceback.extract_tb(caught.value.__traceback__)[-2:]
    assert came_in.name.endswith("Tensor.__getitem__") and failed.filename == "tensix/kernels/views.pyx"


def test_what_calls_back_stays_in_sight():
    """Frames of Python between ours are the user's own."""

    def kernel(x):
        return x.view(7)

    with tensix.Library("traced") as library:
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", kernel, "CPU")
        with pytest.raises(ValueError, match="cannot give 12 elements") as caught:
            tensix.ops.traced.f(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "kernel" in names and len(names) == 6
