"""Fourier transforms, by NumPy, which loads its own when they are first asked for; so these kernels ask late."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.axes import as_tuple, wrapped_axes
from tensix.loops.numpy_kernel import NumpyKernel


def register_transform(name):
    """Register NumPy's transform of a name, whose parameters are the operator's."""

    def transform(self, size, axes, norm):
        if axes is None and size is not None:
            axes = tuple(range(-len(size), 0))
        if axes is not None and (type(axes) is not int or not -self.ndim <= axes < self.ndim):
            wrapped_axes(as_tuple(axes), self.ndim)
        return getattr(np.fft, name)(self, size, axes, norm)

    transform.__qualname__ = name
    getattr(native_functions, name.upper()).register("CPU", NumpyKernel(transform, floats=True, widens=True))


def register_shift(table, name, sign):
    """Enter a kernel that rolls by half of each dimension."""

    def shift(self, axes=None):
        places = range(self.ndim) if axes is None else as_tuple(axes)  # a place may be named twice, as NumPy has it
        places = tuple(wrapped_axes((place,), self.ndim)[0] for place in places)
        return native_functions.ROLL(self, tuple(self.shape[place] // 2 * sign for place in places), places)

    shift.__qualname__ = name
    table.register("CPU", shift)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn"):
    register_transform(_name)
register_shift(native_functions.FFTSHIFT, "fftshift", 1)
register_shift(native_functions.IFFTSHIFT, "ifftshift", -1)
