"""What is said of mistakes that people make at first."""

import re

import numpy as np
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
    "tensix.sum([1, 2])": r"sum\(\) takes a tensor, found list\. Wrap it in tensix\.asarray\(\)\.$",
    "tensix.max(None)": r"max\(\) takes a tensor, found NoneType\.$",
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
    "tensix.concat(X)": r"concat\(\) takes a tuple or list of tensors, such as concat\(\[x, y\]\), found Tensor",
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
    (lambda: tensix.tensor("abc"), "found str"), (lambda: tensix.tensor([1, "a"]), "found list with str in it"),
    (lambda: tensix.tensor([1.0, None]), r"found list with NoneType in it\. Write float\('nan'\)"),
    (lambda: tensix.tensor([[1.0], [None]]), r"found list with NoneType in it\. Write float\('nan'\)"),
    (lambda: tensix.tensor((1, object())), "found tuple with object in it"),
    (lambda: tensix.rand(2.0), "sizes are ints, found 2.0"), (lambda: tensix.zeros(None), "sizes are ints, found None"),
])  # fmt: skip
def test_what_no_tensor_is_made_of(call, text):
    with pytest.raises(TypeError, match=text):
        call()


A, ARRAY = tensix.ones(2, 2), np.ones((2, 2))


@pytest.mark.parametrize("value", [ARRAY, [[1.0, 2.0], [3.0, 4.0]], 1.5, True])
@pytest.mark.parametrize("call", [
    lambda a: tensix.concat([A, a]), lambda a: tensix.stack((A, a)), lambda a: tensix.hstack([A, a]), tensix.sin,
    tensix.unique_values, tensix.unique, tensix.linalg.det, tensix.linalg.inv, tensix.fft.fft, tensix.fft.fftn,
    tensix.sum, tensix.zeros_like, lambda a: tensix.reshape(a, (4,)), lambda a: tensix.expand_dims(a, axis=0),
    lambda a: tensix.matmul(A, a), lambda a: tensix.matmul(a, A), tensix.matrix_transpose, lambda a: tensix.dot(A, a),
    lambda a: tensix.vecdot(A, a), lambda a: tensix.linalg.solve(A, a), lambda a: tensix.take(A, a),
    lambda a: tensix.where(a, A, A), lambda a: tensix.searchsorted(a, A), lambda a: tensix.meshgrid(A[0], a),
    lambda a: tensix.einsum("ij,ij", A, a), A.copy_, A.view_as, A.matmul, A.set_,
])  # fmt: skip
def test_how_a_tensor_is_made_of_other_things(call, value):
    """Where a tensor is needed, the error for an array, a list or a number says what to write."""
    with pytest.raises(TypeError, match=rf"found {type(value).__name__}.* Wrap it in tensix\.asarray\(\)\."):
        call(value)
    with pytest.raises(TypeError) as caught:
        call(None)
    assert "asarray" not in str(caught.value)


@pytest.mark.parametrize("value", [ARRAY, [[1.0, 2.0], [3.0, 4.0]]])
@pytest.mark.parametrize("call", [
    lambda a: tensix.add(A, a), lambda a: tensix.maximum(a, A), lambda a: tensix.where(A > 0, A, a), A.clip, A.add_,
    lambda a: tensix.isin(A, a), lambda a: tensix.isin(a, A), lambda a: tensix.searchsorted(A[0], a),
    lambda a: tensix.clip(A, max=a), lambda a: tensix.allclose(A, a),
])  # fmt: skip
def test_where_a_number_will_do_as_well(call, value):
    with pytest.raises(TypeError, match=rf"found {type(value).__name__}\. Wrap it in tensix\.asarray\(\)\.$"):
        call(value)


def test_what_the_advice_says_works():
    assert tensix.matmul(A, tensix.asarray(ARRAY)).tolist() == [[2, 2], [2, 2]]
    assert tensix.unique_values(tensix.asarray([1, 1, 2])).tolist() == [1, 2]


def test_a_tensor_of_another_library_is_called_by_its_module():
    other = type("Tensor", (), {"__module__": "torch"})()
    with pytest.raises(TypeError, match=r"takes tensors only, found torch\.Tensor among them"):
        tensix.concat([A, other])


@pytest.mark.parametrize(("data", "bits"), [
    ([-(2**80)], 81), ([[1], [2**64]], 65), (2**64, 65), ((1, -(2**63) - 1), 64), ([10**5000], 16610),
])  # fmt: skip
def test_ints_that_no_type_holds(data, bits):
    with pytest.raises(OverflowError, match=f"no integer type holds an int of {bits} bits. Give a floating type"):
        tensix.tensor(data)
    assert tensix.tensor([-(2**80)], dtype="float64").item() == -(2.0**80)


B = tensix.tensor([True, False])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: -B, r"not defined for bool\. Write ~x, or logical_not\(x\)\.$"),
    (lambda: tensix.negative(B), r"not defined for bool\. Write ~x, or logical_not\(x\)\.$"),
    (lambda: B - B, r"not defined for bool\. Write x \^ y, or logical_xor\(x, y\)\.$"),
    (lambda: tensix.subtract(B, B), r"not defined for bool\. Write x \^ y, or logical_xor\(x, y\)\.$"),
    (lambda: X > 0.5 & X < 0.7, r"not defined for float32\. Comparisons that are combined need parentheses"),
    (lambda: X | X, r"not defined for float32\. Comparisons that are combined need parentheses"),
    (lambda: ~X, r"not defined for float32\.$"),
])  # fmt: skip
def test_operators_that_a_type_lacks(call, text):
    with pytest.raises(TypeError, match=text):
        call()
    assert (~B).tolist() == tensix.logical_not(B).tolist() == [False, True]
    assert (B ^ B).tolist() == tensix.logical_xor(B, B).tolist() == [False, False]


def test_one_dimension_is_not_transposed():
    with pytest.raises(TypeError, match=r"takes two dimensions to exchange.*found 1: transpose\(dim0, dim1\)"):
        X.transpose(0)
    with pytest.raises(TypeError):
        X.transpose(None, None, None)


def test_sizes_of_random_integers():
    assert tensix.randint(1, size=(3,)).tolist() == tensix.randint(high=1, size=3).tolist() == [0, 0, 0]
    assert tensix.randint(low=4, high=5, size=(1, 2)).tolist() == [[4, 4]] == tensix.randint(4, 5, (1, 2)).tolist()
    for call in (lambda: tensix.randint(10), lambda: tensix.randint()):
        with pytest.raises(TypeError, match=r"needs sizes: randint\(low, high, size\), or randint\(high, size\)"):
            call()
