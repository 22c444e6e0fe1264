"""Inner loops that run in the place of NumPy's: faster ones, and ones that correct its results.

The faster ones are those of tensix/loops/elementwise.h, among them vector functions of the C library (Note [Vector
mathematics] in vector_math.h), and for `positive` and `conj` of real numbers a copy. The others are written here, where
NumPy is wrong or the array API standard wants other results. One of them checks the operands first. Runs of ordinary
ones go to NumPy's loop, which it finds behind its `loop_data`; the rest is computed here. An operand is read before the
result is written at its place, so the result may overlap it, as with NumPy's loops.

- `floor_divide`: infinite operands give what the quotient gives, not a number in two cases more than in the standard;
  faster loops do so, that of float32 for float16 too.
- complex `expm1`: NumPy leaves infinite parts to the C library, which forms products of infinity and zero.
- complex `tanh` of infinite real parts: the sign of a vanishing imaginary part.
- complex `sign` of zeros: positive zeros.
- `nextafter` of bfloat16 has no loop of NumPy at all, and its neighbours are not those of float32.
- `isnan`, `isinf`, `isfinite`, `signbit` and `neg`: where results do not lie side by side, vectorised loops of
  NumPy 2.4 put or find values in wrong places, for truths always, for `neg` if operands of four bytes lie 16
  bytes apart, or of eight 64.
"""
from libc.math cimport INFINITY, NAN, copysign, cos, isfinite, isinf, isnan, sin
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport npy_intp
from tensix.loops.conversion cimport copy_loop
from tensix.tensors.dtype cimport dtype_of_code, itemsize_of

import os

cimport cython
import numpy as np

__all__ = ["get_math", "set_math"]

cdef extern from *:
    """
    #include "tensix/loops/elementwise.h"
    #ifdef TX_VECTOR_MATH
    #define TX_HAS_VECTOR_MATH 1
    #else
    #define TX_HAS_VECTOR_MATH 0
    #endif
    """
    const inner_loop_t* tx_elementwise_loops(const char* name, int* is_math)
    int tx_math
    bint TX_HAS_VECTOR_MATH

cdef tuple MATH = ("default", "exact", "fast")  # in the order of the numbers in vector_math.h


@cython.binding(True)
class set_math:
    """Choose how mathematical functions such as `exp` and `atan2` are computed, for float16 to float64.

    It has an effect at once; used in a ``with`` statement, the choice before is restored at the end. It is of the
    process: all threads follow. At the start it is the environment variable ``TENSIX_MATH``, or ``"default"``.

    Parameters
    ----------
    mode : str
        ``"default"``: NumPy's loops where they use vectors on this processor; where NumPy calls a function for each
        element, vector functions of the C library, within 1 unit in the last place for float32 and 4 for float64.
        ``"exact"``: NumPy's loops, and NumPy's bits. ``"fast"``: the vector functions of each type, within 4 units.
        Without them, as on macOS, Windows, ARM64 and with other C libraries than glibc 2.35 and newer, all modes are
        NumPy's loops.

    Raises
    ------
    ValueError
        If there is no such mode.

    Examples
    --------
    >>> with tensix.set_math("exact"):
    ...     print(tensix.get_math(), tensix.exp(tensix.zeros(2)))
    exact tensor([1., 1.])
    >>> tensix.get_math()
    'default'
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, mode, /):
        global tx_math
        if not isinstance(mode, str) or mode not in MATH:
            raise ValueError(f"set_math() takes 'default', 'exact' or 'fast', found {mode!r}.")
        self._before = tx_math
        tx_math = MATH.index(mode)

    def __enter__(self):
        return None

    def __exit__(self, *exc_info):
        global tx_math
        tx_math = self._before


def get_math():
    """Return how mathematical functions are computed: ``"default"``, ``"exact"`` or ``"fast"``."""
    return MATH[tx_math]


def math_in_use():
    """Return in words whose loops compute mathematical functions."""
    if not TX_HAS_VECTOR_MATH or get_math() == "exact":
        return "NumPy's loops"
    return "vector functions of the C library" + (" and NumPy's loops" if get_math() == "default" else "")


def initial_math():
    """Return what the environment says."""
    given = os.environ.get("TENSIX_MATH") or "default"
    if given not in MATH:
        raise ValueError(f"the environment variable TENSIX_MATH must be 'default', 'exact' or 'fast', found {given!r}.")
    return given


set_math(initial_math())

ctypedef fused real_t:
    float
    double


cdef void run_original(
        original_loop_t* original, int operands, char** data, const npy_intp* steps, npy_intp start,
        npy_intp stop) noexcept nogil:
    """Run NumPy's loop over a stretch."""
    cdef char* stretch[3]
    cdef npy_intp count = stop - start
    cdef int k
    if count > 0:
        for k in range(operands):
            stretch[k] = data[k] + start * steps[k]
        original.function(stretch, &count, steps, original.data)


