/* Whether an operand is a temporary of an expression: see Note [Temporaries] in dispatch/operands.py. */
#ifndef TENSIX_TEMPORARIES_H
#define TENSIX_TEMPORARIES_H

#include <Python.h>

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <execinfo.h>

/* Where the interpreter goes on after the function behind a sign, learnt from one that it calls; NULL: not known. */
static void *tx_after_sign = NULL;

static PyObject *tx_learn_callers(PyObject *left, PyObject *right)
{
    void *frames[8];
    Dl_info frame;
    int count = backtrace(frames, 8);
    (void)left, (void)right;
    for (int i = 0; i + 1 < count; i++)
        if (dladdr(frames[i], &frame) && frame.dli_saddr == (void *)(size_t)&PyNumber_Add)
            tx_after_sign = frames[i + 1];
    Py_RETURN_NONE;
}

/* Let the interpreter add two objects whose sign is the function above. */
static inline void tx_learn_sign(void)
{
    PyType_Slot slots[] = {{Py_nb_add, (void *)(size_t)&tx_learn_callers}, {0, NULL}};
    PyType_Spec spec = {"tensix.Sign", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec), *names = PyDict_New(), *found = NULL;
    if (type != NULL && names != NULL && PyDict_SetItemString(names, "Sign", type) == 0)
        found = PyRun_String("Sign.__new__(Sign) + 1", Py_eval_input, names, names);
    if (found == NULL)
        PyErr_Clear(); /* without it, results have memory of their own */
    Py_XDECREF(found);
    Py_XDECREF(names);
    Py_XDECREF(type);
}

/* Return whether the interpreter has called this for a sign, by Python's own functions and ours only. */
static inline int tx_is_called_by_sign(void)
{
    static int has_learnt = 0;
    void *frames[12];
    Dl_info python, here, frame;
    int i = 0, count = backtrace(frames, 12);
    if (!has_learnt) {
        has_learnt = 1;
        tx_learn_sign();
    }
    if (tx_after_sign == NULL || !dladdr((void *)(size_t)&PyNumber_Add, &python) ||
        !dladdr((void *)(size_t)&tx_learn_callers, &here))
        return 0;
    while (i < count && dladdr(frames[i], &frame) && frame.dli_fbase == here.dli_fbase)
        i++;
    for (; i < count && dladdr(frames[i], &frame) && frame.dli_fbase == python.dli_fbase; i++)
        if (frames[i] == tx_after_sign)
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
