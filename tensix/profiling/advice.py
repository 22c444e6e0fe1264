"""What a recording advises: which blocks the peak could do without, and what would be left of it.

What a change would save is replayed: Note [Replaying a recording] in replay.py. Changes are taken one after the other:
the one that has most bytes at the peak, then that with most at the peak which is left. One that alone saves nothing,
because as much is in use at another moment, so comes with the next one.

A block is idle from the end of the statement that used it last, for no ``del`` can stand before that. The statement is
one of the function in which both the stack of the allocation and that of the last use pass: there the variable is that
holds the block. What is allocated while that statement still runs comes before the end.
"""

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tensix._support.format_size import format_size
from tensix.memory.call_site import Frame
from tensix.profiling.replay import Replay
from tensix.profiling.statements import lines_of_statement, target_of
from tensix.profiling.temporaries import rewritten

__all__ = ["Advice"]

SMALLEST_PART = 100  # of the peak: what saves less is not worth a line
MOST_STEPS = 20  # that lower a peak
MOST_FOLLOWING = 50  # allocations that are read to see how far out a variable lives


class Advice(NamedTuple):
    """Say what would make the peak of a recording lower, and by how much.

    Attributes
    ----------
    text : str
        What to do, in one sentence.
    kind : str
        ``"dead"``: variables that are not used again keep an array. ``"temporary"``: a result could be written into an
        operand. ``"idle"``: a block that is not used again is kept. ``"clone"``: a copy that is never written could
        have shared its bytes.
    place : Frame or None
        The line to change; None if it is not known.
    blocks : tuple of int
        The blocks that would go, or go earlier, by their numbers in the snapshot.
    saves : int
        How many bytes lower the peak would be with this and all advice before it.
    peak_after : int
        The peak that would be left then.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record() as recording:
    ...     x = tensix.ones(1000)
    ...     kept = x + 1
    ...     y = tensix.ones(1000) * 2
    ...     print(x.sum().item(), y.sum().item())
    1000.0 2000.0
    >>> advice = recording.snapshot().advice()[0]
    >>> advice.kind, advice.saves
    ('idle', 4000)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    text: str
    kind: str
    place: Frame | None
    blocks: tuple[int, ...]
    saves: int
    peak_after: int


def kinds_of(kinds):
    """Return kinds of advice that are asked for, all for None."""
    wanted = frozenset(FINDERS if kinds is None else kinds)
    if not wanted <= FINDERS.keys():
        unknown = ", ".join(map(repr, sorted(wanted - FINDERS.keys())))
        raise ValueError(f"there is no advice of kind {unknown}: the kinds are {', '.join(FINDERS)}.")
    return wanted


def advice_of(snapshot, kinds=None):
    """Return what a snapshot advises, what saves most first.

    Parameters
    ----------
    snapshot : Snapshot
        One without uses, as older versions wrote, advises nothing.
    kinds : iterable of str, optional
        The kinds that are wanted.

    Returns
    -------
    list of Advice
    """
    return findings_of(snapshot, kinds).advice


# Blocks of these kinds are read without our knowing.
FOREIGN = {1: "NumPy's arrays", 2: "PyTorch's tensors", 3: "blocks of other libraries"}


class Findings(NamedTuple):
    """Hold what a replay finds: advice; bytes at the peak, idle ones, unseen ones and whose these are."""

    advice: list[Advice]
    peak: int = 0
    idle: int = 0
    unseen: int = 0
    unseen_kinds: str = ""


class Change(NamedTuple):
    """Hold a change of a program: what to do, what to do instead, and where the blocks then end that it is about."""

    kind: str
    what: str
    instead: str
    place: Frame | None
    blocks: tuple[int, ...]
    ends: dict[int, int]


def findings_of(snapshot, kinds=None):
    """Return what the replay of a snapshot finds; of a million blocks that takes seconds."""
    wanted = kinds_of(kinds)
    if "operators" not in snapshot:
        return Findings([])
    replay = Replay([snapshot])
    uses = Uses(snapshot, replay)
    changes = [change for kind, find in FINDERS.items() if kind in wanted for change in find(uses)]
    advice, peak = [], replay.peak
    for change, after, at in plan_of(replay, changes):
        text = f"{change.what} would make the peak {format_size(after)}{change.instead}"
        next_one = uses.place_near(at, after)
        text += f"; the next is at {where(next_one)}" if next_one else ""
        advice.append(Advice(text, change.kind, change.place, change.blocks, replay.peak - after, after))
    gone = {n for one in changes if one.kind in ("dead", "idle") for n in one.blocks if one.ends[n] <= replay.peak_at}
    idle = sum(uses.blocks["nbytes"][number] for number in replay.numbers_at_peak if number in gone)
    foreign = [number for number in replay.numbers_at_peak if uses.kinds[number]]
    unseen = sum(uses.blocks["nbytes"][number] for number in foreign if number not in gone)
    names = " and ".join(FOREIGN[kind] for kind in sorted({uses.kinds[number] for number in foreign}))
    return Findings(advice, peak, idle, unseen, names)


def plan_of(replay, changes):
    """Return changes with the peak that each and those before it leave, and the position of that peak."""
    ends, plan, at, worth = {}, [], replay.peak_at, 0
    lowest = replay.peak
    while changes and len(plan) < MOST_STEPS:
        change = max(changes, key=lambda one: replay.freed_at(at, one.ends))
        if replay.freed_at(at, change.ends) <= 0:
            break
        ends |= change.ends
        after, at = replay.peak_with(ends)
        plan.append((change, after, at))
        if (lowest - after) * SMALLEST_PART >= replay.peak:
            lowest, worth = after, len(plan)
        changes = [one for one in changes if ends.keys().isdisjoint(one.ends)]
    return plan[:worth]


def summary_of(findings, most=5):
    """Yield the lines of a summary: how much of the peak was idle, the best advice, and of what nothing is known.

    Parameters
    ----------
    findings : Findings
        Of the snapshot.
    most : int, optional
        How many pieces of advice.
    """
    advice, peak, idle, unseen, kinds = findings
    if advice:
        yield f"peak {format_size(peak)}, {format_size(idle)} of it not used again:"
        yield from (f"    {one.text}" for one in advice[:most])
    if unseen * SMALLEST_PART > peak:
        yield f"{format_size(unseen)} of the peak are {kinds} that may be used again, as far as can be seen"


class Uses:
    """Find where blocks are let go of, or could be.

    Parameters
    ----------
    snapshot : Snapshot
        With uses.
    replay : Replay
        Of it.
    """

    def __init__(self, snapshot, replay):
        self.snapshot, self.replay, self.blocks = snapshot, replay, snapshot["blocks"]
        self.kinds = self.blocks.get("kind", [0] * len(self.blocks["nbytes"]))
        self.paths, self.known_levels, self.known_lines, self.known_source = {}, {}, {}, {}
        self.known_calls = {}
        self.stacks, self.threads = np.array(self.blocks["stack"]), np.array(self.blocks["thread"])

    def path(self, stack):
        """Return the frames of a stack, outermost first, as far as the program's own line."""
        if stack not in self.paths:
            numbers = self.snapshot["stacks"][stack]
            site = self.snapshot["call_sites"][stack]
            if site is not None:
                numbers = numbers[numbers.index(site) :]
            self.paths[stack] = [frame_of(self.snapshot["frames"][number]) for number in reversed(numbers)]
        return self.paths[stack]

    def place(self, number):
        """Return the line that allocated a block, None if it is not known."""
        path = self.path(self.blocks["stack"][number])
        return path[-1] if path else None

    def place_near(self, position, peak):
        """Return the line of the latest block up to a position that is a part of a peak to count, None if none is."""
        sizes, born = self.blocks["nbytes"], self.replay.born
        found = [n for n in range(len(born)) if born[n] <= position and sizes[n] * SMALLEST_PART >= peak]
        return self.place(found[-1]) if found else None

    def is_known(self, number):
        """Whether all uses of a block were seen."""
        return self.blocks["last_used_ns"][number] is not None and not self.kinds[number]

    def is_idle(self, number):
        """Whether a block is in use at the peak, and is not used again."""
        return (
            self.is_known(number)
            and self.replay.at_peak[number]
            and self.end_of_use(number)[0] <= self.replay.peak_at
        )

    def levels(self, number):
        """Return the functions that both the allocation and the last use of a block pass, innermost first.

        Returns
        -------
        list of Level
        """
        stacks = self.blocks["stack"][number], self.blocks["last_use_stack"][number]
        if stacks not in self.known_levels:
            self.known_levels[stacks] = list(levels_of(*map(self.path, stacks)))
        return self.known_levels[stacks]

    def end_of_use(self, number):
        """Return the position of the event before which a block could have been freed, and in which function."""
        end = self.replay.position_after(self.blocks["last_used_ns"][number])
        *inner, level = self.levels(number) or [None]
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

    def source_of(self, frame, function):
        """Return what a function reads in the source of a frame; many blocks are of one."""
        key = frame, function
        if key not in self.known_source:
            self.known_source[key] = function(frame)
        return self.known_source[key]

    def line_in(self, level, number):
        """Return the line at which the allocation of a block passes a call, None if it does not."""
        return self.line_of_stack(level, self.blocks["stack"][number])

    def stacks_at(self, level, lines):
        """Return the stacks that pass a call at one of some lines."""
        stacks = range(len(self.snapshot["stacks"]))
        return [stack for stack in stacks if self.line_of_stack(level, stack) in lines]

    def line_of_stack(self, level, stack):
        """Return the line at which a stack passes a call, None if it does not."""
        key = id(level), stack
        if key not in self.known_lines:
            self.known_lines[key] = level.line_in(self.path(stack))
        return self.known_lines[key]

    def allocated_after(self, number):
        """Yield the first blocks that the thread of a block allocates between its last use and its free."""
        blocks, born, left = self.blocks, self.replay.born, MOST_FOLLOWING
        for other in range(bisect_right(blocks["allocated_ns"], blocks["last_used_ns"][number]), len(born)):
            if left == 0 or born[other] >= self.replay.gone[number]:
                break
            if blocks["thread"][other] == blocks["thread"][number]:
                left -= 1
                yield other


