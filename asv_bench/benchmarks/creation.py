"""Tensors of what Python holds, ranges, and conversions."""

import tensix


class OfPython:
    """Three rows of four, where a call counts, and a thousand of a thousand, where the numbers do."""

    params = (3, 1000)
    param_names = ("rows",)

    def setup(self, rows):
        columns = 4 if rows == 3 else rows
        self.floats = [[row + column / 7 for column in range(columns)] for row in range(rows)]
        self.ints = [[row + column for column in range(columns)] for row in range(rows)]

    def time_floats(self, rows):
        tensix.asarray(self.floats)

    def time_ints(self, rows):
        tensix.asarray(self.ints)

    def time_ints_as_floats(self, rows):
        tensix.asarray(self.ints, dtype="float32")

    def time_scalar(self, rows):
        tensix.asarray(2.5)


class Ranges:
    """A dozen numbers, where a call counts, and as many as fit into no cache of a core's own."""

    params = (12, 1 << 20)
    param_names = ("count",)

    def setup(self, count):
        self.x = tensix.arange(count)

    def time_arange_of_ints(self, count):
        tensix.arange(count)

    def time_arange_of_floats(self, count):
        tensix.arange(0.0, count, 1.0, dtype="float64")

    def time_astype(self, count):
        tensix.astype(self.x, tensix.float32)
