"""Indexing: views by basic keys, copies by advanced ones, and assignment by either."""

import tensix

# The smallest shows what a call costs, for twelve elements cost nothing; the largest, beyond the L2 cache, what the
# elements cost.
SHAPES = ((3, 4), (1000, 1000))


class Sized:
    """Make a tensor of each size, and keys that select about half of it."""

    params = (SHAPES,)  # one parameter: asv takes a bare sequence of sequences for several
    param_names = ("shape",)

    def setup(self, shape):
        rows, columns = shape
        self.x = tensix.ones(shape)  # written, so that no page is touched for the first time below
        self.rows = tensix.tensor([row * 7 % rows for row in range(0, rows, 2)])  # neither in order nor neighbours
        pattern = [[(row + column) % 5 < 2 for column in range(columns)] for row in range(rows)]
        self.mask = tensix.tensor(pattern)
        self.half = tensix.ones(len(self.rows), columns)


class Basic:
    """A view costs the same whatever the size of its base, so there is one base."""

    def setup(self):
        self.x = tensix.ones(3, 4)

    def time_int(self):
        self.x[0]

    def time_slice(self):
        self.x[0:2]

    def time_two_slices(self):
        self.x[1:3, ::2]

    def time_ints(self):
        self.x[1, 2]

    def time_ellipsis_and_none(self):
        self.x[..., None, 0]

    def time_assign_number_to_element(self):
        self.x[1, 2] = 5.0


class Read(Sized):
    def time_integer_tensor(self, shape):
        self.x[self.rows]

    def time_integer_tensor_and_slice(self, shape):
        self.x[:, 1:][self.rows, ::2]

    def time_mask(self, shape):
        self.x[self.mask]


class Write(Sized):
    def time_assign_number_to_half(self, shape):
        self.x[::2] = 5.0

    def time_assign_tensor_to_half(self, shape):
        self.x[::2] = self.half

    def time_assign_tensor_to_integer_tensor(self, shape):
        self.x[self.rows] = self.half

    def time_assign_number_to_mask(self, shape):
        self.x[self.mask] = 5.0

    def time_assign_overlapping(self, shape):
        """Shift by one row; all rows are equal, so every call finds what the first one found."""
        self.x[1:] = self.x[:-1]
