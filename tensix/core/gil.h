/* Whether Python objects may be touched: by this thread, and at all. */
#ifndef TENSIX_GIL_H
#define TENSIX_GIL_H

#include <Python.h>
#include "tensix/core/thread_local.h"

/* Whether the interpreter ends, asked before every late call into it. The function is public from CPython 3.13 on. */
static inline int tx_is_finalizing(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/* Whether this thread holds the GIL, so that what the GIL protects may be touched; without a GIL, whether it is attached.
 * Unlike PyGILState_Check this is right with subinterpreters too: where in doubt the answer is 0.
 */
static inline int tx_holds_gil(void)
{
#if PY_VERSION_HEX >= 0x030D0000
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

#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern TX_THREAD_LOCAL int tx_keeps_gil; /* not 0 while this thread frees for NumPy: Note [NumPy's handler] */

/* Let other threads run while so many bytes go back to the system, which takes long from a megabyte on. Returns
 * what `tx_end_long_free` wants; NULL if this thread keeps the GIL, or has none.
 */
static inline PyThreadState *tx_begin_long_free(size_t nbytes)
{
    return nbytes >= (1 << 20) && !tx_keeps_gil && tx_holds_gil() ? PyEval_SaveThread() : NULL;
}

static inline void tx_end_long_free(PyThreadState *state)
{
    if (state != NULL) PyEval_RestoreThread(state);
}

#endif /* TENSIX_GIL_H */
