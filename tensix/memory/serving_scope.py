"""What `serve_numpy` and `serve_torch` share: scopes in which another library's memory is tensix's."""

import functools
from importlib import import_module

from tensix.core.allocator import Allocator

__all__ = ["ServingScope"]


class ServingScope:
    """A scope that holds for all threads; of those that are open, the newest serves.

    A class of these says in `_serve` what to do, and returns whether it was done.
    """

    def __init_subclass__(cls):
        cls._open = []  # those that are open, the newest last

    def __init__(self, allocator=None):
        if allocator is not None and not isinstance(allocator, Allocator):
            name = type(self).__name__
            raise TypeError(
                f"{name}() needs an Allocator or None, found {type(allocator).__name__}. "
                f"As a decorator it is written with parentheses: @{name}()."
            )
        self.allocator = allocator
        self._open_it()

    @classmethod
    def serve_program(cls):
        """Let tensix serve for as long as the process lives, without importing anything that the program does not."""
        scope = cls.__new__(cls)
        scope.allocator = None
        scope._open_it()

    @property
    def is_open(self):
        """Whether it was not closed yet."""
        return self in self._open

    def close(self):
        """Let the scope below it serve again, or the library itself; harmless if it was closed."""
        if self in self._open:
            self._open.remove(self)
            self._serve_newest()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __call__(self, function):
        """Return a function that does the same and is served at every call; the scope itself ends."""
        self.close()
        import_module("tensix._support.argument_errors").check_runs_to_its_end(function, type(self).__name__)

        @functools.wraps(function)
        def call(*args, **kwargs):
            with type(self)(self.allocator):
                return function(*args, **kwargs)

        return call

    def __repr__(self):
        of = "" if self.allocator is None else repr(self.allocator)
        return f"<{type(self).__name__}({of}), {'open' if self.is_open else 'closed'}>"

    def _open_it(self):
        self._open.append(self)
        self._serve_newest()

    def _serve_newest(self):
        if not self._serve(bool(self._open), self._open[-1].allocator if self._open else None):
            self._open.clear()
