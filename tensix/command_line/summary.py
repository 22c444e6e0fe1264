"""What a recording comes to, in lines for a terminal or a notebook."""

from pathlib import Path

import numpy as np

from tensix.command_line.terminal import printable
from tensix.core import format_size
from tensix.profiling.replay import Replay

__all__ = ["lines_of_summary"]

SITES_SHOWN, MARKS_SHOWN = 8, 12
NATIVE = 3  # the kind of blocks that other libraries asked for
# What is resident outside arrays, in the order of the page: `PARTS` in snapshot.js.
PARTS = (
    ("python", "of it Python objects, those of up to 512 bytes"), ("libraries", "libraries"), ("files", "mapped files"),
    ("shared", "shared memory"), ("stacks", "stacks of threads"), ("arrow", "Arrow, with what it keeps"),
    ("heap", "C heap: larger objects, other libraries"), ("heap_free", "C heap, free but kept"),
)  # fmt: skip


def lines_of_summary(snapshot, terminal):
    """Yield the peak, the total, the resident memory, the processes and the call sites that matter most."""
    snapshots = [snapshot, *snapshot.get("processes", ())]
    replay = Replay(snapshots)
    rows = [
        (name, int(replay.nbytes[which].sum()), count_of(np.count_nonzero(which), "block"))
        for name, which in (
            ("peak", replay.at_peak), ("total", np.ones(len(replay.nbytes), bool)), ("at the end", replay.at_end)
        )
    ]  # fmt: skip
    native = np.array([kind == NATIVE for one in snapshots for kind in kinds_of(one)], bool)
    inside = "these blocks" if native.any() else "arrays"
    if native.any():
        nbytes = int(replay.nbytes[native & replay.at_peak].sum())
        rows.insert(1, ("", nbytes, "of it blocks of other libraries and of Python itself"))
    if len(snapshots) > 1:
        rows[0] = *rows[0][:2], f"{rows[0][2]}, in {count_of(len(snapshots), 'process')} together"
    elif snapshot.get("resident", {}).get("nbytes"):
        resident, kept, other, rows_of_parts = resident_peak(snapshot, replay)
        words = f"at most; {format_size(other)} are outside {inside}, {format_size(kept)} are kept by tensix"
        rows += [("resident", resident, words), *rows_of_parts]
    copied, refused = ([event["nbytes"] for one in snapshots for event in one[key]] for key in ("copies", "failures"))
    if copied:
        rows.append(("copied", sum(copied), f"at {count_of(len(copied), 'first write')}"))
    if refused:
        rows.append(("refused", max(refused), f"the largest of {count_of(len(refused), 'failure')}"))
    yield terminal.strong(f"memory of {printable(snapshot['program'])}")
    for name, nbytes, words in rows:
        yield f"    {name:<10} {format_size(nbytes):>12}   {words}"
    dropped = sum(one["dropped"] for one in snapshots)
    if dropped:
        yield terminal.warm(f"    {count_of(dropped, 'event')} not kept: give a larger --max-events")
    if not snapshot.get("ended", True):
        yield terminal.warm("    the process was killed, ran exec(), or could not write: what it did last is not known")
    yield from lines_of_marks(replay.at_marks(snapshots))
    yield ""
    if len(snapshots) > 1:
        yield from lines_of_processes(snapshots, terminal)
        yield ""
    yield from lines_of_sites(snapshots, replay)


def lines_of_marks(marks):
    """Yield what was in use at the marks that the program set, the last of many."""
    if marks[:-MARKS_SHOWN]:
        yield f"    {count_of(len(marks) - MARKS_SHOWN, 'mark')} before these"
    for name, nbytes, most in marks[-MARKS_SHOWN:]:
        yield f"    {'at mark':<10} {format_size(nbytes):>12}   {printable(name)}; at most {format_size(most)} before"


