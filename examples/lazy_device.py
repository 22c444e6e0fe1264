"""A device that computes late, and chains of elementwise functions in one pass, without temporary tensors.

On the device "lazy" a call such as ``x * 2 + y`` computes nothing: a `Value` notes the operator and its operands. When
elements are asked for (``cpu()``, printing, an operator that is not elementwise), the chain runs block by block: each
block goes through all operators while it is in the processor's cache, and only what was asked for is as large as the
operands. Before an operand is written, what is made of it is computed. What several chains need, each computes.

tensix knows the device type; its memory, its kernels and the fallback for the rest are in this file.
"""

import contextlib
import itertools
import math
import weakref

import tensix
from tensix.dispatch import dispatcher
from tensix.library import Library

BLOCK_ELEMENTS = 16384
FUNCTIONS = (
    "add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "pow.Tensor", "maximum.Tensor", "minimum.Tensor",
    "greater.Tensor", "less.Tensor", "neg", "abs", "square", "sqrt", "exp", "log", "tanh", "sin", "cos",
)  # fmt: skip


class Value:
    """Hold the elements of a storage, or how they are computed.

    Attributes
    ----------
    nbytes : int
        The size of the storage.
    flat : Tensor or None
        The bytes, on the CPU; None as long as nothing was computed.
    call : tuple or None
        The operator, its operands (values with their types, or numbers), keyword arguments, and the result's type.
    users : WeakSet of Value
        What is still to be computed of this one.
    """

    def __init__(self, nbytes):
        self.nbytes, self.flat, self.call, self.users = nbytes, None, None, weakref.WeakSet()


class LazyAllocator(tensix.Allocator):
    """Give out addresses that only name values."""

    def __init__(self):
        self.values, self.addresses = {}, itertools.count(64, 64)

    def allocate(self, nbytes):
        """Return a `DataPtr` whose deleter forgets the value."""
        address = next(self.addresses)
        self.values[address] = Value(nbytes)
        return tensix.DataPtr.from_callable(address, self.values.pop, device="lazy")


allocator = LazyAllocator()


def value_of(tensor):
    """Return the value behind a tensor of the device."""
    return allocator.values[tensor.storage().data_ptr()]


def elements(x, is_write=False):
    """Return a tensor over the same elements on the CPU, computed now if they were not; of a list a list."""
    if isinstance(x, (tuple, list)):
        return [elements(one) for one in x]
    if not isinstance(x, tensix.Tensor) or x.device.type != "lazy":
        return x
    value = value_of(x)
    for one in [value, *(value.users if is_write else ())]:
        compute(one)
    return value.flat.view(x.dtype).as_strided(x.shape, x.stride(), x.storage_offset())


def compute(value):
    """Compute a value, block by block through the chain that leads to it."""
    if value.flat is not None:
        return
    flat = tensix.empty(value.nbytes, dtype="uint8")
    if value.call is not None:
        result, order = flat.view(value.call[-1]), chain(value)
        for start in range(0, result.numel(), BLOCK_ELEMENTS):
            end, blocks = min(start + BLOCK_ELEMENTS, result.numel()), {}
            for one in order:
                op, operands, kwargs, _ = one.call
                blocks[one] = op(*[block_of(x, start, end, blocks) for x in operands], **kwargs)
            result[start:end] = blocks[value]
    value.flat, value.call = flat, None


def block_of(operand, start, end, blocks):
    """Return a part of an operand: a number itself, else elements that are there or were just computed."""
    if isinstance(operand, tensix.Tensor):
        return operand
    value, dtype = operand
    return value.flat.view(dtype)[start:end] if value.flat is not None else blocks[value]


def chain(last):
    """Return the values to be computed for one, operands first."""
    order, seen, waiting = [], set(), [(last, False)]
    while waiting:
        value, is_done = waiting.pop()
        if is_done:
            order.append(value)
        elif value not in seen and value.flat is None:
            seen.add(value)
            waiting.append((value, True))
            waiting += [(x[0], False) for x in value.call[1] if not isinstance(x, tensix.Tensor)]
    return order


