"""Walking over the elements of several tensors at once.

A walk is set up in three steps: its shape, its operands (each broadcast to that shape by steps of 0), and a run. The
operand that is written comes last, as in NumPy's loops. Large walks run without the GIL, and on several threads.

Code that writes takes the mutable address before the walk: a copy-on-write tensor must not begin to copy inside it.
The addresses of operands are taken when they are added, and nothing runs from then on that could change them: see
Note [Addresses in use]. A walk that gives up the GIL uses their storages until it ends.

Note [Order of a walk]
~~~~~~~~~~~~~~~~~~~~~~
Memory is read and written fastest in the order in which it lies. So before a walk its dimensions are sorted by the
steps of one operand, the leader, from large to small; where it does not move the others decide. A dimension that no
operand walks forwards is walked from its other end. Then adjacent dimensions that every operand can walk as
one become one. The innermost goes to the inner loop, the others are counted here.

The leader is what is written. A new result therefore decides by its own order: that of the inputs if all that have its
shape share one, so that transposed tensors give a transposed result, and row-major otherwise.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t
from numpy cimport npy_intp
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.export cimport begin_export, end_export
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_begin_use, StorageImpl_end_use
from tensix.loops.empty cimport empty_impl, empty_in_order_impl
from tensix.loops.parallel cimport chunk_function_t, parallel_for
from tensix.tensors.dtype cimport itemsize_of
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_has_sizes, TensorImpl_shape, TensorImpl_sizes, TensorImpl_strides,
)

cdef extern from "tensix/loops/items.h" nogil:
    void tx_transpose(
        int itemsize, const char* source, npy_intp source_step, char* to, npy_intp to_step, npy_intp rows,
        npy_intp columns)

cdef extern from "tensix/loops/stream.h" nogil:
    ctypedef struct streaming_loop_t "tx_streaming_loop_t":
        inner_loop_t function
        void* data
        int last
        npy_intp size
        bint copies
    npy_intp STREAM_FROM "TX_STREAM_FROM"
    void streaming_loop "tx_streaming_loop"(
        char** data, const npy_intp* count, const npy_intp* steps, void* wrapped) noexcept


cdef int iterator_start(iterator_t* self, int ndim, const int64_t* sizes) except -1:
    """Set the shape to walk over."""
    TX_ASSERT(0 <= ndim <= ITERATOR_DIMS, "a number of dimensions", ndim)
    self.ndim = ndim
    self.operands = 0
    self.rows_loop = self.tile_loop = NULL
    self.keeps_rows = self.waits_for_memory = False
    for i in range(MAX_OPERANDS):
        self.itemsizes[i] = 0
    for i in range(ndim):
        self.sizes[i] = sizes[i]
    return 0


cdef int iterator_add_outer(iterator_t* self, TensorImpl operand, int ndim, void* data) except -1:
    """Add an operand of whose dimensions the first few are walked over."""
    cdef int64_t* sizes = TensorImpl_sizes(operand)
    cdef int64_t* strides = TensorImpl_strides(operand)
    cdef int64_t itemsize = itemsize_of(operand.dtype_code)
    cdef int missing = self.ndim - ndim
    cdef int slot = self.operands
    TX_ASSERT(slot < MAX_OPERANDS, "a slot for another operand", slot)
    if missing < 0:
        raise ValueError(
            f"cannot broadcast shape {TensorImpl_shape(operand)} to fewer dimensions: "
            f"{tuple([self.sizes[j] for j in range(self.ndim)])}."
        )
    for i in range(self.ndim):
        if i < missing or (sizes[i - missing] == 1 and self.sizes[i] != 1):
            self.steps[i][slot] = 0
        elif sizes[i - missing] == self.sizes[i]:
            self.steps[i][slot] = strides[i - missing] * itemsize
        else:
            raise ValueError(
                f"cannot broadcast shape {TensorImpl_shape(operand)} to "
                f"{tuple([self.sizes[j] for j in range(self.ndim)])}."
            )
    self.data[slot] = <char*>data
    self.itemsizes[slot] = itemsize
    self.storages[slot] = <PyObject*>operand.storage  # or None, of a body without memory
    self.operands += 1
    return 0


cdef void iterator_add_element(iterator_t* self, void* data) noexcept:
    """Add one element as an operand, the same at every step."""
    TX_ASSERT(self.operands < MAX_OPERANDS, "a slot for another operand", self.operands)
    for i in range(self.ndim):
        self.steps[i][self.operands] = 0
    self.data[self.operands] = <char*>data
    self.storages[self.operands] = NULL
    self.operands += 1


cdef npy_intp iterator_total(const iterator_t* self) noexcept nogil:
    """Return the number of elements to walk over."""
    cdef npy_intp total = 1
    cdef int i
    for i in range(self.ndim):
        total *= self.sizes[i]
    return total


cdef int iterator_run(iterator_t* self, inner_loop_t loop, void* loop_data) except -1:
    """Call the inner loop on every run of elements; each element is written once, so threads may share the work."""
    cdef npy_intp total = iterator_total(self)
    if total == 0:
        return 0
    iterator_simplify(self, self.operands - 1)
    if total < GRAIN_ELEMENTS:
        iterator_walk(self, loop, loop_data)
        return 0
    iterator_begin_use(self)
    with nogil:
        run_large_walk(self, total, loop, loop_data)
    iterator_end_use(self)
    return 0


cdef void run_large_walk(iterator_t* self, npy_intp total, inner_loop_t loop, void* loop_data) noexcept nogil:
    """Share the runs among threads. See Note [Stores past the cache]."""
    cdef int last = self.operands - 1
    cdef streaming_loop_t streaming = streaming_loop_t(
        loop, loop_data, last, self.itemsizes[last], self.tile_loop != NULL)  # which copies have
    if self.waits_for_memory and total * self.itemsizes[last] >= STREAM_FROM and not is_read(self, last):
        loop, loop_data = streaming_loop, &streaming
    iterator_split(self, longest_dim(self), loop, loop_data)


cdef bint is_read(const iterator_t* self, int written) noexcept nogil:
    """Return whether the storage of an operand is that of one before it."""
    cdef int i
    for i in range(written):
        if self.storages[i] == self.storages[written]:
            return True
    return False


cdef int iterator_begin_use(iterator_t* self) except -1:
    """Use the operands' storages while the GIL is given up; the last one is written. See Note [Storages in use]."""
    cdef int i
    for i in range(self.operands):
        if self.storages[i] == NULL or <object>self.storages[i] is None:
            continue
        try:
            if i == self.operands - 1:
                begin_export(<StorageImpl>self.storages[i])
            else:
                StorageImpl_begin_use(<StorageImpl>self.storages[i])
        except RuntimeError:
            while i < self.operands:  # these were not begun
                self.storages[i] = NULL
                i += 1
            iterator_end_use(self)
            raise
    return 0