cdef bint expm1_part(double a, double b, double* real, double* imag) noexcept nogil:
    """Fill in ``expm1(a + bj)`` if it is a case of its own, and return whether it is."""
    if isfinite(a) and isfinite(b):
        if a != 0 or b != 0:
            return False
        real[0], imag[0] = 0, b
    elif isinf(a) and a < 0:
        real[0], imag[0] = -1, 0 * sin(b) if isfinite(b) else 0
    elif isinf(a):
        real[0] = INFINITY * cos(b) if isfinite(b) and b != 0 else a
        imag[0] = b if b == 0 else INFINITY * sin(b) if isfinite(b) else NAN
    else:  # the real part is not a number, or the imaginary one no finite one
        real[0], imag[0] = NAN, b if isnan(a) and b == 0 else NAN
    return True


cdef bint tanh_part(double a, double b, double* real, double* imag) noexcept nogil:
    if not isinf(a):
        return False
    real[0], imag[0] = copysign(1, a), copysign(0, b)
    return True


cdef bint sign_part(double a, double b, double* real, double* imag) noexcept nogil:
    if a != 0 or b != 0:
        return False
    real[0] = imag[0] = 0
    return True


ctypedef bint (*part_t)(double a, double b, double* real, double* imag) noexcept nogil


cdef void complex_items(
        real_t** data, const npy_intp* count, const npy_intp* steps, original_loop_t* original,
        part_t part) noexcept nogil:
    cdef npy_intp i, start = 0
    cdef real_t* x
    cdef double real, imag
    for i in range(count[0]):
        x = <real_t*>(<char*>data[0] + i * steps[0])
        if part(x[0], x[1], &real, &imag):
            run_original(original, 2, <char**>data, steps, start, i)
            x = <real_t*>(<char*>data[1] + i * steps[1])
            x[0], x[1] = <real_t>real, <real_t>imag
            start = i + 1
    run_original(original, 2, <char**>data, steps, start, count[0])

cdef void expm1(real_t** data, const npy_intp* count, const npy_intp* steps, void* original) noexcept nogil:
    complex_items(data, count, steps, <original_loop_t*>original, expm1_part)

cdef void tanh(real_t** data, const npy_intp* count, const npy_intp* steps, void* original) noexcept nogil:
    complex_items(data, count, steps, <original_loop_t*>original, tanh_part)

cdef void sign(real_t** data, const npy_intp* count, const npy_intp* steps, void* original) noexcept nogil:
    complex_items(data, count, steps, <original_loop_t*>original, sign_part)


cdef inline float widened(uint16_t bits) noexcept nogil:
    cdef uint32_t wide = <uint32_t>bits << 16
    cdef float value
    memcpy(&value, &wide, 4)
    return value

