"""Products of matrices."""


cdef tuple matmul_shape(tuple a, tuple b)
