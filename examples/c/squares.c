/* squares.squares(n): a tensor of 0, 1, 4, ... that is made in C; squares.total(x): the sum of a float64 vector. */
#include <Python.h>
#include <tensix/c_api.h>

static PyObject *squares(PyObject *module, PyObject *length)
{
    int64_t size = PyLong_AsLongLong(length);
    PyObject *made;
    (void)module;
    if (size == -1 && PyErr_Occurred()) return NULL;
    if ((made = tx.tensor_empty(1, &size, TX_FLOAT64)) == NULL) return NULL;
    double *data = (double *)tx.tensor_data(made);
    for (int64_t i = 0; i < size; i++) data[i] = (double)i * (double)i;
    return made;
}

static PyObject *total(PyObject *module, PyObject *x)
{
    double sum = 0;
    (void)module;
    if (!PyObject_TypeCheck(x, tx.Tensor) || tx.tensor_ndim(x) != 1 || tx.tensor_dtype(x) != TX_FLOAT64)
        return PyErr_Format(PyExc_TypeError, "total() needs a vector of float64, found %R", x);
    const double *data = (const double *)tx.tensor_const_data(x);
    int64_t stride = tx.tensor_strides(x)[0];
    for (int64_t i = 0; i < tx.tensor_sizes(x)[0]; i++) sum += data[i * stride];
    return PyFloat_FromDouble(sum);
}

static PyMethodDef METHODS[] = {
    {"squares", squares, METH_O, "Return a vector of n squares."},
    {"total", total, METH_O, "Return the sum of a vector of float64."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "squares", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_squares(void)
{
    PyObject *module = tx_import() < 0 ? NULL : PyModule_Create(&MODULE);
#if defined(Py_GIL_DISABLED)
    if (module != NULL) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
