"""Linear algebra and Fourier transforms by the inner loops of NumPy's generalised ufuncs.

Note [Functions of NumPy and their loops]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
What `np.linalg` and `np.fft` do in Python takes longer than the work on a small matrix. So the loops of the ufuncs that
they call are called here, by the pointers that each ufunc carries; they write into memory of tensix. What
is unusual is left to NumPy's function, as a kernel of `NumpyKernel`: shapes that do not fit, nothing to compute,
matrices that cannot be decomposed. So its errors and texts are the only ones, and a NumPy whose loops have other types
or other names is served by its functions alone.

A loop of linear algebra says that it found no result by the processor's flag for an invalid operation, and if there is
no memory by Python's error, for which it takes the GIL itself.

Note [Precision of transforms]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
NumPy has Fourier transforms in single precision, five times as fast, and takes them for complex64 if it multiplies by
a factor of float32. Without a factor it computes in double precision, which its choice of a loop finds first. Here all
that is narrower than float64 is transformed in single precision, as PyTorch does. What overflows in that may be finite
in the end, so a result with an infinity or a NaN in it is computed again by NumPy's function.
"""
import re

from cpython.exc cimport PyErr_Occurred
from cpython.ref cimport PyObject
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp, ufunc
from tensix.dispatch.kernel cimport Kernel, arguments_t
from tensix.loops.copy cimport converted, copy_elements
from tensix.loops.empty cimport empty_impl
from tensix.loops.iterator cimport (
    GRAIN_ELEMENTS,
    inner_loop_t,
    iterator_begin_use,
    iterator_end_use,
    iterator_simplify,
    iterator_start,
    iterator_t,
    iterator_walk,
)
from tensix.tensors.dtype cimport (
    BFLOAT16,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    default_float_code,
    dtype_of_code,
    itemsize_of,
)
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_sizes,
    TensorImpl_strides,
)

import numpy as np

__all__ = ["FactorsKernel", "FourierKernel", "GufuncKernel"]

cdef extern from "fenv.h" nogil:
    int FE_INVALID
    int feclearexcept(int)
    int fetestexcept(int)


cdef struct gufunc_t:
    inner_loop_t loops[2]   # of real and of complex numbers
    void* data[2]
    int inputs
    int operands
    int ndims[4]            # of the core of each operand
    int places[4][2]        # which of the sizes its dimensions have
    int size_count
    bint is_real[4]         # whether an operand is real among complex numbers, or complex among real ones
    bint is_complex[4]


cdef void core_loop(char** data, const npy_intp* count, const npy_intp* steps, void* context) noexcept nogil:
    """Call the loop of a generalised ufunc: the count and the steps, then those of the core."""
    cdef call_t* call = <call_t*>context
    cdef npy_intp sizes[5]
    cdef npy_intp all_steps[12]
    cdef int i
    sizes[0] = count[0]
    for i in range(call.size_count):
        sizes[1 + i] = call.sizes[i]
    for i in range(call.operands):
        all_steps[i] = steps[i]
    for i in range(call.step_count):
        all_steps[call.operands + i] = call.steps[i]
    call.loop(data, sizes, all_steps, call.data)


cdef int walk(iterator_t* iterator, call_t* call, npy_intp work) except -1:
    """Call a loop for all that stands before the cores; what takes long gives up the GIL."""
    iterator_simplify(iterator, iterator.operands - 1)
    if work < GRAIN_ELEMENTS:
        iterator_walk(iterator, core_loop, call)
    else:
        iterator_begin_use(iterator)
        with nogil:
            iterator_walk(iterator, core_loop, call)
        iterator_end_use(iterator)
    return -1 if PyErr_Occurred() != NULL else 0


# ---- linear algebra


cdef class GufuncKernel(Kernel):
    """Run the loop of a generalised ufunc; another kernel serves what that cannot.

    Parameters
    ----------
    names : str or pair of str
        The ufunc, or one for when the second argument is false, or no vector, and one for when it is true, or a vector.
    rest : Kernel
        Runs NumPy's function.
    may_fail : bool, optional
        Whether the loop sets the flag for an invalid operation if it finds no result, and that is an error.
    must_be_finite : bool, optional
        Whether elements that are infinite or not a number are refused.
    """

    cdef gufunc_t variants[2]
    cdef int count
    cdef bint takes_two
    cdef bint may_fail
    cdef bint must_be_finite
    cdef Kernel rest

    def __init__(self, names, Kernel rest not None, *, may_fail=True, must_be_finite=False):
        self.must_be_finite = must_be_finite
        names = (names,) if isinstance(names, str) else names
        self.count, self.rest, self.may_fail, self.serves_any = len(names), rest, may_fail, True
        self.function, self.name = decompose, f"{' and '.join(names)} of NumPy"
        for i, name in enumerate(names):
            gufunc_init(&self.variants[i], name)
        self.takes_two = self.variants[0].inputs == 2


