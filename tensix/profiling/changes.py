"""Find changes of a program that would lower its peak, by the uses of blocks and variables."""

from collections import defaultdict
from itertools import pairwise

from tensix._support.format_size import format_size
from tensix.profiling.statements import lines_of_statement, target_of
from tensix.profiling.temporaries import rewritten
from tensix.profiling.uses import Change, where

MOST_BETWEEN = 50  # blocks from an operand to its result
SMALLEST_PART = 100  # of the peak: less is not worth advice


def idle_blocks(uses):
    """Yield changes that free blocks which are kept but not used again."""
    replay, blocks = uses.replay, uses.blocks
    known = [*filter(uses.is_known, range(len(blocks["nbytes"])))]
    stacks, last_uses = set(), defaultdict(set)
    for number in known:
        uses_of_it = blocks["stack"][number], blocks["last_use_stack"][number]
        last_uses[blocks["stack"][number], blocks["operator"][number]].add(uses_of_it[1])
        if replay.at_peak[number] and uses.end_of_use(number)[0] <= replay.peak_at:
            stacks.add(uses_of_it)
    groups = defaultdict(dict)  # name, line of the last use, line of the allocation -> where each block could end
    for number in known:
        if (blocks["stack"][number], blocks["last_use_stack"][number]) in stacks:
            end, level = uses.end_of_use(number)
            used = uses.path(blocks["last_use_stack"][number])
            place = level.used if level else used[-1] if used else None
            is_one = len(last_uses[blocks["stack"][number], blocks["operator"][number]]) == 1
            name = uses.source_of(level.made, target_of) if level and is_one else None
            groups[name, place, uses.place(number) if name is None else None][number] = end
    for (name, place, made), ends in groups.items():
        changed = tuple(number for number, end in ends.items() if end < replay.gone[number])
        what = f"`del {name}`" if name else f"freeing the tensor from {where(made)}"
        instead = instead_of(uses, changed)
        if any(blocks["freed_ns"][number] is None for number in changed):
            instead += ", if it is not needed after the recording"
        yield Change("idle", f"{what} after {where(place)}", place, changed, ends, instead=instead)


def instead_of(uses, idle):
    """Return, in words, a line that allocates a block of the same size and could reuse the first idle block."""
    sizes = uses.blocks["nbytes"]
    for first in idle[:1]:
        end, _ = uses.end_of_use(first)
        for other in uses.allocated_after(first):
            if sizes[other] == sizes[first] and uses.replay.born[other] >= end:
                return f"; or let {where(uses.place(other))} write into it"
    return ""


def needless_clones(uses):
    """Yield changes that share bytes of clones if neither the clone nor its source is written."""
    replay, blocks = uses.replay, uses.blocks
    groups = defaultdict(list)
    for number, source in enumerate(blocks["copy_of"]):
        if source is not None and uses.is_known(number) and uses.is_known(source):
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
        clones = tuple(clone for clone, _ in pairs)
        place = uses.place(clones[0])
        what = f"`lazy_clone()` in place of `clone()` at {where(place)}, where neither is written later,"
        yield Change("clone", what, place, clones, ends)


def dead_variables(uses):
    """Yield changes that free arrays in variables that are not used again. See ``liveness.py``.

    A block is given to its variable by the statement that allocates it, or lies in it while the variable is live. From
    then on the variable is dead for the first time where ``del`` would have been, and at no line before. If neither is
    known, the block is there until the moment at which it was found.
    """
    replay, blocks = uses.replay, uses.blocks
    for fact, level in uses.moments():
        size = sum(blocks["nbytes"][number] for number in fact["blocks"])
        if not fact["names"] or "part" in fact or size * SMALLEST_PART < replay.peak:
            continue
        ends, made = {}, {*fact["made"]}
        for number in fact["blocks"]:
            line, those = uses.line_in(level, number), {}
            if line is not None and level.used.line not in made and (line in made or line in fact["live"]):
                those = uses.firsts_after(level, {*fact["dead"]} - made, uses.like(level, number))
            elif line in made:  # the next value takes its place
                those = {one: replay.born[other] for one, other in pairwise(uses.like(level, number))}
            those = {number: replay.born[fact["block"]]} | those
            ends |= {one: min(end, replay.gone[one]) for one, end in those.items()}
        line = level.used._replace(line=fact["line"])
        what = f"`del {', '.join(fact['names'])}` {'after' if fact['is_after'] else 'before'} {where(line)}"
        changed = tuple(sorted(number for number, end in ends.items() if end < replay.gone[number]))
        yield Change("dead", what, line, changed, ends)


