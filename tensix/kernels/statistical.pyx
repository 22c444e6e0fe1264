"""Statistics: reductions by the inner loop of a binary ufunc, moments, and running sums.

A reduction is a walk over the tensor in which the result has step 0 along the reduced axes. NumPy's loops recognise an
operand of step 0 that is read and written, and then reduce a run at once; floating sums by pairs, which keeps the error
small. The result starts as the operation's identity.

Mean, variance and standard deviation are sums, and what NumPy's loops make of them. Integers are summed in float64,
float16 and bfloat16 in float32; the result has the type of the elements, of integers the default one. The variance
takes two passes, so that a large mean takes no digits away: first the mean, then the mean of the squared distances.

Note [Reduction in blocks]
~~~~~~~~~~~~~~~~~~~~~~~~~~
A large tensor is reduced by several threads. Where the outermost dimension stays, each takes a part of the results.
Where it is reduced, it is cut into blocks with a partial result each, and those are combined two by two. The cuts are
those that NumPy's sum by pairs makes, and they depend on the shape alone: neither the number of threads nor which of
them was first changes a bit of the result.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport npy_intp, ufunc
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.kernels.conversion cimport (
    conversion_init,
    converting_loop,
    converting_loop_init,
    converting_loop_t,
    copy_loop,
)
from tensix.kernels.copy cimport converted
from tensix.kernels.empty cimport empty_impl
from tensix.kernels.iterator cimport (
    CHUNK_ELEMENTS,
    GRAIN_ELEMENTS,
    inner_loop_t,
    iterator_add,
    iterator_add_element,
    iterator_begin_use,
    iterator_end_use,
    iterator_run,
    iterator_run_part,
    iterator_simplify,
    iterator_split,
    iterator_start,
    iterator_t,
    iterator_total,
    iterator_walk,
    new_result,
)
from tensix.kernels.numpy_results cimport call_numpy, take_over
from tensix.kernels.parallel cimport parallel_for
from tensix.tensors.dtype cimport (
    BFLOAT16,
    COMPLEX128,
    COMPLEX64,
    default_float_code,
    dtype_from_any,
    dtype_of_code,
    itemsize_of,
    refuse_undefined,
)
from tensix.exchange.ndarray cimport readable_of_impl
from tensix.exchange.numpy_calls cimport call_ignoring_errors
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_refresh,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
    check_unchanged,
    int64_of,
    set_counts,
    wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.tensors.dtype import dtype_named

cdef enum:
    MOST_HALVINGS = 4   # sixteen blocks keep as many threads busy, and their partial results are soon combined
    FEW_RESULTS = 16


cdef class ReductionKernel(Kernel):
    """Reduce the elements by a ufunc's loop, in the type that suits them."""

    def __init__(self, function, identity, *, working, results=None, has_dtype=False, has_empty_result=True):
        self.name, self.function = f"numpy.{function.__name__} reduction", run_reduction
        self.has_dtype, self.has_empty_result = has_dtype, has_empty_result
        results = working if results is None else results
        for code in range(46):
            dtype = dtype_of_code(code)
            if dtype is not None:
                self.working[code] = dtype_named(working.get(dtype.name, dtype.name)).code
                self.results[code] = dtype_named(results.get(dtype.name, dtype.name)).code
                take_reduction_loop(&self.loops[code], function, dtype, identity)


cdef object run_reduction(Kernel kernel, object table, arguments_t args):
    cdef ReductionKernel self = <ReductionKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint keepdims = <object>args[3 if self.has_dtype else 2]
    cdef uint8_t working, result
    cdef uint64_t axes
    check_defined(x)
    axes = axes_from_any(<object>args[1], x.ndim)
    if not self.has_dtype or <object>args[2] is None:
        working, result = self.working[x.dtype_code], self.results[x.dtype_code]
    else:
        result = dtype_from_any(<object>args[2]).code
        working = self.working[result]
        if dtype_of_code(x.dtype_code).kind == "complex floating" != dtype_of_code(result).kind:
            refuse_to_drop_imaginary(result)
    if x.numel == 0 and not self.has_empty_result:
        refuse_empty(table.schema.name, x, axes)
    return Tensor_wrap(converted(reduce(&self.loops[working], x, working, axes, keepdims), result))