cdef void iterator_end_use(iterator_t* self) noexcept:
    """Take that back."""
    cdef int i
    for i in range(self.operands):
        if self.storages[i] == NULL or <object>self.storages[i] is None:
            continue
        if i == self.operands - 1:
            end_export(<StorageImpl>self.storages[i])
        else:
            StorageImpl_end_use(<StorageImpl>self.storages[i])


cdef int run_large(
        chunk_function_t function, void* context, int64_t shares, TensorImpl x, TensorImpl y,
        TensorImpl written) except -1:
    """Run shares on several threads, without the GIL. See Note [Storages in use]."""
    cdef iterator_t uses
    uses.operands = 3
    uses.storages[0] = NULL if x is None else <PyObject*>x.storage
    uses.storages[1] = NULL if y is None else <PyObject*>y.storage
    uses.storages[2] = NULL if written is None else <PyObject*>written.storage
    iterator_begin_use(&uses)
    with nogil:
        parallel_for(shares, function, context)
    iterator_end_use(&uses)
    return 0


cdef int longest_dim(const iterator_t* self) noexcept nogil:
    """Return the dimension to cut: the outermost if it is long enough, else the longest."""
    cdef int found = 0
    cdef int i
    for i in range(1, self.ndim):
        if self.sizes[found] < 64 and self.sizes[i] > self.sizes[found]:
            found = i
    return found


# ---- the order


cdef void iterator_simplify(iterator_t* self, int leader) noexcept nogil:
    """Bring the dimensions into the order of memory and merge them. See Note [Order of a walk]."""
    cdef int kept = 0
    cdef int i, k
    cdef bint turned = False
    for i in range(self.ndim):
        if self.sizes[i] == 1:
            continue
        self.sizes[kept] = self.sizes[i]
        for k in range(self.operands):
            self.steps[kept][k] = self.steps[i][k]
            turned |= self.steps[i][k] < 0
        kept += 1
    self.ndim = kept
    if turned:
        walk_forwards(self)
    sort(self, leader)
    coalesce(self)


