"""The array API standard's chapter on inspection: what this namespace can do."""

from typing import Any

from tensix.core import Device
from tensix.functions.data_types import isdtype
from tensix.tensors import dtype as element_types
from tensix.tensors.dtype import DType

__all__ = ["__array_namespace_info__"]

# The element types that the standard knows; tensix has float16 and bfloat16 besides.
STANDARD_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip


def __array_namespace_info__() -> "ArrayNamespaceInfo":  # noqa: N807
    """Return an object that tells what tensix can do, by the array API standard.

    Examples
    --------
    >>> tensix.__array_namespace_info__().default_dtypes()["real floating"]
    tensix.float32
    """
    return ArrayNamespaceInfo()


class ArrayNamespaceInfo:
    """Tell what tensix can do."""

    def capabilities(self) -> dict[str, Any]:
        """Return whether masks may be indices, whether shapes may depend on values, and how many dimensions there are.

        Examples
        --------
        >>> tensix.__array_namespace_info__().capabilities()
        {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 64}
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device of tensors that are made without naming one."""
        return Device("cpu")

    def devices(self) -> tuple[Device, ...]:
        """Return the devices that have elements and all functions; ``meta`` has not, those from outside need not."""
        return (Device("cpu"),)

    def default_dtypes(self, *, device: str | Device | None = None) -> dict[str, DType]:
        """Return the element types of what is made without naming one; they are the same on every device."""
        if device is not None:
            Device(device)
        return {
            "real floating": element_types.float32, "complex floating": element_types.complex64,
            "integral": element_types.int64, "indexing": element_types.int64,
        }

    def dtypes(
        self, *, device: str | Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the standard's element types by their names.

        Parameters
        ----------
        device : str or Device, optional
            They are the same on every device.
        kind : str or tuple of str, optional
            Only those of a kind, as in `isdtype`.

        Examples
        --------
        >>> tensix.__array_namespace_info__().dtypes(kind="real floating")
        {'float32': tensix.float32, 'float64': tensix.float64}
        """
        if device is not None:
            Device(device)
        found = {name: getattr(element_types, name) for name in STANDARD_DTYPES}
        return found if kind is None else {name: dtype for name, dtype in found.items() if isdtype(dtype, kind)}
