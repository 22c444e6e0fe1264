"""Kernels made of NumPy's own inner loops.

A ufunc carries a C loop per combination of types, with NumPy's vectorised code in it, callable without the GIL. They
are entered into a table per operator, a row per element type: the second stage of dispatch reads one entry.

The kernel that makes a tensor and those that write to `out` or to the first operand share a table.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memset
from numpy cimport npy_intp, ufunc
from tensix.core.device cimport CPU, META
from tensix.core.storage_impl cimport StorageImpl
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t, kernel_function_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.corrected_loops cimport corrected_loop, faster_loops, level_of_numpy
from tensix.loops.conversion cimport conversion_init, converting_loop, converting_loop_init, converting_loop_t
from tensix.loops.copy cimport copied
from tensix.loops.empty cimport empty_impl
from tensix.loops.iterator cimport (
    GRAIN_ELEMENTS, broadcast_sizes, inner_loop_t, iterator_add, iterator_add_element, iterator_run, iterator_start,
    iterator_t, new_result,
)
from tensix.loops.overlap cimport check_writable_once, is_same_view, may_overlap
from tensix.tensors.dtype cimport (
    BFLOAT16, FLOAT16, FLOAT32, FLOAT64, default_float_code, dtype_of_code, itemsize_of,
)
from tensix.exchange.ndarray cimport readable_of_impl
from tensix.dispatch.operands cimport scalar_like
from tensix.tensors.promotion cimport check_result_type, promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_bump_version, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_same_sizes,
    TensorImpl_shape, TensorImpl_sizes, refuse_devices,
)

import numpy as np

from tensix.dispatch import dispatcher, native_functions

cdef enum:
    SEARCH_ELEMENTS = 2048  # compared at a time at most, where one pair decides
    SHARED_BYTES = 65536    # below, a copy takes no longer than making a shared context

cdef OperatorTable CLONE = native_functions.CLONE
cdef OperatorTable COPY_ = native_functions.COPY_
cdef OperatorTable LAZY_CLONE = native_functions.LAZY_CLONE
cdef OperatorTable SQUARE = None  # both are found when they are first needed: they are declared above this module
cdef OperatorTable MUL = None

# What to write where an operator is not defined: by its name, and whether for bool or for another type.
cdef dict HINTS = {
    ("neg", True): " Write ~x, or logical_not(x).",
    ("sub", True): " Write x ^ y, or logical_xor(x, y).",
    **dict.fromkeys(
        [(name, False) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")],
        " Comparisons that are combined need parentheses, as in (x > 0) & (x < 1).",
    ),
}

# NumPy's functions whose loops take less time than their elements need to arrive.
cdef frozenset WAIT_FOR_MEMORY = frozenset({
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "maximum", "minimum", "multiply",
    "negative", "subtract",
})

cdef object ONE = 1  # what `alpha` nearly always is
cdef kernel_function_t RUN_SCALED = run_scaled  # by its address, so that it is not compiled into `run_two`


cdef class UfuncKernel(Kernel):
    """Run a ufunc's loop for the type of the arguments; another ufunc may serve integers."""

    def __init__(self, operator, function, *, integers=None, promotes=False, alpha=False):
        self.operator_name, self.source, self.name = operator, function.__name__, f"numpy.{function.__name__} loops"
        self.inputs, self.promotes, self.has_alpha = function.nin, promotes, alpha
        self.function = run_one if function.nin == 1 else run_two
        if function.nin == 2:
            self.number_function = run_with_number
        if integers is not None:
            UfuncKernel_take_loops(self, integers, "iu")
        UfuncKernel_take_loops(self, function, "fc" if promotes else "biufc")
        UfuncKernel_correct(self)

    cdef int check(self, TensorImpl x, TensorImpl y) except -1:
        """Refuse values that the loops cannot compute with."""
        return 0


cdef object run_one(Kernel self, object table, arguments_t args):
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef typed_loop_t* loop = &(<UfuncKernel>self).loops[x.dtype_code]
    if loop.function == NULL:
        return Tensor_wrap(UfuncKernel_result(<UfuncKernel>self, x, None))
    return Tensor_wrap(run_loop(loop, x, None, None, loop.result_code))


