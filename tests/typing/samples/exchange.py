"""Exchange with other libraries, as users write it."""

import pickle
from typing import assert_type

import numpy as np

import tensix

x = tensix.asarray(bytearray(8), copy=False)
assert_type(x, tensix.Tensor)
assert_type(memoryview(x).nbytes, int)
assert_type(tensix.from_dlpack(np.arange(3.0), device="cpu", copy=True), tensix.Tensor)
freed: list[int] = []
y = tensix.from_blob(x.data_ptr(), (2, 4), stride=(4, 1), dtype="uint8", deleter=freed.append)
assert_type(y, tensix.Tensor)
buffers: list[pickle.PickleBuffer] = []
pickle.loads(pickle.dumps(x, 5, buffer_callback=buffers.append), buffers=buffers)
