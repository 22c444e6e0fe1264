"""Copies of tensors by Python's own `copy` module.

Note [Deep copies]
~~~~~~~~~~~~~~~~~~
What is one before a deep copy is one afterwards: tensors that share a storage share a copy of the whole storage, and
handles on one body share its copy. Each is entered in the memo under the ``id`` of the original, which the tensors that
`copy.deepcopy` keeps alive keep alive. A read-only storage stays read-only; `Tensor.clone` makes a writable copy.
"""

import copy

import cython
from cython.cimports.tensix.core.free_threading import TX_COUNT
from cython.cimports.tensix.core.handle import own_new, retain
from cython.cimports.tensix.core.storage import Storage, Storage_from_owned
from cython.cimports.tensix.core.storage_impl import StorageImpl
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.sparse_tensor_impl import SparseTensorImpl, SparseTensorImpl_new
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl, TensorImpl_adopt, TensorImpl_check_bounds, TensorImpl_shallow_copy, TensorImpl_shape,
)

from tensix.dispatch import native_functions

DETACH = cython.declare(OperatorTable, native_functions.DETACH)


def copy_of(tensor: TensorBase):
    """Return a tensor of the same class with a body of its own over the same elements."""
    made = handle_like(tensor)
    if isinstance(tensor.impl, SparseTensorImpl):
        own(made, sparse_body(tensor.impl, tensor.impl.indices, tensor.impl.values))
    elif tensor.impl is not UNDEFINED:
        detached: TensorBase = DETACH.call1(tensor)
        share(made, detached.impl)
    attributes = getattr(tensor, "__dict__", None)
    if attributes:
        made.__dict__.update(attributes)
    return made


def deep_copy_of(tensor: TensorBase, memo: dict):
    """Return a tensor of the same class whose elements are its own. See Note [Deep copies]."""
    impl = tensor.impl
    made = handle_like(tensor)
    memo[id(tensor)] = made  # before anything that may lead back here is copied
    known: TensorBase | None = memo.get(id(impl))
    if known is not None:
        share(made, known.impl)
    elif impl is not UNDEFINED:
        if isinstance(impl, SparseTensorImpl):
            own(made, sparse_body(impl, copy.deepcopy(impl.indices, memo), copy.deepcopy(impl.values, memo)))
        else:
            own(made, deep_copy_of_strided(impl, memo))
        memo[id(impl)] = made
        if impl.autograd_meta is not None:
            made.impl.autograd_meta = copy.deepcopy(impl.autograd_meta, memo)
    attributes = getattr(tensor, "__dict__", None)
    if attributes:
        made.__dict__.update(copy.deepcopy(attributes, memo))
    return made


@cython.cfunc
def handle_like(tensor: TensorBase) -> TensorBase:
    """Return an undefined tensor of the same class."""
    cls = type(tensor)
    return cls.__new__(cls)


@cython.cfunc
@cython.exceptval(check=False)
def own(handle: TensorBase, body: TensorImpl) -> cython.void:
    """Make an undefined tensor the first owner of a body."""
    own_new(body)
    handle.impl = body


@cython.cfunc
@cython.exceptval(check=False)
def share(handle: TensorBase, body: TensorImpl) -> cython.void:
    """Make an undefined tensor a further owner of a body."""
    retain(body)
    handle.impl = body


@cython.cfunc
def deep_copy_of_strided(impl: TensorImpl, memo: dict) -> TensorImpl:
    """Return a body without owners over a copy of the storage."""
    retain(impl.storage)
    source = Storage_from_owned(cython.cast(StorageImpl, impl.storage))
    TX_COUNT(impl.uses, 1)  # See Note [Operands in use]
    try:
        storage: Storage = source.__deepcopy__(memo)
    finally:
        TX_COUNT(impl.uses, -1)
    body = TensorImpl_shallow_copy(impl)
    retain(storage.target)
    TensorImpl_adopt(body, storage.target)
    TensorImpl_check_bounds(body)  # the original's storage may have been resized before or after it was copied
    return body


@cython.cfunc
def sparse_body(impl: SparseTensorImpl, indices, values) -> TensorImpl:
    """Return a body without owners that is as a sparse one, but for its indices and values."""
    return SparseTensorImpl_new(TensorImpl_shape(impl), indices, values, impl.is_coalesced)
