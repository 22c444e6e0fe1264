"""Let every allocation of every public call fail, the first, the second, … until the call succeeds.

``python out_of_memory.py KIND [part/parts] [name …]`` prints how many calls and failures were tried, and what was
wrong. The kinds:

``tensix``
    One allocation of tensix fails.
``served``
    The same, while NumPy's arrays come from that allocator too.
``python``
    One allocation of Python fails.
``exhausted``
    One allocation of Python fails, and all that follow until the call returns.

After each failure: the error is a `MemoryError`, the operands have the bytes, shapes and owners that they had, nothing
that was allocated is left, and the same call then returns what it returns where nothing fails. Each call is tried in a
process of its own, so that one that crashes says its name.
"""

import collections
import contextlib
import faulthandler
import gc
import importlib
import mmap
import os
import pickle
import re
import signal
import struct
import sys
import traceback
from types import SimpleNamespace

import numpy as np
from calls import CALLS
from fronts import FRONTS, TEMPORARY

import tensix
from tensix import memory
from tensix.testing import FailingAllocator, assert_no_leaks

ALL = {**CALLS, **FRONTS}
SIZES = (5, 200)  # with the GIL kept, and given up
MOST = 2000  # failures in one call
SECONDS = 20  # of processor time for one failure


def operands(n):
    """Return new operands: `n` decides whether a call keeps the GIL."""
    x = tensix.ones((n, n)).add_(tensix.linspace(0, 1, n))
    return SimpleNamespace(
        x=x, y=tensix.ones((n, n)), m=x > 1.5, i=tensix.arange(n), s=tensix.eye(12) + tensix.ones((12, 12))
    )


def picture(value):
    """Return what can be compared of a result: all of it but addresses."""
    if isinstance(value, tensix.Tensor):
        if value.device.type != "cpu" or value.layout is not tensix.strided:
            return value.shape, str(value.dtype), repr(value)
        return value.shape, value.stride(), str(value.dtype), value.readonly, value.tobytes()
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, (tuple, list)):
        return tuple(map(picture, value))
    if isinstance(value, dict):
        return {key: picture(one) for key, one in value.items()}
    if isinstance(value, (int, float, complex, str, bytes, type, type(None), np.generic)):
        return value if value == value else "not a number"
    return type(value)


def picture_of_operands(o):
    """Return the same of the operands, and who owns them."""
    tensors = [value for value in vars(o).values() if isinstance(value, tensix.Tensor)]
    counts = [(x.use_count(), x.storage().use_count(), sys.getrefcount(x), sys.getrefcount(x.impl)) for x in tensors]
    return [picture(x) for x in tensors], counts


class Allocations:
    """Let one allocation of tensix fail."""

    sizes = SIZES

    def __init__(self, allocator):
        self.allocator = allocator

    def start(self, moment):
        self.allocator.calls, self.allocator.fail_at = 0, moment

    def stop(self):
        """Return whether an allocation failed since the start."""
        reached = self.allocator.fail_at is not None and self.allocator.calls >= self.allocator.fail_at
        self.allocator.fail_at = None
        return reached


class Pythons:
    """Let an allocation of Python fail, and those after it if asked for."""

    sizes = SIZES[:1]

    def __init__(self, exhausted=False):
        self.exhausted, self.moment = exhausted, 0
        self.hooks = importlib.import_module("_testcapi")  # some distributions leave it out

    def start(self, moment):
        self.moment = moment
        self.hooks.set_nomemory(moment - 1, 0 if self.exhausted else moment)

    def stop(self):
        """Return whether an allocation failed since the start: if not, one of these does."""
        left = 0
        try:
            while left <= self.moment:
                bytes(100)
                left += 1
        except MemoryError:
            pass
        self.hooks.remove_mem_hooks()
        return left == 0 if self.exhausted else left > self.moment