cdef int gufunc_init(gufunc_t* self, str name) except -1:
    """Take the loops in double precision, and read the signature."""
    function = getattr(getattr(np.linalg, "_umath_linalg", None), name, None)
    self.loops[0] = self.loops[1] = NULL
    self.inputs = self.operands = self.size_count = 0
    if not isinstance(function, np.ufunc) or function.signature is None:
        return 0
    names = []
    self.inputs, self.operands = function.nin, function.nin + function.nout
    for k, dims in enumerate(re.findall(r"\(([^)]*)\)", function.signature)):
        dims = [dim.strip() for dim in dims.split(",") if dim.strip()]
        self.ndims[k] = len(dims)
        for i, dim in enumerate(dims):
            if dim not in names:
                names.append(dim)
            self.places[k][i] = names.index(dim)
    self.size_count = len(names)
    for number, types in enumerate(function.types):
        types = types.replace("->", "")
        if types[0] in "dD" and set(types) <= {"d", "D"}:
            which = "dD".index(types[0])
            self.loops[which] = <inner_loop_t><void*>(<ufunc>function).functions[<int>number]
            self.data[which] = <void*>(<ufunc>function).data[<int>number] if (<ufunc>function).data != NULL else NULL
            for k, letter in enumerate(types):
                if which:
                    self.is_real[k] = letter == "d"
                else:
                    self.is_complex[k] = letter == "D"
    return 0


cdef object decompose(Kernel kernel, object table, arguments_t args):
    cdef GufuncKernel self = <GufuncKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl y = (<TensorBase>args[1]).impl if self.takes_two else None
    cdef gufunc_t* gufunc = &self.variants[0]
    if self.count == 2 and (y.ndim == 1 if self.takes_two else <object>args[1]):
        gufunc = &self.variants[1]
    found = results_of(gufunc, x, y, self.may_fail, self.must_be_finite)
    return self.rest.function(self.rest, table, args) if found is None else found


cdef uint8_t code_of(TensorImpl x, TensorImpl y) except? 255:
    """Return the common type, the default floating type for integers and bools."""
    cdef uint8_t code = x.dtype_code if y is None else promote_codes(x.dtype_code, y.dtype_code)
    return code if dtype_of_code(code).kind in "fc" else default_float_code()


cdef object results_of(gufunc_t* gufunc, TensorImpl x, TensorImpl y, bint may_fail, bint must_be_finite):
    """Return the result, or a tuple of them; None if NumPy's function must say what is wrong."""
    cdef uint8_t code
    if x.ndim < 2 or x.numel == 0 or y is not None and (y.ndim == 0 or y.numel == 0 or y.device_type != x.device_type):
        return None
    code = code_of(x, y)
    cdef bint is_complex = code == COMPLEX64 or code == COMPLEX128
    cdef uint8_t working = COMPLEX128 if is_complex else FLOAT64
    # The one operand passes through the common type first: what that cannot hold NumPy's function would not see either.
    if must_be_finite:
        x = row_major_copy(converted(x, code), working)
        if has_infinities(x):
            return None
    else:
        x = converted(converted(x, code), working)
    if y is not None:
        y = converted(converted(y, code), working)
    cdef list made = run_gufunc(gufunc, is_complex, x, y, may_fail)
    if made is None:
        return None
    cdef list results = [Tensor_wrap(rounded(<TensorImpl>impl, code)) for impl in made]
    return results[0] if len(results) == 1 else tuple(results)


cdef TensorImpl rounded(TensorImpl self, uint8_t code):
    """Return a result in the precision of what it was made of; of narrow types by way of float32."""
    if code == FLOAT64 or code == COMPLEX128:
        return self
    if self.dtype_code == COMPLEX128:
        return converted(self, COMPLEX64)
    if self.dtype_code == FLOAT64:
        self = converted(self, FLOAT32)
    return converted(self, code) if self.dtype_code == FLOAT32 and (code == FLOAT16 or code == BFLOAT16) else self


