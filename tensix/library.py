"""Operators and kernels from outside: everything a `Library` registers is undone when it closes."""

import weakref
from collections.abc import Callable
from typing import Any, Self, TypeVar

from tensix._support.argument_errors import names_signature
from tensix.dispatch import DispatchKey, OperatorTable, dispatcher
from tensix.dispatch.kernel import Kernel

__all__ = ["Library"]


def __dir__():
    return sorted(__all__)  # what a shell offers: not what the functions here are made of


Implementation = TypeVar("Implementation", bound=Kernel | Callable[..., Any])


class Library:
    """Declare operators in a namespace, implement existing ones, set fallbacks; undo it all on `close`.

    Parameters
    ----------
    namespace : str
        Where `define` declares, and where `impl` looks for operators named without one; tensix's own operators are
        in ``tensix``.

    Notes
    -----
    Lifetime: what is registered stays until `close()`, the end of a ``with`` block, or the death of the library.

    Examples
    --------
    >>> from tensix.library import Library
    >>> with Library("demo") as library:
    ...     _ = library.define("twice(Tensor self) -> Tensor")
    ...     _ = library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")
    ...     tensix.ops.demo.twice(tensix.ones(2))
    tensor([2., 2.])
    """

    @names_signature
    def __init__(self, namespace: str) -> None:
        if not isinstance(namespace, str) or not namespace.isidentifier():
            raise ValueError(f"a namespace is a Python identifier, found {namespace!r}.")
        self.namespace = namespace
        self._owner = repr(self)  # one string, by which what this library registers is distinguished from others'
        self._undo: list[Callable[[], object]] = []  # callables, in the order of registration
        self.close = weakref.finalize(self, undo_all, self._undo)
        self.close.atexit = False

    def define(self, schema: str) -> OperatorTable:
        """Declare an operator.

        Parameters
        ----------
        schema : str
            Such as ``"twice(Tensor self) -> Tensor"``.

        Returns
        -------
        OperatorTable
            Its table, still empty.

        Raises
        ------
        RuntimeError
            If an operator of this name and overload is there; the text names both.
        """
        self._check_open()
        table: OperatorTable | None = None
        # First how it is undone: afterwards there might be no memory for that.
        self._undo.append(lambda: table is None or dispatcher.undefine(table))
        table = dispatcher.define(schema, self.namespace, repr(self))
        return table

    def impl(
        self, op: str, fn: Implementation, key: DispatchKey | str = "CompositeImplicitAutograd", *,
        allow_override: bool = False,
    ) -> Implementation:  # fmt: skip
        """Implement an operator for a dispatch key.

        Parameters
        ----------
        op : str
            Name, with or without namespace and overload.
        fn : callable
            Called with the operator's arguments; ``tensix.dispatch.fallthrough`` masks the key out.
        key : str or DispatchKey, optional
            Such as ``"CPU"``; the default serves every key.
        allow_override : bool, optional
            Whether to override a kernel that is there, until this library closes.

        Returns
        -------
        callable
            `fn`, so that it can be used as a decorator's last step.

        Raises
        ------
        RuntimeError
            If there is no such operator, or the key has a kernel; the text names both registrations.
        """
        self._check_open()
        table = dispatcher.get_op_table(op if "::" in op else f"{self.namespace}::{op}")
        kernel: Kernel | None = None
        owner = self._owner
        self._undo.append(lambda: kernel is None or table.unregister(key, kernel, owner))
        kernel = table.register(key, fn, owner=owner, allow_override=allow_override)
        return fn

    def fallback(self, fn: Kernel | Callable[..., Any], key: DispatchKey | str) -> None:
        """Serve every operator that has no kernel for a key.

        Parameters
        ----------
        fn : callable
            Called ``fn(op, *args, **kwargs)`` with the operator's table, or ``tensix.dispatch.fallthrough``.
        key : str or DispatchKey
            Such as ``"PrivateUse1"``.

        Raises
        ------
        RuntimeError
            If the key has a fallback.
        ValueError
            If the key is an alias: it has no slot.
        """
        self._check_open()
        if fn is None:  # the dispatcher would take another library's fallback back
            raise TypeError("a fallback must be callable, found NoneType.")
        is_set = False
        self._undo.append(lambda: is_set and dispatcher.set_fallback(key, None))
        dispatcher.set_fallback(key, fn)
        is_set = True

    def _check_open(self) -> None:
        if not self.close.alive:
            raise RuntimeError(f"{self!r} is closed: make a new Library.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        undo_all(self._undo)  # by itself, for a finalizer that there is no memory to call is not called again
        self.close()

    def __repr__(self) -> str:
        return f"Library({self.namespace!r})"


def undo_all(undo: list[Callable[[], object]]) -> None:
    """Undo registrations, the newest first."""
    while undo:
        step = undo.pop()
        try:
            step()
        except MemoryError:  # of Python; what was given back meanwhile may be enough
            step()
