"""What was recorded, as plain data: to view, to save, and to load again."""

import errno
import os
from importlib import import_module
from itertools import groupby
from operator import itemgetter

from tensix._support.argument_errors import names_signature
from tensix._support.format_size import format_size
from tensix.memory.resident_memory import COLUMNS as RESIDENT_COLUMNS
from tensix.memory.resident_memory import UNTOUCHED

__all__ = ["Snapshot", "load_snapshot"]

FORMAT = "tensix memory snapshot"
VERSION = 1
MOST_OF_A_LINE = 200  # characters of a line of source to keep
NO_SPACE = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


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
            text = import_module("json").dumps(self, separators=(",", ":"), allow_nan=False)
        elif suffix == ".html":
            text = import_module("tensix.profiling.timeline").html_of_snapshot(self)
        else:
            raise ValueError(f"a snapshot is saved as .json or .html, found {path!r}.")
        data = text.encode()
        try:
            with import_module("tensix._support.atomic_write").atomic_write(path) as file:
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
        return import_module("tensix.profiling.advice").findings_of(self, kinds).advice

    def _repr_html_(self):
        return import_module("tensix.profiling.tables").table_of_snapshot(self)

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
            data = import_module("json").load(file)
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
    for name in blocks.keys() & {*map(key_of, COLUMNS), *USES}:
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


def add_sources(frames, left_out=lambda file: False):
    """Add to frames of a snapshot the texts of their lines, where they can be read now and are not there yet.

    `left_out` says of the name of a file whether it is not to be read.
    """
    cache = import_module("linecache").cache
    by_file = itemgetter("file")
    unread = [frame for frame in frames if frame["line"] and "source" not in frame]  # line 0: it may be a library
    for file, of_file in groupby(sorted(unread, key=by_file), key=by_file):
        if left_out(file):
            continue
        was_there = file in cache
        lines = lines_of_source(file, is_fresh=True)
        for frame in of_file:
            source = lines[frame["line"] - 1].strip() if frame["line"] <= len(lines) else ""
            if source:
                frame["source"] = source[:MOST_OF_A_LINE]
        if not was_there:  # a program need not have its whole source in memory
            cache.pop(file, None)


def lines_of_source(file, is_fresh=False):
    """Return the lines of a file that a frame names, none if they cannot be read; `is_fresh`: as they are now.

    A snapshot may come from anybody, and name anything: what is there, but no regular file, is not opened, for a pipe
    would be waited for and a device may have no end. Code without a file, as in a notebook, is known to `linecache`.
    """
    linecache = import_module("linecache")
    try:
        if is_fresh:
            linecache.checkcache(file)  # it may have been edited and run again
        return linecache.getlines(file) if os.path.isfile(file) or not os.path.exists(file) else []
    except Exception:  # no name of a file, or a loader of somebody's
        return []


def is_count(value):
    """Whether a value is an int from 0 that 64 bits hold, and no bool."""
    return type(value) is int and 0 <= value < 1 << 64


def is_kind(value):
    return is_count(value) and value < 4


def are_types(value):
    """Whether a value says what names are: by a word, or by dtype and shape of an array and more."""
    return isinstance(value, dict) and all(
        isinstance(one, str) or (isinstance(one, list) and len(one) > 1 and isinstance(one[0], str)
                                 and fault_in(one[1], [is_count], {}) is None)
        for one in value.values()
    )  # fmt: skip


