"""What operators take beside tensors: a number or an array of NumPy stands for a tensor.

An array becomes a tensor over its memory, a number one of the other operand's type, unless its kind is higher; see
`promotion`. Most numbers are written here, in C, since a call such as ``x * 2`` costs little more than that: to the
stack if the operator's kernel takes an element, else to a tensor. See Note [How a kernel is called].

Note [Temporaries]
~~~~~~~~~~~~~~~~~~
In ``a * 2 + b * 3 - c`` only the stack of the interpreter has the result of ``a * 2``, and drops it once the sum is
made. From half a million elements on the sum is written over it: a third less time for 1000 x 1000 float32, for less
memory is in use and the processor's caches have it. What must be certain is that no one can see the difference:

* the handle has one reference. CPython 3.14 says itself that it is the stack's; before, the stack owns what it has;
* a function in C finds its arguments on that stack as well and may go on to use them. So the C functions between here
  and the interpreter have to be Python's own and the sign's. Their addresses tell, and so does the place where the
  interpreter goes on afterwards, which it shows once for an object of ours (glibc; on other systems a result has memory
  of its own). Finding out takes some ten microseconds, hence the limit;
* body and storage have no other owner, view, export or reader; the block belongs to an allocator and no one else;
* the result has the operand's type and shape, and no mode or listener is told of another operator than was called.

The result is another handle on another body, so attributes and weak references of the operand stay with it.
"""

import cython
import numpy as np
from cython.cimports.cpython.bool import PyBool_Check
from cython.cimports.cpython.complex import (
    PyComplex_Check,
    PyComplex_FromDoubles,
    PyComplex_ImagAsDouble,
    PyComplex_RealAsDouble,
)
from cython.cimports.cpython.float import PyFloat_Check
from cython.cimports.cpython.long import PyLong_Check
from cython.cimports.libc.stdint import (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from cython.cimports.numpy import ndarray
from cython.cimports.tensix.core.combined_refcount import unique_word
from cython.cimports.tensix.core.cow_context import cow_is_simple
from cython.cimports.tensix.core.device import CPU
from cython.cimports.tensix.core.storage_impl import StorageImpl
from cython.cimports.tensix.dispatch.kernel import Kernel
from cython.cimports.tensix.dispatch.local_state import interventions
from cython.cimports.tensix.dispatch.operator_table import OperatorTable, OperatorTable_slot, kernel_p
from cython.cimports.tensix.tensors.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.tensors.dtype import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    dtype_of_code,
    refuse_undefined,
)
from cython.cimports.tensix.tensors.promotion import promote_number
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl, TensorImpl_mutable_data, TensorImpl_same_sizes

from tensix.dispatch import native_functions

__all__ = []

EMPTY = cython.declare(OperatorTable, native_functions.EMPTY)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)
DETACH = cython.declare(OperatorTable, native_functions.DETACH)
SPARE_ELEMENTS = cython.declare(cython.int, 1 << 19)
NUMPY_SCALAR = cython.declare(object, np.generic)


def is_number(value):
    """Return whether a value is a number of Python or a scalar of NumPy."""
    return PyFloat_Check(value) or PyLong_Check(value) or PyComplex_Check(value) or isinstance(value, NUMPY_SCALAR)


def scalar_like(tensor, value):
    """Return a number as a tensor without dimensions, of the tensor's type unless its kind is too low.

    Raises
    ------
    OverflowError
        If the type cannot hold it.
    """
    impl = tensor.impl
    if impl is UNDEFINED:
        refuse_undefined()
    code: uint8_t = impl.dtype_code
    if not keeps_type(code, value):  # seldom: what is looked up there need not be
        if isinstance(value, NUMPY_SCALAR) and not PyFloat_Check(value):
            value = value.item()
        code = promote_number(dtype_of_code(code), value).code
    made = EMPTY.call_empty(0, cython.NULL, code, impl.device_type, impl.device_index)
    body = cython.cast(TensorBase, made).impl
    if impl.device_type == CPU and write_number(code, TensorImpl_mutable_data(body), value):
        return made
    return FILL_.call_with(made, value)


