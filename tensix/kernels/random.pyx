"""Filling tensors with random numbers from NumPy's bit generators, and putting numbers in a random order.

Uniform numbers are made here, straight from the bits, as NumPy makes them: the highest 24 or 53 bits, scaled to
[0, 1). Normal numbers are made by NumPy's C functions, which a library of its distribution has.
"""
cimport cython
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
    WAIT_LOCK,
    NOWAIT_LOCK,
)
from libc.stdint cimport int64_t, uint32_t, uint64_t
from tensix.core.device cimport CPU, META
from tensix.core.export cimport begin_export, end_export
from tensix._support.public_module cimport set_module
from tensix.core.storage_impl cimport StorageImpl
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.loops.empty cimport empty_impl
from tensix.loops.overlap cimport check_writable_once
from tensix.loops.iterator cimport GRAIN_ELEMENTS
from tensix.tensors.dtype cimport FLOAT32, FLOAT64, INT64, dtype_of_code
from tensix.exchange.ndarray cimport ndarray_of_impl
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_bump_version,
    TensorImpl_mutable_data,
    int64_of,
)

import numpy as np

from tensix.dispatch import native_functions

__all__ = ["Generator", "default_generator", "manual_seed"]

# Declared here and not cimported: cimporting numpy.random would load it with tensix, which costs a third of the import.
cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void* state
        uint64_t (*next_uint64)(void* state) noexcept nogil
        unsigned int (*next_uint32)(void* state) noexcept nogil
        double (*next_double)(void* state) noexcept nogil

cdef extern from "numpy/random/distributions.h":
    void random_standard_normal_fill(bitgen_t* bits, Py_ssize_t count, double* out) noexcept nogil
    void random_standard_normal_fill_f(bitgen_t* bits, Py_ssize_t count, float* out) noexcept nogil

ctypedef void (*fill_function_t)(bitgen_t* bits, void* data, Py_ssize_t count, bint single) noexcept nogil


@cython.final
cdef class Generator:
    """Generator(seed=None)\n--\n
    Make random numbers; the same seed gives the same numbers.

    Parameters
    ----------
    seed : int or None, optional
        Any int of 0 or more; None takes fresh entropy from the system.

    Notes
    -----
    The bits come from NumPy's PCG64. Thread-safety: calls from several threads take turns; which thread gets which
    numbers is then a matter of chance.

    Examples
    --------
    >>> import tensix
    >>> a = tensix.rand(2, generator=tensix.Generator(7))
    >>> b = tensix.rand(2, generator=tensix.Generator(7))
    >>> a.tolist() == b.tolist()
    True
    """

    cdef object source          # numpy.random.Generator
    cdef bitgen_t* bits         # of source; kept alive by it
    cdef PyThread_type_lock lock

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError("no memory for the lock of a Generator.")

    def __init__(self, seed=None):
        Generator_start(self, seed)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    def manual_seed(self, seed):
        """Start again from a seed and return this generator."""
        Generator_lock(self)
        try:
            Generator_start(self, seed)
        finally:
            PyThread_release_lock(self.lock)
        return self

    def __repr__(self):
        return "Generator(PCG64)"

    def get_state(self):
        """Return the state, a dict that `set_state` takes."""
        Generator_lock(self)
        try:
            return self.source.bit_generator.state
        finally:
            PyThread_release_lock(self.lock)

    def set_state(self, state):
        """Go on from a state that `get_state` returned."""
        Generator_lock(self)
        try:
            self.source.bit_generator.state = state
        finally:
            PyThread_release_lock(self.lock)


cdef int Generator_lock(Generator self) except -1:
    """Take the lock, giving the GIL away only if another thread has it, and see to it that there is a state."""
    if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
        with nogil:
            PyThread_acquire_lock(self.lock, WAIT_LOCK)
    if self.source is None:
        try:
            Generator_start(self, None)
        except BaseException:
            PyThread_release_lock(self.lock)
            raise
    return 0


cdef int Generator_start(Generator self, seed) except -1:
    """Take a seed; the lock must be held, unless nothing else refers to the generator."""
    source = np.random.Generator(np.random.PCG64(seed))
    self.bits = <bitgen_t*>PyCapsule_GetPointer(source.bit_generator.capsule, "BitGenerator")
    self.source = source
    return 0


