"""``python -m tensix memory``: run a script, or read a snapshot, and show what it did with memory."""

import argparse
from pathlib import Path

from tensix.command_line.paper import Paper
from tensix.command_line.progress import Progress
from tensix.command_line.script import run_script
from tensix.core import format_size
from tensix.memory import load_snapshot, record
from tensix.memory.advice import summary_of

__all__ = ["add_parser"]

SITES_SHOWN = 8
SUFFIXES = (".html", ".json")
EPILOG = """examples:
  python -m tensix memory train.py --epochs 3
  python -m tensix memory --output train.json train.py --epochs 3
  python -m tensix memory train.json

What follows the script's name belongs to the script.
"""


def add_parser(commands):
    """Add this command to the command line."""
    parser = commands.add_parser(
        "memory",
        help="run a script and picture its memory over time",
        description="Run a Python script, record every block of memory that tensix gives out, and write a page that "
        "shows them: a timeline, call sites, copies and failures. The page is one file that needs no network. Or make "
        "such a page of a snapshot that was saved as .json.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--output", metavar="FILE", help="write FILE: .html for the page, .json for its data "
                        "(default: the name of the script with .memory.html, in this folder)")  # fmt: skip
    parser.add_argument("--max-events", metavar="N", type=int, default=1_000_000,
                        help="blocks to remember; beyond that the oldest ones that are freed are forgotten "
                        "(default: 1000000)")  # fmt: skip
    parser.add_argument("--through", metavar="PACKAGE", action="append",
                        help="whose lines are not the script's own: a package, a folder, or site-packages for all that "
                        "are installed; may be given several times (default: site-packages)")  # fmt: skip
    parser.add_argument("file", metavar="SCRIPT.py | SNAPSHOT.json", help="what to run or to show")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the script")
    parser.set_defaults(run=run)


def run(arguments):
    """Write the file; the exit status is the script's."""
    source = Path(arguments.file)
    output = Path(arguments.output or f"{source.stem}.memory.html")
    check_output(output, source)
    if source.suffix == ".json":
        if arguments.words:
            raise ValueError(f"a snapshot takes no arguments, found {arguments.words}. Options stand before its name.")
        if arguments.through:
            raise ValueError(f"{source} has its call sites already: --through belongs to the run that is recorded.")
        with Progress() as progress:
            progress.say(f"reading {source}")
            snapshot = load_snapshot(source)
            write(snapshot, output, progress)
        print_summary(snapshot, output)
        return 0

    recording = None

    def start():  # the script's folder is on the path now, as its packages may be
        nonlocal recording
        recording = record(max_events=arguments.max_events, through=arguments.through).start()

    def finish():
        with Progress() as progress:
            progress.say("looking for who holds what")
            snapshot = recording.snapshot()
            recording.stop()
            write(snapshot, output, progress)
        print_summary(snapshot, output)

    return run_script(str(source), arguments.words, start, finish)


def check_output(output, source):
    """Refuse a file that could not be written, before a script has run for hours."""
    if output.suffix not in SUFFIXES:
        raise ValueError(f"the name of the output ends in {' or '.join(SUFFIXES)}, found {str(output)!r}.")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(output.parent)!r} for the output.")
    if output.exists() and source.exists() and output.samefile(source):
        raise ValueError(f"the output {str(output)!r} is the input.")


def write(snapshot, output, progress):
    """Write a snapshot and say so to who waits."""
    progress.say(f"writing {output}: {len(snapshot['blocks']['nbytes']):,} blocks")
    snapshot.save(output)


# ---- for a person's eyes


def print_summary(snapshot, output):
    """Print the peak, the total and the call sites that matter most."""
    paper = Paper()
    sizes = snapshot["blocks"]["nbytes"]
    at_peak = blocks_at_peak(snapshot["blocks"])
    alive = [number for number, time in enumerate(snapshot["blocks"]["freed_ns"]) if time is None]
    rows = [
        (name, sum(sizes[number] for number in numbers), count_of(len(numbers), "block"))
        for name, numbers in (("peak", at_peak), ("total", range(len(sizes))), ("at the end", alive))
    ]
    copied, refused = ([moment["nbytes"] for moment in snapshot[key]] for key in ("copies", "failures"))
    if copied:
        rows.append(("copied", sum(copied), f"at {count_of(len(copied), 'first write')}"))
    if refused:
        rows.append(("refused", max(refused), f"the largest of {count_of(len(refused), 'failure')}"))
    print(paper.strong(f"memory of {snapshot['program']}"))
    for name, nbytes, words in rows:
        print(f"    {name:<10} {format_size(nbytes):>12}   {words}")
    if snapshot["dropped"]:
        print(paper.warm(f"    {count_of(snapshot['dropped'], 'event')} not kept: give a larger --max-events"))
    print()
    for line in lines_of_sites(snapshot, at_peak):
        print(line)
    for line in summary_of(snapshot):
        print(line)
    print(paper.good(f"wrote {output}, {format_size(output.stat().st_size)}"))


def lines_of_sites(snapshot, at_peak):
    """Yield a table of the call sites with most memory at the peak, the line of the script's own for each block."""
    blocks, frames = snapshot["blocks"], snapshot["frames"]
    sites = {}  # frame -> bytes at the peak, bytes in total, blocks
    for number, nbytes in enumerate(blocks["nbytes"]):
        sums = sites.setdefault(snapshot["call_sites"][blocks["stack"][number]], [0, 0, 0])
        sums[0] += nbytes if number in at_peak else 0
        sums[1] += nbytes
        sums[2] += 1
    if not sites:
        return
    yield f"{'at the peak':>12} {'total':>12} {'blocks':>9}   call site"
    for site in sorted(sites, key=sites.get, reverse=True)[:SITES_SHOWN]:
        peak, total, count = sites[site]
        where = "no Python frame" if site is None else place_of(**frames[site])
        yield f"{format_size(peak):>12} {format_size(total):>12} {count:>9,}   {where}"
    if len(sites) > SITES_SHOWN:
        yield f"{'':>35}   and {count_of(len(sites) - SITES_SHOWN, 'more call site')}"


def place_of(file, line, function):
    """Return where a frame is, from this folder if it is below."""
    path = Path(file)
    return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{line} {function}"


def blocks_at_peak(blocks):
    """Return the set of the blocks that were alive when most bytes were."""
    sizes = blocks["nbytes"]
    events = [(time, 0, number) for number, time in enumerate(blocks["allocated_ns"])]
    events += [(time, 1, number) for number, time in enumerate(blocks["freed_ns"]) if time is not None]
    events.sort()  # of one moment allocations first: what is freed was there
    live = most = until = 0
    for position, (_, is_free, number) in enumerate(events, 1):
        live += -sizes[number] if is_free else sizes[number]
        if live > most:
            most, until = live, position
    freed = {number for _, is_free, number in events[:until] if is_free}
    return {number for _, is_free, number in events[:until] if not is_free} - freed


def count_of(number, word):
    """Return a number and what it counts."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
