// Every C header from C++, and one function of each kind.
#include <Python.h>
#include <tensix/atomics.h>
#include <tensix/bits.h>
#include <tensix/c_api.h>
#include <tensix/convert.h>
#include <tensix/finalization.h>
#include <tensix/pages.h>

#include <vector>

static PyObject *shape(PyObject *, PyObject *x)
{
    if (!PyObject_TypeCheck(x, tx.Tensor)) return PyErr_Format(PyExc_TypeError, "a Tensor is needed, found %R", x);
    std::vector<int64_t> sizes(tx.tensor_sizes(x), tx.tensor_sizes(x) + tx.tensor_ndim(x));
    PyObject *list = PyList_New(0);
    for (int64_t size : sizes) {
        PyObject *number = PyLong_FromLongLong(size);
        if (list == nullptr || number == nullptr || PyList_Append(list, number) < 0) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyMethodDef METHODS[] = {{"shape", shape, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

static PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "plain_cpp", nullptr, -1, METHODS, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_plain_cpp()
{
    return tx_import() < 0 ? nullptr : PyModule_Create(&MODULE);
}
