"""Tensors in other hands: what the protocols of a tensor call, and what makes tensors of others' memory.

Nothing is imported here: each part is for one protocol, copies and NumPy's functions are loaded when first asked for.
"""

from tensix._support.loaded_later import loaded_later

__all__ = []

LOADED_LATER = {
    "copy_of": "copying",
    "deep_copy_of": "copying",
    "table_of_tensor": "table",
    **dict.fromkeys(("ArrayInterface", "call_function", "call_ufunc"), "numpy_functions"),
}
__getattr__, __dir__ = loaded_later(__name__, LOADED_LATER)
