"""How long works take that take turns, and the process that measures rows."""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from timeit import Timer

from benchmarks.public_calls import LIBRARIES, all_rows, operands

__all__ = ["Work", "best_times", "statement"]

Work = Callable[[int], object]  # does it so many times

ROUND_SECONDS = 2e-3  # of one side: long against the clock's grain, short against a burst of noise


def statement(code: str, **names) -> Work:
    """Return the work of running Python code in a loop that costs next to nothing."""
    return Timer(code, globals=names).timeit


def best_times(works: list[Work], rounds: int) -> list[float]:
    """Return the seconds of one execution of each work, the best of rounds in which they take turns.

    Noise only ever adds time, so the best round says most.
    """
    repeats = [calibrated(work) for work in works]
    best = [math.inf] * len(works)
    for _ in range(rounds):
        for i, (work, repeat) in enumerate(zip(works, repeats, strict=True)):
            best[i] = min(best[i], elapsed(work, repeat) / repeat)
    return best


def calibrated(work: Work) -> int:
    """Return how often to do the work so that a round takes long enough to be measured.

    The first time does not count: it may load and prepare what all others find.
    """
    work(1)
    repeat = 1
    while elapsed(work, repeat) < ROUND_SECONDS:
        repeat *= 2
    return repeat


def elapsed(work: Work, repeat: int) -> float:
    """Return the seconds that a work takes."""
    start = time.perf_counter()
    work(repeat)
    return time.perf_counter() - start


def main():
    """Measure what the standard input asks for, and print a line of JSON for each row and size as it is done.

    The process is one of its own because libraries for linear algebra read the number of their threads when they are
    loaded.
    """
    asked = json.load(sys.stdin)
    warnings.simplefilter("ignore")  # logarithms of zero and their like are measured like all others
    libraries = ["tensix", *asked["against"]]
    for library in {"tensix", "torch"} & set(libraries):  # NumPy's threads are those of its linear algebra
        import_module(library).set_num_threads(asked["threads"])
    rows = [row for row in all_rows() if row.name in asked["rows"]]
    for size in asked["sizes"]:
        names = {library: operands(library, *size, asked["dtype"]) for library in libraries}
        for row in rows:
            codes = {library: code for library, code in row.codes().items() if library in libraries}
            works = [statement(code, **names[library]) for library, code in codes.items()]
            seconds = best_times(works, asked["rounds"])
            measured = {"name": row.name, "chapter": row.chapter, "size": size, **dict.fromkeys(LIBRARIES)}
            print(json.dumps({**measured, **dict(zip(codes, seconds, strict=True))}), flush=True)


if __name__ == "__main__":
    main()
