#include <Python.h>

PyObject *identity(PyObject *module, PyObject *length);
PyObject *every_other(PyObject *module, PyObject *storage);
PyObject *reported(PyObject *module, PyObject *length);
