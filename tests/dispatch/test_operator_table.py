"""How slots are resolved, and how a table prints."""

import os
import re
import subprocess
import sys
import threading

import pytest

import tensix
from tensix.dispatch import DispatchKeySet, dispatcher, exclude_keys, include_keys
from tensix.dispatch.dispatcher import Dispatcher
from tensix.library import Library

SCHEMA = "mine::f.Tensor(Tensor a, Tensor b) -> Tensor"


@pytest.fixture
def table():
    """Return the table of an operator without kernels, in a dispatcher of its own."""
    return Dispatcher().define(SCHEMA)


def first(a, b=None):
    return a


def second(a, b):
    return b


def rows_of(table):
    """Return what a table prints, without the schema: [key, kernel, why] per row."""
    head, titles, *rows = str(table).splitlines()
    assert head == str(table.schema) and titles.split() == ["key", "kernel", "why"]
    return [re.split(r"  +", row.strip()) for row in rows]


def test_table_prints_a_row_for_each_run_of_equal_slots(table):
    nothing = [["Undefined .. NestedTensorMeta", "missing", "nothing registered"],
               ["BackendSelect .. PythonDispatcher", "fallthrough", "nothing registered"]]  # fmt: skip
    assert rows_of(table) == nothing
    kernel = table.register("CPU", first)
    table.register("CompositeExplicitAutograd", second)
    name = f"{__name__}.first"
    assert rows_of(table) == [
        ["Undefined", f"{__name__}.second", "CompositeExplicitAutograd, by tensix"], ["CPU", name, "direct, by tensix"],
        ["CUDA .. Meta", f"{__name__}.second", "CompositeExplicitAutograd, by tensix"],
        ["QuantizedCPU .. NestedTensorMeta", "missing", "nothing registered"], nothing[1],
    ]
    table.register("CPU", second, owner="me", allow_override=True)
    assert rows_of(table)[1][2] == f"direct, by me, overrides {name} by tensix"
    table.unregister("CPU", kernel)
    assert rows_of(table)[1] == ["CPU", f"{__name__}.second", "direct, by me"]
    assert repr(table) == f"OperatorTable({SCHEMA})"


def test_table_says_what_comes_from_an_alias_or_a_fallback(table):
    table.register("CompositeImplicitAutograd", first)
    assert rows_of(table) == [["Undefined .. PythonDispatcher", f"{__name__}.first",
                               "CompositeImplicitAutograd, by tensix"]]  # fmt: skip
    with Library("mine") as library:
        library.fallback(second, "PrivateUse2")
        shown = rows_of(dispatcher.get_op_table("neg"))
        assert ["PrivateUse2", "fallback second", "fallback"] in shown


def test_explicit_kernels_do_not_reach_other_layouts(table):
    table.register("CompositeExplicitAutograd", first)
    for key in ("CPU", "Meta", "Undefined"):
        assert repr(table.kernel_for(key)).endswith("first")
    for key in ("SparseCPU", "QuantizedCPU", "SparseCsrCUDA", "NestedTensorMeta"):
        assert repr(table.kernel_for(key)) == "missing"


def test_every_operator_prints():
    for name in dispatcher.operators():
        assert len(str(dispatcher.get_op_table(name)).splitlines()) >= 2


# ---- sets of keys that are asked for


def test_redispatch_names_the_keys_that_were_asked_for():
    add, x = dispatcher.get_op_table("add.Tensor"), tensix.ones(2)
    assert add.redispatch(DispatchKeySet("CPU"), x, x).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError, match=r"arguments from the 'CUDA' backend.*only available for"):
        add.redispatch(DispatchKeySet("CUDA"), x, x)


@pytest.mark.parametrize("keys", ["CPU", None, 3])
def test_redispatch_takes_a_set(keys):
    with pytest.raises(TypeError, match="takes a DispatchKeySet first, found"):
        dispatcher.get_op_table("add.Tensor").redispatch(keys, tensix.ones(2), tensix.ones(2))


def test_meta_that_is_included_for_tensors_elsewhere():
    x = tensix.ones(2)
    with include_keys("CPU", "Meta"), pytest.raises(RuntimeError, match="a kernel for meta got tensors on cpu and cpu"):
        x + x


def test_a_key_that_is_excluded_leaves_tensors_their_backend():
    """Without it a tensor on meta would meet the kernel for the CPU."""
    x = tensix.ones(2, device="meta")
    with exclude_keys("AutogradMeta"):
        assert (x + x).device.type == "meta"
    with exclude_keys("CPU"), pytest.raises(NotImplementedError, match="from the 'Undefined' backend"):
        x + x  # the functionality goes on every backend


def test_redispatch_checks_arguments_against_the_schema():
    add, x = dispatcher.get_op_table("add.Tensor"), tensix.ones(2)
    with pytest.raises(TypeError, match="'other' must be Tensor, found int"):
        add.redispatch(DispatchKeySet("CPU"), x, 1)


# ---- what kernels are told


def test_python_kernels_are_not_told_what_is_as_by_default():
    own = Dispatcher().define("mine::g(Tensor a, int b=1000000, int c=2, *, Scalar d=1, bool e=False) -> Any")
    own.register("CPU", lambda *args, **named: (args[1:], named))
    x = tensix.ones(1)
    default = own.schema.arguments[1].default
    assert own(x) == own(x, default, 2, d=1, e=False) == ((), {})
    assert own(x, c=3) == ((default, 3), {})
    assert own(x, 5, e=True) == ((5,), {"e": True})


