/* The pool as a module: Python starts it and reads what it counted. */
#include "pool.h"

static pool_t pool;

static PyObject *run(PyObject *module, PyObject *args)
{
    int threads, started;
    unsigned long long turns;
    Py_ssize_t max_bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "iKn", &threads, &turns, &max_bytes)) return NULL;
    pool.turns = turns;
    pool.max_bytes = (size_t)max_bytes;
    pool.made = pool.refused = pool.nbytes = pool.broken = 0;
    Py_BEGIN_ALLOW_THREADS
    started = pool_run(&pool, threads);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("{sisKsKsKsK}", "threads", started, "made", (unsigned long long)pool.made, "refused",
                         (unsigned long long)pool.refused, "nbytes", (unsigned long long)pool.nbytes, "broken",
                         (unsigned long long)pool.broken);
}

static PyObject *clear(PyObject *module, PyObject *unused)
{
    uint64_t nbytes, count = pool_clear(&pool, &nbytes);
    (void)module, (void)unused;
    return Py_BuildValue("(KK)", (unsigned long long)count, (unsigned long long)nbytes);
}

/* One block by this thread, with the GIL or without it; a byte may be written behind its end. */
static PyObject *allocate_and_free(PyObject *module, PyObject *args)
{
    Py_ssize_t nbytes;
    int releases, overruns = 0, failed;
    tensix_block block;
    (void)module;
    if (!PyArg_ParseTuple(args, "np|p", &nbytes, &releases, &overruns)) return NULL;
    if (releases) {
        Py_BEGIN_ALLOW_THREADS
        failed = tensix_allocate((size_t)nbytes, &block);
        if (overruns) ((char *)block.data)[nbytes] = 0;
        tensix_free(&block);
        tensix_free(&block); /* harmless */
        Py_END_ALLOW_THREADS
    } else {
        failed = tensix_allocate((size_t)nbytes, &block);
        tensix_free(&block);
    }
    return PyBool_FromLong(failed == 0);
}

static PyMethodDef methods[] = {
    {"run", run, METH_VARARGS, NULL},
    {"clear", clear, METH_NOARGS, NULL},
    {"allocate_and_free", allocate_and_free, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "c_threads", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_c_threads(void)
{
    return tx_import() < 0 ? NULL : PyModule_Create(&definition);
}