cdef int check_defined(TensorImpl x) except -1:
    if x is UNDEFINED:
        refuse_undefined()
    return 0


cdef int refuse_to_drop_imaginary(uint8_t code) except -1:
    raise TypeError(
        f"complex numbers can't be cast to the desired output type {dtype_of_code(code)}: their imaginary parts would "
        "be lost."
    )


cdef int refuse_empty(str name, TensorImpl x, uint64_t axes) except -1:
    """Refuse if a result would be that of no elements; without results there is nothing to refuse."""
    cdef bint has_results = True
    for i in range(x.ndim):
        if not (axes >> i) & 1 and TensorImpl_sizes(x)[i] == 0:
            has_results = False
    if has_results:
        raise ValueError(
            f"zero-size tensor to reduction operation {name}, which has no identity: of no elements none is the "
            "largest or smallest."
        )
    return 0


cdef uint64_t axes_from_any(object axis, int ndim) except? 0:
    """Return axes given as None for all, an int or a sequence of ints, as a bit each."""
    cdef uint64_t axes = 0
    cdef int dim
    if axis is None:
        return (<uint64_t>1 << ndim) - 1 if ndim < 64 else <uint64_t>-1
    for one in tuple(axis) if isinstance(axis, (tuple, list)) else (axis,):  # See Note [Lists that change]
        dim = wrap_dim(int64_of(one), ndim)
        if (axes >> dim) & 1:
            raise ValueError(f"dimension {dim} is named twice in axis={axis}.")
        axes |= <uint64_t>1 << dim
    return axes


cdef TensorImpl reduced_impl(TensorImpl x, uint8_t code, uint64_t axes, bint keepdims):
    """Return a new row-major body of the shape that reducing some axes leaves."""
    cdef int64_t sizes[64]
    cdef int ndim = 0
    for i in range(x.ndim):
        if not (axes >> i) & 1:
            sizes[ndim] = TensorImpl_sizes(x)[i]
            ndim += 1
        elif keepdims:
            sizes[ndim] = 1
            ndim += 1
    return empty_impl(ndim, sizes, code, x.device_type, x.device_index)


# ---- the loops


cdef dict LOOPS = {}  # ufunc -> its types, such as "ff->f", and the numbers of their loops


cdef int take_loop(ufunc function, object dtype, inner_loop_t* found, void** data) except -1:
    """Find the loop of a ufunc that takes and gives one type; none leaves NULL."""
    found[0], data[0] = NULL, NULL
    if dtype.name == "bfloat16":  # See Note [bfloat16 and NumPy]
        return 0
    loops = LOOPS.get(function)
    if loops is None:
        loops = LOOPS[function] = {types: i for i, types in reversed(list(enumerate((<object>function).types)))}
    number = loops.get(dtype.numpy.char * function.nin + "->" + dtype.numpy.char)
    if number is not None:
        found[0] = <inner_loop_t><void*>function.functions[<int>number]  # it needs no GIL
        data[0] = <void*>function.data[<int>number] if function.data != NULL else NULL
    return 0


cdef int take_reduction_loop(reduction_loop_t* self, object function, object dtype, object identity) except -1:
    self.settled = -1
    if function in (np.logical_or, np.logical_and):
        self.settled = function is np.logical_or
    take_loop(function, dtype, &self.function, &self.data)
    if self.function != NULL:
        value = np.array(identity(dtype.numpy) if callable(identity) else identity, dtype.numpy).tobytes()
        memcpy(self.identity, <char*>value, len(value))
        if function in (np.maximum, np.minimum):
            self.data, self.function = <void*>self.function, peeling_loop
    return 0


