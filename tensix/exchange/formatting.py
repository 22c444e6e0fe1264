"""Tensors as text, in the form that PyTorch users know, by NumPy's formatter.

Note [How a tensor is printed]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
NumPy's print options apply (``numpy.set_printoptions``: threshold, edgeitems, linewidth, suppress, ...), except the
precision: four digits after the point, or what `set_precision` was given, as many in every number. Of a tensor beyond
the threshold only the edges are read. After the elements stands what they do not tell: the device unless it is the CPU,
the shape if elements are left out, the element type unless it is float32 or the numbers show that it is int64 or bool,
and whether it can be written.
"""

import numpy as np

from tensix.exchange.ndarray import printable

PREFIX = "tensor("
NEW_LINE = "\n" + " " * len(PREFIX)
TOLD_BY_NUMBERS = ("float32", "int64", "bool")
options = {"precision": 4, "floatmode": "maxprec_equal"}


def format_tensor(tensor):
    """Return the text of a tensor. See Note [How a tensor is printed].

    Parameters
    ----------
    tensor : Tensor
        Of any layout on any device, but defined.
    """
    if tensor.is_sparse:
        return format_sparse(tensor)
    facts = []
    if tensor.device.type != "cpu":
        facts.append(f"device='{tensor.device}'")
    is_meta = tensor.device.type == "meta"
    if is_meta:
        elements = "..."
    elif tensor.size == 0:
        elements = "[]"
    else:
        elements = format_elements(tensor, PREFIX)
    if is_meta or is_cut(tensor) or (tensor.size == 0 and tensor.ndim != 1):
        facts.append(f"shape={tensor.shape}")
    facts += type_facts(tensor, is_meta or tensor.size == 0)
    if tensor.readonly:
        facts.append("readonly=True")
    return join(elements, facts)


def set_precision(digits):
    """Print so many digits after the point, from now on."""
    if digits < 0:
        raise ValueError(f"a precision is 0 or more, found {digits}.")
    options["precision"] = digits


def format_sparse(tensor):
    """Return the text of a sparse tensor, a line for the indices and one for the values."""
    lines = []
    for name, part in (("indices", tensor.indices()), ("values", tensor.values())):
        prefix = f"{PREFIX}{name}="
        elements = format_elements(part, prefix) if part.size else f"[], shape={part.shape}"
        lines.append(f"{name}={elements}")
    facts = [f"shape={tensor.shape}", f"nnz={tensor.nnz}", *type_facts(tensor, tensor.nnz == 0)]
    lines.append(", ".join([*facts, f"layout={tensor.layout!r}"]))
    return PREFIX + f",{NEW_LINE}".join(lines) + ")"


def format_elements(tensor, prefix):
    """Return nested brackets with the elements, whose lines are indented by the length of `prefix`."""
    return np.array2string(
        printable(tensor), separator=", ", prefix=prefix, suffix=")",
        threshold=0 if is_cut(tensor) else tensor.size, **options,
    )  # fmt: skip


def is_cut(tensor):
    """Return whether elements are left out of the text."""
    return tensor.size > np.get_printoptions()["threshold"]


def type_facts(tensor, has_no_numbers):
    """Return what is to be said of the element type."""
    told = TOLD_BY_NUMBERS[:1] if has_no_numbers else TOLD_BY_NUMBERS
    return [] if tensor.dtype.name in told else [f"dtype={tensor.dtype!r}"]


def join(elements, facts):
    """Return elements and facts in parentheses; the facts go on a line of their own where the last one is full."""
    text = PREFIX + elements
    if not facts:
        return text + ")"
    tail = ", ".join(facts) + ")"
    last_line = text.rpartition("\n")[2]
    is_full = len(last_line) + len(", ") + len(tail) > np.get_printoptions()["linewidth"]
    return f"{text},{NEW_LINE if is_full else ' '}{tail}"
