"""What operators take beside tensors: a number or an array of NumPy serves as a tensor.

An array becomes a tensor over its memory, a scalar of NumPy a tensor of its type, a number of Python one of the other
operand's type, unless its kind is higher; see `promotion`. Most numbers are written here, in C, since a call such as
``x * 2`` costs little more than that: to the stack if the operator's kernel takes an element, else to a tensor. See
Note [How a kernel is called].
"""

import cython
import numpy as np
from cython.cimports.cpython.bool import PyBool_Check
from cython.cimports.cpython.complex import (
    PyComplex_Check, PyComplex_FromDoubles, PyComplex_ImagAsDouble, PyComplex_RealAsDouble,
)
from cython.cimports.cpython.float import PyFloat_Check, PyFloat_CheckExact
from cython.cimports.cpython.long import PyLong_Check
from cython.cimports.libc.stdint import int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from cython.cimports.numpy import ndarray
from cython.cimports.tensix.core.device import CPU
from cython.cimports.tensix.dispatch.kernel import Kernel
from cython.cimports.tensix.dispatch.local_state import active_hooks
from cython.cimports.tensix.dispatch.operator_table import (
    OperatorTable, OperatorTable_slot, begin_use_of, end_use_of, kernel_p,
)
from cython.cimports.tensix.tensors.dtype import (
    BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    dtype_from_any, dtype_of_code, refuse_undefined,
)
from cython.cimports.tensix.tensors.promotion import promote_number
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_mutable_data

from tensix.dispatch import native_functions

__all__ = []

EMPTY = cython.declare(OperatorTable, native_functions.EMPTY)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)
NUMPY_SCALAR = cython.declare(object, np.generic)


def is_number(value):
    """Return whether a value is a number of Python or a scalar of NumPy."""
    return PyFloat_Check(value) or PyLong_Check(value) or PyComplex_Check(value) or isinstance(value, NUMPY_SCALAR)


def scalar_like(tensor, value):
    """Return a number as a tensor without dimensions: of the tensor's type unless its kind is too low.

    A scalar of NumPy has a type and keeps it.

    Raises
    ------
    OverflowError
        If the type cannot hold it.
    """
    return number_of_type(tensor, tensor.impl.dtype_code, value)


def number_as_tensor(tensor, value):
    """Return a number as a tensor without dimensions, of the type that it has alone, on the device of a tensor."""
    return number_of_type(tensor, BOOL, value)


@cython.cfunc
def number_of_type(tensor: TensorBase, code: uint8_t, value) -> TensorBase:
    """Return a number as a tensor of a type, unless its kind is too low for it, on the device of a tensor."""
    impl = tensor.impl
    if impl is UNDEFINED:
        refuse_undefined()
    if not keeps_type(code, value):  # seldom: what is looked up there need not be
        if isinstance(value, NUMPY_SCALAR):
            code, value = dtype_from_any(value.dtype).code, value.item()
        else:
            code = promote_number(dtype_of_code(code), value).code
    made = EMPTY.call_empty(0, cython.NULL, code, impl.device_type, impl.device_index)
    body = cython.cast(TensorBase, made).impl
    if impl.device_type == CPU and write_number(code, TensorImpl_mutable_data(body), value):
        return made
    return FILL_.call_with(made, value)


@cython.cfunc
@cython.inline
def keeps_type(code: uint8_t, value) -> cython.bint:
    """Return whether it is certain that a number has no type of its own and no higher kind than a type."""
    if PyLong_Check(value):
        return code != BOOL
    return PyFloat_CheckExact(value) and code in (FLOAT32, FLOAT64)


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
    """Do what `write_number` does, with the compiler's words for what does not fit."""
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
        and not active_hooks
        and keeps_type(impl.dtype_code, number)
        and write_number(impl.dtype_code, element, number)
    ):
        begin_use_of(tensor)
        try:
            made = cython.cast(Kernel, kernel).number_function(cython.cast(Kernel, kernel), tensor, element, is_left)
        finally:
            end_use_of(tensor)
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
    made = call_binary(table, left, right)
    if made is NotImplemented:
        if isinstance(right, ndarray):
            return call_binary(table, left, tensor_of_array(left, right))
        if isinstance(left, ndarray):
            return call_binary(table, tensor_of_array(right, left), right)
    return made


def tensor_of_array(tensor, value):
    """Return an array as a tensor beside another one, one without dimensions as a number, all else unchanged."""
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
