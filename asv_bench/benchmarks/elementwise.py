"""Elementwise operations: what a call costs, and what elements cost in one run, with gaps, or repeated."""

import tensix

SHAPES = ((3, 4), (1024, 1024), (4096, 4096))


class Elementwise:
    """On one thread, as the comparison with others wants it."""

    params = (SHAPES,)  # one parameter: asv takes a bare sequence of sequences for several
    param_names = ("shape",)

    def setup(self, shape):
        tensix.set_num_threads(1)
        self.x = tensix.rand(shape)
        self.y = tensix.rand(shape)
        self.turned = tensix.rand(*shape[::-1]).T
        self.ints = tensix.ones(shape, dtype=tensix.int32)

    def time_contiguous(self, shape):
        self.x + self.y

    def time_strided(self, shape):
        self.x[:, ::2] + self.y[:, ::2]

    def time_backwards(self, shape):
        self.x[::-1] + self.y[::-1]

    def time_transposed(self, shape):
        self.x.T + self.y.T

    def time_one_transposed(self, shape):
        self.x + self.turned

    def time_row(self, shape):
        self.x + self.y[0]

    def time_column(self, shape):
        self.x + self.y[:, :1]

    def time_number(self, shape):
        self.x * 2

    def time_mixed_types(self, shape):
        self.x + self.ints

    def time_negative(self, shape):
        return -self.x

    def time_clone(self, shape):
        self.x.clone()

    def time_transpose_to_contiguous(self, shape):
        self.turned.contiguous()

    def time_clip(self, shape):
        tensix.clip(self.x, 0.25, 0.75)

    def time_fill(self, shape):
        self.y.fill_(1)


class OwnLoops:
    """Functions with loops of our own, on one thread."""

    params = (
        ["copysign", "floor_divide", "hypot", "logaddexp", "logical_and", "maximum", "nextafter", "remainder"],
        ["float32", "float64"],
    )
    param_names = ("name", "dtype")

    def setup(self, name, dtype):
        tensix.set_num_threads(1)
        self.x = tensix.rand(1024, 1024, dtype=getattr(tensix, dtype))
        self.y = tensix.rand(1024, 1024, dtype=getattr(tensix, dtype))
        self.function = getattr(tensix, name)

    def time_pairs(self, name, dtype):
        self.function(self.x, self.y)

    def time_number(self, name, dtype):
        self.function(self.x, 0.5)


class OwnUnaryLoops:
    """The same for functions of one operand."""

    params = (["conj", "logical_not", "positive", "reciprocal", "sign"], ["float32", "float64"])
    param_names = ("name", "dtype")

    def setup(self, name, dtype):
        tensix.set_num_threads(1)
        self.x = tensix.rand(1024, 1024, dtype=getattr(tensix, dtype))
        self.function = getattr(tensix, name)

    def time_all(self, name, dtype):
        self.function(self.x)


class Threads:
    """The largest of the above, on one thread and on two."""

    params = (1, 2)
    param_names = ("threads",)

    def setup(self, threads):
        tensix.set_num_threads(threads)
        self.x = tensix.rand(4096, 4096)

    def time_add(self, threads):
        self.x + self.x

    def time_add_transposed(self, threads):
        self.x + self.x.T

    def time_sum(self, threads):
        self.x.sum()

    def time_sum_of_rows(self, threads):
        self.x.sum(axis=0)