cdef void peeling_loop(char** data, const npy_intp* count, const npy_intp* steps, void* function) noexcept nogil:
    """Reduce the first element alone, as NumPy does: its loops for maxima read aligned runs slowest on some machines.

    Sixteen million float32 took 2.6 ms from a multiple of a vector's size, and 1.7 ms from four bytes further on.
    """
    cdef npy_intp one = 1
    cdef npy_intp rest = count[0] - 1
    cdef char* further[3]
    if steps[0] == 0 and rest >= CHUNK_ELEMENTS // 4:
        (<inner_loop_t>function)(data, &one, steps, NULL)
        further[0], further[1], further[2] = data[0], data[1] + steps[1], data[2]
        (<inner_loop_t>function)(further, &rest, steps, NULL)
    else:
        (<inner_loop_t>function)(data, count, steps, NULL)


# ---- the reduction


cdef TensorImpl reduce(const reduction_loop_t* loop, TensorImpl x, uint8_t code, uint64_t axes, bint keepdims):
    """Return the elements, converted to a type, reduced along some axes; on meta the shape alone."""
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef int64_t step
    cdef int64_t itemsize = itemsize_of(code)
    cdef int64_t x_itemsize = itemsize_of(x.dtype_code)
    cdef inner_loop_t function = loop.function
    cdef void* data = loop.data
    if function == NULL:
        raise TypeError(f"this reduction is not defined for {dtype_of_code(x.dtype_code).name}.")
    cdef uint64_t before = set_counts(x, x, x)
    cdef TensorImpl out = reduced_impl(x, code, axes, keepdims)
    check_unchanged(before, x, x, x)
    if x.device_type == META:
        return out
    cdef char* result = <char*>TensorImpl_mutable_data(out)
    fill_with(result, loop.identity, out.numel, itemsize)
    if x.numel == 0:
        return out
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator.operands = 3  # the result, the elements, the result again
    iterator.data[0] = iterator.data[2] = result
    iterator.data[1] = <char*>TensorImpl_const_data(x)
    iterator.storages[0] = NULL
    iterator.storages[1], iterator.storages[2] = <PyObject*>x.storage, <PyObject*>out.storage
    step = itemsize
    for i in range(x.ndim - 1, -1, -1):
        iterator.steps[i][1] = TensorImpl_strides(x)[i] * x_itemsize
        iterator.steps[i][0] = iterator.steps[i][2] = 0
        if not (axes >> i) & 1:
            iterator.steps[i][0] = iterator.steps[i][2] = step
            step *= TensorImpl_sizes(x)[i]
    if x.dtype_code != code:
        converting_loop_init(&wrapped, loop.function, loop.data, 3)
        conversion_init(&wrapped.conversions[1], x.dtype_code, code)
        wrapped.settled = loop.settled
        function, data = converting_loop, &wrapped
    if x.numel < GRAIN_ELEMENTS:
        iterator_simplify(&iterator, 1)
        iterator_walk(&iterator, function, data)
        return out
    iterator_begin_use(&iterator)
    try:
        reduce_large(&iterator, loop, function, data, result, out)
    finally:
        iterator_end_use(&iterator)
    return out


cdef void fill_with(char* target, const char* element, npy_intp count, npy_intp itemsize) noexcept nogil:
    cdef char* data[2]
    cdef npy_intp steps[2]
    data[0], data[1] = <char*>element, target
    steps[0], steps[1] = 0, itemsize
    copy_loop(itemsize)(data, &count, steps, NULL)


cdef struct blocks_t:
    iterator_t* iterator
    inner_loop_t function
    void* data
    int dim
    int halvings
    bint is_complex
    char* partials
    npy_intp nbytes    # of one partial result


