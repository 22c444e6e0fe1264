"""New tensors: forms of the arguments, types, values, and sizes that cannot be."""

import numpy as np
import pytest

import tensix
from tensix import OutOfMemoryError

FACTORIES = {
    "empty": tensix.empty, "zeros": tensix.zeros, "ones": tensix.ones, "rand": tensix.rand, "randn": tensix.randn,
}  # fmt: skip
each_factory = pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)


@each_factory
@pytest.mark.parametrize("given, shape", [
    ((3, 4), (3, 4)), (((3, 4),), (3, 4)), (([3, 4],), (3, 4)), ((3,), (3,)), ((), ()), (((),), ()), ((0,), (0,)),
    ((3, 0, 2), (3, 0, 2)), ((np.int64(3),), (3,)), ((np.int64(3), np.uint8(4)), (3, 4)), ((range(2, 4),), (2, 3)),
    ((1,) * 64, (1,) * 64),
])
def test_forms_of_a_shape(make, given, shape):
    x = make(*given)
    assert (x.shape, x.dtype, str(x.device)) == (shape, tensix.float32, "cpu") and x.is_contiguous()


@each_factory
@pytest.mark.parametrize("shape, error", [
    ((-1,), ValueError), ((2, -3), ValueError), ((0, -1), ValueError), ((2**62,), ValueError),
    ((2**40, 2**40), ValueError), ((2**31, 2**31, 4), ValueError), ((2**64,), OverflowError),
    ((2**60,), OutOfMemoryError), ((2.5,), TypeError), ((2, 2.5), TypeError), (("3",), TypeError), ((None,), TypeError),
    ((1,) * 65, ValueError), ((0, 2**62, 2**62), ValueError),
])
def test_sizes_that_cannot_be(make, shape, error):
    with pytest.raises(error):
        make(*shape)


def test_out_of_memory_tells_the_bytes():
    with pytest.raises(OutOfMemoryError, match=f"{2**62:,} bytes") as failure:
        tensix.empty(2**60)
    assert failure.value.nbytes == 2**62


@pytest.mark.parametrize("dtype", [
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", "bool",
])
def test_constant_factories_in_every_type(dtype):
    for make, number in ((tensix.zeros, 0), (tensix.ones, 1)):
        x = make(2, 3, dtype=dtype)
        assert str(x.dtype) == dtype and x.tolist() == np.full((2, 3), number, dtype).tolist()
        assert x.storage().nbytes() == 6 * x.itemsize


@pytest.mark.parametrize("value, dtype", [
    (7, "int64"), (2.5, "float32"), (True, "bool"), (1j, "complex64"), (np.float64(2), "float64"), (np.int8(2), "int8"),
])
def test_full_takes_the_type_of_the_value(value, dtype):
    """Default types go together: float32 and complex64."""
    x = tensix.full((2, 2), value)
    assert str(x.dtype) == dtype and x.tolist() == [[value, value]] * 2
    assert tensix.full(3, value, dtype="complex128").tolist() == [complex(value)] * 3


@pytest.mark.parametrize("value, dtype, error", [(300, "uint8", OverflowError), (-1, "uint8", OverflowError),
                                                 ("a", "float32", TypeError), (1j, "float32", TypeError)])
def test_value_that_does_not_fit(value, dtype, error):
    with pytest.raises(error):
        tensix.full((2,), value, dtype=dtype)


@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"dtype": "float32", "alignment": 128}])
@pytest.mark.parametrize("value", ["a", b"a", None, [1, 2], np.ones(2)])
def test_full_names_a_value_that_is_not_a_number(value, options):
    found = type(value).__name__
    with pytest.raises(TypeError, match=rf"^fill_value must be a number or a tensor, found {found}\.$"):
        tensix.full((2,), value, **options)


@pytest.mark.parametrize("device", ["cpu", "cpu:0", tensix.Device("cpu")])
def test_device(device):
    assert tensix.empty(2, device=device).device == tensix.Device(device)
    assert tensix.ones(2, device=device).device == tensix.Device(device)


@pytest.mark.parametrize("device, error", [("cuda", NotImplementedError), ("fpga", NotImplementedError),
                                           ("nowhere", (RuntimeError, ValueError)),
                                           ("", (RuntimeError, ValueError)), (3, TypeError)])
def test_device_that_is_not_there(device, error):
    for make in FACTORIES.values():
        with pytest.raises(error):
            make(2, device=device)


