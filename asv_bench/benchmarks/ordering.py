"""Sorting, sets, searching, repeating and rolling: small calls, and elements beyond the first cache."""

import tensix

CALLS = {
    "sort": lambda b: tensix.sort(b.x), "sort of a column": lambda b: tensix.sort(b.x, axis=0),
    "sort of integers": lambda b: tensix.sort(b.i), "argsort": lambda b: tensix.argsort(b.x),
    "unique_values": lambda b: tensix.unique_values(b.i), "unique_all": lambda b: tensix.unique_all(b.i),
    "isin": lambda b: tensix.isin(b.i, b.i[0]), "searchsorted": lambda b: tensix.searchsorted(b.row, b.x),
    "nonzero": lambda b: tensix.nonzero(b.m), "take": lambda b: tensix.take(b.x, b.t, axis=1),
    "take_along_axis": lambda b: tensix.take_along_axis(b.x, b.order), "two keys": lambda b: b.x[b.t, b.t],
    "behind a slice": lambda b: b.x[:, b.t], "repeat": lambda b: tensix.repeat(b.x, 2),
    "roll": lambda b: tensix.roll(b.x, 1, axis=1), "tile": lambda b: tensix.tile(b.x, (2, 2)),
    "diff": lambda b: tensix.diff(b.x), "flip": lambda b: tensix.flip(b.x), "meshgrid": lambda b: b.grid(),
}  # fmt: skip


class Ordering:
    """On one thread."""

    params = ((4, 64, 1024), list(CALLS))
    param_names = ("side", "call")

    def setup(self, side, call):
        tensix.set_num_threads(1)
        self.x = tensix.rand(side, side)
        self.i = tensix.randint(-100_000, 100_000, (side, side))
        self.m = self.x > 0.5
        self.t = tensix.argsort(self.x[0])
        self.row = tensix.sort(self.x[0])
        self.order = tensix.argsort(self.x)

    def grid(self):
        return tensix.meshgrid(self.row, self.row)

    def time_call(self, side, call):
        CALLS[call](self)
