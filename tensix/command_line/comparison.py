"""Two snapshots side by side: what one has more or less of than the other, call site by call site."""

import os

from tensix.command_line.terminal import printable
from tensix.core import format_size
from tensix.profiling.replay import Replay

__all__ = ["lines_of_comparison"]

SITES_SHOWN = MARKS_SHOWN = 12
MEASURES = ("at the peak", "in total", "at the end")


def lines_of_comparison(here, there):
    """Yield how a snapshot differs from another one."""
    sides, marks = zip(*(sums_of_sites(snapshot) for snapshot in (here, there)), strict=True)
    yield f"against {printable(there['program'])} of {printable(there['started'])}"
    yield f"    {'':<12} {'there':>12} {'here':>12} {'difference':>12}"
    for number, name in enumerate(MEASURES):
        now, before = (sum(sums[number] for sums in side.values()) for side in sides)
        yield f"    {name:<12} {format_size(before):>12} {format_size(now):>12} {signed_size(now - before):>12}"
    for name in [name for name in marks[0] if name in marks[1]][-MARKS_SHOWN:]:
        now, before = (of_side[name] for of_side in marks)
        row = f"{format_size(before):>12} {format_size(now):>12} {signed_size(now - before):>12}"
        yield f"    {'at mark':<12} {row}   {printable(name)}"
    yield ""
    differences = {
        site: [now - before for now, before in zip(*(side.get(site, (0, 0, 0)) for side in sides), strict=True)]
        for site in {**sides[0], **sides[1]}
    }
    rows = [site for site, sums in differences.items() if any(sums)]
    rows.sort(key=lambda site: [abs(nbytes) for nbytes in differences[site]], reverse=True)
    if not rows:
        yield "no call site differs"
        return
    yield f"{'at the peak':>12} {'in total':>12} {'at the end':>12}   call site"
    for site in rows[:SITES_SHOWN]:
        yield " ".join(f"{signed_size(nbytes):>12}" for nbytes in differences[site]) + f"   {name_of_site(site)}"
    if len(rows) > SITES_SHOWN:
        yield f"{'':>38}   and {len(rows) - SITES_SHOWN:,} more"


def sums_of_sites(snapshot):
    """Return the bytes at the peak, in total and at the end by call site, of all processes together, and at marks.

    Of two runs lines are the same if file, function and text are, for they move when a program is edited; without text
    if their numbers are. The page does the same: ``comparison.js``.
    """
    processes = [snapshot, *snapshot.get("processes", ())]
    site_of_block = []
    for process in processes:
        sites = [None if line is None else site_of(process["frames"][line]) for line in process["call_sites"]]
        site_of_block += [sites[stack] for stack in process["blocks"]["stack"]]
    replay = Replay(processes)
    sums = {site: of_site[:3] for site, of_site in replay.sums_by(site_of_block).items()}
    return sums, {name: live for name, live, _ in replay.at_marks(processes)}


def site_of(frame):
    """Return what a line has in common with itself in another run: file, function, and text or else number."""
    return os.path.basename(frame["file"]), frame["function"], frame.get("source") or frame["line"]


def name_of_site(site):
    """Return a site in words."""
    if site is None:
        return "no Python frame"
    file, function = map(printable, site[:2])
    line = site[2]
    if line == 0:  # a library that asked in a thread without Python
        return function
    return f"{file}:{line} {function}" if type(line) is int else f"{file} {function}: {printable(line)}"


def signed_size(nbytes):
    """Return a difference of sizes."""
    return f"{'+' if nbytes > 0 else '-' if nbytes < 0 else ''}{format_size(abs(nbytes))}"
