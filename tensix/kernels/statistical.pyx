"""Statistics: reductions by loops of our own or of a binary ufunc, moments, and running sums.

A reduction is a walk over the tensor in which the result has step 0 along the reduced axes. The result starts as the
operation's identity. The loops of ``tensix/loops/reduce.h`` serve nearly all operations and types; NumPy's those of
float16 and complex numbers that are left, as they too recognise an operand of step 0 that is read and written.

Mean, variance and standard deviation are sums. Integers are summed in float64, float16 and bfloat16 in float32; the
result has the type of the elements, of integers the default one. The variance takes two passes, so that a large mean
takes no digits away: first the mean, then the sum of the squared distances from it.

Note [Reduction in blocks]
~~~~~~~~~~~~~~~~~~~~~~~~~~
A large tensor is reduced by several threads. Where the outermost dimension stays, each takes a part of the results.
Where it is reduced, it is cut into blocks with a partial result each, and those are combined two by two. The cuts
depend on the shape alone: neither the number of threads nor which of them was first changes a bit of the result.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset
from numpy cimport npy_intp, ufunc
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operands cimport write_fitting
from tensix.loops.conversion cimport (
    conversion_init, converting_loop, converting_loop_init, converting_loop_t, copy_strided,
)
from tensix.loops.copy cimport check_cast, converted, in_order
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport sixteen_bytes_t
from tensix.loops.iterator cimport (
    CHUNK_ELEMENTS, GRAIN_ELEMENTS, inner_loop_t, iterator_begin_use, iterator_end_use, iterator_run_part,
    iterator_simplify, iterator_split, iterator_start, iterator_t, iterator_total, iterator_walk, run_shares,
)
from tensix.loops.numpy_results cimport call_numpy, take_over
from tensix.loops.parallel cimport parallel_for
from tensix.loops.ufunc cimport UfuncKernel, run_beside_number, run_loop, types_of_loop
from tensix.tensors.dtype cimport (
    BFLOAT16, BOOL, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT64, default_float_code, dtype_from_any,
    dtype_of_code, itemsize_of,
)
from tensix.exchange.ndarray cimport readable_of_impl
from tensix.exchange.numpy_calls cimport call_ignoring_errors
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_shape, TensorImpl_sizes, TensorImpl_strides,
    int64_of, wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions

# The loops of tensix/loops/reduce.h
ctypedef void (*run_t)(const void* x, npy_intp n, void* result, const void* center) noexcept nogil
ctypedef void (*rows_t)(
    void* result, const void* x, npy_intp n, npy_intp rows, npy_intp row_step, const void* center) noexcept nogil

cdef extern from "tensix/loops/reduce.h" nogil:
    ctypedef struct tx_reduction_t:
        run_t run
        rows_t rows
    ctypedef void (*tx_scan_t)(
        const void* x, void* results, npy_intp lines, npy_intp x_step, npy_intp to_step, npy_intp n, npy_intp width,
        npy_intp pitch)
    tx_reduction_t tx_reduction(int operation, int code)
    tx_scan_t tx_scan(int operation, int code)
    int TX_SUM, TX_PROD, TX_MAX, TX_MIN, TX_ANY, TX_ALL, TX_COUNT, TX_SQUARES

cdef enum:
    MOST_HALVINGS = 4   # sixteen blocks keep as many threads busy, and their partial results are soon combined
    FEW_RESULTS = 16
    ROOT = 1            # the variant of `spread` that is the standard deviation


cdef struct reduction_loop_t:
    inner_loop_t function
    void* data
    run_t run                       # what `function` calls; NULL: it is NumPy's
    rows_t rows
    const reduction_loop_t* join    # combines partial results
    char identity[16]               # the result that changes nothing
    int source                      # the type of the elements
    npy_intp source_size
    npy_intp result_size
    int settled                     # the bool that nothing changes any more; -1 if there is none
    bint by_pairs                   # whether blocks are combined two by two. See Note [Lanes]


cdef dict OPERATIONS = {"sum": TX_SUM, "prod": TX_PROD, "max": TX_MAX, "min": TX_MIN, "any": TX_ANY, "all": TX_ALL,
                        "count_nonzero": TX_COUNT}


cdef class ReductionKernel(Kernel):
    """Reduce the elements in their working type; by a ufunc's loop where tensix has none."""

    cdef bint has_dtype          # whether the operator has the argument
    cdef bint has_empty_result
    cdef uint8_t working[47]   # per type of the elements: that in which they are reduced
    cdef uint8_t results[47]   # and that of the result
    cdef reduction_loop_t loops[47]

    def __init__(
            self, str operator, function, identity, *, working, results=None, has_dtype=False,
            has_empty_result=True):
        cdef int operation = OPERATIONS[operator]
        self.name, self.function = f"{operator} reduction", run_reduction
        self.has_dtype, self.has_empty_result = has_dtype, has_empty_result
        results = working if results is None else results
        for code in range(46):
            dtype = dtype_of_code(code)
            if dtype is not None:
                self.working[code] = dtype_from_any(working.get(dtype.name, dtype.name)).code
                self.results[code] = dtype_from_any(results.get(dtype.name, dtype.name)).code
                own_loop_init(&self.loops[code], operation, code, self.working[code], identity)
                self.loops[code].join = &ADD[INT64] if operation == TX_COUNT else &self.loops[self.working[code]]
                if self.loops[code].function == NULL and function is not None and self.working[code] == code:
                    take_loop(function, dtype, &self.loops[code].function, &self.loops[code].data)


