"""What people write as methods, as they write it."""

import inspect
import pickle

import numpy as np
import pytest

import tensix
from tensix.kernels import elementwise


def test_normalising_columns():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = tensix.from_numpy(a.copy())
    x = (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(x.numpy(), (a - a.mean(0)) / a.std(0), rtol=1e-6)


def test_a_softmax():
    logits = tensix.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    shifted = (logits - logits.max(dim=-1, keepdim=True)).exp()
    soft = shifted / shifted.sum(dim=-1, keepdim=True)
    assert soft.sum(-1).round(6).tolist() == [1.0, 1.0]
    assert soft.argmax(1).tolist() == [2, 0]


def test_element_types():
    x = tensix.tensor([0.0, 1.5, -2.5])
    assert x.astype("float64").dtype is tensix.float64 and x.astype(np.int32).tolist() == [0, 1, -2]
    assert x.astype(x.dtype, copy=False) is x and x.astype(x.dtype) is not x
    methods = {
        "half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64", "bool": "bool",
    }
    for method, name in methods.items():
        assert getattr(x, method)().dtype.name == name
    assert x.float() is x and x.bool().tolist() == [False, True, True]


def test_to_is_told_a_type_a_device_or_a_tensor():
    x, y = tensix.ones(2), tensix.ones(3, dtype="int16")
    assert x.to(tensix.float64).dtype is tensix.float64 and x.to("float64").dtype is tensix.float64
    assert x.to(np.float16).dtype is tensix.float16 and x.to(int).dtype is tensix.int64
    assert x.to(y).dtype is tensix.int16
    assert x.to("meta").device.type == "meta" and x.to(device="meta", dtype=tensix.int8).dtype is tensix.int8
    assert x.to("meta", tensix.int8).device == tensix.Device("meta")
    assert x.to("cpu") is x and x.to(x) is x and x.to(x.dtype, copy=True) is not x
    assert x.to(tensix.float32, copy=True).is_alias_of(x) is False
    with pytest.raises(TypeError, match=r"(not an element type|no device)"):
        x.to("float77")


def test_a_tensor_is_made_on_a_device():
    x = tensix.tensor([[1.0, 2.0]], device="cpu")
    assert x.device.type == "cpu" and x.tolist() == [[1, 2]]
    assert tensix.tensor([1, 2], dtype=tensix.int16, device=x.device).dtype is tensix.int16
    assert tensix.tensor(x, device="meta").shape == (1, 2) and not tensix.tensor(x, device="cpu").is_alias_of(x)


def test_arrays_and_bytes():
    x = tensix.zeros(2, 3)
    x.numpy()[1] = 7
    assert x.tolist() == [[0, 0, 0], [7, 7, 7]]
    assert x.T.tobytes() == x.numpy().T.tobytes()
    assert tensix.tensor(1.0, dtype="bfloat16").tobytes() == b"\x80\x3f"
    assert x.to_sparse().numpy(force=True).tolist() == x.tolist()
    with pytest.raises((TypeError, RuntimeError)):
        x.to_sparse().numpy()
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        x.to("meta").numpy()


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "abs", "sin", "cos", "tanh", "square", "floor", "isnan"])
def test_elementwise(name):
    x = tensix.tensor([0.25, 1.0, 4.0])
    np.testing.assert_array_equal(getattr(x, name)().numpy(), getattr(tensix, name)(x).numpy())
    out = tensix.empty_like(getattr(x, name)())
    assert getattr(x, name)(out=out) is out


def test_every_elementwise_function_is_a_method_unless_habit_wants_something_else():
    apart = {"equal", "imag", "real", "round"}
    assert {name for name in elementwise.__all__ if not hasattr(tensix.Tensor, name)} == {"equal"}
    for name in set(elementwise.__all__) - apart:
        method = getattr(tensix.Tensor, name)
        assert (
            method.__doc__ == getattr(tensix, name).__doc__
            and next(iter(inspect.signature(method).parameters)) == "self"
        )


def test_two_operands():
    x, y = tensix.tensor([1, 5]), tensix.tensor([3, 2])
    assert x.add(y).tolist() == [4, 7] and x.maximum(y).tolist() == [3, 5] and x.pow(2).tolist() == [1, 25]
    assert x.logical_and(y).tolist() == [True, True] and (x > 2).logical_not().tolist() == [True, False]
    assert x.dot(y).item() == 13 and x.outer(y).shape == (2, 2) and x[None].matmul(y).tolist() == [13]


def test_clipping():
    x = tensix.tensor([1, 5, 9])
    assert x.clip(2, 6).tolist() == x.clamp(2, 6).tolist() == x.clamp(min=2, max=6).tolist() == [2, 5, 6]
    assert x.clamp(min=4).tolist() == [4, 5, 9] and x.clip(a_max=4).tolist() == [1, 4, 4]


def test_rounding():
    x = tensix.tensor([0.126, -0.126, 2.5, 3.5])
    assert x.round().tolist() == round(x).tolist() == [0, -0.0, 2, 4]
    np.testing.assert_allclose(round(x, 2).numpy(), [0.13, -0.13, 2.5, 3.5])
    assert tensix.tensor([1249, 1250, 1350]).round(-2).tolist() == np.array([1249, 1250, 1350]).round(-2).tolist()
    assert x.round(decimals=1).shape == (4,) and tensix.tensor([3]).round(2).dtype is tensix.int64