@cython.cfunc
@cython.inline
def keeps_type(code: uint8_t, value) -> cython.bint:
    """Return whether it is certain that a number's kind is not above that of a type."""
    if PyLong_Check(value):
        return code != BOOL
    return PyFloat_Check(value) and code in (FLOAT32, FLOAT64)


def read_number(code, data):
    """Return an element as a number of Python; None if its type is not among those read here."""
    if code == FLOAT32:
        return cython.cast(cython.double, cython.cast(cython.p_float, data)[0])
    if code == FLOAT64:
        return cython.cast(cython.p_double, data)[0]
    if code == INT64:
        return cython.cast(cython.pointer(int64_t), data)[0]
    if code == BOOL:
        return cython.cast(cython.pointer(uint8_t), data)[0] != 0
    if code == INT32:
        return cython.cast(cython.pointer(int32_t), data)[0]
    if code == UINT8:
        return cython.cast(cython.pointer(uint8_t), data)[0]
    if code == INT8:
        return cython.cast(cython.pointer(int8_t), data)[0]
    if code == INT16:
        return cython.cast(cython.pointer(int16_t), data)[0]
    if code == UINT16:
        return cython.cast(cython.pointer(uint16_t), data)[0]
    if code == UINT32:
        return cython.cast(cython.pointer(uint32_t), data)[0]
    if code == UINT64:
        return cython.cast(cython.pointer(uint64_t), data)[0]
    if code == COMPLEX64:
        return PyComplex_FromDoubles(cython.cast(cython.p_float, data)[0], cython.cast(cython.p_float, data)[1])
    if code == COMPLEX128:
        return PyComplex_FromDoubles(cython.cast(cython.p_double, data)[0], cython.cast(cython.p_double, data)[1])
    return None


def write_number(code, data, value):
    """Write a number of Python as an element of a type; return whether the two are among those written here.

    Raises
    ------
    OverflowError
        If the type cannot hold it.
    """
    try:
        return write_fitting(code, data, value)
    except OverflowError:
        digits = 40  # more than any type has; of an int that is longer Python may refuse to write them all
        shown = value if abs(value) < 10**digits else f"an int of more than {digits} digits"
        raise OverflowError(f"{shown} is out of bounds for {dtype_of_code(code).name}.") from None


def write_fitting(code, data, value):
    """Be `write_number`, with the compiler's words for what does not fit."""
    real: cython.double
    imag: cython.double
    if code == FLOAT32:
        cython.cast(cython.p_float, data)[0] = cython.cast(cython.double, value)
    elif code == FLOAT64:
        cython.cast(cython.p_double, data)[0] = value
    elif code in (COMPLEX64, COMPLEX128):
        number = complex(value)
        # Two numbers, and never C's complex one: that is made as real + imag * I, and infinity times 0 is NaN.
        real, imag = PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)
        if code == COMPLEX64:
            cython.cast(cython.p_float, data)[0] = real
            cython.cast(cython.p_float, data)[1] = imag
        else:
            cython.cast(cython.p_double, data)[0] = real
            cython.cast(cython.p_double, data)[1] = imag
    elif not PyLong_Check(value):
        return False
    elif code == INT64:
        cython.cast(cython.pointer(int64_t), data)[0] = value
    elif code == INT32:
        cython.cast(cython.pointer(int32_t), data)[0] = value
    elif code == UINT8:
        cython.cast(cython.pointer(uint8_t), data)[0] = value
    elif code == INT8:
        cython.cast(cython.pointer(int8_t), data)[0] = value
    elif code == INT16:
        cython.cast(cython.pointer(int16_t), data)[0] = value
    elif code == BOOL and PyBool_Check(value):
        cython.cast(cython.pointer(uint8_t), data)[0] = value
    elif code == UINT16:
        cython.cast(cython.pointer(uint16_t), data)[0] = value
    elif code == UINT32:
        cython.cast(cython.pointer(uint32_t), data)[0] = value
    elif code == UINT64:
        cython.cast(cython.pointer(uint64_t), data)[0] = value
    else:
        return False
    return True


