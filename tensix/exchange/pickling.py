"""Pickles of tensors: bytes out of band from protocol 5 on, in band before.

Note [What a pickle holds]
~~~~~~~~~~~~~~~~~~~~~~~~~~
A tensor whose elements lie without gaps, in whatever order, is pickled as the bytes between its first and its last
element, and its strides. So nothing is copied on the way, and of a large storage only what the tensor refers to. With
gaps, the elements are copied row by row first; bytes that are shared copy-on-write are copied too, and stay shared.
Tensors of one pickle that share the same bytes, such as ``x`` and ``x.T``, share them again when they are loaded; what
overlaps only in part does not.

The order of bytes is that of the machine, which the pickle names; machines of the other order refuse it.

Between pickle and tensor stands a `StorageState`, of which there is one per span of bytes: pickle knows objects by
identity, and so finds it again. What it loads in its place is a `Storage`.
"""

import functools
import pickle
import sys
import weakref
from importlib import import_module

import cython
from cython.cimports.cpython.bytes import PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.cimports.libc.stdint import uintptr_t
from cython.cimports.libc.string import memcpy
from cython.cimports.tensix.core.cow_context import cow_is_cow
from cython.cimports.tensix.core.device import CPU, META
from cython.cimports.tensix.core.handle import retain
from cython.cimports.tensix.core.storage import Storage, Storage_from_owned
from cython.cimports.tensix.core.storage_impl import StorageImpl, StorageImpl_const_data, StorageImpl_mutable_data
from cython.cimports.tensix.exchange.buffer import impl_of_buffer
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_is_dense

from tensix.tensors.dtype import uint8

STATES = cython.declare(object, weakref.WeakValueDictionary())  # (storage's address, start, nbytes) -> StorageState
ALIGNMENT_BYTES = 8  # of the largest element


def reduce_tensor(tensor):
    """Return how a tensor is made again, for pickle."""
    impl = tensor.impl
    if impl is UNDEFINED:
        return type(tensor), ()
    if impl.storage is None:
        return tensor.__array_namespace__().sparse_coo_tensor, (tensor.indices(), tensor.values(), tensor.shape)
    if impl.device_type == META:
        make = functools.partial(tensor.__array_namespace__().empty_strided, dtype=tensor.dtype, device=tensor.device)
        return make, (tensor.shape, tensor.stride())
    if impl.device_type != CPU:
        return tensor.__array_namespace__().Tensor.to_device, (tensor.cpu(), tensor.device)
    source = tensor
    if not TensorImpl_is_dense(impl):
        source = tensor.contiguous()
        if tensor.readonly:
            source.storage().readonly = True
    itemsize = source.itemsize
    state = state_of(source.storage(), source.storage_offset() * itemsize, source.nbytes, source.from_storage)
    return source.from_storage, (state, 0, source.shape, source.stride(), source.dtype)


def state_of(storage, start, nbytes, make_tensor):
    """Return the object for a span of bytes, the same one as long as a pickle holds it."""
    key = (cython.cast(uintptr_t, cython.cast(cython.p_void, storage.target)), start, nbytes)
    state = STATES.get(key)
    if state is None:
        state = StorageState(storage, start, nbytes, make_tensor)
        STATES[key] = state
    return state


@cython.cclass
class StorageState:
    """Represent a span of a storage's bytes in a pickle. See Note [What a pickle holds]."""

    def __init__(self, storage: Storage, start: cython.size_t, nbytes: cython.size_t, make_tensor):
        self.storage, self.start, self.nbytes, self.make_tensor = storage, start, nbytes, make_tensor

    def __reduce_ex__(self, protocol):
        block = cython.address(cython.cast(StorageImpl, self.storage.target).block)
        if protocol >= 5 and not cow_is_cow(block):  # a buffer could be written, and so would end copy-on-write
            elements = self.make_tensor(self.storage, self.start, (self.nbytes,), (1,), uint8)
            return _storage_over, (pickle.PickleBuffer(elements), sys.byteorder)
        check_span(self)
        data = cython.cast(cython.p_char, cython.cast(cython.p_void, StorageImpl_const_data(self.storage.target)))
        span = PyBytes_FromStringAndSize(data + self.start if self.nbytes else cython.NULL, self.nbytes)
        return _storage_of_bytes, (span, self.storage.readonly, sys.byteorder)

    def __dask_tokenize__(self):
        """Return a hash of the bytes, which stay shared copy-on-write if they are."""
        elements = self.make_tensor(self.storage, self.start, (self.nbytes,), (1,), uint8)
        if cow_is_cow(cython.address(cython.cast(StorageImpl, self.storage.target).block)):
            elements = elements.lazy_clone()
            elements.storage().readonly = True
        return import_module("dask.hashing").hash_buffer_hex(elements)


@cython.cfunc
@cython.exceptval(-1)
def check_span(self: StorageState) -> cython.int:
    """Check that the storage, which may have been resized meanwhile, still has the bytes."""
    found = self.storage.nbytes()
    if self.nbytes > found or self.start > found - self.nbytes:
        raise RuntimeError(
            f"cannot pickle bytes {self.start:,} to {self.start + self.nbytes:,} of a storage that has {found:,} bytes."
        )
    return 0


def _storage_over(buffer, byteorder):
    """Return a storage over a buffer, read-only if that is; copied only where elements would not be aligned.

    Parameters
    ----------
    buffer : object with the buffer protocol
        Contiguous; kept by the storage.
    byteorder : str
        Of the machine where the pickle was made.

    Raises
    ------
    ValueError
        If that is not the order of this machine.
    """
    check_order(byteorder)
    impl = impl_of_buffer(buffer if type(buffer) is bytes else pickle.PickleBuffer(buffer).raw())
    storage = cython.cast(StorageImpl, impl.storage)
    if cython.cast(uintptr_t, storage.block.data) % ALIGNMENT_BYTES:
        return copied(storage.block.data, storage.size_bytes, storage.is_readonly)
    retain(storage)
    return Storage_from_owned(storage)


def _storage_of_bytes(data: bytes, readonly: bool, byteorder):
    """Return a storage with a copy of bytes, or over them if they may not be written."""
    if readonly:
        return _storage_over(data, byteorder)
    check_order(byteorder)
    return copied(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), False)


@cython.cfunc
def check_order(byteorder):
    if byteorder != sys.byteorder:
        raise ValueError(
            f"the pickle holds elements of a {byteorder}-endian machine, and this one is {sys.byteorder}-endian. Hand "
            "tensors over in a file of tensix.save(): those are read everywhere."
        )


@cython.cfunc
def copied(data: cython.p_void, nbytes: cython.size_t, is_readonly: cython.bint):
    storage: Storage = Storage(nbytes)
    if nbytes:
        memcpy(StorageImpl_mutable_data(storage.target), data, nbytes)
    if is_readonly:
        storage.readonly = True
    return storage


_storage_over.__module__ = _storage_of_bytes.__module__ = "tensix"  # pickles name no module but the package