def resident_peak(snapshot, replay):
    """Return the most resident bytes of a process, those that tensix keeps, those outside arrays, and rows of these.

    tensix keeps freed blocks for reuse, and the recording. A peak between two samples is in the later one, so what
    counts of the arrays is the most that was alive since the sample before; some of it may be kept by then, so that
    what is kept is at most what the other parts leave. Blocks of other libraries count as far as they were touched.
    """
    resident, shift = snapshot["resident"], snapshot.get("offset_ns", 0)
    position = sample_of_peak(resident)
    at_peak, nbytes = {name: column[position] for name, column in resident.items()}, max(resident["nbytes"])
    begin = resident["time_ns"][position - 1] + shift if position else 0
    arrays = replay.most_between(begin, at_peak["time_ns"] + shift)
    arrays -= min(at_peak.get("untouched", 0), arrays)
    named = sum(at_peak[name] for name, _ in PARTS)
    kept = min(at_peak["cached"] + at_peak["recording"], max(nbytes - arrays - named, 0))
    outside = left = max(nbytes - arrays - kept, 0)
    rows = []
    for name, words in PARTS:
        rows.append(("", min(at_peak[name], left), words))
        left -= rows[-1][1]
    rows.append(("", left, "the rest"))
    return nbytes, kept, outside, [row for row in rows if row[1] >= max(outside // 100, 1)]


def sample_of_peak(resident):
    """Return the number of the sample in which least is kept, of those within a hundredth of the most resident bytes.

    What tensix keeps stays resident after the arrays are gone, and little by little a process grows. Of equal ones it
    is the first whose table of mappings, read some samples after a process has grown, has all libraries and stacks.
    """
    nbytes = np.array(resident["nbytes"], float)
    kept = np.where(nbytes >= 0.99 * nbytes.max(), resident["cached"], np.inf)
    mapped = np.where(kept == kept.min(), np.add(resident["libraries"], resident["stacks"]), -np.inf)
    return int(np.argmax(mapped >= mapped.max() - 0.01 * nbytes.max()))


def lines_of_processes(snapshots, terminal):
    """Yield a table of processes, each with its own peak."""
    yield f"{'peak':>12} {'total':>12} {'blocks':>9} {'resident':>12} {'kept':>12} {'outside':>12}   process"
    for number, snapshot in enumerate(snapshots):
        replay = Replay([snapshot])
        sizes = [replay.peak, int(replay.nbytes.sum())]
        resident = ["", "", ""]
        if snapshot.get("resident", {}).get("nbytes"):
            resident = map(format_size, resident_peak(snapshot, replay)[:3])
        words = [*map(format_size, sizes), f"{len(replay.nbytes):,}", *resident]
        name = printable(snapshot["name"]) if number else "the program itself"
        killed = "" if snapshot.get("ended", True) else terminal.warm(", killed")
        where = f"{snapshot['pid']} {name}" if "pid" in snapshot else name
        yield "{:>12} {:>12} {:>9} {:>12} {:>12} {:>12}   {}{}".format(*words, where, killed)


def lines_of_sites(snapshots, replay):
    """Yield a table of the call sites with most memory at the peak, the line of the program's own for each block."""
    places = []  # of each block the line, and the library if it asked itself
    for snapshot in snapshots:
        frames = [(frame["file"], frame["line"], frame["function"]) for frame in snapshot["frames"]]
        for stack, kind in zip(snapshot["blocks"]["stack"], kinds_of(snapshot), strict=True):
            number = snapshot["call_sites"][stack]
            library = frames[snapshot["stacks"][stack][0]][2] if kind == NATIVE else ""
            places.append((None if number is None else frames[number], library))
    sites = replay.sums_by(places)
    if not sites:
        why = ": while it ran, nothing asked NumPy or tensix for memory"
        yield f"no block was recorded{why if all(one.get('ended', True) for one in snapshots) else ''}"
        return
    yield f"{'at the peak':>12} {'total':>12} {'blocks':>9}   call site"
    for site in sorted(sites, key=lambda site: (*sites[site][:2], sites[site][3]), reverse=True)[:SITES_SHOWN]:
        peak, total, _, count = sites[site]
        frame, library = site
        where = place_of(*frame) if frame and frame[1] else "no Python frame"
        where = where if not frame or frame[0] else printable(frame[2])  # of a task
        where += f", {printable(library)}" if library else ""
        yield f"{format_size(peak):>12} {format_size(total):>12} {count:>9,}   {where}"
    if len(sites) > SITES_SHOWN:
        yield f"{'':>35}   and {count_of(len(sites) - SITES_SHOWN, 'more call site')}"


def kinds_of(snapshot):
    """Return whose each block of a snapshot is; one of a time before others were recorded does not say."""
    return snapshot["blocks"].get("kind") or [0] * len(snapshot["blocks"]["nbytes"])


def place_of(file, line, function):
    """Return where a frame is, from this folder if it is below."""
    path = Path(file)
    path = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{printable(str(path))}:{line} {printable(function)}"


def count_of(number, word):
    """Return a number and what it counts."""
    return f"{number:,} {word}{'' if number == 1 else 'es' if word.endswith('s') else 's'}"
