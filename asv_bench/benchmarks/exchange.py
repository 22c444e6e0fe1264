"""Tensors to and from other libraries: so few elements that all time goes into the call."""

import pickle

import numpy as np

import tensix


class Calls:
    def setup(self):
        self.x = tensix.ones(3, 4)
        self.array = np.ones((3, 4), "f4")
        self.data = bytearray(48)

    def time_dlpack(self):
        self.x.__dlpack__()

    def time_dlpack_versioned(self):
        self.x.__dlpack__(max_version=(1, 0))

    def time_from_dlpack_tensor(self):
        tensix.from_dlpack(self.x)

    def time_from_dlpack_array(self):
        tensix.from_dlpack(self.array)

    def time_from_numpy(self):
        tensix.from_numpy(self.array)

    def time_asarray_tensor(self):
        tensix.asarray(self.x)

    def time_asarray_array(self):
        tensix.asarray(self.array)

    def time_asarray_buffer(self):
        tensix.asarray(self.data)

    def time_memoryview(self):
        memoryview(self.x)

    def time_numpy_asarray(self):
        np.asarray(self.x)


class Pickle:
    params = (64, 1 << 20, 64 << 20)  # out of band none may take longer than the other
    param_names = ("nbytes",)

    def setup(self, nbytes):
        self.x = tensix.ones(nbytes // 4)

    def time_out_of_band(self, nbytes):
        buffers = []
        data = pickle.dumps(self.x, 5, buffer_callback=buffers.append)
        pickle.loads(data, buffers=buffers)