def test_kernel_in_c_serves_operators_of_the_same_arguments():
    with Library("mine") as library:
        library.define("one(Tensor self) -> Tensor")
        library.define("two(Tensor self, Tensor other) -> Tensor")
        kernel = dispatcher.get_op_table("neg").kernel_for("CPU")
        library.impl("one", kernel, "CPU")
        assert tensix.ops.mine.one(tensix.ones(1)).tolist() == [-1.0]
        with pytest.raises(TypeError, match=r"takes the arguments of tensix::neg.*, found those of mine::two"):
            library.impl("two", kernel, "CPU")


# ---- what a library cannot register


@pytest.mark.parametrize("fallback, key, error, text", [
    (3, "PrivateUse2", TypeError, "a fallback must be callable, found int"),
    (None, "PrivateUse2", TypeError, "a fallback must be callable, found NoneType"),
    (second, "CompositeImplicitAutograd", ValueError, "CompositeImplicitAutograd is an alias"),
    (second, "Autograd", ValueError, "Autograd is an alias"), (second, "GPU", ValueError, "no dispatch key is called"),
])
def test_fallback_that_cannot_be(fallback, key, error, text):
    with Library("mine") as library:
        library.fallback(second, "PrivateUse2" if fallback is None else "PrivateUse3")
        with pytest.raises(error, match=text):
            library.fallback(fallback, key)
        assert repr(dispatcher.get_op_table("neg").kernel_for("PrivateUse2")) == (
            "fallback second" if fallback is None else "missing"
        )


def test_operator_that_outlives_its_library():
    with Library("mine") as library:
        library.define("gone(Tensor x) -> Tensor")
        gone = tensix.ops.mine.gone
    with pytest.raises(RuntimeError, match="no operator is called mine::gone any more"):
        gone(tensix.ones(2))


def test_kernel_that_is_unregistered_while_it_runs():
    """By itself. With Python's debugging allocator what is freed too early is overwritten, so that it is found out."""
    program = """
import tensix
from tensix.dispatch import dispatcher

class Closing:
    def __init__(self, name):
        self.name = name
    def __call__(self, *args):
        table.unregister("CPU", table.kernel_for("CPU"))
        return 5
    def __repr__(self):
        return "closing"

for name, call in (
    ("abs", lambda x: tensix.abs(x)), ("add.Tensor", lambda x: x + x), ("t", lambda x: x.t()),
    ("fill_.Scalar", lambda x: x.fill_(1)), ("clone", lambda x: x.clone()),
):
    table = dispatcher.get_op_table("tensix::" + name)
    table.register("CPU", Closing(name), allow_override=True)
    try:
        call(tensix.ones(2, 2))
    except TypeError as error:
        print(error)
    call(tensix.ones(2, 2))
"""
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, env=environment)
    said = done.stdout.splitlines()
    assert len(said) == 5 and all("closing, which is no longer registered" in line for line in said), done.stderr


# ---- operators by name


def test_operators_come_and_go_with_their_libraries():
    with Library("mine") as first_library, Library("mine") as second_library:
        first_library.define("both(Tensor x) -> Tensor")
        both = tensix.ops.mine.both
        second_library.define("both.int(int x) -> Tensor")
        assert tensix.ops.mine.both is both and both.tables[1] is both.int and "both" in dir(tensix.ops.mine)
        first_library.close()
        assert both.tables == (both.int,)
        second_library.close()
        assert not hasattr(tensix.ops.mine, "both") and both.tables == ()
    with Library("mine") as library:
        again = library.define("both(int x) -> Tensor")
        assert tensix.ops.mine.both is both and both.tables == (again,)


def test_call_while_others_register():
    """All operators were searched by name in every call, and iterating failed when another thread registered one."""
    ended, failures = threading.Event(), []
    x = tensix.ones(1)

    def register():
        while not ended.is_set():
            with Library("mine") as library:
                for number in range(20):
                    library.define(f"passing{number}(Tensor x) -> Tensor")

    def call():
        try:
            for _ in range(2_000):
                tensix.ops.tensix.add(x, x)
        except RuntimeError as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=call) for _ in range(2)]
    registering = threading.Thread(target=register)
    try:
        for thread in [registering, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        ended.set()
        registering.join()
        sys.setswitchinterval(interval)
    assert failures == []


def test_two_threads_declare_one_operator():
    """One of them is refused, and what both add to an operator is all there."""
    own, refused = Dispatcher(), []
    barrier = threading.Barrier(4)

    def declare(thread):
        barrier.wait()
        for number in range(200):
            own.define(f"mine::f.own{thread}_{number}(Tensor x) -> Tensor")
            try:
                own.define(f"mine::f.shared{number}(Tensor x) -> Tensor")
            except RuntimeError:
                refused.append(number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=declare, args=(thread,)) for thread in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    tables = own.namespace("mine").f.tables
    assert len(refused) == 600 and len(tables) == len(own.operators()) == 1000
    assert {table.schema.qualified_name for table in tables} == set(own.operators())


def test_a_list_of_a_class_of_its_own_may_change_while_the_kernel_runs():
    class Changing(list):
        pass

    x, y = tensix.ones(2), tensix.ones(2)
    tensors = Changing([x, y])

    class Clearing(tensix.Allocator):
        def allocate(self, nbytes):
            tensors.clear()
            return tensix.CPUAllocator().allocate(nbytes)

    with tensix.use_allocator(Clearing()):
        assert tensix.ops.tensix.cat(tensors).tolist() == [1, 1, 1, 1]
    for operand in (x, y):
        assert operand.set_(tensix.zeros(3)).shape == (3,)  # no use is left
