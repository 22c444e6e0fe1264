# cython: language_level=3
"""A tensor handed to a library in C by DLPack, which drops it at once."""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_SetName
from tensix.exchange.dlpack_header cimport DLManagedTensorVersioned, DLPackExchangeAPI

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject* Py_TYPE(object self)
    void* look_up_on_type "_PyType_Lookup" (PyTypeObject* cls, object name)  # borrowed

cdef dict MAX_VERSION = {"max_version": (1, 0)}


def hand_over_by_table(producer, Py_ssize_t times):
    """Take a tensor by the table on its type, looked up each time, as by a consumer of objects of any type."""
    cdef DLManagedTensorVersioned* taken
    cdef DLPackExchangeAPI* table
    cdef Py_ssize_t _
    for _ in range(times):
        capsule = <object>look_up_on_type(Py_TYPE(producer), "__dlpack_c_exchange_api__")
        table = <DLPackExchangeAPI*>PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
        table.managed_tensor_from_py_object_no_sync(<void*>producer, &taken)
        taken.deleter(taken)


def hand_over_by_capsule(producer, Py_ssize_t times):
    """Take a tensor out of the capsule that its method makes."""
    cdef DLManagedTensorVersioned* taken
    cdef Py_ssize_t _
    for _ in range(times):
        capsule = producer.__dlpack__(**MAX_VERSION)
        taken = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
        taken.deleter(taken)
