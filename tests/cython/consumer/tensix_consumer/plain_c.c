/* The C header from C: sum a float64 vector, wrap an array, count a target. */
#include "plain_c_made.h"
#include <stdlib.h>
#include <tensix/atomics.h>
#include <tensix/c_api.h>

static uint64_t freed;

static void count_and_free(void *ctx)
{
    tx_add_fetch_relaxed(&freed, 1);
    free(ctx);
}

static PyObject *total(PyObject *module, PyObject *x)
{
    double sum = 0;
    const double *data;
    (void)module;
    if (!PyObject_TypeCheck(x, tx.Tensor)) return PyErr_Format(PyExc_TypeError, "a Tensor is needed, found %R", x);
    data = (const double *)tx.tensor_const_data(x);
    if (tx.tensor_ndim(x) != 1 || tx.tensor_dtype(x) != TX_FLOAT64 || data == NULL) {
        PyErr_SetString(PyExc_TypeError, "a float64 vector is needed");
        return NULL;
    }
    for (int64_t i = 0; i < tx.tensor_sizes(x)[0]; i++) sum += data[i * tx.tensor_strides(x)[0]];
    return PyFloat_FromDouble(sum);
}

static PyObject *ones(PyObject *module, PyObject *length)
{
    int64_t size = PyLong_AsLongLong(length);
    double *data;
    PyObject *made;
    (void)module;
    if (size < 0 || (data = (double *)malloc(size * sizeof(double))) == NULL) return PyErr_NoMemory();
    for (int64_t i = 0; i < size; i++) data[i] = 1;
    made = tx.tensor_from_blob(data, 1, &size, NULL, TX_FLOAT64, count_and_free, NULL);
    if (made == NULL) free(data);
    return made;
}

static PyObject *freed_count(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyLong_FromUnsignedLongLong(tx_load_acquire(&freed));
}

static PyObject *counted(PyObject *module, PyObject *target)
{
    uint32_t count;
    (void)module;
    if (!PyObject_TypeCheck(target, tx.IntrusiveTarget)) return PyErr_Format(PyExc_TypeError, "no target: %R", target);
    Py_BEGIN_ALLOW_THREADS
    tx.incref(target);
    count = tx.use_count(target);
    tx.decref(target);
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLong(count);
}

static PyMethodDef METHODS[] = {
    {"total", total, METH_O, NULL},
    {"ones", ones, METH_O, NULL},
    {"freed_count", freed_count, METH_NOARGS, NULL},
    {"counted", counted, METH_O, NULL},
    {"identity", identity, METH_O, NULL},
    {"every_other", every_other, METH_O, NULL},
    {"reported", reported, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "plain_c", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_plain_c(void)
{
    PyObject *module = tx_import() < 0 ? NULL : PyModule_Create(&MODULE);
#if defined(Py_GIL_DISABLED)
    if (module != NULL) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
