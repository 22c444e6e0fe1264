/* Whether this thread holds the GIL, so that what the GIL protects may be touched. Unlike PyGILState_Check this is
 * right with subinterpreters too: where it is in doubt the answer is no. Without a GIL it protects nothing.
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

#endif /* TENSIX_GIL_H */
