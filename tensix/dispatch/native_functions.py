"""The operators of tensix, declared once each; their kernels are registered by the floors above.

`define` returns the operator's table, which is also what its callers hold: no call looks up an operator by name.
"""

from tensix.dispatch.dispatcher import dispatcher
from tensix.dispatch.schema import declared_schema


def define(schema):
    """Declare an operator of tensix, whose schema is read when it is first needed."""
    return dispatcher.define(declared_schema(schema))


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
SQUEEZE = define("squeeze.dims(Tensor(a) self, int[]? dim=None) -> Tensor(a)")
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

# elementwise functions; the others are declared in `tensix.kernels.elementwise`
ARRAY_EQUAL = define("array_equal(Tensor self, Tensor other) -> bool")
CLIP = define("clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
REAL = define("real(Tensor(a) self) -> Tensor(a)")
IMAG = define("imag(Tensor(a) self) -> Tensor(a)")
DOT = define("dot(Tensor self, Tensor other) -> Tensor")
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

# more creation
ARANGE = define(f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor")
LINSPACE = define(f"linspace(Scalar start, Scalar end, int steps, *, bool endpoint=True, {OPTIONS}) -> Tensor")
EYE = define(f"eye.m(int n, int m, *, int k=0, {OPTIONS}) -> Tensor")
EMPTY_STRIDED = define(f"empty_strided(int[] size, int[] stride, *, {OPTIONS}) -> Tensor")
EMPTY_LIKE = define(f"empty_like(Tensor self, *, {OPTIONS}) -> Tensor")
FULL_LIKE = define(f"full_like(Tensor self, Scalar fill_value, *, {OPTIONS}) -> Tensor")
MESHGRID = define("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")
TRIL = define("tril(Tensor self, int k=0) -> Tensor")
TRIU = define("triu(Tensor self, int k=0) -> Tensor")
ASTYPE = define("to.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
RANDINT = define(f"randint.low(int low, int high, int[] size, *, Generator? generator=None, {OPTIONS}) -> Tensor")
RANDOM_ = define("random_.from(Tensor(a!) self, int from, int to, *, Generator? generator=None) -> Tensor(a!)")

# indexing, searching, sorting, sets
TAKE = define("take(Tensor self, Tensor index, *, int? axis=None) -> Tensor")
TAKE_ALONG_AXIS = define("take_along_dim(Tensor self, Tensor indices, int axis) -> Tensor")
WHERE = define("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")
NONZERO = define("nonzero_numpy(Tensor self) -> Tensor[]")
ARGWHERE = define("argwhere(Tensor self) -> Tensor")
SEARCHSORTED = define("searchsorted(Tensor sorted, Tensor self, *, str side, Tensor? sorter=None) -> Tensor")
SORT = define("sort.stable(Tensor self, int axis, *, bool descending, bool stable) -> Tensor")
ARGSORT = define("argsort.stable(Tensor self, int axis, *, bool descending, bool stable) -> Tensor")
PARTITION = define("partition(Tensor self, int[] kth, int axis) -> Tensor")
ISIN = define("isin(Tensor elements, Tensor test_elements, *, bool invert=False) -> Tensor")
UNIQUE_ALL = define("unique_all(Tensor self) -> (Tensor, Tensor, Tensor, Tensor)")
UNIQUE_COUNTS = define("unique_counts(Tensor self) -> (Tensor, Tensor)")
UNIQUE_INVERSE = define("unique_inverse(Tensor self) -> (Tensor, Tensor)")
UNIQUE_VALUES = define("unique_values(Tensor self) -> Tensor")
DIFF = define("diff(Tensor self, int n, int axis, Tensor? prepend=None, Tensor? append=None) -> Tensor")

# joining, repeating
CONCAT = define("cat(Tensor[] tensors, int? axis=0) -> Tensor")
STACK = define("stack(Tensor[] tensors, int axis=0) -> Tensor")
REPEAT = define("repeat_interleave.int(Tensor self, int repeats, int? axis=None) -> Tensor")
REPEAT_TENSOR = define("repeat_interleave.Tensor(Tensor self, Tensor repeats, int? axis=None) -> Tensor")
ROLL = define("roll(Tensor self, int[] shift, int[]? axis=None) -> Tensor")
TILE = define("tile(Tensor self, int[] dims) -> Tensor")
FLIP = define("flip(Tensor(a) self, int[]? dims=None) -> Tensor(a)")

# linear algebra
EINSUM = define("einsum(str equation, Tensor[] tensors) -> Tensor")
TENSORDOT = define("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
VECDOT = define("linalg_vecdot(Tensor x, Tensor y, int axis=-1) -> Tensor")
CHOLESKY = define("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")
CROSS = define("linalg_cross(Tensor self, Tensor other, int axis=-1) -> Tensor")
DET = define("linalg_det(Tensor self) -> Tensor")
EIG = define("linalg_eig(Tensor self) -> (Tensor, Tensor)")
EIGVALS = define("linalg_eigvals(Tensor self) -> Tensor")
EIGH = define("linalg_eigh(Tensor self) -> (Tensor, Tensor)")
EIGVALSH = define("linalg_eigvalsh(Tensor self) -> Tensor")
INV = define("linalg_inv(Tensor self) -> Tensor")
MATRIX_NORM = define("linalg_matrix_norm(Tensor self, *, bool keepdims, Ord? ord) -> Tensor")
MATRIX_POWER = define("linalg_matrix_power(Tensor self, int n) -> Tensor")
MATRIX_RANK = define("linalg_matrix_rank(Tensor self, *, Tensor? rtol=None) -> Tensor")
OUTER = define("outer(Tensor self, Tensor vec2) -> Tensor")
PINV = define("linalg_pinv(Tensor self, Tensor? rtol=None) -> Tensor")
QR = define("linalg_qr(Tensor self, str mode) -> (Tensor, Tensor)")
SLOGDET = define("linalg_slogdet(Tensor self) -> (Tensor, Tensor)")
SOLVE = define("linalg_solve(Tensor self, Tensor other) -> Tensor")
SVD = define("linalg_svd(Tensor self, bool full_matrices=True) -> (Tensor, Tensor, Tensor)")
SVDVALS = define("linalg_svdvals(Tensor self) -> Tensor")
TRACE = define("linalg_trace(Tensor self, int offset, ScalarType? dtype) -> Tensor")
VECTOR_NORM = define("linalg_vector_norm(Tensor self, *, int[]? axis, bool keepdims, Scalar ord) -> Tensor")

# Fourier transforms
FFT_ONE = "Tensor self, int? n, int axis, str norm"
FFT_MANY = "Tensor self, int[]? s, int[]? axes, str norm"
FFT = define(f"fft_fft({FFT_ONE}) -> Tensor")
IFFT = define(f"fft_ifft({FFT_ONE}) -> Tensor")
RFFT = define(f"fft_rfft({FFT_ONE}) -> Tensor")
IRFFT = define(f"fft_irfft({FFT_ONE}) -> Tensor")
HFFT = define(f"fft_hfft({FFT_ONE}) -> Tensor")
IHFFT = define(f"fft_ihfft({FFT_ONE}) -> Tensor")
FFTN = define(f"fft_fftn({FFT_MANY}) -> Tensor")
IFFTN = define(f"fft_ifftn({FFT_MANY}) -> Tensor")
RFFTN = define(f"fft_rfftn({FFT_MANY}) -> Tensor")
IRFFTN = define(f"fft_irfftn({FFT_MANY}) -> Tensor")
FFTSHIFT = define("fft_fftshift(Tensor self, int[]? axes=None) -> Tensor")
IFFTSHIFT = define("fft_ifftshift(Tensor self, int[]? axes=None) -> Tensor")
FFTFREQ = define(f"fft_fftfreq(int n, float d=1.0, *, {OPTIONS}) -> Tensor")
RFFTFREQ = define(f"fft_rfftfreq(int n, float d=1.0, *, {OPTIONS}) -> Tensor")
