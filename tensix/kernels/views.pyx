"""Kernels that return views: new geometry over the same storage, and the same storage read as another type.

Every kernel here is composite: it touches sizes, strides and offset only, so it serves every device. Where no strides
describe the new shape, `reshape` and `contiguous` call `clone`.

Note [Positions beyond 64 bits]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
An index or a length beyond 64 bits is out of every range, and the error should say so. Such a number is taken for the
largest or smallest of 64 bits, which is out of every range as well; the error's text shows the number as given.

Note [Lists that change]
~~~~~~~~~~~~~~~~~~~~~~~~
Taking a number runs its ``__index__``, which may be any code and may lengthen the list that the number came from.
Kernels that make space for as many dimensions as a sequence has take a tuple of it first; that of a tuple is itself.
"""

import math

from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint64_t
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.statistical cimport axes_from_any
from tensix.tensors.dtype cimport BOOL, DType, dtype_from_any, dtype_of_code
from tensix.tensors.index_key cimport finds_element, is_position
from tensix.tensors.memory_format cimport TensorImpl_is_contiguous_in, memory_format_from_any
from tensix.tensors.tensor_base cimport Tensor_wrap, TensorBase
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_check_bounds, TensorImpl_copy_dims, TensorImpl_is_aligned, TensorImpl_refresh,
    TensorImpl_refresh_order, TensorImpl_shallow_copy, TensorImpl_shallow_copy_from, TensorImpl_shape, TensorImpl_sizes,
    TensorImpl_stride, TensorImpl_strides, TensorImpl_view, contiguous_strides, int64_of, tx_multiply_overflows,
    wrap_dim,
)

from tensix.dispatch import native_functions
from tensix.tensors.memory_format import contiguous_format

cdef OperatorTable CLONE = native_functions.CLONE
cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable FILL_ = native_functions.FILL_


cdef int64_t position_of(object number) except? -1:
    """Return an index, start or length. See Note [Positions beyond 64 bits]."""
    if type(number) is not int:
        return int64_of(number)
    cdef int overflow = 0
    position = PyLong_AsLongLongAndOverflow(number, &overflow)
    if overflow:
        return INT64_MAX if overflow > 0 else INT64_MIN
    return position


# ---- the same elements in another body


cdef object detach(Kernel kernel, object table, arguments_t args):
    return Tensor_wrap(TensorImpl_shallow_copy((<TensorBase>args[0]).impl))


cdef object set_(Kernel kernel, object table, arguments_t args):
    target, source = <TensorBase>args[0], <TensorBase>args[1]
    TensorImpl_shallow_copy_from(target.impl, source.impl, 1 + (source.impl is target.impl))
    return target


# ---- order of dimensions