cdef object run_two(Kernel self, object table, arguments_t args):
    if (<UfuncKernel>self).has_alpha and args[2] != <PyObject*>ONE:
        return RUN_SCALED(self, table, args)
    return Tensor_wrap(result_of_two(<UfuncKernel>self, (<TensorBase>args[0]).impl, (<TensorBase>args[1]).impl))


cdef object run_scaled(Kernel self, object table, arguments_t args):
    right = scaled(<TensorBase>args[0], <TensorBase>args[1], <object>args[2])
    return Tensor_wrap(result_of_two(<UfuncKernel>self, (<TensorBase>args[0]).impl, right.impl))


cdef object run_with_number(Kernel kernel, object tensor, void* number, bint is_left):
    cdef UfuncKernel self = <UfuncKernel>kernel
    cdef TensorImpl x = (<TensorBase>tensor).impl
    cdef typed_loop_t* loop = &self.loops[x.dtype_code]
    return Tensor_wrap(run_beside_number(loop, x, number, is_left, None)) if loop.function != NULL else None


cdef inline TensorImpl result_of_two(UfuncKernel self, TensorImpl x, TensorImpl y):
    if x.dtype_code != y.dtype_code or self.loops[x.dtype_code].function == NULL:
        return UfuncKernel_result(self, x, y)
    return run_loop(&self.loops[x.dtype_code], x, y, None, self.loops[x.dtype_code].result_code)


cdef class PowerKernel(UfuncKernel):
    """Raise to powers: squares have a loop of their own, and negative powers of integers are refused."""

    def __init__(self, operator, function, **options):
        UfuncKernel.__init__(self, operator, function, **options)
        self.function, self.number_function = raise_to_power, raise_to_number

    cdef int check(self, TensorImpl x, TensorImpl y) except -1:
        """NumPy's loop would raise its error in the middle, with part of the result written."""
        if dtype_of_code(x.dtype_code).kind in "fc" or dtype_of_code(y.dtype_code).kind != "i":
            return 0
        if y.numel != 0 and readable_of_impl(y).min() < 0:
            raise ValueError(
                "Integers to negative integer powers are not allowed: they are not integers. Convert the base to a "
                "floating type."
            )
        return 0


cdef object raise_to_power(Kernel kernel, object table, arguments_t args):
    cdef PowerKernel self = <PowerKernel>kernel
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorImpl x = a.impl
    cdef TensorImpl y = (<TensorBase>args[1]).impl
    if y.ndim == 0 and x.dtype_code == y.dtype_code and self.loops[x.dtype_code].function != NULL and is_two(y):
        return squared(a)
    self.check(x, y)
    return Tensor_wrap(result_of_two(self, x, y))


cdef object raise_to_number(Kernel kernel, object tensor, void* number, bint is_left):
    cdef uint8_t code = (<TensorBase>tensor).impl.dtype_code
    if code != FLOAT32 and code != FLOAT64 or (<UfuncKernel>kernel).loops[code].function == NULL:
        return None  # integers are checked first
    if not is_left and ((<float*>number)[0] == 2 if code == FLOAT32 else (<double*>number)[0] == 2):
        return squared(<TensorBase>tensor)
    return run_with_number(kernel, tensor, number, is_left)


cdef object squared(TensorBase a):
    global SQUARE
    if SQUARE is None:
        SQUARE = dispatcher.get_op_table("square")
    return SQUARE.call1(a)


cdef bint is_two(TensorImpl number) except -1:
    """Return whether the only element is 2: one comparison of bytes for the types of most numbers."""
    cdef const void* data = TensorImpl_const_data(number)
    if number.dtype_code == FLOAT32:
        return (<float*>data)[0] == 2
    if dtype_of_code(number.dtype_code).name == "int64":
        return (<int64_t*>data)[0] == 2
    return readable_of_impl(number).item() == 2


cdef class IdentityKernel(UfuncKernel):
    """Return elements as they are, complex ones unless a function changes those; large tensors share their bytes."""

    cdef bint changes_complex

    def __init__(self, operator, function, **options):
        UfuncKernel.__init__(self, operator, function, **options)
        self.changes_complex, self.function = function is np.conjugate, share_or_run


