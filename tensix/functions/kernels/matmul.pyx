"""Products of matrices, by NumPy over zero-copy views."""
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport CKernel_binary
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.kernels.copy cimport converted
from tensix.tensors.dtype cimport dtype_of_code
from tensix.tensors.ndarray cimport ndarray_of_impl
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl_shape

import numpy as np

from tensix.dispatch import native_functions

cdef OperatorTable EMPTY = native_functions.EMPTY


cdef tuple matmul_shape(tuple a, tuple b):
    """Return the shape of a product: vectors lose their dimension, what stands before matrices is broadcast."""
    if not a or not b:
        raise ValueError(f"matmul() needs at least one dimension on each side, found shapes {a} and {b}.")
    before_a, rows, inner = (a[:len(a) - 2], a[len(a) - 2:len(a) - 1], a[len(a) - 1]) if len(a) > 1 else ((), (), a[0])
    before_b, columns, other = (b[:len(b) - 2], b[len(b) - 1:], b[len(b) - 2]) if len(b) > 1 else ((), (), b[0])
    if inner != other:
        raise ValueError(f"matmul() of shapes {a} and {b}: {inner} columns cannot be multiplied with {other} rows.")
    return (*np.broadcast_shapes(before_a, before_b), *rows, *columns)


cdef object matmul(TensorBase a, TensorBase b):
    """Multiply; on the device meta only the shape."""
    code = promote_codes(a.impl.dtype_code, b.impl.dtype_code)
    shape = matmul_shape(TensorImpl_shape(a.impl), TensorImpl_shape(b.impl))
    if a.impl.device_type != b.impl.device_type:
        raise RuntimeError(f"Expected all tensors to be on the same device, found {a.device} and {b.device}.")
    dtype = dtype_of_code(code)
    cdef TensorBase made = EMPTY(shape, dtype=dtype, device=a.device)
    if a.impl.device_type != META:
        left, right = ndarray_of_impl(converted(a.impl, code), False), ndarray_of_impl(converted(b.impl, code), False)
        np.matmul(left, right, out=ndarray_of_impl(made.impl, True))
    return made


for _key in ("CPU", "Meta"):
    native_functions.MATMUL.register(_key, CKernel_binary("matmul", matmul))
