import enum
from collections.abc import Iterator
from typing import final

__all__ = ["DispatchKey", "DispatchKeySet"]

class DispatchKey(enum.IntEnum):
    Undefined = 0
    CPU = 1
    CUDA = 2
    HIP = 3
    XLA = 4
    MPS = 5
    IPU = 6
    XPU = 7
    HPU = 8
    VE = 9
    Lazy = 10
    MTIA = 11
    MAIA = 12
    PrivateUse1 = 13
    PrivateUse2 = 14
    PrivateUse3 = 15
    Meta = 16
    QuantizedCPU = 17
    QuantizedCUDA = 18
    QuantizedHIP = 19
    QuantizedXLA = 20
    QuantizedMPS = 21
    QuantizedIPU = 22
    QuantizedXPU = 23
    QuantizedHPU = 24
    QuantizedVE = 25
    QuantizedLazy = 26
    QuantizedMTIA = 27
    QuantizedMAIA = 28
    QuantizedPrivateUse1 = 29
    QuantizedPrivateUse2 = 30
    QuantizedPrivateUse3 = 31
    QuantizedMeta = 32
    SparseCPU = 33
    SparseCUDA = 34
    SparseHIP = 35
    SparseXLA = 36
    SparseMPS = 37
    SparseIPU = 38
    SparseXPU = 39
    SparseHPU = 40
    SparseVE = 41
    SparseLazy = 42
    SparseMTIA = 43
    SparseMAIA = 44
    SparsePrivateUse1 = 45
    SparsePrivateUse2 = 46
    SparsePrivateUse3 = 47
    SparseMeta = 48
    SparseCsrCPU = 49
    SparseCsrCUDA = 50
    SparseCsrHIP = 51
    SparseCsrXLA = 52
    SparseCsrMPS = 53
    SparseCsrIPU = 54
    SparseCsrXPU = 55
    SparseCsrHPU = 56
    SparseCsrVE = 57
    SparseCsrLazy = 58
    SparseCsrMTIA = 59
    SparseCsrMAIA = 60
    SparseCsrPrivateUse1 = 61
    SparseCsrPrivateUse2 = 62
    SparseCsrPrivateUse3 = 63
    SparseCsrMeta = 64
    NestedTensorCPU = 65
    NestedTensorCUDA = 66
    NestedTensorHIP = 67
    NestedTensorXLA = 68
    NestedTensorMPS = 69
    NestedTensorIPU = 70
    NestedTensorXPU = 71
    NestedTensorHPU = 72
    NestedTensorVE = 73
    NestedTensorLazy = 74
    NestedTensorMTIA = 75
    NestedTensorMAIA = 76
    NestedTensorPrivateUse1 = 77
    NestedTensorPrivateUse2 = 78
    NestedTensorPrivateUse3 = 79
    NestedTensorMeta = 80
    BackendSelect = 81
    Python = 82
    Functionalize = 83
    Named = 84
    Conjugate = 85
    Negative = 86
    ZeroTensor = 87
    ADInplaceOrView = 88
    AutogradOther = 89
    AutogradCPU = 90
    AutogradCUDA = 91
    AutogradHIP = 92
    AutogradXLA = 93
    AutogradMPS = 94
    AutogradIPU = 95
    AutogradXPU = 96
    AutogradHPU = 97
    AutogradVE = 98
    AutogradLazy = 99
    AutogradMTIA = 100
    AutogradMAIA = 101
    AutogradPrivateUse1 = 102
    AutogradPrivateUse2 = 103
    AutogradPrivateUse3 = 104
    AutogradMeta = 105
    Tracer = 106
    Autocast = 107
    Batched = 108
    PythonDispatcher = 109
    CompositeExplicitAutograd = 1000
    CompositeImplicitAutograd = 1001
    Autograd = 1002

def slot_from_any(key: DispatchKey | str) -> int: ...
def name_of_slot(slot: int) -> str: ...
def dispatch_keys() -> type[DispatchKey]: ...

@final
class DispatchKeySet:
    def __init__(self, *keys: DispatchKey | str) -> None: ...
    @property
    def bits(self) -> int: ...
    def has(self, key: DispatchKey | str) -> bool: ...
    def has_any(self, other: DispatchKeySet) -> bool: ...
    def has_all(self, other: DispatchKeySet) -> bool: ...
    def add(self, key: DispatchKey | str) -> DispatchKeySet: ...
    def remove(self, key: DispatchKey | str) -> DispatchKeySet: ...
    def highest_priority_key(self) -> DispatchKey: ...
    def __or__(self, other: DispatchKeySet, /) -> DispatchKeySet: ...
    def __and__(self, other: DispatchKeySet, /) -> DispatchKeySet: ...
    def __sub__(self, other: DispatchKeySet, /) -> DispatchKeySet: ...
    def __iter__(self) -> Iterator[DispatchKey]: ...
    def __contains__(self, key: DispatchKey | str, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
