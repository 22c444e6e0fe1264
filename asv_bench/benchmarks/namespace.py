"""Every public call, as ``speed_map.py`` measures it, here by commit."""

from timeit import Timer

from benchmarks.public_calls import all_rows, operands

ROWS = {row.name: row.tensix for row in all_rows()}
SIZES = ("3x4", "64x64", "1024x1024")


class Call:
    params = (list(ROWS), SIZES)
    param_names = ("call", "size")
    number = 1  # each calibrates itself below: the fastest take nanoseconds, the slowest seconds

    def setup(self, call, size):
        names = operands("tensix", *map(int, size.split("x")))
        self.timer = Timer(ROWS[call], globals=names)
        self.repeat, _ = self.timer.autorange()

    def track_seconds(self, call, size):
        return min(self.timer.repeat(3, self.repeat)) / self.repeat

    track_seconds.unit = "s"