# ---- tensor()


@pytest.mark.parametrize("data, dtype", [
    ([[1, 2], [3, 4]], "int64"), ([1.5, 2], "float32"), ([True], "bool"), (3, "int64"), ([], "float32"),
    ([1j, 2], "complex64"), ((1, 2), "int64"), (range(3), "int64"), ([[], []], "float32"), ([2**63], "uint64"),
    (np.arange(3.0), "float64"), (np.float64(2), "float64"), (np.arange(3, dtype="i2"), "int16"),
])
def test_tensor_of_data(data, dtype):
    x = tensix.tensor(data)
    assert str(x.dtype) == dtype and x.shape == np.shape(data) and x.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex128", "bool"])
def test_tensor_with_a_type(dtype):
    for data in ([0, 1], np.array([0.0, 1.0]), tensix.tensor([0, 1])):
        x = tensix.tensor(data, dtype=dtype)
        assert str(x.dtype) == dtype and x.tolist() == np.array([0, 1], dtype).tolist()


def test_tensor_copies():
    array, source = np.zeros(2, np.float32), tensix.zeros(2)
    for data in (array, source):
        tensix.tensor(data).fill_(1)
    assert array.tolist() == source.tolist() == [0.0, 0.0]
    assert tensix.tensor(array).storage().resizable


@pytest.mark.parametrize("source", [
    tensix.ones(2), tensix.ones(2, dtype=tensix.int8), tensix.ones(()), tensix.empty(0, 3), tensix.ones(2, 3).T,
    tensix.ones(2, dtype=tensix.float64), tensix.ones(2, dtype=tensix.uint16),
])
def test_tensor_of_a_tensor_keeps_type_and_shape(source):
    x = tensix.tensor(source)
    assert (x.dtype, x.shape, x.tolist()) == (source.dtype, source.shape, source.tolist())


@pytest.mark.parametrize("array", [np.arange(3, dtype=">i4"), np.frombuffer(bytes(9), np.uint8)[1:].view("f4"),
                                   np.arange(6.0).reshape(2, 3)[:, ::-1], np.broadcast_to(1.0, (2, 2))])
def test_tensor_takes_arrays_that_cannot_be_looked_at(array):
    x = tensix.tensor(array)
    assert x.tolist() == array.tolist() and not x.readonly


