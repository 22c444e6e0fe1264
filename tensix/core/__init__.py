"""Who owns bytes: counted targets, memory with deleters, allocators, storages, copy-on-write."""

from tensix.core import cow, raw
from tensix.core.allocator import Allocator, OutOfMemoryError, get_allocator, set_allocator, use_allocator
from tensix.core.cpu_allocator import CPUAllocator
from tensix.core.data_ptr import DataPtr
from tensix.core.device import Device, rename_privateuse1_backend
from tensix.core.format_size import format_size, parse_size
from tensix.core.intrusive_ptr import IntrusivePtr, make_intrusive
from tensix.core.intrusive_target import IntrusiveTarget
from tensix.core.memory_reports import MemoryReporter
from tensix.core.stat import Stat
from tensix.core.storage import Storage, make_storage_impl, set_storage_impl_create
from tensix.core.storage_impl import StorageImpl
from tensix.core.weak_intrusive_ptr import WeakIntrusivePtr

__all__ = [
    "Allocator", "CPUAllocator", "DataPtr", "Device", "IntrusivePtr", "IntrusiveTarget", "MemoryReporter",
    "OutOfMemoryError", "Stat", "Storage", "StorageImpl", "WeakIntrusivePtr", "cow", "format_size", "get_allocator",
    "make_intrusive", "make_storage_impl", "parse_size", "raw", "rename_privateuse1_backend", "set_allocator",
    "set_storage_impl_create", "use_allocator",
]
