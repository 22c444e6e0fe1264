/* Whether this thread holds the GIL, so that what the GIL protects may be touched. Unlike PyGILState_Check this is
 * right with subinterpreters too: where in doubt the answer is 0. Without a GIL it protects nothing.
 */
#ifndef TENSIX_GIL_H
#define TENSIX_GIL_H

#include <Python.h>

#if defined(Py_GIL_DISABLED)
#define TX_GIL_EXISTS 0
#else
#define TX_GIL_EXISTS 1
#endif

static inline int tx_holds_gil(void)
{
#if defined(Py_GIL_DISABLED)
    return 0;
#elif PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked() != NULL;  /* that of this thread, while it is attached */
#elif PY_VERSION_HEX >= 0x030C0000
    return _PyThreadState_UncheckedGet() != NULL;
#else
    PyThreadState *holder = _PyThreadState_UncheckedGet();  /* that of any thread */
    return holder != NULL && holder == PyGILState_GetThisThreadState();
#endif
}

/* Whether this thread, after finalisation has begun, still holds the GIL. What static objects of C++ hold goes after the
 * interpreter: PyGILState_Check alone is true then. Out of line, for it stands in every function that drops a reference.
 */
#if defined(__GNUC__)
__attribute__((noinline, cold, unused))
#endif
static int tx_holds_gil_at_exit(void)
{
    return PyGILState_GetThisThreadState() != NULL && PyGILState_Check();
}

#endif /* TENSIX_GIL_H */
