"""The memory of a test: measured, compared with what its marks allow, and told.

``pytest_tensix.py``, which stands beside the package, has pytest's hooks.
"""

import gc
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from math import inf
from types import TracebackType
from typing import Any, Self

from tensix.core import format_size, parse_size
from tensix.kernels.random import default_generator
from tensix.memory import serve_numpy
from tensix.memory.torch_scope import TorchWhenImported
from tensix.profiling.profiler import Profile
from tensix.profiling.recorder import record
from tensix.testing.leaks import assert_no_leaks

MAX_LINES = 5  # of a message
MAX_NAMED = 5  # modules

# What the first call that needs it makes, and what then stays, no test is to be blamed for: tensix seeds its generator.
# The modules that NumPy imports so are imported by `serve_numpy`.
default_generator.get_state()

Numbers = dict[str, Any]  # of a profile, or of one line of it


# The marks: their names and parameters, and what they demand of a test.


def limit_memory(memory_limit: int | str) -> int:
    """Return the most bytes in use at one time."""
    return parse_size(memory_limit)


def limit_leaks(location_limit: int | str) -> int:
    """Return the most bytes that a line may leave."""
    return parse_size(location_limit)


def no_leaks() -> bool:
    """Return that nothing may be left."""
    return True


def bounds_of(marks: dict[str, Any]) -> dict[str, Any]:
    """Return what the marks of a test allow, by their names.

    Raises
    ------
    TypeError, ValueError
        If a mark's arguments are not those of its function above.
    """
    functions = (limit_memory, limit_leaks, no_leaks)
    given = [(function, marks[function.__name__]) for function in functions if function.__name__ in marks]
    return {function.__name__: function(*mark.args, **mark.kwargs) for function, mark in given}


class MemoryOfTest:
    """Measure the arrays that are made in a scope, NumPy's and tensix's, and compare them with bounds.

    Parameters
    ----------
    limit_memory, limit_leaks : float, optional
        The most bytes in use at one time, and the most that a line may leave.
    no_leaks : bool, optional
        Whether nothing may be left.
    advises : bool, optional
        Whether it is recorded, too, so that `numbers` has advice.

    Attributes
    ----------
    problems : list of str
        Lines about what was not allowed. None after an exception, which says more.
    """

    def __init__(
        self, limit_memory: float = inf, limit_leaks: float = inf, no_leaks: bool = False, advises: bool = False
    ) -> None:
        self.limit_memory, self.limit_leaks, self.no_leaks = limit_memory, limit_leaks, no_leaks
        self.problems: list[str] = []
        self._profile = Profile(quiet=True)
        self._recording = record() if advises else None
        self._targets: AbstractContextManager[None] = assert_no_leaks() if no_leaks else nullcontext()

    def __enter__(self) -> Self:
        with ExitStack() as scopes:
            scopes.enter_context(serve_numpy())
            self._modules = set(sys.modules)
            scopes.enter_context(TorchWhenImported())
            scopes.enter_context(self._profile)
            if self._recording is not None:
                scopes.enter_context(self._recording)
            self._targets.__enter__()
            self._scopes = scopes.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._scopes:
            targets = []
            try:
                self._targets.__exit__(kind, error, traceback)
            except AssertionError as leak:
                targets = [str(leak)]
            if kind is None:
                self.problems = [*self._peak(), *self._left(), *targets]

    def numbers(self, count: int = 0) -> Numbers:
        """Return what was measured, with so many lines, the highest peak first; 0 means all."""
        measured = self._profile.as_dict()
        advice = [] if self._recording is None else self._recording.snapshot(holders=False).advice()
        saved = {"advice": [(one.saves, one.text) for one in advice]}
        return {**measured, "rows": measured["rows"][: count or None], **saved}

    def _peak(self) -> Iterator[str]:
        """Yield what was in use at one time, if that was too much."""
        measured = self._profile.as_dict()
        excess = measured["peak_bytes"] - self.limit_memory
        if excess > 0:
            yield (
                f"limit_memory: {format_size(int(self.limit_memory))} are allowed, "
                f"{format_size(measured['peak_bytes'])} were in use at one time, {excess:,} bytes too many. "
                "The most that lines had:"
            )
            yield from table((row["peak_bytes"], row) for row in measured["rows"])

    def _left(self) -> Iterator[str]:
        """Yield what is alive and should not be, after Python's collector ran."""
        if (self.no_leaks or self.limit_leaks < inf) and self._profile.as_dict()["current_count"]:
            gc.collect()
        left = [(row["current_bytes"], row) for row in self._profile.as_dict()["rows"] if row["current_count"]]
        too_much = [entry for entry in left if entry[0] > self.limit_leaks]
        if too_much:
            yield f"limit_leaks: a line may leave {format_size(int(self.limit_leaks))}. More than that is alive of:"
            yield from table(too_much)
        if self.no_leaks and left:
            yield f"no_leaks: {format_size(sum(size for size, _ in left))} that the test asked for are still alive:"
            yield from table(left)
        if too_much or (self.no_leaks and left):
            yield from self._imports()

    def _imports(self) -> Iterator[str]:
        """Yield a hint if modules were imported: what they made stays alive, and the test does not leak it."""
        imported = set(sys.modules) - self._modules
        packages = sorted(name for name in imported if name.rpartition(".")[0] not in imported)
        if packages:
            more = ", ..." if len(packages) > MAX_NAMED else ""
            yield (
                f"This test was the first to import {', '.join(packages[:MAX_NAMED])}{more}. What a module makes when "
                "it is imported stays alive: if this is that, import it at the top of the file."
            )


def table(entries: Iterable[tuple[int, Numbers]]) -> Iterator[str]:
    """Yield a line for each size and what it is of, the largest first."""
    ordered = sorted(entries, key=lambda entry: -entry[0])
    for size, row in ordered[:MAX_LINES]:
        yield f"{format_size(size):>15}  {place_of(row)}"
    if len(ordered) > MAX_LINES:
        yield f"{'':>15}  and {len(ordered) - MAX_LINES} more"


def place_of(row: Numbers) -> str:
    """Return where a line is; below the current directory as a path from there."""
    file = row["file"].removeprefix(os.getcwd() + os.sep)
    return f"{file}:{row['line']} in {row['function']}"


def report_of(tests: dict[str, Numbers], count: int) -> Iterator[str]:
    """Yield the lines of a report: the tests that took most at one time, and the lines that did.

    Parameters
    ----------
    tests : dict
        What tests took, by their names.
    count : int
        How many of each to show; 0 means all.
    """
    lines: dict[str, tuple[str, Numbers]] = {}
    for test, measured in tests.items():
        for row in measured["rows"]:
            place = place_of(row)
            if place not in lines or row["peak_bytes"] > lines[place][1]["peak_bytes"]:
                lines[place] = f"{place}  ({test})", row
    for head, entries in (("test", tests.items()), ("line, and its dearest test", lines.values())):
        yield f"{'peak':>12} {'total':>12} {'count':>9}  {head}"
        for name, row in sorted(entries, key=lambda entry: -entry[1]["peak_bytes"])[: count or None]:
            peak, total = format_size(row["peak_bytes"]), format_size(row["total_bytes"])
            yield f"{peak:>12} {total:>12} {row['total_count']:>9,}  {name}"
    advised = [(test, measured["advice"]) for test, measured in tests.items() if measured["advice"]]
    for test, advice in sorted(advised, key=lambda entry: -entry[1][-1][0])[: count or None]:
        yield f"{format_size(advice[-1][0]):>12} less at the peak of {test}:"
        yield from (f"{'':>12} {text}" for _, text in advice)
