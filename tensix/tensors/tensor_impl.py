"""The counted body of a tensor: which elements of which storage, in what order.

Sizes and strides lie inside the object up to five dimensions. Strides and the storage offset are counted in
elements; a stride may be negative. ``TensorImpl_refresh`` must follow every change of the geometry: it recomputes
the number of elements and the cached flags.

Note [Operands in use]
~~~~~~~~~~~~~~~~~~~~~~
While an operation allocates its result, copies, or converts an argument, other code may run: an allocator, a finaliser,
``__index__``, another thread. Shape, strides, type, device and storage of a body are exchanged by `set_` alone. So the
table of an operator counts a use of each operand for as long as a kernel in C runs, and `set_` refuses a body that is
in use, as `bytearray.append` refuses an array with exports. A kernel plans when it likes. Bodies that it has made
itself, and not yet handed out, cannot be changed by anybody; those of other arguments, such as the keys of an index,
it counts itself. Kernels in Python do not count: what they call does.

Note [Addresses in use]
~~~~~~~~~~~~~~~~~~~~~~~
The same code may exchange the block of an operand's storage. So an operation

* asks for the addresses after the last moment at which other code may run, those for writing first, since making a
  copy-on-write storage writable is such a moment itself. `TensorImpl_const_data` compares with the storage's size if
  that has ever shrunk;
* begins a use of the storages if it gives up the GIL from there on. See Note [Storages in use].

Note [The storage of a body]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A body's storage is a `StorageImpl`. The field is declared by the base class, since modules that cimport bodies would
otherwise compile the fields of storages in, and be compiled again with each change of them. Modules that read those
fields are few: they cast, ``<StorageImpl>impl.storage``. Others call functions of this module.
"""

import cython
from cython.cimports.cpython.long import PyLong_AsLongLong, PyLong_FromLongLong
from cython.cimports.cpython.number import PyNumber_Index
from cython.cimports.cpython.object import PyObject
from cython.cimports.cpython.ref import Py_INCREF
from cython.cimports.cpython.tuple import PyTuple_New, PyTuple_SET_ITEM
from cython.cimports.libc.stdint import INT64_MAX, INT64_MIN, int64_t, uint64_t, uintptr_t
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.tensix.core.assertions import TX_ASSERT
from cython.cimports.tensix.core.combined_refcount import is_dead
from cython.cimports.tensix.core.data_ptr import destroy_reference
from cython.cimports.tensix.core.device import META, Device_get
from cython.cimports.tensix.core.free_list import (
    free_list_accepts, free_list_install, free_list_keep, free_list_t, free_list_take,
)
from cython.cimports.tensix.core.free_threading import TX_COUNT, tx_while_stopped
from cython.cimports.tensix.core.handle import drop, drop_nogil, retain
from cython.cimports.tensix.core.storage_impl import (
    StorageImpl, StorageImpl_pass_guards, StorageImpl_pass_read_guards, tx_note_reading,
)
from cython.cimports.tensix.tensors.dtype import UNDEFINED, dtype_of_code, itemsize_of, refuse_undefined

__all__ = ["TensorImpl"]


