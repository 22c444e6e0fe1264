"""What was recorded, as plain data: to view, to save, and to load again."""

import errno
import importlib
import os
from itertools import groupby

from tensix._support.argument_errors import names_signature
from tensix._support.format_size import format_size

__all__ = ["Snapshot", "load_snapshot"]

FORMAT = "tensix memory snapshot"
VERSION = 1
COLUMNS = ("address", "nbytes", "allocated_ns", "freed_ns", "stack", "thread", "allocator")
MOST_OF_A_LINE = 200  # characters of a line of source to keep
# What is seen of uses since there is advice: of each column, into what its numbers lead; None for times.
USES = {
    "last_used_ns": None, "last_written_ns": None, "last_use_stack": "stacks", "operator": "operators",
    "copy_of": "blocks",
}  # fmt: skip
NO_SPACE = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
LISTS = ("frames", "stacks", "allocators", "threads", "holders", "copies", "failures")


class Snapshot(dict):
    """Hold what a recording saw; a dict of plain data that `json` can write.

    Notes
    -----
    See :doc:`/memory` for its keys.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record() as recording:
    ...     x = tensix.ones(1000)
    >>> snapshot = recording.snapshot()
    >>> snapshot["frames"][0]["function"]
    '<module>'
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, data=()):  # for its signature: inspect finds none of dict
        super().__init__(data)

    def save(self, path):
        """Write a file; what is there already is replaced once all is written.

        Parameters
        ----------
        path : str or path-like
            Ends in ``.json`` for `load_snapshot` and other programs, or in ``.html`` for a page that needs nothing
            else.

        Raises
        ------
        ValueError
            If it ends otherwise.
        OSError
            If it cannot be written there. If there is no space for it, the text says how much it needs.
        """
        path = os.fspath(path)
        suffix = os.path.splitext(path)[1].lower()
        if suffix == ".json":
            text = late_import("json").dumps(self, separators=(",", ":"), allow_nan=False)
        elif suffix == ".html":
            text = late_import("tensix.profiling.timeline").html_of_snapshot(self)
        else:
            raise ValueError(f"a snapshot is saved as .json or .html, found {path!r}.")
        data = text.encode()
        try:
            with late_import("tensix._support.atomic_write").atomic_write(path) as file:
                file.write(data)
        except OSError as error:
            if error.errno in NO_SPACE:
                needed = f"it needs {len(data):,} bytes: free some space, or save it elsewhere"
                raise OSError(error.errno, f"{error.strerror}; {needed}", path) from None
            raise

    def advice(self, kinds=None):
        """Return what would make the peak lower, what saves most first.

        Parameters
        ----------
        kinds : iterable of str, optional
            The kinds that are wanted, such as ``["dead", "temporary"]``; all if it is not given. See :doc:`/advice`.

        Returns
        -------
        list of Advice
            Empty if nothing would save a hundredth of the peak, or if the snapshot does not know of uses. The numbers
            of each count on all that stand before it.

        Raises
        ------
        ValueError
            If there is no such kind.

        Notes
        -----
        Variables are named if the source can still be read. What must be kept for reasons that memory does not show
        cannot be known.
        """
        return late_import("tensix.profiling.advice").advice_of(self, kinds)

    def _repr_html_(self):
        return late_import("tensix.profiling.tables").table_of_snapshot(self)

    def __repr__(self):
        blocks = self["blocks"]
        alive = [n for n, freed in zip(blocks["nbytes"], blocks["freed_ns"], strict=True) if freed is None]
        return (
            f"Snapshot(blocks={len(blocks['nbytes'])}, alive={format_size(sum(alive))} in {len(alive)}, "
            f"copies={len(self['copies'])}, failures={len(self['failures'])})"
        )


@names_signature
def load_snapshot(path):
    """Return a snapshot that was saved as ``.json``.

    Parameters
    ----------
    path : str or path-like
        Of the file.

    Returns
    -------
    Snapshot

    Raises
    ------
    ValueError
        If the file is not a snapshot, is cut off or damaged, or comes from a newer version of tensix.
    """
    path = os.fspath(path)
    with open(path, encoding="utf-8") as file:
        try:
            data = late_import("json").load(file)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not JSON, or was cut off: {error}. Save the snapshot again.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{path} is not a memory snapshot: it does not say 'format': {FORMAT!r}.")
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"{path} is damaged: its version is {version!r}, not a number from 1.")
    if version > VERSION:
        raise ValueError(
            f"{path} has version {version} of the format, this tensix reads up to {VERSION}. "
            f"It was written by tensix {data.get('tensix')}: use that one or a newer one."
        )
    damage = damage_of(data)
    if damage:
        raise ValueError(f"{path} is damaged: {damage}. Save the snapshot again.")
    for one in (data, *data.get("processes", ())):
        if "call_sites" not in one:  # it is of a time when every block belonged to the innermost frame
            one["call_sites"] = [stack[0] if stack else None for stack in one["stacks"]]
        sort_blocks(one)
    return Snapshot(data)


def sort_blocks(data):
    """Put the blocks of a snapshot in the order of allocation, which a file need not have."""
    blocks = data["blocks"]
    times = blocks["allocated_ns"]
    order = sorted(range(len(times)), key=times.__getitem__)
    if order == list(range(len(times))):
        return
    positions = {number: position for position, number in enumerate(order)} | {None: None}
    for name in blocks.keys() & {*COLUMNS, *USES, "kind", "task"}:
        blocks[name] = [blocks[name][number] for number in order]
    if "copy_of" in blocks:
        blocks["copy_of"] = [positions[source] for source in blocks["copy_of"]]
    for holder in data["holders"]:
        holder["block"] = positions[holder["block"]]
    for fact in data.get("moments", ()):
        fact["block"] = positions[fact["block"]]
    if "untouched" in data:
        data["untouched"] = [positions[block] for block in data["untouched"]]
    for advice in (*data.get("advice", ()), *data.get("moments", ())):
        advice["blocks"] = [positions[block] for block in advice["blocks"]]


def late_import(name):
    """Import a module that only files need; these take as long to import as all the rest of tensix."""
    return importlib.import_module(name)


def frame_with_source(file, line, function):
    """Return a frame as a snapshot has it, with the text of its line if that can be read now."""
    frame = {"file": file, "line": line, "function": function}
    lines = lines_of_source(file, is_fresh=True) if line else []  # else it may be a library
    source = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return frame | {"source": source[:MOST_OF_A_LINE]} if source else frame


def frames_with_sources(frames, known):
    """Return frames as a snapshot has them, with the texts of their lines.

    Parameters
    ----------
    frames : iterable of Frame
        Of a recording.
    known : dict
        Keeps the texts, so that a program that is recorded need not have its whole source in memory.
    """
    cache = late_import("linecache").cache
    for file, of_file in groupby(sorted({*frames} - known.keys()), key=lambda frame: frame.file):
        was_there = file in cache
        known.update((frame, frame_with_source(*frame)) for frame in of_file)
        if not was_there:
            cache.pop(file, None)
    return [known[frame].copy() for frame in frames]


def lines_of_source(file, is_fresh=False):
    """Return the lines of a file that a frame names, none if they cannot be read.

    A snapshot may come from anybody, and name anything: what is there, but no regular file, is not opened, for a pipe
    would be waited for and a device may have no end. Code without a file, as in a notebook, is known to `linecache`.

    Parameters
    ----------
    file : str
        Its name.
    is_fresh : bool, optional
        Whether it is read again if it has changed.
    """
    linecache = late_import("linecache")
    try:
        if is_fresh:
            linecache.checkcache(file)  # it may have been edited and run again
        return linecache.getlines(file) if os.path.isfile(file) or not os.path.exists(file) else []
    except Exception:  # no name of a file, or a loader of somebody's
        return []


def damage_of(data):
    """Return what does not fit together in a snapshot, None if everything does."""
    missing = [key for key in LISTS if not isinstance(data.get(key), list)]
    missing += [key for key in ("program", "started", "tensix") if not isinstance(data.get(key), str)]
    missing += [key for key in ("duration_ns", "dropped") if not is_count(data.get(key))]
    blocks = data.get("blocks")
    if not isinstance(blocks, dict) or missing:
        return f"{', '.join(missing) or 'blocks'} is missing or of the wrong kind"
    for column in COLUMNS:
        if not isinstance(blocks.get(column), list) or len(blocks[column]) != len(blocks[COLUMNS[0]]):
            return f"the column {column!r} of its blocks is missing or of another length than the first"
        if not all(is_count(value) or (value is None and column == "freed_ns") for value in blocks[column]):
            return f"the column {column!r} of its blocks holds something else than numbers"
    if "operators" in data or any(column in blocks for column in USES):
        damage = damage_of_uses(data)
        if damage:
            return damage
    times = zip(blocks["allocated_ns"], blocks["freed_ns"], strict=True)
    if any(freed is not None and freed < made for made, freed in times):
        return "a block is freed before it is allocated"
    try:
        references = [
            ("stack", "stacks", blocks["stack"]), ("thread", "threads", blocks["thread"]),
            ("allocator", "allocators", blocks["allocator"]),
            ("frame", "frames", [frame for stack in data["stacks"] for frame in stack]),
            ("stack", "stacks", [event["stack"] for event in data["copies"] + data["failures"]]),
        ]  # fmt: skip
        held = [holder["block"] for holder in data["holders"]]
        texts = [holder["text"] for holder in data["holders"]] + data["allocators"] + data["threads"]
        texts += [holder["finished"] for holder in data["holders"] if "finished" in holder]
        texts += [frame[key] for frame in data["frames"] for key in ("file", "function")]
        texts += [frame["source"] for frame in data["frames"] if "source" in frame]
        numbers = [frame["line"] for frame in data["frames"]]
        numbers += [event[key] for event in data["copies"] + data["failures"] for key in ("time_ns", "nbytes")]
    except (TypeError, KeyError) as error:
        return f"an entry lacks something ({error})"
    for name, table, numbers_of_rows in [*references, ("block", "blocks", held)]:
        rows = len(blocks["stack"]) if table == "blocks" else len(data[table])
        if not all(is_count(number) and number < rows for number in numbers_of_rows):
            return f"a {name} is named that is not among its {table}"
    if not all(isinstance(text, str) for text in texts) or not all(map(is_count, numbers)):
        return "an entry is of the wrong kind"
    for name in ("left_out", "blocks_left_out"):
        if not is_count(data.get(name, 0)):
            return f"{name} is not a number"
    if "call_sites" in data and not are_call_sites(data["call_sites"], data["stacks"]):
        return "its call sites are not one frame of each stack"
    return (
        damage_of_marks(data.get("marks", []))
        or damage_of_tasks(data.get("tasks", []), blocks)
        or damage_of_advice(data)
        or damage_of_moments(data)
        or damage_of_resident(data.get("resident"))
        or damage_of_processes(data.get("processes", []))
    )


def damage_of_resident(resident):
    """Return what is wrong with the samples of resident memory, which a snapshot may lack."""
    if resident is None:
        return None
    module = late_import("tensix.memory.resident_memory")
    columns = [None]
    if isinstance(resident, dict):
        columns = [resident.get(name) for name in module.COLUMNS]
        columns += [resident[module.UNTOUCHED]] if module.UNTOUCHED in resident else []
    if not all(isinstance(column, list) and all(map(is_count, column)) for column in columns):
        return "its resident memory is not columns of numbers"
    if len(set(map(len, columns))) != 1:
        return "the columns of its resident memory differ in length"
    return None


def damage_of_marks(marks):
    """Return what is wrong with the marks of a snapshot, which it may lack."""
    if not isinstance(marks, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and is_count(one.get("time_ns")) for one in marks
    ):
        return "its marks are not names with times"
    return None


def damage_of_tasks(tasks, blocks):
    """Return what is wrong with the tasks of a snapshot, which it may lack, and with whose task its blocks are."""
    if not isinstance(tasks, list) or not all(
        isinstance(one, dict) and isinstance(one.get("key"), str) and isinstance(one.get("name"), str)
        and all(is_count(one.get(name)) for name in ("peak", "left", "began_ns"))
        and (one.get("ended_ns") is None or is_count(one["ended_ns"]))
        for one in tasks
    ):  # fmt: skip
        return "its tasks are not keys, names, bytes and times"
    numbers = blocks.get("task", [None] * len(blocks["nbytes"]))
    if not isinstance(numbers, list) or len(numbers) != len(blocks["nbytes"]) or not all(
        number is None or (is_count(number) and number < len(tasks)) for number in numbers
    ):
        return "the column 'task' of its blocks is of another length than the first, or names a task that is not there"
    return None


def damage_of_processes(processes):
    """Return what is wrong with the snapshots of other processes in a snapshot, which it may lack."""
    if not isinstance(processes, list):
        return "its processes are not a list"
    for process in processes:
        if not isinstance(process, dict) or "processes" in process:
            return "one of its processes is not a snapshot, or has processes of its own"
        if not (is_count(process.get("pid")) and is_count(process.get("offset_ns"))):
            return "one of its processes has no number, or does not say when it began"
        if not isinstance(process.get("name"), str) or type(process.get("ended", True)) is not bool:
            return "one of its processes has no name, or does not say whether it ended"
        damage = damage_of(process)
        if damage:
            return f"of process {process['pid']}: {damage}"
    return None


def damage_of_advice(data):
    """Return what is wrong with the advice of a page's snapshot, and with whose arrays its blocks are."""
    blocks = data["blocks"]
    count = len(blocks["nbytes"])
    kinds = blocks.get("kind", [0] * count)
    if not isinstance(kinds, list) or len(kinds) != count or not all(is_count(kind) and kind < 4 for kind in kinds):
        return "the column 'kind' of its blocks is of another length than the first, or of the wrong kind"
    try:
        for advice in data.get("advice", []):
            if not isinstance(advice["text"], str) or not all(is_count(advice[key]) for key in ("saves", "peak_after")):
                return "a piece of advice is of the wrong kind"
            if not all(is_count(block) and block < count for block in advice["blocks"]):
                return "a piece of advice names a block that is not there"
    except (TypeError, KeyError) as error:
        return f"a piece of advice lacks something ({error})"
    return None