cdef object share_or_run(Kernel kernel, object table, arguments_t args):
    """Share copy-on-write what is a whole storage; of a part of one, the rest would be kept alive, and copied, too."""
    cdef IdentityKernel self = <IdentityKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef size_t nbytes = <size_t>x.numel * itemsize_of(x.dtype_code)
    if nbytes >= SHARED_BYTES and x.contiguous and x.storage is not None and x.device_type == CPU:
        if nbytes == (<StorageImpl>x.storage).size_bytes and self.loops[x.dtype_code].function != NULL:
            if not self.changes_complex or dtype_of_code(x.dtype_code).kind != "c":
                return LAZY_CLONE.call1(<object>args[0])
    return run_one(kernel, table, args)


cdef class OutKernel(Kernel):
    """Run a ufunc's loop and write the result to a tensor that is there: the argument `out`, or the first operand."""

    cdef UfuncKernel rules
    cdef bint is_in_place

    def __init__(self, UfuncKernel rules not None, *, in_place=False):
        self.rules, self.is_in_place, self.function = rules, in_place, write_result
        if in_place and type(rules) is UfuncKernel and rules.inputs == 2:  # others have values to check
            self.number_function = write_with_number
        self.name = f"{rules.operator_name} {'in place' if in_place else 'to out'} by numpy.{rules.source}"


cdef object write_result(Kernel kernel, object table, arguments_t args):
    cdef OutKernel self = <OutKernel>kernel
    cdef UfuncKernel rules = self.rules
    cdef TensorBase right = None
    if rules.inputs == 2:
        right = <TensorBase>args[1]
        if rules.has_alpha:
            right = scaled(<TensorBase>args[0], right, <object>args[2])
    return UfuncKernel_write(
        rules, <TensorBase>args[0], right, <TensorBase>args[0 if self.is_in_place else rules.inputs + rules.has_alpha])


cdef object write_with_number(Kernel kernel, object tensor, void* number, bint is_left):
    cdef TensorImpl x = (<TensorBase>tensor).impl
    cdef typed_loop_t* loop = &(<OutKernel>kernel).rules.loops[x.dtype_code]
    if loop.function == NULL or loop.result_code != x.dtype_code or x.device_type != CPU:
        return None
    check_writable_once(x)
    run_beside_number(loop, x, number, is_left, x)
    TensorImpl_bump_version(x)
    return tensor


cdef class CopyingOutKernel(Kernel):
    """Call an operator that makes a tensor, and copy that to the argument `out`, which comes behind all of its."""

    cdef OperatorTable maker

    def __init__(self, OperatorTable maker not None):
        self.maker, self.function, self.name = maker, make_and_copy, f"{maker.schema.name}, then copy_"


cdef object make_and_copy(Kernel kernel, object table, arguments_t args):
    cdef CopyingOutKernel self = kernel
    cdef int last = (<OperatorTable>table).count - 1
    cdef TensorBase out = <TensorBase>args[last]
    cdef tuple inputs = tuple([<object>args[i] for i in range(last)])
    cdef TensorBase made = self.maker.call(inputs, None)
    check_result_type(made.impl.dtype_code, out.impl.dtype_code)
    check_output_shape(made.impl, None, out.impl)
    check_device(made.impl, out.impl)
    return COPY_.call2(out, made)


# ---- whether two tensors are equal: by the loops that say where they differ, up to the first difference


cdef struct search_t:
    inner_loop_t function
    void* data
    bint is_found


cdef object are_equal(Kernel kernel, object table, arguments_t args):
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl y = (<TensorBase>args[1]).impl
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef search_t search
    cdef uint8_t nothing
    if x.device_type != y.device_type:
        refuse_devices(x, y)
    cdef typed_loop_t* loop = &DIFFERS.loops[UfuncKernel_code(DIFFERS, promote_codes(x.dtype_code, y.dtype_code))]
    if not TensorImpl_same_sizes(x, y):
        return False
    search.function, search.data, search.is_found = loop.function, loop.data, False
    if x.dtype_code != loop.code or y.dtype_code != loop.code:
        wrap_loop(&wrapped, loop, x, y, loop.result_code)
        search.function, search.data = converting_loop, &wrapped
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, y, <void*>TensorImpl_const_data(y))
    iterator_add_element(&iterator, &nothing)  # in the place of a result, which no walk goes without
    iterator_run(&iterator, search_run, &search)
    return not search.is_found


