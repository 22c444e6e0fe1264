"""What is still alive when the process ends, by the line that allocated it: ``TENSIX_LEAKS=1``.

Note [The last moment]
~~~~~~~~~~~~~~~~~~~~~~
A report from an ``atexit`` function would call every global variable a leak. So it is written after the interpreter is
gone: by then modules are cleared and the collector has run, and what was held by them alone is free. No Python is left
to write it with, so the lines were put into C strings when they first allocated, and the numbers are C's.
"""
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t
from libc.stdio cimport fprintf, stderr
from tensix.memory.profiler cimport Profile, line_numbers_t, line_table_t

__all__ = []

cdef extern from "Python.h":
    int Py_AtExit(void (*function)() noexcept nogil)

cdef line_table_t* table = NULL  # of the profile that watches, which is never freed


cdef void report() noexcept nogil:
    """Write one line for every line of the program that has blocks alive. See Note [The last moment]."""
    cdef uint32_t i
    if table.lines[0].current_count == 0:
        return
    fprintf(stderr, "tensix: still alive at exit: ")
    write_sum(&table.lines[0])
    fprintf(stderr, "\n")
    for i in range(1, table.line_count):
        if table.lines[i].current_count != 0:
            fprintf(stderr, "tensix:   ")
            write_sum(&table.lines[i])
            fprintf(stderr, ", allocated at %s\n", table.lines[i].text)


cdef void write_sum(const line_numbers_t* line) noexcept nogil:
    fprintf(stderr, "%lld block%s, ", <long long>line.current_count, b"" if line.current_count == 1 else b"s")
    write_size(line.current_bytes)


cdef void write_size(int64_t nbytes) noexcept nogil:
    """Write a size as `format_size` does."""
    if nbytes <= 1024:
        fprintf(stderr, "%lld bytes", <long long>nbytes)
    elif nbytes < 1 << 20:
        fprintf(stderr, "%.2f KiB", nbytes / 1024.0)
    elif nbytes < 1 << 30:
        fprintf(stderr, "%.2f MiB", nbytes / 1048576.0)
    else:
        fprintf(stderr, "%.2f GiB", nbytes / 1073741824.0)


def watch():
    """Listen from now on, and report when the process ends."""
    global table
    cdef Profile profile = Profile(quiet=True)
    profile.__enter__()
    Py_INCREF(profile)  # for ever: it listens until the end
    table = &profile.table
    if Py_AtExit(report):
        raise RuntimeError("cannot report leaks: too many functions wait for the end of the process already.")
