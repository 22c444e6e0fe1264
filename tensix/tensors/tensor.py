"""The tensor that users hold: a handle whose methods call operators.

A method does three things: it takes its arguments in the forms that users write, calls the operator's table, and
returns what came back. What an operator does stands in its kernel. The methods stand in chapters, each a class on the
one before: `TensorBase` (what a tensor is), `ViewMethods`, `OperatorMethods`, `ReductionMethods`, `SparseMethods`,
`ConversionMethods` (to numbers and text), `ExchangeMethods` (with other libraries), and here the rest.
"""

import cython
import numpy as np
from cython.cimports.cpython.object import PyObject
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.tensix.core.device import Device_from_any
from cython.cimports.tensix.core.free_list import (
    free_list_accepts,
    free_list_install,
    free_list_keep,
    free_list_t,
    free_list_take,
)
from cython.cimports.tensix.core.handle import drop, own_newborn, retain
from cython.cimports.tensix.core.intrusive_ptr import IntrusivePtr
from cython.cimports.tensix.core.member_descriptors import adopt_members
from cython.cimports.tensix.core.storage import Storage
from cython.cimports.tensix.dispatch.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.copying import copy_of, deep_copy_of
from cython.cimports.tensix.tensors.dlpack import set_tensor_class
from cython.cimports.tensix.tensors.dtype import dtype_from_any, dtype_of_code
from cython.cimports.tensix.tensors.exchange_methods import ExchangeMethods
from cython.cimports.tensix.tensors.index_key import is_basic
from cython.cimports.tensix.tensors.ndarray import impl_of_ndarray
from cython.cimports.tensix.tensors.operands import scalar_like
from cython.cimports.tensix.tensors.quiet_calls import call_quietly
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl,
    TensorImpl_adopt,
    TensorImpl_check_bounds,
    TensorImpl_new,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
    int64_of,
)

from tensix.dispatch import native_functions
from tensix.tensors.memory_format import preserve_format

__all__ = ["Tensor"]

INDEX = cython.declare(OperatorTable, native_functions.INDEX)
INDEX_TENSOR = cython.declare(OperatorTable, native_functions.INDEX_TENSOR)
INDEX_PUT_ = cython.declare(OperatorTable, native_functions.INDEX_PUT_)
EMPTY = cython.declare(OperatorTable, native_functions.EMPTY)
CLONE = cython.declare(OperatorTable, native_functions.CLONE)
LAZY_CLONE = cython.declare(OperatorTable, native_functions.LAZY_CLONE)
TO_COPY = cython.declare(OperatorTable, native_functions.TO_COPY)
COPY_ = cython.declare(OperatorTable, native_functions.COPY_)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)
UNIFORM_ = cython.declare(OperatorTable, native_functions.UNIFORM_)
NORMAL_ = cython.declare(OperatorTable, native_functions.NORMAL_)
DETACH = cython.declare(OperatorTable, native_functions.DETACH)
SET_ = cython.declare(OperatorTable, native_functions.SET_)


