"""Who owns bytes: counted targets, memory with deleters, allocators, storages, copy-on-write."""

from typing import TYPE_CHECKING

import tensix.core.free_threading  # noqa: F401 - first: see Note [Stopping others and forks] there
from tensix._support.format_size import format_size, parse_size
from tensix._support.loaded_later import loaded_later
from tensix.core.allocator import Allocator, OutOfMemoryError, get_allocator, set_allocator, use_allocator
from tensix.core.cpu_allocator import CPUAllocator
from tensix.core.data_ptr import DataPtr
from tensix.core.device import Device, rename_privateuse1_backend
from tensix.core.intrusive_ptr import IntrusivePtr, make_intrusive
from tensix.core.intrusive_target import IntrusiveTarget
from tensix.core.memory_reports import MemoryReporter
from tensix.core.storage import (
    NullError,
    Storage,
    get_storage_impl_create,
    make_storage_impl,
    set_storage_impl_create,
)
from tensix.core.storage_impl import StorageImpl
from tensix.core.weak_intrusive_ptr import WeakIntrusivePtr

if TYPE_CHECKING:
    from tensix.core import cow, raw
    from tensix.core.stat import Stat

__all__ = [
    "Allocator", "CPUAllocator", "DataPtr", "Device", "IntrusivePtr", "IntrusiveTarget", "MemoryReporter",
    "NullError", "OutOfMemoryError", "Stat", "Storage", "StorageImpl", "WeakIntrusivePtr", "cow", "format_size",
    "get_allocator", "get_storage_impl_create", "make_intrusive", "make_storage_impl", "parse_size", "raw",
    "rename_privateuse1_backend", "set_allocator", "set_storage_impl_create", "use_allocator",
]

# Name -> the module that has it, None for a module of that name: few programs ask for counts and contexts.
LOADED_LATER = {"Stat": "stat", "cow": None, "raw": None}
if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, LOADED_LATER)
