"""What NumPy's and PyTorch's users look for under another name, and what to use here.

`AttributeError` says it of names that tensix, its public modules and tensors lack; what they have is not asked for
here. Of functions that are not listed NumPy knows whether its own take tensors. "The standard" is that of array APIs.
"""

import numpy as np

__all__ = ["AbsentName", "advice"]

# Another name -> the standard's.
STANDARD = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "asanyarray": "asarray",
    "bitwise_not": "bitwise_invert", "bool_": "bool", "broadcast_tensors": "broadcast_arrays", "cdouble": "complex128",
    "cfloat": "complex64", "complex_": "complex128", "conjugate": "conj", "csingle": "complex64", "div": "divide",
    "double": "float64", "eq": "equal", "fix": "trunc", "float_": "float64", "ge": "greater_equal", "gt": "greater",
    "half": "float16", "in1d": "isin", "Inf": "inf", "Infinity": "inf", "int_": "int64", "intc": "int32",
    "intp": "int64", "inverse": "inv", "invert": "bitwise_invert", "le": "less_equal",
    "left_shift": "bitwise_left_shift", "longlong": "int64", "lt": "less", "mod": "remainder", "movedim": "moveaxis",
    "mul": "multiply", "NAN": "nan", "NaN": "nan", "ne": "not_equal", "neg": "negative", "permute_axes": "permute_dims",
    "power": "pow", "repeat_interleave": "repeat", "right_shift": "bitwise_right_shift", "rint": "round",
    "short": "int16", "single": "float32", "sub": "subtract", "true_divide": "divide", "ubyte": "uint8",
    "uint": "uint64", "unbind": "unstack", "ushort": "uint16",
}  # fmt: skip

