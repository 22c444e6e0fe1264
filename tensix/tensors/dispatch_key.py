"""Dispatch keys: what about a tensor decides which kernel runs.

A set of keys is one word. Its low 16 bits say which backends take part, the bits above which functionalities. A key
such as ``SparseCPU`` is a functionality bit and a backend bit; a set means every functionality in it on every
backend in it. The highest functionality wins, then the highest backend. The order is PyTorch's, of which the
functionalities of use to PyTorch alone are left out.
"""

import enum
from importlib import import_module

import cython
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.tensix.core.device import device_type_name

__all__ = ["DispatchKey", "DispatchKeySet"]  # noqa: F822 - `__getattr__` gives the first

BACKENDS = (
    "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA",
    "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta",
)  # fmt: skip

# Lowest priority first. One with a prefix has a slot per backend; the prefix makes the keys' names.
FUNCTIONALITIES = (
    ("Undefined", None), ("Dense", ""), ("Quantized", "Quantized"), ("Sparse", "Sparse"), ("SparseCsr", "SparseCsr"),
    ("NestedTensor", "NestedTensor"), ("BackendSelect", None), ("Python", None), ("Functionalize", None),
    ("Named", None), ("Conjugate", None), ("Negative", None), ("ZeroTensor", None), ("ADInplaceOrView", None),
    ("AutogradOther", None), ("AutogradFunctionality", "Autograd"), ("Tracer", None), ("Autocast", None),
    ("Batched", None), ("PythonDispatcher", None),
)  # fmt: skip

# Keys that name many slots when a kernel is registered, and never occur in a set.
ALIASES = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd")

FIRST_ALIAS = 1000


@cython.cfunc
def lay_out_slots() -> dict:
    """Fill in the slot tables and return name -> slot of every key."""
    names = {}
    slot = 0
    for functionality, (name, prefix) in enumerate(FUNCTIONALITIES):
        FIRST_SLOT[functionality] = slot
        BACKEND_MASK[functionality] = 0 if prefix is None else (1 << BACKEND_BITS) - 1
        for key in [name] if prefix is None else [prefix + backend for backend in BACKENDS]:
            names[key] = slot
            slot += 1
    if slot != SLOT_COUNT or len(FUNCTIONALITIES) != FUNCTIONALITY_COUNT:
        raise AssertionError("the slot tables of dispatch_key.pxd do not fit the lists of keys.")
    names.update((alias, FIRST_ALIAS + i) for i, alias in enumerate(ALIASES))
    return names


SLOT_OF_NAME = cython.declare(dict, lay_out_slots())
NAME_OF_SLOT = cython.declare(dict, {slot: name for name, slot in SLOT_OF_NAME.items()})
KEYS = cython.declare(object, None)


def dispatch_keys():
    """Return the class `DispatchKey`, made when it is first needed: its many members take long, and calls need none."""
    global KEYS
    if KEYS is None:
        made = enum.IntEnum("DispatchKey", SLOT_OF_NAME, module="tensix")  # See Note [Modules of classes]
        made.__doc__ = """Name a slot of an operator's table, or an alias of many of them."""
        if KEYS is None:  # else another thread was faster
            KEYS = made
    return KEYS


def __getattr__(name):
    if name != "DispatchKey":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return dispatch_keys()


def slot_from_any(key):
    """Return the slot, or the number of the alias, that a name or a key means.

    Raises
    ------
    ValueError
        If there is no such key.
    """
    if isinstance(key, str):
        slot = SLOT_OF_NAME.get(key)
        if slot is not None:
            return slot
    elif KEYS is not None and isinstance(key, KEYS):
        return int(key)
    raise ValueError(f"no dispatch key is called {key!r}. Known are {', '.join(SLOT_OF_NAME)}.")


def name_of_slot(slot):
    """Return the name of the key that has a slot, or of the alias that has a number."""
    return NAME_OF_SLOT[slot]


def bits_of_key(key):
    """Return the functionality bit and, where it has one, the backend bit of a key; 0 for aliases."""
    slot: cython.int = slot_from_any(key)
    if slot == 0 or slot >= FIRST_ALIAS:
        return 0
    functionality: cython.int = FUNCTIONALITY_COUNT - 1
    while FIRST_SLOT[functionality] > slot:
        functionality -= 1
    bits: uint64_t = cython.cast(uint64_t, 1) << (BACKEND_BITS + functionality - 1)
    if BACKEND_MASK[functionality]:
        bits |= cython.cast(uint64_t, 1) << (slot - FIRST_SLOT[functionality])
    return bits


