/* A second file of the same module: tx_import() was called in the first. Tensors made from C, and memory reported. */
#include "plain_c_made.h"
#include <stdlib.h>
#include <tensix/c_api.h>

PyObject *identity(PyObject *module, PyObject *length)
{
    int64_t sizes[2], size = PyLong_AsLongLong(length);
    PyObject *made;
    double *data;
    (void)module;
    if (PyErr_Occurred()) return NULL;
    sizes[0] = sizes[1] = size;
    if ((made = tx.tensor_empty(2, sizes, TX_FLOAT64)) == NULL) return NULL;
    data = (double *)tx.tensor_data(made);
    for (int64_t i = 0; i < size * size; i++) data[i] = i / size == i % size;
    return made;
}

PyObject *every_other(PyObject *module, PyObject *storage)
{
    int64_t size, stride = 2;
    (void)module;
    if (!PyObject_TypeCheck(storage, tx.Storage)) return PyErr_Format(PyExc_TypeError, "a Storage is needed");
    size = (int64_t)(tx.storage_nbytes(storage) / sizeof(float) / 2);
    return tx.tensor_from_storage(storage, 1, &size, &stride, 0, TX_FLOAT32);
}

typedef struct { size_t nbytes; uint64_t stamp; } reported_t;

static void report_and_free(void *ctx)
{
    reported_t *block = (reported_t *)ctx;
    tx.report_free(block + 1, block->nbytes, block->stamp);
    free(block);
}

PyObject *reported(PyObject *module, PyObject *length)
{
    size_t nbytes = PyLong_AsSize_t(length);
    reported_t *block;
    PyObject *made;
    (void)module;
    if (PyErr_Occurred()) return NULL;
    if ((block = (reported_t *)malloc(sizeof *block + nbytes)) == NULL) return PyErr_NoMemory();
    block->nbytes = nbytes;
    block->stamp = tx.report_allocation(block + 1, nbytes, Py_None);
    if ((made = tx.storage_from_blob(block + 1, nbytes, report_and_free, block)) == NULL) report_and_free(block);
    return made;
}