cdef void walk_forwards(iterator_t* self) noexcept nogil:
    """Start at the other end of dimensions that no operand walks forwards."""
    cdef int i, k
    cdef bint forwards, backwards
    for i in range(self.ndim):
        forwards = backwards = False
        for k in range(self.operands):
            forwards |= self.steps[i][k] > 0
            backwards |= self.steps[i][k] < 0
        if backwards and not forwards:
            for k in range(self.operands):
                self.data[k] += self.steps[i][k] * (self.sizes[i] - 1)
                self.steps[i][k] = -self.steps[i][k]


cdef void sort(iterator_t* self, int leader) noexcept nogil:
    """Sort the dimensions by steps; those that say nothing about each other keep their order."""
    cdef int i, j, place, order
    for i in range(1, self.ndim):
        place = i
        for j in range(i - 1, -1, -1):
            order = compare(self, leader, j, i)
            if order > 0:
                place = j
            elif order < 0:
                break
        if place != i:
            move(self, i, place)


cdef int compare(const iterator_t* self, int leader, int outer, int inner) noexcept nogil:
    """Return 1 if two dimensions should change places, -1 if not, 0 if no operand tells."""
    cdef int k = leader
    cdef npy_intp a, b
    for _ in range(self.operands):
        a, b = self.steps[outer][k], self.steps[inner][k]
        if a != 0 and b != 0:
            return 1 if (a if a > 0 else -a) < (b if b > 0 else -b) else -1
        k = (k + self.operands - 1) % self.operands
    return 0


cdef void move(iterator_t* self, int source, int target) noexcept nogil:
    """Take a dimension out and put it before another one in front of it."""
    cdef npy_intp size = self.sizes[source]
    cdef npy_intp steps[4]
    cdef int i, k
    for k in range(self.operands):
        steps[k] = self.steps[source][k]
    for i in range(source, target, -1):
        self.sizes[i] = self.sizes[i - 1]
        for k in range(self.operands):
            self.steps[i][k] = self.steps[i - 1][k]
    self.sizes[target] = size
    for k in range(self.operands):
        self.steps[target][k] = steps[k]


cdef void coalesce(iterator_t* self) noexcept nogil:
    """Merge adjacent dimensions that every operand can walk as one; at least one dimension is left."""
    cdef int kept = 0
    cdef int i, k
    cdef bint merges
    for i in range(self.ndim):
        merges = kept > 0
        for k in range(self.operands):
            if merges and self.steps[kept - 1][k] != self.sizes[i] * self.steps[i][k]:
                merges = False
        if merges:
            self.sizes[kept - 1] *= self.sizes[i]
        else:
            self.sizes[kept] = self.sizes[i]
            kept += 1
        for k in range(self.operands):
            self.steps[kept - 1][k] = self.steps[i][k]
    if kept == 0:
        self.sizes[0] = kept = 1
        for k in range(self.operands):
            self.steps[0][k] = 0
    self.ndim = kept


# ---- the walk


cdef void iterator_walk(iterator_t* self, inner_loop_t loop, void* loop_data) noexcept nogil:
    """Walk over everything: planes of the two innermost dimensions one after the other."""
    cdef plane_t plane
    cdef npy_intp position[64]
    cdef int outer = self.ndim - 2
    cdef int i, k
    TX_ASSERT(0 < self.ndim <= ITERATOR_DIMS, "a walk that was simplified, so that it has a dimension", self.ndim)
    plane_init(&plane, self)
    for i in range(outer):
        position[i] = 0
    while True:
        plane_walk(&plane, self, loop, loop_data)
        i = outer - 1
        while i >= 0:
            position[i] += 1
            for k in range(self.operands):
                self.data[k] += self.steps[i][k]
            if position[i] < self.sizes[i]:
                break
            for k in range(self.operands):
                self.data[k] -= self.steps[i][k] * self.sizes[i]
            position[i] = 0
            i -= 1
        if i < 0:
            return


cdef enum:
    TILE = 64          # elements: a tile of two operands of eight bytes fills the nearest cache
    LOW = 16           # rows of a tile that is walked row by row,
    WIDE = 256         # and its elements in a row: half of the nearest cache has their lines
    TURNED = 4         # bytes: larger elements are read one by one as fast as they are turned
    CACHE_LINE = 64    # bytes
    SHORT_RUN = 5      # elements: of rows as short as that, runs go along columns,
    SHORT_SUM = 15     # and of rows as short as that, if each is reduced to one element
    TALL = 1024        # rows whose first elements are one run, then their second ones, while they are in the cache