@cython.no_gc  # holds a storage, which holds no Python objects that could lead back
@cython.cclass
class TensorImpl:
    """Hold what a tensor is: its storage, shape, strides and type; made by tensix, owned by `Tensor` handles.

    Attributes
    ----------
    storage_offset, numel : int
        Of the first element, and how many there are.
    key_set : int
        The bits of its dispatch keys, as in `DispatchKeySet`.
    storage : StorageImpl or None
        The bare storage; of an expired body an expired one.
    autograd_meta : object
        For code that records gradients; released before the storage. A cycle through it has to be broken by hand.

    Raises
    ------
    RuntimeError
        From every method, once the last owner is gone.
    """

    def __dealloc__(self):
        strip(self)

    def destroy(self, holds_gil):
        if self.meta is not None:
            destroy_reference(take_meta(self))
        if self.storage is not None:
            drop_nogil(self.storage, holds_gil)

    def release_resources(self):
        """Free what gradients hold, then the storage; weak handles may still read sizes and dtype."""
        exchange_meta(self, None)
        storage: StorageImpl = exchange_storage(self, None)
        if storage is not None:
            drop(storage)

    def __copy__(self):
        raise TypeError("a TensorImpl cannot be copied by itself: use Tensor.clone() or a view.")

    @property
    def shape(self):
        """The sizes, a tuple of ints."""
        TensorImpl_check_alive(self)
        return TensorImpl_shape(self)

    @property
    def stride(self):
        """The strides, in elements: a tuple of ints."""
        TensorImpl_check_alive(self)
        return TensorImpl_stride(self)

    @property
    def autograd_meta(self):
        """What code that records gradients keeps."""
        return self.meta

    @autograd_meta.setter
    def autograd_meta(self, meta):
        exchange_meta(self, meta)

    @property
    def device(self):
        """Where the elements are."""
        TensorImpl_check_alive(self)
        return Device_get(self.device_type, self.device_index)

    @property
    def version(self):
        """How often the storage was written in place."""
        TensorImpl_check_alive(self)
        return cython.cast(StorageImpl, self.storage).version if self.storage is not None else 0

    @property
    def dtype(self):
        """The element type."""
        TensorImpl_check_alive(self)
        return dtype_of_code(self.dtype_code)

    def __repr__(self):
        if is_dead(self.combined_refcount):
            return "TensorImpl(expired)"
        return f"TensorImpl(shape={TensorImpl_shape(self)}, dtype={dtype_of_code(self.dtype_code)})"


@cython.cfunc
@cython.exceptval(check=False)
@cython.with_gil
def take_meta(self: TensorImpl) -> cython.pointer(PyObject):
    held = exchange_meta(self, None)
    Py_INCREF(held)
    return cython.cast(cython.pointer(PyObject), held)


FREE = cython.declare(free_list_t)


@cython.cfunc
@cython.exceptval(check=False)
def deallocate(dead: cython.pointer(PyObject)) -> cython.void:
    """Deallocate an instance, as the type's tp_dealloc. See Note [Free lists]."""
    if free_list_accepts(cython.address(FREE), dead):
        strip(cython.cast(TensorImpl, dead))
        free_list_keep(cython.address(FREE), dead)
    else:
        FREE.chain(dead)


@cython.cfunc
@cython.exceptval(check=False)
def strip(self: TensorImpl) -> cython.void:
    """Leave the fields as those of a new object, but for what every maker sets."""
    if self.ndim > INLINE_DIMS:
        free(self.dims.outline)
        self.ndim = 0
    if self.storage is not None:
        if not is_dead(self.combined_refcount):
            drop(self.storage)  # never owned, so destroy() was not called
        self.storage = None
    if self.meta is not None:
        self.meta = None
    self.combined_refcount = 0
    self.handle_count = self.weak_handle_count = 0
    self.storage_offset = 0


free_list_install(cython.address(FREE), TensorImpl, deallocate)


@cython.cfunc
@cython.inline
def new_body() -> TensorImpl:
    """Return a body of which only the counts are set."""
    if FREE.count:
        return cython.cast(TensorImpl, free_list_take(cython.address(FREE)))
    return TensorImpl.__new__(TensorImpl)


def TensorImpl_check_alive(self):
    if is_dead(self.combined_refcount):
        raise RuntimeError("the TensorImpl has expired: its last owner is gone and its storage with it.")
    return 0


def TensorImpl_new(dtype_code, key_set, ndim):
    """Return a body without owners and storage, whose sizes and strides are still to be set."""
    self: TensorImpl = new_body()
    TensorImpl_reserve(self, ndim)
    self.dtype_code, self.key_set = dtype_code, key_set
    return self


def TensorImpl_adopt(self, storage):
    """Take over a strong count of a storage, in place of the one held so far."""
    old = self.storage
    self.storage = storage
    block = cython.address(cython.cast(StorageImpl, storage).block)
    self.device_type, self.device_index = block.device_type, block.device_index
    if old is not None:
        drop(old)


def TensorImpl_view(base, ndim):
    """Return a body without owners that shares everything of `base` but the geometry, still to be set."""
    if base.dtype_code == UNDEFINED:
        refuse_undefined()
    self: TensorImpl = new_body()
    TensorImpl_reserve(self, ndim)
    if base.storage is not None:
        retain(base.storage)
        self.storage = base.storage
    self.storage_offset, self.key_set = base.storage_offset, base.key_set
    self.dtype_code = base.dtype_code
    self.device_type, self.device_index = base.device_type, base.device_index
    return self


