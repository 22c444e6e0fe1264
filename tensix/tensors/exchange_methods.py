"""The protocols by which other libraries take tensors: NumPy's, DLPack, and the array API's namespace."""

import sys

import cython
import numpy as np
from cython.cimports.cpython.buffer import Py_buffer
from cython.cimports.tensix.core.device import CPU
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.buffer import buffer_format, fill_buffer, release_buffer
from cython.cimports.tensix.tensors.conversion_methods import ConversionMethods
from cython.cimports.tensix.tensors.dlpack import exchange_api_capsule
from cython.cimports.tensix.tensors.dlpack_export import dlpack_capsule, quicken_dlpack_method
from cython.cimports.tensix.tensors.ndarray import exported_ndarray_of_impl
from cython.cimports.tensix.tensors.pickling import reduce_tensor
from cython.cimports.tensix.tensors.tensor_base import TensorBase

from tensix.dispatch import native_functions

__all__ = []

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

CLONE = cython.declare(OperatorTable, native_functions.CLONE)


@cython.no_gc  # as its base
@cython.cclass
class ExchangeMethods(ConversionMethods):
    """Give a tensor the protocols of other libraries."""

    __dlpack_c_exchange_api__ = exchange_api_capsule()

    def __getbuffer__(self, buffer: cython.pointer(Py_buffer), flags: cython.int):
        fill_buffer(self.impl, buffer, flags)
        buffer.obj = self

    def __releasebuffer__(self, buffer: cython.pointer(Py_buffer)):
        release_buffer(buffer)

    def __reduce_ex__(self, protocol):
        return reduce_tensor(self)

    def __array__(self, dtype=None, copy=None):
        """Be an array for NumPy: a view on the same memory, unless it needs another type or asks for a copy."""
        return np.array(exported_ndarray_of_impl(self.impl), dtype, copy=copy)

    @property
    def __array_interface__(self):
        """The address, shape and type by which NumPy and others look at the memory of objects.

        Notes
        -----
        Lifetime: whoever uses the address keeps the tensor. As nobody says when that ends, the memory counts as handed
        out for good: it cannot be resized, and `lazy_clone` copies at once.
        """
        impl = self.impl
        if impl.storage is None or impl.device_type != CPU or buffer_format(impl.dtype_code) is None:
            raise AttributeError(f"a tensor of {self.dtype} on {self.device} has no __array_interface__.")
        address = self.data_ptr() if self.readonly else self.mutable_data_ptr()  # may run Python code
        impl.storage.is_given_away = True
        itemsize = self.itemsize
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.numpy.str,
            "data": (address, self.readonly),
            "strides": tuple([step * itemsize for step in self.stride()]),
        }

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
        Lifetime: the capsule keeps the memory alive. A write to one is seen in the other.
        """
        if stream is not None:
            raise ValueError(f"the CPU has no streams: __dlpack__() takes stream=None, found {stream!r}.")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"__dlpack__() exports from {self.device} to the CPU only, found dl_device={dl_device}.")
        source: TensorBase = CLONE.call1(self) if copy else self
        is_versioned = max_version is not None and tuple(max_version) >= (1, 0)
        return dlpack_capsule(source.impl, is_versioned, bool(copy))


quicken_dlpack_method(ExchangeMethods)
