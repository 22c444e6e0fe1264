"""NumPy's functions on tensors."""

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where) except *  # not 0 with an exception: -1 or 1
    void Py_LeaveRecursiveCall()