# What CPython and NumPy do wrong themselves where Python has no memory, as the C stacks of failed allocations show: the
# call, what is wrong, and whose it is. Those of CPython 3.11 and NumPy 2.4 first.
LEFT = "owners of operands|still alive|are left"
NOTHING_SAID = "SystemError: error return without exception set"
OF_OTHERS = [
    ("", "(RuntimeError|BufferError): can't allocate", "CPython's locks"),
    ("", "PicklingError: Can't pickle", "CPython's pickle"),
    ("", "TypeError: (expected str, bytes or os.PathLike|stat)", "CPython's os.fspath()"),
    ("", "SystemError: <.*> returned NULL without setting an exception", "NumPy's functions that say nothing"),
    ("fft", "SystemError: <ufunc '.*'> returned a result with an exception set", "NumPy's transforms"),
    ("numpy|Tensor.__array_|Tensor.__rmatmul__", "", "NumPy's functions on tensors"),
    ("repr|Tensor.__?repr_.*|randint|dlpack|Tensor.__rpow__", NOTHING_SAID, "NumPy's reductions"),
    (r"einsum of one|linalg\.(eig(vals)?$|matrix_(norm|rank)|qr|solve of)", NOTHING_SAID, "NumPy's linear algebra"),
    ("asarray immutable", "ValueError: cannot coerce scalar to array", "NumPy's asarray() hides errors of buffers"),
    (r"(linalg\.)?tensordot", "TypeError: bad operand type for unary -: 'tuple'", "NumPy's tensordot() hides errors"),
    ("to_sparse|sparse_coo|Tensor.(to_sparse|to_dense|coalesce|indices|values)", NOTHING_SAID, "NumPy's indexing"),
    (r"repr|Tensor.__?repr_.*|einsum|.*median|.*quantile|Tensor.norm|fft\.(i?fftshift|i?r?fftn)|assert_no_leaks"
     r"|linalg\.cross|(linalg\.)?tensordot", LEFT, "CPython's functions with cells lose an argument"),
    ("TensorFile", LEFT, "CPython's dict() of a dict's subclass"),
    ("CachingAllocator", NOTHING_SAID, "CPython's frames"),
    ("save npz", "ValueError: Can't close the ZIP file", "CPython's zipfile"),
    ("save", LEFT, "CPython's functions with cells lose an argument"),
    ("CallbackAllocator", "ArgumentError", "CPython's ctypes"),
    ("load .np|TensorFile", "FileFormatError: .*(without exception|with an exception) set", "CPython's frames"),
    ("Generator|repr|Tensor.__?repr_.*|Tensor.__setitem__ of tensors|fill_|share|sparse_coo|tensor|use_allocator"
     r"|einsum|(Tensor\.)?median|quantile|fft\.[a-z]*fftn?$|linalg\.(cholesky|det|eig|inv|pinv|qr|slogdet|solve"
     r"|svd|tensordot|matrix_(norm|power|rank))",
     "ended with -11", "CPython's PyContextVar_Set drops a token that it could not make"),
    ("Library|TensorFile|from_file|files.RawFile|load|save|pad", "ended with -27",
     "CPython's handlers of exceptions, which need an int, try for ever"),
    ("explain|save|record|snapshot|load .npy", "ended with -11", "CPython's iterators of dicts, NumPy's hash of types"),
]  # fmt: skip
if sys.version_info[:2] in {(3, 12), (3, 13)}:  # seen in 3.12.1 and 3.13.0, without tensix, too
    OF_OTHERS += [
        (r"CallSites|DeleteTracker|FailureCallbackAdaptor|FunctionSchema|Library|MappedAllocator|TensorFile"
         r"|TrackingAdaptor|assert_no_leaks|copies|fft\.i?fftshift|from_file|load \.(np[yz]|safetensors)|memory_summary"
         r"|pad|profile", "ended with -(6|11)|Traceback", "CPython drops a lambda's code twice"),
    ]  # fmt: skip
# An __array_ufunc__ that raises in these loses a reference to the tensor, also without tensix.
SERVED_OF_OTHERS = [("numpy.(add reduce|multiply accumulate)", LEFT, "NumPy's calls of __array_ufunc__")]

KINDS = {"tensix": Allocations, "served": Allocations, "python": Pythons, "exhausted": Pythons}


