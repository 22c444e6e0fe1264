"""The methods that turn tensors into numbers and text."""

import cython
from cython.cimports.tensix.core.device import CPU, META
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import dtype_of_code, refuse_undefined
from cython.cimports.tensix.tensors.ndarray import printable_of_impl, readable_of_impl
from cython.cimports.tensix.tensors.sparse_methods import SparseMethods
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_sizes

from tensix.dispatch import native_functions
from tensix.tensors.formatting import format_tensor

__all__ = []

TO_COPY = cython.declare(OperatorTable, native_functions.TO_COPY)


@cython.no_gc  # as its base
@cython.cclass
class ConversionMethods(SparseMethods):
    """Give a tensor its conversions."""

    def tolist(self):
        """Return the elements as nested lists of Python numbers."""
        source = on_cpu(self)
        return readable_of_impl(source.impl).tolist()

    def item(self):
        """Return the only element as a Python number.

        Raises
        ------
        RuntimeError
            If the tensor is undefined.
        ValueError
            If there is not exactly one.
        """
        if self.impl.numel != 1:
            if self.impl is UNDEFINED:
                refuse_undefined()
            raise ValueError(f"only a tensor with one element is a number, this one has {self.impl.numel}.")
        source = on_cpu(self)
        return readable_of_impl(source.impl).item()

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __int__(self):
        return int(self.item())

    def __index__(self):
        if self.impl.ndim != 0 or "integer" not in dtype_of_code(self.impl.dtype_code).kind:
            raise TypeError(
                "only a tensor without dimensions and of an integer type stands for an integer, this one has "
                f"{self.impl.ndim} dimensions and the type {dtype_of_code(self.impl.dtype_code)}."
            )
        return self.item()

    def __bool__(self):
        return bool(self.item())

    def __len__(self):
        if self.impl.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return TensorImpl_sizes(self.impl)[0]

    def __iter__(self):
        if self.impl.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        if self.impl is UNDEFINED:
            return "Tensor(undefined)"
        return format_tensor(self, printable)

    def __format__(self, spec: str):
        """Format the only element of a tensor without dimensions like the number it is."""
        if self.impl.ndim == 0 and self.impl.device_type != META:
            return format(self.item(), spec)
        if spec:
            raise TypeError(
                f"a format such as {spec!r} needs a tensor without dimensions that has memory, found shape "
                f"{self.shape} on {self.device}."
            )
        return str(self)


@cython.cfunc
def on_cpu(tensor: TensorBase) -> TensorBase:
    """Return the tensor on the CPU, itself if it is there. Hold it in a variable: it may be its body's only owner."""
    return tensor if tensor.impl.device_type == CPU else TO_COPY.call((tensor,), {"device": "cpu"}, tensor.impl.key_set)


def printable(tensor: TensorBase):
    """Return a tensor's elements for printing, as an array."""
    source = on_cpu(tensor)
    return printable_of_impl(source.impl)
