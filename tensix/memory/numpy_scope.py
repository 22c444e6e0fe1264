"""Scopes in which NumPy's arrays lie in tensix's memory; ``numpy_memory.pyx`` is what NumPy then calls."""

import functools
import importlib

from numpy._core import _exceptions as numpy_exceptions

from tensix._support.argument_errors import names_signature
from tensix.core.allocator import Allocator
from tensix.memory.numpy_memory import failure_of, serve

__all__ = ["serve_numpy"]

SCOPES = []  # those that are open, the newest last


def load_globals():
    """Import the modules of NumPy that make lasting arrays: else the first call in a scope might import them."""
    importlib.import_module("numpy.ma")  # masked
    importlib.import_module("numpy.polynomial")


class serve_numpy:  # noqa: N801 - it reads as what it does
    """Let NumPy's arrays lie in tensix's memory, in all threads, from now on.

    Parameters
    ----------
    allocator : Allocator, optional
        Where blocks come from. If not given, each comes from the allocator in use when it is asked for: the innermost
        `use_allocator` of its thread, or the default.

    Raises
    ------
    TypeError
        If it is not an `Allocator`.

    Notes
    -----
    Use it as a context manager, as a decorator, ``@serve_numpy()``, or as a plain call that `close` ends. Scopes nest:
    the newest that is open serves. Statistics, profiles, recordings and limits then see arrays as they see tensors, and
    a block that is freed is used again with its pages. A handler that a program sets itself (NEP 49) stays in force.

    If there is no memory, NumPy raises its `MemoryError`, whose text ends in that of the allocator's; any other
    exception of the allocator is its cause.

    Lifetime: arrays may outlive the scope. Their blocks go back to the allocator that they came from, which they keep
    alive. Arrays that are older than the scope stay where they are.

    Thread-safety: a scope holds for all threads; any thread may open and close it.

    Examples
    --------
    >>> import numpy as np, tensix
    >>> with tensix.memory.serve_numpy(), tensix.memory.statistics() as s:
    ...     x = np.ones(1000)
    >>> s.current_bytes, x.ctypes.data % 64
    (8000, 0)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, allocator=None):
        if allocator is not None and not isinstance(allocator, Allocator):
            raise TypeError(
                f"serve_numpy() needs an Allocator or None, found {type(allocator).__name__}. "
                "As a decorator it is written with parentheses: @serve_numpy()."
            )
        self.allocator = allocator
        load_globals()
        open_scope(self)

    @property
    def is_open(self):
        """Whether it was not closed yet."""
        return self in SCOPES

    def close(self):
        """Let the scope below it serve again, or NumPy itself; harmless if it was closed."""
        if self in SCOPES:
            SCOPES.remove(self)
            serve_newest()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __call__(self, function):
        """Return a function that does the same and is served at every call; the scope itself ends."""
        self.close()
        importlib.import_module("tensix._support.argument_errors").check_runs_to_its_end(function, "serve_numpy")

        @functools.wraps(function)
        def call(*args, **kwargs):
            with serve_numpy(self.allocator):
                return function(*args, **kwargs)

        return call

    def __repr__(self):
        of = "" if self.allocator is None else repr(self.allocator)
        return f"<serve_numpy({of}), {'open' if self.is_open else 'closed'}>"


def serve_program():
    """Let NumPy's arrays lie in tensix's memory for as long as the process lives.

    Nothing is imported that the program does not import: what is alive before and after is not compared.
    """
    scope = serve_numpy.__new__(serve_numpy)
    scope.allocator = None
    open_scope(scope)


def open_scope(scope):
    """Let a scope serve, above those that are open."""
    name_the_reason()
    SCOPES.append(scope)
    serve_newest()


def serve_newest():
    """Let the newest scope serve, or NumPy itself."""
    serve(bool(SCOPES), SCOPES[-1].allocator if SCOPES else None)


def name_the_reason():
    """Let NumPy's error for an array without memory say what our allocator said."""
    error_class = numpy_exceptions._ArrayMemoryError
    if error_class.__str__ is text_with_reason:
        return
    initialise = error_class.__init__

    def initialise_with_reason(self, *args):
        initialise(self, *args)
        failure = failure_of(max(self._total_size, 1))
        if isinstance(failure, MemoryError):
            self.reason = str(failure)  # not as a cause: two tracebacks would say the same
        else:
            self.__cause__ = failure

    error_class.__init__, error_class.__str__ = initialise_with_reason, text_with_reason


def text_with_reason(error, text_of=numpy_exceptions._ArrayMemoryError.__str__):
    """Return what NumPy's error says, and why."""
    reason = getattr(error, "reason", error.__cause__)
    return text_of(error) if reason is None else f"{text_of(error)}: {reason}"