cdef int reduce_large(
        iterator_t* iterator, const reduction_loop_t* loop, inner_loop_t function, void* data, char* result,
        TensorImpl out) except -1:
    """Reduce on several threads. See Note [Reduction in blocks]."""
    cdef blocks_t blocks
    cdef npy_intp itemsize = itemsize_of(out.dtype_code)
    cdef int kept
    iterator_simplify(iterator, 1)
    blocks.dim, kept = longest_dim(iterator, True), longest_dim(iterator, False)
    blocks.halvings = 0
    if iterator.steps[0][0] != 0 and iterator.sizes[0] >= FEW_RESULTS:
        kept = 0
    elif blocks.dim >= 0:
        blocks.halvings = halvings_of(iterator, blocks.dim, out.numel)
    if blocks.halvings == 0:
        with nogil:
            if kept >= 0:
                iterator_split(iterator, kept, function, data)
            else:
                iterator_walk(iterator, function, data)
        return 0
    blocks.iterator, blocks.function, blocks.data = iterator, function, data
    blocks.is_complex = out.dtype_code in (COMPLEX64, COMPLEX128)
    blocks.nbytes = out.numel * itemsize
    blocks.partials = <char*>malloc(blocks.nbytes << blocks.halvings)
    if blocks.partials == NULL:
        raise MemoryError(f"could not allocate {blocks.nbytes << blocks.halvings:,} bytes for partial results.")
    with nogil:
        fill_with(blocks.partials, loop.identity, out.numel << blocks.halvings, itemsize)
        parallel_for(1 << blocks.halvings, reduce_block, &blocks)
        join_blocks(&blocks, loop, out.numel, itemsize)
        memcpy(result, blocks.partials, blocks.nbytes)
    free(blocks.partials)
    return 0


cdef int longest_dim(const iterator_t* iterator, bint is_reduced) noexcept nogil:
    """Return the longest dimension that is reduced, or that stays; -1 if there is none."""
    cdef int found = -1
    cdef int i
    for i in range(iterator.ndim):
        if (iterator.steps[i][0] == 0) == is_reduced and (found < 0 or iterator.sizes[i] > iterator.sizes[found]):
            found = i
    return found


cdef int halvings_of(const iterator_t* iterator, int dim, npy_intp results) noexcept nogil:
    """Return how often to halve a dimension: while blocks are worth a thread, and their results much smaller."""
    cdef npy_intp elements = iterator_total(iterator) // 2
    cdef npy_intp length = iterator.sizes[dim] // 2
    cdef npy_intp shortest = 256 if dim == iterator.ndim - 1 else 2  # NumPy adds by pairs what is longer than 128
    cdef int halvings = 0
    while (halvings < MOST_HALVINGS and elements >= CHUNK_ELEMENTS // 2 and length >= shortest
            and elements >= 32 * results):
        halvings += 1
        elements //= 2
        length //= 2
    return halvings


cdef npy_intp cut(npy_intp length, int halvings, npy_intp block, bint is_complex) noexcept nogil:
    """Return where a block begins if a length is halved again and again, as NumPy's sum by pairs halves it."""
    cdef npy_intp start = 0
    cdef npy_intp half
    cdef int level
    for level in range(halvings - 1, -1, -1):
        half = (length - length % 8) // 2 if is_complex else length // 2 - length // 2 % 8
        if (block >> level) & 1:
            start += half
            length -= half
        else:
            length = half
    return start


cdef void reduce_block(void* context, int64_t block) noexcept nogil:
    cdef blocks_t* blocks = <blocks_t*>context
    cdef iterator_t iterator = blocks.iterator[0]
    cdef npy_intp length = iterator.sizes[blocks.dim]
    cdef npy_intp stop = length
    if block + 1 < 1 << blocks.halvings:
        stop = cut(length, blocks.halvings, block + 1, blocks.is_complex)
    iterator.data[0] = iterator.data[2] = blocks.partials + block * blocks.nbytes
    iterator_run_part(
        &iterator, blocks.dim, cut(length, blocks.halvings, block, blocks.is_complex), stop, blocks.function,
        blocks.data)


