"""What notebooks show of profiles and snapshots: the peak, and the lines that it is made of."""

from tensix._support.format_size import format_size
from tensix._support.html_table import html_table
from tensix.profiling.replay import Replay

MOST_LINES = 10


def table_of_profile(profile):
    """Return a profile as HTML, the lines of the highest peaks first."""
    rows = profile.rows
    head = ("peak", "total", "count", "alive", "line") if rows else ()
    return html_table(
        repr(profile), head, (
            (format_size(row.peak_bytes), format_size(row.total_bytes), f"{row.total_count:,}",
             format_size(row.current_bytes), str(row.place))
            for row in rows[:MOST_LINES]
        ), more(rows),
    )  # fmt: skip


def table_of_snapshot(snapshot):
    """Return a snapshot as HTML, the lines whose blocks weigh most at the peak first."""
    replay = Replay([snapshot])
    peak, sums = replay.peak, replay.sums_by(snapshot["call_sites"][stack] for stack in snapshot["blocks"]["stack"])
    lines = sorted(((frame, weight) for frame, (weight, *_) in sums.items() if weight), key=lambda item: -item[1])
    head = ("at the peak", "share", "line") if lines else ()
    rows = ((format_size(n), f"{100 * n / peak:.0f} %", place_of(snapshot, frame)) for frame, n in lines[:MOST_LINES])
    return html_table(f"Peak {format_size(peak)}", head, rows, more(lines) or repr(snapshot))


def more(rows):
    """Return what is said of the rows that are left out."""
    left = len(rows) - MOST_LINES
    return f"{left:,} more lines are left out." if left > 0 else ""


def place_of(snapshot, frame):
    """Return the text of a frame, and of its line where the snapshot has it."""
    if frame is None:
        return "no line of Python"
    found = snapshot["frames"][frame]
    text = f"{found['file']}:{found['line']} in {found['function']}"
    return f"{text}: {found['source']}" if "source" in found else text
