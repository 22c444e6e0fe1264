/* A C program whose main thread has an interpreter, while the threads of its pool know nothing of it.
 *
 *     program THREADS TURNS
 *
 * It prints what was made and refused, and what is in use after the threads have ended and after all is freed.
 */
#include "pool.h"
#include <stdio.h>
#include <stdlib.h>

static long long memory_allocated(void)
{
    PyObject *module = PyImport_ImportModule("tensix.memory");
    PyObject *found = module == NULL ? NULL : PyObject_CallMethod(module, "memory_allocated", NULL);
    long long nbytes = found == NULL ? -1 : PyLong_AsLongLong(found);
    if (PyErr_Occurred()) PyErr_Print();
    Py_XDECREF(module);
    Py_XDECREF(found);
    return nbytes;
}

int main(int count, char **words)
{
    static pool_t pool;
    long long before, during;
    uint64_t left_bytes, left;
    int started;
    if (count != 3) return 2;
    Py_Initialize();
    if (tx_import() < 0) {
        PyErr_Print();
        return 1;
    }
    before = memory_allocated();
    pool.turns = strtoull(words[2], NULL, 10);
    pool.max_bytes = 65536;
    Py_BEGIN_ALLOW_THREADS
    started = pool_run(&pool, atoi(words[1]));
    Py_END_ALLOW_THREADS
    during = memory_allocated() - before;
    left = pool_clear(&pool, &left_bytes);
    printf("%d threads, %llu made, %llu refused, %llu broken; %llu left, of %llu bytes: %lld in use, %lld after all\n",
           started, (unsigned long long)pool.made, (unsigned long long)pool.refused, (unsigned long long)pool.broken,
           (unsigned long long)left, (unsigned long long)left_bytes, during, memory_allocated() - before);
    return Py_FinalizeEx() < 0;
}
