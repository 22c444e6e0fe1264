"""Devices: a type such as ``cpu`` and an index, -1 where none is given."""
cimport cython
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int8_t

__all__ = ["Device", "rename_privateuse1_backend"]

# PyTorch's numbers (c10/core/DeviceType.h), so that a code means the same on both sides of an exchange.
cdef list DEVICE_TYPE_NAMES = [
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan",
    "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
]
cdef dict TYPE_CODES = {name: code for code, name in enumerate(DEVICE_TYPE_NAMES)}
cdef dict OF_STRING = {}  # the strings that were read already
cdef dict INTERNED = {}  # (type, index) -> Device, so that equal devices are mostly one object


@cython.final
cdef class Device:
    """Device(device, index=None)\n--\n
    Name a device: a type and, where there are several of it, an index.

    Parameters
    ----------
    device : str or Device
        ``"cpu"``, ``"cuda:1"``, … or a device to copy.
    index : int, -1 to 127, optional
        The index, if `device` does not carry one; -1 means "the current one".

    Attributes
    ----------
    type_code : int
        PyTorch's number of the device type.

    Raises
    ------
    ValueError
        If the string names no device.

    Notes
    -----
    ``cpu`` and ``cpu:0`` are not equal, as in PyTorch. Devices are immutable and hashable.

    Examples
    --------
    >>> from tensix.core import Device
    >>> Device("cuda:1")
    Device('cuda:1')
    >>> Device("cpu") == Device("cpu:0")
    False
    """

    def __init__(self, device, index=None):
        cdef Device parsed = Device_from_any(device)
        if self.is_filled:
            raise RuntimeError("a Device is immutable: make a new one instead of calling __init__ again.")
        self.is_filled = True
        self.type_code, self.index = parsed.type_code, parsed.index
        if index is not None:
            if parsed.index != -1:
                raise ValueError(f"device {device!r} carries an index already, cannot take index={index} as well.")
            index = PyNumber_Index(index)
            if not -1 <= index <= 127:
                raise ValueError(f"a device index must be from -1 to 127, found {index}.")
            self.index = index

    @property
    def type(self):
        """The device type as a string, such as ``"cpu"``."""
        return DEVICE_TYPE_NAMES[self.type_code]

    def __eq__(self, other):
        if isinstance(other, Device):
            return self.type_code == (<Device>other).type_code and self.index == (<Device>other).index
        return str(self) == other if isinstance(other, str) else NotImplemented

    def __hash__(self):
        return hash(str(self))  # equal to the string's, as the device is

    def __str__(self):
        return self.type if self.index == -1 else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"Device('{self}')"

    def __reduce__(self):
        return Device, (str(self),)


def rename_privateuse1_backend(name):
    """Give the device type ``privateuseone`` a name of its own; the old name is understood as well.

    Do it once, before devices of this type are made: a device is hashed by its name.

    Parameters
    ----------
    name : str
        Letters and underscores, not the name of another device type.

    Raises
    ------
    ValueError
        If the name cannot be one, or is taken.
    RuntimeError
        If the device type has been given another name before.

    Examples
    --------
    >>> import tensix
    >>> tensix.rename_privateuse1_backend("cuda")
    Traceback (most recent call last):
    ValueError: the device type privateuseone cannot be called 'cuda': that is another one's name.
    """
    if not isinstance(name, str) or not name.isascii() or not name.replace("_", "").isalpha():
        raise ValueError(f"a device type's name is made of letters and underscores, found {name!r}.")
    present = DEVICE_TYPE_NAMES[PRIVATE_USE_1]
    if present == name:
        return
    if present != "privateuseone":
        raise RuntimeError(f"the device type privateuseone is called '{present}' already, cannot call it '{name}'.")
    if name in TYPE_CODES:
        raise ValueError(f"the device type privateuseone cannot be called '{name}': that is another one's name.")
    TYPE_CODES[name] = PRIVATE_USE_1
    DEVICE_TYPE_NAMES[PRIVATE_USE_1] = name


cdef Device Device_get(int8_t type_code, int8_t index):
    """Return the one device object of this type and index."""
    if type_code == CPU and index == -1:
        return THE_CPU  # the one that is nearly always asked for
    return interned(type_code, index)


cdef Device interned(int8_t type_code, int8_t index):
    key = (type_code, index)
    found = INTERNED.get(key)
    if found is None:
        made = <Device>Device.__new__(Device)
        made.type_code, made.index, made.is_filled = type_code, index, True
        found = INTERNED.setdefault(key, made)
    return found


cdef Device Device_from_any(object device):
    """Return the device that a string or a device means."""
    if isinstance(device, Device):
        return device
    found = OF_STRING.get(device) if type(device) is str else None
    if found is not None:
        return found
    if not isinstance(device, str):
        raise TypeError(f"a device is given as a string or a Device, found {type(device).__name__}.")
    if not device:
        raise ValueError("Device string must not be empty.")
    name, colon, digits = device.partition(":")
    if not name.replace("_", "").isalpha() or not name.isascii():
        raise ValueError(f"Invalid device string: '{device}'. Write a type and an optional index, such as 'cuda:1'.")
    cdef int8_t index = -1
    if colon:
        decimal = digits.isascii() and digits.isdigit() and len(digits) <= 3 and digits == str(int(digits))
        if not decimal or int(digits) > 127:
            raise ValueError(
                f"Could not parse device index '{digits}' in device string '{device}': "
                "a decimal number from 0 to 127 without leading zeros is needed."
            )
        index = int(digits)
    found = Device_get(device_type_from_any(name), index)
    OF_STRING[str(device)] = found
    return found


cdef int8_t device_type_from_any(object device_type) except -1:
    """Return the code of a device type given as a string or through a device."""
    if isinstance(device_type, Device):
        return (<Device>device_type).type_code
    code = TYPE_CODES.get(device_type) if isinstance(device_type, str) else None
    if code is None:
        raise ValueError(
            f"Expected one of {', '.join(DEVICE_TYPE_NAMES)} device type at start of device string: {device_type}"
        )
    return code


cdef str device_type_name(int8_t type_code):
    return DEVICE_TYPE_NAMES[type_code]


cdef Device THE_CPU = interned(CPU, -1)
