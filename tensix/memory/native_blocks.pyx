"""Which library and which lines of Python asked for a block, read inside `malloc`.

Note [Blocks of other libraries]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
``preloaded.c`` reports large blocks where they are made: inside `malloc`, in any thread, with the GIL or without. There
no Python can run and no reference can be counted, and `CallSites`, which makes a frame object of each frame, cannot be
used. So frames are read as the interpreter has them, and the names of file and function are copied of each new line:
its code may be freed before the snapshot. Other code may get its address then, so a line is known by its names, too.

The library is that of the code that called `malloc`; if that is the C or C++ library, that of its caller. What tensix
itself asks for is left out: the recorder hears of its blocks already, or uses them.

All tables are changed with the lock of ``preloaded.c``. A thread that has it does not take the loader's lock, whose
holder may be inside `malloc` and wait.
"""
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport malloc
from libc.string cimport strcmp
from tensix.core.memory_reports cimport python_knows_thread
from tensix.memory.block_table cimport block_table_number, block_table_put, block_table_t
from tensix.memory.growing_array cimport grow

cdef extern from "tensix/memory/running_code.h" nogil:
    ctypedef struct tx_named_line_t:
        int line
        int kinds[2]
        Py_ssize_t lengths[2]
        char* texts[2]
    enum:
        TX_INTERPRETER
        TX_PASSED_ON
    const tx_preloaded_t* tx_find_preloaded()
    void tx_own_code(const char** begin, const char** end)
    int tx_running_positions(tx_position_t* out, int most)
    int tx_library_at(void* address, const char** path)
    int tx_callers_of(void* caller, void** out, int most)
    uint64_t tx_mixed(uint64_t hashed, uint64_t more)
    uint64_t tx_position_hash(const tx_position_t* one)
    tx_named_line_t* tx_name_position(const tx_position_t* one)

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() nogil
    str PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t length)

cdef extern from "<string.h>" nogil:
    char* strdup(const char* text)

cdef enum:
    PASSED_ON = 0xFFFFFFFF   # in place of a number: ask who called this library
    MOST_CALLERS = 16

cdef struct items_t:         # numbered from 1
    void** items
    size_t count
    size_t capacity

cdef items_t libraries, lines, stacks  # paths; tx_named_line_t; uint32_t: library, length, lines
cdef block_table_t library_of_address, line_of_hash, stack_of_hash
preloaded = tx_find_preloaded()


cdef bint listen(tx_native_hooks_t* hooks) noexcept:
    """Have hooks called from now on, NULL: none; return whether the library for it was preloaded."""
    cdef void* callers[2]
    if preloaded == NULL:
        return False
    preloaded.lock()
    if hooks != NULL:
        tx_own_code(&hooks.begin, &hooks.end)
        if libraries.count == 0:
            append(&libraries, strdup("Python"))
            append(&libraries, strdup("Python objects"))
        tx_callers_of(NULL, callers, 2)  # the first time it loads a library
    preloaded.listen(hooks)
    preloaded.unlock()
    return True


cdef void take_origin(origin_t* out, void* caller, bint is_mapping) noexcept nogil:
    """Say who asks for a block. See Note [Blocks of other libraries]."""
    cdef void* callers[16]  # MOST_CALLERS
    cdef uint32_t i
    cdef int more
    out.library = library_at(caller)
    if out.library == PASSED_ON:
        for more in range(tx_callers_of(caller, callers, MOST_CALLERS)):
            out.library = library_at(callers[more])
            if out.library != PASSED_ON:
                break
        if out.library == PASSED_ON:
            out.library = 0
    if out.library == PYTHON_LIBRARY and is_mapping:
        out.library = PYTHON_ARENAS
    out.length = out.thread = 0
    if python_knows_thread():
        out.length, out.thread = tx_running_positions(out.positions, MOST_POSITIONS), PyThread_get_thread_ident()
    out.hash = tx_mixed(1, out.library)
    for i in range(out.length):
        out.hash = tx_mixed(out.hash, tx_position_hash(&out.positions[i]))