# What a snapshot has. Of a value there is its type, the function that accepts it, or the name of the list in which it
# is a position; in a tuple if it may be null. Of a list there is what each item is. A question mark ends the name of
# what may be missing.
EVENTS = [{"time_ns": is_count, "nbytes": is_count, "stack": "stacks"}]
COLUMNS = {
    "address": [is_count], "nbytes": [is_count], "allocated_ns": [is_count], "freed_ns": [(is_count,)],
    "stack": ["stacks"], "thread": ["threads"], "allocator": ["allocators"], "kind?": [is_kind], "task?": [("tasks",)],
}  # fmt: skip
USES = {  # all of these or none
    "last_used_ns": [(is_count,)], "last_written_ns": [(is_count,)], "last_use_stack": [("stacks",)],
    "operator": [("operators",)], "copy_of": [("blocks",)],
}  # fmt: skip
SAMPLES = {name: [is_count] for name in RESIDENT_COLUMNS} | {f"{UNTOUCHED}?": [is_count]}
SNAPSHOT = {
    "program": str, "started": str, "tensix": str, "duration_ns": is_count, "dropped": is_count,
    "left_out?": is_count, "blocks_left_out?": is_count, "allocators": [str], "threads": [str],
    "operators?": [str],
    "frames": [{"file": str, "line": is_count, "function": str, "source?": str}],
    "stacks": [["frames"]],
    "call_sites": [("frames",)],
    "tasks?": [{
        "key": str, "name": str, "peak": is_count, "left": is_count, "began_ns": is_count,
        "ended_ns": (is_count,),
    }],
    "blocks": COLUMNS,
    "copies": EVENTS,
    "failures": EVENTS,
    "holders": [{"block": "blocks", "text": str, "finished?": str}],
    "marks?": [{"name": str, "time_ns": is_count}],
    "untouched?": ["blocks"],
    "advice?": [{"text": str, "saves": is_count, "peak_after": is_count, "blocks": ["blocks"]}],
    "moments?": [{
        "block": "blocks", "blocks": ["blocks"], "names": [str], "line": is_count, "is_after": bool,
        "depth": is_count, "dead": [is_count], "live": [is_count], "made": [is_count], "at?": [is_count],
        "part?": is_count, "types?": are_types,
    }],
    "resident?": SAMPLES,
    "processes?": [{"pid": is_count, "name": str, "offset_ns": is_count, "ended?": bool}],
}  # fmt: skip


def key_of(name):
    """Return the key that a name of a shape means."""
    return name.removesuffix("?")


def fault_in(value, shape, data, place="snapshot"):
    """Return the name of a part of a value that has not its shape, None if there is none."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return place
        for name, inner in shape.items():
            key = key_of(name)
            fault = fault_in(value[key], inner, data, key) if key in value else key if key == name else None
            if fault is not None:
                return fault
        return None
    if not isinstance(shape, list):
        return None if accepts(shape, data)(value) else place
    if not isinstance(value, list):
        return place
    [inner] = shape
    if not isinstance(inner, (dict, list)):
        return None if all(map(accepts(inner, data), value)) else place
    return next(filter(None, (fault_in(one, inner, data, place) for one in value)), None)


def accepts(shape, data):
    """Return a function that says whether a value is one of these."""
    if isinstance(shape, tuple):
        inner = accepts(shape[0], data)
        return lambda value: value is None or inner(value)
    if isinstance(shape, str):
        count = len(data["blocks"]["nbytes"] if shape == "blocks" else data.get(shape, ()))
        return lambda value: type(value) is int and 0 <= value < count
    return (lambda value: type(value) is shape) if isinstance(shape, type) else shape


def damage_of(data):
    """Return what does not fit together in a snapshot, None if everything does."""
    blocks = data.get("blocks")
    has_uses = "operators" in data or (isinstance(blocks, dict) and not USES.keys().isdisjoint(blocks))
    for shape in (SNAPSHOT, {"operators": [str], "blocks": USES} if has_uses else {}):
        fault = fault_in(data, shape, data)
        if fault is not None:
            return f"{fault} is missing or of the wrong kind"
    for table, columns in ((blocks, COLUMNS | USES), (data.get("resident", {}), SAMPLES)):
        if len({len(table[name]) for name in map(key_of, columns) if name in table}) > 1:
            return "its columns differ in length"
    made, sites, stacks = blocks["allocated_ns"], data["call_sites"], data["stacks"]
    if any(freed is not None and freed < time for time, freed in zip(made, blocks["freed_ns"], strict=True)):
        return "a block is freed before it is allocated"
    if len(sites) != len(stacks) or any(
        site not in stack if stack else site is not None for site, stack in zip(sites, stacks, strict=True)
    ):
        return "its call sites are not one frame of each stack"
    last_uses = zip(blocks.get("last_used_ns", ()), blocks.get("last_use_stack", ()), strict=True)
    if any((time is None) != (stack is None) for time, stack in last_uses):
        return "a last use lacks its time or its stack"
    sources = enumerate(blocks.get("copy_of", ()))
    if any(source is not None and (made[source], source) >= (made[one], one) for one, source in sources):
        return "a block is a copy of a later one"
    for fact in data.get("moments", ()):
        if bool(fact["names"]) != bool(fact["blocks"]) or ("part" in fact and len(fact["names"]) != 1):
            return "a moment has blocks without names, names without blocks, or a part of several"
    for process in data.get("processes", ()):
        damage = "it has processes of its own" if "processes" in process else damage_of(process)
        if damage is not None:
            return f"of process {process['pid']}: {damage}"
    return None