cdef list run_gufunc(gufunc_t* gufunc, bint is_complex, TensorImpl x, TensorImpl y, bint may_fail):
    """Return what the loop makes of one or two operands; None if it cannot take them, or found no result."""
    cdef TensorImpl impl
    cdef iterator_t iterator
    cdef call_t call
    cdef int64_t outer[64]
    cdef int64_t sizes[64]
    cdef int ndim = 0
    cdef int i, k, place, own
    cdef int64_t size
    cdef npy_intp step
    cdef list made = []
    call.loop, call.data = gufunc.loops[is_complex], gufunc.data[is_complex]
    if call.loop == NULL:
        return None
    call.operands, call.size_count, call.step_count = gufunc.operands, gufunc.size_count, 0
    for i in range(4):
        call.sizes[i] = -1
    for k in range(gufunc.inputs):  # the sizes of the cores, which must be the same wherever they have one name
        impl = x if k == 0 else y
        own = impl.ndim - gufunc.ndims[k]
        if own < 0:
            return None
        ndim = max(ndim, own)
        for i in range(gufunc.ndims[k]):
            size, place = TensorImpl_sizes(impl)[own + i], gufunc.places[k][i]
            if call.sizes[place] not in (-1, size):
                return None
            call.sizes[place] = size
    for i in range(gufunc.size_count):
        if call.sizes[i] < 0:  # what stands on the right alone is the smaller side of a matrix
            call.sizes[i] = min(call.sizes[0], call.sizes[1])
    for i in range(ndim):
        outer[i] = 1
        for k in range(gufunc.inputs):
            impl = x if k == 0 else y
            place = i - ndim + impl.ndim - gufunc.ndims[k]
            size = TensorImpl_sizes(impl)[place] if place >= 0 else 1
            if size != outer[i] and size != 1:
                if outer[i] != 1:
                    return None
                outer[i] = size
    for k in range(gufunc.inputs, gufunc.operands):
        for i in range(ndim):
            sizes[i] = outer[i]
        for i in range(gufunc.ndims[k]):
            sizes[ndim + i] = call.sizes[gufunc.places[k][i]]
        code = COMPLEX128 if (is_complex or gufunc.is_complex[k]) and not gufunc.is_real[k] else FLOAT64
        made.append(empty_impl(ndim + gufunc.ndims[k], sizes, code, x.device_type, x.device_index))
    iterator_start(&iterator, ndim, outer)
    for k in range(gufunc.operands):
        impl = x if k == 0 else y if k < gufunc.inputs else <TensorImpl>made[k - gufunc.inputs]
        iterator.storages[k] = <PyObject*>impl.storage
        iterator.data[k] = <char*>(
            TensorImpl_const_data(impl) if k < gufunc.inputs else TensorImpl_mutable_data(impl))
        step = itemsize_of(impl.dtype_code)
        own = impl.ndim - gufunc.ndims[k]
        for i in range(gufunc.ndims[k]):
            call.steps[call.step_count] = TensorImpl_strides(impl)[own + i] * step
            call.step_count += 1
        for i in range(ndim):
            place = i - ndim + own
            iterator.steps[i][k] = (
                TensorImpl_strides(impl)[place] * step if place >= 0 and TensorImpl_sizes(impl)[place] != 1 else 0)
    iterator.operands = gufunc.operands
    if may_fail:
        feclearexcept(FE_INVALID)
    walk(&iterator, &call, x.numel * call.sizes[0])
    return None if may_fail and fetestexcept(FE_INVALID) else made


cdef TensorImpl row_major_copy(TensorImpl self, uint8_t code):
    """Return a new tensor with the same elements in a type, which nothing else refers to."""
    cdef TensorImpl made = empty_impl(self.ndim, TensorImpl_sizes(self), code, self.device_type, self.device_index)
    copy_elements(made, self)
    return made