cdef object run_reduction(Kernel kernel, object table, arguments_t args):
    cdef ReductionKernel self = <ReductionKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint keepdims = <object>args[3 if self.has_dtype else 2]
    cdef uint8_t working, result
    cdef uint64_t axes
    axes = axes_from_any(<object>args[1], x.ndim)
    if not self.has_dtype or <object>args[2] is None:
        working, result = self.working[x.dtype_code], self.results[x.dtype_code]
    else:
        result = dtype_from_any(<object>args[2]).code
        working = self.working[result]
        check_cast(x.dtype_code, result)
        if result == BOOL:
            x = converted(x, BOOL)  # before it is reduced: the integer sum of 1 and -1 is false
    if x.numel == 0 and not self.has_empty_result:
        refuse_empty(table.schema.name, x, axes)
    cdef reduction_loop_t* loop = &self.loops[x.dtype_code]
    if working != self.working[x.dtype_code] or loop.function == NULL:
        loop = &self.loops[working]
    return Tensor_wrap(converted(reduce(loop, x, None, working, axes, keepdims), result))


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
    cdef uint64_t one
    if axis is None:
        return (<uint64_t>1 << ndim) - 1 if ndim < 64 else <uint64_t>-1
    if type(axis) is int:
        return <uint64_t>1 << wrap_dim(int64_of(axis), ndim)
    for dim in tuple(axis) if isinstance(axis, (tuple, list)) else (axis,):  # See Note [Lists that change]
        one = <uint64_t>1 << wrap_dim(int64_of(dim), ndim)
        if axes & one:
            raise ValueError(f"each dimension may be named once, found axis={axis}.")
        axes |= one
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


cdef int take_loop(ufunc function, object dtype, inner_loop_t* found, void** data) except -1:
    """Find the loop of a ufunc that takes and gives one type; none leaves NULL."""
    cdef char wanted[8]
    cdef int i
    found[0], data[0] = NULL, NULL
    if dtype.name == "bfloat16":  # See Note [bfloat16 and NumPy]
        return 0
    memset(wanted, dtype.numpy.num, function.nargs)
    for i in range(function.ntypes):
        if memcmp(types_of_loop(function, i), wanted, function.nargs) == 0:
            found[0] = <inner_loop_t><void*>function.functions[i]  # it needs no GIL
            data[0] = <void*>function.data[i] if function.data != NULL else NULL
            return 0
    return 0