cdef struct plane_t:
    npy_intp rows
    npy_intp columns
    npy_intp* row_steps
    npy_intp* column_steps
    npy_intp row_tile      # 1, or how many rows are walked together
    npy_intp column_tile   # elements of a run
    bint is_tall           # rows are short, so that runs go along columns
    npy_intp turned[4]     # the item size of operands whose columns lie side by side, 0 of others; see `walk_turned`
    bint turns             # whether there are any


cdef void plane_init(plane_t* plane, iterator_t* iterator) noexcept nogil:
    """Choose how to walk over the two innermost dimensions.

    Row by row, as a rule. In tiles, if an operand lies the other way, column by column: else each of its elements
    would be in another cache line, gone before its neighbour is wanted. Many short rows are walked down their columns.
    """
    cdef int inner = iterator.ndim - 1
    cdef int outer = inner - 1 if inner > 0 else 0
    cdef int k
    cdef npy_intp row_step, column_step, short_run
    plane.rows = iterator.sizes[outer] if inner > 0 else 1
    plane.columns = iterator.sizes[inner]
    plane.row_steps, plane.column_steps = &iterator.steps[outer][0], &iterator.steps[inner][0]
    plane.row_tile, plane.column_tile, plane.turns, plane.is_tall = 1, plane.columns, False, False
    if plane.columns <= SHORT_SUM and plane.rows > 2 * plane.columns:
        short_run = SHORT_SUM if iterator.rows_loop != NULL else SHORT_RUN
        plane.is_tall = plane.columns <= short_run and not iterator.keeps_rows
        if plane.is_tall or iterator.tile_loop != NULL:  # which takes many short rows by one call
            plane.row_tile = min(plane.rows, <npy_intp>TALL)
            return
    for k in range(iterator.operands):
        row_step, column_step = plane.row_steps[k], plane.column_steps[k]
        if row_step < 0:
            row_step = -row_step
        if column_step < 0:
            column_step = -column_step
        plane.turned[k] = 0
        if 0 < row_step < column_step > CACHE_LINE // 2 and plane.rows > 1 and plane.columns > TILE:
            plane.row_tile, plane.column_tile = (TILE, TILE) if iterator.tile_loop != NULL else (LOW, WIDE)
            if plane.row_steps[k] == iterator.itemsizes[k] <= TURNED and k != iterator.operands - 1:
                plane.turned[k], plane.turns = iterator.itemsizes[k], True


cdef void plane_walk(
        const plane_t* plane, const iterator_t* iterator, inner_loop_t loop, void* loop_data) noexcept nogil:
    """Walk over the two innermost dimensions."""
    cdef npy_intp first_row, last_row, column, count
    if iterator.rows_loop != NULL and plane.row_tile == 1 and plane.row_steps[iterator.operands - 1] == 0:
        call_rows_loop(iterator.rows_loop, plane, iterator, 0, 0, plane.columns, plane.rows, loop_data)
        return
    if plane.row_tile == 1:
        call_loop_by_rows(plane, iterator, 0, plane.rows, 0, plane.columns, loop, loop_data)
        return
    if plane.turns and iterator.tile_loop == NULL:
        walk_turned(plane, iterator, loop, loop_data)
        return
    first_row = 0
    while first_row < plane.rows:
        last_row = min(first_row + plane.row_tile, plane.rows)
        column = 0
        if plane.is_tall:
            count = last_row - first_row
            for column in range(plane.columns):
                call_loop(plane, iterator, first_row, column, count, plane.row_steps, loop, loop_data)
        else:
            while column < plane.columns:
                count = min(plane.column_tile, plane.columns - column)
                if iterator.tile_loop != NULL:
                    call_rows_loop(
                        iterator.tile_loop, plane, iterator, first_row, column, count, last_row - first_row, loop_data)
                else:
                    call_loop_by_rows(plane, iterator, first_row, last_row, column, count, loop, loop_data)
                column += plane.column_tile
        first_row = last_row


