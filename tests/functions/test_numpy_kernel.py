"""Kernels that are functions of NumPy: what they are given, what becomes of the result, and what they refuse."""

import numpy as np
import pytest

import tensix
from tensix.library import Library
from tensix.loops.numpy_kernel import NumpyKernel


@pytest.fixture
def run():
    """Return a function that runs another one as the kernel of an operator."""
    with Library("numpy_kernel_test") as library:
        count = 0

        def run(function, *args, schema="(Tensor self) -> Any", **options):
            nonlocal count
            count += 1
            table = library.define(f"f{count}{schema}")
            library.impl(f"f{count}", NumpyKernel(function, **options), "CPU")
            return table(*args)

        yield run


def test_arguments_are_read_only_views(run):
    seen = []
    x = tensix.arange(6).reshape(2, 3).T
    run(lambda a: seen.append((a.flags.writeable, a.ctypes.data, a.strides)) or np.zeros(1), x)
    assert seen == [(False, x.data_ptr(), (8, 24))]


def test_reading_does_not_materialize(run):
    x = tensix.ones(3)
    lazy = x.lazy_clone()
    run(np.sort, lazy)
    assert lazy.is_cow() and x.is_cow()


def test_result_is_adopted_not_copied(run):
    made = np.zeros(4)
    result = run(lambda a: made, tensix.ones(1))
    assert result.data_ptr() == made.ctypes.data and not result.readonly


@pytest.mark.parametrize("function", [lambda a: a, lambda a: a[:1], lambda a: np.broadcast_to(a, (2, 3)),
                                      lambda a: a.T, np.asarray])
def test_result_never_shares_memory_with_an_argument(run, function):
    x = tensix.ones(3)
    result = run(function, x)
    result.fill_(7)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_read_only_result_is_copied(run):
    result = run(lambda a: np.broadcast_to(np.float32(2), (2, 2)), tensix.ones(1))
    assert result.fill_(3).tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("value, dtype, shape", [
    (np.float32(1.5), "float32", ()), (np.int64(3), "int64", ()), (np.bool_(True), "bool", ()),
    (np.array([1, 2], np.int8), "int8", (2,)),
])
def test_numbers_of_numpy_become_tensors(run, value, dtype, shape):
    result = run(lambda a: value, tensix.ones(1))
    assert (str(result.dtype), result.shape) == (dtype, shape) and result.tolist() == value.tolist()


def test_tuples_and_lists_of_results(run):
    for kind in (tuple, list):
        result = run(lambda a, kind=kind: kind([np.zeros(2), np.float64(1)]), tensix.ones(1))
        assert type(result) is tuple and [x.tolist() for x in result] == [[0.0, 0.0], 1.0]


def test_result_of_no_type_of_ours(run):
    with pytest.raises(TypeError, match="not an element type"):
        run(lambda a: np.array(["a"]), tensix.ones(1))


def test_tensors_in_lists(run):
    schema = "(Tensor[] tensors) -> Tensor"
    tensors = [tensix.ones(1), tensix.zeros(1)]
    assert run(np.concatenate, tensors, schema=schema).tolist() == [1.0, 0.0]


def test_promotion_is_ours(run):
    """NumPy would make float64 of int64 and float32."""
    schema = "(Tensor[] tensors) -> Tensor"
    tensors = [tensix.ones(1, dtype="int64"), tensix.ones(1)]
    assert run(np.concatenate, tensors, schema=schema, promotes=True).dtype is tensix.float32
    with pytest.raises(TypeError, match="do not promote"):
        run(np.concatenate, [tensors[0], tensix.ones(1, dtype="uint64")], schema=schema, promotes=True)


def test_integers_as_floats(run):
    seen = []
    for dtype in ("int8", "bool", "float64", "complex64"):
        run(lambda a: seen.append(str(a.dtype)) or a.copy(), tensix.ones(1, dtype=dtype), floats=True)
    assert seen == ["float32", "float32", "float64", "complex64"]


def test_moving_serves_types_that_numpy_lacks(run):
    x = tensix.tensor([1.0, 2.0], dtype="bfloat16")
    result = run(lambda a: a[::-1].copy(), x, moves=True)
    assert result.dtype is tensix.bfloat16 and result.tolist() == [2.0, 1.0]


def test_arguments_that_change_the_tensor_have_run_before(run):
    """An index that frees the memory while it is asked for its value must not leave a view on it."""
    x = tensix.ones(1 << 16)

    class Shrinks:
        def __index__(self):
            x.storage().resize_(0)
            return 0

    with pytest.raises((RuntimeError, IndexError)):
        run(np.take, x, Shrinks(), schema="(Tensor self, int index) -> Tensor")


@pytest.mark.parametrize("argument", [object(), {}, b"x", {1}])
def test_arguments_of_other_kinds_are_refused(run, argument):
    with pytest.raises(TypeError, match="tensors, numbers, names"):
        run(lambda a, b: a, tensix.ones(1), argument, schema="(Tensor self, Any other) -> Tensor")


def test_element_types_reach_the_function(run):
    result = run(lambda a, dtype: a.astype(dtype), tensix.ones(1), tensix.int8,
                 schema="(Tensor self, ScalarType dtype) -> Tensor")  # fmt: skip
    assert result.dtype is tensix.int8


def test_undefined_tensor(run):
    with pytest.raises(RuntimeError, match="undefined"):
        run(np.concatenate, [tensix.ones(1), tensix.Tensor()], schema="(Tensor[] tensors) -> Tensor")


def test_other_devices_and_layouts_have_no_kernel():
    for x in (tensix.empty(2, 2, device="meta"), tensix.ones(2, 2).to_sparse()):
        for function in (tensix.sort, tensix.unique_values, tensix.tril, tensix.linalg.inv, tensix.fft.fft):
            with pytest.raises(NotImplementedError, match="only available for these backends"):
                function(x)


def test_repr():
    assert repr(NumpyKernel(np.sort)) == "numpy.sort over views"


def test_mixed_devices():
    with pytest.raises(NotImplementedError):
        tensix.concat([tensix.ones(2), tensix.empty(2, device="meta")])
