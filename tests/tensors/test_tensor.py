"""The tensor handle: making it of a storage, what it says of itself, counts, and the states without memory."""

import copy

import numpy as np
import pytest

import tensix
from tensix import (
    CPUAllocator,
    DataPtr,
    Storage,
    Tensor,
    TensorImpl,
    WeakIntrusivePtr,
    float32,
    float64,
    make_intrusive,
)


def over(storage, offset=0, shape=(2, 3), stride=(3, 1), dtype=float32):
    return Tensor.from_storage(storage, offset, shape, stride, dtype)


def test_facts_of_a_tensor():
    x = tensix.empty(2, 3, 4, dtype=float64)
    assert (x.shape, x.stride(), x.storage_offset(), x.ndim, x.size, x.numel()) == ((2, 3, 4), (12, 4, 1), 0, 3, 24, 24)
    assert (x.dtype, x.itemsize, x.nbytes, str(x.device), x.readonly) == (float64, 8, 192, "cpu", False)
    assert x.is_contiguous() and x.defined() and len(x) == 2
    assert x.allocator is tensix.get_allocator() is x.storage().allocator
    assert [x.stride(dim) for dim in (0, 1, 2, -1, -3)] == [12, 4, 1, 1, 12]


@pytest.mark.parametrize("dim", [3, -4])
def test_dimension_out_of_range_ti_5(dim):
    with pytest.raises(IndexError, match=rf"expected to be in range of \[-3, 2\], but got {dim}"):
        tensix.empty(2, 3, 4).stride(dim)
    with pytest.raises(IndexError, match=f"specified as {dim} but tensor has no dimensions"):
        tensix.empty(()).stride(dim)


def test_storage_of_empty_is_resizable_and_exact():
    storage = tensix.empty(3, 4).storage()
    assert (storage.nbytes(), storage.resizable, storage.use_count()) == (48, True, 1)


# ---- from_storage


