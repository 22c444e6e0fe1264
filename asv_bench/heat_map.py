"""The picture of all rows: functions by sizes, a cell for each neighbour."""

from html import escape
from itertools import groupby
from math import log2

__all__ = ["heat_map"]

LINE, LABEL, CELL, GAP, PER_COLUMN = 14, 190, 34, 10, 72
# From eight times as fast over equal to eight times as slow; told apart by all kinds of eyes, read on white and black.
FAST, EVEN, SLOW = (33, 102, 172), (247, 247, 247), (214, 96, 20)


def heat_map(measured, against, machine):
    """Return the text of an SVG file.

    Parameters
    ----------
    measured : list of dict
        Rows as the measuring process prints them.
    against : list of str
        The libraries beside tensix.
    machine : str
        What measured, for the caption.
    """
    sizes = list(dict.fromkeys(tuple(row["size"]) for row in measured))
    ratios = {(row["name"], tuple(row["size"]), library): row["tensix"] / row[library]
              for row in measured for library in against if row[library]}  # fmt: skip
    names = {(row["chapter"], row["name"]): None for row in measured}
    lines = []  # (is it a heading, text)
    for chapter, rows in groupby(names, key=lambda pair: pair[0]):
        lines += [(True, chapter.replace("_", " ")), *((False, name) for _, name in rows)]
    columns = [lines[i : i + PER_COLUMN] for i in range(0, len(lines), PER_COLUMN)]
    cells = [(library, size) for library in against for size in sizes]
    width = LABEL + len(cells) * CELL + 2 * GAP
    parts = []
    for number, column in enumerate(columns):
        left = number * width + GAP
        for i, (library, size) in enumerate(cells):
            x = left + LABEL + i * CELL + CELL / 2
            parts.append(f'<text class="head" x="{x}" y="44">{library if i % len(sizes) == 0 else ""}</text>')
            parts.append(f'<text class="head" x="{x}" y="56">{size[0]}x{size[1]}</text>')
        for row, (is_heading, text) in enumerate(column):
            y = 62 + row * LINE
            kind = "chapter" if is_heading else "name"
            parts.append(f'<text class="{kind}" x="{left}" y="{y + 10}">{escape(text)}</text>')
            for i, (library, size) in enumerate(cells if not is_heading else []):
                if (text, size, library) in ratios:
                    parts.append(
                        cell(left + LABEL + i * CELL, y, ratios[text, size, library], f"{text}, {size}, {library}")
                    )
    height = 72 + max(map(len, columns)) * LINE
    style = (
        "text{font:10px system-ui,sans-serif;fill:#222}.head{text-anchor:middle;font-size:8px}"
        ".chapter{font-weight:700;font-size:11px}.ratio{text-anchor:middle;font-size:8.5px}.light{fill:#fff}"
        ".title{font-size:14px;font-weight:700}"
    )
    title = f"Time of tensix over time of the same call elsewhere ({machine}): blue is faster, orange slower, 1 is even"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(columns)} {height}" role="img">'
        f'<title>{escape(title)}</title><style>{style}</style><rect width="100%" height="100%" fill="#fff"/>'
        f'<text class="title" x="{GAP}" y="22">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )


def cell(x, y, ratio, what):
    """Return one cell, whose colour says how much faster or slower."""
    weight = max(-1.0, min(1.0, log2(ratio) / 3))
    end = SLOW if weight > 0 else FAST
    red, green, blue = (round(even + (full - even) * abs(weight)) for even, full in zip(EVEN, end, strict=True))
    light = " light" if abs(weight) > 0.6 else ""
    shown = f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"
    return (
        f"<g><title>{escape(what)}: {ratio:.3f}</title>"
        f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{LINE - 1}" fill="rgb({red},{green},{blue})"/>'
        f'<text class="ratio{light}" x="{x + CELL / 2}" y="{y + 10}">{shown}</text></g>'
    )
