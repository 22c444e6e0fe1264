"""The picture of a snapshot: one HTML file that needs no network, no server and no other file."""

import base64
import hashlib
import html
import json
from pathlib import Path
from string import Template

from tensix.profiling.advice import findings_of

__all__ = ["html_of_snapshot", "with_advice"]

PAGE = Path(__file__).with_name("timeline_page")
# In this order they make one script; later ones use classes and functions of earlier ones.
SCRIPTS = (
    "format", "snapshot", "groups", "processes", "bands", "pictures", "canvas", "timeline", "details", "tables",
    "flame", "comparison", "main",
)  # fmt: skip


def html_of_snapshot(snapshot: dict) -> str:
    """Return a snapshot as a page that shows it.

    Parameters
    ----------
    snapshot : Snapshot
        As `tensix.memory.snapshot` returns it, or a dict of the same form.

    Returns
    -------
    str
        A whole HTML document with the snapshot inside, to be written in UTF-8.

    Notes
    -----
    Names in the snapshot may hold anything: the page shows them as text. Its content security policy lets only its own
    script run and forbids every connection.

    Examples
    --------
    >>> import tensix
    >>> from tensix.profiling.timeline import html_of_snapshot
    >>> with tensix.memory.record() as recording:
    ...     x = tensix.ones(1000)
    >>> html_of_snapshot(recording.snapshot())[:15]
    '<!DOCTYPE html>'
    """
    style = PAGE.joinpath("style.css").read_text(encoding="utf-8")
    parts = [PAGE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = "\n".join(['"use strict";', *parts])
    policy = f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}"
    page = Template(PAGE.joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        policy=policy,
        title=html.escape(f"Memory of {snapshot['program']}").encode(errors="replace").decode(),  # may be no UTF-8
        style=style,
        script=script,
        snapshot=json_for_html(with_advice(snapshot)),
    )


def with_advice(snapshot, advice=None):
    """Return what the page takes: a snapshot with what it advises, which is looked for if it is not there or given."""
    if "advice" in snapshot:
        return snapshot
    advice = findings_of(snapshot).advice if advice is None else advice
    return snapshot | {"advice": [one._asdict() for one in advice]}


def json_for_html(value):
    """Return JSON that no HTML parser takes for the end of the element it stands in."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def source_of(text):
    """Return how a content security policy names a text of the page, which is by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