def TensorImpl_shallow_copy(base):
    """Return a body without owners over the same elements, with the same geometry."""
    self = TensorImpl_view(base, base.ndim)
    TensorImpl_copy_dims(base, self, 0, 0, base.ndim)
    self.numel, self.contiguous = base.numel, base.contiguous
    return self


def TensorImpl_shallow_copy_from(self, source, own_uses):
    """Refer to the elements of another body; identity, counts and autograd_meta stay. Nothing changes on failure.

    So many uses are the caller's. See Note [Operands in use].
    """
    twin = TensorImpl_shallow_copy(source)
    change = exchange_t(
        cython.cast(cython.pointer(PyObject), self), cython.cast(cython.pointer(PyObject), twin), own_uses, False
    )
    tx_while_stopped(exchange_geometry, cython.address(change))
    if change.is_refused:
        raise RuntimeError(
            "set_() cannot exchange a tensor while an operation uses it: another thread's, or one that runs this code "
            "as an allocator, a finaliser or for a number. Let only one of them have the tensor at a time."
        )
    return 0


def exchange_geometry(what):
    change = cython.cast(cython.pointer(exchange_t), what)
    one = change.body
    other = change.twin
    change.is_refused = cython.cast(TensorImpl, one).uses > change.own_uses
    if change.is_refused:
        return
    dims: dims_t = cython.cast(TensorImpl, one).dims
    ndim = cython.cast(TensorImpl, one).ndim
    cython.cast(TensorImpl, one).dims = cython.cast(TensorImpl, other).dims
    cython.cast(TensorImpl, one).ndim = cython.cast(TensorImpl, other).ndim
    cython.cast(TensorImpl, other).dims = dims  # the twin takes what was here down with it
    cython.cast(TensorImpl, other).ndim = ndim
    swap_storages(cython.cast(TensorImpl, one), cython.cast(TensorImpl, other))
    cython.cast(TensorImpl, one).storage_offset = cython.cast(TensorImpl, other).storage_offset
    cython.cast(TensorImpl, one).numel = cython.cast(TensorImpl, other).numel
    cython.cast(TensorImpl, one).contiguous = cython.cast(TensorImpl, other).contiguous
    cython.cast(TensorImpl, one).key_set = cython.cast(TensorImpl, other).key_set
    cython.cast(TensorImpl, one).dtype_code = cython.cast(TensorImpl, other).dtype_code
    cython.cast(TensorImpl, one).device_type = cython.cast(TensorImpl, other).device_type
    cython.cast(TensorImpl, one).device_index = cython.cast(TensorImpl, other).device_index


def TensorImpl_reserve_outline(self, ndim):
    """Reserve space on the heap for sizes and strides of more than 5 dimensions."""
    if ndim > MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions, found {ndim}.")
    outline = cython.cast(cython.pointer(int64_t), malloc(2 * ndim * cython.sizeof(int64_t)))
    if outline == cython.NULL:
        raise MemoryError("Could not allocate memory for Tensor SizesAndStrides!")
    self.dims.outline = outline
    return 0


def TensorImpl_refresh(self):
    """Recompute what is cached about the geometry.

    A dimension of size 1 has no order, so its stride does not matter; without elements everything is contiguous.
    """
    sizes = TensorImpl_sizes(self)
    strides = TensorImpl_strides(self)
    expected: int64_t = 1
    contiguous: cython.bint = True
    fits: cython.bint = True
    for i in range(self.ndim - 1, -1, -1):
        if sizes[i] != 1:
            if strides[i] != expected:
                contiguous = False
            fits = fits and not tx_multiply_overflows(expected, sizes[i], cython.address(expected))
    if not fits:
        refuse_overflow(TensorImpl_shape(self))
    self.numel = expected
    self.contiguous = contiguous or expected == 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def refuse_overflow(shape: tuple) -> cython.int:
    raise ValueError(f"numel: integer multiplication overflow: shape {shape} has more elements than 63 bits count.")


@cython.cfunc
@cython.exceptval(-1)
def refuse_negative(size: int64_t) -> cython.int:
    raise ValueError(f"Trying to create tensor with negative dimension {size}.")


