// Every public header from C++, and one function of each kind.
#include <Python.h>
#include <tensix/atomics.h>
#include <tensix/bits.h>
#include <tensix/c_api.h>

#include <utility>
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

using tensix::intrusive_ptr;

static bool is_target(PyObject *target)
{
    if (target == Py_None || PyObject_TypeCheck(target, tx.IntrusiveTarget)) return true;
    PyErr_Format(PyExc_TypeError, "a target is needed, found %R", target);
    return false;
}

// Return the count of a target as pointers to it are copied, moved, swapped and given up; without the GIL.
static PyObject *counts_of_pointers(PyObject *, PyObject *target)
{
    if (!is_target(target)) return nullptr;
    std::vector<uint32_t> counts;
    Py_BEGIN_ALLOW_THREADS
    {
        intrusive_ptr first = intrusive_ptr::reclaim_copy(target);
        counts.push_back(tx.use_count(target));
        intrusive_ptr second = first;
        counts.push_back(tx.use_count(target));
        intrusive_ptr third = std::move(first);
        counts.push_back(first || first.get() != nullptr ? 99 : third.use_count());
        second = third;
        intrusive_ptr &same = second;
        second = same;
        counts.push_back(second == third && !(second != third) ? tx.use_count(target) : 99);
        second = std::move(third);
        counts.push_back(tx.use_count(target));
        intrusive_ptr &itself = second;
        second = std::move(itself);
        counts.push_back(tx.use_count(target));
        second.swap(first);
        counts.push_back(second ? 99 : first.use_count());
        {
            std::vector<intrusive_ptr> many(5, first);
            counts.push_back(tx.use_count(target));
            many.erase(many.begin(), many.begin() + 3);
            counts.push_back(tx.use_count(target));
        }
        second = intrusive_ptr::reclaim(first.release());
        counts.push_back(tx.use_count(target));
        second.reset();
        counts.push_back(second.use_count());
    }
    Py_END_ALLOW_THREADS
    counts.push_back(tx.use_count(target));
    PyObject *list = PyList_New(0);
    for (uint32_t count : counts) {
        PyObject *number = PyLong_FromUnsignedLong(count);
        if (list == nullptr || number == nullptr || PyList_Append(list, number) < 0) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static intrusive_ptr kept;  // destroyed when the process ends, after Python

// Take over the count that the caller has released, and give up the one before.
static PyObject *keep(PyObject *, PyObject *target)
{
    if (!is_target(target)) return nullptr;
    kept = intrusive_ptr::reclaim(target);
    Py_RETURN_NONE;
}

static PyObject *release(PyObject *, PyObject *)
{
    PyObject *target = kept ? kept.release() : Py_None;
    return Py_NewRef(target);
}

static PyMethodDef METHODS[] = {
    {"shape", shape, METH_O, nullptr},
    {"counts_of_pointers", counts_of_pointers, METH_O, nullptr},
    {"keep", keep, METH_O, nullptr},
    {"release", release, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "plain_cpp", nullptr, -1, METHODS, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_plain_cpp()
{
    PyObject *module = tx_import() < 0 ? nullptr : PyModule_Create(&MODULE);
#if defined(Py_GIL_DISABLED)
    if (module != nullptr) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
