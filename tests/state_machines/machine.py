"""What the state machines share: they count their steps and choose among what is there."""

from hypothesis.stateful import RuleBasedStateMachine, invariant


class Machine(RuleBasedStateMachine):
    """Do to tensix and to a model the same at random; invariants compare the two after each step."""

    steps = 0

    @invariant()
    def count(self):
        Machine.steps += 1


class Box:
    """Something whose meaning changes: what it holds, and the model's name for that."""

    def __init__(self, it, name):
        self.it, self.name = it, name

    def __repr__(self):
        return f"Box({type(self.it).__name__} on {self.name})"
