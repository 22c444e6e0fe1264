/* What is said of an argument of the wrong type, in the words of the package instead of Cython's.
 *
 * Cython checks declared types before the function begins, and has its own texts for what does not fit. Included before
 * all else in each module, this says the same as functions that check for themselves: what is needed, what was found.
 */
#ifndef TENSIX_ARGUMENT_ERRORS_H
#define TENSIX_ARGUMENT_ERRORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdarg.h>
#include <string.h>

/* The class as users know it: without its module, and without the base that kernels know of tensors. */
static inline const char *tx_short_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    name = dot == NULL ? name : dot + 1;
    return strcmp(name, "TensorBase") == 0 ? "Tensor" : name;
}

static inline PyObject *tx_err_format(PyObject *exception, const char *format, ...)
{
    const char *argument, *first, *second;
    va_list values;
    va_start(values, format);
    if (strncmp(format, "Argument '%.200s' has incorrect type (expected %.200s", 53) == 0) {
        argument = va_arg(values, const char *);
        first = va_arg(values, const char *);
        second = va_arg(values, const char *);
        PyErr_Format(exception, "'%.200s' must be of type %.200s, found %.200s.", argument, tx_short_name(first),
                     tx_short_name(second));
    } else if (strcmp(format, "Cannot convert %.200s to %.200s") == 0) {
        first = va_arg(values, const char *);
        second = va_arg(values, const char *);
        PyErr_Format(exception, "a value of type %.200s is needed, found %.200s.", tx_short_name(second),
                     tx_short_name(first));
    } else {
        PyErr_FormatV(exception, format, values);
    }
    va_end(values);
    return NULL;
}

#define PyErr_Format tx_err_format

#endif
