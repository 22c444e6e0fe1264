"""A deleter that remembers what it was asked to delete."""

from _ctypes import FUNCFLAG_CDECL, CFuncPtr
from ctypes import c_void_p
from typing import Self

__all__ = ["DeleteTracker"]


class DeleteTracker(CFuncPtr):
    """Deleter that records its calls and frees nothing.

    It is a C function made by `ctypes`, so it goes wherever a deleter goes. It is callable from Python too, so it goes
    to `DataPtr.from_callable`.

    Attributes
    ----------
    calls : list of int
        The contexts it was called with, in order.

    Notes
    -----
    Lifetime: a `DataPtr` keeps its deleter alive.

    Thread-safety: it may be called on any thread.

    Examples
    --------
    >>> from tensix import DataPtr, Storage
    >>> from tensix.testing import DeleteTracker
    >>> tracker = DeleteTracker()
    >>> storage = Storage.from_data_ptr(8, DataPtr(0x1000, 0x2000, tracker))
    >>> storage.reset()
    >>> [hex(context) for context in tracker.calls]
    ['0x2000']
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    _flags_ = FUNCFLAG_CDECL
    _restype_ = None
    _argtypes_ = (c_void_p,)
    calls: list[int]

    def __new__(cls) -> Self:
        calls: list[int] = []
        self = super().__new__(cls, lambda context: calls.append(context or 0))  # ctypes says None for null
        self.calls = calls
        return self
