"""What kernels, fallbacks and listeners in Python return or leave is checked where it comes back."""

import numpy as np
import pytest

import tensix
from tensix.dispatch import DispatchKeySet, dispatcher, include_keys
from tensix.dispatch.dispatcher import Dispatcher
from tensix.library import Library
from tensix.loops.numpy_kernel import NumpyKernel

FALSE = {
    "NoneType": None, "int": 7, "str": "text", "tuple": (), "NotImplementedType": NotImplemented,
    "an undefined Tensor": tensix.Tensor(), "ndarray": np.ones(2),
}  # fmt: skip


def returning(result):
    return lambda *args, **kwargs: result


@pytest.mark.parametrize("found", FALSE)
def test_a_kernel_that_returns_no_tensor(found):
    with Library("tensix") as library:
        library.impl("add.Tensor", returning(FALSE[found]), "CPU", allow_override=True)
        said = rf"tensix::add\.Tensor\(\): .*, registered for CPU by Library.*, returned {found}; expected Tensor"
        with pytest.raises(TypeError, match=said):
            tensix.ones(2) + tensix.ones(2)


@pytest.mark.parametrize("found", FALSE)
def test_a_fallback_that_returns_no_tensor(found):
    with Library("tensix") as library, include_keys("Tracer"):
        library.fallback(returning(FALSE[found]), "Tracer")
        said = rf"fallback .*<lambda>, the fallback of Tracer, returned {found}; expected Tensor"
        with pytest.raises(TypeError, match=said):
            tensix.ones(2)
        with pytest.raises(TypeError, match=said):
            dispatcher.get_op_table("add.Tensor")(tensix.Tensor(), tensix.Tensor())


@pytest.mark.parametrize("returns, good, bad", [
    ("int", 3, "text"), ("bool", True, 3), ("str", "text", None), ("Tensor?", None, 3), ("Tensor[]", (), 3),
    ("Tensor[]", [tensix.ones(1)], [tensix.ones(1), None]), ("Tensor[]", [tensix.ones(1)], (tensix.Tensor(),)),
    ("(Tensor, int)", (tensix.ones(1), 3), (tensix.ones(1),)), ("(Tensor, int)", [tensix.ones(1), 3], tensix.ones(2)),
    ("(Tensor values, int count)", (tensix.ones(1), 3), (3, tensix.ones(1))), ("()", (), 3), ("()", None, (3,)),
    ("Any", None, ...),
])  # fmt: skip
def test_results_are_of_the_types_that_are_declared(returns, good, bad):
    table = Dispatcher().define(f"mine::f(Tensor x) -> {returns}")
    kernel = table.register("CPU", returning(good))
    assert table(tensix.ones(1)) is good
    table.unregister("CPU", kernel)
    if bad is not ...:
        table.register("CPU", returning(bad))
        with pytest.raises(TypeError, match=r"mine::f\(\).*registered for CPU by tensix, returned"):
            table(tensix.ones(1))


def test_what_is_written_comes_back():
    table = Dispatcher().define("mine::f(Tensor x, *, Tensor(a!)? out=None) -> Tensor(a!)")
    x, out = tensix.ones(1), tensix.ones(1)
    kernel = table.register("CPU", lambda x, out=None: out if out is not None else x)
    assert table(x, out=out) is out and table(x) is x
    table.unregister("CPU", kernel)
    table.register("CPU", lambda x, out: x)
    with pytest.raises(ValueError, match=r"returned a Tensor of shape \(1,\).*; expected its argument Tensor\(a!\)"):
        table(x, out=out)


X = tensix.ones(6, 6)
MEMORY = {
    "shape": (tensix.ones(1), r"returned a Tensor of shape \(1,\), float32"),
    "type": (tensix.ones((6, 6), dtype="uint8"), "returned a Tensor of shape .* uint8, cpu"),
    "expanded": (tensix.ones(1).expand(6, 6), r"strides \(0, 0\)"),
    "transposed": (X.T, r"strides \(1, 6\)"),
    "device": (tensix.ones(6, 6, device="meta"), "meta"),
    "layout": (X.to_sparse(), "without strides"),
}


