"""From the operator sign to the kernel, on tensors so small that the way is all that costs."""

import tensix
from tensix.dispatch import dispatcher, include_keys
from tensix.library import Library

from .native import dispatch_loops


class Way:
    """One call of `add` on 3 x 4 tensors, by every way that leads to its kernel."""

    def setup(self):
        self.x, self.y = tensix.rand(3, 4), tensix.rand(3, 4)
        self.table = dispatcher.get_op_table("tensix::add.Tensor")

    def time_operator_sign(self):
        self.x + self.y

    def time_table(self):
        self.table(self.x, self.y)

    def time_ops(self):
        tensix.ops.tensix.add(self.x, self.y)

    def time_with_a_guard_open(self):
        with include_keys("AutogradCPU"):
            self.x + self.y


class Loops:
    """The same from C, many times per call."""

    TIMES = 10_000  # per call: well above what the call itself costs

    def setup(self):
        self.x, self.y = tensix.rand(3, 4), tensix.rand(3, 4)

    def time_through_the_table(self):
        dispatch_loops.through_the_table(self.x, self.y, self.TIMES)

    def time_straight_to_the_kernel(self):
        dispatch_loops.straight_to_the_kernel(self.x, self.y, self.TIMES)


class Registration:
    """Refill every slot of a table, which is what makes calls cheap."""

    def time_define_implement_undo(self):
        with Library("bench") as library:
            library.define("twice(Tensor self) -> Tensor")
            library.impl("twice", lambda x: x + x, "CPU")