def TensorImpl_is_dense(self):
    """Whether the dimensions, taken by ascending stride, follow each other without gaps or overlaps."""
    if self.contiguous:
        return True
    sizes = TensorImpl_sizes(self)
    strides = TensorImpl_strides(self)
    expected: int64_t = 1
    found: cython.bint
    done: cython.ulonglong = 0
    for _ in range(self.ndim):
        found = False
        for i in range(self.ndim):
            if not (done >> i) & 1 and (sizes[i] == 1 or strides[i] == expected):
                done |= cython.cast(cython.ulonglong, 1) << i
                expected *= sizes[i]
                found = True
                break
        if not found:
            return False
    return True


def contiguous_strides(ndim, sizes, strides):
    """Fill in row-major strides and return the number of elements; a product beyond 63 bits is refused."""
    stride: int64_t = 1
    numel: int64_t = 1
    for i in range(ndim - 1, -1, -1):
        if sizes[i] < 0:
            refuse_negative(sizes[i])
        strides[i] = stride
        if sizes[i] > 1 and tx_multiply_overflows(stride, sizes[i], cython.address(stride)):
            refuse_overflow(tuple_of(sizes, ndim))
        numel *= sizes[i] != 0
    return stride if numel else 0


def TensorImpl_check_bounds(self):
    """Check that every element lies inside the storage."""
    if not TensorImpl_is_within(self):
        refuse_bounds(self)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
@cython.nogil
def TensorImpl_is_within(self: TensorImpl) -> cython.bint:
    """Return whether every element lies inside the storage."""
    first: int64_t = 0
    last: int64_t = 0
    nbytes: int64_t = 0
    if self.numel == 0:
        return True
    fits: cython.bint = TensorImpl_span(self, cython.address(first), cython.address(last)) and first >= 0
    fits = fits and not tx_multiply_overflows(last, itemsize_of(self.dtype_code), cython.address(nbytes))
    available = cython.cast(StorageImpl, self.storage).size_bytes
    return fits and cython.cast(uint64_t, nbytes) + itemsize_of(self.dtype_code) <= available


@cython.cfunc
@cython.exceptval(check=False)
@cython.nogil
def TensorImpl_is_refreshed(self: TensorImpl) -> cython.bint:
    """Return whether what is cached about the geometry belongs to it; for assertions."""
    sizes = TensorImpl_sizes(self)
    strides = TensorImpl_strides(self)
    numel: int64_t = 1
    contiguous: cython.bint = True
    for i in range(self.ndim - 1, -1, -1):
        if sizes[i] < 0:
            return False
        if sizes[i] != 1:
            contiguous = contiguous and strides[i] == numel
        numel *= sizes[i]
    return numel == self.numel and (contiguous or numel == 0) == (self.contiguous != 0)


def TensorImpl_span(self, first, last):
    """Find the lowest and the highest element, counted from the storage's start; False if 63 bits do not hold them.

    Only of a body that has elements.
    """
    span: int64_t = 0
    sizes = TensorImpl_sizes(self)
    strides = TensorImpl_strides(self)
    first[0] = last[0] = self.storage_offset
    for i in range(self.ndim):
        if tx_multiply_overflows(sizes[i] - 1, strides[i], cython.address(span)):
            return False
        if span < 0:
            if first[0] < INT64_MIN - span:
                return False
            first[0] += span
        else:
            if last[0] > INT64_MAX - span:
                return False
            last[0] += span
    return True


@cython.cfunc
@cython.exceptval(-1)
def refuse_bounds(self: TensorImpl) -> cython.int:
    itemsize = int(itemsize_of(self.dtype_code))  # Python ints: no overflow
    first = last = int(self.storage_offset)
    for size, stride in zip(TensorImpl_shape(self), TensorImpl_stride(self), strict=True):
        first += min(stride * (size - 1), 0)
        last += max(stride * (size - 1), 0)
    raise RuntimeError(
        f"shape {TensorImpl_shape(self)} with stride {TensorImpl_stride(self)} and storage offset "
        f"{self.storage_offset} needs elements {first} to {last} ({(last + 1) * itemsize:,} bytes), "
        f"the storage has {cython.cast(StorageImpl, self.storage).size_bytes:,} bytes."
    )


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def TensorImpl_check_memory(self: TensorImpl) -> cython.int:
    """Check that there is a storage that still holds the elements."""
    if self.storage is None:
        TensorImpl_check_alive(self)
        if self.dtype_code == UNDEFINED:
            refuse_undefined()
        raise RuntimeError(
            "the tensor is sparse: it has no memory, but indices() and values(). Make it dense with to_dense()."
        )
    if cython.cast(StorageImpl, self.storage).was_shrunk:
        TensorImpl_check_bounds(self)
    return 0


