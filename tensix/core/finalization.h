/* Whether Python objects may still be touched. One question, asked before every late call into the interpreter.
 * Py_IsFinalizing became public in CPython 3.13; before that the same function had a leading underscore.
 */
#ifndef TENSIX_FINALIZATION_H
#define TENSIX_FINALIZATION_H

#include <Python.h>

static inline int tx_is_finalizing(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return !Py_IsInitialized() || Py_IsFinalizing();
#else
    return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

#endif /* TENSIX_FINALIZATION_H */