@cython.no_gc  # as its base: nothing that a tensor holds can lead back to it
@cython.cclass
class Tensor(ExchangeMethods):
    """Hold a tensor: a typed, shaped view on a storage.

    ``Tensor()`` is undefined, the null of tensors; use `tensor`, `empty`, `rand`, … to make one.

    Notes
    -----
    Lifetime: the body lives as long as a handle holds it, the storage as long as any body does. A view keeps the
    storage alive, not the tensor it was made from.

    Thread-safety: as any Python object; elements are not locked.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[0] + x[1]
    tensor([4., 6.])
    >>> x[0].is_alias_of(x)
    True
    """

    __array_ufunc__ = None  # NumPy's operators leave ours the word

    def __init__(self, *args):
        if args:
            raise TypeError("Tensor() takes nothing and is undefined: use tensor() to make one of numbers.")

    @staticmethod
    @cython.binding(True)
    def from_storage(storage: Storage, storage_offset, shape, stride, dtype):
        """Make a tensor over a storage.

        Parameters
        ----------
        storage : Storage
            Kept alive by the tensor.
        storage_offset : int
            Of the first element, in elements.
        shape, stride : sequence of int
            Sizes, and steps in elements; a step may be negative.
        dtype : DType
            How the bytes are read.

        Raises
        ------
        RuntimeError
            If an element would lie outside the storage.
        """
        if storage.target is None:
            raise RuntimeError("cannot make a tensor of a null Storage.")
        shape, stride = tuple(shape), tuple(stride)  # See Note [Lists that change]
        if len(shape) != len(stride):
            raise ValueError(
                f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})."
            )
        target = storage.target
        impl = TensorImpl_new(dtype_from_any(dtype).code, dense_keys_of_device(target.block.device_type), len(shape))
        retain(target)
        TensorImpl_adopt(impl, target)
        sizes = TensorImpl_sizes(impl)
        strides = TensorImpl_strides(impl)
        for i in range(impl.ndim):
            sizes[i], strides[i] = int64_of(shape[i]), int64_of(stride[i])
            if sizes[i] < 0:
                raise ValueError(f"Trying to create tensor with negative dimension {shape[i]}: {list(shape)}.")
        impl.storage_offset = int64_of(storage_offset)
        TensorImpl_refresh(impl)
        TensorImpl_check_bounds(impl)
        return Tensor_wrap(impl)

    @staticmethod
    @cython.binding(True)
    def from_impl(impl: IntrusivePtr):
        """Make a handle of a pointer to a `TensorImpl`, which keeps its own count; null gives an undefined tensor."""
        made = Tensor()
        if impl.target is not None:
            if not isinstance(impl.target, TensorImpl):
                raise TypeError(
                    f"from_impl() needs a pointer to a TensorImpl, found one to {type(impl.target).__name__}."
                )
            retain(impl.target)
            made.impl = impl.target
        return made

    # ---- copies

    def clone(self, *, memory_format=None):
        """Return a copy, made at once; dense strides are kept unless another memory format is asked for."""
        if memory_format is None or memory_format is preserve_format:
            return CLONE.call1(self)
        return CLONE.call_named(self, "memory_format", memory_format)

    def lazy_clone(self):
        """Return a tensor that shares the bytes until one of the two is written (copy-on-write)."""
        return LAZY_CLONE.call1(self)

    def __copy__(self):
        """Return a tensor with a body of its own that looks at the same elements."""
        return copy_of(self)

    def __deepcopy__(self, memo: dict):
        """Return a copy on a storage of its own, which tensors that are copied together share."""
        return deep_copy_of(self, memo)

    def to_device(self, device, /, *, stream=None):
        """Return the tensor on a device: itself if it is there, else a copy in row-major order.

        Parameters
        ----------
        device : str or Device
            Where the elements shall be.
        stream : None, optional
            No device of tensix has streams.

        Raises
        ------
        NotImplementedError
            If one of the two devices has no kernel to copy; ``meta`` has no elements to copy from.
        """
        if stream is not None:
            raise ValueError(f"to_device() knows no streams, found stream={stream!r}.")
        where = Device_from_any(device)
        if where.type_code == self.impl.device_type and where.index in (-1, self.impl.device_index):
            return self
        return TO_COPY.call((self,), {"device": where}, self.impl.key_set)

    def cpu(self):
        """Return the tensor on the CPU, as `to_device` does."""
        return self.to_device("cpu")

    def detach(self):
        """Return a tensor with a body of its own that looks at the same elements, without what records gradients."""
        return DETACH.call1(self)

    # ---- elements

    def __getitem__(self, index):
        if is_basic(index):
            return INDEX.call_with(self, index)
        return INDEX_TENSOR.call((self, index), None, keys_with(self, index))

    def __setitem__(self, index, value):
        if is_basic(index):
            assign(INDEX.call_with(self, index), value)
        else:
            values: TensorBase = assignable(self, value)
            INDEX_PUT_.call((self, index, values), None, keys_with(self, index) | values.impl.key_set)

    def __delitem__(self, index):
        raise TypeError("elements of a tensor cannot be deleted; an index of those to keep makes a smaller tensor.")

    # ---- in place

    def copy_(self, src: Tensor):
        """Write the elements of another tensor, broadcast and converted, and return this one."""
        return COPY_.call2(self, src)

    def fill_(self, value):
        """Write one value everywhere and return this tensor."""
        return FILL_.call_with(self, value)

    def zero_(self):
        """Write zeros and return this tensor."""
        return FILL_.call_with(self, 0)

    def uniform_(self, low=0.0, high=1.0, *, generator=None):
        """Write random numbers from [low, high) and return this tensor.

        Parameters
        ----------
        low, high : float, optional
            The least number, and the bound; where the type has no number between, rounding may reach the bound.
        generator : Generator, optional
            Who makes them; the default generator if not given.

        Raises
        ------
        ValueError
            If `low` is above `high`, or the distance is no finite number.

        Examples
        --------
        >>> import tensix
        >>> x = tensix.empty(1000).uniform_(-2, 3)
        >>> bool(tensix.min(x) >= -2), bool(tensix.max(x) <= 3)
        (True, True)
        """
        if not 0 <= high - low < np.inf:
            raise ValueError(f"uniform_() needs finite bounds, low at most high, found {low} and {high}.")
        return fill_scaled(UNIFORM_, self, generator, high - low, low)

    def normal_(self, mean=0.0, std=1.0, *, generator=None):
        """Write random numbers of a normal distribution and return this tensor.

        Parameters
        ----------
        mean, std : float, optional
            Their mean, and their standard deviation.
        generator : Generator, optional
            Who makes them; the default generator if not given.

        Raises
        ------
        ValueError
            If the standard deviation is negative.

        Examples
        --------
        >>> import tensix
        >>> tensix.empty(2).normal_(5, 0)
        tensor([5., 5.])
        """
        if not std >= 0:
            raise ValueError(f"normal_() needs a standard deviation of 0 or more, found {std}.")
        return fill_scaled(NORMAL_, self, generator, std, mean)

    def set_(self, source: Tensor):
        """Look at another tensor's elements from now on, in every handle on this tensor, and return this one.

        The body takes over storage, geometry, type, device and keys of `source`; it keeps its own identity and what
        records its gradients.
        """
        return SET_.call2(self, source)