def damage_of_moments(data):
    """Return what is wrong with what was noted of variables and of pages, which a snapshot may lack."""
    count = len(data["blocks"]["nbytes"])
    untouched = data.get("untouched", [])
    if not isinstance(untouched, list) or not all(is_count(block) and block < count for block in untouched):
        return "its untouched blocks are not numbers of blocks"
    try:
        for fact in data.get("moments", []):
            if not all(is_count(block) and block < count for block in (fact["block"], *fact["blocks"])):
                return "a moment names a block that is not there"
            types = fact.get("types", {}).values()
            numbers = [*fact["dead"], *fact["live"], *fact["made"], fact["line"], fact["depth"], *fact.get("at", ())]
            numbers.append(fact.get("part", 0))
            numbers += [size for known in types if not isinstance(known, str) for size in known[1]]
            texts = [*fact["names"], *(known[0] for known in types)]
            if not all(map(is_count, numbers)) or not all(isinstance(text, str) for text in texts):
                return "a moment holds something else than numbers and texts"
            is_even = bool(fact["names"]) == bool(fact["blocks"]) and ("part" not in fact or len(fact["names"]) == 1)
            if type(fact["is_after"]) is not bool or not is_even:
                return "a moment is of the wrong kind"
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        return f"a moment lacks something ({error})"
    return None


