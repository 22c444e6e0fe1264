/* Tracebacks that show where a call came in and where it failed, and not each C function between.
 *
 * Cython enters every function that an exception passes into the traceback. Included before all else in each module,
 * this takes those out again that have one of tensix's own on both sides. A debug build shows them all. What failed
 * without an exception gets one.
 */
#ifndef TENSIX_TRACEBACK_H
#define TENSIX_TRACEBACK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if !defined(PYPY_VERSION)
#include <frameobject.h>
#include <string.h>

static inline int tx_is_compiled(PyTracebackObject *entry)
{
    PyCodeObject *code = PyFrame_GetCode(entry->tb_frame);
    const char *name = PyUnicode_AsUTF8(code->co_filename);
    const int found = name != NULL && strncmp(name, "tensix/", 7) == 0; /* files of Python have absolute paths */
    if (name == NULL) PyErr_Clear();
    Py_DECREF(code);
    return found;
}

static inline int tx_traceback_here(PyFrameObject *frame)
{
    int status;
    /* Functions of NumPy fail without an exception where Python has no memory, of which CPython 3.12 and later crash. */
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "error return without exception set");
    status = PyTraceBack_Here(frame);
#if !defined(TENSIX_DEBUG)
    PyObject *type, *value, *traceback;
    PyTracebackObject *first, *second, *third;
    if (status != 0) return status;
    PyErr_Fetch(&type, &value, &traceback);
    first = (PyTracebackObject *)traceback;
    second = first == NULL ? NULL : first->tb_next;
    third = second == NULL ? NULL : second->tb_next;
    if (third != NULL && tx_is_compiled(first) && tx_is_compiled(second) && tx_is_compiled(third)) {
        Py_INCREF(third);
        first->tb_next = third;
        Py_DECREF(second);
    }
    PyErr_Restore(type, value, traceback);
#endif
    return status;
}

#define PyTraceBack_Here tx_traceback_here
#endif

#endif
