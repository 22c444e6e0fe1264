"""The body behind a handle: versions, gradients' slot, weak handles, shallow copies, the undefined one."""

import gc
import weakref

import numpy as np
import pytest

import tensix
from tensix import DataPtr, IntrusivePtr, Storage, Tensor, TensorImpl
from tensix.dispatch import DispatchKeySet


def test_facts():
    x = tensix.zeros(2, 3, dtype=tensix.float64)[1]
    impl = x.impl
    assert isinstance(impl, TensorImpl)
    assert (impl.shape, impl.stride, impl.storage_offset, impl.numel) == ((3,), (1,), 3, 3)
    assert (impl.dtype, str(impl.device), impl.version, impl.autograd_meta) == (tensix.float64, "cpu", 1, None)
    assert impl.key_set == DispatchKeySet("CPU").bits
    for name in ("shape", "stride", "numel", "storage_offset", "key_set", "version", "device", "dtype"):
        with pytest.raises(AttributeError):
            setattr(impl, name, 1)


def test_an_expired_body_says_so():
    x = tensix.zeros(3)
    weak, impl = x.weak(), x.impl
    del x
    assert weak.expired() and repr(impl) == "TensorImpl(expired)"
    for name in ("shape", "stride", "dtype", "device", "version"):
        with pytest.raises(RuntimeError, match="the TensorImpl has expired"):
            getattr(impl, name)


# ---- versions


def rises(x, write):
    before = x.version
    write()
    return x.version - before


def test_each_write_in_place_counts_once():
    x = tensix.empty(4, 3)
    assert x.version == 0
    for write in (
        lambda: x.fill_(1), x.zero_, lambda: x.copy_(tensix.ones(3)), lambda: x.__setitem__(0, 2.0),
        lambda: x.__setitem__([0, 1], 2.0), lambda: x.__setitem__(tensix.tensor([True, False, True, False]), 1),
        lambda: x.T.fill_(3), lambda: x[1:].copy_(x[:-1]), lambda: tensix.ops.tensix.uniform_(x),
        lambda: tensix.ops.tensix.normal_(x),
    ):  # fmt: skip
        assert rises(x, write) == 1
    for read in (lambda: x + x, x.clone, lambda: x[0], x.tolist, lambda: x[[0]], x.lazy_clone, lambda: repr(x)):
        assert rises(x, read) == 0


def test_an_assignment_with_arithmetic_is_two_writes():
    """Python writes the view in place and then assigns it to itself; PyTorch counts both as well."""
    x = tensix.zeros(4, 3)
    assert rises(x, lambda: exec("x[0] += 1", {"x": x})) == 2
    assert x[0].tolist() == [1.0] * 3


def test_views_share_the_version_and_copies_do_not():
    x = tensix.zeros(4)
    view, detached, copy, lazy = x[1:], x.detach(), x.clone(), x.lazy_clone()
    before = copy.version, lazy.version
    view.fill_(1)
    assert x.version == view.version == detached.version == 2
    assert (copy.version, lazy.version) == before
    lazy.fill_(2)
    assert lazy.version == before[1] + 1 and x.version == 2


def test_a_write_that_fails_does_not_count():
    x = tensix.zeros(3)
    readonly = tensix.from_numpy(np.broadcast_to(np.float32(1), 3))
    for target, write in (
        (x, lambda: x.copy_(tensix.ones(4))), (x, lambda: x.fill_("a")), (x, lambda: x.__setitem__(7, 1)),
        (readonly, lambda: readonly.fill_(1)),
    ):  # fmt: skip
        before = target.version
        with pytest.raises((ValueError, IndexError, RuntimeError, TypeError)):
            write()
        assert target.version == before


def test_a_new_storage_begins_at_zero():
    for _ in range(100):  # storages are revived
        x = tensix.empty(3)
        assert x.version == 0
        x.fill_(1)


def test_the_undefined_and_the_sparse_have_version_0():
    assert Tensor().version == 0
    assert tensix.ones(2).to_sparse().version == 0


# ---- gradients' slot


class Meta:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


