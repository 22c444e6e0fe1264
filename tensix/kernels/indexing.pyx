"""Advanced indexing: tensors, arrays, lists and bools select a copy. See Note [Basic and advanced keys].

Masks and positions, also several of them and among basic keys, have loops here. NumPy selects all else, over zero-copy
views, so that the meaning of an index is NumPy's. Elements are moved, never interpreted: where NumPy lacks a type,
another of the same size is used.

Note [Order of an advanced index]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Keys may be any objects, and asking them what they mean runs their code, which may do anything, to the tensor as well.
So all of them are asked before the first address is taken. What is written is made writable before anything is read:
it may take its own bytes then, and what is read may be the same tensor.
"""
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport begin_use_of, end_use_of
from tensix.loops.copy cimport converted, in_order
from tensix.kernels.index_by_several cimport gather, gather_along, scatter
from tensix.loops.numpy_results cimport array_of_bits, call_numpy, take_over
from tensix.loops.overlap cimport check_writable_once
from tensix.kernels.index_by_one cimport select_rows, write_rows
from tensix.kernels.sorting cimport flattened
from tensix.tensors.dtype cimport INT64, UINT64, dtype_of_code, is_integer
from tensix.tensors.index_key cimport is_position
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_bump_version, TensorImpl_is_dense, TensorImpl_mutable_data, int64_of, wrap_dim,
)

from operator import getitem, setitem

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.numpy_kernel import NumpyKernel

cdef object LARGEST_POSITION = np.iinfo(np.int64).max


cdef object index(Kernel self, object table, arguments_t args):
    """Copy the elements that an index selects."""
    cdef int count = begin_uses_of_keys(<object>args[1])
    try:
        return selected_by(<TensorBase>args[0], <object>args[1])
    finally:
        end_uses_of_keys(<object>args[1], count)


cdef int begin_uses_of_keys(object index) except -1:
    """Count a use of each tensor in an index, and return the number of keys. See Note [Operands in use]."""
    cdef int count = 0
    if isinstance(index, TensorBase):
        begin_use_of(<TensorBase>index)
    elif isinstance(index, tuple):
        try:
            for key in <tuple>index:
                if isinstance(key, TensorBase):
                    begin_use_of(<TensorBase>key)
                count += 1
        except BaseException:
            end_uses_of_keys(index, count)
            raise
    return count


cdef int end_uses_of_keys(object index, int count) except -1:
    cdef int i
    if isinstance(index, TensorBase):
        end_use_of(<TensorBase>index)
    for i in range(count):
        key = (<tuple>index)[i]
        if isinstance(key, TensorBase):
            end_use_of(<TensorBase>key)
    return 0


cdef object selected_by(TensorBase a, object index):
    cdef TensorImpl made
    selected = select_rows(a.impl, index)
    if selected is not None:
        return selected
    cdef list keys = keys_of_index(index)
    cdef int code = a.impl.dtype_code
    selected = gather(a.impl, keys)
    if selected is not None:
        return selected
    source = array_of_bits(a.impl, False)
    where = tuple([array_of_key(key) for key in keys])
    try:
        found = call_numpy(getitem, (source, where))
    except IndexError as error:
        raise IndexError(in_our_words(error)) from None
    # NumPy gives a number where no dimension is left, and a view if all keys are basic: a call of this operator by
    # name gets the copy that its schema promises.
    made = take_over(without_overlap(found, source))
    made.dtype_code = code
    return Tensor_wrap(made)


cdef object index_put_(Kernel kernel, object table, arguments_t args):
    """Write values, broadcast and converted, to the elements that an index selects."""
    cdef int count = begin_uses_of_keys(<object>args[1])
    try:
        return write_selected(<TensorBase>args[0], <object>args[1], <TensorBase>args[2])
    finally:
        end_uses_of_keys(<object>args[1], count)


cdef object write_selected(TensorBase self, object index, TensorBase values):
    cdef list keys = keys_of_index(index)
    check_writable_once(self.impl)
    TensorImpl_mutable_data(self.impl)
    if values.impl.dtype_code != self.impl.dtype_code:
        values = Tensor_wrap(converted(values.impl, self.impl.dtype_code))
    if not values.impl.contiguous and TensorImpl_is_dense(values.impl):
        values = Tensor_wrap(in_order(values.impl))
    if write_rows(self.impl, index, values.impl) or scatter(self.impl, keys, values.impl):
        TensorImpl_bump_version(self.impl)
        return self
    target = array_of_bits(self.impl, True)
    source = without_overlap(array_of_bits(values.impl, False), target)
    where = tuple([without_overlap(array_of_key(key), target) for key in keys])
    try:
        call_numpy(setitem, (target, where, source))
    except IndexError as error:
        raise IndexError(in_our_words(error)) from None
    except (TypeError, ValueError) as error:  # of shapes; types have been checked
        raise ValueError(in_our_words(error)) from None
    TensorImpl_bump_version(self.impl)
    return self


cdef list keys_of_index(object index):
    """Return the keys of an index in forms whose code has run. See Note [Order of an advanced index]."""
    if isinstance(index, tuple):
        return [plain_key(key) for key in index]
    return [plain_key(index)]


