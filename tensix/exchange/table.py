"""What notebooks show of a tensor: its type, its shape, its memory, and a table of its elements.

A table has at most `MOST` rows and columns: of longer dimensions those at both ends. Of a tensor of more than two
dimensions it shows the first matrix, of a sparse tensor its entries. Only elements that are shown are made into text.
"""

import numpy as np

from tensix._support.format_size import format_size
from tensix._support.html_table import html_table
from tensix.exchange.formatting import options
from tensix.exchange.ndarray import printable

__all__ = ["table_of_tensor"]

MOST = 10
LEFT_OUT = "…"


def table_of_tensor(tensor):
    """Return a tensor as HTML.

    Parameters
    ----------
    tensor : Tensor
        Of any layout on any device, or undefined.
    """
    if not tensor.defined():
        return html_table("Tensor, undefined", (), ())
    facts = [f"Tensor {tensor.dtype.name}", f"shape {tensor.shape}"]
    facts.append(f"sparse_coo, nnz={tensor.nnz:,}" if tensor.is_sparse else format_size(tensor.nbytes))
    facts += [f"on {tensor.device}"] if tensor.device.type != "cpu" else []
    if not tensor.is_sparse and tensor.device.type != "meta":
        facts += ["copy-on-write"] if tensor.is_cow() else []
        facts += ["read-only"] if tensor.readonly else []
    caption = ", ".join(facts)
    if tensor.device.type == "meta":
        return html_table(caption, (), (), "elements without memory")
    if tensor.is_sparse:
        return table_of_entries(tensor, caption)
    if tensor.size == 0:
        return html_table(caption, (), (), "no elements")
    first = tensor.ndim - 2
    note = f"[{'0, ' * first}:, :] of {tensor.shape}" if first > 0 else ""
    matrix = tensor[(0,) * first] if first > 0 else tensor[(None,) * -first]
    rows, columns = shown(matrix.shape[0]), shown(matrix.shape[1])
    elements = np.block([[printable(corner(matrix, y, x)) for x in spans(columns)] for y in spans(rows)])
    texts = with_gap(
        [with_gap(line, columns) for line in texts_of(elements)], rows,
        [LEFT_OUT] * (len(columns) + (len(columns) < matrix.shape[1])),
    )  # fmt: skip
    labels = with_gap([str(row) for row in rows], rows)
    head = ["", *with_gap([str(column) for column in columns], columns)]
    return html_table(caption, head, ([label, *line] for label, line in zip(labels, texts, strict=True)), note)


def table_of_entries(tensor, caption):
    """Return a sparse tensor as HTML: a row for each entry, its position and its value."""
    entries = shown(tensor.nnz)
    if not entries:
        return html_table(caption, (), (), "no elements stored")
    indices, values = tensor.indices(), tensor.values()[None]
    places, numbers = (
        np.hstack([printable(corner(part, slice(None), span)) for span in spans(entries)])
        for part in (indices, values)
    )
    rows = [[*map(str, place), text] for place, text in zip(places.T.tolist(), texts_of(numbers)[0], strict=True)]
    head = [*(f"dim {dim}" for dim in range(tensor.ndim)), "value"]
    return html_table(caption, head, with_gap(rows, entries, [LEFT_OUT] * len(head)))


def shown(length):
    """Return which rows or columns are shown."""
    return [*range(length)] if length <= MOST else [*range(MOST // 2), *range(length - MOST // 2, length)]


def spans(positions):
    """Return the slices that positions are made of, one or two."""
    half = MOST // 2
    ends = [positions] if positions[-1] == len(positions) - 1 else [positions[:half], positions[half:]]
    return [slice(end[0], end[-1] + 1) for end in ends]


def corner(matrix, rows, columns):
    """Return some elements; those of bfloat16 as float32, which an array always has."""
    part = matrix[rows, columns]
    return part.to("float32") if part.dtype.name == "bfloat16" else part


def with_gap(cells, positions, gap=LEFT_OUT):
    """Return cells with a mark where positions are left out."""
    is_whole = positions[-1] == len(positions) - 1
    half = MOST // 2
    return cells if is_whole else [*cells[:half], gap, *cells[half:]]


def texts_of(matrix):
    """Return the elements as texts that have as many digits each."""
    text = np.array2string(
        matrix.ravel(), separator="\n", max_line_width=1 << 30, threshold=matrix.size, suffix="", **options
    )
    texts = [line.strip() for line in text[1:-1].split("\n")]
    return [texts[start : start + matrix.shape[1]] for start in range(0, len(texts), matrix.shape[1])]
