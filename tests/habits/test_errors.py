"""What is said of mistakes that people make at first."""

import re

import pytest

import tensix

X = tensix.rand(3, 4)


@pytest.mark.parametrize("x", [X, tensix.ones(0), X > 0])
def test_a_condition_of_many_elements(x):
    with pytest.raises(
        ValueError, match=rf"truth value of a tensor with {x.size} elements is ambiguous.*any\(\).*all\(\).*& or \|"
    ):
        if x:
            pass
    with pytest.raises(ValueError, match="ambiguous"):
        _ = x is not None and not x


def test_a_condition_of_one_element():
    assert tensix.tensor([[2]]) and not tensix.tensor(0.0)
    assert (X > 0).any() and ((X >= 0) & (X < 1)).all()


def test_where_without_choices():
    for call in (lambda: tensix.where(X > 0.5), lambda: tensix.where(X > 0.5, X)):
        with pytest.raises(TypeError, match=r"nonzero\(condition\)"):
            call()


WRONG = {
    "tensix.sum([1, 2])": r"sum\(\) takes a tensor, found list. Make a tensor of it with tensor\(\)",
    "tensix.max(None)": r"max\(\) takes a tensor, found NoneType",
    "tensix.astype(1, 'float32')": r"astype\(\) takes a tensor, found int",
    "tensix.sort((3, 1))": r"sort\(\) takes a tensor, found tuple",
    "tensix.clip(3)": r"clip\(\) takes a tensor, found int",
    "tensix.tril([[1]])": r"tril\(\) takes a tensor, found list",
    "tensix.flip([1])": r"flip\(\) takes a tensor, found list",
    "tensix.nonzero([1])": r"nonzero\(\) takes a tensor, found list",
    "X.is_alias_of(3)": "'other' must be of type Tensor, found int",
    "X.view_as(3)": "'other' must be of type Tensor, found int",
    "X.copy_(3)": "'src' must be of type Tensor, found int",
    "X.set_([1])": "'source' must be of type Tensor, found list",
    "tensix.Tensor.from_storage(3, 0, (1,), (1,), 'float32')": "'storage' must be of type Storage, found int",
    "tensix.Tensor.from_impl(3)": "'impl' must be of type IntrusivePtr, found int",
    "X.__format__(3)": "'spec' must be of type str, found int",
    "X.__deepcopy__(3)": "'memo' must be of type dict, found int",
    "tensix.stack([X, 1])": r"stack\(\) takes tensors only, found int among them",
    "tensix.concat(X)": r"concat\(\) takes a tuple or list of tensors, found Tensor",
}


@pytest.mark.parametrize("call", WRONG)
def test_arguments_of_wrong_types(call):
    with pytest.raises(TypeError, match=WRONG[call]):
        eval(call)


def test_no_module_speaks_of_its_insides():
    """Cython's own text for arguments of the wrong type names classes as compiled modules know them."""
    calls = [
        lambda: tensix.Storage(4).is_alias_of(3), lambda: tensix.IntrusivePtr().swap(3),
        lambda: tensix.memory.StatisticsAdaptor(3), lambda: tensix.from_dlpack(3),
        lambda: tensix.set_allocator("cpu", 3),
        lambda: tensix.Storage.from_data_ptr(4, 3),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises((TypeError, BufferError, AttributeError)) as caught:
            call()
        assert not re.search(r"incorrect type|expected tensix\.", str(caught.value)), caught.value


@pytest.mark.parametrize(("call", "text"), [
    (lambda: tensix.tensor({1, 2}), "found set. Make a list of it"),
    (lambda: tensix.tensor(i for i in [1]), "found generator. Make a list of it"),
    (lambda: tensix.tensor(None), "found NoneType"), (lambda: tensix.asarray(None), "found NoneType"),
    (lambda: tensix.tensor("abc"), "found str"), (lambda: tensix.tensor([1, "a"]), "found list of other things"),
    (lambda: tensix.rand(2.0), "sizes are ints, found 2.0"), (lambda: tensix.zeros(None), "sizes are ints, found None"),
])  # fmt: skip
def test_what_no_tensor_is_made_of(call, text):
    with pytest.raises(TypeError, match=text):
        call()
