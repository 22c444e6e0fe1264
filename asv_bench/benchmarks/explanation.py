"""What watching costs while it is on, and what an explanation takes. Off, births are in every other figure."""

import copy

import tensix
from tensix.testing import assert_no_leaks


class Watched:
    """Tensors made and dropped while leaks are looked for: their bodies are kept for a while."""

    TIMES = 1000  # per call, so that the collection at the end of the scope counts little

    def setup(self):
        self.x = tensix.rand(3, 4)

    def time_views(self):
        x = self.x
        with assert_no_leaks():
            for _ in range(self.TIMES):
                x[0]


class Explained:
    """Explanations of a lazy clone, and copies by Python's own module."""

    def setup(self):
        self.x = tensix.rand(3, 4)
        self.clone = self.x.lazy_clone()

    def time_explain(self):
        tensix.explain(self.clone)

    def time_text(self):
        str(tensix.explain(self.clone))

    def time_picture(self):
        tensix.explain(self.clone).svg()

    def time_copy(self):
        copy.copy(self.x)

    def time_deepcopy(self):
        copy.deepcopy(self.x)