@cython.cfunc
def fill_scaled(table: OperatorTable, target: Tensor, generator, factor, offset):
    """Write random numbers, multiplied and moved; what needs memory comes before the first of them is written."""
    if factor == 1 and offset == 0:
        return table.call_with(target, generator)
    factor = factor if isinstance(factor, TensorBase) else scalar_like(target, factor)
    offset = offset if isinstance(offset, TensorBase) else scalar_like(target, offset)
    table.call_with(target, generator)
    return target.mul_(factor).add_(offset)


def Tensor_wrap(impl):
    """Return the first handle on a new body."""
    made: Tensor = cython.cast(Tensor, free_list_take(cython.address(FREE))) if FREE.count else Tensor.__new__(Tensor)
    own_newborn(impl)
    made.impl = impl
    return made


FREE = cython.declare(free_list_t)


@cython.cfunc
@cython.exceptval(check=False)
def deallocate(dead: cython.pointer(PyObject)) -> cython.void:
    """Be the type's tp_dealloc. See Note [Husks]."""
    if free_list_accepts(cython.address(FREE), dead):
        let_go(cython.cast(TensorBase, dead))
        free_list_keep(cython.address(FREE), dead)
    else:
        FREE.chain(dead)


@cython.cfunc
@cython.exceptval(check=False)
def let_go(tensor: TensorBase) -> cython.void:
    """Drop the body."""
    if tensor.impl is not UNDEFINED:
        drop(tensor.impl)
        tensor.impl = UNDEFINED


free_list_install(cython.address(FREE), Tensor, deallocate)
adopt_members(Tensor)
set_tensor_class(Tensor)


@cython.cfunc
def keys_with(tensor: TensorBase, index) -> uint64_t:
    """Unite the dispatch keys of a tensor and of the tensors in an index."""
    keys = tensor.impl.key_set
    for key in index if isinstance(index, tuple) else (index,):
        if isinstance(key, TensorBase):
            keys |= cython.cast(TensorBase, key).impl.key_set
    return keys


@cython.cfunc
def is_number(value) -> cython.bint:
    return isinstance(value, (int, float, complex, np.generic))


@cython.cfunc
@cython.exceptval(-1)
def assign(target: TensorBase, value) -> cython.int:
    """Write a value to a view; dimensions of size 1 that the value has in front of the view's are left out."""
    if is_number(value):
        FILL_.call_with(target, value)
        return 0
    values: TensorBase = assignable(target, value)
    extra = values.impl.ndim - target.impl.ndim
    for i in range(extra):
        if TensorImpl_sizes(values.impl)[i] != 1:
            break
    else:
        if extra > 0:
            values = INDEX.call_with(values, (0,) * extra)
    COPY_.call2(target, values)
    return 0


@cython.cfunc
def assignable(target: TensorBase, value) -> TensorBase:
    """Return what shall be written as a tensor: numbers and lists of the target's type, arrays of their own."""
    if isinstance(value, Tensor):
        return value
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(
            "what is assigned must be a tensor, a number, an array or nested lists of numbers, found "
            f"{type(value).__name__}."
        )
    impl = target.impl
    if is_number(value):
        scalar = EMPTY.call_empty(0, cython.NULL, impl.dtype_code, impl.device_type, impl.device_index)
        return FILL_.call_with(scalar, value)
    if isinstance(value, np.ndarray):
        array = np.array(value, value.dtype.newbyteorder("="))
    else:
        array = call_quietly(np.array, (value, dtype_of_code(impl.dtype_code).numpy))
    return Tensor_wrap(impl_of_ndarray(array, False))