cdef void search_run(char** data, const npy_intp* count, const npy_intp* steps, void* search) noexcept nogil:
    """Inner loop: compare blocks; stop all threads at the first difference."""
    cdef search_t* self = <search_t*>search
    cdef uint8_t differs[SEARCH_ELEMENTS]
    cdef npy_intp[3] block_steps = [steps[0], steps[1], 1]
    cdef (char*)[3] block
    cdef npy_intp start = 0
    cdef npy_intp taken = SEARCH_ELEMENTS // 16  # few, then more: the first difference is often near
    while start < count[0] and not self.is_found:
        taken = min(count[0] - start, 2 * taken, <npy_intp>SEARCH_ELEMENTS)
        block[0], block[1], block[2] = data[0] + start * steps[0], data[1] + start * steps[1], <char*>differs
        self.function(block, &taken, block_steps, self.data)
        if memchr(differs, 1, taken) != NULL:
            self.is_found = True
        start += taken


cdef class ClipKernel(Kernel):
    """Bound a tensor from below and above: on the CPU at once, or by two other operators, which serve every device."""

    cdef OperatorTable maximum
    cdef OperatorTable minimum
    cdef const inner_loop_t* loops  # by element types, for both bounds at once

    def __init__(self, OperatorTable maximum not None, OperatorTable minimum not None):
        cdef int is_math
        self.maximum, self.minimum, self.loops = maximum, minimum, faster_loops("clip", &is_math)
        self.function, self.name = clip, "maximum and minimum"


cdef object clip(Kernel kernel, object table, arguments_t args):
    cdef ClipKernel self = <ClipKernel>kernel
    cdef TensorBase x = <TensorBase>args[0]
    cdef TensorBase low = <TensorBase>args[1]
    cdef TensorBase high = <TensorBase>args[2]
    if is_bound(low, x.impl) and is_bound(high, x.impl):
        if self.loops[x.impl.dtype_code] != NULL:
            return clipped(self.loops[x.impl.dtype_code], x.impl, low.impl, high.impl)
    cdef TensorBase raised = x if low is None else self.maximum.call2(x, low)
    if high is not None:
        return self.minimum.call2(raised, high)
    return raised if low is not None else CLONE.call1(x)


cdef bint is_bound(TensorBase bound, TensorImpl x):
    """Return whether it is a single element of the tensor's type, and both can be read here."""
    if bound is None or bound.impl.ndim != 0 or bound.impl.dtype_code != x.dtype_code:
        return False
    return bound.impl.device_type == CPU and x.device_type == CPU and x.storage is not None


cdef object clipped(inner_loop_t loop, TensorImpl x, TensorImpl low, TensorImpl high):
    """Walk over a tensor once, for both bounds."""
    cdef iterator_t iterator
    cdef TensorImpl made = new_result(x.ndim, TensorImpl_sizes(x), x.dtype_code, x, x)
    result = Tensor_wrap(made)
    cdef void* target = TensorImpl_mutable_data(made)
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, low, <void*>TensorImpl_const_data(low))
    iterator_add(&iterator, high, <void*>TensorImpl_const_data(high))
    iterator_add(&iterator, made, target)
    iterator_run(&iterator, loop, NULL)
    return result