cdef void nextafter_bfloat16(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    """Step on the bits: their order is that of the values, away from zero."""
    cdef npy_intp i
    cdef uint16_t from_bits, to_bits
    cdef float x, y
    for i in range(count[0]):
        from_bits = (<uint16_t*>(data[0] + i * steps[0]))[0]
        to_bits = (<uint16_t*>(data[1] + i * steps[1]))[0]
        x, y = widened(from_bits), widened(to_bits)
        if isnan(x) or isnan(y):
            to_bits = 0x7FC0
        elif x == 0 and y != 0:
            to_bits = (to_bits & 0x8000) | 1
        elif x != y:
            to_bits = from_bits + 1 if (x < y) == (x > 0) else from_bits - 1
        (<uint16_t*>(data[2] + i * steps[2]))[0] = to_bits


cdef enum:
    BLOCK = 512

ctypedef fused result_t:
    uint8_t
    uint32_t
    uint64_t


cdef void scatter(result_t** data, const npy_intp* count, const npy_intp* steps, void* loop) noexcept nogil:
    """Let NumPy's loop write its results side by side, and put them in their places."""
    cdef original_loop_t* original = <original_loop_t*>loop
    cdef result_t results[BLOCK]
    cdef char* block[2]
    cdef npy_intp[2] block_steps = [steps[0], sizeof(result_t)]
    cdef npy_intp i, size, done = 0
    if steps[1] == sizeof(result_t):
        original.function(<char**>data, count, steps, original.data)
        return
    while done < count[0]:
        size = min(count[0] - done, <npy_intp>BLOCK)
        block[0], block[1] = <char*>data[0] + done * steps[0], <char*>results
        original.function(block, &size, block_steps, original.data)
        for i in range(size):
            (<result_t*>(<char*>data[1] + (done + i) * steps[1]))[0] = results[i]
        done += size


cdef inner_loop_t corrected_loop(str name, int code):
    """Return the loop to run in the place of NumPy's for an operator and an element type; NULL if none must be."""
    if dtype_of_code(code) is None:
        return NULL
    cdef str dtype = dtype_of_code(code).name
    if dtype == "complex64" or dtype == "complex128":
        if name == "expm1":
            return <inner_loop_t>expm1[float] if dtype == "complex64" else <inner_loop_t>expm1[double]
        if name == "tanh":
            return <inner_loop_t>tanh[float] if dtype == "complex64" else <inner_loop_t>tanh[double]
        if name == "sign":
            return <inner_loop_t>sign[float] if dtype == "complex64" else <inner_loop_t>sign[double]
    elif name in ("isnan", "isinf", "isfinite", "signbit") and (dtype == "float32" or dtype == "float64"):
        return <inner_loop_t>scatter[uint8_t]
    elif name == "neg" and dtype in ("int32", "uint32", "float32"):
        return <inner_loop_t>scatter[uint32_t]
    elif name == "neg" and dtype in ("int64", "uint64", "float64"):
        return <inner_loop_t>scatter[uint64_t]
    elif name == "nextafter" and dtype == "bfloat16":
        return nextafter_bfloat16
    elif name in ("positive", "conj"):
        return copy_loop(itemsize_of(code))
    return NULL


cdef int level_of_numpy(str name, str types) except -1:
    """Return the level of instructions that NumPy's loop of some types runs with. See original_loop_t."""
    current = LOOPS_OF_NUMPY.get(name, {}).get(types, {}).get("current", "")
    return 3 if "V4" in current or "AVX512" in current else 2 if "V3" in current or "AVX2" in current else 0


# What NumPy says of its loops; before version 2.1 it says nothing, and they count as loops of single elements.
cdef dict LOOPS_OF_NUMPY = getattr(getattr(np.lib, "introspect", None), "opt_func_info", dict)()


cdef const inner_loop_t* faster_loops(str name, int* is_math) except? NULL:
    """Return our loops for a function, a pointer per element type that is NULL where there is none; NULL if none is.

    If `is_math` is set, the loop of float32 serves float16 too.
    """
    return tx_elementwise_loops(name.encode(), is_math)
