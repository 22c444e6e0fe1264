/* Whether an operand is a temporary of an expression: see Note [Temporaries] in dispatch/operands.py. */
#ifndef TENSIX_TEMPORARIES_H
#define TENSIX_TEMPORARIES_H

#include <Python.h>

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

/* Return how long the path of the package is, in which the module with this code lies one folder deep. */
static inline size_t tx_package_length(const char *module)
{
    size_t length = strlen(module);
    int separators = 2;
    while (length > 0 && separators > 0)
        separators -= module[--length] == '/';
    return length;
}

/* Return whether the function that evaluates bytecode has called this by Python's own functions and ours only. */
static inline int tx_is_called_by_sign(void)
{
    void *frames[12];
    Dl_info python, here, frame;
    void *evaluate = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    int i = 0, count = backtrace(frames, 12);
    if (evaluate == NULL || !dladdr((void *)(size_t)&PyNumber_Add, &python) ||
        !dladdr((void *)(size_t)&tx_is_called_by_sign, &here))
        return 0;
    size_t length = tx_package_length(here.dli_fname);
    while (i < count && dladdr(frames[i], &frame) && strncmp(frame.dli_fname, here.dli_fname, length + 1) == 0)
        i++;
    for (; i < count && dladdr(frames[i], &frame) && frame.dli_fbase == python.dli_fbase; i++)
        if (frame.dli_saddr == evaluate)
            return 1;
    return 0;
}
#else
static inline int tx_is_called_by_sign(void)
{
    return 0;
}
#endif

/* Return whether the interpreter's stack may be the only owner of an object; few instructions. */
static inline int tx_may_be_temporary(PyObject *operand)
{
    return Py_REFCNT(operand) == 1;
}

/* Return whether it is the only owner, and drops it after this call. */
static inline int tx_is_temporary(PyObject *operand)
{
#if PY_VERSION_HEX >= 0x030E0000
    if (!PyUnstable_Object_IsUniqueReferencedTemporary(operand))
        return 0;
#endif
    return Py_REFCNT(operand) == 1 && tx_is_called_by_sign();
}

#endif