cdef void walk_turned(
        const plane_t* plane, const iterator_t* iterator, inner_loop_t loop, void* loop_data) noexcept nogil:
    """Walk over the two innermost dimensions in tiles, in each of which operands that lie column by column are turned.

    A tile is as high as a cache line has elements, so that each line is read once, and the inner loop gets operands
    without gaps. Sums of bytes, 1,000 by 1,000, one of them transposed, take a third of the time so.
    """
    cdef uint64_t[3][2048] tiles  # WIDE * CACHE_LINE bytes each
    cdef char* data[4]
    cdef npy_intp row_steps[4]
    cdef npy_intp column_steps[4]
    cdef char* start[4]
    cdef npy_intp size, row, column, columns, rows, i, largest = 1
    cdef int k
    for k in range(iterator.operands):
        largest = max(largest, plane.turned[k])
    row = 0
    while row < plane.rows:
        rows = min(plane.rows - row, CACHE_LINE // largest)
        column = 0
        while column < plane.columns:
            columns = min(plane.columns - column, <npy_intp>WIDE)
            for k in range(iterator.operands):
                size = plane.turned[k]
                row_steps[k], column_steps[k] = plane.row_steps[k], plane.column_steps[k]
                data[k] = iterator.data[k] + row * row_steps[k] + column * column_steps[k]
                if size != 0:
                    tx_transpose(<int>size, data[k], column_steps[k], <char*>tiles[k], columns * size, columns, rows)
                    data[k], row_steps[k], column_steps[k] = <char*>tiles[k], columns * size, size
            for i in range(rows):
                for k in range(iterator.operands):  # a copy: inner loops may advance it
                    start[k] = data[k] + i * row_steps[k]
                loop(start, &columns, column_steps, loop_data)
            column += columns
        row += rows


cdef inline void call_rows_loop(
        rows_loop_t loop, const plane_t* plane, const iterator_t* iterator, npy_intp row, npy_intp column,
        npy_intp columns, npy_intp rows, void* loop_data) noexcept nogil:
    cdef char* data[4]
    cdef int k
    for k in range(iterator.operands):
        data[k] = iterator.data[k] + row * plane.row_steps[k] + column * plane.column_steps[k]
    loop(data, columns, rows, plane.column_steps, plane.row_steps, loop_data)


cdef inline void call_loop(
        const plane_t* plane, const iterator_t* iterator, npy_intp row, npy_intp column, npy_intp count,
        const npy_intp* steps, inner_loop_t loop, void* loop_data) noexcept nogil:
    cdef char* data[4]
    cdef int k
    for k in range(iterator.operands):  # a copy: inner loops may advance it
        data[k] = iterator.data[k] + row * plane.row_steps[k] + column * plane.column_steps[k]
    loop(data, &count, steps, loop_data)


cdef inline void call_loop_by_rows(
        const plane_t* plane, const iterator_t* iterator, npy_intp row, npy_intp stop, npy_intp column, npy_intp count,
        inner_loop_t loop, void* loop_data) noexcept nogil:
    cdef char* data[4]
    cdef char* start[4]
    cdef npy_intp step[4]
    cdef char *first, *second, *third, *fourth  # not the array: what is written narrow is read wide late
    cdef npy_intp given
    cdef int k
    for k in range(4):
        start[k], step[k] = NULL, 0
    for k in range(iterator.operands):
        start[k] = iterator.data[k] + row * plane.row_steps[k] + column * plane.column_steps[k]
        step[k] = plane.row_steps[k]
    first, second, third, fourth = start[0], start[1], start[2], start[3]
    for _ in range(row, stop):
        given = count
        data[0], data[1], data[2], data[3] = first, second, third, fourth  # a copy: inner loops may advance it
        loop(data, &given, plane.column_steps, loop_data)
        first, second, third, fourth = first + step[0], second + step[1], third + step[2], fourth + step[3]


cdef void iterator_run_part(
        const iterator_t* self, int dim, npy_intp start, npy_intp stop, inner_loop_t loop,
        void* loop_data) noexcept nogil:
    """Walk over a stretch of one dimension and all of the others."""
    cdef iterator_t part
    cdef int i, k
    TX_ASSERT(0 <= dim < self.ndim, "a dimension of the walk", dim)
    TX_ASSERT(0 <= start < stop <= self.sizes[dim], "a stretch of the dimension", start)
    part.ndim, part.operands = self.ndim, self.operands
    part.rows_loop, part.tile_loop, part.keeps_rows = self.rows_loop, self.tile_loop, self.keeps_rows
    for i in range(self.ndim):
        part.sizes[i] = self.sizes[i]
        for k in range(self.operands):
            part.steps[i][k] = self.steps[i][k]
    part.sizes[dim] = stop - start
    for k in range(self.operands):
        part.data[k] = self.data[k] + start * self.steps[dim][k]
        part.itemsizes[k] = self.itemsizes[k]
    iterator_walk(&part, loop, loop_data)


cdef struct shares_t:
    const iterator_t* iterator
    inner_loop_t loop
    void* loop_data
    int dim
    npy_intp length  # of a share, the last may be shorter


cdef void run_share(void* context, int64_t share) noexcept nogil:
    cdef shares_t* shares = <shares_t*>context
    cdef npy_intp start = share * shares.length
    cdef npy_intp stop = min(start + shares.length, shares.iterator.sizes[shares.dim])
    iterator_run_part(shares.iterator, shares.dim, start, stop, shares.loop, shares.loop_data)


cdef void iterator_split(iterator_t* self, int dim, inner_loop_t loop, void* loop_data) noexcept nogil:
    """Walk on several threads, each of which takes stretches of one dimension.

    A stretch of the innermost dimension is a multiple of 64 elements long, so that vectorised loops treat every
    element as they would in one piece.
    """
    cdef npy_intp total = iterator_total(self)
    cdef shares_t shares
    cdef npy_intp size = self.sizes[dim]
    shares.length = CHUNK_ELEMENTS // max(total // size, <npy_intp>1)
    shares.length = max(shares.length, <npy_intp>1)
    if dim == self.ndim - 1:
        shares.length = (shares.length + 63) // 64 * 64
    if shares.length >= size:
        iterator_walk(self, loop, loop_data)
        return
    shares.iterator, shares.loop, shares.loop_data, shares.dim = self, loop, loop_data, dim
    parallel_for((size + shares.length - 1) // shares.length, run_share, &shares)


# ---- what comes in and out


cdef TensorImpl new_result(int ndim, const int64_t* sizes, uint8_t dtype_code, TensorImpl x, TensorImpl y):
    """Return a new tensor for the result of x and y, in the order of theirs. See Note [Order of a walk].

    For a function of x alone y is x. The device is that of x.
    """
    cdef TensorImpl like = x if TensorImpl_has_sizes(x, ndim, sizes) else y
    cdef TensorImpl other = y if TensorImpl_has_sizes(y, ndim, sizes) else x
    if like.contiguous or not TensorImpl_has_sizes(like, ndim, sizes):
        return empty_impl(ndim, sizes, dtype_code, x.device_type, x.device_index)
    if TensorImpl_has_sizes(other, ndim, sizes) and not same_strides(like, other):
        return empty_impl(ndim, sizes, dtype_code, x.device_type, x.device_index)
    return empty_in_order_impl(like, dtype_code)


cdef bint same_strides(TensorImpl a, TensorImpl b) noexcept nogil:
    """Compare the strides of two tensors of one shape; of dimensions of size 1 they do not matter."""
    cdef int i
    for i in range(a.ndim):
        if TensorImpl_sizes(a)[i] != 1 and TensorImpl_strides(a)[i] != TensorImpl_strides(b)[i]:
            return False
    return True


cdef int broadcast_sizes(TensorImpl a, TensorImpl b, int64_t* sizes) except -1:
    """Fill in the common shape of two tensors and return its number of dimensions."""
    cdef int found = broadcast_dims(a.ndim, TensorImpl_sizes(a), b.ndim, TensorImpl_sizes(b), sizes)
    if found < 0:
        raise ValueError(
            f"shapes {TensorImpl_shape(a)} and {TensorImpl_shape(b)} cannot be broadcast together: "
            f"sizes {TensorImpl_sizes(a)[a.ndim + found]} and {TensorImpl_sizes(b)[b.ndim + found]} differ and "
            "neither is 1."
        )
    return found


cdef int broadcast_dims(int a_ndim, const int64_t* a, int b_ndim, const int64_t* b, int64_t* sizes) noexcept nogil:
    """Fill in the common sizes and return how many there are; if two differ, their place from the end, as -1.

    `sizes` may be those of the operand that has more of them.
    """
    cdef int ndim = max(a_ndim, b_ndim)
    cdef int found = ndim
    cdef int64_t x, y
    cdef int i, p, q
    for i in range(ndim):
        p = i - (ndim - a_ndim)
        q = i - (ndim - b_ndim)
        x = a[p] if p >= 0 else 1
        y = b[q] if q >= 0 else 1
        if x == y or x == 1 or y == 1:
            sizes[i] = y if x == 1 else x
        elif found >= 0:
            found = i - ndim
    return found
