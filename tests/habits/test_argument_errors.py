"""Arguments that do not fit the signature: the error names the function and shows its signature."""

import enum
import inspect
import re
import subprocess
import sys

import pytest

import tensix
from tensix import core, cow, dispatch, fft, files, library, linalg, memory, raw, testing
from tensix._support.argument_errors import with_signature_of

X = tensix.ones(3)
NAMESPACES = [tensix, linalg, fft, core, memory, dispatch, files, testing, library, raw, cow]
# What is loaded with the package, or is made by __new__, has CPython's words; subclasses of bases take what they like.
LEFT_OUT = {
    "format_size", "parse_size", "FunctionSchema", "Layout", "DeleteTracker",
    "Allocator", "IntrusiveTarget", "MemoryReporter", "TensorImpl",
}  # fmt: skip


def instances():
    """Return an object of each class that is made without much."""
    cpu = core.CPUAllocator()
    target = core.make_intrusive(type("Target", (core.IntrusiveTarget,), {}))
    storage = tensix.Storage(8)
    return [
        X, X.impl, X.dtype, X.device, target, target.get(), core.WeakIntrusivePtr(target), storage, storage.impl,
        core.DataPtr(), cpu, tensix.Generator(1), tensix.TypeMeta.make("float32"),
        memory.CachingAllocator(),
        memory.CallbackAllocator(lambda nbytes: 0, lambda address: None), memory.MappedAllocator(),
        memory.HugePageAllocator(), memory.SharedMemoryAllocator(), memory.StatisticsAdaptor(), memory.GuardAdaptor(),
        memory.AlignmentAdaptor(cpu, 64), memory.LimitingAdaptor(cpu, 100), memory.LoggingAdaptor(cpu, sys.stderr),
        memory.TrackingAdaptor(), memory.CallSites(), memory.profile(), memory.record(), memory.statistics(),
        memory.copies(), dispatch.DispatchKeySet("CPU"), dispatch.include_keys("CPU"), dispatch.exclude_keys("CPU"),
        dispatch.dispatcher.get_op_table("tensix::matmul"), tensix.use_allocator(cpu),
    ]  # fmt: skip


def public_calls():
    """Return every public function, class and method by its name."""
    calls = {}
    for namespace in NAMESPACES:
        for name in namespace.__all__ if hasattr(namespace, "__all__") else ():
            found = getattr(namespace, name)
            if callable(found) and name not in LEFT_OUT and not name.startswith("__") and not has_pythons_words(found):
                calls[f"{namespace.__name__}.{name}"] = found
    for instance in instances():
        cls = type(instance)
        for name in dir(cls):
            if not name.startswith("_") and callable(inspect.getattr_static(cls, name, None)):
                calls[f"{cls.__name__}.{name}"] = getattr(instance, name)
    return calls


def has_pythons_words(found):
    """Return whether a class is made by CPython: of named tuples and enumerations."""
    return isinstance(found, enum.EnumType) or (isinstance(found, type) and hasattr(found, "_fields"))