cdef bint has_infinities(TensorImpl self) except -1:
    """Return whether an element of a row-major tensor is infinite or not a number: its exponent has all bits."""
    cdef const void* data = TensorImpl_const_data(self)
    cdef bint is_complex = self.dtype_code == COMPLEX64 or self.dtype_code == COMPLEX128
    cdef int64_t count = self.numel * (1 + is_complex)
    if itemsize_of(self.dtype_code) == 4 * (1 + is_complex):
        return has_all_bits(<const uint32_t*>data, count, 0x7F800000)
    return has_all_bits(<const uint64_t*>data, count, <uint64_t>0x7FF0000000000000)


ctypedef fused bits_t:
    uint32_t
    uint64_t


cdef bint has_all_bits(const bits_t* data, int64_t count, bits_t exponent) noexcept nogil:
    """Return whether one of many has all of some bits; without leaving early, so that many are compared at once."""
    cdef bits_t found = 0
    cdef int64_t i
    for i in range(count):
        found |= (data[i] & exponent) == exponent
    return found != 0


cdef class FactorsKernel(Kernel):
    """Factor matrices into an orthonormal and a triangular one; another kernel serves what the loops cannot."""

    cdef gufunc_t raw
    cdef gufunc_t factors[2]  # reduced and complete
    cdef Kernel rest

    def __init__(self, Kernel rest not None):
        self.rest, self.function, self.name, self.serves_any = rest, factor, "qr of NumPy", True
        for i, gufunc in ((0, "qr_reduced"), (1, "qr_complete")):
            gufunc_init(&self.factors[<int>i], gufunc)
        gufunc_init(&self.raw, "qr_r_raw")


cdef object factor(Kernel kernel, object table, arguments_t args):
    cdef FactorsKernel self = <FactorsKernel>kernel
    found = factors_of(self, (<TensorBase>args[0]).impl, <object>args[1] == "complete")
    return self.rest.function(self.rest, table, args) if found is None else found


cdef object factors_of(FactorsKernel self, TensorImpl x, bint is_complete):
    """Return both factors; None if NumPy's function must say what is wrong."""
    cdef uint8_t code
    cdef bint is_complex
    cdef list found
    cdef TensorImpl orthonormal
    if x.ndim < 2 or x.numel == 0:
        return None
    code = code_of(x, None)
    is_complex = code == COMPLEX64 or code == COMPLEX128
    x = row_major_copy(converted(x, code), COMPLEX128 if is_complex else FLOAT64)
    is_complete = is_complete and TensorImpl_sizes(x)[x.ndim - 2] > TensorImpl_sizes(x)[x.ndim - 1]
    found = run_gufunc(&self.raw, is_complex, x, None, True)  # it leaves the triangular factor in `x`
    if found is not None:
        found = run_gufunc(&self.factors[is_complete], is_complex, x, <TensorImpl>found[0], True)
    if found is None:
        return None
    orthonormal = found[0]
    return Tensor_wrap(rounded(orthonormal, code)), Tensor_wrap(
        rounded(upper_triangle(x, TensorImpl_sizes(orthonormal)[x.ndim - 1]), code))