cdef void join_blocks(
        blocks_t* blocks, const reduction_loop_t* loop, npy_intp results, npy_intp itemsize) noexcept nogil:
    """Combine the partial results two by two; the first becomes that of all."""
    cdef char* data[3]
    cdef npy_intp steps[3]
    cdef npy_intp distance = 1
    cdef npy_intp block
    cdef npy_intp count
    while distance < 1 << blocks.halvings:
        block = 0
        while block < 1 << blocks.halvings:
            data[0] = data[2] = blocks.partials + block * blocks.nbytes
            data[1] = data[0] + distance * blocks.nbytes
            steps[0] = steps[1] = steps[2] = itemsize
            count = results
            loop.function(data, &count, steps, loop.data)
            block += 2 * distance
        distance *= 2


# ---- reductions


cdef dict WIDENED = {
    "bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64",
    "uint8": "uint64", "uint16": "uint64", "uint32": "uint64",
}


def lowest(numpy_dtype):
    """Return what no element is smaller than."""
    infinite = complex(-np.inf, -np.inf) if numpy_dtype.kind == "c" else -np.inf
    return False if numpy_dtype.kind == "b" else np.iinfo(numpy_dtype).min if numpy_dtype.kind in "iu" else infinite


def highest(numpy_dtype):
    """Return what no element is larger than."""
    infinite = complex(np.inf, np.inf) if numpy_dtype.kind == "c" else np.inf
    return True if numpy_dtype.kind == "b" else np.iinfo(numpy_dtype).max if numpy_dtype.kind in "iu" else infinite


def truth():
    """Return the type to compute truth in by element type: bool for all."""
    return {dtype_of_code(code).name: "bool" for code in range(46) if dtype_of_code(code) is not None}


def register_reductions():
    """Enter the kernels; on meta they find the shape and stop."""
    wide = WIDENED | {"float16": "float32", "bfloat16": "float32"}
    plain = {"bfloat16": "float32"}
    for table, kernel in (
        (native_functions.SUM, ReductionKernel(np.add, 0, working=wide, results=WIDENED, has_dtype=True)),
        (native_functions.PROD, ReductionKernel(np.multiply, 1, working=wide, results=WIDENED, has_dtype=True)),
        (native_functions.MAX, ReductionKernel(np.maximum, lowest, working=plain, results={}, has_empty_result=False)),
        (native_functions.MIN, ReductionKernel(np.minimum, highest, working=plain, results={}, has_empty_result=False)),
        (native_functions.ANY, ReductionKernel(np.logical_or, False, working=truth())),
        (native_functions.ALL, ReductionKernel(np.logical_and, True, working=truth())),
    ):
        table.register("CPU", kernel)
        table.register("Meta", kernel)


register_reductions()


# ---- mean, variance and standard deviation


cdef struct loop_t:
    inner_loop_t function
    void* data


# What is computed with, by the code of a floating type that NumPy has.
cdef reduction_loop_t ADD[47]
cdef loop_t SUBTRACT[47]
cdef loop_t MULTIPLY[47]
cdef loop_t DIVIDE[47]
cdef loop_t SQRT[47]

for _name in ("float32", "float64", "complex64", "complex128"):
    _dtype = dtype_named(_name)
    _code = _dtype.code
    take_reduction_loop(&ADD[_code], np.add, _dtype, 0)
    take_loop(np.subtract, _dtype, &SUBTRACT[_code].function, &SUBTRACT[_code].data)
    take_loop(np.multiply, _dtype, &MULTIPLY[_code].function, &MULTIPLY[_code].data)
    take_loop(np.divide, _dtype, &DIVIDE[_code].function, &DIVIDE[_code].data)
    take_loop(np.sqrt, _dtype, &SQRT[_code].function, &SQRT[_code].data)

cdef dict WORKING = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64",
                     "complex64": "complex64", "complex128": "complex128"}
cdef dict REAL_PART = {"complex64": "float32", "complex128": "float64"}


cdef uint8_t working_code(TensorImpl x) except? 255:
    """Return the type to compute in."""
    check_defined(x)
    return dtype_named(WORKING.get(dtype_of_code(x.dtype_code).name, "float64")).code


