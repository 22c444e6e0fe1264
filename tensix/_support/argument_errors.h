/* What is said of wrong arguments, in the words of the package instead of Cython's.
 *
 * Cython checks declared types before the function begins, and has its own texts for what does not fit. Included before
 * all else in each module, this says the same as functions that check for themselves: what is needed, what was found.
 *
 * Of arguments that do not fit the signature Cython says which function has them by its last name alone. Its function
 * that adds to the traceback has the whole name as a parameter, `funcname`, and there the text is completed, by
 * tensix/_support/argument_errors.py. The name in the frame may be another function's: Cython finds code objects by the
 * number of a line, in whichever file. Functions without arguments are not added: their whole text is written here.
 */
#ifndef TENSIX_ARGUMENT_ERRORS_H
#define TENSIX_ARGUMENT_ERRORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdarg.h>
#include <string.h>

#define TX_HOW_TO_WRAP " Wrap it in tensix.asarray()." /* as in tensix/tensors/tensor_base.py */

/* The class as users know it: without its module, and without the base that kernels know of tensors. */
static inline const char *tx_short_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    name = dot == NULL ? name : dot + 1;
    return strcmp(name, "TensorBase") == 0 ? "Tensor" : name;
}

/* Write what Cython says with a format as the package says it; return 0 if that has no words of its own. */
static inline int tx_say(PyObject *exception, const char *caller, const char *format, va_list values)
{
    const char *first, *second, *third;
    if (strncmp(format, "Argument '%.200s' has incorrect type (expected %.200s", 53) == 0) {
        first = va_arg(values, const char *);
        second = tx_short_name(va_arg(values, const char *));
        third = tx_short_name(va_arg(values, const char *));
        PyErr_Format(exception, "'%.200s' must be of type %.200s, found %.200s.%s", first, second, third,
                     strcmp(second, "Tensor") == 0 && strcmp(third, "NoneType") != 0 ? TX_HOW_TO_WRAP : "");
    } else if (strcmp(format, "Cannot convert %.200s to %.200s") == 0) {
        first = tx_short_name(va_arg(values, const char *));
        second = tx_short_name(va_arg(values, const char *));
        PyErr_Format(exception, "a value of type %.200s is needed, found %.200s.", second, first);
    } else if (strncmp(format, "%.200s() takes %.8s %", 21) == 0) {
        first = va_arg(values, const char *);
        second = va_arg(values, const char *);
        if (strcmp(second, "exactly") != 0 || va_arg(values, Py_ssize_t) != 0) return 0;
        va_arg(values, const char *); /* a plural */
        PyErr_Format(exception, "%.200s() takes no arguments, found %zd: %.200s().", first, va_arg(values, Py_ssize_t),
                     first);
    } else if (strcmp(caller, "__Pyx_RejectKeywords") == 0) {
        first = va_arg(values, const char *);
        PyErr_Format(exception, "%.200s() has no argument '%U': %.200s().", first, va_arg(values, PyObject *), first);
    } else {
        return 0;
    }
    return 1;
}

static inline PyObject *tx_err_format(const char *caller, PyObject *exception, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    if (!tx_say(exception, caller, format, values)) PyErr_FormatV(exception, format, again);
    va_end(again);
    va_end(values);
    return NULL;
}

#define PyErr_Format(...) tx_err_format(__func__, __VA_ARGS__)

/* Whether a text begins with the last part of a function's name and its parentheses. */
static inline int tx_begins_with_call(const char *text, const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot == NULL ? name : dot + 1;
    const size_t length = strlen(last);
    return strncmp(text, last, length) == 0 && strncmp(text + length, "() ", 3) == 0;
}

/* Return the whole text for an error that a function has just raised, or NULL, also with an error set. */
static inline PyObject *tx_with_signature(const char *name, PyObject *value)
{
    PyObject *module, *completed = NULL;
    PyObject *text = PyObject_Str(value);
    const char *value_text = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (value_text != NULL && tx_begins_with_call(value_text, name)) {
        module = PyImport_ImportModule("tensix._support.argument_errors");
        if (module != NULL) completed = PyObject_CallMethod(module, "with_signature_of", "Os", text, name);
        Py_XDECREF(module);
    }
    Py_XDECREF(text);
    return completed;
}

static inline int tx_traceback_with_signature(PyFrameObject *frame, const char *name)
{
    PyObject *type, *value, *traceback, *completed = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    if (type == PyExc_TypeError && value != NULL && traceback == NULL) completed = tx_with_signature(name, value);
    PyErr_Restore(type, value, traceback); /* what could not be completed is said as it was */
    if (completed != NULL) PyErr_SetObject(PyExc_TypeError, completed);
    Py_XDECREF(completed);
    return PyTraceBack_Here(frame);
}

#undef PyTraceBack_Here
#define PyTraceBack_Here(frame) tx_traceback_with_signature(frame, funcname)

#endif
