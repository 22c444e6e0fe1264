"""Products of matrices, joining tensors, and finding what is not zero."""

import tensix

SIDES = (4, 64, 1024)  # the call alone, a block that fits into the first cache, one that fits into none of a core's own


class Matmul:
    """On one thread of tensix; the product itself is BLAS's, which has threads of its own."""

    params = (SIDES, ("contiguous", "transposed", "batch", "vector"))
    param_names = ("side", "operand")

    def setup(self, side, operand):
        tensix.set_num_threads(1)
        self.x = tensix.rand(side, side)
        batch = tensix.rand(2, side, side)
        self.y = {"contiguous": self.x, "transposed": self.x.T, "vector": self.x[0], "batch": batch}[operand]

    def time_matmul(self, side, operand):
        self.x @ self.y


class MatmulOfIntegers:
    """Small ones only: there is no BLAS for integers, and large products take seconds."""

    params = SIDES[:2]
    param_names = ("side",)

    def setup(self, side):
        tensix.set_num_threads(1)
        self.x = tensix.ones(side, side, dtype=tensix.int32)

    def time_matmul(self, side):
        self.x @ self.x


class Joining:
    """Two to a thousand tensors, one after the other and as columns."""

    params = ((2, 1000), (0, 1))
    param_names = ("count", "axis")

    def setup(self, count, axis):
        self.parts = [tensix.rand(64, 64) for _ in range(count)]

    def time_cat(self, count, axis):
        tensix.cat(self.parts, axis)

    def time_stack(self, count, axis):
        tensix.stack(self.parts, axis=axis)


class Finding:
    """Few and many elements that are not zero, in a call's and a million's length."""

    params = ((12, 1 << 20), (0.01, 0.5))
    param_names = ("length", "share")

    def setup(self, length, share):
        self.x = tensix.rand(length) < share
        self.matrix = self.x.reshape(2, -1)

    def time_nonzero(self, length, share):
        tensix.nonzero(self.x)

    def time_nonzero_of_a_matrix(self, length, share):
        tensix.nonzero(self.matrix)

    def time_argwhere(self, length, share):
        tensix.argwhere(self.matrix)

    def time_count_nonzero(self, length, share):
        tensix.count_nonzero(self.x)

    def time_where(self, length, share):
        tensix.where(self.x, 1.0, 0.0)
