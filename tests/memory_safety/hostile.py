"""Let operators give back what nobody expects, one call of an operator after the other, in every public call.

``python hostile.py [part/parts]`` prints how many results were tried, and each call that ended its process or raised
what it should not. Blocks end where a page without permissions begins, so that a read or write outside of one ends the
process by a signal.
"""

import contextlib
import ctypes
import mmap
import os
import signal
import sys
import warnings

import numpy as np
from calls import CALLS
from fronts import FRONTS
from program import ALLOCATOR, ALLOWED, operands

import tensix
from tensix.dispatch import DispatchKeySet, include_keys

ALLOWED = (*ALLOWED, NotImplementedError, AssertionError, StopIteration, ctypes.ArgumentError)
KEYS = DispatchKeySet("CPU"), DispatchKeySet("SparseCPU"), DispatchKeySet("Meta")
MOST_OPERATORS = 12  # of one call, to be tried one by one


# What comes back in place of a result: always, or only in place of a tensor.
ANYTHING = {
    "None": lambda found: None,
    "7": lambda found: 7,
    "a string": lambda found: "hostile",
    "a tuple": lambda found: (found,),
    "an empty tuple": lambda found: (),
    "NotImplemented": lambda found: NotImplemented,
    "an array": lambda found: np.zeros(3),
    "an empty tensor": lambda found: tensix.empty(0),
    "one element": lambda found: tensix.ones(()),
    "one byte": lambda found: tensix.ones(1, dtype="uint8"),
    "many elements": lambda found: tensix.ones(3, 1000),
    "an undefined tensor": lambda found: tensix.Tensor(),
    "a meta tensor": lambda found: tensix.ones(5, 5, device="meta"),
    "a sparse tensor": lambda found: tensix.eye(5).to_sparse(),
    "undefined tensors": lambda found: (tensix.Tensor(),) * 4,
    "empty tensors": lambda found: [tensix.empty(0)] * 4,
}
IN_PLACE_OF_A_TENSOR = {
    "another type": lambda found: tensix.zeros(found.shape, dtype="int8"),
    "a wider type": lambda found: tensix.zeros(found.shape, dtype="complex128"),
    "an expanded view": lambda found: tensix.ones(1, dtype=found.dtype).expand(found.shape),
    "other strides": lambda found: tensix.zeros(found.shape[::-1], dtype=found.dtype).permute(
        *reversed(range(len(found.shape)))),
    "a longer tensor": lambda found: tensix.zeros((*found.shape[:-1], found.shape[-1] + 1) if found.ndim else (2,)),
    "a shorter tensor": lambda found: found[..., :-1] if found.ndim else tensix.empty(0),
    "without memory": lambda found: tensix.zeros(found.shape, dtype=found.dtype, device="meta"),
    "exchanged": lambda found: found.set_(tensix.ones(1, dtype="uint8")),
    "without its block": lambda found: (found.storage().resize_(0), found)[1],
    "read-only": lambda found: tensix.asarray(np.broadcast_to(np.zeros(1, found.dtype.name), found.shape)),
}  # fmt: skip


class Fallback:
    """Run operators as without it, but spoil the result of one of them, or of all."""

    def __init__(self):
        self.count, self.at, self.spoil = 0, None, None

    def __call__(self, table, *args, **kwargs):
        spoil = self.spoil
        self.count += 1
        if spoil is None or self.at not in (None, self.count):
            return run(table, args, kwargs)
        self.spoil = None  # what spoils calls operators itself
        result = run(table, args, kwargs) if self.at is not None else None
        try:
            return spoil(result)
        finally:
            self.spoil = spoil if self.at is None else None


def run(table, args, kwargs):
    """Run the kernel for the tensors among the arguments."""
    seen = [*args, *kwargs.values()]
    seen += [item for value in seen if isinstance(value, (list, tuple)) for item in value]
    tensors = [value for value in seen if isinstance(value, tensix.Tensor) and value.defined()]
    sparse = any(tensor.layout is not tensix.strided for tensor in tensors)
    meta = any(tensor.device.type == "meta" for tensor in tensors) or str(kwargs.get("device")) == "meta"
    return table.redispatch(KEYS[1 if sparse else 2 if meta else 0], *args, **kwargs)


def read(value):
    """Read every element."""
    for one in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(one, tensix.Tensor) and one.defined() and one.device.type == "cpu":
            (one.to_dense() if one.layout is not tensix.strided else one).sum()


def attempt(call, fallback, n, spoil, at=None):
    """Call with operands of a size, and results spoilt; return how many operators ran."""
    o = operands(n)
    fallback.count, fallback.at, fallback.spoil = 0, at, spoil
    value = None
    with contextlib.suppress(ALLOWED), include_keys("Tracer"):
        value = call(o)
    fallback.spoil = None
    for one in (value, *vars(o).values()):
        with contextlib.suppress(ALLOWED):
            read(one)
    return fallback.count


def of_tensors(spoil):
    """Return a function that leaves results that are no tensors."""
    return lambda found: spoil(found) if isinstance(found, tensix.Tensor) else found


def try_all(call, fallback, note):
    """Try every hostile result in one public call; return how many."""
    tried = 0
    for what, spoil in ANYTHING.items():
        for n in (5, 200):
            note(what)
            attempt(call, fallback, n, spoil)
            tried += 1
    spoils = {**ANYTHING, **{what: of_tensors(spoil) for what, spoil in IN_PLACE_OF_A_TENSOR.items()}}
    for at in range(1, min(attempt(call, fallback, 5, None), MOST_OPERATORS) + 1):
        for what, spoil in spoils.items():
            note(f"{what} from operator {at}")
            attempt(call, fallback, 5, spoil, at)
            tried += 1
    return tried


def in_a_child(name, call, fallback):
    """Try a call in a process of its own; return how many results were tried, and how it ended."""
    state = mmap.mmap(-1, 256)  # shared: the count, then what is being tried

    def note(text):
        state[8:] = text.encode().ljust(248)[:248]

    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            state[:8] = try_all(call, fallback, note).to_bytes(8, "little")
        except BaseException as error:
            note(f"{state[8:].decode().strip()}, which raised {error!r}")
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    problem = f"{name}: status {os.waitstatus_to_exitcode(status)} by {state[8:].decode().strip()}" if status else None
    return int.from_bytes(state[:8], "little"), problem


def main():
    """Run each call of a part in a process of its own."""
    part, parts = (int(number) for number in sys.argv[1].split("/")) if len(sys.argv) > 1 else (0, 1)
    calls = {**CALLS, **FRONTS}
    names = sorted(calls)[part::parts]
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    tensix.set_num_threads(1)
    fallback, found = Fallback(), []
    with tensix.Library("tensix") as library, tensix.use_allocator(ALLOCATOR):
        library.fallback(fallback, "Tracer")
        for name in names:
            found.append(in_a_child(name, calls[name], fallback))
            if found[-1][1]:
                print(found[-1][1], flush=True)
    problems = len([problem for _, problem in found if problem])
    print(f"{len(names)} calls, {sum(count for count, _ in found)} results, {problems} problems")
    sys.exit(problems != 0)


if __name__ == "__main__":
    main()
