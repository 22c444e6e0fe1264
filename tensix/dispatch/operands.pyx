"""What operators take beside tensors: a number or an array of NumPy serves as a tensor.

An array becomes a tensor over its memory, a scalar of NumPy a tensor of its type, a number of Python one of the other
operand's type, unless its kind is higher; see `promotion`. Most numbers are written here, in C, since a call such as
``x * 2`` costs little more than that: to the stack if the operator's kernel takes an element, else to a tensor. See
Note [How a kernel is called].
"""

import numpy as np
from cpython.bool cimport PyBool_Check
from cpython.complex cimport (
    PyComplex_Check, PyComplex_FromDoubles, PyComplex_ImagAsDouble, PyComplex_RealAsDouble,
)
from cpython.float cimport PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from numpy cimport ndarray
from tensix.core.device cimport CPU
from tensix.dispatch.kernel cimport Kernel
from tensix.dispatch.local_state cimport active_hooks
from tensix.dispatch.operator_table cimport (
    OperatorTable, OperatorTable_slot, begin_use_of, end_use_of, kernel_p,
)
from tensix.tensors.dtype cimport (
    BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    dtype_from_any, dtype_of_code, refuse_undefined,
)
from tensix.tensors.promotion cimport promote_number
from tensix.tensors.tensor_base cimport UNDEFINED, TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl_mutable_data

from tensix.dispatch import native_functions

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable FILL_ = native_functions.FILL_
cdef object NUMPY_SCALAR = np.generic


cdef bint is_number(object value):
    """Return whether a value is a number of Python or a scalar of NumPy."""
    return PyFloat_Check(value) or PyLong_Check(value) or PyComplex_Check(value) or isinstance(value, NUMPY_SCALAR)


cpdef TensorBase scalar_like(TensorBase tensor, object value):
    """Return a number as a tensor without dimensions: of the tensor's type unless its kind is too low.

    A scalar of NumPy has a type and keeps it.

    Raises
    ------
    OverflowError
        If the type cannot hold it.
    """
    return number_of_type(tensor, tensor.impl.dtype_code, value)


cdef TensorBase number_of_type(TensorBase tensor, uint8_t code, object value):
    """Return a number as a tensor of a type, unless its kind is too low for it, on the device of a tensor.

    Of bool, the lowest kind, a number becomes what it is alone.
    """
    impl = tensor.impl
    if impl is UNDEFINED:
        refuse_undefined()
    if not keeps_type(code, value):  # seldom: what is looked up there need not be
        if isinstance(value, NUMPY_SCALAR):
            code, value = dtype_from_any(value.dtype).code, value.item()
        else:
            code = promote_number(dtype_of_code(code), value).code
    made = EMPTY.call_empty(0, NULL, code, impl.device_type, impl.device_index)
    body = (<TensorBase>made).impl
    if impl.device_type == CPU and write_number(code, TensorImpl_mutable_data(body), value):
        return made
    return FILL_.call_with(made, value)


cdef inline bint keeps_type(uint8_t code, object value):
    """Return whether it is certain that a number has no type of its own and no higher kind than a type."""
    if PyLong_Check(value):
        return code != BOOL
    return PyFloat_CheckExact(value) and code in (FLOAT32, FLOAT64)


cdef object read_number(uint8_t code, const void* data):
    """Return an element as a number of Python; None if its type is not among those read here."""
    if code == FLOAT32:
        return <double>((<float*>data)[0])
    if code == FLOAT64:
        return (<double*>data)[0]
    if code == INT64:
        return (<int64_t*>data)[0]
    if code == BOOL:
        return (<uint8_t*>data)[0] != 0
    if code == INT32:
        return (<int32_t*>data)[0]
    if code == UINT8:
        return (<uint8_t*>data)[0]
    if code == INT8:
        return (<int8_t*>data)[0]
    if code == INT16:
        return (<int16_t*>data)[0]
    if code == UINT16:
        return (<uint16_t*>data)[0]
    if code == UINT32:
        return (<uint32_t*>data)[0]
    if code == UINT64:
        return (<uint64_t*>data)[0]
    if code == COMPLEX64:
        return PyComplex_FromDoubles((<float*>data)[0], (<float*>data)[1])
    if code == COMPLEX128:
        return PyComplex_FromDoubles((<double*>data)[0], (<double*>data)[1])
    return None


