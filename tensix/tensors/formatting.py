"""Tensors as text, in the form that PyTorch users know, by NumPy's formatter."""

import numpy as np

__all__ = []

UNNAMED_DTYPES = ("float32", "int64", "bool")  # what the numbers' own form tells


def format_tensor(array, dtype, readonly):
    """Return the text of a tensor.

    Parameters
    ----------
    array : numpy.ndarray
        Its elements.
    dtype : DType
        Named in the text unless the numbers tell it.
    readonly : bool
        Whether to say that it cannot be written.
    """
    if array.size == 0:
        elements = f"[], shape={array.shape}" if array.ndim != 1 else "[]"
    else:
        elements = np.array2string(
            array, separator=", ", prefix="tensor(", precision=4, floatmode="maxprec_equal", threshold=1000
        )
    facts = [elements]
    if dtype.name not in UNNAMED_DTYPES:
        facts.append(f"dtype={dtype!r}")
    if readonly:
        facts.append("readonly=True")
    return f"tensor({', '.join(facts)})"
