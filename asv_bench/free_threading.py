"""Print what two threads do in the time of one: tensors and arrays of their own, on any build of CPython.

``python asv_bench/free_threading.py``. Each row is the best of nine, one and two threads in turn. 2.00 is what two free
cores can give; the first row, a loop of Python alone, shows what they give now.
"""

import sys
import threading
import time

import numpy as np

import tensix

ROUNDS, REPEATS = 20_000, 9


def plain():
    total = 0
    for number in range(10 * ROUNDS):
        total += number & 7


def tensors():
    for _ in range(ROUNDS):
        x = tensix.empty(3, 4)
        y = x[0]
        z = x + x
        c = z.clone()
        del x, y, z, c


def empties():
    for _ in range(4 * ROUNDS):
        tensix.empty(3)


def arrays():
    for _ in range(4 * ROUNDS):
        np.empty(30)


def seconds(work, count):
    """Return how long so many threads take that begin together."""
    barrier = threading.Barrier(count + 1)

    def run():
        barrier.wait()
        work()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    barrier.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def show(name, work):
    work()
    one, two = zip(*[(seconds(work, 1), seconds(work, 2)) for _ in range(REPEATS)], strict=True)
    print(f"{name:<44} {min(one) * 1e3:8.1f} ms {min(two) * 1e3:8.1f} ms {2 * min(one) / min(two):6.2f}")


def main():
    gil = "off" if not getattr(sys, "_is_gil_enabled", lambda: True)() else "on"
    print(f"CPython {sys.version.split()[0]}, GIL {gil}")
    print(f"{'':<44} {'one':>11} {'two':>11} {'scale':>6}")
    show("a loop of Python", plain)
    show("empty, view, add, clone, drop", tensors)
    show("tensix.empty(3)", empties)
    show("np.empty(30)", arrays)
    with tensix.memory.serve_numpy():
        show("np.empty(30), served", arrays)


if __name__ == "__main__":
    main()
