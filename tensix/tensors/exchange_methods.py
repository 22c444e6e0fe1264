"""The protocols by which other libraries take tensors: NumPy's, DLPack, and the array API's namespace."""

import sys

import cython
import numpy as np
from cython.cimports.tensix.core.device import CPU
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.conversion_methods import ConversionMethods
from cython.cimports.tensix.tensors.ndarray import ndarray_of_impl
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.dispatch import native_functions

__all__ = []

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

CLONE = cython.declare(OperatorTable, native_functions.CLONE)


@cython.no_gc  # as its base
@cython.cclass
class ExchangeMethods(ConversionMethods):
    """Give a tensor the protocols of other libraries."""

    def __array__(self, dtype=None, copy=None):
        """Be an array for NumPy: a view on the same memory, unless it needs another type or asks for a copy."""
        array = ndarray_of_impl(self.impl, not self.readonly)
        self.impl.storage.is_exported = True  # whoever holds the array may write behind our back
        return np.array(array, dtype, copy=copy)

    def __array_namespace__(self, /, *, api_version=None):
        """Return tensix, the namespace of functions that take this tensor, by the array API standard.

        Raises
        ------
        ValueError
            If another version of the standard is asked for than tensix follows.
        """
        if api_version not in (None, *API_VERSIONS):
            raise ValueError(f"tensix follows the array API standard's versions {API_VERSIONS}, found {api_version!r}.")
        return sys.modules[__name__.partition(".")[0]]

    def __dlpack_device__(self):
        """Return the kind and the number of the device, in DLPack's numbers."""
        if self.impl.device_type != CPU:
            raise BufferError(f"DLPack knows no device {self.device}: copy the tensor to the CPU with cpu().")
        return 1, 0

    def __dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Return a DLPack capsule of the elements.

        Parameters
        ----------
        stream : None, optional
            The CPU has no streams.
        max_version : tuple of int, optional
            What the caller understands; before (1, 0) nobody can be told that memory is read-only.
        dl_device : tuple of int, optional
            Where the caller wants the elements: ``(1, 0)``, the CPU.
        copy : bool, optional
            True: always copy; otherwise memory is shared.

        Raises
        ------
        BufferError
            If the tensor is not on the CPU, or is read-only and the caller cannot be told so.

        Notes
        -----
        Lifetime: the capsule keeps the storage alive. A write to one is seen in the other.
        """
        if stream is not None:
            raise ValueError(f"__dlpack__() knows no streams, found stream={stream!r}.")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"__dlpack__() exports from {self.device} to the CPU only, found dl_device={dl_device}.")
        source: TensorBase = CLONE.call1(self) if copy else self
        array = ndarray_of_impl(source.impl, not source.readonly)
        source.impl.storage.is_exported = True  # whoever takes the capsule may write behind our back
        return array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)
