"""Where the blocks of a recording are let go of, or could be: calls of functions that stacks pass, and what runs there.

A block is idle from the end of the statement that used it last, for no ``del`` can stand before that. The statement is
one of the function in which both the stack of the allocation and that of the last use pass: there the variable is that
holds the block. What is allocated while that statement still runs comes before the end.
"""

from bisect import bisect_right
from functools import cache
from typing import NamedTuple

import numpy as np

from tensix.memory.call_site import Frame
from tensix.profiling.statements import lines_of_statement

MOST_FOLLOWING = 50  # allocations that are read to see how far out a variable lives


class Change(NamedTuple):
    """Hold a change of a program: what to do, where, the blocks that it is about, and where blocks then end.

    ``added`` are blocks that the change allocates: where each begins and ends, and its bytes. ``instead`` follows the
    peak in the text.
    """

    kind: str
    what: str
    place: Frame | None
    blocks: tuple[int, ...]
    ends: dict[int, int]
    added: tuple[tuple[int, int, int], ...] = ()
    instead: str = ""


class Level(NamedTuple):
    """Say in which call of a function a block was allocated and used last: its lines, and callers, outermost first.

    A stack that is cut off lacks the outermost callers.
    """

    made: Frame
    used: Frame
    callers: list[Frame]

    __hash__ = object.__hash__  # soon found: many lines are asked for

    def line_in(self, path):
        """Return the line at which a stack passes this call, None if it does not."""
        for position in reversed(range(len(path))):
            if is_same_function(path[position], self.used) and is_same_end(path[:position], self.callers):
                return path[position].line
        return None