cdef object plain_key(object key):
    """Return a key in a form that runs no code when NumPy reads it: an int, a slice of ints, an array, a tensor."""
    if key is None or key is Ellipsis or isinstance(key, (bool, TensorBase)):
        return key
    if isinstance(key, slice):
        return slice(plain_bound(key.start), plain_bound(key.stop), plain_bound(key.step))
    if is_position(key):
        return max(-LARGEST_POSITION, min(PyNumber_Index(key), LARGEST_POSITION))  # out of bounds in any case
    if isinstance(key, (str, bytes)):
        refuse_key(type(key).__name__)
    try:
        array = np.asarray(key)
    except ValueError:
        raise IndexError(f"a {type(key).__name__} whose parts have different lengths is not an index.") from None
    if array.size == 0 and not isinstance(key, np.ndarray):
        return array.astype(np.int64)  # an empty list says nothing of its type
    if array.dtype.kind not in "biu":
        refuse_key(type(key).__name__ if array.dtype == object else f"{type(key).__name__} of {array.dtype}")
    return array


cdef object plain_bound(object bound):
    return None if bound is None else PyNumber_Index(bound)


cdef int refuse_key(str found) except -1:
    raise IndexError(
        "an index is made of ints, slices, Ellipsis, None, and of tensors, arrays or lists of integers or bools, found "
        f"{found}."
    )


cdef object array_of_key(object key):
    """Return a key with its tensor as an array, and no numbers that NumPy would take for negative ones."""
    cdef TensorImpl impl
    if isinstance(key, TensorBase):
        impl = (<TensorBase>key).impl
        kind = dtype_of_code(impl.dtype_code).kind
        if kind not in "biu":
            refuse_key(f"tensor of {dtype_of_code(impl.dtype_code)}")
        key = array_of_bits(impl, False)
    if isinstance(key, np.ndarray) and key.dtype == np.uint64:
        return np.minimum(key, LARGEST_POSITION).astype(np.int64)
    return key


cdef object without_overlap(object source, object target):
    """Return what is read, copied if it may lie where will be written."""
    if isinstance(source, np.ndarray) and source.base is not None and np.may_share_memory(source, target):
        return call_numpy(source.copy, ())
    return source


cdef str in_our_words(object error):
    """Return NumPy's text with our names of things."""
    text = str(error).replace("NumPy boolean array indexing assignment", "assignment to the elements of a mask")
    return text.replace("arrays", "tensors").replace("array", "tensor").replace("axis", "dimension")


# ---- positions along a dimension


def as_positions(indices):
    """Return indices that NumPy takes: of uint64 it would not, and bools it would take for 0 and 1."""
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, found {indices.dtype}.")
    return np.minimum(indices, np.iinfo(np.int64).max).astype(np.int64) if indices.dtype == np.uint64 else indices


cdef object take(Kernel self, object table, arguments_t args):
    """Gather; what is not an index of that form, or out of bounds, is for NumPy to say."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef object axis = <object>args[2]
    cdef TensorBase found = None
    cdef int dim = 0 if axis is None else wrap_dim(int64_of(axis), x.ndim)
    if are_positions((<TensorBase>args[1]).impl):
        found = gather(flattened(x) if axis is None else x, [slice(None)] * dim + [<object>args[1]])
    return TAKE_BY_NUMPY.function(TAKE_BY_NUMPY, table, args) if found is None else found


cdef object take_along_axis(Kernel self, object table, arguments_t args):
    """Gather along one dimension; the same holds."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl index = (<TensorBase>args[1]).impl
    cdef int64_t axis = int64_of(<object>args[2])
    cdef TensorBase found = None
    if index.ndim == x.ndim and are_positions(index):
        found = gather_along(x, converted(index, INT64), wrap_dim(axis, x.ndim))
    return ALONG_BY_NUMPY.function(ALONG_BY_NUMPY, table, args) if found is None else found


cdef bint are_positions(TensorImpl index) except -1:
    """Return whether a tensor has integers that fit into int64."""
    return is_integer(index.dtype_code) and index.dtype_code != UINT64


def take_kernel(self, index, *, axis):
    """Take copies."""
    return np.take(self, as_positions(index), axis)


def take_along_axis_kernel(self, indices, axis):
    """Take copies."""
    if indices.ndim != self.ndim:
        raise ValueError(f"take_along_axis() needs indices of {self.ndim} dimensions, found {indices.ndim}.")
    return np.take_along_axis(self, as_positions(indices), axis)


cdef Kernel TAKE_BY_NUMPY = NumpyKernel(take_kernel, moves=True)
cdef Kernel ALONG_BY_NUMPY = NumpyKernel(take_along_axis_kernel, moves=True)

for _table, _kernel in (
    (native_functions.INDEX_TENSOR, Kernel_of("index", index)),
    (native_functions.INDEX_PUT_, Kernel_of("index_put_", index_put_)),
    (native_functions.TAKE, Kernel_of("take", take)),
    (native_functions.TAKE_ALONG_AXIS, Kernel_of("take_along_dim", take_along_axis)),
):
    _table.register("CPU", _kernel)
