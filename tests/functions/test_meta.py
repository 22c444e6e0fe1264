"""The device meta: shapes and types as on the CPU, without memory."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix.dispatch import DispatchKeySet, dispatcher

DTYPES = [name for name in tensix.__all__ if isinstance(getattr(tensix, name), tensix.DType)]
SIGNS = {"add.Tensor": lambda a, b: a + b, "sub.Tensor": lambda a, b: a - b, "mul.Tensor": lambda a, b: a * b,
         "div.Tensor": lambda a, b: a / b}  # fmt: skip


def meta(*shape, dtype=None):
    return tensix.empty(*shape, dtype=dtype, device="meta")


def what(x):
    return x.shape, x.stride(), x.dtype


def outcome(function, *args):
    """Return shape, strides and type of a result, or the type and text of the error."""
    try:
        return what(function(*args))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("make", [tensix.empty, tensix.zeros, tensix.ones, tensix.rand, tensix.randn])
def test_factories_give_shapes(make):
    x = make(3, 4, device="meta")
    assert (*what(x), str(x.device)) == ((3, 4), (4, 1), tensix.float32, "meta") and x.is_contiguous()


def test_full_checks_its_value():
    assert tensix.full((2,), 7, device="meta").dtype is tensix.int64
    with pytest.raises((TypeError, ValueError)):
        tensix.full((2,), "seven", dtype=tensix.float32, device="meta")


def test_storage_knows_its_size_and_has_no_memory():
    before = tensix.CPUAllocator.bytes_in_use()
    x = meta(10**9, 10**6)
    assert x.storage().nbytes() == 4 * 10**15 and x.storage().data_ptr() == 0
    assert x.storage().allocator is tensix.get_allocator("meta") and str(x.storage().device) == "meta"
    assert tensix.CPUAllocator.bytes_in_use() == before
    x.storage().resize_(8)
    assert x.storage().nbytes() == 8 and x.storage().clone().nbytes() == 8


@pytest.mark.parametrize("shape", [(2**62, 4), (2**63 - 1,), (-1, 2)])
def test_sizes_are_checked_as_on_the_cpu(shape):
    assert outcome(meta, *shape) == outcome(tensix.empty, *shape)
    assert outcome(meta, *shape)[0] is ValueError


@pytest.mark.parametrize("view", [
    lambda x: x[1], lambda x: x[::-1, 1::2], lambda x: x.T, lambda x: x.reshape(4, 3), lambda x: x.T.reshape(12),
    lambda x: x[None, ..., 0].expand(5, 3), lambda x: x.view(2, 6).transpose(0, 1), lambda x: x[:0],
    lambda x: x.unsqueeze(1).squeeze(1), lambda x: x.permute(1, 0), lambda x: x.select(0, -1).narrow(0, 1, 2),
    lambda x: x[3], lambda x: x.view(5, 5), lambda x: x.clone(), lambda x: x.T.clone(), lambda x: x.lazy_clone(),
])
def test_views_and_copies_have_the_geometry_of_the_cpu(view):
    assert outcome(view, meta(3, 4)) == outcome(view, tensix.zeros(3, 4))


@pytest.mark.parametrize("name", SIGNS)
def test_types_of_results_are_those_of_the_cpu(name):
    for a, b in itertools.product(DTYPES, DTYPES):
        one = outcome(SIGNS[name], tensix.zeros(2, dtype=a) if a != "bfloat16" else tensix.empty(2, dtype=a),
                      tensix.empty(2, dtype=b).zero_() if b != "bfloat16" else tensix.empty(2, dtype=b))
        if "bfloat16" not in (a, b):
            assert outcome(SIGNS[name], meta(2, dtype=a), meta(2, dtype=b)) == one, (a, b)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bfloat16"])
def test_negative(dtype):
    assert outcome(lambda x: -x, meta(2, 3, dtype=dtype)) == outcome(lambda x: -x, tensix.zeros(2, 3, dtype=dtype))


SHAPES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(tuple)


@given(SHAPES, SHAPES)
@settings(max_examples=60, deadline=None)
def test_shapes_of_results_are_those_of_the_cpu(a, b):
    for function in (lambda x, y: x + y, lambda x, y: x @ y, lambda x, y: x.clone().copy_(y)):
        assert outcome(function, meta(a), meta(b)) == outcome(function, tensix.zeros(a), tensix.zeros(b))


@pytest.mark.parametrize("number", [2, 2.5, True, 1j, np.float32(2)])
def test_numbers_go_with_meta_tensors(number):
    for function in SIGNS.values():
        x, y = meta(3, dtype=tensix.int32), tensix.ones(3, dtype=tensix.int32)
        assert what(function(x, number)) == what(function(y, number))
        assert str(function(number, x).device) == "meta"


def test_a_number_on_the_cpu_goes_with_a_meta_tensor():
    assert str((meta(3) + tensix.tensor(1.0)).device) == str((tensix.tensor(1.0) + meta(3)).device) == "meta"


@pytest.mark.parametrize("function", [lambda x, y: x + y, lambda x, y: y + x, lambda x, y: x @ y])
def test_mixed_devices_are_both_named(function):
    with pytest.raises(RuntimeError, match=r"(?=.*meta)(?=.*cpu)"):
        function(meta(3), tensix.ones(3))


def test_in_place_gives_the_tensor_back():
    x = meta(3, 4)
    for same in (x.fill_(1), x.zero_(), x.copy_(tensix.ones(4)), x.copy_(meta(3, 1)), x.lazy_clone().fill_(0)):
        assert what(same) == what(x)
    x[0] = 5
    x[1:] = tensix.ones(4)


@pytest.mark.parametrize("function, error", [
    (lambda x: x.fill_(None), TypeError), (lambda x: x.copy_(tensix.ones(5)), ValueError),
    (lambda x: x.fill_([1, 2]), ValueError), (lambda x: x[0, 0].expand(4).fill_(1), RuntimeError),
    (lambda x: x.copy_(tensix.Tensor()), RuntimeError), (lambda x: x + tensix.Tensor(), RuntimeError),
    (lambda x: tensix.ops.tensix.uniform_(tensix.empty(2, dtype=tensix.int8, device="meta")), TypeError),
    (lambda x: tensix.rand(2, dtype=tensix.int8, device="meta"), TypeError), (lambda x: x + "a", TypeError),
])
def test_bad_input_is_refused_as_on_the_cpu(function, error):
    with pytest.raises(error):
        function(meta(3, 4))


def test_read_only_is_respected():
    x = meta(2)
    x.storage().readonly = True
    for write in (lambda: x.fill_(1), lambda: x.copy_(tensix.ones(2))):
        with pytest.raises(RuntimeError, match="read-only"):
            write()


@pytest.mark.parametrize("read", [
    lambda x: x.tolist(), lambda x: x[0, 0].item(), lambda x: float(x[0, 0]), lambda x: bool(x[0, 0]), np.asarray,
    lambda x: x.data_ptr(), lambda x: x.mutable_data_ptr(), lambda x: x.cpu(), lambda x: tensix.ones(3, 4).copy_(x),
    lambda x: tensix.tensor(x).to_device("cpu"), lambda x: format(x[0, 0], ".3f"), lambda x: x.to_sparse(),
    lambda x: dispatcher.get_op_table("add.Tensor").redispatch(DispatchKeySet("CPU"), x, x),
    lambda x: dispatcher.get_op_table("clone").redispatch(DispatchKeySet("CPU"), x),
    lambda x: dispatcher.get_op_table("fill_.Scalar").redispatch(DispatchKeySet("CPU"), x, 1),
])
def test_elements_cannot_be_read(read):
    with pytest.raises((NotImplementedError, TypeError)) as caught:
        read(meta(3, 4))
    assert "meta" in str(caught.value).lower() or "Meta" in str(caught.value) or "format" in str(caught.value)


def test_to_device():
    x = tensix.ones(3, 4)
    assert x.cpu() is x and x.to_device("cpu") is x and x.to_device(tensix.Device("cpu"), stream=None) is x
    moved = x.T.to_device("meta")
    assert what(moved) == ((4, 3), (3, 1), tensix.float32) and moved.to_device("meta") is moved
    for wrong, error in (("nowhere", ValueError), (None, TypeError), ("cuda", NotImplementedError)):
        with pytest.raises(error):
            x.to_device(wrong)
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)
    with pytest.raises(RuntimeError, match="undefined"):
        tensix.Tensor().to_device("meta")


def test_every_ufunc_of_the_cpu_has_its_rules_on_meta():
    for name in dispatcher.operators():
        table = dispatcher.get_op_table(name)
        kernel = repr(table.kernel_for("CPU"))
        if "loops" in kernel:
            assert repr(table.kernel_for("Meta")).startswith("shape and type of")
        if "by numpy" in kernel:  # one that writes
            assert repr(table.kernel_for("Meta")) == kernel