def are_call_sites(sites, stacks):
    """Whether there is a frame of each stack, and None for a stack without any."""
    if not isinstance(sites, list) or len(sites) != len(stacks):
        return False
    pairs = zip(sites, stacks, strict=True)
    return all((is_count(site) and site in stack) if stack else site is None for site, stack in pairs)


def damage_of_uses(data):
    """Return what is wrong with what a snapshot says of uses, None if nothing is."""
    blocks, operators = data["blocks"], data.get("operators")
    if not isinstance(operators, list) or not all(isinstance(name, str) for name in operators):
        return "operators is missing or of the wrong kind"
    for column, table in USES.items():
        if not isinstance(blocks.get(column), list) or len(blocks[column]) != len(blocks["nbytes"]):
            return f"the column {column!r} of its blocks is missing or of another length than the first"
        rows = len(blocks["nbytes"]) if table == "blocks" else 1 << 64 if table is None else len(data[table])
        if not all(value is None or (is_count(value) and value < rows) for value in blocks[column]):
            return f"the column {column!r} of its blocks holds something else than numbers that fit"
    last_uses = zip(blocks["last_used_ns"], blocks["last_use_stack"], strict=True)
    if any((time is None) != (stack is None) for time, stack in last_uses):
        return "a last use lacks its time or its stack"
    moments = [*zip(blocks["allocated_ns"], range(len(blocks["allocated_ns"])), strict=True)]
    if any(other is not None and moments[other] >= moments[one] for one, other in enumerate(blocks["copy_of"])):
        return "a block is a copy of a later one"
    return None


def is_count(value):
    """Whether a value is an int from 0 that 64 bits hold, and no bool."""
    return type(value) is int and 0 <= value < 1 << 64