def tensor_that_tells(log):
    memory = np.zeros(4, np.float32)
    block = DataPtr.from_callable(memory.ctypes.data, lambda address: (memory.size, log.append("storage")))
    return Tensor.from_storage(Storage.from_data_ptr(16, block), 0, (4,), (1,), tensix.float32)


@pytest.mark.parametrize("with_weak", [False, True])
def test_it_is_released_before_the_storage(with_weak):
    log = []
    x = tensor_that_tells(log)
    x.impl.autograd_meta = Meta(log, "autograd_meta")
    weak = x.weak() if with_weak else None
    del x
    assert log == ["autograd_meta", "storage"]
    del weak
    assert log == ["autograd_meta", "storage"]


def test_it_is_of_one_body_only():
    log = []
    x = tensix.zeros(3)
    x.impl.autograd_meta = Meta(log, "first")
    assert x[0].impl.autograd_meta is x.detach().impl.autograd_meta is x.clone().impl.autograd_meta is None
    x.impl.autograd_meta = None
    assert log == ["first"]
    x.impl.autograd_meta = {"a": 1}
    del x
    assert all(tensix.zeros(3).impl.autograd_meta is None for _ in range(100))  # bodies are revived


# ---- weak handles


def test_a_weak_handle_gives_the_tensor_back():
    x = tensix.tensor([0, 1, 2])
    weak = x.weak()
    assert (x.use_count(), x.weak_use_count()) == (1, 2)
    again = Tensor.from_impl(weak.lock())
    assert again.body_address() == x.body_address() and again.tolist() == [0, 1, 2]
    assert x.use_count() == 2
    del x, again
    assert weak.expired() and not weak.lock()


def test_a_weak_handle_keeps_no_bytes():
    log = []
    x = tensor_that_tells(log)
    weak = x.weak()
    impl = weak.lock().get()
    del x
    assert log == ["storage"]
    assert not Tensor.from_impl(weak.lock()).defined()
    del impl


def test_handles_made_of_other_pointers():
    assert not Tensor.from_impl(IntrusivePtr()).defined()
    storage = Storage(4)
    with pytest.raises(TypeError, match="needs a pointer to a TensorImpl, found one to StorageImpl"):
        Tensor.from_impl(storage.weak().lock())
    with pytest.raises(TypeError):
        Tensor.from_impl(None)
    x = tensix.ones(2)
    pointer = IntrusivePtr.reclaim_copy(x.impl)
    del x
    assert Tensor.from_impl(pointer).tolist() == [1, 1]
    assert pointer.use_count() == 1


# ---- shallow copies


def test_detach_shares_elements_but_no_body():
    x = tensix.zeros(2, 3)[:, ::2]
    y = x.detach()
    assert y.is_alias_of(x) and y.body_address() != x.body_address()
    assert (y.shape, y.stride(), y.storage_offset(), y.is_contiguous()) == ((2, 2), (3, 2), 0, False)
    y.fill_(1)
    assert x.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (1,) * 5, (1,) * 6 + (2,), (1,) * 64])
@pytest.mark.parametrize("start", [(3,), (1,) * 7])
def test_set_takes_over_what_the_source_looks_at(shape, start):
    x = tensix.ones(start)
    other = Tensor.from_impl(IntrusivePtr.reclaim_copy(x.impl))
    x.impl.autograd_meta = "kept"
    source = tensix.full(shape, 7, dtype=tensix.int16)
    assert x.set_(source) is x
    for handle in (x, other):
        assert handle.shape == shape and handle.dtype == tensix.int16 and handle.is_alias_of(source)
        assert handle.tolist() == source.tolist() and handle.body_address() == x.body_address()
    assert x.impl.autograd_meta == "kept" and source.use_count() == 1


def test_set_lets_the_old_storage_go():
    log = []
    x = tensor_that_tells(log)
    x.set_(x)
    assert log == []
    x.set_(x[1:])
    assert log == [] and x.shape == (3,)
    x.set_(tensix.ones(2))
    assert log == ["storage"]