def frame_of(entry):
    """Return a frame of a snapshot without the text of its line, which is read again."""
    return Frame(entry["file"], entry["line"], entry["function"])


class Level(NamedTuple):
    """Say in which call of a function a block was allocated and used last.

    Attributes
    ----------
    made, used : Frame
        The lines of that function.
    callers : list of Frame
        From where it was called, outermost first; a stack that is cut off lacks the outermost.
    """

    made: Frame
    used: Frame
    callers: list[Frame]

    def line_in(self, path):
        """Return the line at which a stack passes this call, None if it does not."""
        for position in reversed(range(len(path))):
            if is_same_function(path[position], self.used) and is_same_end(path[:position], self.callers):
                return path[position].line
        return None


def levels_of(made, used):
    """Yield the calls that two stacks pass, innermost first."""
    pairs = ((i, j) for i in reversed(range(len(made))) for j in reversed(range(len(used))))
    for i, j in pairs:
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


# ---- the two kinds


def idle_blocks(uses):
    """Yield advice about blocks that are kept, but not used again."""
    replay, blocks = uses.replay, uses.blocks
    stacks = {(blocks["stack"][n], blocks["last_use_stack"][n]) for n in replay.numbers_at_peak if uses.is_idle(n)}
    last_uses = defaultdict(set)
    groups = defaultdict(dict)  # name, line of the last use, line of the allocation -> where each block could end
    for number in filter(uses.is_known, range(len(blocks["nbytes"]))):
        last_uses[blocks["stack"][number], blocks["operator"][number]].add(blocks["last_use_stack"][number])
    for number in filter(uses.is_known, range(len(blocks["nbytes"]))):
        if (blocks["stack"][number], blocks["last_use_stack"][number]) in stacks:
            end, level = uses.end_of_use(number)
            used = uses.path(blocks["last_use_stack"][number])
            place = level.used if level else used[-1] if used else None
            is_one = len(last_uses[blocks["stack"][number], blocks["operator"][number]]) == 1
            name = uses.source_of(level.made, target_of) if level and is_one else None
            groups[name, place, uses.place(number) if name is None else None][number] = end
    for (name, place, made), ends in groups.items():
        changed = tuple(number for number, end in ends.items() if end < replay.gone[number])
        what = f"`del {name}`" if name else f"to let go of what {where(made)} allocated"
        reused = reused_by(uses, changed)
        instead = "" if reused is None else f"; or let {where(reused)} write into it"
        if any(blocks["freed_ns"][number] is None for number in changed):
            instead += ", if it is not needed after the recording"
        yield Change("idle", f"{what} after {where(place)}", instead, place, changed, ends)