cdef bint write_number(uint8_t code, void* data, object value) except -1:
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


cdef bint write_fitting(uint8_t code, void* data, object value) except -1:
    """Do what `write_number` does, with the compiler's words for what does not fit."""
    cdef double real
    cdef double imag
    if code == FLOAT32:
        (<float*>data)[0] = <double>value
    elif code == FLOAT64:
        (<double*>data)[0] = value
    elif code in (COMPLEX64, COMPLEX128):
        number = complex(value)
        # Two numbers, and never C's complex one: that is made as real + imag * I, and infinity times 0 is NaN.
        real, imag = PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)
        if code == COMPLEX64:
            (<float*>data)[0] = real
            (<float*>data)[1] = imag
        else:
            (<double*>data)[0] = real
            (<double*>data)[1] = imag
    elif not PyLong_Check(value):
        return False
    elif code == INT64:
        (<int64_t*>data)[0] = value
    elif code == INT32:
        (<int32_t*>data)[0] = value
    elif code == UINT8:
        (<uint8_t*>data)[0] = value
    elif code == INT8:
        (<int8_t*>data)[0] = value
    elif code == INT16:
        (<int16_t*>data)[0] = value
    elif code == BOOL and PyBool_Check(value):
        (<uint8_t*>data)[0] = value
    elif code == UINT16:
        (<uint16_t*>data)[0] = value
    elif code == UINT32:
        (<uint32_t*>data)[0] = value
    elif code == UINT64:
        (<uint64_t*>data)[0] = value
    else:
        return False
    return True


cdef object call_with_number(OperatorTable table, TensorBase tensor, object number, bint is_left):
    """Call a binary operator with a number on one side."""
    cdef double[2] element  # of the widest type
    impl = tensor.impl
    cdef kernel_p kernel = table.slots[OperatorTable_slot(table, impl.key_set)]
    if (
        (<Kernel>kernel).number_function != NULL
        and not active_hooks
        and keeps_type(impl.dtype_code, number)
        and write_number(impl.dtype_code, element, number)
    ):
        begin_use_of(tensor)
        try:
            made = (<Kernel>kernel).number_function(<Kernel>kernel, tensor, element, is_left)
        finally:
            end_use_of(tensor)
        if made is not None:
            return made
    other = scalar_like(tensor, number)
    return table.call2(other, tensor) if is_left else table.call2(tensor, other)


cdef object call_binary(OperatorTable table, object left, object right):
    """Call a binary operator, one side of which may be a number; what else it is, is not implemented."""
    cdef TensorBase a
    cdef TensorBase b
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


cdef object call_operator(OperatorTable table, object left, object right):
    """Call a binary operator from its sign; an array becomes a tensor over its memory."""
    made = call_binary(table, left, right)
    if made is NotImplemented:
        if isinstance(right, ndarray):
            return call_binary(table, left, tensor_of_array(left, right))
        if isinstance(left, ndarray):
            return call_binary(table, tensor_of_array(right, left), right)
    return made


cdef object tensor_of_array(TensorBase tensor, object value):
    """Return an array as a tensor beside another one, one without dimensions as a number, all else unchanged."""
    if not isinstance(value, ndarray):
        return value
    return tensor.__array_namespace__().asarray(value) if value.ndim else value[()]


cdef object call_in_place(OperatorTable table, TensorBase target, object other):
    """Call an operator that writes to its first operand; the second may be a number."""
    if isinstance(other, TensorBase):
        return table.call2(target, other)
    if is_number(other):
        return call_with_number(table, target, other, False)
    if isinstance(other, ndarray):
        found = tensor_of_array(target, other)  # an array again: numpy.ma.masked, or an element of an array of objects
        return NotImplemented if isinstance(found, ndarray) else call_in_place(table, target, found)
    return NotImplemented