cdef int UfuncKernel_take_loops(UfuncKernel self, ufunc function, str kinds) except -1:
    """Enter every loop whose inputs are of one type that tensix has, of one of NumPy's kinds."""
    cdef const uint8_t* types
    cdef typed_loop_t* loop
    cdef int i
    for i in range(function.ntypes):
        types = <const uint8_t*>types_of_loop(function, i)
        if types[0] != types[function.nin - 1] or CODES[types[0]] < 0 or CODES[types[function.nin]] < 0:
            continue  # times, objects, long double: tensix lacks these types
        loop = &self.loops[CODES[types[0]]]
        if dtype_of_code(CODES[types[0]]).kind in kinds and loop.function == NULL:
            loop.function = <inner_loop_t><void*>function.functions[i]  # it needs no GIL
            loop.data = <void*>function.data[i] if function.data != NULL else NULL
            loop.code, loop.result_code = CODES[types[0]], CODES[types[function.nin]]
            loop.keeps_rows = self.inputs == 1 and self.promotes and self.source != "sqrt"
            loop.waits_for_memory = self.source in WAIT_FOR_MEMORY
    return 0


cdef int CODES[24]  # tensix's type codes by NumPy's 24 type numbers; -1 for types that tensix lacks
memset(CODES, -1, sizeof(CODES))
for _code in range(46):
    _dtype = dtype_of_code(_code)
    if _dtype is not None and _code != BFLOAT16:  # See Note [bfloat16 and NumPy]
        CODES[<int>_dtype.numpy.num] = _code
cdef UfuncKernel DIFFERS = UfuncKernel("array_equal", np.not_equal)
ARRAY_EQUAL = Kernel_of("numpy.not_equal up to the first difference", are_equal)


cdef int UfuncKernel_correct(UfuncKernel self) except -1:
    """Put the loops that run in the place of NumPy's in the table; NumPy's are kept, as some of those call them."""
    cdef int is_math = False
    cdef const inner_loop_t* faster = faster_loops(self.operator_name, &is_math)
    cdef inner_loop_t loop
    cdef int code
    for code in range(47):
        loop = corrected_loop(self.operator_name, code)
        if loop == NULL and faster != NULL:
            loop = faster[code]
        if loop != NULL and (self.loops[code].function != NULL or code == BFLOAT16):  # NumPy does not know bfloat16
            self.originals[code].function, self.originals[code].data = self.loops[code].function, self.loops[code].data
            if is_math:
                types = ("f" if code == FLOAT32 else "d") * (self.inputs + 1)
                self.originals[code].level = level_of_numpy(self.source, types)
            self.loops[code].function, self.loops[code].data = loop, &self.originals[code]
            if self.originals[code].function == NULL:
                self.loops[code].code = self.loops[code].result_code = code
    if is_math or self.operator_name == "floor_divide":
        self.loops[FLOAT16].function = NULL
    return 0


cdef int UfuncKernel_code(UfuncKernel self, uint8_t code) except -1:
    """Return the element type whose loop serves a type: dispatch's second stage."""
    if self.loops[code].function != NULL:
        return code
    if (code == BFLOAT16 or code == FLOAT16) and self.loops[FLOAT32].function != NULL:
        return FLOAT32  # See Note [bfloat16 and NumPy] and Note [Vector mathematics]
    kind = dtype_of_code(code).kind
    if self.promotes and kind in "biu":
        return default_float_code()
    hint = HINTS.get((self.operator_name, kind == "b"), "")
    raise TypeError(f"{self.operator_name}() is not defined for {dtype_of_code(code).name}.{hint}")


cdef int UfuncKernel_result_code(UfuncKernel self, uint8_t code) except -1:
    """Return the element type of the result for operands of one."""
    cdef int result = self.loops[UfuncKernel_code(self, code)].result_code
    return code if result == FLOAT32 and (code == BFLOAT16 or code == FLOAT16) else result


cdef TensorBase scaled(TensorBase left, TensorBase right, object alpha):
    """Return the second operand of a sum times a factor, whose kind must not be above that of the sum."""
    if alpha == 1:
        return right
    if isinstance(alpha, np.generic):
        alpha = alpha.item()
    dtype = dtype_of_code(promote_codes(left.impl.dtype_code, right.impl.dtype_code))
    if isinstance(alpha, complex) > (dtype.kind == "c") or (isinstance(alpha, float) and dtype.kind not in "fc"):
        raise TypeError(f"a sum of type {dtype.name} cannot take alpha={alpha!r}: it must not be of a higher kind.")
    global MUL
    if MUL is None:
        MUL = dispatcher.get_op_table("mul.Tensor")
    return MUL.call2(right, scalar_like(right, alpha))