def reused_by(uses, idle):
    """Return the line that allocates a block of the size of the first idle one while that is idle, or None."""
    if not idle:
        return None
    replay, sizes, first = uses.replay, uses.blocks["nbytes"], idle[0]
    end, _ = uses.end_of_use(first)
    for other in uses.allocated_after(first):
        if sizes[other] == sizes[first] and replay.born[other] >= end:
            return uses.place(other)
    return None


def needless_clones(uses):
    """Yield advice about clones that were never written, of what was not written either."""
    replay, blocks = uses.replay, uses.blocks
    groups = defaultdict(list)
    for number, source in enumerate(blocks["copy_of"]):
        if source is None or not uses.is_known(number) or not uses.is_known(source):
            continue
        written = blocks["last_written_ns"][source]
        if written is None or written <= blocks["allocated_ns"][number]:
            groups[blocks["stack"][number]].append((number, source))
    for pairs in groups.values():
        ends = {}
        for clone, source in pairs:  # a source may be a clone that is left out itself
            ends[clone] = replay.born[clone]
            root = source
            while root in ends and ends[root] == replay.born[root]:
                root = blocks["copy_of"][root]
            ends[root] = max(ends.get(root, replay.gone[root]), replay.gone[clone])
        clone, source = pairs[0]
        place = uses.place(clone)
        what = f"the clone at {where(place)} is never written, nor is what it copies: lazy_clone() there"
        yield Change("clone", what, "", place, tuple(clone for clone, _ in pairs), ends)


