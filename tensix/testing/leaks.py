"""Finding targets that were never released: tensors, storages, and whatever else handles own."""

import functools
from collections import defaultdict
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tensix._support.argument_errors import check_runs_to_its_end, names_signature
from tensix.core import IntrusiveTarget, StorageImpl, format_size, raw
from tensix.core.memory_facts import facts_of_storage
from tensix.core.target_watcher import TargetWatcher
from tensix.tensors.tensor_impl import TensorImpl
from tensix.testing.cycles import strong_cycles

__all__ = ["assert_no_leaks"]

MAX_NAMED = 5  # of a class
P = ParamSpec("P")
R = TypeVar("R")


class assert_no_leaks:  # noqa: N801 - it reads as what it does
    """Check that no tensor, storage or other target that is made inside a scope is alive at its end.

    Raises
    ------
    AssertionError
        If one is, after Python's collector ran. The text names the classes, sizes of storages, and cycles of strong
        pointers with their members.
    TypeError
        If it decorates a generator or coroutine function, of which a call returns before the body runs.

    Notes
    -----
    A name that is given inside the scope lives on after it and keeps its tensor: ``del`` it, or decorate a function,
    whose names go with it. If the scope is left by an exception, nothing is checked.

    Lifetime: bodies of the dead are kept for a while, bytes are not. A target counts as alive while it has an owner, or
    a weak count that no handle holds.

    Thread-safety: targets that other threads make meanwhile are watched too.

    While no scope is open it costs one load and one branch per target made, and nothing when they go.

    Examples
    --------
    >>> from tensix.testing import assert_no_leaks
    >>> with assert_no_leaks():
    ...     total = float(tensix.ones(100).sum())
    >>> kept = []
    >>> with assert_no_leaks():
    ...     kept.append(tensix.Storage(100))
    Traceback (most recent call last):
    AssertionError: 1 target that was made here is still alive:
        1 StorageImpl, 100 bytes: use_count 1
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self) -> None:
        self._open: list[TargetWatcher] = []

    def __enter__(self) -> None:
        watcher = TargetWatcher()
        watcher.__enter__()
        self._open.append(watcher)

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        watcher = self._open.pop()
        try:
            survivors = watcher.survivors() if kind is None else []
        finally:
            watcher.__exit__(None, None, None)
        if survivors:
            raise AssertionError(describe(survivors))

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that does the same and is checked at every call."""
        check_runs_to_its_end(function, "assert_no_leaks")

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with assert_no_leaks():
                return function(*args, **kwargs)

        return call


def describe(survivors: list[IntrusiveTarget]) -> str:
    """Return the text for targets that are alive although they should not be."""
    by_class = defaultdict(list)
    for target in survivors:
        by_class[type(target)].append(target)
    those = "targets that were made here are" if len(survivors) > 1 else "target that was made here is"
    lines = [f"{len(survivors)} {those} still alive:"]
    classes = sorted(by_class, key=lambda cls: cls.__qualname__)
    lines += ["    " + describe_class(cls, by_class[cls]) for cls in classes]
    cycles = strong_cycles(survivors)
    if cycles:
        lines.append("cycles of strong pointers:")
        lines += [f"    {cycle}" for cycle in cycles]
    return "\n".join(lines)


def describe_class(cls: type, targets: list[IntrusiveTarget]) -> str:
    """Return the line for the targets of a class."""
    size = ""
    if issubclass(cls, StorageImpl):
        living = filter(raw.use_count, targets)  # an expired one has given its bytes back
        size = f", {format_size(sum(facts_of_storage(target)['nbytes'] for target in living))}"
    named = "; ".join(map(describe_target, targets[:MAX_NAMED]))
    more = f"; and {len(targets) - MAX_NAMED} more" if len(targets) > MAX_NAMED else ""
    return f"{len(targets)} {cls.__qualname__}{size}: {named}{more}"


def describe_target(target: IntrusiveTarget) -> str:
    """Return what tells one target from another of its class."""
    count = raw.use_count(target)
    if isinstance(target, StorageImpl) and facts_of_storage(target)["exports"] == count > 0:
        return "no handle, exported to arrays, buffers or DLPack tensors"
    if count == 0:
        return "expired, kept by weak counts that no handle holds"
    if isinstance(target, TensorImpl):
        return f"{target.dtype} {target.shape}, use_count {count}"
    return f"use_count {count}"
