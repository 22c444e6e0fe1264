"""Where bytes are: a device type and an index."""
from libc.stdint cimport int8_t


cdef enum DeviceType:
    CPU = 0
    CUDA = 1
    META = 14
    PRIVATE_USE_1 = 20

cdef enum:
    DEVICE_TYPE_COUNT = 22


cdef class Device:
    cdef readonly int8_t type_code
    cdef readonly int8_t index
    cdef bint is_filled


# Private to tensix.
cdef Device Device_get(int8_t type_code, int8_t index)
cdef Device Device_from_any(object device)
cdef int8_t device_type_from_any(object device_type) except -1
cdef str device_type_name(int8_t type_code)