cdef int own_loop_init(reduction_loop_t* self, int operation, int source, int result, object identity) except -1:
    """Set up a loop of `tensix/loops/reduce.h` with its identity; where there is none its place is NULL."""
    dtype = dtype_of_code(result)
    cdef tx_reduction_t found = tx_reduction(operation, source)
    self.run, self.rows = found.run, found.rows
    if found.run != NULL:
        self.function, self.data = reducing_loop, self
    self.source, self.source_size, self.result_size = source, itemsize_of(source), itemsize_of(result)
    self.settled = -1
    if dtype.name == "bool":
        self.settled = 1 if operation in (TX_ANY, TX_MAX) else 0
    self.by_pairs = dtype.kind in "fc" and operation in (TX_SUM, TX_SQUARES)
    if dtype.name != "bfloat16":  # See Note [bfloat16 and NumPy]
        value = np.array(identity(dtype.numpy) if callable(identity) else identity, dtype.numpy).tobytes()
        memcpy(self.identity, <char*>value, len(value))
    return 0


cdef enum:
    BLOCK_BYTES = 16384    # See Note [Lanes]
    BLOCK_ELEMENTS = 1024  # of those that need the most of them
    GATHERED = 256         # columns of a plane that are copied to where they lie side by side
    GATHERED_ROWS = 4      # and rows: as many as a loop takes at a time


cdef void reducing_loop(char** data, const npy_intp* count, const npy_intp* steps, void* loop) noexcept nogil:
    """Reduce a run to one element, or combine a row with the results; data[0] is the center, if there is one."""
    cdef const reduction_loop_t* self = <const reduction_loop_t*>loop
    cdef sixteen_bytes_t total
    if steps[2] == 0:
        if self.by_pairs and count[0] > BLOCK_BYTES // self.source_size:
            memcpy(&total, self.identity, sizeof(total))
            reduce_by_pairs(self, data[1], steps[1], count[0], <char*>&total, data[0])
            self.join.rows(data[2], &total, 1, 1, 0, NULL)
        else:
            reduce_run(self, data[1], steps[1], count[0], data[2], data[0])
    elif are_dense(self, data, steps):
        self.rows(data[2], data[1], count[0], 1, 0, data[0])
    else:
        reduce_gathered(self, data, count[0], 1, steps, 0)


cdef void reducing_rows(
        char** data, npy_intp columns, npy_intp rows, const npy_intp* column_steps, const npy_intp* row_steps,
        void* loop) noexcept nogil:
    """Combine rows with the results, or all of a plane with one element."""
    cdef const reduction_loop_t* self = <const reduction_loop_t*>loop
    cdef char* row[3]
    cdef npy_intp i
    cdef int k
    if column_steps[2] != 0:
        if are_dense(self, data, column_steps):
            self.rows(data[2], data[1], columns, rows, row_steps[1], data[0])
        else:
            reduce_gathered(self, data, columns, rows, column_steps, row_steps[1])
        return
    for i in range(rows):
        for k in range(3):
            row[k] = data[k] + i * row_steps[k]
        reducing_loop(row, &columns, column_steps, loop)


cdef inline bint are_dense(const reduction_loop_t* self, char** data, const npy_intp* steps) noexcept nogil:
    """Return whether the results, and the elements and centers of a row, lie side by side."""
    return steps[2] == self.result_size and steps[1] == self.source_size and (
        data[0] == data[2] or steps[0] == self.source_size)


