"""The handle on a tensor, without operators: what the dispatcher needs to know of tensors, and what they are.

PyTorch splits ``at::Tensor`` in the same way: operators are methods of the full class, and the dispatcher, which
they call, must not need that class.
"""

import cython
from cython.cimports.libc.stdint import uint64_t, uintptr_t
from cython.cimports.tensix.core.cow_context import cow_is_cow
from cython.cimports.tensix.core.device import Device_get
from cython.cimports.tensix.core.handle import drop, retain
from cython.cimports.tensix.core.intrusive_target import use_count, weak_use_count
from cython.cimports.tensix.core.storage import Storage_from_owned
from cython.cimports.tensix.dispatch.dispatch_key import bits_of_key
from cython.cimports.tensix.tensors.dtype import dtype_of_code, itemsize_of
from cython.cimports.tensix.tensors.memory_format import (
    TensorImpl_is_channels_last,
    TensorImpl_is_contiguous_in,
    memory_format_from_any,
)
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_new,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_stride,
    TensorImpl_strides,
    int64_of,
    wrap_dim,
)

from tensix.core.weak_intrusive_ptr import WeakIntrusivePtr
from tensix.tensors.layout import sparse_coo, strided
from tensix.tensors.memory_format import channels_last, channels_last_3d, contiguous_format

__all__ = []

SPARSE = cython.declare(uint64_t, bits_of_key("SparseCPU") & ~bits_of_key("CPU"))  # the functionality alone

UNDEFINED = TensorImpl_new(46, 0, 1)  # the null of tensors: one dimension of size 0, no dtype, no keys
TensorImpl_sizes(UNDEFINED)[0] = 0
TensorImpl_strides(UNDEFINED)[0] = 1
UNDEFINED.device_index = -1  # as that of tensors whose device was not told


@cython.no_gc  # a body takes no part in collection either
@cython.cclass
class TensorBase:
    """Own a tensor's body with one strong count, and say what it is.

    Attributes
    ----------
    impl : TensorImpl
        The bare body; of an undefined tensor, the one body that all of those share.
    """

    def __cinit__(self):
        self.impl = UNDEFINED

    def __dealloc__(self):
        if self.impl is not UNDEFINED:
            drop(self.impl)

    # ---- what it is

    @property
    def shape(self):
        """The sizes, a tuple of ints."""
        return TensorImpl_shape(self.impl)

    @property
    def dtype(self):
        """The element type."""
        return dtype_of_code(self.impl.dtype_code)

    @property
    def device(self):
        """Where the elements are."""
        return Device_get(self.impl.device_type, self.impl.device_index)

    @property
    def layout(self):
        """How the elements are kept: `strided` or `sparse_coo`."""
        return sparse_coo if self.impl.key_set & SPARSE else strided

    @property
    def ndim(self):
        """The number of dimensions."""
        return self.impl.ndim

    @property
    def size(self):
        """The number of elements."""
        return self.impl.numel

    @property
    def itemsize(self):
        """Bytes per element."""
        return itemsize_of(self.impl.dtype_code)

    @property
    def nbytes(self):
        """Bytes of all elements, gaps not counted."""
        return int(self.impl.numel) * int(self.itemsize)  # Python ints: an expanded tensor may exceed 63 bits

    @property
    def readonly(self):
        """Whether writing is refused."""
        return self.impl.storage is not None and self.impl.storage.is_readonly != 0

    @property
    def version(self):
        """How often the elements, or others in the same storage, were written in place; all views see the same."""
        return self.impl.version

    @property
    def allocator(self):
        """Who made the memory, or None for memory from outside."""
        return None if self.impl.storage is None else self.impl.storage.owner

    def numel(self):
        """Return the number of elements."""
        return self.impl.numel

    def stride(self, dim=None):
        """Return the steps between neighbours, in elements: a tuple, or that of one dimension."""
        check_strided(self, "stride()")
        if dim is None:
            return TensorImpl_stride(self.impl)
        number = int64_of(dim)
        return TensorImpl_strides(self.impl)[wrap_dim(number, self.impl.ndim)]

    def storage_offset(self):
        """Return where in the storage the first element is, in elements."""
        check_strided(self, "storage_offset()")
        return self.impl.storage_offset

    def is_contiguous(self, memory_format=None):
        """Return whether the elements lie in the order of a memory format without gaps; in row-major order if none."""
        check_strided(self, "is_contiguous()")
        if memory_format is None:
            return self.impl.contiguous != 0
        return TensorImpl_is_contiguous_in(self.impl, memory_format_from_any(memory_format)) != 0

    def suggest_memory_format(self):
        """Return the memory format that the strides are like, gaps allowed: a channels-last one, or row-major."""
        check_strided(self, "suggest_memory_format()")
        if not TensorImpl_is_channels_last(self.impl):
            return contiguous_format
        return channels_last if self.impl.ndim == 4 else channels_last_3d

    def defined(self):
        """Return whether this is a tensor at all."""
        return self.impl is not UNDEFINED

    # ---- who owns what

    def storage(self):
        """Return a handle on the storage.

        Raises
        ------
        RuntimeError
            If the tensor has none.
        """
        check_strided(self, "storage()")
        if self.impl.storage is None:
            raise RuntimeError("the tensor has no storage: it is undefined. Make one with empty() or tensor().")
        retain(self.impl.storage)
        return Storage_from_owned(self.impl.storage)

    def data_ptr(self):
        """Return the address of the first element for reading; never materializes."""
        return cython.cast(uintptr_t, TensorImpl_const_data(self.impl))

    def mutable_data_ptr(self):
        """Return the address of the first element for writing; a copy-on-write tensor gets its own bytes first."""
        return cython.cast(uintptr_t, TensorImpl_mutable_data(self.impl))

    def use_count(self):
        """Return how many handles own the body, 0 if undefined."""
        return use_count(self.impl) if self.impl is not UNDEFINED else 0

    def weak_use_count(self):
        """Return the number of weak handles plus one, 0 if undefined."""
        return weak_use_count(self.impl) if self.impl is not UNDEFINED else 0

    def weak(self):
        """Return a weak pointer to the body; it keeps no element alive. `Tensor.from_impl` takes what it locks."""
        return WeakIntrusivePtr.reclaim_copy(self.impl) if self.impl is not UNDEFINED else WeakIntrusivePtr()

    def body_address(self):
        """Return the address of the body, which tells whether two handles are on the same tensor."""
        return cython.cast(uintptr_t, cython.cast(cython.p_void, self.impl))

    def is_cow(self):
        """Return whether the bytes may be shared copy-on-write, so that a first write may copy."""
        return self.impl.storage is not None and cow_is_cow(cython.address(self.impl.storage.block))

    def is_alias_of(self, other: TensorBase):
        """Return whether both have the same storage, so that a write to one may be seen in the other."""
        if self.impl.storage is None or other.impl.storage is None:
            return False
        return self.storage().is_alias_of(other.storage())


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def check_strided(self: TensorBase, method: str) -> cython.int:
    """Check that there are strides to speak of. See Note [Sparse tensors have no storage]."""
    if self.impl.key_set & SPARSE:
        raise RuntimeError(
            f"{method}: a sparse_coo tensor has neither storage nor strides. Ask its values(), or to_dense()."
        )
    return 0
