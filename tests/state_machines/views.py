"""Views of views against NumPy's on memory of its own: values, shapes, strides, who sees a write, and versions."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, precondition, rule
from machine import Machine

import tensix


class View:
    """A tensor, the array that models it, and the number of the memory that both are in."""

    def __init__(self, tensor, array, base):
        self.tensor, self.array, self.base = tensor, array, base

    def __repr__(self):
        return f"View({self.array.shape}, {self.array.strides} in {self.base})"


class Model:
    """Arrays do NumPy's part. Each memory is one of them without gaps, and how often it was written."""

    def __init__(self):
        self.memory, self.versions = [], []

    def new(self, array, version=0):
        """Enter the memory of an array whose elements lie side by side, in any order."""
        self.memory.append(np.lib.stride_tricks.as_strided(array, (array.size,), (array.itemsize,)))
        self.versions.append(version)
        return len(self.versions) - 1

    def moved(self, array, base, memory):
        """Return what an array is in other memory."""
        offset = array.ctypes.data - self.memory[base].ctypes.data if array.size else 0
        moved = np.ndarray(array.shape, array.dtype, memory, offset, array.strides if array.size else None)
        moved.flags.writeable = array.flags.writeable
        return moved

    def write(self, base):
        self.versions[base] += 1

    def reshaped(self, of, shape):
        """Return the array and whether it is a view, as NumPy says."""
        array = of.array.reshape(shape)
        return array, np.shares_memory(array, of.array) or not array.size


def divisors(draw, count):
    """Return a shape of so many elements."""
    shape = []
    while count > 1 and len(shape) < 4:
        shape.append(draw(st.sampled_from([d for d in range(1, count + 1) if count % d == 0])))
        count //= shape[-1]
    return (*shape, count)


def is_dense(array):
    """Return whether elements lie side by side in some order: then a clone has the same strides, and else rows."""
    step = array.itemsize
    for stride, size in sorted(
        (stride, size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    ):
        if stride != step:
            return False
        step *= size
    return True


class Views(Machine):
    views = Bundle("views")

    def __init__(self):
        super().__init__()
        self.model, self.all, self.next = Model(), [], 0.0

    def view(self, tensor, array, base):
        self.all.append(View(tensor, array, base))
        return self.all[-1]

    @rule(target=views, shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    def new(self, shape):
        array = np.arange(self.next, self.next + np.prod(shape, dtype=int)).reshape(shape)
        self.next += 1000
        tensor = tensix.empty(shape, dtype="float64")
        base = self.model.new(array)
        tensor.copy_(tensix.asarray(array, copy=True))
        self.model.write(base)
        return self.view(tensor, array, base)

    # ---- views

    @rule(target=views, of=views, data=st.data())
    def index(self, of, data):
        index = data.draw(hnp.basic_indices(of.array.shape, allow_newaxis=True, max_dims=6))
        keys = index if isinstance(index, tuple) else (index,)
        array = of.array[keys if Ellipsis in keys else (*keys, ...)]  # an array, where NumPy gives a number else
        return self.view(of.tensor[index], array, of.base)

    @rule(target=views, of=views, data=st.data())
    def permute(self, of, data):
        dims = data.draw(st.permutations(range(of.array.ndim)))
        return self.view(of.tensor.permute(dims), of.array.transpose(dims), of.base)

    @rule(target=views, of=views)
    def transpose(self, of):
        return self.view(of.tensor.T, of.array.T, of.base)

    @rule(target=views, of=views, data=st.data())
    def reshape(self, of, data):
        shape = divisors(data.draw, of.array.size)
        array, is_view = self.model.reshaped(of, shape)
        tensor = of.tensor.reshape(shape)
        if array.size:
            assert tensor.is_alias_of(of.tensor) == is_view
        is_view = tensor.is_alias_of(of.tensor)  # of nothing NumPy does not say
        return self.view(tensor, array, of.base if is_view else self.model.new(array, tensor.version))

    @rule(target=views, of=views, front=st.integers(1, 2), data=st.data())
    def expand(self, of, front, data):
        shape = (front, *(data.draw(st.integers(1, 3)) if size == 1 else size for size in of.array.shape))
        return self.view(of.tensor.expand(shape), np.broadcast_to(of.array, shape), of.base)

    @rule(target=views, of=views, data=st.data())
    def diagonal(self, of, data):
        if of.array.ndim < 2:
            return of
        offset = data.draw(st.integers(-3, 3))
        array = of.array.diagonal(offset)  # which NumPy does not let us write, but its base does
        return self.view(of.tensor.diagonal(offset), array, of.base)

    @rule(target=views, of=views, data=st.data())
    def split(self, of, data):
        if not of.array.ndim or not of.array.shape[0]:
            return of
        n = data.draw(st.integers(0, of.array.shape[0] - 1))
        return self.view(of.tensor.unbind(0)[n], of.array[n, ...], of.base)

    # ---- copies

    @rule(target=views, of=views)
    def clone(self, of):
        tensor, array = of.tensor.clone(), of.array.copy("K" if is_dense(of.array) else "C")
        return self.view(tensor, array, self.model.new(array, tensor.version))

    @rule(target=views, of=views)
    def lazy_clone(self, of):
        """Of all the memory, though only a part is seen."""
        memory = self.model.memory[of.base].copy()
        array = self.model.moved(of.array, of.base, memory)
        tensor = of.tensor.lazy_clone()
        return self.view(tensor, array, self.model.new(memory, tensor.version))

    # ---- writes

    @rule(of=views)
    def fill(self, of):
        if of.array.flags.writeable:
            self.next += 1
            of.array[...] = self.next
            of.tensor.fill_(self.next)
            self.model.write(of.base)

    @rule(to=views, of=views)
    def assign(self, to, of):
        """From other memory or the same, overlapping or not."""
        if not to.array.flags.writeable:
            return
        try:
            to.array[...] = of.array
        except ValueError:
            with pytest.raises(ValueError):
                to.tensor[...] = of.tensor
        else:
            to.tensor[...] = of.tensor
            self.model.write(to.base)

    @rule(of=views, data=st.data())
    def write_part(self, of, data):
        if of.array.flags.writeable:
            index = data.draw(hnp.basic_indices(of.array.shape))
            self.next += 1
            of.array[index] = of.tensor[index] = self.next
            self.model.write(of.base)

    @precondition(lambda self: len(self.all) > 8)
    @rule(data=st.data())
    def drop(self, data):
        """Some views stay while the tensor that they were made of goes."""
        self.all.pop(data.draw(st.integers(0, len(self.all) - 1)))

    # ---- what holds

    @invariant()
    def each_is_as_numpys(self):
        for view in self.all:
            tensor, array = view.tensor, view.array
            assert tensor.shape == array.shape and tensor.tolist() == array.tolist()
            assert tensor.is_contiguous() == array.flags.c_contiguous
            if array.size:
                meant = [(step * 8, size) for step, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]
                assert meant == [(s, size) for s, size in zip(array.strides, array.shape, strict=True) if size > 1]

    @invariant()
    def who_shares_memory_shares_its_version(self):
        for view in self.all:
            assert view.tensor.version == self.model.versions[view.base]
            first = next(other for other in self.all if other.base == view.base)
            assert view.tensor.is_alias_of(first.tensor)
            assert sum(view.tensor.is_alias_of(other.tensor) for other in self.all) == sum(
                view.base == other.base for other in self.all
            )


MACHINE = Views
MUTATIONS = {
    "a reshape is always a view": (Model, "reshaped", lambda self, of, shape: (of.array.reshape(shape), True)),
    "versions are those of views": (Model, "write", lambda self, base: None),
}
