"""Change operands at the worst moment of every public call, with their memory between pages that nobody may touch.

``python program.py allocator|finalizer|thread [seconds] [part/parts]`` prints how many calls and moments were tried.

A read or write outside a block, or of a block that was freed, ends the process by a signal: each block ends where a
page without permissions begins, and its pages are unmapped when it is freed.
"""

import contextvars
import ctypes
import gc
import mmap
import pickle
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
from calls import CALLS

import tensix
from tensix.core import DataPtr, Storage

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE = mmap.PAGESIZE
ALLOWED = (
    RuntimeError, ValueError, IndexError, TypeError, BufferError, MemoryError, ZeroDivisionError, AttributeError,
    np.linalg.LinAlgError, pickle.PicklingError,
)  # fmt: skip


class PageAllocator(tensix.Allocator):
    """Give each block pages of its own, ending at one that may not be touched; call a function at one allocation."""

    def __init__(self):
        self.disturb, self.countdown = None, 0

    def allocate(self, nbytes):
        if self.disturb is not None and self.countdown == 0:
            disturb, self.disturb = self.disturb, None
            disturb()
        self.countdown -= 1
        pages = (nbytes + PAGE - 1) // PAGE * PAGE
        start = LIBC.mmap(None, pages + PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
        if start in (None, ctypes.c_void_p(-1).value):
            raise tensix.OutOfMemoryError(nbytes, 16, 0)
        LIBC.mprotect(start + pages, PAGE, 0)
        data = start + pages - (nbytes + 15) // 16 * 16
        return DataPtr.from_callable(data, lambda _: LIBC.munmap(start, pages + PAGE))

    def is_simple_data_ptr(self, data_ptr):
        return True  # the context is nothing but the pages


ALLOCATOR = PageAllocator()


def operands(n):
    """Return new operands: `n` decides whether the call keeps the GIL."""
    x = tensix.ones((n, n)).add_(tensix.linspace(0, 1, n))
    return SimpleNamespace(
        x=x, y=tensix.ones((n, n)), m=x > 1.5, i=tensix.arange(n), s=tensix.eye(12) + tensix.ones((12, 12))
    )


def resize(x, nbytes):
    x.storage().resize_(nbytes)


def exchange(x):
    x.storage().set_data_ptr_noswap(ALLOCATOR.allocate(x.storage().nbytes()))


def swap(x):
    other = Storage(64, ALLOCATOR, True)
    x.storage().impl.swap_data_ptr(other.impl)


DISTURBANCES = {
    "set_ to less": lambda x: x.set_(tensix.zeros((1, 1), dtype=x.dtype)),
    "set_ to more": lambda x: x.set_(tensix.zeros((3, *x.shape), dtype=x.dtype)),
    "set_ to bytes": lambda x: x.set_(tensix.zeros(x.shape, dtype="int8")),
    "set_ to complex": lambda x: x.set_(tensix.zeros(x.shape, dtype="complex128")),
    "set_ to many dimensions": lambda x: x.set_(tensix.zeros((1,) * 40)),
    "set_ to meta": lambda x: x.set_(tensix.zeros(x.shape, device="meta")),
    "resize_ to 4": lambda x: resize(x, 4),
    "resize_ to more": lambda x: resize(x, 2 * x.storage().nbytes()),
    "exchange": exchange,
    "swap": swap,
    "reset": lambda x: x.storage().impl.reset(),
    "export": lambda x: KEPT.append(np.asarray(x)),
    "lazy_clone and write": lambda x: (KEPT.append(x.lazy_clone()), x.fill_(2)),
    "lazy_clone": lambda x: KEPT.append(x.lazy_clone()),
    "write": lambda x: x.fill_(3),
}
KEPT = []
SIZES = (5, 200)  # with the GIL kept, and given up


def quietly(function, *args):
    """Call something that may be refused; anything but an ordinary error is a defect."""
    try:
        result = function(*args)
        for one in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(one, tensix.Tensor) and one.device.type == "cpu" and one.layout is tensix.strided:
                one.sum()  # every element is read
    except ALLOWED:
        pass


def look_at_exports():
    """Read what was exported: its memory must be there."""
    for kept in KEPT:
        kept.sum()
    KEPT.clear()


def by_allocator(calls):
    """At the first, second, … allocation of a call, until it has no more."""
    moments = 0
    for call in calls.values():
        for n in SIZES:
            for disturbance in DISTURBANCES.values():
                for victim in "xyims":
                    for moment in range(20):
                        o = operands(n)
                        ALLOCATOR.countdown = moment
                        ALLOCATOR.disturb = lambda o=o, d=disturbance, v=victim: quietly(d, getattr(o, v))
                        quietly(call, o)
                        reached, ALLOCATOR.disturb = ALLOCATOR.disturb is None, None
                        look_at_exports()
                        moments += reached
                        if not reached:
                            break
                        if n == 200 and moment == 3:
                            break
    return moments


class Cycle:
    """Call a function when the collector finds this, and leave another one until a moment has come."""

    def __init__(self, disturb, left):
        self.disturb, self.left, self.me = disturb, left, self

    def __del__(self):
        if self.left == 0:
            FINALIZED.append(1)
            # In a context of its own: CPython 3.11 frees the variables of one that is set while a collection sets it.
            contextvars.copy_context().run(self.disturb)
        elif self.left > 0:
            Cycle(self.disturb, self.left - 1)


FINALIZED = []


def by_finalizer(calls):
    """By a finaliser that the first, second, … collection in a call runs."""
    FINALIZED.clear()
    gc.collect()
    gc.freeze()
    for call in calls.values():
        for n in SIZES:
            for disturbance in DISTURBANCES.values():
                for victim in "xym":
                    for moment in (0, 1, 2, 5):
                        o = operands(n)
                        before = len(FINALIZED)
                        gc.disable()
                        Cycle(lambda o=o, d=disturbance, v=victim: quietly(d, getattr(o, v)), moment)
                        gc.set_threshold(1)
                        gc.enable()
                        quietly(call, o)
                        gc.set_threshold(700)
                        look_at_exports()
                        if len(FINALIZED) == before or n == 200:
                            gc.collect()
                            break
    return len(FINALIZED)


def by_thread(calls, seconds):
    """By another thread, all the time."""
    moments = 0
    sys.setswitchinterval(1e-5)
    share = seconds / len(calls)
    for call in calls.values():
        stop = time.monotonic() + share
        o = operands(300)
        box = [o]
        done = threading.Event()

        def disturb(box=box, done=done):
            count = 0
            while not done.is_set():
                for disturbance in DISTURBANCES.values():
                    quietly(disturbance, getattr(box[0], "xyi"[count % 3]))
                    count += 1
                    if len(KEPT) > 20:
                        look_at_exports()
            COUNTS.append(count)

        thread = threading.Thread(target=disturb)
        thread.start()
        while time.monotonic() < stop:
            quietly(call, box[0])
            moments += 1
            box[0] = operands(300)
        done.set()
        thread.join()
        look_at_exports()
    return moments


COUNTS = []


def main():
    """Run one kind of disturbance over a part of the calls."""
    how, *rest = sys.argv[1:]
    seconds = float(rest[0]) if rest else 60
    part, parts = (int(number) for number in rest[1].split("/")) if len(rest) > 1 else (0, 1)
    names = sorted(CALLS)[part::parts]
    calls = {name: CALLS[name] for name in names}
    tensix.set_num_threads(2)
    with REGISTERED if how == "thread" else tensix.use_allocator(ALLOCATOR):
        if how == "thread":
            moments = by_thread(calls, seconds)
            print(f"{len(calls)} calls, {moments} times, {sum(COUNTS)} changes by another thread")
        else:
            kinds = {"allocator": by_allocator, "finalizer": by_finalizer}
            print(f"{len(calls)} calls, {kinds[how](calls)} moments by {how}, {len(DISTURBANCES)} changes")


class Registered:
    """Register the allocator for all threads."""

    def __enter__(self):
        self.before = tensix.get_allocator()
        tensix.set_allocator("cpu", ALLOCATOR)

    def __exit__(self, *_):
        tensix.set_allocator("cpu", self.before)


REGISTERED = Registered()

if __name__ == "__main__":
    main()