def misfits(call):
    """Return arguments that do not fit a signature: too many, too few, one of an unknown name."""
    parameters = inspect.signature(call).parameters.values()
    by_place = [one for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
    needed = (X,) * len([one for one in by_place if one.default is one.empty])
    tried = [((X,) * 40, {}), ((), {}), (needed, {"no_such_name": 1})]
    return [arguments for arguments in tried if not fits(call, *arguments)]


def fits(call, args, kwargs):
    try:
        inspect.signature(call).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def has_signature(call):
    try:
        inspect.signature(call)
    except ValueError:  # a class whose objects are not made by calling it
        return False
    return True


# No arguments make an element type, and its error says so.
CALLS = {name: call for name, call in public_calls().items() if has_signature(call) and call is not tensix.DType}


def test_the_sweep_has_all_kinds():
    assert len(CALLS) > 500 and sum(len(misfits(call)) for call in CALLS.values()) > 1000
    assert {"tensix.eye", "tensix.load", "tensix.linalg.det", "tensix.fft.fft", "tensix.core.raw.incref"} <= {*CALLS}
    assert {"tensix.Storage", "Storage.resize_", "Tensor.numel", "Tensor.copy_", "Tensor.flip"} <= {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_the_signature_is_shown(name):
    for args, kwargs in misfits(CALLS[name]):
        with pytest.raises(TypeError) as caught:
            CALLS[name](*args, **kwargs)
        text = str(caught.value)
        shown = re.match(r"([\w.]+)\(\) (takes|needs|has) .+: \1\(.*\)\.", text)
        assert shown or re.match(r"tensix\.get_(num_threads|math)\(\) takes no (keyword )?arguments", text), text
        assert "__init__" not in text and text.partition("(")[0].rpartition(".")[2] == CALLS[name].__name__, text


@pytest.mark.parametrize(("call", "text"), [
    (lambda: tensix.eye(1, 2, 3), r"^eye\(\) takes at most 2 positional arguments, found 3: eye\(n_rows, n_cols=None"),
    (lambda: tensix.Storage(1, 2, 3, 4), r"^Storage\(\) takes at most 3 .* found 4: Storage\(nbytes=0, allocator=None"),
    (lambda: X.copy_(), r"^Tensor\.copy_\(\) takes 1 positional argument, found 0: Tensor\.copy_\(src\)\.$"),
    (lambda: X.copy_(X, other=3), r"^Tensor\.copy_\(\) has no argument 'other': Tensor\.copy_\(src\)\.$"),
    (lambda: X.numel(3), r"^numel\(\) takes no arguments, found 1: numel\(\)\.$"),
    (lambda: X.numel(other=3), r"^numel\(\) has no argument 'other': numel\(\)\.$"),
    (lambda: tensix.linalg.det(X, 3), r"^det\(\) takes at most 1 positional argument, found 2: det\(x, /\)\.$"),
    (lambda: tensix.linalg.solve(X), r"^solve\(\) needs 'x2': solve\(x1, x2, /\)\.$"),
    (lambda: tensix.matmul(X), r"^matmul\(\) needs 'x2': matmul\(x1, x2, /\)\.$"),
    (lambda: tensix.sum(X, other=3), r"^sum\(\) has no argument 'other': sum\(x, /, \*, axis=None"),
    (lambda: tensix.load(), r"^load\(\) needs 'path': load\(path, mmap_mode='r'\)\.$"),
    (lambda: tensix.from_blob(0, (1,)), r"^from_blob\(\) needs 'dtype' by name: from_blob\(address, shape"),
    (lambda: tensix.empty_like(X, X), r"^empty_like\(\) takes 1 positional argument, found 2: empty_like\(x, /"),
    (lambda: tensix.einsum(x=3), r"^einsum\(\) has no argument 'x': einsum\(subscripts, /, \*operands\)\.$"),
    (lambda: tensix.add(X), r"^add\(\) needs 'x2': add\(x1, x2, /"),
    (lambda: tensix.TypeMeta(3), r"^TypeMeta\(\) takes no arguments, found 1: TypeMeta\(\)\.$"),
    (lambda: tensix.TypeIdentifier(x=3), r"^TypeIdentifier\(\) has no argument 'x': TypeIdentifier\(\)\.$"),
    (lambda: memory.SharedMemoryAllocator(1), r"^SharedMemoryAllocator\(\) takes no arguments, found 1: Shared"),
    (lambda: dispatch.include_keys("CPU", x=3), r"^include_keys\(\) has no argument 'x': include_keys\(\*keys\)\.$"),
    (lambda: memory.StatisticsAdaptor(x=3), r"^StatisticsAdaptor\(\) has no argument 'x': StatisticsAdaptor\(ups"),
    (lambda: files.FileMap(1), r"^FileMap\(\) .*: FileMap\(descriptor, nbytes, mode='r'\)\.$"),
    (lambda: tensix.Tensor(x=3), r"^Tensor\(\) takes no arguments: Tensor\(\)\. Use tensor\(\)"),
    (lambda: core.Stat(1, 2, 3, 4, 5), r"^Stat\(\) takes at most 4 positional arguments, found 5: Stat\(current=0"),
    (lambda: tensix.library.Library("a", "b"), r"^Library\(\) takes 1 positional argument, found 2: Library\(names"),
    (lambda: tensix.library.Library(), r"^Library\(\) needs 'namespace': Library\(namespace\)\.$"),
    (lambda: testing.assert_no_leaks(1), r"^assert_no_leaks\(\) takes no arguments, found 1: assert_no_leaks\(\)\.$"),
    (lambda: core.use_allocator(1, 2, 3), r"^use_allocator\(\) takes at most 2 positional arguments, found 3: use_"),
    (lambda: tensix.sin(X, X), r"^sin\(\) takes at most 1 positional argument, found 2: sin\(x, /"),
])  # fmt: skip
def test_what_is_said(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_errors_raised_in_the_body_are_left_alone():
    with pytest.raises(TypeError, match="not int") as caught:
        tensix.load(3)
    assert "load(path" not in str(caught.value) and caught.value.__traceback__.tb_next.tb_next is not None


def test_a_subclass_in_python_has_pythons_words():
    class Mine(memory.CachingAllocator):
        def __init__(self, nbytes, /):
            super().__init__(no_such_name=nbytes)

    with pytest.raises(TypeError, match=r"^CachingAllocator\(\) has no argument 'no_such_name': CachingAllocator\(up"):
        Mine(4)
    with pytest.raises(TypeError, match=r"Mine.__init__\(\) missing 1 required positional argument: 'nbytes'$"):
        Mine()


def test_a_function_that_cannot_be_found_keeps_its_error():
    """Its module may have been taken out of sys.modules, and its name may be another's."""
    for name in ("no.such.module.f", "tensix.core.raw.no_such_function"):
        with pytest.raises((LookupError, AttributeError)):
            with_signature_of("f() takes exactly 1 positional argument (2 given)", name)
    code = """if True:
        import sys, tensix
        Storage, eye = tensix.Storage, tensix.eye
        for name in [name for name in sys.modules if name.startswith("tensix")]:
            sys.modules[name] = None  # cannot be imported
        for call in (lambda: Storage(1, 2, 3, 4), lambda: eye(1, 2, 3)):
            try:
                call()
            except TypeError as error:
                print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    first, second = done.stdout.splitlines()
    assert first == "__init__() takes at most 3 positional arguments (4 given)"
    assert second == "eye() takes at most 2 positional arguments (3 given)"
