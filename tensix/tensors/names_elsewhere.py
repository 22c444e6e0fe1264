"""What NumPy's and PyTorch's users look for under another name, and what to use here.

`AttributeError` says it of names that tensix, ``tensix.linalg`` and tensors lack; what they have is not asked for
here. "The standard" is that of array APIs.
"""

__all__ = ["AbsentName", "advice"]

# Another name -> the standard's.
STANDARD = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "bitwise_not": "bitwise_invert",
    "conjugate": "conj", "div": "divide", "eq": "equal", "fix": "trunc", "ge": "greater_equal",
    "gt": "greater", "in1d": "isin", "inverse": "inv", "invert": "bitwise_invert", "le": "less_equal",
    "left_shift": "bitwise_left_shift", "lt": "less", "mod": "remainder", "mul": "multiply", "ne": "not_equal",
    "neg": "negative", "permute_axes": "permute_dims", "power": "pow", "repeat_interleave": "repeat",
    "right_shift": "bitwise_right_shift", "rint": "round", "sub": "subtract", "true_divide": "divide",
    "unbind": "unstack",
}  # fmt: skip

# What the standard has no function for -> what to write.
FUNCTIONS = {
    "addmm": "write `x + y @ z`",
    "array": "`tensor` copies numbers and arrays, `asarray` shares what it can",
    "as_strided": "write `x.as_strided(size, stride)`",
    "as_tensor": "`asarray` shares memory where it can",
    "ascontiguousarray": "write `x.contiguous()`",
    "autocast": "give `dtype=` where another is wanted",
    "average": "write `(x * w).sum() / w.sum()`, or `mean`",
    "bincount": "`unique_counts` counts the values that there are",
    "bmm": "`matmul` takes stacks of matrices",
    "c_": "use `stack(tensors, axis=1)`, or `concat` with an axis",
    "chunk": "write `x.chunk(n)`",
    "column_stack": "use `stack(tensors, axis=1)`, or `hstack`",
    "compile": "calls are run as they come",
    "copy": "write `x.copy()`, or `x.lazy_clone()` for a copy that is made when one of the two is written",
    "copyto": "write `x.copy_(y)`",
    "corrcoef": "center the rows and use `matmul`",
    "cov": "center the rows and use `matmul`",
    "cuda": "tensix has no device `cuda`",
    "device": "the class is `Device`; a string will do where one is taken",
    "diag": "use `linalg.diagonal`, or `eye(n) * x`",
    "distributed": "other packages, such as mpi4py, send and receive tensors by DLPack or as buffers",
    "dsmm": "use `matmul`, or `@`: one of the two may be sparse",
    "dstack": "use `stack(tensors, axis=2)`, or `concat` with an axis",
    "fill_diagonal": "write `x.diagonal().fill_(value)`",
    "flatnonzero": "write `nonzero(x.ravel())[0]`",
    "flatten": "write `x.flatten()`, or `reshape(x, -1)`",
    "fliplr": "use `flip(x, axis=1)`",
    "flipud": "use `flip(x, axis=0)`",
    "float": "use `float32` as the element type",
    "FloatTensor": "`tensor` makes float32 of numbers, `empty` takes a shape",
    "fmod": "`remainder` has the sign of the divisor",
    "frombuffer": "`asarray` shares any buffer",
    "fx": "the command `tensix trace` shows which operators run",
    "gather": "use `take_along_axis`",
    "geomspace": "use `exp(linspace(log(a), log(b), n))`",
    "get_default_dtype": "it is float32 always: give `dtype=` where another is wanted",
    "get_device": "write `x.device`, or `x.device.index` for the number",
    "histogram": "use `searchsorted` with the edges, then `unique_counts`",
    "hsmm": "use `matmul`, or `@`: the result is dense, and `x.to_sparse()` makes it sparse",
    "identity": "use `eye`",
    "index_select": "use `take`",
    "inner": "use `vecdot`, or `tensordot` with axes",
    "is_tensor": "use `isinstance(x, tensix.Tensor)`",
    "jit": "calls are run as they come",
    "logspace": "use `pow(10.0, linspace(a, b, n))`",
    "long": "use `int64` as the element type",
    "LongTensor": "write `tensor(numbers, dtype=int64)`",
    "lstsq": "use `linalg.pinv(a) @ b`",
    "masked_select": "write `x[mask]`",
    "mm": "use `matmul`, or `@`",
    "multi_dot": "use `einsum`, or `@`",
    "multinomial": "use `searchsorted` in the `cumsum` of the weights",
    "multiprocessing": "use Python's own: memory of a `SharedMemoryAllocator` is shared by processes",
    "mv": "use `matmul`, or `@`",
    "nan_to_num": "use `where(isnan(x), 0, x)`",
    "nanmax": "use `max(where(isnan(x), -inf, x))`",
    "nanmean": "select what is a number, as in `mean(x[~isnan(x)])`",
    "nanmin": "use `min(where(isnan(x), inf, x))`",
    "nanstd": "select what is a number, as in `std(x[~isnan(x)])`",
    "nansum": "use `sum(where(isnan(x), 0, x))`",
    "nanvar": "select what is a number, as in `var(x[~isnan(x)])`",
    "ndarray": "the class is `Tensor`",
    "nn": "tensix has no layers and records no gradients",
    "no_grad": "tensix records no gradients",
    "norm": "use `linalg.vector_norm` or `linalg.matrix_norm`; tensors have the method `norm`",
    "numel": "write `x.numel()`, or `x.size`",
    "optim": "tensix has no layers and records no gradients",
    "percentile": "use `quantile` with a part of 1: 0.5 for 50 percent",
    "ptp": "use `max` and `min`",
    "random": "use `rand`, `randn`, `randint` or `randperm`; `manual_seed` and `Generator` make them repeatable",
    "range": "use `arange`, which leaves the last number out: `arange(start, stop + step, step)`",
    "ravel": "write `x.ravel()`, or `reshape(x, -1)`",
    "relu": "use `clip(x, min=0)`",
    "rollaxis": "use `moveaxis`",
    "rot90": "use `flip` and `matrix_transpose`",
    "saddmm": "write `x + y @ z`: one of `y` and `z` may be sparse",
    "scatter": "write `x[index] = values`",
    "set_default_dtype": "it is float32 always: give `dtype=` where another is wanted",
    "sigmoid": "use `1 / (1 + exp(-x))`",
    "smm": "use `matmul`, or `@`: the result is dense, and `x.to_sparse()` makes it sparse",
    "softmax": "use `exp(x - max(x, axis=-1, keepdims=True))` divided by its `sum`",
    "spmm": "use `matmul`, or `@`: one of the two may be sparse",
    "sspaddmm": "write `x + y @ z`: one of `y` and `z` may be sparse",
    "swapaxes": "write `x.transpose(dim0, dim1)`",
    "topk": "use `argsort(x, descending=True)` and `take_along_axis`",
    "transpose": "use `permute_dims` or `matrix_transpose`; or write `x.T` or `x.transpose(dim0, dim1)`",
    "unsqueeze": "the standard calls it `expand_dims`; tensors have the method `unsqueeze`",
    "view": "write `x.view(shape)`",
}