def TensorImpl_bump_version(self):
    """Count a write in place; with the GIL. The count is the storage's, so all that share the bytes share it."""
    if self.storage is not None:
        TX_COUNT(cython.cast(StorageImpl, self.storage).version, 1)


def TensorImpl_is_aligned(self, alignment):
    """Return whether the elements, if there are any, have addresses that divide by `alignment`."""
    if self.storage is None or self.numel == 0:
        return True
    start = cython.cast(uintptr_t, cython.cast(StorageImpl, self.storage).block.data)
    return (start + self.storage_offset * itemsize_of(self.dtype_code)) % alignment == 0


def TensorImpl_mutable_data(self):
    """Return the address of the first element for writing."""
    while TensorImpl_check_memory(self) == 0 and cython.cast(StorageImpl, self.storage).guarded:
        if StorageImpl_pass_guards(cython.cast(StorageImpl, self.storage)):  # what runs meanwhile may change the body
            break
    tx_note_reading()
    TX_ASSERT(TensorImpl_is_refreshed(self), "a body that was refreshed after its geometry changed", self.numel)
    data = cython.cast(cython.p_char, cython.cast(StorageImpl, self.storage).block.data)
    if data == cython.NULL:
        return TensorImpl_no_data(self)
    TX_ASSERT(TensorImpl_is_within(self), "elements inside the storage", self.storage_offset)
    return data + self.storage_offset * itemsize_of(self.dtype_code)


def TensorImpl_const_data(self):
    """Return the address of the first element for reading; never materializes."""
    TensorImpl_check_memory(self)
    TX_ASSERT(TensorImpl_is_refreshed(self), "a body that was refreshed after its geometry changed", self.numel)
    storage = cython.cast(StorageImpl, self.storage)
    if storage.guarded:
        TX_COUNT(self.uses, 1)  # what runs meanwhile does not change the body. See Note [Operands in use]
        try:
            StorageImpl_pass_read_guards(storage)
        finally:
            TX_COUNT(self.uses, -1)
    tx_note_reading()
    data = cython.cast(cython.p_char, storage.block.data)
    if data == cython.NULL:
        return TensorImpl_no_data(self)
    TX_ASSERT(TensorImpl_is_within(self), "elements inside the storage", self.storage_offset)
    return data + self.storage_offset * itemsize_of(self.dtype_code)


def TensorImpl_no_data(self):
    """Return NULL for a tensor without elements; raise for one with elements."""
    if self.numel == 0:
        return cython.NULL
    if self.device_type == META:
        raise NotImplementedError("the tensor has no memory: its device, meta, keeps shapes only.")
    raise RuntimeError("The tensor has a non-zero number of elements, but its data is not allocated yet.")


def TensorImpl_shape(self):
    return tuple_of(TensorImpl_sizes(self), self.ndim)


def TensorImpl_stride(self):
    return tuple_of(TensorImpl_strides(self), self.ndim)


@cython.cfunc
def tuple_of(numbers: cython.pointer(cython.const[int64_t]), count: cython.int) -> tuple:
    made = PyTuple_New(count)
    for i in range(count):
        number = PyLong_FromLongLong(numbers[i])
        Py_INCREF(number)
        PyTuple_SET_ITEM(made, i, number)
    return made


def int64_of_index(number):
    """Return what is not a plain int as one, if it has ``__index__``."""
    if isinstance(number, bool):
        raise TypeError("sizes, strides and dimensions are ints, found bool.")
    return PyLong_AsLongLong(PyNumber_Index(number))


def wrap_dim(dim, ndim):
    """Return a dimension counted from the front; negative ones count from the end."""
    if 0 <= dim < ndim:
        return dim
    if -ndim <= dim < 0:
        return dim + ndim
    if ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions.")
    raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim}).")


def refuse_devices(a, b):
    """Raise for bodies on two devices."""
    raise RuntimeError(
        "Expected all tensors to be on the same device, found "
        f"{Device_get(a.device_type, a.device_index)} and {Device_get(b.device_type, b.device_index)}. Move one of "
        "them with to_device()."
    )