# Made without a seed: its first use takes one, so that importing tensix need not load numpy.random.
cdef Generator DEFAULT = Generator.__new__(Generator)
default_generator = DEFAULT


def manual_seed(seed):
    """Start the default generator again from a seed and return it.

    Examples
    --------
    >>> import tensix
    >>> _ = tensix.manual_seed(0)
    >>> first = tensix.rand(3)
    >>> _ = tensix.manual_seed(0)
    >>> first.tolist() == tensix.rand(3).tolist()
    True
    """
    return default_generator.manual_seed(seed)


# ---- floating numbers


cdef object uniform_(Kernel self, object table, arguments_t args):
    """Fill with numbers from 0 up to, but without, 1; on meta check the arguments."""
    cdef Generator generator = checked_generator("uniform_", <object>args[1])
    cdef TensorImpl impl = floating_impl("uniform_", <TensorBase>args[0])
    if impl.device_type != META:
        write(impl, generator, fill_uniform, "random")
    TensorImpl_bump_version(impl)
    return <object>args[0]


cdef object normal_(Kernel self, object table, arguments_t args):
    """Fill with numbers of mean 0 and variance 1; on meta check the arguments."""
    cdef Generator generator = checked_generator("normal_", <object>args[1])
    cdef TensorImpl impl = floating_impl("normal_", <TensorBase>args[0])
    if impl.device_type != META:
        write(impl, generator, fill_normal, "standard_normal")
    TensorImpl_bump_version(impl)
    return <object>args[0]


cdef TensorImpl floating_impl(str name, TensorBase a):
    dtype = dtype_of_code(a.impl.dtype_code)
    if dtype.code != FLOAT32 and dtype.code != FLOAT64:
        raise TypeError(f"{name}() fills float32 and float64 tensors, found {dtype.name}.")
    return a.impl


cdef int write(TensorImpl impl, Generator generator, fill_function_t fill, str method) except -1:
    """Fill a tensor; if its elements do not lie one after the other, by a method of NumPy's generator."""
    check_writable_once(impl)
    view = None if impl.contiguous else ndarray_of_impl(impl, True)
    Generator_lock(generator)
    try:
        if view is None:
            fill_in_order(impl, TensorImpl_mutable_data(impl), generator.bits, fill)
        else:
            view[...] = getattr(generator.source, method)(view.shape, view.dtype)
    finally:
        PyThread_release_lock(generator.lock)
    return 0


cdef int fill_in_order(TensorImpl impl, void* data, bitgen_t* bits, fill_function_t fill) except -1:
    """Fill elements that lie one after the other, from `data` on."""
    cdef bint single = impl.dtype_code == FLOAT32
    cdef Py_ssize_t count = impl.numel
    cdef StorageImpl storage = <StorageImpl>impl.storage
    if count < GRAIN_ELEMENTS:
        fill(bits, data, count, single)
        return 0
    begin_export(storage)
    with nogil:
        fill(bits, data, count, single)
    end_export(storage)
    return 0


cdef void fill_uniform(bitgen_t* bits, void* data, Py_ssize_t count, bint single) noexcept nogil:
    cdef Py_ssize_t i
    if single:
        for i in range(count):
            (<float*>data)[i] = (bits.next_uint32(bits.state) >> 8) * <float>(1.0 / 16777216.0)
    else:
        for i in range(count):
            (<double*>data)[i] = bits.next_double(bits.state)


cdef void fill_normal(bitgen_t* bits, void* data, Py_ssize_t count, bint single) noexcept nogil:
    if single:
        random_standard_normal_fill_f(bits, count, <float*>data)
    else:
        random_standard_normal_fill(bits, count, <double*>data)


# ---- integers


cdef object random_(Kernel kernel, object table, arguments_t args):
    """Fill with integers from a number up to, but without, another; on meta check the arguments."""
    cdef TensorBase self = <TensorBase>args[0]
    cdef Generator generator = checked_generator("random_", <object>args[3])
    low, high = <object>args[1], <object>args[2]
    check_range(self.impl, low, high)
    if self.impl.device_type == META:
        return self
    check_writable_once(self.impl)
    if self.impl.dtype_code == INT64 and self.impl.contiguous and 1 < high - low < 1 << 32:
        write_integers(self.impl, generator, low, high - low)
        TensorImpl_bump_version(self.impl)
        return self
    view = ndarray_of_impl(self.impl, True)
    Generator_lock(generator)
    try:
        view[...] = generator.source.integers(low, high, view.shape, view.dtype)
    finally:
        PyThread_release_lock(generator.lock)
    TensorImpl_bump_version(self.impl)
    return self