# Backend of each device type that has one (the codes are those of Device).
for _device_type, _backend in (
    (0, "CPU"), (1, "CUDA"), (6, "HIP"), (8, "MAIA"), (9, "XLA"), (12, "XPU"), (13, "MPS"), (14, "Meta"),
    (15, "HPU"), (16, "VE"), (17, "Lazy"), (18, "IPU"), (19, "MTIA"), (20, "PrivateUse1"),
):  # fmt: skip
    DEVICE_KEYS[_device_type] = bits_of_key(_backend)
del _device_type, _backend


def refuse_device_type(device_type):
    raise NotImplementedError(f"no kernel can be for device type {device_type_name(device_type)}: no backend.")


@cython.final
@cython.cclass
class DispatchKeySet:
    """DispatchKeySet(*keys)\n--\n
    Hold a set of dispatch keys in one word.

    Parameters
    ----------
    *keys : DispatchKey or str
        Aliases such as ``CompositeImplicitAutograd`` add nothing.

    Attributes
    ----------
    bits : int
        The word: backends in the low 16 bits, functionalities above.

    Examples
    --------
    >>> from tensix.dispatch import DispatchKeySet
    >>> DispatchKeySet("CPU", "AutogradCPU")
    DispatchKeySet(AutogradCPU, CPU)
    >>> DispatchKeySet("CPU", "AutogradCPU").highest_priority_key().name
    'AutogradCPU'
    """

    def __init__(self, *keys, **kwargs):
        if kwargs:
            raise import_module("tensix._support.argument_errors").error_of_arguments(type(self), (), kwargs)
        for key in keys:
            self.bits |= bits_of_key(key)

    def has(self, key):
        """Return whether the key's bits are all in the set."""
        bits = bits_of_key(key)
        return bits != 0 and self.bits & bits == bits

    def has_any(self, other: DispatchKeySet):
        """Return whether the two sets share a bit."""
        return self.bits & other.bits != 0

    def has_all(self, other: DispatchKeySet):
        """Return whether every bit of the other set is in this one."""
        return self.bits & other.bits == other.bits

    def add(self, key):
        """Return this set with a key more."""
        return set_of_bits(self.bits | bits_of_key(key))

    def remove(self, key):
        """Return this set without a key; of a key with a backend only the functionality goes."""
        return set_of_bits(self.bits & ~(bits_of_key(key) >> BACKEND_BITS << BACKEND_BITS))

    def highest_priority_key(self):
        """Return the key whose kernel runs for this set; Undefined for an empty one."""
        return dispatch_keys()(slot_of(self.bits))

    def __or__(self, other: DispatchKeySet):
        return set_of_bits(self.bits | other.bits)

    def __and__(self, other: DispatchKeySet):
        return set_of_bits(self.bits & other.bits)

    def __sub__(self, other: DispatchKeySet):
        """Return this set without the functionalities of another; backends stay."""
        return set_of_bits(self.bits & ~(other.bits >> BACKEND_BITS << BACKEND_BITS))

    def __iter__(self):
        """Iterate over the keys, lowest priority first."""
        key_of_slot = dispatch_keys()
        for functionality in range(1, FUNCTIONALITY_COUNT):
            if self.bits >> (BACKEND_BITS + functionality - 1) & 1:
                if not BACKEND_MASK[functionality]:
                    yield key_of_slot(FIRST_SLOT[functionality])
                for backend in range(BACKEND_BITS):
                    if self.bits & BACKEND_MASK[functionality] & (1 << backend):
                        yield key_of_slot(FIRST_SLOT[functionality] + backend)

    def __contains__(self, key):
        return self.has(key)

    def __bool__(self):
        return self.bits != 0

    def __eq__(self, other):
        if not isinstance(other, DispatchKeySet):
            return NotImplemented
        return self.bits == cython.cast(DispatchKeySet, other).bits

    def __hash__(self):
        return hash(self.bits)

    def __repr__(self):
        return f"DispatchKeySet({', '.join(key.name for key in reversed(list(self)))})"


@cython.cfunc
def set_of_bits(bits: uint64_t) -> DispatchKeySet:
    made: DispatchKeySet = DispatchKeySet.__new__(DispatchKeySet)
    made.bits = bits
    return made