# What the standard has no function for -> what to write.
FUNCTIONS = {
    "addcmul": "write `x + value * a * b`",
    "addmm": "write `x + y @ z`",
    "aminmax": "use `min` and `max`",
    "angle": "use `atan2(imag(x), real(x))`",
    **dict.fromkeys(("append", "r_"), "use `concat`"),
    "apply_along_axis": "call the function in a loop over `x`, and `stack` the results",
    "argpartition": "use `argsort`",
    "array": "`tensor` copies numbers and arrays, `asarray` shares what it can",
    **dict.fromkeys(("array_split", "tensor_split"), "use `split`"),
    "as_strided": "write `x.as_strided(size, stride)`",
    "as_tensor": "`asarray` shares memory where it can",
    "ascontiguousarray": "write `x.contiguous()`",
    **dict.fromkeys(("assert_allclose", "assert_close"), "`numpy.testing.assert_allclose` takes tensors"),
    "assert_array_equal": "`numpy.testing.assert_array_equal` takes tensors",
    "assert_equal": "`numpy.testing.assert_equal` takes tensors",
    "atleast_1d": "write `x.reshape(-1)` of a tensor without dimensions",
    "atleast_2d": "write `x.unsqueeze(0)` of a vector",
    "autocast": "give `dtype=` where another is wanted",
    **dict.fromkeys(
        ("autograd", "enable_grad", "inference_mode", "no_grad", "set_grad_enabled"), "tensix records no gradients",
    ),
    "average": "write `(x * w).sum() / w.sum()`, or `mean`",
    "bernoulli": "write `rand(p.shape) < p`",
    "bincount": "`unique_counts` counts the values that there are",
    "block": "use `concat` or `stack`",
    "bmm": "`matmul` takes stacks of matrices",
    **dict.fromkeys(("bucketize", "digitize"), "use `searchsorted`, with the edges first"),
    "c_": "use `stack(tensors, axis=1)`, or `concat` with an axis",
    "cbrt": "write `sign(x) * abs(x) ** (1 / 3)`",
    "cdist": "write `linalg.vector_norm(x[:, None] - y, axis=-1)`",
    **dict.fromkeys(("chain_matmul", "multi_dot"), "use `einsum`, or `@`"),
    "choice": "write `x[randint(len(x), (n,))]`, or `x[randperm(len(x))[:n]]` without repeats",
    "choose": "use `where`, or `take_along_axis`",
    "chunk": "write `x.chunk(n)`",
    "column_stack": "use `stack(tensors, axis=1)`, or `hstack`",
    **dict.fromkeys(("compile", "jit"), "calls are run as they come"),
    **dict.fromkeys(
        ("conv1d", "conv2d", "dropout", "embedding", "functional", "gelu", "max_pool2d", "nn", "optim", "softplus"),
        "tensix has no layers and records no gradients",
    ),
    "copy": "write `x.copy()`, or `x.lazy_clone()` for a copy that is made when one of the two is written",
    "copyto": "write `x.copy_(y)`",
    **dict.fromkeys(("corrcoef", "cov"), "center the rows and use `matmul`"),
    "cosine_similarity": "use `vecdot` of vectors that are divided by their `linalg.vector_norm`",
    "cuda": "tensix has no device `cuda`",
    "deepcopy": "write `x.clone()`",
    **dict.fromkeys(("deg2rad", "radians"), "write `x * (pi / 180)`"),
    **dict.fromkeys(("degrees", "rad2deg"), "write `x * (180 / pi)`"),
    "delete": "write `x[keep]` with a mask, or `concat` what stays",
    "device": "the class is `Device`; a string will do where one is taken",
    "diag": "use `linalg.diagonal`, or `eye(n) * x`",
    "distributed": "other packages, such as mpi4py, send and receive tensors by DLPack or as buffers",
    "divmod": "use `floor_divide` and `remainder`",
    **dict.fromkeys(("dsmm", "spmm"), "use `matmul`, or `@`: one of the two may be sparse"),
    "dstack": "use `stack(tensors, axis=2)`, or `concat` with an axis",
    "dtype": "the class is `DType`, such as `float32`; a string will do where one is taken",
    "empty_permuted": "use `empty_strided`",
    "erf": "SciPy has it: write `from_numpy(scipy.special.erf(x))`",
    **dict.fromkeys(("errstate", "seterr"), "there are no warnings: divisions by zero give infinities and NaN"),
    "exp2": "write `2.0 ** x`",
    "expand_as": "use `broadcast_to`, or write `x.expand_as(y)`",
    **dict.fromkeys(("extract", "masked_select"), "write `x[mask]`"),
    "fill_diagonal": "write `x.diagonal().fill_(value)`",
    "flatnonzero": "write `nonzero(x.ravel())[0]`",
    "flatten": "write `x.flatten()`, or `reshape(x, -1)`",
    "fliplr": "use `flip(x, axis=1)`",
    "flipud": "use `flip(x, axis=0)`",
    "FloatTensor": "`tensor` makes float32 of numbers, `empty` takes a shape",
    "fmod": "`remainder` has the sign of the divisor",
    "frombuffer": "`asarray` shares any buffer",
    "fromfile": "use `from_file(path, dtype=...)`, or `load` for a file with a header",
    **dict.fromkeys(("fromfunction", "indices", "mgrid"), "use `meshgrid` of `arange`"),
    "fromiter": "write `tensor(list(numbers))`",
    **dict.fromkeys(("frompyfunc", "vectorize"), "call the function in a loop over `x.tolist()`"),
    "fromstring": "write `tensor([float(word) for word in text.split()])`",
    "fx": "the command `tensix trace` shows which operators run",
    "gather": "use `take_along_axis`",
    "genfromtxt": "write `from_numpy(numpy.genfromtxt(path))`",
    "geomspace": "use `exp(linspace(log(a), log(b), n))`",
    "ger": "use `outer`",
    **dict.fromkeys(
        ("get_default_dtype", "set_default_dtype"), "it is float32 always: give `dtype=` where another is wanted",
    ),
    "get_device": "write `x.device`, or `x.device.index` for the number",
    **dict.fromkeys(("get_rng_state", "initial_seed", "set_rng_state"), "use a `Generator`"),
    "gradient": "use `diff`",
    "histogram": "use `searchsorted` with the edges, then `unique_counts`",
    **dict.fromkeys(("hsmm", "smm"), "use `matmul`, or `@`: the result is dense, and `x.to_sparse()` makes it sparse"),
    "identity": "use `eye`",
    **dict.fromkeys(("index_add", "scatter_add"), "write `x[index] += values`, if no index is there twice"),
    **dict.fromkeys(("index_put", "put", "scatter"), "write `x[index] = values`"),
    "index_select": "use `take`",
    "inner": "use `vecdot`, or `tensordot` with axes",
    "insert": "use `concat` with the parts before and behind",
    "int": "use `int32` or `int64` as the element type",
    "interp": "use `searchsorted` for the places, then weights",
    "intersect1d": "write `unique(x[isin(x, y)])`",
    **dict.fromkeys(("is_complex", "iscomplexobj"), "use `isdtype(x.dtype, \"complex floating\")`"),
    "is_floating_point": "use `isdtype(x.dtype, \"real floating\")`",
    "is_nonzero": "write `bool(x)`",
    "is_tensor": "use `isinstance(x, tensix.Tensor)`",
    "isneginf": "write `x == -inf`",
    "isposinf": "write `x == inf`",
    "isscalar": "use `isinstance(x, (int, float, complex))`",
    "issubdtype": "use `isdtype`, with kinds such as \"real floating\"",
    "ix_": "use `expand_dims` on the indices",
    "kron": "use `einsum(\"ij,kl->ikjl\", x, y)` and `reshape`",
    "lerp": "write `x + weight * (y - x)`",
    "lexsort": "use `argsort` with `stable=True`, by the last key first",
    "loadtxt": "write `from_numpy(numpy.loadtxt(path))`",
    "logspace": "use `pow(10.0, linspace(a, b, n))`",
    "logsumexp": "use `log(sum(exp(x - max(x)))) + max(x)`",
    "lstsq": "use `linalg.pinv(a) @ b`",
    "memmap": "use `load`, or `from_file` for bare elements; both map the file",
    **dict.fromkeys(("mm", "mv"), "use `matmul`, or `@`"),
    "mode": "use `unique_counts`, and `argmax` of the counts",
    "msort": "use `sort` with `axis=0`",
    "multinomial": "use `searchsorted` in the `cumsum` of the weights",
    "multiprocessing": "use Python's own: memory of a `SharedMemoryAllocator` is shared by processes",
    "nan_to_num": "use `where(isnan(x), 0, x)`",
    "nanquantile": "select what is a number, as in `quantile(x[~isnan(x)], q)`",
    "narrow": "write `x.narrow(dim, start, length)`",
    "ndarray": "the class is `Tensor`",
    "ndenumerate": "write `enumerate(x)`, or `x.tolist()`",
    "ndim": "write `x.ndim`",
    "ndindex": "use `itertools.product` of ranges",
    "nditer": "write `for part in x`, or use `x.tolist()`",
    "norm": "use `linalg.vector_norm` or `linalg.matrix_norm`; tensors have the method `norm`",
    "normal": "write `mean + std * randn(shape)`",
    "normalize": "write `x / linalg.vector_norm(x, axis=-1, keepdims=True)`",
    "numel": "write `x.numel()`, or `x.size`",
    "ogrid": "use `arange` and `expand_dims`",
    "one_hot": "write `x[..., None] == arange(n)`",
    "partition": "use `sort`",
    "percentile": "use `quantile` with a part of 1: 0.5 for 50 percent",
    "permutation": "write `x[randperm(len(x))]`, or `randperm(n)`",
    "piecewise": "use `where`",
    "pinverse": "use `linalg.pinv`",
    **dict.fromkeys(("place", "putmask"), "write `x[mask] = values`"),
    "polyval": "write it by Horner's rule: `(a * x + b) * x + c`",
    "ptp": "use `max` and `min`",
    "random": "use `rand`, `randn`, `randint` or `randperm`; `manual_seed` and `Generator` make them repeatable",
    "range": "use `arange`, which leaves the last number out: `arange(start, stop + step, step)`",
    "ravel": "write `x.ravel()`, or `reshape(x, -1)`",
    "relu": "use `clip(x, min=0)`",
    "resize": "use `reshape`, or `tile` for more elements",
    "rollaxis": "use `moveaxis`",
    "rot90": "use `flip` and `matrix_transpose`",
    "rsqrt": "write `x ** -0.5`",
    **dict.fromkeys(("saddmm", "sspaddmm"), "write `x + y @ z`: one of `y` and `z` may be sparse"),
    "savetxt": "write `numpy.savetxt(path, x)`",
    "savez": "use `save(\"name.npz\", {\"x\": x})`",
    "savez_compressed": "use `save(\"name.npz\", {\"x\": x}, compress=True)`",
    "seed": "use `manual_seed`",
    "select": "use `where`, or write `x.select(dim, index)`",
    "setdiff1d": "write `unique(x[~isin(x, y)])`",
    "shape": "write `x.shape`",
    "shuffle": "write `x[randperm(len(x))]`",
    "sigmoid": "use `1 / (1 + exp(-x))`",
    "sinc": "write `where(x == 0, 1, sin(pi * x) / (pi * x))`",
    "Size": "a shape is a tuple of int",
    "size": "write `x.size`",
    "softmax": "use `exp(x - max(x, axis=-1, keepdims=True))` divided by its `sum`",
    "standard_normal": "use `randn`",
    **dict.fromkeys(("swapaxes", "swapdims"), "write `x.transpose(dim0, dim1)`"),
    "t": "write `x.t()`",
    "topk": "use `argsort(x, descending=True)` and `take_along_axis`",
    "transpose": "use `permute_dims` or `matrix_transpose`; or write `x.T` or `x.transpose(dim0, dim1)`",
    **dict.fromkeys(("trapezoid", "trapz"), "write `(dx * (y[1:] + y[:-1]) / 2).sum()`"),
    "tri": "use `tril(ones(n, m))`",
    "tril_indices": "use `nonzero(tril(ones(n, m)))`",
    "triu_indices": "use `nonzero(triu(ones(n, m)))`",
    "unflatten": "write `x.unflatten(dim, sizes)`",
    "uniform": "write `low + (high - low) * rand(shape)`",
    "union1d": "write `unique(concat([x, y]))`",
    "unravel_index": "use `floor_divide` and `remainder` with the sizes",
    "unsqueeze": "the standard calls it `expand_dims`; tensors have the method `unsqueeze`",
    "vander": "write `x[:, None] ** arange(n)`",
    "version": "write `tensix.__version__`",
    "view": "write `x.view(shape)`",
    "view_as_complex": "write `x.view(\"complex64\")`",
    "view_as_real": "write `x.view(\"float32\")`",
    **{f"{name}split": f"use `split` with `axis={axis}`" for name, axis in {"d": 2, "h": 1, "v": 0}.items()},
    **{f"{name}_mean": f"use `{name}` and `mean`" for name in ("std", "var")},
    **{name: f"use `{dtype}` as the element type" for name, dtype in {
        "byte": "uint8", "char": "int8", "complex": "complex64", "float": "float32", "long": "int64",
    }.items()},
    **{f"{name}Tensor": f"write `tensor(numbers, dtype={dtype})`" for name, dtype in {
        "Bool": "bool", "Byte": "uint8", "Double": "float64", "Half": "float16", "Int": "int32", "Long": "int64",
    }.items()},
    **{f"nan{name}": f"use `{name}(where(isnan(x), {number}, x))`" for name, number in {
        "argmax": "-inf", "argmin": "inf", "max": "-inf", "min": "inf", "prod": "1", "sum": "0",
    }.items()},
    **{f"nan{name}": f"select what is a number, as in `{name}(x[~isnan(x)])`" for name in (
        "mean", "median", "std", "var",
    )},
}