def dead_variables(uses):
    """Yield changes that let go of arrays in variables that are not used again. See ``liveness.py``.

    A block is given to its variable by the statement that allocates it, or lies in it while the variable is live. From
    then on the variable is dead for the first time where ``del`` would have been, and at no line before. If neither is
    known, the block is there until the moment at which it was found.
    """
    replay, blocks = uses.replay, uses.blocks
    for fact in uses.snapshot.get("moments", ()):
        level = level_of(uses, fact)
        size = sum(blocks["nbytes"][number] for number in fact["blocks"])
        if level is None or not fact["names"] or size * SMALLEST_PART < replay.peak:
            continue
        ends, made = {}, {*fact["made"]}
        for number in fact["blocks"]:
            end, line = min(replay.born[fact["block"]], replay.gone[number]), uses.line_in(level, number)
            if line is not None and level.used.line not in made and (line in made or line in fact["live"]):
                found = firsts_after(uses, level, {*fact["dead"]} - made, like(uses, level, number))
                ends |= {number: end} | {one: min(first, replay.gone[one]) for one, first in found.items()}
            elif line in made:  # the next value takes its place
                those = like(uses, level, number)
                ends |= {one: min(replay.born[other], replay.gone[one]) for one, other in pairwise(those)}
                ends[number] = end
            else:
                ends[number] = end
        names, line = ", ".join(fact["names"]), level.used._replace(line=fact["line"])
        what = f"`del {names}` {'after' if fact['is_after'] else 'before'} {where(line)}"
        changed = tuple(sorted(number for number, end in ends.items() if end < replay.gone[number]))
        yield Change("dead", what, "", line, changed, ends)


