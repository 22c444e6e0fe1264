"""What ``python -m tensix memory`` makes of recordings: the summary, the page.

The program has begun when this is imported. See Note [How a program is set up] in ``program.py``.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

import tensix._modules  # noqa: F401 - first: the command has not imported it
from tensix.command_line.comparison import lines_of_comparison
from tensix.command_line.summary import lines_of_summary
from tensix.command_line.terminal import Progress, Terminal, printable
from tensix.core import format_size, parse_size
from tensix.memory import Snapshot, load_snapshot, record
from tensix.profiling.advice import findings_of, kinds_of, summary_of
from tensix.profiling.snapshot_file import add_sources
from tensix.profiling.timeline import with_advice

__all__ = ["check_recording", "checked", "gather", "load_snapshot", "save", "show"]


def checked(arguments):
    """Parse the options of advice; return the snapshot to compare with, None if there is none."""
    if arguments.advice is not None:
        arguments.advice = kinds_of([] if arguments.advice == "none" else arguments.advice.split(","))
    if arguments.fail_on_advice is not None:
        arguments.fail_on_advice = parse_size(arguments.fail_on_advice)
    return load_snapshot(arguments.compare) if arguments.compare else None


def check_recording(options, folder):
    """Refuse bad options of a recording before the program begins, which imports from a folder first."""
    before = sys.path[:]
    try:
        sys.path.insert(0, folder)
        record(**options)
    finally:
        sys.path[:] = before


def gather(folder, pid, began_ns, program):
    """Return the snapshot of a program with those of its other processes, None if there is none.

    Each process left a file in the folder. If the one that was begun first, at a time and with a number, left none, the
    program is called by `program`.
    """
    snapshots = [load_snapshot(path) for path in Path(folder).glob("*.json")]
    if not snapshots:
        return None
    for snapshot in snapshots:
        add_sources(snapshot["frames"], lambda file: not os.path.isabs(file))
    snapshots.sort(key=lambda snapshot: snapshot["started_ns"])
    main = next((snapshot for snapshot in snapshots if snapshot["pid"] == pid), None)
    if main is None:  # it left none but others did: one of this process, in which nothing happens
        with record() as nothing:
            main = nothing.snapshot()
        main.update(pid=pid, started_ns=began_ns, program=program)
    others = [snapshot for snapshot in snapshots if snapshot is not main]
    began_ns = main.pop("started_ns")
    for snapshot in others:
        snapshot["offset_ns"] = max(snapshot.pop("started_ns") - began_ns, 0)
    if others:
        main["processes"] = others
    return main


def show(snapshot, other, output, arguments):
    """Print the summary and write the file, a page with what it is compared with; return 3 if too much is advised."""
    processes = [snapshot, *snapshot.get("processes", ())]
    terminal = Terminal()
    with Progress() as progress:
        progress.say(f"reading {sum(len(one['blocks']['nbytes']) for one in processes):,} blocks")
        findings = findings_of(snapshot, arguments.advice)  # for the summary and for the page
    if not arguments.quiet:
        lines = [*lines_of_summary(snapshot, terminal), *map(printable, summary_of(findings))]
        lines += [] if other is None else ["", *lines_of_comparison(snapshot, other)]
        print("\n".join(lines))
    with Progress() as progress:  # last: if there is no space for the file, what can be said is said
        progress.say(f"writing {output}")
        save(snapshot, other, findings, output)
    if not arguments.quiet:
        print(terminal.good(f"wrote {output}, {format_size(output.stat().st_size)}"))
    if arguments.open and not import_module("webbrowser").open(output.absolute().as_uri()):
        print(f"tensix: found no browser to open {str(output)!r}.", file=sys.stderr)
    saves = max((one.saves for one in findings.advice), default=0)
    if arguments.fail_on_advice is None or saves < arguments.fail_on_advice:
        return 0
    print(f"tensix: the advice would lower the peak by {format_size(saves)}; --fail-on-advice allows less than "
          f"{format_size(arguments.fail_on_advice)}.", file=sys.stderr)  # fmt: skip
    return 3


def save(snapshot, other, findings, output):
    """Write a file, a page with its advice."""
    if output.suffix == ".html":
        compared = {} if other is None else {"compared": other}
        snapshot = Snapshot(with_advice(snapshot | compared, findings.advice))
    snapshot.save(output)
