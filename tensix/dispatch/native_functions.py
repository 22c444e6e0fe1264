"""The operators of tensix, declared once each; their kernels are registered by the floors above.

`define` returns the operator's table, which is also what its callers hold: no call looks an operator up by name.
"""

from tensix.dispatch.dispatcher import dispatcher

define = dispatcher.define
OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

# creation
EMPTY = define(f"empty.memory_format(int[] size, *, {OPTIONS}, MemoryFormat? memory_format=None) -> Tensor")
ZEROS = define(f"zeros(int[] size, *, {OPTIONS}) -> Tensor")
ONES = define(f"ones(int[] size, *, {OPTIONS}) -> Tensor")
FULL = define(f"full(int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor")
RAND = define(f"rand(int[] size, *, Generator? generator=None, {OPTIONS}) -> Tensor")
RANDN = define(f"randn(int[] size, *, Generator? generator=None, {OPTIONS}) -> Tensor")
CLONE = define("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
LAZY_CLONE = define("lazy_clone(Tensor self) -> Tensor")
DETACH = define("detach(Tensor(a) self) -> Tensor(a)")
TO_COPY = define("_to_copy(Tensor self, *, Device device) -> Tensor")

INDEX_TENSOR = define("index.Tensor(Tensor self, Index index) -> Tensor")

# in place
COPY_ = define("copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)")
SET_ = define("set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)")
FILL_ = define("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)")
INDEX_PUT_ = define("index_put_(Tensor(a!) self, Index index, Tensor values) -> Tensor(a!)")
UNIFORM_ = define("uniform_(Tensor(a!) self, Generator? generator=None) -> Tensor(a!)")
NORMAL_ = define("normal_(Tensor(a!) self, Generator? generator=None) -> Tensor(a!)")

# views
INDEX = define("index.basic(Tensor(a) self, Index index) -> Tensor(a)")
VIEW = define("view(Tensor(a) self, int[] size) -> Tensor(a)")
VIEW_DTYPE = define("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
CONTIGUOUS = define("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)")
FLATTEN = define("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")
UNFLATTEN = define("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)")
RESHAPE = define("reshape(Tensor(a) self, int[] shape) -> Tensor(a)")
PERMUTE = define("permute(Tensor(a) self, int[] dims) -> Tensor(a)")
TRANSPOSE = define("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
MOVEDIM = define("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
T = define("t(Tensor(a) self) -> Tensor(a)")
MATRIX_TRANSPOSE = define("mT(Tensor(a) self) -> Tensor(a)")
REVERSE_DIMS = define("numpy_T(Tensor(a) self) -> Tensor(a)")
EXPAND = define("expand(Tensor(a) self, int[] size) -> Tensor(a)")
SQUEEZE = define("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)")
UNSQUEEZE = define("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)")
SELECT = define("select.int(Tensor(a) self, int dim, int index) -> Tensor(a)")
NARROW = define("narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)")
DIAGONAL = define("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
UNFOLD = define("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)")
AS_STRIDED = define("as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)")
UNBIND = define("unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]")
SPLIT = define("split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]")
SPLIT_WITH_SIZES = define("split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]")
CHUNK = define("chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]")

# elementwise functions, each with a variant that writes to `out`, and the operator signs with one that writes to `self`
OUT_VARIANTS = {}
IN_PLACE_VARIANTS = {}


def unary(name):
    """Declare an elementwise operator of one tensor."""
    table = define(f"{name}(Tensor self) -> Tensor")
    OUT_VARIANTS[table] = define(f"{name}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
    return table


def binary(name, options=""):
    """Declare an elementwise operator of two tensors."""
    table = define(f"{name}.Tensor(Tensor self, Tensor other{options and f', *, {options}'}) -> Tensor")
    options = f"*, {options}, " if options else "*, "
    OUT_VARIANTS[table] = define(f"{name}.out(Tensor self, Tensor other, {options}Tensor(a!) out) -> Tensor(a!)")
    return table


def in_place(table):
    """Declare the variant of a binary operator that writes to its first operand."""
    schema = table.schema
    arguments = schema.text[schema.text.index("(") :].replace("Tensor self", "Tensor(a!) self")
    made = define(f"{schema.name}_.Tensor{arguments.removesuffix('-> Tensor')}-> Tensor(a!)")
    IN_PLACE_VARIANTS[table] = made
    return made


ABS = unary("abs")
ACOS = unary("acos")
ACOSH = unary("acosh")
ASIN = unary("asin")
ASINH = unary("asinh")
ATAN = unary("atan")
ATANH = unary("atanh")
BITWISE_INVERT = unary("bitwise_invert")
CEIL = unary("ceil")
CONJ = unary("conj")
COS = unary("cos")
COSH = unary("cosh")
EXP = unary("exp")
EXPM1 = unary("expm1")
FLOOR = unary("floor")
ISFINITE = unary("isfinite")
ISINF = unary("isinf")
ISNAN = unary("isnan")
LOG = unary("log")
LOG10 = unary("log10")
LOG1P = unary("log1p")
LOG2 = unary("log2")
LOGICAL_NOT = unary("logical_not")
NEG = unary("neg")
POSITIVE = unary("positive")
RECIPROCAL = unary("reciprocal")
ROUND = unary("round")
SIGN = unary("sign")
SIGNBIT = unary("signbit")
SIN = unary("sin")
SINH = unary("sinh")
SQRT = unary("sqrt")
SQUARE = unary("square")
TAN = unary("tan")
TANH = unary("tanh")
TRUNC = unary("trunc")

ADD = binary("add", "Scalar alpha=1")
SUB = binary("sub", "Scalar alpha=1")
MUL = binary("mul")
DIV = binary("div")
FLOOR_DIVIDE = binary("floor_divide")
REMAINDER = binary("remainder")
POW = binary("pow")
BITWISE_AND = binary("bitwise_and")
BITWISE_OR = binary("bitwise_or")
BITWISE_XOR = binary("bitwise_xor")
BITWISE_LEFT_SHIFT = binary("bitwise_left_shift")
BITWISE_RIGHT_SHIFT = binary("bitwise_right_shift")
ATAN2 = binary("atan2")
COPYSIGN = binary("copysign")
HYPOT = binary("hypot")
LOGADDEXP = binary("logaddexp")
LOGICAL_AND = binary("logical_and")
LOGICAL_OR = binary("logical_or")
LOGICAL_XOR = binary("logical_xor")
MAXIMUM = binary("maximum")
MINIMUM = binary("minimum")
NEXTAFTER = binary("nextafter")
EQUAL = binary("equal")
NOT_EQUAL = binary("not_equal")
LESS = binary("less")
LESS_EQUAL = binary("less_equal")
GREATER = binary("greater")
GREATER_EQUAL = binary("greater_equal")

ADD_ = in_place(ADD)
SUB_ = in_place(SUB)
MUL_ = in_place(MUL)
DIV_ = in_place(DIV)
FLOOR_DIVIDE_ = in_place(FLOOR_DIVIDE)
REMAINDER_ = in_place(REMAINDER)
POW_ = in_place(POW)
BITWISE_AND_ = in_place(BITWISE_AND)
BITWISE_OR_ = in_place(BITWISE_OR)
BITWISE_XOR_ = in_place(BITWISE_XOR)
BITWISE_LEFT_SHIFT_ = in_place(BITWISE_LEFT_SHIFT)
BITWISE_RIGHT_SHIFT_ = in_place(BITWISE_RIGHT_SHIFT)

CLIP = define("clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
REAL = define("real(Tensor(a) self) -> Tensor(a)")
IMAG = define("imag(Tensor(a) self) -> Tensor(a)")
MATMUL = define("matmul(Tensor self, Tensor other) -> Tensor")

# reductions
SUM = define("sum(Tensor self, *, int[]? axis=None, ScalarType? dtype=None, bool keepdims=False) -> Tensor")
PROD = define("prod(Tensor self, *, int[]? axis=None, ScalarType? dtype=None, bool keepdims=False) -> Tensor")
MAX = define("max(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
MIN = define("min(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
ANY = define("any(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
ALL = define("all(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
MEAN = define("mean(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
VAR = define("var(Tensor self, *, int[]? axis=None, Scalar correction=0.0, bool keepdims=False) -> Tensor")
STD = define("std(Tensor self, *, int[]? axis=None, Scalar correction=0.0, bool keepdims=False) -> Tensor")
ARGMAX = define("argmax(Tensor self, *, int? axis=None, bool keepdims=False) -> Tensor")
ARGMIN = define("argmin(Tensor self, *, int? axis=None, bool keepdims=False) -> Tensor")
COUNT_NONZERO = define("count_nonzero(Tensor self, *, int[]? axis=None, bool keepdims=False) -> Tensor")
CUMULATIVE = "int? axis=None, ScalarType? dtype=None, bool include_initial=False"
CUMULATIVE_SUM = define(f"cumulative_sum(Tensor self, *, {CUMULATIVE}) -> Tensor")
CUMULATIVE_PROD = define(f"cumulative_prod(Tensor self, *, {CUMULATIVE}) -> Tensor")

# sparse
SPARSE_COO_TENSOR = define("sparse_coo_tensor(Tensor indices, Tensor values, int[]? size=None) -> Tensor")
INDICES = define("indices(Tensor(a) self) -> Tensor(a)")
VALUES = define("values(Tensor(a) self) -> Tensor(a)")
NNZ = define("_nnz(Tensor self) -> int")
IS_COALESCED = define("is_coalesced(Tensor self) -> bool")
COALESCE = define("coalesce(Tensor(a) self) -> Tensor(a)")
TO_DENSE = define("to_dense(Tensor self) -> Tensor")
TO_SPARSE = define("to_sparse(Tensor self) -> Tensor")