class Uses:
    """Find where blocks are let go of, or could be, in a snapshot with uses and its replay."""

    def __init__(self, snapshot, replay):
        self.snapshot, self.replay, self.blocks = snapshot, replay, snapshot["blocks"]
        self.kinds = self.blocks.get("kind", [0] * len(self.blocks["nbytes"]))
        self.stacks, self.threads = np.array(self.blocks["stack"]), np.array(self.blocks["thread"])
        self.path, self.call = cache(self.path), cache(self.call)
        self.levels_between = cache(lambda made, used: [*levels_of(self.path(made), self.path(used))])
        self.line_of_stack = cache(lambda level, stack: level.line_in(self.path(stack)))
        self.source_of = cache(lambda frame, function: function(frame))  # what a function reads in the source

    def path(self, stack):
        """Return the frames of a stack, outermost first, as far as the program's own line."""
        numbers = self.snapshot["stacks"][stack]
        site = self.snapshot["call_sites"][stack]
        if site is not None:
            numbers = numbers[numbers.index(site) :]
        frames = [self.snapshot["frames"][number] for number in reversed(numbers)]
        return [Frame(frame["file"], frame["line"], frame["function"]) for frame in frames]

    def place(self, number):
        """Return the line that allocated a block, None if it is not known."""
        path = self.path(self.blocks["stack"][number])
        return path[-1] if path else None

    def is_known(self, number):
        """Whether all uses of a block were seen."""
        return self.blocks["last_used_ns"][number] is not None and not self.kinds[number]

    def end_of_use(self, number):
        """Return the position of the event before which a block could have been freed, and in which function."""
        end = self.replay.position_after(self.blocks["last_used_ns"][number])
        stacks = self.blocks["stack"][number], self.blocks["last_use_stack"][number]
        *inner, level = self.levels_between(*stacks) or [None]
        for one in inner:  # where it is returned by a function, its variable is further out
            if all(self.line_in(one, other) is not None for other in self.allocated_after(number)):
                level = one
                break
        lines = self.source_of(level.used, lines_of_statement) if level else ()
        for other in self.allocated_after(number):
            if not level or self.line_in(level, other) not in lines:
                break
            end = self.replay.born[other] + 1
        return min(end, self.replay.gone[number]), level

    def line_in(self, level, number):
        """Return the line at which the allocation of a block passes a call, None if it does not."""
        return self.line_of_stack(level, self.blocks["stack"][number])

    def passes(self, level, lines):
        """Return of each block whether its allocation passes a call at one of some lines."""
        stacks = range(len(self.snapshot["stacks"]))
        return np.isin(self.stacks, [stack for stack in stacks if self.line_of_stack(level, stack) in lines])

    def allocated_after(self, number):
        """Yield the first blocks that the thread of a block allocates between its last use and its free."""
        blocks, born, left = self.blocks, self.replay.born, MOST_FOLLOWING
        for other in range(bisect_right(blocks["allocated_ns"], blocks["last_used_ns"][number]), len(born)):
            if left == 0 or born[other] >= self.replay.gone[number]:
                break
            if blocks["thread"][other] == blocks["thread"][number]:
                left -= 1
                yield other

    def moments(self):
        """Yield what was noted of variables, each with the call of the function that it is about."""
        for fact in self.snapshot.get("moments", ()):
            level = self.call(self.blocks["stack"][fact["block"]], fact["depth"])
            if level is not None:
                yield fact, level

    def operations(self, find):
        """Yield what a function finds about the operations that ran then, after the moment and the call.

        The function takes the line, the operation's place in it, and the types of names, and returns None for nothing.
        """
        for fact, level in self.moments():
            found = find(level.used, fact["at"], fact["types"]) if "at" in fact else None
            if found is not None:
                yield fact, level, found

    def call(self, stack, depth):
        """Return the call of a function so many frames further out in a stack, None if that is cut off before it."""
        path = self.path(stack)
        place = len(self.snapshot["stacks"][stack]) - 1 - depth
        return Level(path[place], path[place], path[:place]) if 0 <= place < len(path) else None

    def firsts_after(self, level, lines, numbers):
        """Return the position after each of some blocks of a thread at which it allocates in a function's lines."""
        born = np.array(self.replay.born)[self.passes(level, lines) & (self.threads == self.threads[numbers[0]])]
        firsts = np.searchsorted(born, [self.replay.born[number] for number in numbers], side="right")
        return {number: int(born[n]) for number, n in zip(numbers, firsts.tolist(), strict=True) if n < len(born)}

    def like(self, level, number):
        """Return a block and those that other runs of the same statement allocated in its place, in order.

        Between two runs the thread allocates in another line of the function, or outside of it. Where runs differ in
        how many blocks they allocate from this stack, or cannot be told apart, there is the block alone.
        """
        same_thread = self.threads == self.threads[number]
        those = np.flatnonzero((self.stacks == self.stacks[number]) & same_thread)
        others = np.flatnonzero(~self.passes(level, {self.line_in(level, number)}) & same_thread)
        run = np.searchsorted(others, those)  # those of one run have the same number
        _, firsts, counts = np.unique(run, return_index=True, return_counts=True)
        if np.any(counts != counts[0]):
            return [number]
        position = np.searchsorted(those, number)
        place = position - np.searchsorted(run, run[position])
        return those[firsts + place].tolist()


def levels_of(made, used):
    """Yield the calls that two stacks pass, innermost first."""
    for i, j in ((i, j) for i in reversed(range(len(made))) for j in reversed(range(len(used)))):
        if is_same_function(made[i], used[j]) and is_same_end(made[:i], used[:j]):
            for out in range(min(i, j) + 1):
                yield Level(made[i - out], used[j - out], max(made[: i - out], used[: j - out], key=len))
            return


def is_same_end(one, other):
    """Whether two stacks, outermost first, end with the same calls; the longer one may have more before."""
    length = min(len(one), len(other))
    return one[len(one) - length :] == other[len(other) - length :]


def is_same_function(one, other):
    return one.file == other.file and one.function == other.function


def where(frame):
    """Return a line in words."""
    return f"{frame.file.replace(chr(92), '/').rpartition('/')[2]}:{frame.line}" if frame else "an unknown line"
