"""Fourier transforms, by NumPy, which loads its own when they are first asked for; so these kernels ask late."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.axes import as_tuple, wrapped_axes
from tensix.kernels.creation import numbers_of_numpy
from tensix.kernels.empty import StridedKernel
from tensix.kernels.numpy_kernel import NumpyKernel
from tensix.tensors.dtype import float32


def register_transform(table, name):
    """Enter NumPy's transform of a name, whose parameters are the operator's."""

    def transform(self, size, axes, norm):
        if axes is not None:
            wrapped_axes(as_tuple(axes), self.ndim)
        return getattr(np.fft, name)(self, size, axes, norm)

    transform.__qualname__ = name
    table.register("CPU", NumpyKernel(transform, floats=True, widens=True))


def register_shift(table, name):
    """Enter NumPy's shift of a name."""

    def shift(self, axes):
        return getattr(np.fft, name)(self, axes)

    shift.__qualname__ = name
    table.register("CPU", NumpyKernel(shift, moves=True))


def register_frequencies(table, name):
    """Enter a kernel that makes frequencies on any device."""

    def frequencies(n, d, *, dtype, device):
        if n < 1:
            raise ValueError(f"{name}() needs 1 element or more, found {n}.")
        count = n if name == "fftfreq" else n // 2 + 1
        return numbers_of_numpy(count, dtype or float32, device, getattr(np.fft, name), n, d)

    frequencies.__qualname__ = name
    table.register("CompositeExplicitAutograd", StridedKernel(frequencies, table.schema))


for _name in ("fft", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn"):
    register_transform(getattr(native_functions, _name.upper()), _name)
for _name in ("fftshift", "ifftshift"):
    register_shift(getattr(native_functions, _name.upper()), _name)
for _name in ("fftfreq", "rfftfreq"):
    register_frequencies(getattr(native_functions, _name.upper()), _name)