cdef TensorImpl UfuncKernel_result(UfuncKernel self, TensorImpl x, TensorImpl y):
    """Return the result for operands of any types; `y` is None if there is one operand only."""
    common = x.dtype_code if y is None else promote_codes(x.dtype_code, y.dtype_code)
    cdef typed_loop_t* loop = &self.loops[UfuncKernel_code(self, common)]
    result_code = UfuncKernel_result_code(self, common)
    return run_loop(loop, x, y, None, result_code)


cdef object UfuncKernel_write(UfuncKernel self, TensorBase a, TensorBase b, TensorBase target):
    """Write the result to a tensor, as if the operands had been copied first; return that tensor."""
    cdef TensorImpl x = a.impl
    cdef TensorImpl y = None if b is None else b.impl
    cdef TensorImpl out = target.impl
    common = x.dtype_code if y is None else promote_codes(x.dtype_code, y.dtype_code)
    code = UfuncKernel_code(self, common)
    check_result_type(UfuncKernel_result_code(self, common), out.dtype_code)
    check_output_shape(x, y, out)
    check_writable_once(out)
    check_device(x, out)
    if y is not None:
        check_device(y, out)
    if out.device_type == META:
        return target
    self.check(x, y)
    TensorImpl_mutable_data(out)  # a copy-on-write output gets its own bytes before anything is compared
    cdef TensorImpl left = without_overlap(x, out)
    cdef TensorImpl right = None if y is None else without_overlap(y, out)
    TensorImpl_mutable_data(out)  # once more: it may have been cloned while the operands were copied
    run_loop(&self.loops[code], left, right, out, out.dtype_code)
    TensorImpl_bump_version(out)
    return target


cdef int check_output_shape(TensorImpl x, TensorImpl y, TensorImpl out) except -1:
    """Check that the output has the very shape of the result."""
    cdef int64_t sizes[64]
    cdef int ndim
    if TensorImpl_same_sizes(x, out) and (y is None or y.numel == 1 and y.ndim == 0 or TensorImpl_same_sizes(y, out)):
        return 0
    ndim = broadcast_sizes(x, x if y is None else y, sizes)
    shape = tuple([sizes[i] for i in range(ndim)])
    if shape != TensorImpl_shape(out):
        raise ValueError(
            f"output with shape {TensorImpl_shape(out)} doesn't match the broadcast shape {shape}: an output is not "
            "broadcast."
        )
    return 0


cdef int check_device(TensorImpl operand, TensorImpl out) except -1:
    """Check that an operand is where the output is; a number on the CPU is as good as everywhere."""
    if operand.device_type != out.device_type and not (operand.device_type == CPU and operand.ndim == 0):
        refuse_devices(operand, out)
    return 0


cdef TensorImpl without_overlap(TensorImpl operand, TensorImpl out):
    """Return an operand that does not change while the output is written: a copy, if the two overlap.

    Lying over each other element by element does no harm: a loop reads an element before it writes there.
    """
    if not may_overlap(operand, out) or is_same_view(operand, out):
        return operand
    return copied(operand, operand.dtype_code)


cdef TensorImpl run_loop(typed_loop_t* loop, TensorImpl x, TensorImpl y, TensorImpl out, uint8_t result_code):
    """Run over one tensor or two and write to `out`, or to a new tensor of a type if that is None; `y` may be None.

    Where types are not the loop's, elements are converted in blocks. See Note [Conversion in blocks].
    """
    cdef int64_t sizes[64]
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef int ndim
    cdef TensorImpl like
    cdef void* target
    cdef bint fits = x.dtype_code == loop.code and result_code == loop.result_code
    fits = fits and (y is None or y.dtype_code == loop.code)
    if fits and x.contiguous and (y is None or y.contiguous) and (out is None or out.contiguous):
        like = x if y is None else flat_shape(x, y)
        if like is not None and like.numel < GRAIN_ELEMENTS:
            if out is None:
                out = empty_impl(like.ndim, TensorImpl_sizes(like), result_code, x.device_type, x.device_index)
            target = TensorImpl_mutable_data(out)
            run_flat(loop, x, y, out, target)
            return out
    ndim = broadcast_sizes(x, x if y is None else y, sizes)
    if out is None:
        out = new_result(ndim, sizes, result_code, x, x if y is None else y)
    target = TensorImpl_mutable_data(out)
    iterator_start(&iterator, ndim, sizes)
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    if y is not None:
        iterator_add(&iterator, y, <void*>TensorImpl_const_data(y))
    iterator_add(&iterator, out, target)
    iterator.keeps_rows, iterator.waits_for_memory = loop.keeps_rows, loop.waits_for_memory
    if fits:
        iterator_run(&iterator, loop.function, loop.data)
        return out
    wrap_loop(&wrapped, loop, x, y, result_code)
    iterator_run(&iterator, converting_loop, &wrapped)
    return out


