"""``python -m tensix inspect``: say what is in a file, without reading more than is shown."""

import json
import math
import os

from tensix.command_line.terminal import Terminal, printable
from tensix.core import format_size
from tensix.files.formats import load

__all__ = ["fill"]

FIRST_VALUES = 6


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.description = "Map a .npy, .npz or .safetensors file, without copying it, and describe its contents."
    parser.add_argument("files", nargs="+", metavar="file", help="path of a file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def run(arguments):
    """Print the facts of each file; as JSON an object if there is one file, and a list of them if there are more."""
    every = [facts_of(path) for path in arguments.files]
    if arguments.json:
        print(json.dumps(every if len(every) > 1 else every[0], indent=2))
        return 0
    for number, facts in enumerate(every):
        if number:
            print()
        (print_file if "tensors" in facts else print_tensor)(Terminal(), facts)
    return 0


def facts_of(path):
    """Return what is in a file."""
    loaded = load(path)
    facts = {"file": path, "format": os.path.splitext(path)[1][1:].lower()}
    return facts | (facts_of_file(loaded) if isinstance(loaded, dict) else facts_of_tensor(loaded))


# ---- one tensor


def facts_of_tensor(tensor):
    """Return what a person and a machine want to know of a tensor."""
    address = tensor.data_ptr()
    return {
        "shape": tensor.shape,
        "dtype": str(tensor.dtype),
        "strides": tensor.stride(),
        "order": "row-major" if tensor.is_contiguous() else "column-major",
        "elements": tensor.numel(),
        "bytes": tensor.nbytes,
        "alignment": min(address & -address, 4096),
        "mapped": tensor.numel() != 0 and tensor.allocator is None,
        "first_values": [  # complex numbers, infinities and what is not a number are texts in JSON
            value if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)) else str(value)
            for value in first_values(tensor).tolist()
        ],
    }


def first_values(tensor):
    """Return the first elements, in row-major order; of a tensor in another order those of its first row only."""
    if tensor.is_contiguous():
        return tensor.reshape(-1)[:FIRST_VALUES]
    row = tensor
    while row.ndim > 1:
        row = row[0]
    return row[:FIRST_VALUES]


def print_tensor(terminal, facts):
    more = ", ..." if facts["elements"] > FIRST_VALUES else ""
    copied = "no, its bytes are in the other order or not aligned" if facts["elements"] else "no, it has no elements"
    print_facts(terminal, facts | {
        "bytes": format_size(facts["bytes"]),
        "alignment": f"{facts['alignment']} bytes",
        "strides": f"{facts['strides']} elements",
        "mapped": "read-only, nothing copied" if facts["mapped"] else copied,
        "first_values": "[" + ", ".join(map(str, facts["first_values"])) + more + "]",
    })  # fmt: skip


def print_facts(terminal, facts):
    print(terminal.strong(facts["file"]))
    for name, value in facts.items():
        if name != "file":
            print(f"    {name.replace('_', ' '):<13} {value}")


# ---- several tensors


def facts_of_file(file):
    """Return what a person and a machine want to know of a dict of tensors, none of which is read."""
    tensors = [facts_of_entry(file, name) for name in file]
    return {
        "bytes": sum(one.get("bytes", 0) for one in tensors),
        "metadata": file.metadata,
        "tensors": tensors,
    }


def facts_of_entry(file, name):
    """Return what the file says of a tensor; what is wrong with one must not hide the others."""
    try:
        entry, obstacle = file.entry(name)
    except (TypeError, ValueError) as error:
        return {"name": name, "error": str(error)}
    return {
        "name": name,
        "shape": entry.shape,
        "dtype": str(entry.dtype or entry.type_name),
        "bytes": entry.nbytes,
        "mapped": obstacle is None,
        "how": obstacle or "mapped",
    }


def print_file(terminal, facts):
    said = {printable(name): printable(text) for name, text in facts["metadata"].items()}
    tensors = facts["tensors"]
    print_facts(terminal, {
        "file": facts["file"],
        "format": facts["format"],
        "tensors": len(tensors),
        "bytes": format_size(facts["bytes"]),
        "metadata": ", ".join(f"{name}: {text}" for name, text in said.items()) or "none",
    })  # fmt: skip
    print()
    rows = [row_of(one) for one in tensors]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        print("    " + "  ".join([*cells, row[4]]).rstrip())


def row_of(one):
    """Return the cells of a tensor's row."""
    name = printable(one["name"])
    if "error" in one:
        return name, "", "", "", printable(one["error"])
    return name, one["dtype"], str(one["shape"]), format_size(one["bytes"]), one["how"]