cdef int write_integers(TensorImpl impl, Generator generator, int64_t low, uint64_t bound) except -1:
    """Fill elements that lie one after the other with the numbers that NumPy makes of the same bits."""
    cdef int64_t* out
    cdef StorageImpl storage
    Generator_lock(generator)
    try:
        out = <int64_t*>TensorImpl_mutable_data(impl)
        if impl.numel < GRAIN_ELEMENTS:
            fill_integers(generator.bits, out, impl.numel, low, bound)
            return 0
        storage = <StorageImpl>impl.storage
        begin_export(storage)
        with nogil:
            fill_integers(generator.bits, out, impl.numel, low, bound)
        end_export(storage)
    finally:
        PyThread_release_lock(generator.lock)
    return 0


cdef void fill_integers(bitgen_t* bits, int64_t* out, int64_t count, int64_t low, uint64_t bound) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        out[i] = low + below(bits, bound)


def random_order(n, generator):
    """Return the numbers from 0 to below `n` in a random order."""
    cdef Generator source = checked_generator("randperm", generator)
    cdef int64_t count = int64_of(n)
    if count < 0:
        raise ValueError(f"randperm() needs a number of 0 or more, found {count}.")
    cdef TensorImpl made = empty_impl(1, &count, INT64, CPU, -1)
    result = Tensor_wrap(made)
    cdef int64_t* out = <int64_t*>TensorImpl_mutable_data(made)
    cdef StorageImpl storage = <StorageImpl>made.storage
    Generator_lock(source)
    begin_export(storage)
    with nogil:
        write_order(source.bits, out, count)
    end_export(storage)
    PyThread_release_lock(source.lock)
    return result


cdef void write_order(bitgen_t* bits, int64_t* out, int64_t count) noexcept nogil:
    """Put each number at a random place among those before it; what was there goes behind them (Fisher and Yates)."""
    cdef int64_t i, place
    for i in range(count):
        place = below(bits, i + 1)
        out[i] = out[place]
        out[place] = i


cdef inline int64_t below(bitgen_t* bits, uint64_t bound) noexcept nogil:
    """Return a number from 0 up to, but without, a bound, each as likely: the upper half of a product (Lemire)."""
    cdef uint64_t product
    if bound >> 32:
        product = bits.next_uint64(bits.state)
        while product < (<uint64_t>0 - bound) % bound:
            product = bits.next_uint64(bits.state)
        return <int64_t>(product % bound)
    product = bits.next_uint32(bits.state) * bound
    if <uint32_t>product < bound:
        while <uint32_t>product < ((<uint64_t>1 << 32) - bound) % bound:
            product = bits.next_uint32(bits.state) * bound
    return <int64_t>(product >> 32)


cdef Generator checked_generator(str name, object generator):
    """Return the generator that is meant."""
    if generator is None:
        return DEFAULT
    if not isinstance(generator, Generator):
        raise TypeError(f"{name}() takes a Generator or None, found {type(generator).__name__}.")
    return generator


cdef int check_range(TensorImpl impl, object low, object high) except -1:
    """Check that there are integers in a range, and that the element type holds them."""
    dtype = dtype_of_code(impl.dtype_code)
    if dtype.kind not in "iu":
        raise TypeError(f"random_() fills tensors of integers, found {dtype.name}.")
    cdef object count = 1 << <object>(8 * dtype.itemsize)  # of the values that the type has
    cdef object least = 0 if dtype.kind == "u" else -(count >> 1)
    if not least <= low < high <= least + count:
        raise ValueError(
            f"random_() needs a range that is not empty and lies within {dtype.name}, found {low} up to {high}."
        )
    return 0


for _table, _kernel in (
    (native_functions.RANDOM_, Kernel_of("random_", random_)),
    (native_functions.UNIFORM_, Kernel_of("uniform_", uniform_)),
    (native_functions.NORMAL_, Kernel_of("normal_", normal_)),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)


set_module("tensix", (Generator,))  # See Note [Modules of classes]
