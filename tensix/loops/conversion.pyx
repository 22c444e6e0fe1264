"""Moving elements: as they are, as another type, and into a loop that wants another type.

Numbers are converted as C converts them; tensix/loops/convert.h says what comes of those that C leaves open. See Note
[bfloat16 and NumPy].

Note [Conversion in blocks]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
A loop that is given other types than it is made for runs inside another one, which converts a block of elements, calls
it, and goes on. The block stays in the processor's nearest cache, and no temporary tensor is made. Since what wraps
the loop is a loop too, the iterator and the threads know nothing of it.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from numpy cimport npy_intp
from tensix.loops.item cimport item_t, place_of_item, sixteen_bytes_t
from tensix.loops.iterator cimport inner_loop_t
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, FLOAT64, itemsize_of, refuse_undefined

cdef extern from "tensix/loops/convert.h" nogil:
    convert_t tx_conversion(int source_code, int target_code)

cdef extern from "tensix/loops/items.h" nogil:
    void tx_transpose(
        int itemsize, const char* source, npy_intp source_step, char* to, npy_intp to_step, npy_intp rows,
        npy_intp columns)

cdef enum:
    BLOCK_BYTES = 16384  # of one operand: a few of them stay in the nearest cache


# ---- as they are


cdef void copy(item_t** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_strided(sizeof(item_t), <char*>data[0], steps[0], <char*>data[1], steps[1], count[0])


cdef inner_loop_t[5] COPY = [
    <inner_loop_t>copy[uint8_t], <inner_loop_t>copy[uint16_t], <inner_loop_t>copy[uint32_t],
    <inner_loop_t>copy[uint64_t], <inner_loop_t>copy[sixteen_bytes_t],
]


cdef inner_loop_t copy_loop(int itemsize) noexcept nogil:
    """Return the loop that copies elements of a size, from its first operand to its second."""
    return COPY[place_of_item(itemsize)]


cdef void copy_tile(
        char** data, npy_intp columns, npy_intp rows, const npy_intp* column_steps, const npy_intp* row_steps,
        void* itemsize) noexcept nogil:
    """Copy rows that lie as columns in the first operand. See Note [Shuffling]."""
    cdef int size = (<int*>itemsize)[0]
    cdef npy_intp row
    if column_steps[1] == size and row_steps[0] == size:
        tx_transpose(size, data[0], column_steps[0], data[1], row_steps[1], columns, rows)
        return
    for row in range(rows):
        copy_strided(
            size, data[0] + row * row_steps[0], column_steps[0], data[1] + row * row_steps[1], column_steps[1], columns)


# ---- as another type


cdef int conversion_init(conversion_t* self, uint8_t source_code, uint8_t target_code) except -1:
    """Set up the conversion of elements of one type to another."""
    cdef int between = FLOAT32 if BFLOAT16 in (source_code, target_code) else FLOAT64
    self.source_size = itemsize_of(source_code)
    self.target_size = itemsize_of(target_code)
    self.first, self.second = tx_conversion(source_code, target_code), NULL
    self.block = BLOCK_BYTES // max(self.source_size, self.target_size)
    if self.first == NULL:
        self.block = BLOCK_BYTES // max(self.source_size, self.target_size, <npy_intp>sizeof(double))
        self.first, self.second = tx_conversion(source_code, between), tx_conversion(between, target_code)
        if self.first == NULL or self.second == NULL:
            refuse_undefined()
    return 0


cdef void convert_block(
        const conversion_t* self, char* source, npy_intp source_step, char* target, npy_intp target_step,
        npy_intp count) noexcept nogil:
    """Convert at most a block of elements from anywhere to anywhere."""
    cdef double between[2048]
    cdef sixteen_bytes_t given[1024]
    cdef sixteen_bytes_t made[1024]
    cdef char* out = target if target_step == self.target_size else <char*>made
    if source_step != self.source_size:
        copy_strided(self.source_size, source, source_step, <char*>given, self.source_size, count)
        source = <char*>given
    if self.second == NULL:
        self.first(source, out, count)
    else:
        self.first(source, between, count)
        self.second(between, out, count)
    if out != target:
        copy_strided(self.target_size, out, self.target_size, target, target_step, count)


cdef void conversion_loop(char** data, const npy_intp* count, const npy_intp* steps, void* conversion) noexcept nogil:
    """Inner loop: convert the first operand to the second."""
    cdef const conversion_t* self = <const conversion_t*>conversion
    cdef npy_intp done = 0
    while done < count[0]:
        convert_block(
            self, data[0] + done * steps[0], steps[0], data[1] + done * steps[1], steps[1],
            min(count[0] - done, self.block))
        done += self.block


# ---- into a loop


cdef void converting_loop_init(converting_loop_t* self, inner_loop_t function, void* data, int operands) noexcept:
    """Wrap a loop; as yet nothing is converted. See Note [Conversion in blocks]."""
    self.function, self.data, self.operands = function, data, operands
    for i in range(operands):
        self.conversions[i].first = NULL


cdef void converting_loop(char** data, const npy_intp* count, const npy_intp* steps, void* wrapped) noexcept nogil:
    """Inner loop around another one. See Note [Conversion in blocks]."""
    cdef converting_loop_t* self = <converting_loop_t*>wrapped
    cdef sixteen_bytes_t buffers[4][1024]
    cdef char* given[4]
    cdef char* passed[4]
    cdef npy_intp passed_steps[4]
    cdef npy_intp left = count[0]
    cdef npy_intp taken
    cdef npy_intp block = BLOCK_BYTES
    cdef int last = self.operands - 1
    cdef int i
    for i in range(self.operands):
        given[i] = data[i]
        passed_steps[i] = steps[i]
        if self.conversions[i].first == NULL:
            continue
        block = min(block, self.conversions[i].block)
        passed_steps[i] = self.conversions[i].source_size if i == last else self.conversions[i].target_size
        if i != last and steps[i] == 0:  # one element serves all blocks
            convert_block(&self.conversions[i], given[i], 0, <char*>buffers[i], self.conversions[i].target_size, 1)
            passed_steps[i] = 0
    while left > 0:
        taken = min(left, block)
        for i in range(self.operands):
            passed[i] = given[i] if self.conversions[i].first == NULL else <char*>buffers[i]
            if i != last and self.conversions[i].first != NULL and steps[i] != 0:
                convert_block(
                    &self.conversions[i], given[i], steps[i], <char*>buffers[i], self.conversions[i].target_size, taken)
        self.function(passed, &taken, passed_steps, self.data)
        if self.conversions[last].first != NULL:
            convert_block(
                &self.conversions[last], <char*>buffers[last], self.conversions[last].source_size, given[last],
                steps[last], taken)
        for i in range(self.operands):
            given[i] += taken * steps[i]
        left -= taken