def test_set_is_refused_while_an_operation_uses_the_tensor():
    x = tensix.arange(3)

    class Exchanging:
        def __index__(self):
            x.set_(tensix.zeros(5))
            return 1

    for use in (lambda: x.select(0, Exchanging()), lambda: x[Exchanging()], lambda: x.narrow(0, Exchanging(), 1),
                lambda: tensix.ops.tensix.roll(x, Exchanging())):  # fmt: skip
        with pytest.raises(RuntimeError, match="while an operation uses it"):
            use()
        assert x.tolist() == [0, 1, 2]
    x.set_(tensix.zeros(5))
    assert x.shape == (5,)


@pytest.mark.parametrize("fail", [
    lambda x: x.select(0, 5), lambda x: x + tensix.ones(2), lambda x: tensix.ones(2) + x, lambda x: x + "a",
    lambda x: tensix.add(x, x, out=tensix.ones(1, dtype="int8")), lambda x: x.add_(tensix.ones(4)), lambda x: x.view(7),
    lambda x: tensix.concat([x, x, tensix.Tensor()]), lambda x: tensix.concat([x, tensix.ones(2, 2)]),
    lambda x: tensix.where(x, x, tensix.ones(2)), lambda x: x + tensix.Tensor(), lambda x: tensix.Tensor() + x,
    lambda x: x[[x, tensix.Tensor()]], lambda x: x[x, x], lambda x: x[x.to("bool"), tensix.Tensor()],
    lambda x: x.__setitem__((x, tensix.Tensor()), 1), lambda x: tensix.clip(x, x, tensix.ones(2)),
    lambda x: tensix.matmul(x, tensix.ones(4)), lambda x: x.sum(dim=9), lambda x: tensix.fft.fft(x, n=-1),
    lambda x: tensix.einsum("i,j,ij", x, x, x),
])  # fmt: skip
def test_what_failed_leaves_no_tensor_in_use(fail):
    x = tensix.zeros(3, dtype="int64")
    with pytest.raises((RuntimeError, TypeError, IndexError, ValueError)):
        fail(x)
    assert x.set_(tensix.ones(5)).shape == (5,)


def test_set_needs_two_strided_tensors():
    x = tensix.ones(2)
    for target, source in ((Tensor(), x), (x, Tensor())):
        with pytest.raises(RuntimeError, match="undefined"):
            target.set_(source)
    with pytest.raises(NotImplementedError, match="SparseCPU"):
        x.set_(tensix.ones(2).to_sparse())
    with pytest.raises(TypeError):
        x.set_(None)
    assert x.tolist() == [1, 1]


# ---- the undefined body


def test_all_undefined_tensors_share_one_body():
    a, b = Tensor(), Tensor()
    assert a.impl is b.impl and a.body_address() == b.body_address()
    assert (a.impl.shape, a.impl.numel, a.use_count(), a.weak_use_count()) == ((0,), 0, 0, 0)
    assert not a.weak() and a.weak().expired()
    with pytest.raises(RuntimeError):
        IntrusivePtr.reclaim_copy(a.impl)


# ---- subclasses and revived objects


class Named(Tensor):
    pass


def test_a_subclass_goes_its_own_way():
    x = Named()
    x.note = "text"
    assert x.note == "text" and not x.defined()
    made = [Named() for _ in range(100)]
    del made, x
    gc.collect()
    assert tensix.ones(1).tolist() == [1]


def test_handles_with_weak_references_are_not_kept():
    died = []
    for _ in range(100):
        x = tensix.ones(2)
        weakref.finalize(x, died.append, 1)
        del x
    assert len(died) == 100
    x = tensix.ones(2)
    reference = weakref.ref(x)
    del x
    y = tensix.ones(2)
    assert reference() is None and y.defined()


def test_a_pending_exception_survives_a_deleter():
    log = []

    def raises():
        x = tensor_that_tells(log)
        y = x[0]
        raise LookupError(x.shape, y.shape)

    with pytest.raises(LookupError):
        raises()
    assert log == [] or log == ["storage"]
    gc.collect()
    assert log == ["storage"]
