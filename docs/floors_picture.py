"""Sphinx directive ``.. floors::``: the floors of the package, and the imports between them, drawn and as a table."""

from docutils import nodes
from floors import FLOORS, arrows
from sphinx.util.docutils import SphinxDirective

ROW = 26  # pixels from part to part
LEFT = 150  # where the arrows begin; the names stand to the right of it


class Floors(SphinxDirective):
    """Draw the picture where HTML is made, and set the table everywhere."""

    def run(self):
        """Return the two as nodes."""
        return [nodes.raw("", picture(), format="html"), *self.parse_text_to_nodes(table())]


def table():
    """Return a table in reStructuredText: the highest floor first, as in a house."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 6 30 64", ""]
    lines += row("floor", "part", "why it is there")
    for number, (parts, reason) in reversed([*enumerate(FLOORS)]):
        lines += row(number, ", ".join(f"``{part}``" for part in parts), reason)
    return "\n".join(lines)


def row(*cells):
    """Return the lines of one row."""
    return [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells)]


def picture():
    """Return an SVG: the parts below each other, and an arrow from each to those that it builds on."""
    height = {}
    shapes = []
    for number, (parts, _) in reversed([*enumerate(FLOORS)]):
        top = ROW * len(height)
        for part in parts:
            height[part] = ROW * len(height) + ROW / 2
            shapes.append(f'<text x="{LEFT + 40}" y="{height[part] + 5}">{part}</text>')
        shapes.append(f'<text x="{LEFT + 12}" y="{top + ROW / 2 + 5}" opacity=".5">{number}</text>')
        shapes.append(f'<line x1="{LEFT}" x2="{LEFT + 170}" y1="{top}" y2="{top}" opacity=".2"/>')
    for part, targets in transitive_reduction(arrows()).items():
        for target in targets:
            start, end = height[part] + 4, height[target] - 4
            bend = min(LEFT - 10, (end - start) / 2)
            shapes.append(
                f'<path d="M{LEFT} {start} A{bend} {(end - start) / 2} 0 0 0 {LEFT} {end}" marker-end="url(#tip)"/>'
            )
    return (
        f'<svg viewBox="0 0 {LEFT + 170} {ROW * len(height)}" width="{LEFT + 170}" role="img" '
        'stroke="currentColor" fill="none" style="max-width: 100%">'
        "<title>Which part of tensix imports from which</title>"
        '<style>svg text { fill: currentColor; stroke: none; font: 14px monospace }</style>'
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="currentColor" stroke="none"/></marker>'
        f"{''.join(shapes)}</svg>"
    )


def transitive_reduction(found):
    """Leave out the arrows that follow from others."""

    def below(part):
        return set().union(*({target} | below(target) for target in found[part]))

    return {
        part: {target for target in targets if not any(target in below(other) for other in targets)}
        for part, targets in found.items()
    }


def setup(app):
    """Register the directive."""
    app.add_directive("floors", Floors)
    return {"parallel_read_safe": True}