cdef TensorImpl run_beside_number(typed_loop_t* loop, TensorImpl x, void* number, bint is_left, TensorImpl out):
    """Run over a tensor of the loop's type and one element, and write to `out`, or to a new tensor if that is None."""
    cdef iterator_t iterator
    cdef npy_intp count
    cdef npy_intp steps[3]
    cdef char* data[3]
    if out is None:
        out = new_result(x.ndim, TensorImpl_sizes(x), loop.result_code, x, x)
    cdef void* target = TensorImpl_mutable_data(out)
    cdef void* source = <void*>TensorImpl_const_data(x)
    if x.contiguous and out.contiguous and x.numel < GRAIN_ELEMENTS:
        count = x.numel
        data[is_left], data[not is_left], data[2] = <char*>source, <char*>number, <char*>target
        steps[is_left], steps[not is_left], steps[2] = itemsize_of(loop.code), 0, itemsize_of(loop.result_code)
        if count != 0:
            loop.function(data, &count, steps, loop.data)
        return out
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    if is_left:
        iterator_add_element(&iterator, number)
    iterator_add(&iterator, x, source)
    if not is_left:
        iterator_add_element(&iterator, number)
    iterator_add(&iterator, out, target)
    iterator.waits_for_memory = loop.waits_for_memory
    iterator_run(&iterator, loop.function, loop.data)
    return out


cdef int wrap_loop(
        converting_loop_t* self, typed_loop_t* loop, TensorImpl x, TensorImpl y, uint8_t result_code) except -1:
    """Wrap a loop so that the inputs are converted to its type, and its result from it; `y` may be None."""
    cdef int last = 1 if y is None else 2
    converting_loop_init(self, loop.function, loop.data, last + 1)
    if x.dtype_code != loop.code:
        conversion_init(&self.conversions[0], x.dtype_code, loop.code)
    if last == 2 and y.dtype_code != loop.code:
        conversion_init(&self.conversions[1], y.dtype_code, loop.code)
    if result_code != loop.result_code:
        conversion_init(&self.conversions[last], loop.result_code, result_code)
    return 0


cdef inline TensorImpl flat_shape(TensorImpl x, TensorImpl y):
    """Return the one whose shape the result has, if both are of that shape or one is a single element; else None."""
    if TensorImpl_same_sizes(x, y) or (y.numel == 1 and y.ndim <= x.ndim):
        return x
    if x.numel == 1 and x.ndim <= y.ndim:
        return y
    return None


cdef int run_flat(typed_loop_t* loop, TensorImpl x, TensorImpl y, TensorImpl out, void* target) except -1:
    """Run over small tensors that lie in memory as one run each, a single element as a run of steps 0."""
    cdef npy_intp count = out.numel
    cdef npy_intp steps[3]
    cdef char* data[3]
    cdef int last = 1
    steps[0] = itemsize_of(x.dtype_code)
    data[0] = <char*>TensorImpl_const_data(x)
    if y is not None:
        steps[1] = steps[0] if y.numel == count else 0
        steps[0] = steps[0] if x.numel == count else 0
        data[1] = <char*>TensorImpl_const_data(y)
        last = 2
    steps[last] = itemsize_of(out.dtype_code)
    data[last] = <char*>target
    if count != 0:
        loop.function(data, &count, steps, loop.data)
    return 0
