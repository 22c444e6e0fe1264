"""Arguments whose ``__index__`` changes the tensor that they are for."""

import pytest

import tensix

CALLS = {
    "select": lambda x, n: x.select(n(2), n(1)),
    "narrow": lambda x, n: x.narrow(n(2), n(1), n(1)),
    "transpose": lambda x, n: x.transpose(n(0), n(2)),
    "permute": lambda x, n: x.permute(n(2), n(0), n(1)),
    "movedim": lambda x, n: x.movedim(n(2), n(0)),
    "diagonal": lambda x, n: x.diagonal(n(0), n(1), n(2)),
    "unfold": lambda x, n: x.unfold(n(2), n(2), n(1)),
    "expand": lambda x, n: x[:, :1].expand(n(3), n(4), n(5)),
    "expand the whole": lambda x, n: x.expand(n(3), n(4), n(5)),
    "squeeze": lambda x, n: tensix.squeeze(x, (n(0), n(2))),
    "unsqueeze": lambda x, n: x.unsqueeze(n(3)),
    "reshape": lambda x, n: x.reshape(n(5), n(12)),
    "view": lambda x, n: x.view(n(60)),
    "flatten": lambda x, n: x.flatten(n(1), n(2)),
    "unflatten": lambda x, n: x.unflatten(n(1), (n(2), n(2))),
    "split": lambda x, n: x.split(n(2), n(2)),
    "split with sizes": lambda x, n: x.split((n(2), n(3)), n(2)),
    "chunk": lambda x, n: x.chunk(n(2), n(2)),
    "unbind": lambda x, n: x.unbind(n(2)),
    "index": lambda x, n: x[n(1), n(1):n(3), n(4)],
    "slice": lambda x, n: x[:, :, n(1):n(3):n(1)],
    "as_strided": lambda x, n: x.as_strided((n(2), n(2)), (n(2), n(1)), n(3)),
    "stride": lambda x, n: x.stride(n(2)),
    "sum": lambda x, n: x.sum(axis=(n(0), n(2))),
    "vecdot": lambda x, n: tensix.vecdot(x, x, axis=n(2)),
    "cumulative_sum": lambda x, n: tensix.cumulative_sum(x, axis=n(2)),
    "stack": lambda x, n: tensix.stack([x, x], axis=n(3)),
    "concat": lambda x, n: tensix.concat([x, x], axis=n(2)),
    "write": lambda x, n: x.__setitem__((n(1), n(3)), 5.0),
    "positions": lambda x, n: x[[n(0), n(2)]],
}
OTHERS = {
    "one dimension": lambda: tensix.ones(1),
    "none": lambda: tensix.ones(()),
    "many": lambda: tensix.ones((1,) * 60),
    "longer": lambda: tensix.ones((9, 9, 9)),
    "bytes": lambda: tensix.ones((3, 4, 5), dtype="int8"),
}


class Number:
    """Return an int by __index__; the one that is asked at the given turn changes the tensor."""

    def __init__(self, number, state):
        self.number, self.state = number, state

    def __index__(self):
        self.state["left"] -= 1
        if self.state["left"] == 0:
            self.state["x"].set_(self.state["other"])
        return self.number


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("call", CALLS)
def test_arguments_that_change_the_tensor(call, other):
    for turn in range(1, 8):
        x = tensix.arange(60.0).reshape(3, 4, 5)
        state = {"left": turn, "x": x, "other": OTHERS[other]()}
        try:
            made = CALLS[call](x, lambda number, state=state: Number(number, state))
        except (RuntimeError, ValueError, IndexError):
            continue
        for part in made if isinstance(made, tuple) else (made,):
            if isinstance(part, tensix.Tensor):
                check_bounds(part)


class Unordered:
    """Return from comparisons what has no truth value; subclasses are numbers otherwise."""

    def __index__(self):
        return 2

    def compare(self, other):
        return self

    __lt__ = __le__ = __gt__ = __ge__ = compare
    __sub__ = __rsub__ = __float__ = __index__

    def __bool__(self):
        raise KeyError("no truth value")


class UnorderedInt(Unordered, int):
    """Has another value than it claims: a range is checked of the value that is used."""

    __hash__ = int.__hash__


BOUNDED = {
    "set_num_threads": tensix.set_num_threads,
    "Recorder": lambda n: tensix.memory.record(max_events=n),
    "linspace": lambda n: tensix.linspace(0.0, 1.0, n),
    "cross": lambda n: tensix.linalg.cross(tensix.ones(3), tensix.ones(3), axis=n),
    "uniform_": lambda n: tensix.ones(3).uniform_(n, 5.0),
    "tensor": lambda n: tensix.tensor([n, 1 << 63]),
    "Device": lambda n: tensix.Device("cuda", n),
    "set_allocator": lambda n: tensix.set_allocator("hip", None, priority=n),
    "CPUAllocator": lambda n: tensix.CPUAllocator(numa_node=n),
    "CallSites": tensix.CallSites,
    "CallSites.frames": lambda n: tensix.CallSites().frames(n),
}


@pytest.mark.parametrize("number", [Unordered(), UnorderedInt(10**30), tensix.ones(2), 10**30])
@pytest.mark.parametrize("call", BOUNDED)
def test_bounds_of_numbers_that_cannot_be_compared(call, number):
    """Cython loses the error of a truth value in a chain of comparisons, which ends as a SystemError."""
    threads = tensix.get_num_threads()
    try:
        BOUNDED[call](number)
    except (TypeError, ValueError, OverflowError, KeyError):
        pass
    finally:
        tensix.set_num_threads(threads)


def check_bounds(x):
    """Check that a view lies within its storage, by making it again."""
    tensix.Tensor.from_storage(x.storage(), x.storage_offset(), x.shape, x.stride(), x.dtype)