class Sweep:
    """Try one call; `problems` says what was wrong."""

    def __init__(self, name, failures):
        self.name, self.call, self.failures = name, ALL[name], failures
        self.problems, self.points = [], 0

    def run(self, moment_in_parent):
        """Let the first, second, … allocation fail until none is left."""
        for n in self.failures.sizes:
            expected = self.succeeds(operands(n))
            for moment in range(1, MOST):
                struct.pack_into("q", moment_in_parent, 0, moment)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                signal.alarm(20 * SECONDS)  # should it wait
                if not self.fails_at(moment, n, expected):
                    break
                self.points += 1
                if moment < 50 or moment % 10 == 0:  # they call many times
                    self.leaves_objects(moment, n)
                    self.leaves_targets(moment, n)
            else:
                self.problem(MOST, n, "there is no end of allocations")

    def fails_at(self, moment, n, expected):
        """Let one allocation fail; return whether the call came to it."""
        o = operands(n)
        before, in_use = picture_of_operands(o), tensix.CPUAllocator.bytes_in_use()
        reached, error, result = self.attempt(o, moment)
        if error is None:
            if reached and picture(result) != expected:
                self.problem(moment, n, "no error, and another result")
            result = None
            return reached
        if not isinstance(error, MemoryError):
            self.problem(moment, n, f"{type(error).__name__}: {error}")
        error = None
        if self.unlike(before, in_use, o):
            gc.collect()
            unlike = self.unlike(before, in_use, o)
            if unlike:
                self.problem(moment, n, unlike)
        if reached and self.succeeds(o) != expected:
            self.problem(moment, n, "another result afterwards")
        return reached

    def attempt(self, o, moment):
        """Call while an allocation fails; return whether it did, the error without its frames, and the result."""
        tensix.manual_seed(0)
        result = error = None
        self.failures.start(moment)
        try:
            result = self.call(o)
        except BaseException as caught:
            error = caught
        reached = self.failures.stop()
        if error is not None:
            traceback.clear_frames(error.__traceback__)
            error = error.with_traceback(None)
            error.__context__ = error.__cause__ = None
        return reached, error, result

    def unlike(self, before, in_use, o):
        """Return what is not as it was, or nothing."""
        tensors, counts = picture_of_operands(o)
        if tensors != before[0]:
            return "operands have changed"
        if counts != before[1]:
            return f"owners of operands have changed: {before[1]} to {counts}"
        left = tensix.CPUAllocator.bytes_in_use() - in_use
        return f"{left} bytes are left" if left else ""

    def leaves_objects(self, moment, n):
        """See whether each further failure of this allocation leaves objects of Python behind."""
        o = operands(n)
        counts = []
        for times in (2, 1, 1, 20, 200):  # objects that are free for the next one become more at first
            for _ in range(times):
                self.attempt(o, moment)
            if counts and sys.getallocatedblocks() > counts[-1]:
                gc.collect()
            counts.append(sys.getallocatedblocks())
            if len(counts) > 1 and counts[-1] <= counts[-2]:
                return
        if counts[-1] >= counts[-2] + 100:
            self.problem(moment, n, f"{(counts[-1] - counts[-2]) / 200:g} objects of Python are left")

    def leaves_targets(self, moment, n):
        """See whether tensors or storages are left behind."""
        try:
            with assert_no_leaks():
                self.attempt(operands(n), moment)
        except AssertionError as error:
            self.problem(moment, n, error)

    def succeeds(self, o):
        """Return what comes of the call."""
        tensix.manual_seed(0)
        return picture(self.call(o))

    def problem(self, moment, n, text):
        self.problems.append(f"{self.name}, operands of {n}, failure {moment}: {text}")


def in_a_process(name, kind):
    """Try a call in a process of its own; return the number of failures and the problems."""
    moment = mmap.mmap(-1, 8)
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        TEMPORARY._finalizer.detach()  # it is the parent's, even if this process goes astray
        with open(writing, "wb") as answer:
            answer.write(pickle.dumps(sweep(name, kind, moment)))
            answer.flush()
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        data = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status == 0:
        return pickle.loads(data)
    at = struct.unpack_from("q", moment)[0]
    return 0, [f"{name}, failure {at}: the process ended with {status}"]


def sweep(name, kind, moment):
    """Try a call in this process."""
    allocator = FailingAllocator(tensix.CPUAllocator())
    with tensix.use_allocator(allocator), contextlib.ExitStack() as stack:
        if kind == "served":
            stack.enter_context(memory.serve_numpy())
        failures = Allocations(allocator) if KINDS[kind] is Allocations else Pythons(kind == "exhausted")
        one = Sweep(name, failures)
        try:
            one.succeeds(operands(5))  # what is made once is there
            gc.collect()
            gc.freeze()
            one.run(moment)
        except Exception:
            one.problems.append(f"{name}: {traceback.format_exc()}")
    return one.points, one.problems


def main():
    """Try all calls, or a part of them, or those that are named."""
    kind, *rest = sys.argv[1:] or [""]
    if kind not in KINDS:
        sys.exit(__doc__)
    part, parts = (int(number) for number in rest.pop(0).split("/")) if rest and "/" in rest[0] else (0, 1)
    names = rest or sorted(ALL)[part::parts]
    tensix.set_num_threads(2)
    faulthandler.enable()
    known = {"tensix": [], "served": SERVED_OF_OTHERS}.get(kind, OF_OTHERS)
    points, problems, others = 0, 0, collections.Counter()
    for name in names:
        found, wrong = in_a_process(name, kind)
        points += found
        for text in wrong:
            reason = next((why for call, what, why in known if re.match(call, name) and re.search(what, text)), None)
            if reason is None:
                problems += 1
                print(text, flush=True)
            else:
                others[reason] += 1
    for reason, count in others.most_common():
        print(f"{count:6,}  {reason}")
    print(f"{len(names)} calls, {points:,} failures of {kind}, {problems} problems; {others.total()} are not tensix's")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
