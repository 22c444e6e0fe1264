"""What a type checker refuses; an ignore that were not needed would be reported. This file is never run."""

import tensix
from tensix.core import (
    Allocator,
    CPUAllocator,
    DataPtr,
    Device,
    IntrusiveTarget,
    Storage,
    StorageImpl,
    WeakIntrusivePtr,
    make_intrusive,
)


class Wrong(Allocator):
    def allocate(self, nbytes: int) -> int:  # type: ignore[override]
        return nbytes


class Subclass(Storage):  # type: ignore[misc]
    """Storage is final."""


class Both(StorageImpl, tensix.TensorImpl):  # type: ignore[misc]
    """Two bodies do not fit into one object."""


x = tensix.ones(2)
storage = Storage("64")  # type: ignore[arg-type]
storage.device = "cpu"  # type: ignore[assignment, misc]
storage.impl.nbytes()  # type: ignore[union-attr]
CPUAllocator(64, True)  # type: ignore[call-arg]
DataPtr(data=None)  # type: ignore[arg-type]
Device(0)  # type: ignore[arg-type]
make_intrusive(int)  # type: ignore[type-var]
make_intrusive(StorageImpl, size=3)  # type: ignore[call-arg]
WeakIntrusivePtr(IntrusiveTarget())  # type: ignore[arg-type]

x.shape = (1, 2)  # type: ignore[misc]
x["a"]  # type: ignore[index]
x[1.5]  # type: ignore[index]
x[0] = "a"  # type: ignore[assignment]
x + "a"  # type: ignore[operator]
x.view(1, (2, 3))  # type: ignore[call-overload]
tensix.empty(3.0)  # type: ignore[call-overload]
tensix.full((2,), 1, tensix.int64)  # type: ignore[call-arg]
tensix.dispatch.DispatchKeySet(3)  # type: ignore[arg-type]
tensix.dispatch.dispatcher.add_listener(print)  # type: ignore[arg-type]
tensix.library.Library("mine").impl("f", 5)  # type: ignore[type-var]
tensix.nope  # type: ignore[attr-defined]
tensix.memory.nope  # type: ignore[attr-defined]
x.uniform_(generator=7)  # type: ignore[arg-type]