cdef void reduce_run(
        const reduction_loop_t* self, char* x, npy_intp step, npy_intp count, char* result,
        const char* center) noexcept nogil:
    cdef sixteen_bytes_t buffer[1024]  # BLOCK_ELEMENTS
    cdef npy_intp taken
    cdef npy_intp most = 32 * BLOCK_ELEMENTS if step == self.source_size else BLOCK_BYTES // self.source_size
    cdef npy_intp block = most
    if step == self.source_size and (self.settled < 0 or step == 1):  # loops over bytes stop by themselves
        block = count
    elif self.settled >= 0:
        block = 128 if step == self.source_size else 1  # few, then more: what settles a result is often near
    while count > 0 and (<uint8_t*>result)[0] != self.settled:
        taken = min(count, block)
        if step == self.source_size or taken == 1:
            self.run(x, taken, result, center)
        else:
            copy_strided(<int>self.source_size, x, step, <char*>buffer, self.source_size, taken)
            self.run(buffer, taken, result, center)
        x += taken * step
        count -= taken
        block = min(4 * block, most)


cdef void reduce_by_pairs(
        const reduction_loop_t* self, char* x, npy_intp step, npy_intp count, char* result,
        const char* center) noexcept nogil:
    """Make the total of the first half of the blocks and that of the others one, in a new result. See Note [Lanes]."""
    cdef sixteen_bytes_t rest
    cdef npy_intp block = BLOCK_BYTES // self.source_size
    cdef npy_intp half = (count // block + 1) // 2 * block
    if count <= block:
        reduce_run(self, x, step, count, result, center)
        return
    memcpy(&rest, self.identity, sizeof(rest))
    reduce_by_pairs(self, x, step, half, result, center)
    reduce_by_pairs(self, x + half * step, step, count - half, <char*>&rest, center)
    self.join.rows(result, &rest, 1, 1, 0, NULL)


cdef void reduce_gathered(
        const reduction_loop_t* self, char** data, npy_intp columns, npy_intp rows, const npy_intp* steps,
        npy_intp row_step) noexcept nogil:
    """Combine rows with the results where either do not lie side by side."""
    cdef sixteen_bytes_t results[256]  # GATHERED
    cdef sixteen_bytes_t elements[1024]  # in as many rows as GATHERED_ROWS
    cdef sixteen_bytes_t centers[256]
    cdef int size = <int>self.source_size
    cdef npy_intp row_bytes = GATHERED * size
    cdef npy_intp count, taken, row, i
    cdef npy_intp done = 0
    cdef char* target
    cdef char* x
    while done < columns:
        count = min(columns - done, <npy_intp>GATHERED)
        target = data[2] + done * steps[2]
        copy_strided(<int>self.result_size, target, steps[2], <char*>results, self.result_size, count)
        if data[0] != data[2]:
            copy_strided(size, data[0] + done * steps[0], steps[0], <char*>centers, size, count)
        row = 0
        while row < rows:
            taken = min(rows - row, <npy_intp>GATHERED_ROWS)
            x = data[1] + done * steps[1] + row * row_step
            for i in range(taken):
                copy_strided(size, x + i * row_step, steps[1], <char*>elements + i * row_bytes, size, count)
            self.rows(results, elements, count, taken, row_bytes, centers)
            row += taken
        copy_strided(<int>self.result_size, <char*>results, self.result_size, target, steps[2], count)
        done += count


# ---- the reduction


cdef TensorImpl reduce(
        const reduction_loop_t* loop, TensorImpl x, TensorImpl center, uint8_t code, uint64_t axes, bint keepdims):
    """Return the elements, as the loop takes them, reduced along some axes; on meta the shape alone.

    The center has the shape of the result with all axes kept, and the type of the loop's elements; None: there is none.
    """
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef char* data_of[3]
    cdef npy_intp steps[3]
    cdef npy_intp count = x.numel
    cdef int64_t step, center_step
    cdef int itemsize = itemsize_of(code)
    cdef int64_t x_itemsize = itemsize_of(x.dtype_code)
    cdef inner_loop_t function = loop.function
    cdef void* data = loop.data
    if function == NULL:
        raise TypeError(f"this reduction is not defined for {dtype_of_code(x.dtype_code).name}.")
    cdef TensorImpl out = reduced_impl(x, code, axes, keepdims)
    if x.device_type == META:
        return out
    cdef char* result = <char*>TensorImpl_mutable_data(out)
    fill_with(result, loop.identity, out.numel, itemsize)
    if x.numel == 0:
        return out
    data_of[0] = data_of[2] = result  # the center or the result, the elements, the result
    data_of[1] = <char*>TensorImpl_const_data(x)
    step = center_step = itemsize
    if center is not None:
        data_of[0], center_step = <char*>TensorImpl_const_data(center), loop.source_size
    if x.dtype_code != loop.source:
        converting_loop_init(&wrapped, loop.function, loop.data, 3)
        conversion_init(&wrapped.conversions[1], x.dtype_code, loop.source)
        function, data = converting_loop, &wrapped
    if x.contiguous and out.numel == 1 and count < GRAIN_ELEMENTS:  # one run, as the iterator would find
        steps[0], steps[1], steps[2] = 0, x_itemsize, 0
        function(data_of, &count, steps, data)
        return out
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator.operands = 3
    memcpy(iterator.data, data_of, sizeof(data_of))
    iterator.storages[0] = NULL
    iterator.storages[1], iterator.storages[2] = <PyObject*>x.storage, <PyObject*>out.storage
    for i in range(x.ndim - 1, -1, -1):
        iterator.steps[i][1] = TensorImpl_strides(x)[i] * x_itemsize
        iterator.steps[i][0] = iterator.steps[i][2] = 0
        if not (axes >> i) & 1:
            iterator.steps[i][0], iterator.steps[i][2] = center_step, step
            step *= TensorImpl_sizes(x)[i]
            center_step *= TensorImpl_sizes(x)[i]
    if x.dtype_code == loop.source and loop.rows != NULL:
        iterator.rows_loop = reducing_rows
    if x.numel < GRAIN_ELEMENTS:
        iterator_simplify(&iterator, 1)
        iterator_walk(&iterator, function, data)
        return out
    iterator_begin_use(&iterator)
    try:
        reduce_large(&iterator, loop, function, data, result, out, center is not None)
    finally:
        iterator_end_use(&iterator)
    return out


cdef void fill_with(char* target, const char* element, npy_intp count, int itemsize) noexcept nogil:
    copy_strided(itemsize, element, 0, target, itemsize, count)


cdef struct blocks_t:
    iterator_t* iterator
    inner_loop_t function
    void* data
    bint has_center
    int dim
    int halvings
    char* partials
    npy_intp nbytes    # of one partial result


cdef int reduce_large(
        iterator_t* iterator, const reduction_loop_t* loop, inner_loop_t function, void* data, char* result,
        TensorImpl out, bint has_center) except -1:
    """Reduce on several threads. See Note [Reduction in blocks]."""
    cdef blocks_t blocks
    cdef int itemsize = itemsize_of(out.dtype_code)
    cdef int kept
    iterator_simplify(iterator, 1)
    blocks.dim, kept = longest_dim(iterator, True), longest_dim(iterator, False)
    blocks.halvings = 0
    if iterator.steps[0][2] != 0 and iterator.sizes[0] >= FEW_RESULTS:
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
    blocks.has_center = has_center
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
        if (iterator.steps[i][2] == 0) == is_reduced and (found < 0 or iterator.sizes[i] > iterator.sizes[found]):
            found = i
    return found


cdef int halvings_of(const iterator_t* iterator, int dim, npy_intp results) noexcept nogil:
    """Return how often to halve a dimension: while blocks are worth a thread, and their results much smaller."""
    cdef npy_intp elements = iterator_total(iterator) // 2
    cdef npy_intp length = iterator.sizes[dim] // 2
    cdef npy_intp shortest = 2 * BLOCK_ELEMENTS if dim == iterator.ndim - 1 else 2
    cdef int halvings = 0
    while (halvings < MOST_HALVINGS and elements >= CHUNK_ELEMENTS // 2 and length >= shortest
            and elements >= 32 * results):
        halvings += 1
        elements //= 2
        length //= 2
    return halvings


cdef npy_intp cut(const blocks_t* blocks, npy_intp block) noexcept nogil:
    """Return where a block begins."""
    cdef npy_intp start = (blocks.iterator.sizes[blocks.dim] >> blocks.halvings) * block
    return start - start % BLOCK_ELEMENTS if blocks.dim == blocks.iterator.ndim - 1 else start


cdef void reduce_block(void* context, int64_t block) noexcept nogil:
    cdef blocks_t* blocks = <blocks_t*>context
    cdef iterator_t iterator = blocks.iterator[0]
    cdef npy_intp stop = iterator.sizes[blocks.dim]
    if block + 1 < 1 << blocks.halvings:
        stop = cut(blocks, block + 1)
    iterator.data[2] = blocks.partials + block * blocks.nbytes
    if not blocks.has_center:
        iterator.data[0] = iterator.data[2]
    iterator_run_part(&iterator, blocks.dim, cut(blocks, block), stop, blocks.function, blocks.data)


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
            loop.join.function(data, &count, steps, loop.join.data)
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


TRUTH = {dtype_of_code(code).name: "bool" for code in range(46) if dtype_of_code(code) is not None}
cdef dict WIDE = WIDENED | {"float16": "float32", "bfloat16": "float32"}
cdef dict PLAIN = {"bfloat16": "float32"}
REDUCTIONS = (
    (native_functions.SUM, ReductionKernel("sum", None, 0, working=WIDE, results=WIDENED, has_dtype=True)),
    (native_functions.PROD, ReductionKernel("prod", np.multiply, 1, working=WIDE, results=WIDENED, has_dtype=True)),
    (native_functions.MAX,
     ReductionKernel("max", np.maximum, lowest, working=PLAIN, results={}, has_empty_result=False)),
    (native_functions.MIN,
     ReductionKernel("min", np.minimum, highest, working=PLAIN, results={}, has_empty_result=False)),
    (native_functions.ANY, ReductionKernel("any", None, False, working=TRUTH)),
    (native_functions.ALL, ReductionKernel("all", None, True, working=TRUTH)),
)


# ---- mean, variance and standard deviation


# What is computed with, by the code of a floating type that NumPy has.
cdef reduction_loop_t ADD[47]
cdef reduction_loop_t SQUARES[47]
cdef UfuncKernel DIVIDE = UfuncKernel("div", np.divide, promotes=True)
cdef UfuncKernel SQRT = UfuncKernel("sqrt", np.sqrt, promotes=True)

own_loop_init(&ADD[INT64], TX_SUM, INT64, INT64, 0)
ADD[INT64].join = &ADD[INT64]
for _code, _real in (FLOAT32, FLOAT32), (FLOAT64, FLOAT64), (COMPLEX64, FLOAT32), (COMPLEX128, FLOAT64):
    own_loop_init(&ADD[_code], TX_SUM, _code, _code, 0)
    own_loop_init(&SQUARES[_code], TX_SQUARES, _code, _real, 0)
    ADD[_code].join, SQUARES[_code].join = &ADD[_code], &ADD[_real]


cdef uint8_t working_code(TensorImpl x) except? 255:
    """Return the type to compute in."""
    cdef uint8_t code = result_code(x)
    if code != x.dtype_code:
        return FLOAT64
    return FLOAT32 if code == FLOAT16 or code == BFLOAT16 else code


cdef uint8_t result_code(TensorImpl x) except? 255:
    """Return the type of a mean: that of the elements, the default one if they are not floating."""
    return x.dtype_code if dtype_of_code(x.dtype_code).kind in "fc" else default_float_code()


cdef double count_of(TensorImpl x, uint64_t axes) noexcept:
    """Return how many elements are reduced to one."""
    cdef double count = 1
    for i in range(x.ndim):
        if (axes >> i) & 1:
            count *= TensorImpl_sizes(x)[i]
    return count


cdef int divide(TensorImpl self, double divisor) except -1:
    """Divide every element in place."""
    cdef double number[2]  # large enough for each type
    if self.device_type != META:
        write_fitting(self.dtype_code, number, divisor)
        run_beside_number(&DIVIDE.loops[self.dtype_code], self, number, False, self)
    return 0


cdef TensorImpl mean_impl(TensorImpl x, uint8_t working, uint64_t axes, bint keepdims):
    cdef TensorImpl out = reduce(&ADD[working], x, None, working, axes, keepdims)
    divide(out, count_of(x, axes))
    return out


cdef int take_roots(TensorImpl self) except -1:
    """Take the square root of every element in place."""
    if self.device_type != META:
        run_loop(&SQRT.loops[self.dtype_code], self, None, self, self.dtype_code)
    return 0


cdef TensorImpl length_impl(TensorImpl x, uint64_t axes, bint keepdims):
    """Return the root of the sum of squares of float32 or float64: of the distances from 0."""
    cdef uint8_t code = x.dtype_code
    cdef TensorImpl center = reduced_impl(x, code, axes, True)
    cdef TensorImpl out
    fill_with(<char*>TensorImpl_mutable_data(center), ADD[code].identity, center.numel, itemsize_of(code))
    out = reduce(&SQUARES[code], x, center, code, axes, keepdims)
    take_roots(out)
    return out


cdef object mean(Kernel self, object table, arguments_t args):
    """Return the mean."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint keepdims = <object>args[2]
    cdef uint8_t working = working_code(x)
    axes = axes_from_any(<object>args[1], x.ndim)
    return Tensor_wrap(converted(mean_impl(x, working, axes, keepdims), result_code(x)))


cdef object spread(Kernel self, object table, arguments_t args):
    """Return the variance, or its root: the standard deviation."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef double correction = <object>args[2]
    cdef bint keepdims = <object>args[3]
    cdef uint8_t working = working_code(x)
    cdef uint64_t axes
    cdef TensorImpl center, out
    cdef double divisor
    axes = axes_from_any(<object>args[1], x.ndim)
    divisor = count_of(x, axes) - correction
    center = mean_impl(x, working, axes, True)
    out = reduce(&SQUARES[working], x, center, SQUARES[working].join.source, axes, keepdims)
    divide(out, max(divisor, 0.0))
    if self.variant == ROOT:
        take_roots(out)
    return Tensor_wrap(out if working != out.dtype_code else converted(out, result_code(x)))


# ---- running sums and products


cdef struct scan_t:
    tx_scan_t loop
    const char* x
    char* results
    npy_intp lines       # of which each has n rows of `width` elements
    npy_intp n
    npy_intp width
    npy_intp x_size
    npy_intp result_size
    npy_intp result_line  # bytes
    npy_intp share       # of lines, or of the width if there is one line


cdef object accumulate(Kernel self, object table, arguments_t args):
    """Return what reducing the first, the first two, … elements along an axis gives: sums or products."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl out
    cdef bint include_initial = <object>args[3]
    cdef int operation = self.variant
    cdef int64_t sizes[64]
    cdef uint8_t code
    cdef int dim, i
    axis, dtype = <object>args[1], <object>args[2]
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis is required unless the tensor has one dimension, found {x.ndim}.")
        axis = 0
    dim = wrap_dim(int64_of(axis), x.ndim)
    own = dtype_of_code(x.dtype_code)
    wide = dtype_from_any(WIDENED.get(own.name, own.name))
    result = wide if dtype is None else dtype_from_any(dtype)
    code = result.code
    check_cast(x.dtype_code, code)
    if x.device_type != META and (tx_scan(operation, code) == NULL or result.kind in "biu" and result is not wide):
        return accumulate_by_numpy(x, dim, result, include_initial, np.add if operation == TX_SUM else np.multiply)
    if result is not wide:
        x = converted(x, code)
    for i in range(x.ndim):
        sizes[i] = TensorImpl_sizes(x)[i]
    sizes[dim] += include_initial
    out = empty_impl(x.ndim, sizes, code, x.device_type, x.device_index)
    if x.device_type != META and out.numel != 0:
        scan(in_order(x), out, dim, operation, include_initial)
    return Tensor_wrap(out)


cdef int scan(TensorImpl x, TensorImpl out, int dim, int operation, bint include_initial) except -1:
    """Fill in running results; both tensors are row-major."""
    cdef scan_t self
    cdef npy_intp length
    cdef int i
    cdef double identity[2]  # large enough for each type
    self.x, self.results = <char*>TensorImpl_const_data(x), <char*>TensorImpl_mutable_data(out)
    self.loop = tx_scan(operation, x.dtype_code)
    self.lines = self.width = 1
    for i in range(x.ndim):
        if i < dim:
            self.lines *= TensorImpl_sizes(x)[i]
        elif i > dim:
            self.width *= TensorImpl_sizes(x)[i]
    self.n = TensorImpl_sizes(x)[dim]
    self.x_size, self.result_size = itemsize_of(x.dtype_code), itemsize_of(out.dtype_code)
    self.result_line = TensorImpl_sizes(out)[dim] * self.width * self.result_size
    if include_initial:
        write_fitting(out.dtype_code, identity, operation == TX_PROD)
        for i in range(self.lines):
            fill_with(self.results + i * self.result_line, <char*>identity, self.width, self.result_size)
        self.results += self.width * self.result_size
    length = self.width if self.lines == 1 else self.lines
    self.share = max(CHUNK_ELEMENTS * length // max(x.numel, 1), 1)
    self.share += (64 - self.share % 64) % 64 if self.lines == 1 else (4 - self.share % 4) % 4
    return run_shares(scan_share, &self, (length + self.share - 1) // self.share, x.numel, x, None, None)


cdef void scan_share(void* context, int64_t share) noexcept nogil:
    """Fill in the results of some lines, or of some columns of the only one."""
    cdef const scan_t* self = <const scan_t*>context
    cdef npy_intp start = share * self.share
    cdef npy_intp line = self.n * self.width
    cdef npy_intp result_line = self.result_line // self.result_size
    if self.lines == 1:
        self.loop(
            self.x + start * self.x_size, self.results + start * self.result_size, 1, line, result_line, self.n,
            min(self.share, self.width - start), self.width)
    else:
        self.loop(
            self.x + start * line * self.x_size, self.results + start * self.result_line,
            min(self.share, self.lines - start), line, result_line, self.n, self.width, self.width)


cdef object accumulate_by_numpy(TensorImpl x, int dim, object result, bint include_initial, object function):
    """Do so for complex numbers, float16, bfloat16, and results in a type that was asked for."""
    shape = list(TensorImpl_shape(x))
    shape[dim] += include_initial
    out = call_numpy(np.empty, (shape, np.float32 if result.code == BFLOAT16 else result.numpy))
    before = (slice(None),) * dim
    if include_initial:
        out[(*before, 0)] = function.identity
    results = out[(*before, slice(1, None))] if include_initial else out
    call_ignoring_errors(function.accumulate, (readable_of_impl(x), dim, out.dtype, results))
    return Tensor_wrap(converted(take_over(out), result.code))


for _table, _kernel in (  # on meta they find the shape and stop
    *REDUCTIONS,
    (native_functions.MEAN, Kernel_of("mean", mean)),
    (native_functions.VAR, Kernel_of("var", spread)),
    (native_functions.STD, Kernel_of("std", spread, ROOT)),
    (native_functions.CUMULATIVE_SUM, Kernel_of("cumulative_sum", accumulate, TX_SUM)),
    (native_functions.CUMULATIVE_PROD, Kernel_of("cumulative_prod", accumulate, TX_PROD)),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