# What arrays and tensors of others have, and these do not -> what to write.
METHODS = {
    "abs_": "write `x.abs(out=x)`",
    "addmm": FUNCTIONS["addmm"],
    "argpartition": "use `x.argsort()`",
    "backward": "tensix records no gradients",
    "base": "`x.storage()` is what views share; `x.is_alias_of(y)` says whether two do",
    "bernoulli": "write `tensix.rand(x.shape) < x`",
    "bincount": FUNCTIONS["bincount"],
    "bmm": "write `x @ y`",
    "byte": "write `x.to(tensix.uint8)`",
    "clamp_": "write `x.copy_(x.clip(min, max))`",
    "clamp_max": "write `x.clip(max=value)`",
    "clamp_min": "write `x.clip(min=value)`",
    "clip_": "write `x.copy_(x.clip(min, max))`",
    "compress": "write `x[mask]`",
    "cross": "use `tensix.linalg.cross(x, y)`",
    "ctypes": "`x.data_ptr()` is the address",
    "cuda": "tensix has no device `cuda`; `x.to_device(device)` takes those that there are",
    "data": "write `x.detach()`, or `x.data_ptr()` for the address",
    "dim": "write `x.ndim`",
    "div": "write `x / y`",
    "dump": "use `tensix.save(path, x)`",
    "element_size": "write `x.itemsize`",
    "eq": "write `x == y`",
    "equal": "`x == y` compares elements, `tensix.array_equal(x, y)` is one bool",
    "exp_": "write `x.exp(out=x)`",
    "expand_dims": "write `x.unsqueeze(dim)`",
    "fill": "methods that write end in an underscore: `x.fill_(value)`",
    "flags": "write `x.is_contiguous()` and `x.readonly`",
    "flat": "write `x.ravel()`",
    "floor_": "write `x.floor(out=x)`",
    "gather": "use `x.take_along_axis(indices, dim)`",
    "ge": "write `x >= y`",
    "get_device": FUNCTIONS["get_device"],
    "grad": "tensix records no gradients",
    "grad_fn": "tensix records no gradients",
    "gt": "write `x > y`",
    "index_select": "use `x.take(indices, axis=dim)`",
    "is_cuda": "write `x.device`",
    "is_floating_point": "use `tensix.isdtype(x.dtype, kind)` with the kind `real floating`",
    "is_leaf": "tensix records no gradients",
    "le": "write `x <= y`",
    "log_softmax": "write `x - x.exp().sum(axis=-1, keepdims=True).log()`, with `x - x.max()` for large numbers",
    "logsumexp": "write `x.exp().sum().log()`, with `x - x.max()` for large numbers",
    "lt": "write `x < y`",
    "masked_fill": "use `tensix.where(mask, value, x)`",
    "masked_fill_": "write `x[mask] = value`",
    "masked_select": "write `x[mask]`",
    "mm": "write `x @ y`",
    "mul": "write `x * y`",
    "multinomial": FUNCTIONS["multinomial"],
    "ndimension": "write `x.ndim`",
    "ne": "write `x != y`",
    "neg": "write `-x`",
    "neg_": "write `x.negative(out=x)`",
    "nelement": "write `x.numel()`, or `x.size`",
    "new_empty": "use `tensix.empty(shape, dtype=x.dtype)`",
    "new_full": "use `tensix.full(shape, value, dtype=x.dtype)`",
    "new_ones": "use `tensix.ones(shape, dtype=x.dtype)`",
    "new_tensor": "use `tensix.tensor(numbers, dtype=x.dtype)`",
    "new_zeros": "use `tensix.zeros(shape, dtype=x.dtype)`",
    "partition": "use `x.sort()`",
    "permute_dims": "write `x.permute(dims)`",
    "pin_memory": "memory is the CPU's; `tensix.use_allocator` says which",
    "power": "write `x ** y`, or `x.pow(y)`",
    "ptp": "write `x.max() - x.min()`",
    "put": "write `x[indices] = values`",
    "relu": "write `x.clip(min=0)`",
    "relu_": "write `x.copy_(x.clip(min=0))`",
    "repeat_interleave": "the standard calls it `repeat`",
    "requires_grad": "tensix records no gradients",
    "requires_grad_": "tensix records no gradients",
    "resize": "write `x.resize_(shape)`, or `x.reshape(shape)` for as many elements",
    "resize_as_": "write `x.resize_(y.shape)`",
    "retain_grad": "tensix records no gradients",
    "round_": "write `x.copy_(x.round())`",
    "rsqrt": "write `x ** -0.5`",
    "scatter": "write `x[index] = values`",
    "scatter_": "write `x[index] = values`",
    "searchsorted": "use `tensix.searchsorted(x, values)`",
    "share_memory_": "use an allocator: memory of a `SharedMemoryAllocator` is shared by processes",
    "sigmoid": "write `1 / (1 + (-x).exp())`",
    "sigmoid_": "write `x.copy_(1 / (1 + (-x).exp()))`",
    "smm": FUNCTIONS["smm"],
    "softmax": FUNCTIONS["softmax"],
    "sqrt_": "write `x.sqrt(out=x)`",
    "squeeze_": "write `x = x.squeeze()`",
    "strides": "write `x.stride()`, which counts in elements",
    "sub": "write `x - y`",
    "swapaxes": "write `x.transpose(dim0, dim1)`",
    "tanh_": "write `x.tanh(out=x)`",
    "tofile": "use `tensix.save(path, x)`",
    "topk": "use `x.argsort(descending=True)` and `x.take_along_axis`",
    "trace": "use `tensix.linalg.trace(x)`",
    "type": "write `x.dtype`, or `x.to(dtype)`",
    "type_as": "write `x.to(y)`",
    "unsqueeze_": "write `x = x.unsqueeze(dim)`",
    "where": "use `tensix.where(condition, x, y)`",
}


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
    return None if text is None else f"{owner} has no `{name}`: {text}."


class AbsentName:
    """Stand in a class for a name that its objects do not have: who asks for it is told what to use.

    A class whose attributes are found in another way, by ``__getattr__``, would pay for it at each call of a method.
    """

    def __init__(self, name):
        self.name, self.__doc__ = name, f"Not there: {METHODS[name]}."

    def __get__(self, instance, owner):
        raise AttributeError(advice("Tensor", self.name, True), name=self.name, obj=instance)
