"""``python -m tensix inspect``: say what is in a file, without reading more than is shown."""

import json

from tensix.command_line.paper import Paper
from tensix.core import format_size
from tensix.interop.npy import load_npy

__all__ = ["add_parser"]

FIRST_VALUES = 6


def add_parser(commands):
    """Add this command to the command line."""
    parser = commands.add_parser(
        "inspect",
        help="say what is in a .npy file",
        description="Map a .npy file without copying it and say what is in it.",
    )
    parser.add_argument("file", help="path of the file")
    parser.add_argument("--json", action="store_true", help="print JSON for a machine instead of text for a person")
    parser.set_defaults(run=run)


def run(arguments):
    """Print the facts of a file."""
    facts = facts_of(arguments.file)
    if arguments.json:
        print(json.dumps(facts, indent=2))
        return 0
    paper = Paper()
    more = ", ..." if facts["elements"] > FIRST_VALUES else ""
    shown = facts | {
        "bytes": format_size(facts["bytes"]),
        "alignment": f"{facts['alignment']} bytes",
        "strides": f"{facts['strides']} elements",
        "mapped": "read-only, nothing copied" if facts["mapped"] else "no, it has no elements",
        "first_values": "[" + ", ".join(facts["first_values"]) + more + "]",
    }
    print(paper.strong(shown.pop("file")))
    for name, value in shown.items():
        print(f"    {name.replace('_', ' '):<13} {value}")
    return 0


def facts_of(path):
    """Return what a person and a machine want to know of a file."""
    tensor = load_npy(path)
    address = tensor.data_ptr()
    return {
        "file": str(path),
        "shape": tensor.shape,
        "dtype": str(tensor.dtype),
        "strides": tensor.stride(),
        "order": "row-major" if tensor.is_contiguous() else "column-major",
        "elements": tensor.numel(),
        "bytes": tensor.nbytes,
        "alignment": min(address & -address, 4096),
        "mapped": tensor.numel() != 0 and tensor.readonly,
        "first_values": [str(value) for value in first_values(tensor).tolist()],
    }


def first_values(tensor):
    """Return the first elements, in row-major order; of a tensor in another order those of its first row only."""
    if tensor.is_contiguous():
        return tensor.reshape(-1)[:FIRST_VALUES]
    row = tensor
    while row.ndim > 1:
        row = row[0]
    return row[:FIRST_VALUES]