def test_tensor_of_tensors():
    assert tensix.tensor([tensix.ones(2), tensix.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize("data, error", [([[1, 2], [3]], ValueError), ("abc", TypeError), ([None], TypeError),
                                         ([2**70], (TypeError, OverflowError)), ({}, TypeError), ([1, "a"], TypeError)])
def test_data_that_is_no_tensor(data, error):
    with pytest.raises(error):
        tensix.tensor(data)


# ---- operators: the options that their schemas declare

ARGUMENTS = {
    "empty": ((2,),), "empty_like": (tensix.ones(2),), "empty_strided": ((2,), (1,)), "zeros": ((2,),), "ones": ((2,),),
    "full": ((2,), 1), "full_like": (tensix.ones(2), 1), "rand": ((2,),), "randn": ((2,),), "arange": (0, 2),
    "linspace": (0, 1, 2), "eye": (2, 2), "fft_fftfreq": (2,), "fft_rfftfreq": (2,), "randint": (0, 3, (2,)),
}  # fmt: skip
each_operator = pytest.mark.parametrize("name, args", ARGUMENTS.items(), ids=ARGUMENTS)


def test_every_operator_with_a_layout_is_among_them():
    declared = {
        table.schema.name
        for table in map(tensix.dispatch.dispatcher.get_op_table, tensix.dispatch.dispatcher.operators())
        if "layout" in [argument.name for argument in table.schema.arguments]
    }
    assert declared == set(ARGUMENTS)


@each_operator
@pytest.mark.parametrize("layout", [None, tensix.strided])
@pytest.mark.parametrize("pin_memory", [None, False])
def test_options_that_ask_for_what_there_is(name, args, layout, pin_memory):
    factory = getattr(tensix.ops.tensix, name)
    made = factory(*args, layout=layout, pin_memory=pin_memory, device="cpu")
    assert (made.shape, made.dtype, made.layout) == (factory(*args).shape, factory(*args).dtype, tensix.strided)


@each_operator
@pytest.mark.parametrize("options, error, text", [
    ({"layout": tensix.sparse_coo}, ValueError, "found layout=tensix.sparse_coo"),
    ({"layout": "strided"}, TypeError, "a layout is tensix.strided or None here, found str"),
    ({"pin_memory": True}, ValueError, "tensix pins no memory"), ({"pin_memory": 0}, TypeError, "must be bool"),
])
def test_options_that_ask_for_something_else(name, args, options, error, text):
    with pytest.raises(error, match=text):
        getattr(tensix.ops.tensix, name)(*args, **options)


def test_operator_randint_makes_int64():
    assert tensix.ops.tensix.randint(0, 3, (2,)).dtype is tensix.int64


# ---- the same options of the functions

FUNCTIONS = {
    "arange": (tensix.arange, 3), "arange of floats": (tensix.arange, 3.0), "empty": (tensix.empty, 2),
    "empty_like": (tensix.empty_like, tensix.ones(2)), "empty_strided": (tensix.empty_strided, (2,), (1,)),
    "eye": (tensix.eye, 2), "fftfreq": (tensix.fft.fftfreq, 4), "full": (tensix.full, (2,), 7),
    "full_like": (tensix.full_like, tensix.ones(2), 7),
    "full_like of a tensor": (tensix.full_like, tensix.ones(2), tensix.tensor(7)),
    "full of a tensor": (tensix.full, (2,), tensix.tensor(7)), "linspace": (tensix.linspace, 0, 1, 3),
    "ones": (tensix.ones, 2), "ones_like": (tensix.ones_like, tensix.ones(2)), "rand": (tensix.rand, 2),
    "rand_like": (tensix.rand_like, tensix.ones(2)), "randint": (tensix.randint, 5, (2,)),
    "randint_like": (tensix.randint_like, tensix.tensor([1, 2]), 5), "randn": (tensix.randn, 2),
    "randn_like": (tensix.randn_like, tensix.ones(2)), "rfftfreq": (tensix.fft.rfftfreq, 4),
    "scalar_tensor": (tensix.scalar_tensor, 2.5), "zeros": (tensix.zeros, 2),
    "zeros_like": (tensix.zeros_like, tensix.ones(2)),
}  # fmt: skip
each_factory = pytest.mark.parametrize("factory", FUNCTIONS)


@each_factory
def test_a_factory_takes_the_layout_and_the_memory_that_there_are(factory):
    function, *args = FUNCTIONS[factory]
    for layout, pin_memory in ((tensix.strided, None), (None, False), (tensix.strided, False), (None, None)):
        made = function(*args, layout=layout, pin_memory=pin_memory)
        assert (made.shape, made.dtype, made.layout) == (function(*args).shape, function(*args).dtype, tensix.strided)


@each_factory
def test_a_factory_says_what_it_cannot_make(factory):
    function, *args = FUNCTIONS[factory]
    with pytest.raises(ValueError, match=r"tensix pins no memory\. Leave it out"):
        function(*args, pin_memory=True)
    with pytest.raises(ValueError, match=r"found layout=tensix.sparse_coo. Make a sparse one with sparse_coo_tensor"):
        function(*args, layout=tensix.sparse_coo)
    with pytest.raises(TypeError, match=r"a layout is tensix\.strided or None here, found str"):
        function(*args, layout="strided")


@pytest.mark.parametrize("make", [tensix.empty, tensix.zeros, tensix.ones, lambda *a, **k: tensix.full(a, 1, **k)])
def test_options_beside_an_alignment(make):
    made = make(2, 3, alignment=256, layout=tensix.strided, pin_memory=False)
    assert made.data_ptr() % 256 == 0
    with pytest.raises(ValueError, match="tensix pins no memory"):
        make(2, 3, alignment=256, pin_memory=True)


def test_a_kernel_of_a_device_gets_the_options():
    seen = {}

    def make(size, *, layout, device, pin_memory):
        seen.update(layout=layout, pin_memory=pin_memory, device=device.type)
        return tensix.empty(size)

    with tensix.Library("tensix") as library:
        library.impl("empty.memory_format", make, "PrivateUse1")
        with pytest.raises(ValueError, match="registered for PrivateUse1"):  # for it returns a tensor on the CPU
            tensix.empty(2, device="privateuseone", pin_memory=True, layout=tensix.strided)
    assert seen == {"layout": tensix.strided, "pin_memory": True, "device": "privateuseone"}