def test_quotient_and_rest():
    quotient, rest = divmod(tensix.tensor([7, -7]), 2)
    assert quotient.tolist() == [3, -4] and rest.tolist() == [1, 1]
    quotient, rest = divmod(7, tensix.tensor([2, 4]))
    assert quotient.tolist() == [3, 1] and rest.tolist() == [1, 3]
    with pytest.raises(TypeError):
        divmod(tensix.tensor([7]), "2")


def test_order():
    x = tensix.tensor([[3, 1, 2], [9, 8, 7]])
    assert x.sort().tolist() == [[1, 2, 3], [7, 8, 9]] and x.sort(0).tolist() == [[3, 1, 2], [9, 8, 7]]
    assert x.sort(dim=1, descending=True).tolist() == x.sort(1, True).tolist() == [[3, 2, 1], [9, 8, 7]]
    assert x[0].argsort().tolist() == [1, 2, 0]
    assert x.ravel().cumsum(0).tolist() == [3, 4, 6, 15, 23, 30] and x.cumprod(dim=1)[0].tolist() == [3, 3, 6]
    assert x.flip(0).tolist() == [[9, 8, 7], [3, 1, 2]] and x.flip().tolist() == [[7, 8, 9], [2, 1, 3]]
    assert x.unique().tolist() == [1, 2, 3, 7, 8, 9] and x.median().item() == 5.0


def test_shapes():
    x = tensix.tensor([[1, 2], [3, 4]])
    assert x[None, :, :1].squeeze().shape == (2,) and x[None].squeeze(0).shape == x[None].squeeze(dim=0).shape == (2, 2)
    assert tensix.ones(1, 3, 1).squeeze((0, 2)).shape == (3,) and tensix.squeeze(tensix.ones(1, 3, 1)).shape == (3,)
    assert x.ravel().is_alias_of(x) and x.T.ravel().tolist() == [1, 3, 2, 4]
    assert x.repeat(2, 0).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]] and x.tile((1, 2)).shape == (2, 4)
    assert x.roll(1).tolist() == [[4, 1], [2, 3]] and x.roll(shifts=1, dims=0).tolist() == [[3, 4], [1, 2]]
    assert x.tril().tolist() == [[1, 0], [3, 4]] and x.triu(diagonal=1).tolist() == [[0, 2], [0, 0]]
    assert [part.tolist() for part in tensix.tensor([[0, 1], [2, 0]]).nonzero()] == [[0, 1], [1, 0]]


def test_norms():
    x = tensix.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert x.norm(dim=1).tolist() == [5.0, 10.0] and x.norm(dim=1, keepdim=True).shape == (2, 1)
    assert x.norm(p=1).item() == 21.0 and x.norm(1, dim=0).tolist() == [9.0, 12.0]
    np.testing.assert_allclose(x.norm().item(), np.linalg.norm(x.numpy()), rtol=1e-6)
    np.testing.assert_allclose(x.norm("nuc").item(), np.linalg.norm(x.numpy(), "nuc"), rtol=1e-6)
    assert x.norm("fro").item() == x.norm().item()
    assert x.norm("nuc", axis=(-2, -1)).item() == x.norm("nuc").item()
    for axis, error in ((1, ValueError), ((1, 0), ValueError), ((2, 3), IndexError), ((0, 0), ValueError)):
        with pytest.raises(error, match="dimension"):
            x.norm("nuc", axis=axis)
    with pytest.raises(IndexError, match="0 dimensions"):
        tensix.tensor(1.0).norm("nuc", axis=(0, 1))


def test_parts_of_complex_numbers_are_views():
    z = tensix.tensor([1 + 2j, 3 - 4j])
    z.real.zero_()
    assert z.tolist() == [2j, -4j] and z.imag.tolist() == [2.0, -4.0] and z.conj().imag.tolist() == [-2.0, 4.0]


def test_methods_are_handed_around():
    """As any function: bound, to map, to another process."""
    x = tensix.tensor([1.0, 4.0])
    root = x.sqrt
    assert root().tolist() == [1.0, 2.0] and list(map(tensix.Tensor.sum, [x, x]))[1].item() == 5.0
    for method in (tensix.Tensor.exp, tensix.Tensor.sum, tensix.Tensor.cumsum, tensix.Tensor.norm):
        restored = pickle.loads(pickle.dumps(method))
        assert restored(x).tolist() == method(x).tolist()
    with pytest.raises(TypeError, match=r"sum\(\) takes a tensor, found list"):
        tensix.Tensor.sum([1, 2])


def test_a_subclass_can_still_override_a_method():
    class Loud(tensix.Tensor):
        def sum(self, *args, **kwargs):
            return "loud", super().sum(*args, **kwargs)

    assert Loud().__class__.sum is not tensix.Tensor.sum


def test_help_shows_the_parameters_of_the_function_that_is_named():
    for function in (tensix.max, tensix.Tensor.max):
        titles = [line for line in function.__doc__.splitlines() if line in ("Parameters", "Raises", "Examples")]
        assert titles == ["Parameters", "Raises", "Examples"]
        assert "keepdims : bool" in function.__doc__ and "where there is none" in function.__doc__
        assert "tensix.mean" not in function.__doc__  # its own examples alone
    assert "n : int, optional" in tensix.fft.ifft.__doc__ and "IndexError" in tensix.fft.ifft.__doc__
    assert tensix.mean.__doc__ == tensix.mean.declaration.__doc__