cdef object reverse_dims(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    view = TensorImpl_view(base, base.ndim)
    cdef int last = base.ndim - 1
    sizes, strides = TensorImpl_sizes(base), TensorImpl_strides(base)
    new_sizes, new_strides = TensorImpl_sizes(view), TensorImpl_strides(view)
    for i in range(base.ndim):
        new_sizes[last - i], new_strides[last - i] = sizes[i], strides[i]
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


cdef object permute(Kernel kernel, object table, arguments_t args):
    dims = tuple(<object>args[1])  # See Note [Lists that change]
    return Tensor_wrap(permuted((<TensorBase>args[0]).impl, dims))


cdef TensorImpl permuted(TensorImpl base, tuple order):
    if len(order) != base.ndim:
        raise ValueError(f"permute() of {base.ndim} dimensions needs as many, found {order}.")
    view = TensorImpl_view(base, base.ndim)
    cdef unsigned long long seen = 0
    for i in range(view.ndim):
        source = wrap_dim(int64_of(order[i]), view.ndim)
        if seen >> source & 1:
            raise ValueError(f"permute() needs each dimension once, found {order}.")
        seen |= <unsigned long long>1 << source
        TensorImpl_copy_dims(base, view, source, i, 1)
    TensorImpl_refresh_order(view, base.numel)
    return view


cdef TensorImpl moved(TensorImpl base, int source, int target):
    """Return a view with a dimension in another place."""
    view = TensorImpl_view(base, base.ndim)
    cdef int kept = 0
    for i in range(base.ndim):
        if i == target:
            TensorImpl_copy_dims(base, view, source, i, 1)
        else:
            kept += kept == source
            TensorImpl_copy_dims(base, view, kept, i, 1)
            kept += 1
    TensorImpl_refresh_order(view, base.numel)
    return view


cdef object transpose(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    first = wrap_dim(int64_of(<object>args[1]), base.ndim)
    second = wrap_dim(int64_of(<object>args[2]), base.ndim)
    return exchanged(base, first, second)


cdef object exchanged(TensorImpl base, int first, int second):
    view = TensorImpl_shallow_copy(base)
    TensorImpl_copy_dims(base, view, first, second, 1)
    TensorImpl_copy_dims(base, view, second, first, 1)
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


cdef object t(Kernel kernel, object table, arguments_t args):
    ndim = (<TensorBase>args[0]).impl.ndim
    if ndim > 2:
        raise ValueError(f"t() is for at most 2 dimensions, found {ndim}: use transpose(), permute() or mT.")
    return reverse_dims(kernel, table, args)


cdef object matrix_transpose(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    if base.ndim < 2:
        raise ValueError(f"mT is for 2 dimensions or more, found {base.ndim}.")
    return exchanged(base, base.ndim - 2, base.ndim - 1)


cdef object movedim(Kernel kernel, object table, arguments_t args):
    """Put the moved dimensions to their places, and let the others fill the gaps in their order."""
    base = (<TensorBase>args[0]).impl
    source, destination = <object>args[1], <object>args[2]
    sources = distinct_dims(source, base.ndim, "source")
    places = distinct_dims(destination, base.ndim, "destination")
    if len(sources) != len(places):
        raise ValueError(f"movedim() needs a destination for each source, found {source} and {destination}.")
    order = [dim for dim in range(base.ndim) if dim not in sources]
    for place, dim in sorted(zip(places, sources, strict=True)):
        order.insert(place, dim)
    return Tensor_wrap(permuted(base, tuple(order)))


cdef list distinct_dims(object dims, int ndim, object what):
    """Return a dimension, or a sequence of them, counted from the front; each may come once."""
    wrapped = [wrap_dim(int64_of(dim), ndim) for dim in ((dims,) if PyIndex_Check(dims) else dims)]
    if len(set(wrapped)) != len(wrapped):
        raise ValueError(f"movedim() needs each {what} dimension once, found {tuple(dims)}.")
    return wrapped


# ---- dimensions of size 1


cdef object expand(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    shape = tuple(<object>args[1])  # See Note [Lists that change]
    cdef int new = len(shape) - base.ndim
    cdef int64_t extent
    if new < 0:
        raise ValueError(f"cannot expand shape {TensorImpl_shape(base)} to {shape}: it has fewer dimensions.")
    view = TensorImpl_view(base, len(shape))
    for i in range(view.ndim):
        TensorImpl_sizes(view)[i] = int64_of(shape[i])
    for i in range(view.ndim):
        extent = TensorImpl_sizes(base)[i - new] if i >= new else 1
        wanted = TensorImpl_sizes(view)[i]
        if wanted == -1 and i >= new:
            wanted = extent
        if wanted < 0 or extent not in (wanted, 1):
            raise ValueError(
                f"cannot expand shape {TensorImpl_shape(base)} to {shape}: only dimensions of size 1 repeat."
            )
        TensorImpl_sizes(view)[i] = wanted
        TensorImpl_strides(view)[i] = TensorImpl_strides(base)[i - new] if i >= new and wanted == extent else 0
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object squeeze(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    dims = <object>args[1]
    cdef uint64_t gone = 0
    cdef int kept = base.ndim
    if dims is not None:
        gone = axes_from_any(dims, base.ndim)
    sizes = TensorImpl_sizes(base)
    for dim in range(base.ndim):
        if dims is None:
            gone |= <uint64_t>(sizes[dim] == 1) << dim
        elif gone >> dim & 1 and sizes[dim] != 1:
            raise ValueError(f"cannot squeeze dimension {dim} of shape {TensorImpl_shape(base)}: its size is not 1.")
        kept -= gone >> dim & 1
    view = TensorImpl_view(base, kept)
    cdef int target = 0
    for source in range(base.ndim):
        if not gone >> source & 1:
            TensorImpl_copy_dims(base, view, source, target, 1)
            target += 1
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object unsqueeze(Kernel kernel, object table, arguments_t args):
    """Add a dimension; its stride is what the next one spans, so that channels-last stays recognisable."""
    base = (<TensorBase>args[0]).impl
    where = wrap_dim(int64_of(<object>args[1]), base.ndim + 1)
    view = TensorImpl_view(base, base.ndim + 1)
    TensorImpl_copy_dims(base, view, 0, 0, where)
    TensorImpl_sizes(view)[where] = 1
    TensorImpl_strides(view)[where] = (
        TensorImpl_sizes(base)[where] * TensorImpl_strides(base)[where] if where < base.ndim else 1
    )
    TensorImpl_copy_dims(base, view, where, where + 1, base.ndim - where)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


# ---- other shapes


cdef object view(Kernel kernel, object table, arguments_t args):
    return viewed((<TensorBase>args[0]).impl, shape_of(<object>args[1]))


cdef inline object viewed(TensorImpl base, tuple shape):
    made = view_or_none(base, shape)
    if made is None:
        raise ValueError(
            f"cannot view shape {TensorImpl_shape(base)} with stride {TensorImpl_stride(base)} as {shape}: "
            "a new dimension would have no single stride. Use reshape(), which copies then."
        )
    return made


cdef inline tuple shape_of(object sizes):
    return sizes if type(sizes) is tuple else tuple(sizes)  # See Note [Lists that change]


cdef object reshape(Kernel kernel, object table, arguments_t args):
    return reshaped(<TensorBase>args[0], shape_of(<object>args[1]))


cdef inline object reshaped(TensorBase a, tuple shape):
    made = view_or_none(a.impl, shape)
    if made is None:
        copy = CLONE.call_with(a, contiguous_format)  # held: it is its body's only owner
        made = viewed((<TensorBase>copy).impl, shape)
    return made


cdef object contiguous(Kernel kernel, object table, arguments_t args):
    """Return the very same handle if there is nothing to do."""
    a = <TensorBase>args[0]
    memory_format = memory_format_from_any(<object>args[1])
    if TensorImpl_is_contiguous_in(a.impl, memory_format):
        return a
    return CLONE.call_with(a, memory_format)


cdef object flatten(Kernel kernel, object table, arguments_t args):
    """Merge a run of dimensions; without dimensions there is still one element."""
    a = <TensorBase>args[0]
    ndim = a.impl.ndim
    start, stop = <object>args[1], <object>args[2]
    first = wrap_dim(int64_of(start), ndim or 1)
    last = wrap_dim(int64_of(stop), ndim or 1)
    if last < first:
        raise ValueError(f"flatten() merges dimensions from the first to the last, found {start} to {stop}.")
    shape = TensorImpl_shape(a.impl)
    return reshaped(a, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


cdef object unflatten(Kernel kernel, object table, arguments_t args):
    """Split a dimension; a stride runs through all of it, so this never copies."""
    base = (<TensorBase>args[0]).impl
    dim = wrap_dim(int64_of(<object>args[1]), base.ndim)
    shape = tuple(<object>args[2])
    cdef int count = len(shape)
    extent = TensorImpl_sizes(base)[dim]
    if count == 0:
        raise ValueError("unflatten() needs one size at least.")
    view = TensorImpl_view(base, base.ndim + count - 1)
    sizes = TensorImpl_sizes(view) + dim
    strides = TensorImpl_strides(view) + dim
    if not fill_in_sizes(extent, shape, sizes):
        raise ValueError(f"cannot split dimension {dim} of size {extent} into {shape}.")
    contiguous_strides(count, sizes, strides)
    for i in range(count):
        strides[i] *= TensorImpl_strides(base)[dim]
    TensorImpl_copy_dims(base, view, 0, 0, dim)
    TensorImpl_copy_dims(base, view, dim + 1, dim + count, base.ndim - dim - 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object view_or_none(TensorImpl base, tuple shape):
    """Return the view of another shape, None if the strides do not allow one."""
    made = TensorImpl_view(base, len(shape))
    sizes = TensorImpl_sizes(made)
    strides = TensorImpl_strides(made)
    if not fill_in_sizes(base.numel, shape, sizes):
        raise ValueError(f"cannot give {base.numel} elements of shape {TensorImpl_shape(base)} the shape {shape}.")
    if base.contiguous:
        made.numel, made.contiguous = contiguous_strides(made.ndim, sizes, strides), True
    elif strides_of_view(base, made.ndim, sizes, strides):
        TensorImpl_refresh(made)
    else:
        return None
    return Tensor_wrap(made)


cdef bint fill_in_sizes(int64_t numel, tuple shape, int64_t* sizes) except -1:
    """Take the wanted sizes, of which one may be -1, and return whether they hold so many elements."""
    cdef int64_t known = 1
    cdef int unknown = -1
    cdef bint fits = True
    for i in range(len(shape)):
        size = int64_of(shape[i])
        if size == -1 and unknown == -1:
            unknown = i
        elif size < 0:
            raise ValueError(f"sizes must be 0 or more, one of them may be -1, found {shape}.")
        else:
            sizes[i] = size
            fits = fits and not tx_multiply_overflows(known, size, &known)
    if unknown == -1:
        return fits and known == numel
    fits = fits and known != 0 and numel % known == 0  # known of 0 would leave any size to choose from
    sizes[unknown] = numel // known if fits else 0
    return fits


cdef bint strides_of_view(TensorImpl base, int ndim, int64_t* sizes, int64_t* strides) noexcept:
    """Give each run of mergeable dimensions of `base` its share of the new ones; False if one would straddle runs."""
    cdef int64_t filled = 1  # elements of the new dimensions behind
    if base.numel == 0:
        for i in range(ndim - 1, -1, -1):
            strides[i] = filled
            filled *= sizes[i] if sizes[i] > 1 else 1
        return True
    old_sizes = TensorImpl_sizes(base)
    old_strides = TensorImpl_strides(base)
    cdef int target = ndim - 1
    cdef int64_t run = 1  # elements of the run of old dimensions that ends here
    cdef int64_t inner = old_strides[base.ndim - 1] if base.ndim else 1
    for dim in range(base.ndim - 1, -1, -1):
        run *= old_sizes[dim]
        if dim == 0 or (old_sizes[dim - 1] != 1 and old_strides[dim - 1] != run * inner):
            filled = 1
            while target >= 0 and (filled < run or sizes[target] == 1):
                strides[target] = filled * inner
                filled *= sizes[target]
                target -= 1
            if filled != run:
                return False
            if dim > 0:
                inner = old_strides[dim - 1]
                run = 1
    return target == -1


# ---- other types


cdef object view_dtype(Kernel kernel, object table, arguments_t args):
    """Read the bytes as another type; where item sizes differ, the last dimension holds more or fewer items."""
    base = (<TensorBase>args[0]).impl
    view = TensorImpl_shallow_copy(base)
    cdef DType found = dtype_of_code(base.dtype_code)
    cdef DType dtype = dtype_from_any(<object>args[1])
    if dtype.itemsize == 0:
        raise TypeError(f"no element can be read as {dtype}.")
    view.dtype_code = dtype.code
    if dtype.itemsize != found.itemsize:
        if base.ndim == 0:
            raise ValueError(f"cannot view {found} as {dtype} without dimensions: the item sizes differ.")
        if TensorImpl_strides(base)[base.ndim - 1] != 1:
            raise ValueError(
                f"cannot view {found} as {dtype}: the item sizes differ, so the last stride must be 1, found "
                f"{TensorImpl_strides(base)[base.ndim - 1]}."
            )
        if dtype.itemsize < found.itemsize:
            split_items(view, found.itemsize // dtype.itemsize)
        else:
            join_items(view, dtype.itemsize // found.itemsize, found, dtype)
    TensorImpl_refresh(view)
    check_aligned(view, dtype)
    return Tensor_wrap(view)


cdef int split_items(TensorImpl view, int64_t ratio) except -1:
    cdef int last = view.ndim - 1
    sizes = TensorImpl_sizes(view)
    if tx_multiply_overflows(sizes[last], ratio, &sizes[last]):
        raise ValueError(f"a last dimension {ratio} times as long has more elements than 63 bits count.")
    for i in range(last):
        TensorImpl_strides(view)[i] *= ratio
    view.storage_offset *= ratio
    return 0


cdef int join_items(TensorImpl view, int64_t ratio, DType found, DType dtype) except -1:
    cdef int last = view.ndim - 1
    strides = TensorImpl_strides(view)
    for i in range(last):
        if strides[i] % ratio:
            refuse_to_join(f"the stride of dimension {i}", strides[i], ratio, found, dtype)
        strides[i] //= ratio
    if TensorImpl_sizes(view)[last] % ratio:
        refuse_to_join("the last size", TensorImpl_sizes(view)[last], ratio, found, dtype)
    if view.storage_offset % ratio:
        refuse_to_join("the storage offset", view.storage_offset, ratio, found, dtype)
    TensorImpl_sizes(view)[last] //= ratio
    view.storage_offset //= ratio
    return 0


cdef int refuse_to_join(object what, int64_t number, int64_t ratio, DType found, DType dtype) except -1:
    raise ValueError(f"cannot view {found} as {dtype}: {what} must be divisible by {ratio}, found {number}.")


cdef int check_aligned(TensorImpl view, DType dtype) except -1:
    """Check that memory from outside, which starts anywhere, has the elements where loops may read them."""
    if not TensorImpl_is_aligned(view, dtype.itemsize if dtype.numpy is None else dtype.numpy.alignment):
        raise ValueError(f"the elements would not be aligned for {dtype}. Copy them with clone() first.")
    return 0


# ---- parts


cdef object select(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    dim = wrap_dim(int64_of(<object>args[1]), base.ndim)
    return selected(base, dim, place_of(base, dim, PyNumber_Index(<object>args[2])))


cdef int64_t place_of(TensorImpl base, int dim, object index) except -1:
    """Return an index, an int, counted from the start of a dimension."""
    cdef int overflow = 0
    extent = TensorImpl_sizes(base)[dim]
    place = PyLong_AsLongLongAndOverflow(index, &overflow)
    if place < 0:
        place += extent
    if overflow or not 0 <= place < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}.")
    return place


cdef object selected(TensorImpl base, int dim, int64_t index):
    """Return the view at one index, which is there."""
    view = TensorImpl_view(base, base.ndim - 1)
    TensorImpl_copy_dims(base, view, 0, 0, dim)
    TensorImpl_copy_dims(base, view, dim + 1, dim, base.ndim - 1 - dim)
    view.storage_offset += index * TensorImpl_strides(base)[dim]
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object narrow(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    dim = wrap_dim(int64_of(<object>args[1]), base.ndim)
    from_, count = <object>args[2], <object>args[3]
    start = position_of(from_)
    length = position_of(count)
    extent = TensorImpl_sizes(base)[dim]
    if start < 0:
        start += extent
    if not (0 <= start <= extent and 0 <= length <= extent - start):
        raise IndexError(f"start ({from_}) + length ({count}) exceeds dimension size ({extent}).")
    return Tensor_wrap(narrowed(base, dim, start, length))


cdef TensorImpl narrowed(TensorImpl base, int dim, int64_t start, int64_t length):
    """Return the view on a stretch of a dimension, all of which is there."""
    view = TensorImpl_shallow_copy(base)
    TensorImpl_sizes(view)[dim] = length
    if length != 0:  # else the offset stays inside the storage
        view.storage_offset += start * TensorImpl_strides(base)[dim]
    TensorImpl_refresh(view)
    return view


cdef object diagonal(Kernel kernel, object table, arguments_t args):
    """Step along two dimensions at once; the diagonal comes last."""
    base = (<TensorBase>args[0]).impl
    offset = position_of(<object>args[1])
    row = wrap_dim(int64_of(<object>args[2]), base.ndim)
    column = wrap_dim(int64_of(<object>args[3]), base.ndim)
    if row == column:
        raise ValueError(f"a diagonal runs through two dimensions, found dimension {row} twice.")
    rows = TensorImpl_sizes(base)[row] + (offset if offset < 0 else 0)
    columns = TensorImpl_sizes(base)[column] - (offset if offset > 0 else 0)
    cdef int64_t length = max(min(rows, columns), 0)
    view = TensorImpl_view(base, base.ndim - 1)
    cdef int target = 0
    for dim in range(base.ndim):
        if dim not in (row, column):
            TensorImpl_copy_dims(base, view, dim, target, 1)
            target += 1
    strides = TensorImpl_strides(base)
    TensorImpl_sizes(view)[target] = length
    TensorImpl_strides(view)[target] = strides[row] + strides[column]
    if length != 0:
        view.storage_offset += offset * strides[column] if offset > 0 else -offset * strides[row]
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object flip(Kernel kernel, object table, arguments_t args):
    """Return the view with negative strides."""
    base = (<TensorBase>args[0]).impl
    turned = axes_from_any(<object>args[1], base.ndim)
    view = TensorImpl_view(base, base.ndim)
    TensorImpl_copy_dims(base, view, 0, 0, base.ndim)
    for i in range(view.ndim):
        if turned >> i & 1:
            if TensorImpl_sizes(view)[i] != 0:  # else the offset stays inside the storage
                view.storage_offset += (TensorImpl_sizes(view)[i] - 1) * TensorImpl_strides(view)[i]
            TensorImpl_strides(view)[i] *= -1
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


# ---- parts by a key: ints, slices, Ellipsis and None. See Note [Basic and advanced keys]


cdef object index(Kernel kernel, object table, arguments_t args):
    """Take ints, slices, Ellipsis and None, alone or in a tuple."""
    base = (<TensorBase>args[0]).impl
    key = <object>args[1]
    cdef int64_t offset = 0
    cdef TensorImpl view
    if type(key) is int and base.ndim != 0:
        return selected(base, 0, place_of(base, 0, key))
    elif isinstance(key, slice) and base.ndim != 0:
        view = TensorImpl_view(base, base.ndim)
        index_slice(base, view, 0, 0, key)
        TensorImpl_copy_dims(base, view, 1, 1, base.ndim - 1)
    elif finds_element(base, key, &offset):
        view = TensorImpl_view(base, 0)
        view.storage_offset, view.numel, view.contiguous = offset, 1, True
        return Tensor_wrap(view)
    else:
        view = index_tuple(base, key if isinstance(key, tuple) else (key,))
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef TensorImpl index_tuple(TensorImpl base, tuple keys):
    cdef int consumed = 0
    cdef int added = 0
    cdef int ellipses = 0
    for key in keys:
        if isinstance(key, slice):
            consumed += 1
        elif key is None:
            added += 1
        elif key is Ellipsis:
            ellipses += 1
        else:
            consumed += 1
            added -= 1
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...').")
    if consumed > base.ndim:
        raise IndexError(f"too many indices for a tensor of {base.ndim} dimensions: found {consumed}.")
    view = TensorImpl_view(base, base.ndim + added)
    cdef int source = 0  # the next dimension of base
    cdef int target = 0  # and of the view
    cdef int rest = base.ndim - consumed
    for key in keys:
        if isinstance(key, slice):
            index_slice(base, view, source, target, key)
            source += 1
            target += 1
        elif key is None:
            TensorImpl_sizes(view)[target] = 1
            TensorImpl_strides(view)[target] = 0
            target += 1
        elif key is Ellipsis:
            TensorImpl_copy_dims(base, view, source, target, rest)
            source += rest
            target += rest
            rest = 0
        else:
            place = place_of(base, source, key if type(key) is int else index_of(key))
            view.storage_offset += place * TensorImpl_strides(base)[source]
            source += 1
    TensorImpl_copy_dims(base, view, source, target, rest)
    return view


cdef object index_of(object key):
    """Return an index that is not a plain int as one."""
    if not is_position(key):
        raise IndexError(f"a basic index is made of ints, slices, Ellipsis and None, found {type(key).__name__}.")
    return PyNumber_Index(key)


cdef int index_slice(TensorImpl base, TensorImpl view, int source, int target, slice key) except -1:
    """Fill in one dimension of the view by a slice; a step may be negative."""
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop = 0
    cdef Py_ssize_t step = 0
    PySlice_Unpack(key, &start, &stop, &step)
    length = PySlice_AdjustIndices(TensorImpl_sizes(base)[source], &start, &stop, step)
    stride = TensorImpl_strides(base)[source]
    if length != 0:  # else the offset stays inside the storage
        view.storage_offset += start * stride
    TensorImpl_sizes(view)[target] = length
    TensorImpl_strides(view)[target] = stride * step
    return 0


# ---- all parts along a dimension


cdef object unbind(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    dim = wrap_dim(int64_of(<object>args[1]), base.ndim)
    return tuple([selected(base, dim, i) for i in range(TensorImpl_sizes(base)[dim])])


cdef object split(Kernel kernel, object table, arguments_t args):
    size = position_of(<object>args[1])
    return split_by((<TensorBase>args[0]).impl, int64_of(<object>args[2]), size)


cdef object split_by(TensorImpl base, int64_t axis, int64_t size):
    """Return parts of one size, the last of what is left; without elements one part."""
    parts = []
    dim = wrap_dim(axis, base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    if size < 0 or (size == 0 and extent != 0):
        raise ValueError(f"split() needs parts of 1 element or more in dimension {dim}, found {size}.")
    cdef int64_t length, start = 0
    while True:
        length = min(size, extent - start)
        parts.append(Tensor_wrap(narrowed(base, dim, start, length)))
        start += length
        if start == extent:
            return tuple(parts)


cdef object split_with_sizes(Kernel kernel, object table, arguments_t args):
    base = (<TensorBase>args[0]).impl
    parts = []
    sizes = <object>args[1]
    lengths = [position_of(size) for size in tuple(sizes)]
    dim = wrap_dim(int64_of(<object>args[2]), base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    cdef int64_t left = extent
    for length in lengths:
        if not 0 <= length <= left:
            left = -1
            break
        left -= length
    if left != 0:
        raise ValueError(
            f"split() needs sizes of 0 or more that make up the {extent} of dimension {dim}, found {sizes}."
        )
    cdef int64_t start = 0
    for length in lengths:
        parts.append(Tensor_wrap(narrowed(base, dim, start, length)))
        start += length
    return tuple(parts)


cdef object chunk(Kernel kernel, object table, arguments_t args):
    """Return so many parts or fewer; without elements all of them, each empty."""
    base = (<TensorBase>args[0]).impl
    chunks = int64_of(<object>args[1])
    dim = wrap_dim(int64_of(<object>args[2]), base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    if chunks <= 0:
        raise ValueError(f"chunk() needs 1 chunk or more, found {chunks}.")
    if extent != 0:
        return split_by(base, dim, (extent - 1) // chunks + 1)
    parts = [None] * chunks  # all the space at once: an absurd number fails here
    for i in range(chunks):
        parts[i] = Tensor_wrap(narrowed(base, dim, 0, 0))
    return tuple(parts)


# ---- windows


cdef object unfold(Kernel kernel, object table, arguments_t args):
    """Lay windows over a dimension, so many elements apart; their elements become the last dimension."""
    base = (<TensorBase>args[0]).impl
    dim = wrap_dim(int64_of(<object>args[1]), base.ndim)
    window, distance = <object>args[2], <object>args[3]
    size = position_of(window)
    step = position_of(distance)
    extent = TensorImpl_sizes(base)[dim]
    if step <= 0:
        raise ValueError(f"unfold() needs a step of 1 or more, found {distance}.")
    if not 0 <= size <= extent:
        raise ValueError(f"unfold() needs a window of 0 to {extent} elements in dimension {dim}, found {window}.")
    stride = TensorImpl_strides(base)[dim]
    view = TensorImpl_view(base, base.ndim + 1)
    TensorImpl_copy_dims(base, view, 0, 0, base.ndim)
    TensorImpl_sizes(view)[dim] = (extent - size) // step + 1
    TensorImpl_strides(view)[dim] = stride * step if step <= extent else stride  # beyond it there is one window
    TensorImpl_sizes(view)[base.ndim] = size
    TensorImpl_strides(view)[base.ndim] = stride
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


cdef object as_strided(Kernel kernel, object table, arguments_t args):
    """View the storage with other sizes, strides and offset, which must lie within it."""
    base = (<TensorBase>args[0]).impl
    size, stride = tuple(<object>args[1]), tuple(<object>args[2])
    if len(size) != len(stride):
        raise ValueError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)}).")
    view = TensorImpl_view(base, len(size))
    if base.storage is None:
        raise RuntimeError(
            "as_strided() needs a storage, the tensor has no storage. Convert a sparse tensor with to_dense() first."
        )
    for i in range(view.ndim):
        TensorImpl_sizes(view)[i] = int64_of(size[i])
        TensorImpl_strides(view)[i] = int64_of(stride[i])
        if TensorImpl_sizes(view)[i] < 0:
            raise ValueError(f"as_strided() needs sizes of 0 or more, found {size}.")
    if <object>args[3] is not None:
        view.storage_offset = int64_of(<object>args[3])
    if view.storage_offset < 0:
        raise ValueError(f"as_strided() needs a storage offset of 0 or more, found {<object>args[3]}.")
    TensorImpl_refresh(view)
    TensorImpl_check_bounds(view)
    return Tensor_wrap(view)


# ---- parts of complex numbers, which lie in memory one after the other


cdef enum:
    REAL = 0
    IMAGINARY = 1


cdef object part(Kernel kernel, object table, arguments_t args):
    """View the real or imaginary parts: of other than complex numbers the tensor itself, or new zeros."""
    base = (<TensorBase>args[0]).impl
    if base.dtype_code == BOOL:
        raise TypeError(f"{kernel.name}() is not defined for bool.")
    if dtype_of_code(base.dtype_code).kind != "c":
        if kernel.variant == REAL:
            return Tensor_wrap(TensorImpl_shallow_copy(base))
        made = EMPTY.call_empty(base.ndim, TensorImpl_sizes(base), base.dtype_code, base.device_type, base.device_index)
        return FILL_.call_with(made, 0)
    view = TensorImpl_view(base, base.ndim)
    for i in range(base.ndim):
        TensorImpl_sizes(view)[i] = TensorImpl_sizes(base)[i]
        TensorImpl_strides(view)[i] = 2 * TensorImpl_strides(base)[i]
    view.dtype_code = dtype_from_any("float32" if dtype_of_code(base.dtype_code).itemsize == 8 else "float64").code
    view.storage_offset = 2 * base.storage_offset + kernel.variant
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


for _table, _kernel in (
    (native_functions.DETACH, Kernel_of("detach", detach)),
    (native_functions.SET_, Kernel_of("set_", set_)),
    (native_functions.REVERSE_DIMS, Kernel_of("reverse_dims", reverse_dims)),
    (native_functions.T, Kernel_of("t", t)),
    (native_functions.MATRIX_TRANSPOSE, Kernel_of("mT", matrix_transpose)),
    (native_functions.PERMUTE, Kernel_of("permute", permute)),
    (native_functions.TRANSPOSE, Kernel_of("transpose", transpose)),
    (native_functions.MOVEDIM, Kernel_of("movedim", movedim)),
    (native_functions.EXPAND, Kernel_of("expand", expand)),
    (native_functions.SQUEEZE, Kernel_of("squeeze", squeeze)),
    (native_functions.UNSQUEEZE, Kernel_of("unsqueeze", unsqueeze)),
    (native_functions.VIEW, Kernel_of("view", view)),
    (native_functions.RESHAPE, Kernel_of("reshape", reshape)),
    (native_functions.CONTIGUOUS, Kernel_of("contiguous", contiguous)),
    (native_functions.FLATTEN, Kernel_of("flatten", flatten)),
    (native_functions.UNFLATTEN, Kernel_of("unflatten", unflatten)),
    (native_functions.VIEW_DTYPE, Kernel_of("view", view_dtype)),
    (native_functions.SELECT, Kernel_of("select", select)),
    (native_functions.NARROW, Kernel_of("narrow", narrow)),
    (native_functions.DIAGONAL, Kernel_of("diagonal", diagonal)),
    (native_functions.FLIP, Kernel_of("flip", flip)),
    (native_functions.INDEX, Kernel_of("index", index)),
    (native_functions.UNBIND, Kernel_of("unbind", unbind)),
    (native_functions.SPLIT, Kernel_of("split", split)),
    (native_functions.SPLIT_WITH_SIZES, Kernel_of("split_with_sizes", split_with_sizes)),
    (native_functions.CHUNK, Kernel_of("chunk", chunk)),
    (native_functions.UNFOLD, Kernel_of("unfold", unfold)),
    (native_functions.AS_STRIDED, Kernel_of("as_strided", as_strided)),
    (native_functions.REAL, Kernel_of("real", part, REAL)),
    (native_functions.IMAG, Kernel_of("imag", part, IMAGINARY)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
