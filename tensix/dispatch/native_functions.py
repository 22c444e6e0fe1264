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

# arithmetic
ADD = define("add.Tensor(Tensor self, Tensor other) -> Tensor")
SUB = define("sub.Tensor(Tensor self, Tensor other) -> Tensor")
MUL = define("mul.Tensor(Tensor self, Tensor other) -> Tensor")
DIV = define("div.Tensor(Tensor self, Tensor other) -> Tensor")
NEG = define("neg(Tensor self) -> Tensor")
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
