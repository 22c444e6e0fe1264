"""A device from outside: its memory, its kernels, and the CPU for the rest, without a line changed in tensix.

The device "npu" keeps its memory in blocks that only this file reads. It has four kernels; what it lacks is run on the
CPU by a fallback. Everything but the device's name is undone at the end.
"""

import contextlib
import functools
import math

import numpy as np

import tensix
from tensix.dispatch import dispatcher
from tensix.library import Library
from tensix.tensors.promotion import promote_types


class NpuAllocator(tensix.Allocator):
    """Give out blocks of the device's memory and keep them in a table until they are freed."""

    def __init__(self):
        self.blocks = {}  # address -> bytes

    def allocate(self, nbytes):
        """Return a `DataPtr` whose deleter takes the block out of the table."""
        block = np.empty(max(nbytes, 1), np.uint8)
        address = block.ctypes.data
        self.blocks[address] = block
        return tensix.DataPtr.from_callable(address, self.blocks.pop, device="npu")


allocator = NpuAllocator()


def elements(tensor):
    """Return a tensor's elements as an array: what the device's hardware would see, or the CPU's memory."""
    if tensor.device.type == "cpu":
        return np.asarray(tensor)
    flat = allocator.blocks[tensor.storage().data_ptr()].view(tensor.dtype.numpy)
    strides = [step * tensor.itemsize for step in tensor.stride()]
    return np.lib.stride_tricks.as_strided(flat[tensor.storage_offset() :], tensor.shape, strides)


def told(kernel):
    """Return the kernel, printing its name at every call."""

    @functools.wraps(kernel)
    def run(*args, **kwargs):
        print(f"    npu kernel: {kernel.__name__}")
        return kernel(*args, **kwargs)

    return run


@told
def empty(size, *, dtype=tensix.float32, device="npu"):
    """Make a tensor: a storage from the device's allocator, and a row-major view on it."""
    storage = tensix.Storage(math.prod(size) * dtype.itemsize, tensix.get_allocator(device))
    strides = [math.prod(size[dim + 1 :]) for dim in range(len(size))]
    return tensix.Tensor.from_storage(storage, 0, size, strides, dtype)


@told
def add(x, y):
    """Add two tensors of the device."""
    if x.device != y.device:
        raise RuntimeError(f"add: tensors on {x.device} and {y.device}. Move one of them with to_device().")
    shape = np.broadcast_shapes(x.shape, y.shape)
    out = tensix.empty(shape, dtype=promote_types(x.dtype, y.dtype), device="npu")
    np.add(elements(x), elements(y), out=elements(out))
    return out


@told
def fill_(x, value):
    """Write one value everywhere."""
    elements(x)[...] = value
    return x


@told
def copy_(target, source):
    """Copy to the device, from it, or within it: tensix comes here if either side is on the device."""
    elements(target)[...] = elements(source)
    return target


def run_on_cpu(op, *args, **kwargs):
    """Run any operator, as the fallback, on copies of its arguments and bring back what it gives."""
    print(f"    fallback: {op.schema.qualified_name} on the CPU")
    result = op(*[arg.cpu() if isinstance(arg, tensix.Tensor) else arg for arg in args], **kwargs)
    if op.schema.arguments[0].is_write:  # an operator in place: its first argument is what changes
        return args[0].copy_(result)
    return result.to_device("npu")


def attempt(text, function):
    """Print what a call gives, or why it fails."""
    print(f"\n{text}")
    try:
        print(function())
    except RuntimeError as error:  # NotImplementedError is one
        print(f"{type(error).__name__}: {error}")


def use(library):
    """Make tensors on the device and do with them what it can, and what it cannot."""
    print("\nx = ones(2, 3, device='npu')")
    x = tensix.ones(2, 3, device="npu")
    print("y = tensor([0., 1., 2.]).to_device('npu')")
    y = tensix.tensor([0.0, 1.0, 2.0]).to_device("npu")
    attempt("x + y", lambda: x + y)
    attempt("x[1].fill_(7), a view: written in the storage of x", lambda: x[1].fill_(7))
    attempt("x.T.to_device('cpu')", lambda: x.T.to_device("cpu"))
    attempt("x + ones(3)", lambda: x + tensix.ones(3))
    attempt("x * y, an operator that the device lacks", lambda: x * y)
    library.fallback(run_on_cpu, "PrivateUse1")
    attempt("x * y, with a fallback", lambda: x * y)
    attempt("y.zero_() - x[1]", lambda: y.zero_() - x[1])
    print(f"\nblocks on the device: {len(allocator.blocks)}")


def main():
    """Register the device, use it, and take it back."""
    tensix.rename_privateuse1_backend("npu")
    with contextlib.ExitStack() as stack:
        tensix.set_allocator("npu", allocator)
        stack.callback(tensix.set_allocator, "npu", None)
        library = stack.enter_context(Library("tensix"))
        for name, kernel in (("empty.memory_format", empty), ("add.Tensor", add), ("fill_.Scalar", fill_),
                             ("copy_", copy_)):  # fmt: skip
            library.impl(name, kernel, "PrivateUse1")
        print(dispatcher.get_op_table("add.Tensor"))
        use(library)
    print(f"blocks after the last tensor is gone: {len(allocator.blocks)}")
    attempt("closed: empty(2, device='npu')", lambda: tensix.empty(2, device="npu"))


if __name__ == "__main__":
    main()