# What arrays and tensors of others have, and these do not -> what to write.
METHODS = {
    "addcdiv_": "write `x += value * a / b`",
    "addcmul_": "write `x += value * a * b`",
    "allclose": "use `tensix.allclose(x, y)`",
    "amax": "write `x.max(axis=dim)`",
    "amin": "write `x.min(axis=dim)`",
    "angle": "use `tensix.atan2(x.imag, x.real)`",
    **dict.fromkeys(("apply_", "map_"), "call the function in a loop over `x.tolist()`"),
    "argpartition": "use `x.argsort()`",
    **dict.fromkeys(
        ("backward", "grad", "grad_fn", "is_leaf", "register_hook", "requires_grad", "requires_grad_", "retain_grad"),
        "tensix records no gradients",
    ),
    "base": "`x.storage()` is what views share; `x.is_alias_of(y)` says whether two do",
    "bernoulli": "write `tensix.rand(x.shape) < x`",
    "bernoulli_": "write `x.copy_(tensix.rand(x.shape) < p)`",
    "bfloat16": "write `x.to(tensix.bfloat16)`",
    **dict.fromkeys(("bmm", "mm"), "write `x @ y`"),
    "byte": "write `x.to(tensix.uint8)`",
    **dict.fromkeys(("clamp_", "clip_"), "write `x.copy_(x.clip(min, max))`"),
    "clamp_max": "write `x.clip(max=value)`",
    "clamp_min": "write `x.clip(min=value)`",
    **dict.fromkeys(("compress", "masked_select"), "write `x[mask]`"),
    "ctypes": "`x.data_ptr()` is the address",
    "cuda": "tensix has no device `cuda`; `x.to_device(device)` takes those that there are",
    "data": "write `x.detach()`, or `x.data_ptr()` for the address",
    "diag": "use `x.diagonal()`, or `tensix.eye(n) * x`",
    **dict.fromkeys(("dim", "ndimension"), "write `x.ndim`"),
    **dict.fromkeys(("dump", "tofile"), "use `tensix.save(path, x)`"),
    "dumps": "use `pickle.dumps(x)`",
    "element_size": "write `x.itemsize`",
    "equal": "`x == y` compares elements, `tensix.array_equal(x, y)` is one bool",
    "expand_dims": "write `x.unsqueeze(dim)`",
    "exponential_": "write `x.copy_(-tensix.log(1 - tensix.rand(x.shape)))`",
    "fill": "methods that write end in an underscore: `x.fill_(value)`",
    "flags": "write `x.is_contiguous()` and `x.readonly`",
    "flat": "write `x.ravel()`",
    "fliplr": "write `x.flip(axis=1)`",
    "flipud": "write `x.flip(axis=0)`",
    "gather": "use `x.take_along_axis(indices, dim)`",
    "ger": "use `tensix.outer(x, y)`",
    **dict.fromkeys(("H", "mH"), "write `x.mT.conj()`"),
    "hsplit": "write `x.split(size, axis=1)`",
    **dict.fromkeys(("index_add_", "scatter_add_"), "write `x[index] += values`, if no index is there twice"),
    **dict.fromkeys(("index_copy_", "index_put_", "put_", "scatter", "scatter_"), "write `x[index] = values`"),
    **dict.fromkeys(("index_fill_", "itemset"), "write `x[index] = value`"),
    "index_select": "use `x.take(indices, axis=dim)`",
    "inner": "use `tensix.vecdot(x, y)`",
    "inverse": "use `tensix.linalg.inv(x)`",
    "is_complex": "use `tensix.isdtype(x.dtype, kind)` with the kind `complex floating`",
    **dict.fromkeys(("is_cuda", "is_meta"), "write `x.device`"),
    "is_floating_point": "use `tensix.isdtype(x.dtype, kind)` with the kind `real floating`",
    "is_pinned": "memory is the CPU's",
    **dict.fromkeys(("kthvalue", "partition"), "use `x.sort()`"),
    "lerp_": "write `x += weight * (y - x)`",
    "log_softmax": "write `x - x.exp().sum(axis=-1, keepdims=True).log()`, with `x - x.max()` for large numbers",
    "logsumexp": "write `x.exp().sum().log()`, with `x - x.max()` for large numbers",
    "masked_fill": "use `tensix.where(mask, value, x)`",
    "masked_fill_": "write `x[mask] = value`",
    "masked_scatter_": "write `x[mask] = values`",
    "moveaxis": "write `x.movedim(source, destination)`",
    "msort": "use `x.sort(axis=0)`",
    "nan_to_num": "use `tensix.where(x.isnan(), 0, x)`",
    "neg": "write `-x`",
    "neg_": "write `x.negative(out=x)`",
    "nelement": "write `x.numel()`, or `x.size`",
    **dict.fromkeys(("new", "new_empty"), "use `tensix.empty(shape, dtype=x.dtype)`"),
    "new_full": "use `tensix.full(shape, value, dtype=x.dtype)`",
    "new_ones": "use `tensix.ones(shape, dtype=x.dtype)`",
    "new_tensor": "use `tensix.tensor(numbers, dtype=x.dtype)`",
    "new_zeros": "use `tensix.zeros(shape, dtype=x.dtype)`",
    "permute_dims": "write `x.permute(dims)`",
    "pin_memory": "memory is the CPU's; `tensix.use_allocator` says which",
    "pow_": "write `x.pow(y, out=x)`",
    "power": "write `x ** y`, or `x.pow(y)`",
    "ptp": "write `x.max() - x.min()`",
    "put": "write `x[indices] = values`",
    "random_": "write `x.copy_(tensix.randint(low, high, x.shape))`",
    "relu": "write `x.clip(min=0)`",
    "relu_": "write `x.copy_(x.clip(min=0))`",
    "remainder_": "write `x.remainder(y, out=x)`",
    "repeat_interleave": "the standard calls it `repeat`",
    "resize": "write `x.resize_(shape)`, or `x.reshape(shape)` for as many elements",
    "resize_as_": "write `x.resize_(y.shape)`",
    "round_": "write `x.copy_(x.round())`",
    "searchsorted": "use `tensix.searchsorted(x, values)`",
    "setflags": "`tensix.asarray(x, copy=True)` can be written; `x.readonly` says whether this can",
    "share_memory_": "use an allocator: memory of a `SharedMemoryAllocator` is shared by processes",
    "sigmoid": "write `1 / (1 + (-x).exp())`",
    "sigmoid_": "write `x.copy_(1 / (1 + (-x).exp()))`",
    "squeeze_": "write `x = x.squeeze()`",
    "strides": "write `x.stride()`, which counts in elements",
    "t_": "write `x = x.t()`",
    "topk": "use `x.argsort(descending=True)` and `x.take_along_axis`",
    "tostring": "use `x.tobytes()`",
    "transpose_": "write `x = x.transpose(dim0, dim1)`",
    "type": "write `x.dtype`, or `x.to(dtype)`",
    "type_as": "write `x.to(y)`",
    "unsqueeze_": "write `x = x.unsqueeze(dim)`",
    "untyped_storage": "write `x.storage()`",
    "view_as_real": "write `x.view(tensix.float32)`",
    "where": "use `tensix.where(condition, x, y)`",
    **{name: f"write `x {sign} y`" for name, sign in {
        "div": "/", "eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<", "mul": "*", "ne": "!=", "sub": "-",
    }.items()},
    **{name: FUNCTIONS[name] for name in (
        "addmm", "bincount", "choose", "corrcoef", "cov", "erf", "exp2", "get_device", "lerp", "mode", "multinomial",
        "rot90", "rsqrt", "smm", "softmax", "swapaxes", "swapdims",
    )},
}