def views(uses):
    """Yield changes that copy a view which is the only reference to an array, after its statement."""
    replay, nbytes, seen = uses.replay, uses.blocks["nbytes"], set()
    for fact, level in uses.moments():
        number = fact["blocks"][0] if "part" in fact else None
        if number is None or number in seen:
            continue
        is_made = uses.line_in(level, number) in fact["made"]
        those = [one for one in (uses.like(level, number) if is_made else [number]) if nbytes[one] == nbytes[number]]
        ends = {number: replay.born[fact["block"]]} | uses.firsts_after(level, lines_of_statement(level.used), those)
        ends = {one: end for one, end in ends.items() if end < replay.gone[one]}
        seen |= ends.keys()
        [name], line = fact["names"], level.used._replace(line=fact["line"])
        what = (f"`{name} = {name}.copy()` before {where(line)}, since the view has {format_size(fact['part'])} "
                f"and keeps {format_size(nbytes[number])},")  # fmt: skip
        added = tuple((end - 1, replay.gone[one], fact["part"]) for one, end in ends.items())
        yield Change("view", what, line, tuple(ends), ends, added)


def untouched_blocks(uses):
    """Yield changes that do not allocate large blocks, of which no page was touched that they do not share."""
    groups = defaultdict(list)
    for number in uses.snapshot.get("untouched", ()):
        groups[uses.place(number)].append(number)
    for place, numbers in groups.items():
        what = f"not allocating what {where(place)} allocates, or less, since at most its first and last page are used,"
        yield Change("untouched", what, place, tuple(numbers), {one: uses.replay.born[one] for one in numbers})


def tracebacks(uses):
    """Yield blocks that tracebacks of exceptions keep at the end: the effect on the peak is not known."""
    held, groups = defaultdict(set), defaultdict(list)
    for holder in uses.snapshot["holders"]:
        held[holder["block"]].add(holder.get("finished"))
    for number, kept in held.items():
        if None not in kept:
            groups[min(kept)].append(number)
    for kept, numbers in groups.items():
        size = sum(uses.blocks["nbytes"][number] for number in numbers)
        if size * SMALLEST_PART >= uses.replay.peak:
            what = f"{kept}: traceback.clear_frames() would free {format_size(size)} at the end"
            yield Change("traceback", what, None, tuple(numbers), {})


def temporaries(uses):
    """Yield changes that write a result into an operand. See ``temporaries.py``."""
    replay = uses.replay
    for fact, level, found in uses.operations(rewritten):
        ends = {}
        for result in uses.like(level, fact["block"]):
            operand = operand_of(uses, level, result, found)
            if operand is not None and not {operand, result} & ends.keys():
                ends |= {result: replay.born[result], operand: replay.gone[result]}
        if fact["block"] in ends:
            first, second, *last = found["write"]
            what = f"`{first}` and `{second}` at {where(level.used)}{''.join(f', then `{one}`,' for one in last)}"
            results = tuple(number for number, end in ends.items() if end == replay.born[number])
            yield Change("temporary", what, level.used, results, ends)


def operand_of(uses, level, result, way):
    """Return the block that the statement of a result allocated before it for an operand, None if that is not clear."""
    replay, blocks = uses.replay, uses.blocks
    found = [
        number for number in range(max(result - MOST_BETWEEN, 0), result)
        if blocks["nbytes"][number] == blocks["nbytes"][result] == way["nbytes"]
        and replay.born[result] < replay.gone[number] <= replay.gone[result]
        and uses.line_in(level, number) in way["made"] and blocks["thread"][number] == blocks["thread"][result]
    ]  # fmt: skip
    return found[-1] if found else None