cdef TensorImpl upper_triangle(TensorImpl x, int64_t rows):
    """Return the first rows of row-major matrices in double precision, with zeros below the diagonal."""
    cdef int64_t sizes[64]
    cdef int64_t all_rows = TensorImpl_sizes(x)[x.ndim - 2]
    cdef int64_t columns = TensorImpl_sizes(x)[x.ndim - 1]
    cdef int64_t itemsize = itemsize_of(x.dtype_code)
    cdef int64_t i, below
    cdef const char* source
    cdef char* target
    for i in range(x.ndim):
        sizes[i] = TensorImpl_sizes(x)[i]
    sizes[x.ndim - 2] = rows
    cdef TensorImpl out = empty_impl(x.ndim, sizes, x.dtype_code, x.device_type, x.device_index)
    source, target = <const char*>TensorImpl_const_data(x), <char*>TensorImpl_mutable_data(out)
    for _ in range(x.numel // (all_rows * columns)):
        for i in range(rows):
            below = min(i, columns) * itemsize
            memset(target, 0, below)
            memcpy(target + below, source + i * columns * itemsize + below, columns * itemsize - below)
            target += columns * itemsize
        source += all_rows * columns * itemsize
    return out


# ---- Fourier transforms


cdef enum:
    TRANSFORM, INVERSE, REAL_EVEN, REAL_ODD, REAL_INVERSE  # the loops


cdef dict KINDS = {"fft": TRANSFORM, "ifft": INVERSE, "rfft": REAL_EVEN, "irfft": REAL_INVERSE}
cdef bint IS_LOADED = False    # the loops are asked for when they are first needed, as NumPy loads them then
cdef inner_loop_t LOOPS[5][2]  # in single and in double precision
cdef void* LOOPS_DATA[5][2]


cdef class FourierKernel(Kernel):
    """Transform along one dimension or several; another kernel serves what the loops cannot.

    Parameters
    ----------
    rest : Kernel
        Runs NumPy's function.
    last : str
        The transform along the only dimension, or along the last one.
    others : str, optional
        The transform along all others; if not given, there is one dimension only.
    divides : str
        The norm by which the result is divided by the number of elements.
    mirrors : bool
        Whether the imaginary part changes its sign, before an inverse transform and after another one.
    """

    cdef Kernel rest
    cdef int last
    cdef int others
    cdef str divides
    cdef bint mirrors

    def __init__(self, Kernel rest not None, last, others=None, *, divides, mirrors=False):
        self.name, self.rest, self.function, self.serves_any = f"{last} of NumPy", rest, fourier, True
        self.last, self.others = KINDS[last], KINDS[others] if others else -1
        self.divides, self.mirrors = divides, mirrors


cdef object fourier(Kernel kernel, object table, arguments_t args):
    cdef FourierKernel self = <FourierKernel>kernel
    cdef TensorImpl found = transformed(
        self, (<TensorBase>args[0]).impl, <object>args[1], <object>args[2], <object>args[3])
    return self.rest.function(self.rest, table, args) if found is None else Tensor_wrap(found)


cdef TensorImpl transformed(FourierKernel self, TensorImpl x, object size, object axes, object norm):
    """Return the transform; None if NumPy's function must say what is wrong."""
    cdef uint8_t code
    cdef int64_t n = -1
    cdef int dim, count, i
    cdef int dims[64]
    cdef uint64_t seen = 0
    cdef bint is_ortho = norm == "ortho"
    cdef bint divides = norm == self.divides
    if x.ndim == 0 or x.numel == 0 or not (is_ortho or divides or norm in ("forward", "backward")):
        return None
    if self.others < 0:
        axes = (axes,)
        if size is not None:
            if type(size) is not int or not 0 < size < 2**31:
                return None
            n = size
    elif size is not None:
        return None
    elif axes is None:
        axes = range(x.ndim)
    elif type(axes) not in (tuple, list):
        return None
    count = 0
    for axis in axes:
        if type(axis) is not int or not -x.ndim <= axis < x.ndim:
            return None
        dim = axis if axis >= 0 else axis + x.ndim
        if seen >> dim & 1:
            return None
        seen |= <uint64_t>1 << dim
        dims[count] = dim
        count += 1
    if count == 0:
        return None
    code = x.dtype_code
    cdef bint is_complex = code == COMPLEX64 or code == COMPLEX128
    if dtype_of_code(code).kind not in "fc":
        code = default_float_code()
        x = converted(x, code)
    if is_complex and self.last == REAL_EVEN:
        return None
    if self.mirrors and self.last == REAL_INVERSE:
        x = row_major_copy(x, COMPLEX128 if code == FLOAT64 or code == COMPLEX128 else COMPLEX64)
        negate_imaginary(x)
    if self.last == REAL_INVERSE:  # it comes last, and the others in their order
        for i in range(count - 1):
            x = transform(x, self.others, -1, dims[i], is_ortho, divides)
    if x is not None:
        x = transform(x, self.last, n, dims[count - 1], is_ortho, divides)
    if self.last != REAL_INVERSE:
        for i in range(count - 2, -1, -1):
            if x is not None:
                x = transform(x, self.others, -1, dims[i], is_ortho, divides)
        if self.mirrors and x is not None:
            negate_imaginary(x)
    if x is None or x.dtype_code in (FLOAT32, COMPLEX64) and has_infinities(x):
        return None  # See Note [Precision of transforms]
    return rounded(x, code)


cdef int negate_imaginary(TensorImpl self) except -1:
    """Change the sign of the imaginary parts of a new tensor."""
    cdef void* data = TensorImpl_mutable_data(self)
    cdef int64_t i
    if self.dtype_code == COMPLEX64:
        for i in range(self.numel):
            (<float*>data)[2 * i + 1] = -(<float*>data)[2 * i + 1]
    else:
        for i in range(self.numel):
            (<double*>data)[2 * i + 1] = -(<double*>data)[2 * i + 1]
    return 0


cdef TensorImpl transform(TensorImpl x, int kind, int64_t n, int dim, bint is_ortho, bint divides):
    """Return the transform along one dimension, of `n` elements or all if it is -1; None if there is no loop."""
    cdef iterator_t iterator
    cdef call_t call
    cdef int64_t sizes[64]
    cdef int i
    cdef int ndim = 0
    cdef bint is_double = x.dtype_code == FLOAT64 or x.dtype_code == COMPLEX128
    cdef uint8_t real = FLOAT64 if is_double else FLOAT32
    cdef uint8_t pairs = COMPLEX128 if is_double else COMPLEX64
    cdef double double_factor = 1
    cdef float float_factor = 1
    if not IS_LOADED:
        load_loops()
    x = converted(x, real if kind == REAL_EVEN else pairs)
    if n < 0:
        n = TensorImpl_sizes(x)[dim]
        if kind == REAL_INVERSE:
            n = 2 * (n - 1)
    if n < 1:
        return None
    if kind == REAL_EVEN and n % 2:
        kind = REAL_ODD
    call.loop, call.data = LOOPS[kind][is_double], LOOPS_DATA[kind][is_double]
    if call.loop == NULL:
        return None
    for i in range(x.ndim):
        sizes[i] = TensorImpl_sizes(x)[i]
    sizes[dim] = n // 2 + 1 if kind == REAL_EVEN or kind == REAL_ODD else n
    cdef TensorImpl out = empty_impl(
        x.ndim, sizes, real if kind == REAL_INVERSE else pairs, x.device_type, x.device_index)
    if is_ortho or divides:  # rounded as NumPy does it
        double_factor = 1 / (sqrt(<double>n) if is_ortho else <double>n)
        float_factor = 1 / (<float>sqrt(<float>n) if is_ortho else <float>n)
    iterator_start(&iterator, 0, sizes)
    for i in range(x.ndim):
        if i != dim:
            iterator.sizes[ndim] = sizes[i]
            iterator.steps[ndim][0] = TensorImpl_strides(x)[i] * <npy_intp>itemsize_of(x.dtype_code)
            iterator.steps[ndim][1] = 0
            iterator.steps[ndim][2] = TensorImpl_strides(out)[i] * <npy_intp>itemsize_of(out.dtype_code)
            ndim += 1
    iterator.ndim, iterator.operands = ndim, 3
    iterator.storages[0], iterator.storages[1], iterator.storages[2] = (
        <PyObject*>x.storage, NULL, <PyObject*>out.storage)
    iterator.data[0] = <char*>TensorImpl_const_data(x)
    iterator.data[1] = <char*>&double_factor if is_double else <char*>&float_factor
    iterator.data[2] = <char*>TensorImpl_mutable_data(out)
    call.operands, call.size_count, call.step_count = 3, 2, 2
    call.sizes[0], call.sizes[1] = TensorImpl_sizes(x)[dim], sizes[dim]
    call.steps[0] = TensorImpl_strides(x)[dim] * <npy_intp>itemsize_of(x.dtype_code)
    call.steps[1] = TensorImpl_strides(out)[dim] * <npy_intp>itemsize_of(out.dtype_code)
    walk(&iterator, &call, max(x.numel, out.numel))
    return out


cdef int load_loops() except -1:
    """Find the loops whose types are as they must be."""
    global IS_LOADED
    for kind, (name, types) in enumerate((
        ("fft", "Ff->F Dd->D"), ("ifft", "Ff->F Dd->D"), ("rfft_n_even", "ff->F dd->D"), ("rfft_n_odd", "ff->F dd->D"),
        ("irfft", "Ff->f Dd->d"),
    )):
        function = getattr(getattr(np.fft, "_pocketfft_umath", None), name, None)
        for i, wanted in enumerate(types.split()):
            if isinstance(function, np.ufunc) and wanted in function.types:
                number = function.types.index(wanted)
                LOOPS[<int>kind][<int>i] = <inner_loop_t><void*>(<ufunc>function).functions[<int>number]
                LOOPS_DATA[<int>kind][<int>i] = (
                    <void*>(<ufunc>function).data[<int>number] if (<ufunc>function).data != NULL else NULL)
    IS_LOADED = True
    return 0
