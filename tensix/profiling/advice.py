"""Find changes that would lower the peak of a recording, and the peak that each leaves.

The saving of a change is found by a replay: Note [Replaying a recording] in replay.py. Changes are selected one after
the other: first the one that frees most bytes at the peak, then the one that frees most at the remaining peak. A change
that saves nothing by itself, because as much is in use at another moment, is followed by the change for that moment.
"""

from typing import NamedTuple

from tensix._support.format_size import format_size
from tensix.memory.call_site import Frame
from tensix.profiling.changes import (
    SMALLEST_PART,
    dead_variables,
    idle_blocks,
    needless_clones,
    temporaries,
    tracebacks,
    untouched_blocks,
    views,
)
from tensix.profiling.copies import copies, joined_parts
from tensix.profiling.replay import Replay
from tensix.profiling.uses import Uses, where

__all__ = ["Advice"]

FINDERS = {  # of changes that save the same the first one is advised
    "untouched": untouched_blocks, "parts": joined_parts, "dead": dead_variables, "temporary": temporaries,
    "copy": copies, "view": views, "idle": idle_blocks, "clone": needless_clones, "traceback": tracebacks,
}  # fmt: skip
MOST_STEPS = 20  # changes that are applied one after the other


class Advice(NamedTuple):
    """Say what would make the peak of a recording lower, and by how much.

    Attributes
    ----------
    text : str
        What to do, in one sentence.
    kind : str
        ``"dead"``: variables that are not used again keep an array. ``"temporary"``: a result could be written into an
        operand. ``"copy"``: a copy is only read. ``"parts"``: a list of arrays is joined. ``"view"``: a view keeps an
        array that is at least twice as large. ``"untouched"``: no page of a block was used. ``"idle"``: a block is kept
        but not used again. ``"clone"``: a clone that is never written could share its bytes. ``"traceback"``: an
        exception keeps the variables of functions that have returned.
    place : Frame or None
        The line to change; None if it is not known.
    blocks : tuple of int
        The numbers, in the snapshot, of blocks that would be freed earlier or not be allocated.
    saves : int
        The bytes by which this advice and all before it would lower the peak.
    peak_after : int
        The peak that would remain.

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
    """Return the requested kinds of advice; all for None."""
    wanted = frozenset(FINDERS if kinds is None else kinds)
    if not wanted <= FINDERS.keys():
        unknown = ", ".join(map(repr, sorted(wanted - FINDERS.keys())))
        raise ValueError(f"unknown kind of advice {unknown}: the kinds are {', '.join(FINDERS)}.")
    return wanted


# tensix does not see reads of these kinds of blocks.
FOREIGN = {1: "NumPy's arrays", 2: "PyTorch's tensors", 3: "blocks of other libraries"}


class Findings(NamedTuple):
    """Hold advice, the bytes at the peak, those that are idle, and those whose use is unknown, with their kinds."""

    advice: list[Advice]
    peak: int = 0
    idle: int = 0
    unseen: int = 0
    unseen_kinds: str = ""


def findings_of(snapshot, kinds=None):
    """Return the findings of a replay of a snapshot, largest saving first; for a million blocks this takes seconds."""
    wanted = kinds_of(kinds)
    if "operators" not in snapshot:  # an older version wrote it, without uses
        return Findings([])
    replay = Replay([snapshot])
    uses, sizes = Uses(snapshot, replay), snapshot["blocks"]["nbytes"]
    changes = [change for kind, find in FINDERS.items() if kind in wanted for change in find(uses)]
    advice, peak = [], replay.peak
    for change, after, at in plan_of(replay, [change for change in changes if change.ends]):
        text = f"{change.what} would make the peak {format_size(after)}{change.instead}"
        near = [n for n, born in enumerate(replay.born) if born <= at and sizes[n] * SMALLEST_PART >= after]
        text += f"; the next peak is at {where(uses.place(near[-1]))}" if near and uses.place(near[-1]) else ""
        advice.append(Advice(text, change.kind, change.place, change.blocks, peak - after, after))
    saves, after = advice[-1][-2:] if advice else (0, peak)
    advice += [Advice(one.what, one.kind, one.place, one.blocks, saves, after) for one in changes if not one.ends]
    gone = {n for one in changes if one.kind in ("dead", "idle") for n in one.blocks if one.ends[n] <= replay.peak_at}
    idle = sum(sizes[number] for number in replay.numbers_at_peak if number in gone)
    foreign = [number for number in replay.numbers_at_peak if uses.kinds[number]]
    unseen = sum(sizes[number] for number in foreign if number not in gone)
    names = " and ".join(FOREIGN[kind] for kind in sorted({uses.kinds[number] for number in foreign}))
    return Findings(advice, peak, idle, unseen, names)


def plan_of(replay, changes):
    """Return changes with the peak that remains after each and those before it, and the position of that peak."""
    ends, added, tops, plan, at, worth = {}, [], set(), [], replay.peak_at, 0
    lowest = replay.peak
    while changes and len(plan) < MOST_STEPS:
        freed = [replay.freed_at(at, one.ends, one.added) for one in changes]
        if max(freed) <= 0:
            break
        change = changes[freed.index(max(freed))]
        ends |= change.ends
        added += change.added
        if change.kind != "idle":
            tops.update(position for n, end in change.ends.items() for position in (end - 1, replay.gone[n]))
            tops.update(begin for begin, _, _ in change.added)
        after, at = replay.peak_with(ends, added, tops)
        plan.append((change, after, at))
        if (lowest - after) * SMALLEST_PART >= replay.peak:
            lowest, worth = after, len(plan)
        changes = [one for one in changes if ends.keys().isdisjoint(one.ends)]
    return plan[:worth]


def summary_of(findings, most=5):
    """Yield the lines of a summary: how much of the peak was idle, the best advice, and how much may be in use."""
    advice, peak, idle, unseen, kinds = findings
    if advice:
        yield f"peak {format_size(peak)}, {format_size(idle)} of it not used again:"
        yield from (f"    {one.text}" for one in advice[:most])
    if unseen * SMALLEST_PART > peak:
        yield f"{format_size(unseen)} of the peak are {kinds}, which may be used again"