def firsts_after(uses, level, lines, numbers):
    """Return the position after each of some blocks of a thread at which it allocates in one of a function's lines."""
    stacks = uses.stacks_at(level, lines)
    born = np.array(uses.replay.born)[np.isin(uses.stacks, stacks) & (uses.threads == uses.threads[numbers[0]])]
    firsts = np.searchsorted(born, [uses.replay.born[number] for number in numbers], side="right")
    return {number: int(born[n]) for number, n in zip(numbers, firsts.tolist(), strict=True) if n < len(born)}


def like(uses, level, number):
    """Return a block and those that other runs of the same statement allocated in its place, in order.

    Between two runs the thread allocates in another line of the function, or outside of it. Where runs differ in how
    many blocks they allocate from this stack, or cannot be told apart, there is the block alone.
    """
    same_thread = uses.threads == uses.threads[number]
    those = np.flatnonzero((uses.stacks == uses.stacks[number]) & same_thread)
    line = uses.line_in(level, number)
    others = np.flatnonzero(~np.isin(uses.stacks, uses.stacks_at(level, {line})) & same_thread)
    run = np.searchsorted(others, those)  # those of one run have the same number
    _, firsts, counts = np.unique(run, return_index=True, return_counts=True)
    if np.any(counts != counts[0]):
        return [number]
    position = np.searchsorted(those, number)
    place = position - np.searchsorted(run, run[position])
    return those[firsts + place].tolist()


def level_of(uses, fact):
    """Return the call of the function that a moment is about, None if the stack is cut off before it."""
    stack = uses.blocks["stack"][fact["block"]]
    key = stack, fact["depth"]
    if key not in uses.known_calls:  # it is kept, for `line_in` knows it by its id
        path = uses.path(stack)
        place = len(uses.snapshot["stacks"][stack]) - 1 - fact["depth"]
        uses.known_calls[key] = Level(path[place], path[place], path[:place]) if 0 <= place < len(path) else None
    return uses.known_calls[key]


def temporaries(uses):
    """Yield changes that write a result into an operand. See ``temporaries.py``."""
    replay = uses.replay
    for fact in uses.snapshot.get("moments", ()):
        level = level_of(uses, fact)
        if level is None or "at" not in fact:
            continue
        found = rewritten(level.used, fact["at"], fact["types"])
        if found is None:
            continue
        ends = {}
        for result in like(uses, level, fact["block"]):
            operand = operand_of(uses, level, result, found)
            if operand is not None and not {operand, result} & ends.keys():
                ends |= {result: replay.born[result], operand: replay.gone[result]}
        if fact["block"] in ends:
            first, second, *last = found["write"]
            what = f"`{first}` and `{second}` at {where(level.used)}{''.join(f', then `{one}`,' for one in last)}"
            results = tuple(number for number, end in ends.items() if end == replay.born[number])
            yield Change("temporary", what, "", level.used, results, ends)


def operand_of(uses, level, result, way):
    """Return the block that the statement of a result allocated before it for an operand, None if that is not clear."""
    replay, blocks = uses.replay, uses.blocks
    found = [
        number for number in range(max(result - MOST_FOLLOWING, 0), result)
        if blocks["nbytes"][number] == blocks["nbytes"][result] == way["nbytes"]
        and replay.born[result] < replay.gone[number] <= replay.gone[result]
        and uses.line_in(level, number) in way["made"] and blocks["thread"][number] == blocks["thread"][result]
    ]  # fmt: skip
    return found[-1] if found else None


FINDERS = {"dead": dead_variables, "temporary": temporaries, "idle": idle_blocks, "clone": needless_clones}