def deferred(op):
    """Return a kernel that notes a call of an elementwise operator."""

    def kernel(*args, **kwargs):
        like = op(*[shape_only(x) for x in args], **kwargs)  # the kernel for meta knows shape and type
        operands = [operand_of(x, like.shape) for x in args]
        if any(x is None for x in operands):
            return run_now(op, *args, **kwargs)
        result = tensix.empty(*like.shape, dtype=like.dtype, device="lazy")
        value = value_of(result)
        value.call = op, operands, kwargs, like.dtype
        for x in operands:
            if not isinstance(x, tensix.Tensor):
                x[0].users.add(value)
        return result

    return kernel


def shape_only(x):
    """Return a tensor's shape and type as a tensor without memory; a number itself."""
    if x.device.type == "lazy":
        return tensix.empty(*x.shape, dtype=x.dtype, device="meta")
    if x.ndim:
        raise RuntimeError(f"tensors on lazy and {x.device}. Move one of them with to_device().")
    return x


def operand_of(x, shape):
    """Return a number, a whole tensor as its value and type, and None for one that is strided or stretched."""
    if x.ndim == 0:
        return elements(x).clone()
    value = value_of(x)
    if x.shape != shape or not x.is_contiguous() or x.nbytes != value.nbytes:
        return None
    if value.call is None:
        compute(value)
    return value, x.dtype


def run_now(op, *args, **kwargs):
    """Run any operator on the CPU, as the fallback, over the memory of the device; its result is of the device."""
    is_write = op.schema.arguments[0].is_write
    if "device" in kwargs:
        kwargs["device"] = "cpu"
    result = op(*[elements(x, is_write and position == 0) for position, x in enumerate(args)], **kwargs)
    if is_write:
        return args[0]
    return [to_lazy(x) for x in result] if isinstance(result, (tuple, list)) else to_lazy(result)


def to_lazy(x):
    """Return a tensor of the device that takes over a tensor of the CPU; other results themselves."""
    if not isinstance(x, tensix.Tensor):
        return x
    result = tensix.empty(*x.shape, dtype=x.dtype, device="lazy")
    value_of(result).flat = x.clone().reshape(-1).view("uint8")
    return result


def empty(size, *, dtype=tensix.float32, device="lazy"):
    """Make a tensor of the device."""
    storage = tensix.Storage(math.prod(size) * dtype.itemsize, tensix.get_allocator(device))
    strides = [math.prod(size[dim + 1 :]) for dim in range(len(size))]
    return tensix.Tensor.from_storage(storage, 0, size, strides, dtype)


def copy_(target, source):
    """Copy to the device, from it, or within it."""
    elements(target, is_write=True)[...] = elements(source)
    return target


@contextlib.contextmanager
def lazy_device():
    """Register the device; at the end everything is undone."""
    with contextlib.ExitStack() as stack:
        tensix.set_allocator("lazy", allocator)
        stack.callback(tensix.set_allocator, "lazy", None)
        library = stack.enter_context(Library("tensix"))
        library.impl("empty.memory_format", empty, "Lazy")
        library.impl("copy_", copy_, "Lazy")
        for name in FUNCTIONS:
            library.impl(name, deferred(dispatcher.get_op_table(name)), "Lazy")
        library.fallback(run_now, "Lazy")
        yield


def curve(x):
    """Compute a chain of six functions."""
    return tensix.tanh((x * 2 + 1) * x - 0.5).abs()


def main():
    """Compute the same on both devices and print the memory that each took at most beyond operand and result."""
    x = tensix.rand(1000, 1000)
    with lazy_device():
        on_device = x.to_device("lazy")
        for name, compute_it in (("at once", lambda: curve(x)), ("late", lambda: elements(curve(on_device)))):
            before = tensix.memory_allocated()
            tensix.reset_peak_memory_stats()
            result = compute_it()
            temporary = tensix.max_memory_allocated() - before - result.nbytes
            print(f"{name}: {temporary / 2**20:.2f} MiB of temporaries, sum {result.sum().item():.3f}")


if __name__ == "__main__":
    main()