# What is in `linalg` and elsewhere beside it.
LINEAR_ALGEBRA = (
    "cholesky", "cross", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_power",
    "matrix_rank", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "trace", "vector_norm",
)  # fmt: skip
FUNCTIONS |= {name: f"use `linalg.{name}`" for name in (*LINEAR_ALGEBRA, "diagonal")}
METHODS |= {name: f"use `tensix.linalg.{name}`" for name in LINEAR_ALGEBRA}

# Of these methods PyTorch has a second one that writes to the tensor.
WRITING_TO_OUT = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log", "log10", "log1p", "log2",
    "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
METHODS |= {f"{name}_": f"write `x.{name}(out=x)`" for name in WRITING_TO_OUT}


def advice(owner, name, methods=False):
    """Return what to say of a name that is not there: what to use, if that is known.

    Parameters
    ----------
    owner : str
        What lacks the name, such as ``"tensix"``.
    name : str
        The name.
    methods : bool, optional
        Whether it is one of tensors.

    Returns
    -------
    str or None
    """
    text = METHODS.get(name) if methods else FUNCTIONS.get(name)
    if text is None and name in STANDARD:
        text = f"the standard calls it `{STANDARD[name]}`"
    if text is None and not methods:
        text = advice_from_numpy(owner.partition(".")[2], name)
    return None if text is None else f"{owner} has no `{name}`: {text}."


def advice_from_numpy(part, name):
    """Return what to say if a function of a part of NumPy, such as ``linalg``, takes tensors; else None."""
    namespace = getattr(np, part, None) if part else np
    found = getattr(namespace, name, None)
    if isinstance(found, np.ufunc) or hasattr(found, "_implementation"):  # these ask their arguments
        return f"NumPy's takes tensors and returns them, so write `numpy.{part}{'.' if part else ''}{name}`"
    return None


class AbsentName:
    """Raise an AttributeError that says what to use in place of a name that tensors do not have.

    A class whose attributes are found in another way, by ``__getattr__``, would pay for it at each call of a method.
    """

    def __init__(self, name):
        self.name, self.__doc__ = name, f"Not there: {METHODS[name]}."

    def __get__(self, instance, owner):
        raise AttributeError(advice("Tensor", self.name, True), name=self.name, obj=instance)
