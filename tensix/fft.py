"""The array API standard's Fourier transforms, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tensix._support.loaded_later import loaded_later
from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function, operator
from tensix.functions.creation import options_of
from tensix.tensors.layout import Layout
from tensix.tensors.names_elsewhere import advice

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__, __dir__ = loaded_later(__name__, {}, advice)

_Norm = Literal["backward", "ortho", "forward"]
_Axes = int | Sequence[int] | None


@operator(native_functions.FFT, method=False)
def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the discrete Fourier transform along a dimension.

    Parameters
    ----------
    x : Tensor
        Of a floating type.
    n : int, optional
        How many elements to transform: the first so many, or zeros behind them. All if not given.
    axis : int, optional
        The dimension.
    norm : str, optional
        Where to divide by the number of elements: ``"backward"`` in the inverse, ``"forward"`` here, ``"ortho"`` in
        both by its root.

    Returns
    -------
    Tensor
        Of complex64 or complex128, by the precision of `x`.

    Raises
    ------
    ValueError
        If `n` is less than 1, or `norm` is none of those.
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> tensix.fft.fft(tensix.ones(4))
    tensor([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=tensix.complex64)
    """


@operator(native_functions.IFFT, method=False)
def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of `fft`; parameters as for `fft`.

    Examples
    --------
    >>> tensix.fft.ifft(tensix.fft.fft(tensix.ones(2)))
    tensor([1.+0.j, 1.+0.j], dtype=tensix.complex64)
    """


@operator(native_functions.RFFT, method=False)
def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the first half of the `fft` of real numbers; the other half mirrors it; parameters as for `fft`.

    Examples
    --------
    >>> tensix.fft.rfft(tensix.ones(4))
    tensor([4.+0.j, 0.+0.j, 0.+0.j], dtype=tensix.complex64)
    """


@operator(native_functions.IRFFT, method=False)
def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of `rfft`: so many real numbers; parameters as for `fft`.

    Examples
    --------
    >>> tensix.fft.irfft(tensix.fft.rfft(tensix.ones(4)))
    tensor([1., 1., 1., 1.])
    """


@operator(native_functions.HFFT, method=False)
def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the `fft`, real, of numbers that mirror each other, given as their first half; parameters as for `fft`.

    Examples
    --------
    >>> tensix.fft.hfft(tensix.ones(3, dtype=tensix.complex64))
    tensor([4., 0., 0., 0.])
    """


@operator(native_functions.IHFFT, method=False)
def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward") -> Tensor:
    """Return the inverse of `hfft`; parameters as for `fft`.

    Examples
    --------
    >>> tensix.fft.ihfft(tensix.ones(4))
    tensor([1.-0.j, 0.-0.j, 0.-0.j], dtype=tensix.complex64)
    """


@operator(native_functions.FFTN, method=False)
def fftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the Fourier transform along several dimensions.

    Parameters
    ----------
    x : Tensor
        Of a floating type.
    s : sequence of int, optional
        How many elements of each dimension to transform, as `n` of `fft`.
    axes : sequence of int, optional
        The dimensions; all if not given, or the last ones, one for each number in `s`.
    norm : str, optional
        Where to divide, as in `fft`.

    Examples
    --------
    >>> tensix.fft.fftn(tensix.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=tensix.complex64)
    """


@operator(native_functions.IFFTN, method=False)
def ifftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the inverse of `fftn`; parameters as for `fftn`.

    Examples
    --------
    >>> tensix.fft.ifftn(tensix.ones(2, 2)).shape
    (2, 2)
    """


@operator(native_functions.RFFTN, method=False)
def rfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the `fftn` of real numbers: the first half along the last of the dimensions; parameters as for `fftn`.

    Examples
    --------
    >>> tensix.fft.rfftn(tensix.ones(2, 2)).shape
    (2, 2)
    """


@operator(native_functions.IRFFTN, method=False)
def irfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: _Norm = "backward"
) -> Tensor:
    """Return the inverse of `rfftn`: real numbers; parameters as for `fftn`.

    Examples
    --------
    >>> tensix.fft.irfftn(tensix.ones(2, 2)).shape
    (2, 2)
    """


@operator(native_functions.FFTSHIFT, method=False)
def fftshift(x: Tensor, /, *, axes: _Axes = None) -> Tensor:
    """Return the elements with the zero frequency moved from the front to the middle, in all dimensions or some.

    Examples
    --------
    >>> tensix.fft.fftshift(tensix.arange(5))
    tensor([3, 4, 0, 1, 2])
    """


@operator(native_functions.IFFTSHIFT, method=False)
def ifftshift(x: Tensor, /, *, axes: _Axes = None) -> Tensor:
    """Return the elements with the zero frequency moved from the middle to the front, in all dimensions or some.

    Examples
    --------
    >>> tensix.fft.ifftshift(tensix.arange(5))
    tensor([2, 3, 4, 0, 1])
    """


@function
def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | Device | None = None, layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return the frequencies that the elements of an `fft` belong to.

    Parameters
    ----------
    n : int
        How many elements were transformed.
    d : float, optional
        The distance between two of them.
    dtype : DType, optional
        The element type; float32 if not given.
    device, layout, pin_memory : optional
        As for `tensix.empty`.

    Raises
    ------
    ValueError
        If `n` is less than 1.

    Examples
    --------
    >>> tensix.fft.fftfreq(4)
    tensor([ 0.00,  0.25, -0.50, -0.25])
    """
    return native_functions.FFTFREQ(n, d, **options_of(dtype, device, layout, pin_memory))


@function
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: str | Device | None = None, layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return the frequencies that the elements of an `rfft` belong to; parameters as for `fftfreq`.

    Examples
    --------
    >>> tensix.fft.rfftfreq(4)
    tensor([0.00, 0.25, 0.50])
    """
    return native_functions.RFFTFREQ(n, d, **options_of(dtype, device, layout, pin_memory))