cdef uint32_t library_at(void* address) noexcept nogil:
    """Return the number of the library that an address is in, or PASSED_ON."""
    cdef const char* path = NULL
    cdef uint64_t number
    cdef uint32_t i
    cdef int kind
    preloaded.lock()
    number = block_table_number(&library_of_address, address)
    preloaded.unlock()
    if number != 0:
        return <uint32_t>(number - 1)
    kind = tx_library_at(address, &path)
    preloaded.lock()
    if kind == TX_PASSED_ON:
        number = PASSED_ON
    elif kind == TX_INTERPRETER:
        number = PYTHON_LIBRARY
    else:
        for i in range(libraries.count):
            if strcmp(<char*>libraries.items[i], path) == 0:
                number = i + 1
                break
        if number == 0:
            number = append(&libraries, strdup(path))
    block_table_put(&library_of_address, address, number + 1)
    preloaded.unlock()
    return <uint32_t>number


cdef uint32_t number_of_origin(const origin_t* origin) noexcept nogil:
    """Return the number of a library and lines, a new one at the first sight; with the lock."""
    cdef uint32_t number = <uint32_t>block_table_number(&stack_of_hash, <void*>origin.hash)
    cdef uint32_t* stack
    cdef uint64_t hashed
    cdef uint32_t i
    if number != 0:
        return number
    stack = <uint32_t*>malloc((2 + origin.length) * sizeof(uint32_t))
    if stack == NULL:
        return 0
    stack[0], stack[1] = origin.library, origin.length
    for i in range(origin.length):
        hashed = tx_position_hash(&origin.positions[i])
        stack[2 + i] = <uint32_t>block_table_number(&line_of_hash, <void*>hashed)
        if stack[2 + i] == 0:
            stack[2 + i] = append(&lines, tx_name_position(&origin.positions[i]))
            block_table_put(&line_of_hash, <void*>hashed, stack[2 + i])
    number = append(&stacks, stack)
    block_table_put(&stack_of_hash, <void*>origin.hash, number)
    return number


cdef uint32_t append(items_t* table, void* item) noexcept nogil:
    """Return the number of a new item, 0 if there is no memory for it."""
    if item == NULL:
        return 0
    if table.count == table.capacity and not grow(<void**>&table.items, &table.capacity, sizeof(void*)):
        return 0
    table.items[table.count] = item
    table.count += 1
    return table.count


def ignore_thread(int change):
    """Do not record what this thread asks for from now on, 1, or do so again, -1."""
    if preloaded != NULL:
        preloaded.ignore(change)


def library_paths():
    """Return the libraries by their numbers less one; what has no file is called by a name."""
    preloaded.lock()
    count = libraries.count
    preloaded.unlock()
    return [bytes(<char*>item_at(&libraries, number)).decode(errors="replace") for number in range(1, count + 1)]


def frames_of(uint32_t site):
    """Return the number of the library of a call site, 0 if it is not known, and file, line and function of frames."""
    cdef uint32_t* stack = <uint32_t*>item_at(&stacks, site)
    cdef uint32_t i
    if stack == NULL:
        return 0, []
    return stack[0], [frame_at(stack[2 + i]) for i in range(stack[1])]


cdef tuple frame_at(uint32_t number):
    cdef tx_named_line_t* line = <tx_named_line_t*>item_at(&lines, number)
    if line == NULL:
        return "?", 0, "?"
    names = [PyUnicode_FromKindAndData(line.kinds[i], line.texts[i], line.lengths[i]) if line.kinds[i] else "?"
             for i in range(2)]
    return names[0], line.line, names[1]


cdef void* item_at(items_t* table, uint32_t number) noexcept:
    """Return an item, which stays where it is, NULL for 0."""
    cdef void* item = NULL
    preloaded.lock()
    if 0 < number <= table.count:
        item = table.items[number - 1]
    preloaded.unlock()
    return item
