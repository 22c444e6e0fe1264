"""Reductions over each axis."""

import tensix

SHAPES = ((3, 4), (1024, 1024), (4096, 4096), (256, 256, 256), (4_000_000, 4))


class Reductions:
    """On one thread; an axis that a shape does not have is skipped."""

    params = (SHAPES, (None, 0, 1, 2))
    param_names = ("shape", "axis")

    def setup(self, shape, axis):
        if axis is not None and axis >= len(shape):
            raise NotImplementedError
        tensix.set_num_threads(1)
        self.x = tensix.rand(shape)
        self.ints = tensix.ones(shape, dtype=tensix.int32)

    def time_sum(self, shape, axis):
        self.x.sum(axis)

    def time_sum_of_integers(self, shape, axis):
        self.ints.sum(axis)

    def time_max(self, shape, axis):
        self.x.max(axis)

    def time_mean(self, shape, axis):
        self.x.mean(axis)

    def time_var(self, shape, axis):
        self.x.var(axis)

    def time_any(self, shape, axis):
        self.x.any(axis)

    def time_argmax(self, shape, axis):
        self.x.argmax(axis)
