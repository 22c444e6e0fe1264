"""Tables for notebooks: plain HTML without script or style, which takes the style of the page."""

from html import escape


def html_table(caption, head, rows, note=""):
    """Return a table as HTML, everything in it escaped.

    Parameters
    ----------
    caption : str
        What stands above, in bold.
    head : sequence of str
        Names of the columns; none if there are no rows.
    rows : iterable of sequences of str
        The cells.
    note : str
        What stands below.
    """
    lines = [f"<div><strong>{escape(caption)}</strong>"]
    if head:
        lines.append(f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>")
        lines += [f"<tr>{cells('td', row)}</tr>" for row in rows]
        lines.append("</tbody></table>")
    lines += [f"<div>{escape(note)}</div>"] if note else []
    return "\n".join([*lines, "</div>"])


def cells(tag, texts):
    """Return the cells of a row."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