@pytest.mark.parametrize("name", MEMORY)
@pytest.mark.parametrize("operator, call", [
    ("empty.memory_format", lambda: tensix.empty(6, 6)), ("empty.memory_format", lambda: tensix.randn(6, 6)),
    ("zeros", lambda: tensix.eye(6)), ("contiguous", lambda: X.T.contiguous()), ("contiguous", lambda: X.T.argmax()),
    ("clone", lambda: X.T.contiguous()), ("clone", lambda: X.T.reshape(-1)),
])  # fmt: skip
def test_memory_is_as_it_was_asked_for(operator, call, name):
    result, found = MEMORY[name]
    with Library("tensix") as library:
        library.impl(operator, returning(result), "CPU", allow_override=True)
        with pytest.raises(ValueError, match=rf"{operator}\(\): .*{found}.*; expected a strided Tensor of shape"):
            call()


def test_a_number_beside_a_tensor_is_not_written_behind_one_byte():
    x = tensix.arange(4)
    byte = tensix.empty(1, dtype="uint8")
    with Library("tensix") as library:
        library.impl("empty.memory_format", returning(byte), "CPU", allow_override=True)
        with pytest.raises(ValueError, match=r"empty.memory_format\(\).*expected a strided Tensor of shape \(\)"):
            1.0 / x


@pytest.mark.parametrize("operator, call, dtype", [
    ("to.dtype", lambda: X.astype("float64"), "float64"), ("clone", lambda: X.clone(), "float32"),
    ("clone", lambda: X.clone(memory_format=tensix.preserve_format), "float32"),
])  # fmt: skip
def test_the_order_is_free_where_none_is_asked_for(operator, call, dtype):
    result = tensix.ones(6, 6, dtype=dtype).T
    with Library("tensix") as library:
        library.impl(operator, returning(result), "CPU", allow_override=True)
        assert call() is result


def test_a_function_of_numpy_that_returns_something_else():
    with Library("tensix") as library:
        library.impl("clone", NumpyKernel(lambda self, memory_format: self[:1]), "CPU", allow_override=True)
        with pytest.raises(ValueError, match=r"clone\(\): .* over views, registered for CPU.*expected"):
            X.clone()
        library.impl("abs", NumpyKernel(lambda self: (self, self)), "CPU", allow_override=True)
        with pytest.raises(TypeError, match="returned tuple; expected Tensor"):
            abs(X)


class Exchanging:
    """A listener that exchanges what it is handed."""

    def before_call(self, *_):
        pass

    def after_call(self, table, key, result):
        if table.schema.name == "empty":
            result.set_(self.other)

    failed_call = before_call

    def __repr__(self):
        return "a listener"


@pytest.mark.parametrize("call", [lambda: tensix.arange(1000), lambda: tensix.tensor([1.0] * 1000), lambda: X + 1])
def test_a_listener_that_exchanges_new_memory(call):
    listener = Exchanging()
    listener.other = tensix.ones(1, dtype="uint8")
    dispatcher.add_listener(listener)
    try:
        with pytest.raises(ValueError, match=r"empty.memory_format\(\): a listener, which listens, left a Tensor"):
            call()
    finally:
        dispatcher.remove_listener(listener)


def test_values_of_a_sparse_tensor_that_do_not_fit():
    sparse = tensix.eye(4).to_sparse()
    with Library("tensix") as library:
        library.impl("neg", returning(tensix.ones(2)), "CPU", allow_override=True)
        with pytest.raises(ValueError, match="of 4 entries needs a strided vector of as many values, found 2"):
            -sparse


def test_redispatch_is_checked_too():
    table = Dispatcher().define("mine::f(Tensor x) -> Tensor")
    table.register("CUDA", returning(5))
    with pytest.raises(TypeError, match="registered for CUDA by tensix, returned int"):
        table.redispatch(DispatchKeySet("CUDA"), tensix.ones(1))