cdef uint8_t result_code(TensorImpl x) except? 255:
    """Return the type of a mean: that of the elements, the default one if they are no floating ones."""
    return x.dtype_code if dtype_of_code(x.dtype_code).name in WORKING else default_float_code()


cdef double count_of(TensorImpl x, uint64_t axes) noexcept:
    """Return how many elements are reduced to one."""
    cdef double count = 1
    for i in range(x.ndim):
        if (axes >> i) & 1:
            count *= TensorImpl_sizes(x)[i]
    return count


cdef int divide(TensorImpl self, double divisor) except -1:
    """Divide every element in place."""
    cdef iterator_t iterator
    cdef double divisors[2]  # large enough for each type
    if self.device_type == META:
        return 0
    number = np.array(divisor, dtype_of_code(self.dtype_code).numpy).tobytes()
    memcpy(divisors, <char*>number, len(number))
    iterator_start(&iterator, self.ndim, TensorImpl_sizes(self))
    iterator_add(&iterator, self, TensorImpl_mutable_data(self))
    iterator_add_element(&iterator, divisors)
    iterator_add(&iterator, self, TensorImpl_mutable_data(self))
    iterator_run(&iterator, DIVIDE[self.dtype_code].function, DIVIDE[self.dtype_code].data)
    return 0


cdef TensorImpl mean_impl(TensorImpl x, uint8_t working, uint64_t axes, bint keepdims):
    cdef TensorImpl out = reduce(&ADD[working], x, working, axes, keepdims)
    divide(out, count_of(x, axes))
    return out


cdef TensorImpl distances(TensorImpl x, TensorImpl center, uint8_t working):
    """Return x less its mean, a new tensor."""
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef uint64_t before = set_counts(x, x, x)
    cdef TensorImpl out = new_result(x.ndim, TensorImpl_sizes(x), working, x, x)
    check_unchanged(before, x, x, x)
    if x.device_type == META:
        return out
    converting_loop_init(&wrapped, SUBTRACT[working].function, SUBTRACT[working].data, 3)
    if x.dtype_code != working:
        conversion_init(&wrapped.conversions[0], x.dtype_code, working)
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, center, <void*>TensorImpl_const_data(center))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    if x.dtype_code != working:
        iterator_run(&iterator, converting_loop, &wrapped)
    else:
        iterator_run(&iterator, SUBTRACT[working].function, SUBTRACT[working].data)
    return out


cdef TensorImpl as_real(TensorImpl x):
    """Return the view on complex numbers as pairs of real ones; others as they are."""
    name = REAL_PART.get(dtype_of_code(x.dtype_code).name)
    if name is None:
        return x
    cdef TensorImpl view = TensorImpl_view(x, x.ndim + 1)
    view.dtype_code = dtype_named(name).code
    for i in range(x.ndim):
        TensorImpl_sizes(view)[i], TensorImpl_strides(view)[i] = TensorImpl_sizes(x)[i], 2 * TensorImpl_strides(x)[i]
    TensorImpl_sizes(view)[x.ndim], TensorImpl_strides(view)[x.ndim] = 2, 1
    view.storage_offset *= 2
    TensorImpl_refresh(view)
    return view


cdef int square(TensorImpl self) except -1:
    """Square every element in place."""
    return run_in_place(self, 3, MULTIPLY[self.dtype_code].function, MULTIPLY[self.dtype_code].data)


cdef int take_roots(TensorImpl self) except -1:
    """Take the square root of every element in place."""
    return run_in_place(self, 2, SQRT[self.dtype_code].function, SQRT[self.dtype_code].data)


cdef int run_in_place(TensorImpl self, int operands, inner_loop_t function, void* loop_data) except -1:
    """Run a loop whose operands and result are all the same elements."""
    cdef iterator_t iterator
    cdef void* data
    if self.device_type == META:
        return 0
    data = TensorImpl_mutable_data(self)
    iterator_start(&iterator, self.ndim, TensorImpl_sizes(self))
    for _ in range(operands):
        iterator_add(&iterator, self, data)
    iterator_run(&iterator, function, loop_data)
    return 0