def test_from_storage_shares_the_bytes():
    storage = Storage(24)
    x, y = over(storage), over(storage, 5, (2, 3), (-3, -1))
    x.copy_(tensix.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    assert y.tolist() == [[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]
    assert x.storage() == y.storage() == storage
    assert storage.use_count() == 3
    assert (x.data_ptr(), y.data_ptr()) == (storage.data_ptr(), storage.data_ptr() + 20)


@pytest.mark.parametrize("offset, shape, stride", [
    (0, (2, 3), (3, 1)), (5, (), ()), (5, (6,), (-1,)), (0, (100, 6), (0, 1)), (2, (2, 2), (1, 2)), (9, (0, 5), (7, 7)),
])
def test_from_storage_within_bounds(offset, shape, stride):
    x = over(Storage(24), offset, shape, stride)
    assert (x.storage_offset(), x.shape, x.stride()) == (offset, shape, stride)


@pytest.mark.parametrize("offset, shape, stride", [
    (0, (7,), (1,)), (1, (6,), (1,)), (6, (), ()), (-1, (), ()), (4, (6,), (-1,)), (0, (2, 3), (4, 1)),
    (0, (2,), (2**62,)), (0, (2,), (-(2**63),)), (2**62, (1,), (1,)), (0, (3, 3), (2**62, 2**62)),
])
def test_from_storage_out_of_bounds(offset, shape, stride):
    with pytest.raises(RuntimeError, match="the storage has 24 bytes"):
        over(Storage(24), offset, shape, stride)


def test_elements_that_cannot_be_counted_are_refused_ti_7():
    with pytest.raises((ValueError, OverflowError), match="overflow"):
        over(Storage(4), 0, (2**40, 2**40), (0, 0))


@pytest.mark.parametrize("change, error, text", [
    ({"shape": (2,)}, ValueError, r"dimensionality of sizes \(1\) must match dimensionality of strides \(2\)"),
    ({"shape": (2, -3)}, ValueError, "negative dimension -3"),
    ({"shape": (2, 1.5)}, TypeError, "int"),
    ({"offset": 2**70}, OverflowError, "int"),
    ({"dtype": "float24"}, TypeError, "element type"),
    ({"shape": (1,) * 65, "stride": (1,) * 65}, ValueError, "64 dimensions"),
])
def test_from_storage_of_nonsense(change, error, text):
    storage = Storage(24)
    with pytest.raises(error, match=text):
        over(storage, **change)
    assert storage.use_count() == 1


def test_from_storage_needs_one():
    null = Storage(8)
    null.reset()
    with pytest.raises(RuntimeError, match="Storage is null"):
        over(null)
    with pytest.raises(TypeError):
        over(None)


def test_bytes_taken_away_from_under_a_tensor_ti_15():
    storage = Storage(24)
    x = over(storage)
    storage.set_data_ptr(DataPtr())
    with pytest.raises(RuntimeError, match="non-zero number of elements, but its data is not allocated"):
        x.tolist()
    assert x[0:0].tolist() == []


# ---- counts and aliasing


def test_counts():
    x = tensix.empty(2, 3)
    assert (x.use_count(), x.weak_use_count()) == (1, 1)
    view = x[0]
    assert x.use_count() == view.use_count() == 1
    assert x.storage().use_count() == 3  # x, view, and the handle that is asked
    del x
    assert view.storage().use_count() == 2


def test_aliasing_is_of_storages():
    x = tensix.empty(4)
    assert x.is_alias_of(x) and x.is_alias_of(x[1:2]) and x[:2].is_alias_of(x[2:])
    assert not x.is_alias_of(x.clone()) and not x.is_alias_of(x.lazy_clone())
    with pytest.raises(TypeError):
        x.is_alias_of(None)


def test_view_keeps_the_bytes_not_the_tensor():
    before = CPUAllocator.bytes_in_use()
    view = tensix.ones(100)[3:5]
    assert view.tolist() == [1.0, 1.0] and CPUAllocator.bytes_in_use() == before + 400
    del view
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_copying_a_tensor_by_python_is_refused_or_a_tensor(again):
    x = tensix.ones(2)
    try:
        twin = again(x)
    except TypeError:
        twin = x.clone()
    assert twin.tolist() == [1.0, 1.0] and x.use_count() >= 1


# ---- numbers


@pytest.mark.parametrize("data, number", [(2.5, 2.5), ([[3]], 3), ([True], True), (1.5 + 2j, 1.5 + 2j)])
def test_item(data, number):
    found = tensix.tensor(data).item()
    assert found == number and type(found) is type(number)


def test_conversions_to_numbers():
    assert (float(tensix.tensor(2.5)), int(tensix.tensor([2.5])), bool(tensix.tensor(0.0))) == (2.5, 2, False)


@pytest.mark.parametrize("ask", [lambda x: x.item(), float, int, bool])
@pytest.mark.parametrize("shape, count", [((2,), 2), ((0,), 0), ((3, 0), 0)])
def test_only_one_element_is_a_number(ask, shape, count):
    text = f"truth value of a tensor with {count} elements" if ask is bool else f"this one has {count}"
    with pytest.raises(ValueError, match=text):
        ask(tensix.zeros(shape))


def test_iteration():
    assert [row.tolist() for row in tensix.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="0-d"):
        len(tensix.zeros(()))
    with pytest.raises(TypeError, match="0-d"):
        list(tensix.zeros(()))


# ---- the undefined tensor


def test_undefined_tensor_answers_questions():
    x = Tensor()
    assert not x.defined() and repr(x) == "Tensor(undefined)"
    assert (x.shape, x.numel(), x.use_count(), x.weak_use_count(), x.nbytes) == ((0,), 0, 0, 0, 0)
    assert (x.allocator, x.readonly, x.is_cow()) == (None, False, False)
    assert not x.is_alias_of(Tensor())


def test_undefined_tensor_has_no_device():
    with pytest.raises(RuntimeError, match="undefined: it has no elements, type or device"):
        print(Tensor().device)
    assert not hasattr(Tensor(), "device")
    with pytest.raises(RuntimeError, match="undefined"):
        Tensor().__dlpack_device__()


@pytest.mark.parametrize("x, y", [(Tensor(), tensix.ones(2)), (tensix.ones(2), Tensor())])
def test_undefined_tensor_is_alias_of_nothing(x, y):
    assert not x.is_alias_of(y)


@pytest.mark.parametrize("use", [
    lambda x: x.storage(), lambda x: x[0:0], lambda x: x.T, lambda x: x.clone(), lambda x: x.lazy_clone(),
    lambda x: x + x, lambda x: x + 1, lambda x: 1.5 * x, lambda x: -x, lambda x: x.fill_(0), lambda x: x.data_ptr(),
    lambda x: x.mutable_data_ptr(), lambda x: x.tolist(), lambda x: x + tensix.ones(2), lambda x: tensix.ones(2) + x,
    lambda x: tensix.ones(2).copy_(x), lambda x: x.copy_(tensix.ones(2)), lambda x: x.item(), bool, float, np.asarray,
    lambda x: tensix.astype(x, "int64"), lambda x: tensix.tensor([x]),
    lambda x: tensix.ones(2)[x], lambda x: tensix.ones(2)[None, x], lambda x: tensix.concat([tensix.ones(2), x]),
    lambda x: tensix.add(tensix.ones(2), 2, out=x),
])
def test_undefined_tensor_is_refused_by_name(use):
    with pytest.raises(RuntimeError, match=r"undefined|no storage"):
        use(Tensor())


@pytest.mark.parametrize("make", [tensix.empty_like, tensix.zeros_like])
def test_nothing_is_made_like_an_undefined_tensor(make):
    with pytest.raises(tensix.NullError, match="the tensor is undefined"):
        make(Tensor())


@pytest.mark.parametrize("make", [
    lambda x: tensix.zeros(2, dtype=x.dtype),
    lambda x: tensix.empty(2, dtype=x.dtype), lambda x: tensix.astype(tensix.ones(2), x.dtype),
])
def test_nothing_is_made_of_the_undefined_type(make):
    with pytest.raises(TypeError, match="undefined is not an element type"):
        make(Tensor())


def test_tensor_takes_no_arguments():
    with pytest.raises(TypeError):
        Tensor([1, 2])


# ---- the body


def test_expired_body_raises():
    strong = make_intrusive(TensorImpl)
    weak, impl = WeakIntrusivePtr(strong), strong.get()
    assert impl.shape == () and "TensorImpl(shape=()" in repr(impl)
    strong.reset()
    assert weak.expired() and repr(impl) == "TensorImpl(expired)"
    for ask in (lambda: impl.shape, lambda: impl.dtype):
        with pytest.raises(RuntimeError, match="the TensorImpl has expired"):
            ask()


def test_body_without_storage_can_be_released():
    impl = TensorImpl()
    impl.release_resources()
    impl.release_resources()
    assert impl.shape == ()
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(impl)


def test_from_storage_of_a_storage_that_is_reset_meanwhile():
    class Argument:
        def __iter__(self):
            storage.reset()
            return iter((2,))

        @property
        def dtype(self):
            storage.reset()
            return np.dtype("f4")

    for change in ({"shape": Argument(), "stride": (1,)}, {"dtype": Argument()}):
        storage = Storage(24)
        with pytest.raises(RuntimeError, match="Storage is null"):
            over(storage, **change)
