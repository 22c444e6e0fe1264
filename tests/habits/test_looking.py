"""Reading what a tensor is, as a debugger or a shell does, changes nothing."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import tensix


@pytest.fixture
def shared():
    x = tensix.rand(3, 4)
    y = x.lazy_clone()
    assert x.is_cow()
    return x, y


def every_attribute(x):
    for name in dir(x):
        getattr(x, name, None)


LOOKS = {
    "a pane of variables": every_attribute,
    "inspect.getmembers": inspect.getmembers,
    "the description for others": lambda x: repr(x.__array_interface__),
    "hasattr": lambda x: hasattr(x, "__array_interface__") and hasattr(x, "nnz"),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x} {x[0, 0]:.2f}",
    "iteration": lambda x: [[float(one) for one in row] for row in x],
    "tolist": lambda x: x.tolist(),
    "comparison": lambda x: (x == x, x < 1, x == np.zeros((3, 4))),
    "hash": hash,
    "in": lambda x: 3 in x,
    "copy": copy.copy,
    "len": len,
    "pickle 5": lambda x: pickle.dumps(x, 5),
    "pickle 2": lambda x: pickle.dumps(x, 2),
    "pickle of a view": lambda x: pickle.dumps(x[1]),
    "explain": lambda x: str(tensix.explain(x)),
}


@pytest.mark.parametrize("look", LOOKS)
def test_looking_ends_no_copy_on_write(shared, look):
    x, y = shared
    LOOKS[look](y)
    assert x.is_cow()
    assert y.is_cow()
    assert x.data_ptr() == y.data_ptr()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
def test_members_can_be_listed_whatever_the_shape(shape):
    assert dict(inspect.getmembers(tensix.zeros(shape)))["ndim"] == len(shape)


OBJECTS = {
    "undefined": tensix.Tensor,
    "bools": lambda: tensix.ones(2, 2, dtype="bool"),
    "no dimensions": lambda: tensix.tensor(1),
    "sparse": lambda: tensix.eye(2).to_sparse(),
    "sparse bools": lambda: tensix.eye(2, dtype="bool").to_sparse(),
    "meta": lambda: tensix.empty(2, device="meta"),
    "bfloat16": lambda: tensix.ones(2, dtype="bfloat16"),
    "the undefined type": lambda: tensix.Tensor().dtype,
    "a type": lambda: tensix.bfloat16,
    "a null storage": lambda: tensix.Storage.from_impl(tensix.IntrusivePtr()),
    "a storage": lambda: tensix.ones(2).storage(),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_attribute_that_does_not_apply_is_not_there(kind):
    made = OBJECTS[kind]()
    assert inspect.getmembers(made)
    for name in dir(made):
        hasattr(made, name)  # raises what is not an AttributeError


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bools", ["real", "imag"]),
        ("sparse", ["real", "imag", "T", "mT"]),
        ("undefined", ["device", "T", "mT", "real", "imag", "nnz"]),
        ("the undefined type", ["dtype", "type"]),
        ("a null storage", ["device", "allocator"]),
    ],
)
def test_attributes_that_do_not_apply(kind, names):
    made = OBJECTS[kind]()
    assert [name for name in names if hasattr(made, name)] == []
    assert tensix.ones(2, 2).T.shape == tensix.ones(2, 2).mT.shape == (2, 2)


def test_a_kernel_of_ones_own_makes_an_attribute_apply():
    x = tensix.eye(2).to_sparse()
    with tensix.Library("tensix") as library:
        library.impl("numpy_T", lambda x: tensix.ones(2, 2), "SparseCPU")
        assert x.T.tolist() == [[1, 1], [1, 1]]
    assert not hasattr(x, "T")


def test_a_dense_tensor_has_no_nnz():
    assert not hasattr(tensix.ones(2), "nnz")
    assert tensix.ones(2).to_sparse().nnz == 2
    with pytest.raises(AttributeError, match="to_sparse"):
        print(tensix.ones(2).nnz)


def test_the_address_is_handed_out_when_it_is_asked_for(shared):
    x, y = shared
    interface = y.__array_interface__
    assert y.is_cow()
    assert interface["data"] == interface.get("data") == (y.data_ptr(), False)
    assert y.data_ptr() != x.data_ptr()
    assert interface.get("descr") is None
    with pytest.raises(KeyError):
        interface["descr"]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_what_was_pickled_lazily_can_be_written_when_it_is_back(shared, protocol):
    x, y = shared
    made = pickle.loads(pickle.dumps(y, protocol))
    assert made.tolist() == x.tolist()
    made[0] = 0
    assert y.tolist() == x.tolist()


def test_values_are_found_as_in_an_array():
    x = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 3 in x
    assert 5 not in x
    assert x[0] in x
    assert tensix.tensor([4.0]) in x
    assert np.array([9, 4]) in x
    assert "three" not in x
    assert None not in x
    assert 2 not in tensix.empty(0)


STATES = {
    "a vector": lambda: tensix.ones(3), "a matrix": lambda: tensix.ones(2, 3), "a number": lambda: tensix.tensor(2.0),
    "bools": lambda: tensix.ones(2) > 0, "complex numbers": lambda: tensix.ones(2, dtype="complex64"),
    "bfloat16": lambda: tensix.ones(2, dtype="bfloat16"), "nothing": lambda: tensix.empty(0, 3),
    "a sparse tensor": lambda: tensix.ones(2, 2).to_sparse(), "on meta": lambda: tensix.empty(2, 3, device="meta"),
    "undefined": tensix.Tensor,
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_dir_lists_what_a_tensor_has(state):
    x = STATES[state]()
    listed = dir(x)
    for name in listed:
        getattr(x, name)
    for name in {*object.__dir__(x)} - {*listed}:
        with pytest.raises(Exception, match=r"."):
            getattr(x, name)
    assert {"shape", "dtype", "sum", "reshape"} <= {*listed}
    assert ("mT" in listed) == (x.ndim >= 2 and state != "a sparse tensor")
    assert ("nnz" in listed) == (state == "a sparse tensor")


def test_dir_allocates_no_elements():
    x = tensix.ones(1000, 1000)
    with tensix.memory.statistics() as counted:
        assert "imag" in dir(x)
    assert counted.peak_bytes < 1000


def test_dir_of_a_subclass_has_its_own_names():
    class Named(tensix.Tensor):
        @property
        def label(self):
            return "label"

    assert {"label", "sum"} <= {*dir(Named())} and "power" not in dir(Named())


def test_dir_of_a_function_lists_what_it_has():
    for function in (tensix.sum, tensix.add, tensix.Tensor.sum, tensix.linalg.det, tensix.ops.tensix.add):
        for name in dir(function):
            getattr(function, name)
    assert "__signature__" in dir(tensix.Tensor.sum)


def test_dir_of_operators_lists_namespaces():
    assert "tensix" in dir(tensix.ops) and "dispatcher" not in dir(tensix.ops)
    with tensix.Library("looking_test") as library:
        library.define("twice(Tensor self) -> Tensor")
        assert "looking_test" in dir(tensix.ops) and "twice" in dir(tensix.ops.looking_test)
    assert "looking_test" not in dir(tensix.ops)