cdef object mean(Kernel self, object table, arguments_t args):
    """Return the mean."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint keepdims = <object>args[2]
    cdef uint8_t working = working_code(x)
    axes = axes_from_any(<object>args[1], x.ndim)
    return Tensor_wrap(converted(mean_impl(x, working, axes, keepdims), result_code(x)))


cdef object spread(arguments_t args, bint has_root):
    """Return the variance, or its root."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef double correction = <object>args[2]
    cdef bint keepdims = <object>args[3]
    cdef uint8_t working = working_code(x)
    cdef uint64_t axes
    cdef TensorImpl center, squares, out
    cdef double divisor
    axes = axes_from_any(<object>args[1], x.ndim)
    divisor = count_of(x, axes) - correction
    center = mean_impl(x, working, axes, True)
    squares = as_real(distances(x, center, working))
    square(squares)
    if squares.ndim > x.ndim:  # real and imaginary part
        squares = reduce(&ADD[squares.dtype_code], squares, squares.dtype_code, <uint64_t>1 << x.ndim, False)
    out = reduce(&ADD[squares.dtype_code], squares, squares.dtype_code, axes, keepdims)
    divide(out, max(divisor, 0.0))
    if has_root:
        take_roots(out)
    return Tensor_wrap(out if working != squares.dtype_code else converted(out, result_code(x)))


cdef object var(Kernel self, object table, arguments_t args):
    """Return the variance."""
    return spread(args, False)


cdef object std(Kernel self, object table, arguments_t args):
    """Return the root of the variance."""
    return spread(args, True)


# ---- running sums and products, by NumPy over zero-copy views


cdef object accumulate(arguments_t args, object function):
    """Return what reducing the first, the first two, … elements along an axis gives."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint include_initial = <object>args[3]
    cdef int dim
    axis, dtype = <object>args[1], <object>args[2]
    check_defined(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis must be given for a tensor of {x.ndim} dimensions: only one stands for itself.")
        axis = 0
    dim = wrap_dim(int64_of(axis), x.ndim)
    own = dtype_of_code(x.dtype_code)
    result = dtype_named(WIDENED.get(own.name, own.name)) if dtype is None else dtype_from_any(dtype)
    if own.kind == "complex floating" != result.kind:
        raise TypeError(f"complex numbers can't be cast to the desired output type {result}.")
    shape = list(TensorImpl_shape(x))
    shape[dim] += include_initial
    if x.device_type == META:
        return Tensor_wrap(meta_impl(x, shape, result.code))
    out = call_numpy(np.empty, (shape, np.float32 if result.code == BFLOAT16 else result.numpy))
    before = (slice(None),) * dim
    if include_initial:
        out[(*before, 0)] = function.identity
    results = out[(*before, slice(1, None))] if include_initial else out
    call_ignoring_errors(function.accumulate, (readable_of_impl(x), dim, out.dtype, results))
    return Tensor_wrap(converted(take_over(out), result.code))


cdef TensorImpl meta_impl(TensorImpl x, list shape, int code):
    cdef int64_t sizes[64]
    for i in range(x.ndim):
        sizes[i] = shape[i]
    return empty_impl(x.ndim, sizes, code, x.device_type, x.device_index)


cdef object cumulative_sum(Kernel self, object table, arguments_t args):
    return accumulate(args, np.add)


cdef object cumulative_prod(Kernel self, object table, arguments_t args):
    return accumulate(args, np.multiply)


for _table, _kernel in (
    (native_functions.MEAN, Kernel_of("mean", mean)),
    (native_functions.VAR, Kernel_of("var", var)),
    (native_functions.STD, Kernel_of("std", std)),
    (native_functions.CUMULATIVE_SUM, Kernel_of("cumulative_sum", cumulative_sum)),
    (native_functions.CUMULATIVE_PROD, Kernel_of("cumulative_prod", cumulative_prod)),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
