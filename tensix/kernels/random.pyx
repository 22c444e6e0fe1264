"""Filling tensors with random numbers, and putting numbers in a random order. See Note [Random numbers] in random.h."""
import os
from collections.abc import Mapping

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint64_t
from tensix.core.atomics cimport tx_add_fetch_acq_rel, tx_fetch_sub_acq_rel, tx_load_acquire
from tensix.core.device cimport CPU, META
from tensix.core.free_threading cimport tx_while_stopped
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.loops.copy cimport copy_elements
from tensix.loops.empty cimport empty_impl
from tensix.loops.iterator cimport run_shares
from tensix.loops.overlap cimport check_writable_once
from tensix.tensors.dtype cimport FLOAT32, FLOAT64, INT64, UINT64, dtype_of_code, itemsize_of
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_bump_version, TensorImpl_mutable_data, TensorImpl_sizes, int64_of,
)

from operator import index

from tensix.dispatch import native_functions

__all__ = ["Generator", "default_generator", "manual_seed"]

cdef extern from "tensix/kernels/random.h" nogil:
    ctypedef struct tx_stream_t:
        uint64_t[2] seed
        int64_t low
        uint64_t bound
    const uint64_t TX_SECOND
    void tx_random_uniform_f32(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_uniform_f64(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_normal_f32(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_normal_f64(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_integers(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_long_integers(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept
    void tx_random_order(const tx_stream_t* stream, uint64_t group, int64_t* to, int64_t count) noexcept

ctypedef void (*fill_t)(const tx_stream_t* stream, uint64_t group, void* data, int64_t count) noexcept nogil

cdef enum:
    GROUPS_OF_CHUNK = 256
    NORMAL = 1  # the variant of `fill_floating`

cdef object LARGEST_SEED = (1 << 128) - 1


@cython.final
cdef class Generator:
    """Generator(seed=None)\n--\n
    Make random numbers; the same seed gives the same numbers, on every machine and with any number of threads.

    Parameters
    ----------
    seed : int or None, optional
        From 0 to below 2**128; None takes fresh entropy from the system.

    Raises
    ------
    ValueError
        If the seed is negative or too large.

    Notes
    -----
    Numbers are made of a counter, by Philox4x32-10, as those of PyTorch on GPUs are; :ref:`random-numbers` says how.
    Each call takes the next part of the stream. Thread-safety: calls from several threads get different parts; which
    thread gets which is a matter of chance.

    Examples
    --------
    >>> a = tensix.rand(2, generator=tensix.Generator(7))
    >>> b = tensix.rand(2, generator=tensix.Generator(7))
    >>> a.tolist() == b.tolist()
    True
    """

    cdef tx_stream_t stream
    cdef uint64_t position  # the first group of words that no call has taken

    def __init__(self, seed=None):
        Generator_start(self, seed, 0)

    def manual_seed(self, seed):
        """Start again from a seed and return this generator."""
        Generator_start(self, seed, 0)
        return self

    def __repr__(self):
        return f"Generator(seed={Generator_seed(self)}, position={tx_load_acquire(&self.position)})"

    def get_state(self):
        """Return the state, a dict that `set_state` takes."""
        return {"generator": "Philox4x32-10", "seed": Generator_seed(self), "position": tx_load_acquire(&self.position)}

    def set_state(self, state):
        """Go on from a state that `get_state` returned."""
        if not isinstance(state, Mapping):
            raise TypeError(f"set_state() takes a dict that get_state() returned, found {type(state).__name__}.")
        if set(state) != {"generator", "seed", "position"} or state["generator"] != "Philox4x32-10":
            raise ValueError(f"set_state() takes a dict that get_state() returned, found {state!r}.")
        Generator_start(self, index(state["seed"]), index(state["position"]))


cdef struct start_t:
    PyObject* generator
    tx_stream_t stream
    uint64_t position


cdef int Generator_start(Generator self, seed, position) except -1:
    """Take a seed, and the position of a state."""
    number = int.from_bytes(os.urandom(16), "little") if seed is None else index(seed)
    if not 0 <= number <= LARGEST_SEED:
        raise ValueError(f"a Generator takes a seed from 0 to below 2**128, found {seed}.")
    if not 0 <= position <= TX_SECOND:
        raise ValueError(f"a Generator has positions from 0 to 2**57, found {position}.")
    cdef start_t start
    start.generator = <PyObject*>self
    start.stream = self.stream
    start.stream.seed[0] = <uint64_t>(number & 0xFFFFFFFFFFFFFFFF)
    start.stream.seed[1] = <uint64_t>(number >> 64)
    start.position = <uint64_t>position
    tx_while_stopped(start_again, &start)
    return 0


cdef void start_again(void* what) noexcept nogil:
    cdef start_t* start = <start_t*>what
    (<Generator>start.generator).stream = start.stream
    (<Generator>start.generator).position = start.position


cdef object Generator_seed(Generator self):
    return <object>self.stream.seed[1] << 64 | <object>self.stream.seed[0]


default_generator = Generator()
cdef Generator DEFAULT = default_generator


def manual_seed(seed):
    """Start the default generator again from a seed and return it.

    Examples
    --------
    >>> _ = tensix.manual_seed(0)
    >>> first = tensix.rand(3)
    >>> _ = tensix.manual_seed(0)
    >>> first.tolist() == tensix.rand(3).tolist()
    True
    """
    return default_generator.manual_seed(seed)


# ---- filling


cdef struct fill_job_t:
    tx_stream_t stream
    fill_t fill
    uint64_t group
    char* data
    int64_t count
    int64_t chunk  # elements
    int64_t itemsize


cdef int fill(TensorImpl impl, Generator generator, uint8_t code, fill_t function, int of_group, object low,
              object bound) except -1:
    """Fill a tensor with what a function makes, elements of a type and so many of a group of words.

    A tensor of another type, or whose elements do not lie one after the other, gets a copy. On meta there are none.
    """
    cdef fill_job_t job
    check_writable_once(impl)
    if impl.device_type == META:
        TensorImpl_bump_version(impl)
        return 0
    cdef TensorImpl made = impl
    if not impl.contiguous or impl.dtype_code != code:
        made = empty_impl(impl.ndim, TensorImpl_sizes(impl), code, CPU, -1)
    job.data = <char*>TensorImpl_mutable_data(made)
    job.count, job.itemsize, job.fill = made.numel, itemsize_of(code), function
    job.chunk = GROUPS_OF_CHUNK * of_group
    job.stream = generator.stream
    job.stream.low = <int64_t>low
    job.stream.bound = <uint64_t>(bound & 0xFFFFFFFFFFFFFFFF)
    job.group = take_groups(generator, job.count, of_group)
    run_shares(fill_chunk, &job, (job.count + job.chunk - 1) // job.chunk, job.count, None, None, made)
    if made is not impl:
        copy_elements(impl, made)
    TensorImpl_bump_version(impl)
    return 0


cdef void fill_chunk(void* context, int64_t chunk) noexcept nogil:
    cdef fill_job_t* job = <fill_job_t*>context
    cdef int64_t start = chunk * job.chunk
    job.fill(&job.stream, job.group + <uint64_t>chunk * GROUPS_OF_CHUNK, job.data + start * job.itemsize,
             min(job.chunk, job.count - start))


cdef uint64_t take_groups(Generator generator, int64_t count, int of_group) except? 0:
    """Return the first of as many groups as some elements need; they are this call's alone."""
    cdef uint64_t groups = <uint64_t>((count + of_group - 1) // of_group)
    cdef uint64_t first = tx_add_fetch_acq_rel(&generator.position, groups) - groups
    if first + groups > TX_SECOND:
        tx_fetch_sub_acq_rel(&generator.position, groups)
        raise RuntimeError(f"{generator} has no more numbers for {count} elements: give it another seed.")
    return first


cdef object fill_floating(Kernel self, object table, arguments_t args):
    """Fill a tensor of float32 or float64.

    With numbers from 0 up to, but without, 1; or with normal ones, of mean 0 and variance 1.
    """
    cdef TensorImpl impl = (<TensorBase>args[0]).impl
    cdef Generator generator = checked_generator(self.name, <object>args[1])
    cdef bint is_normal = self.variant == NORMAL
    if impl.dtype_code != FLOAT32 and impl.dtype_code != FLOAT64:
        found = dtype_of_code(impl.dtype_code).name
        raise TypeError(f"{self.name}() fills float32 and float64 tensors, found {found}.")
    if impl.dtype_code == FLOAT32:
        fill(impl, generator, FLOAT32, tx_random_normal_f32 if is_normal else tx_random_uniform_f32, 256, 0, 0)
    else:
        fill(impl, generator, FLOAT64, tx_random_normal_f64 if is_normal else tx_random_uniform_f64, 128, 0, 0)
    return <object>args[0]


cdef object random_(Kernel kernel, object table, arguments_t args):
    """Fill with integers from a number up to, but without, another."""
    cdef TensorImpl impl = (<TensorBase>args[0]).impl
    cdef Generator generator = checked_generator("random_", <object>args[3])
    low, high = index(<object>args[1]), index(<object>args[2])
    check_range(impl, low, high)
    cdef uint8_t code = UINT64 if impl.dtype_code == UINT64 else INT64
    signed = low - (1 << 64) if low >= 1 << 63 else low  # the same bits
    if high - low <= 1 << 32:
        fill(impl, generator, code, tx_random_integers, 256, signed, high - low)
    else:
        fill(impl, generator, code, tx_random_long_integers, 64, signed, high - low)
    return <object>args[0]


def random_order(n, generator):
    """Return the numbers from 0 to below `n` in a random order."""
    cdef Generator source = checked_generator("randperm", generator)
    cdef int64_t count = int64_of(n)
    if count < 0:
        raise ValueError(f"randperm() needs a number of 0 or more, found {count}.")
    cdef TensorImpl made = empty_impl(1, &count, INT64, CPU, -1)
    result = Tensor_wrap(made)
    cdef fill_job_t job
    job.data, job.count = <char*>TensorImpl_mutable_data(made), count
    job.stream = source.stream
    job.group = take_groups(source, count, 128)
    run_shares(order_all, &job, 1, count, None, None, made)
    return result


cdef void order_all(void* context, int64_t share) noexcept nogil:
    cdef fill_job_t* job = <fill_job_t*>context
    tx_random_order(&job.stream, job.group, <int64_t*>job.data, job.count)


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
    (native_functions.UNIFORM_, Kernel_of("uniform_", fill_floating)),
    (native_functions.NORMAL_, Kernel_of("normal_", fill_floating, NORMAL)),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