@cython.cfunc
def call_with_number(table: OperatorTable, tensor: TensorBase, number, is_left: cython.bint):
    """Call a binary operator with a number on one side."""
    element: cython.double[2]  # of the widest type
    impl = tensor.impl
    kernel: kernel_p = table.slots[OperatorTable_slot(table, impl.key_set)]
    if (
        cython.cast(Kernel, kernel).number_function != cython.NULL
        and not interventions
        and keeps_type(impl.dtype_code, number)
        and write_number(impl.dtype_code, element, number)
    ):
        made = cython.cast(Kernel, kernel).number_function(cython.cast(Kernel, kernel), tensor, element, is_left)
        if made is not None:
            return made
    other = scalar_like(tensor, number)
    return table.call2(other, tensor) if is_left else table.call2(tensor, other)


def call_binary(table, left, right):
    """Call a binary operator, one side of which may be a number; what else it is, is not implemented."""
    a: TensorBase
    b: TensorBase
    if isinstance(left, TensorBase):
        a = left
        if isinstance(right, TensorBase):
            return table.call2(a, right)
        if not is_number(right):
            return NotImplemented
        return call_with_number(table, a, right, False)
    if not is_number(left) or not isinstance(right, TensorBase):
        return NotImplemented
    b = right
    return call_with_number(table, b, left, True)


def call_operator(table, left, right):
    """Call a binary operator from its sign; an array becomes a tensor over its memory."""
    if (
        table.in_place is not None
        and tx_may_be_temporary(left)
        and isinstance(left, TensorBase)
        and is_spare(left, right)
    ):
        return call_in_place(table.in_place, DETACH.call1(left), right)
    made = call_binary(table, left, right)
    if made is NotImplemented:
        if isinstance(right, ndarray):
            return call_binary(table, left, tensor_of_array(left, right))
        if isinstance(left, ndarray):
            return call_binary(table, tensor_of_array(right, left), right)
    return made


@cython.cfunc
@cython.exceptval(check=True)
def is_spare(tensor: TensorBase, other) -> cython.bint:
    """Return whether the result may be written over the left operand. See Note [Temporaries]."""
    beside: TensorImpl
    impl = tensor.impl
    keys = dense_keys_of_device(CPU)
    if (
        impl.numel < SPARE_ELEMENTS
        or impl.dtype_code not in (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128)
        or not impl.contiguous
        or impl.key_set != keys
        or impl.combined_refcount != unique_word()
        or interventions
    ):
        return False
    if isinstance(other, TensorBase):
        beside = cython.cast(TensorBase, other).impl
        if (
            beside.dtype_code != impl.dtype_code
            or beside.key_set != keys
            or not (beside.ndim == 0 or TensorImpl_same_sizes(beside, impl))
        ):
            return False
    elif not keeps_type(impl.dtype_code, other):
        return False
    storage = cython.cast(StorageImpl, impl.storage)
    return (
        storage.combined_refcount == unique_word()
        and not (storage.guarded or storage.was_shrunk or storage.is_foreign or storage.has_escaped)
        and storage.exports == 0
        and cow_is_simple(storage)
        and tx_is_temporary(tensor)
    )


def tensor_of_array(tensor, value):
    """Return an array as a tensor beside another one, one without dimensions as a number, all else as it is."""
    if not isinstance(value, ndarray):
        return value
    return tensor.__array_namespace__().asarray(value) if value.ndim else value[()]


def call_in_place(table, target, other):
    """Call an operator that writes to its first operand; the second may be a number."""
    if isinstance(other, TensorBase):
        return table.call2(target, other)
    if is_number(other):
        return call_with_number(table, target, other, False)
    if isinstance(other, ndarray):
        return call_in_place(table, target, tensor_of_array(target, other))
    return NotImplemented
