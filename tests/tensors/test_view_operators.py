"""Views as operators: called by their schema, replaced by kernels of others, seen by listeners."""

import pytest

import tensix
from tensix import ops
from tensix.dispatch import dispatcher, include_keys
from tensix.library import Library


@pytest.fixture
def x():
    return tensix.tensor([[0, 1, 2], [3, 4, 5]])


def test_arguments_by_name_and_defaults(x):
    assert ops.tensix.diagonal(x).tolist() == [0, 4] and ops.tensix.diagonal(x, dim2=0, dim1=1).tolist() == [0, 4]
    assert ops.tensix.flatten(x, end_dim=0).shape == (2, 3) and ops.tensix.flatten(x).shape == (6,)
    assert ops.tensix.as_strided(x, (2,), (1,), storage_offset=3).tolist() == [3, 4]
    assert [part.tolist() for part in ops.tensix.unbind(x, dim=1)] == [[0, 3], [1, 4], [2, 5]]
    assert ops.tensix.narrow(x, dim=1, start=1, length=2).tolist() == [[1, 2], [4, 5]]
    assert ops.tensix.contiguous(x) is x and ops.tensix.clone(x, memory_format=tensix.contiguous_format) is not x
    assert ops.tensix.contiguous(x.T, memory_format="contiguous_format").stride() == (2, 1)
    assert ops.tensix.view(x, tensix.int8).shape == (2, 24)


@pytest.mark.parametrize("call", [
    lambda x: dispatcher.get_op_table("tensix::select.int")(x, 0), lambda x: ops.tensix.narrow(x, 0, 0),
    lambda x: dispatcher.get_op_table("tensix::diagonal")(x, 0, 0, 1, 2), lambda x: ops.tensix.unfold(1, 2, 3, 4),
    lambda x: dispatcher.get_op_table("tensix::unbind.int")(None), lambda x: ops.tensix.flatten(x, dim=0),
    lambda x: dispatcher.get_op_table("tensix::chunk")(x, None), lambda x: ops.tensix.contiguous(x, memory_format=0),
    lambda x: dispatcher.get_op_table("tensix::split_with_sizes")(x, 2),
    lambda x: dispatcher.get_op_table("tensix::as_strided")(x, 2, 1),
])
def test_arguments_that_do_not_fit(x, call):
    with pytest.raises(TypeError):
        call(x)


def test_a_kernel_of_others_gets_what_the_schema_says(x):
    seen = []

    def select(self, dim, index):
        seen.append((dim, index))
        return self.narrow(dim, index, 1)

    def clone(self, *, memory_format=None):
        seen.append(memory_format)
        return self if memory_format is None else tensix.tensor(self.tolist())

    with Library("tensix") as library:
        library.impl("select.int", select, "CPU")
        library.impl("clone", clone, "CPU", allow_override=True)
        assert x.select(1, -2).shape == (2, 1)
        assert x.T.contiguous().stride() == (2, 1) and x.clone() is x
    assert seen == [(1, -2), tensix.contiguous_format, None] and x.select(1, -2).shape == (2,)


def test_listeners_hear_of_views(x):
    class Names:
        def __init__(self):
            self.heard = []

        def before_call(self, table, key, args, kwargs):
            self.heard.append((table.schema.name, len(args), sorted(kwargs)))

        def after_call(self, table, key, result):
            pass

    listener = Names()
    dispatcher.add_listener(listener)
    try:
        x.select(0, 0).unfold(0, 2, 1).flatten()
        x.T.contiguous().clone(memory_format=tensix.preserve_format)
    finally:
        dispatcher.remove_listener(listener)
    assert listener.heard == [
        ("select", 3, []), ("unfold", 4, []), ("flatten", 3, []), ("clone", 1, ["memory_format"]), ("numpy_T", 1, []),
        ("contiguous", 1, []), ("clone", 1, ["memory_format"]), ("clone", 1, []),
    ]  # fmt: skip


def test_views_under_a_guard(x):
    with include_keys("AutogradCPU"):
        assert x.select(0, 1).tolist() == [3, 4, 5] and x.contiguous() is x and x.clone().tolist() == x.tolist()
