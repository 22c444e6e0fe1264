"""DLPack's structs by ctypes, to make tensors that no library would make."""

import ctypes

PyCapsule_New = ctypes.pythonapi.PyCapsule_New
PyCapsule_New.restype, PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
PyCapsule_GetPointer = ctypes.pythonapi.PyCapsule_GetPointer
PyCapsule_GetPointer.restype, PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
PyCapsule_GetName = ctypes.pythonapi.PyCapsule_GetName
PyCapsule_GetName.restype, PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]

READ_ONLY, IS_COPIED = 1, 2
FLOAT, UINT, BFLOAT, COMPLEX, BOOL = 2, 1, 4, 5, 6


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("ctx", ctypes.c_void_p), ("deleter", Deleter),
        ("flags", ctypes.c_uint64), ("tensor", DLTensor),
    ]  # fmt: skip


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("ctx", ctypes.c_void_p), ("deleter", Deleter)]


def described(capsule):
    """Return the struct that a capsule holds."""
    name = PyCapsule_GetName(capsule)
    kind = Versioned if name == b"dltensor_versioned" else Legacy
    return kind.from_address(PyCapsule_GetPointer(capsule, name))


class Producer:
    """Export one hand-made tensor of four float32, again and again by the same capsule; count its deleter's calls."""

    def __init__(self, legacy=False, version=(1, 0), flags=0, has_deleter=True, shape=(4,), strides=(1,), **fields):
        self.memory = (ctypes.c_float * 12)(*range(12))
        self.deleted = 0
        self.dims = (ctypes.c_int64 * 64)(*(shape or ())), (ctypes.c_int64 * 64)(*(strides or ()))
        self.struct = Legacy() if legacy else Versioned(major=version[0], minor=version[1], flags=flags)
        # A deleter that is a bound method would be a cycle: tests count what is alive.
        counts = self.__dict__
        self.deleter = Deleter(lambda _: counts.update(deleted=counts["deleted"] + 1))
        if has_deleter:
            self.struct.deleter = self.deleter
        tensor = self.struct.tensor
        tensor.data, tensor.device_type = ctypes.addressof(self.memory), 1
        tensor.code, tensor.bits, tensor.lanes = FLOAT, 32, 1
        tensor.ndim = len(shape) if shape is not None else 1
        if shape is not None:
            tensor.shape = ctypes.cast(self.dims[0], ctypes.POINTER(ctypes.c_int64))
        if strides is not None:
            tensor.strides = ctypes.cast(self.dims[1], ctypes.POINTER(ctypes.c_int64))
        for name, value in fields.items():
            setattr(tensor, name, value)
        self.name = b"dltensor" if legacy else b"dltensor_versioned"
        self.capsule = PyCapsule_New(ctypes.addressof(self.struct), self.name, None)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self.capsule

    def __dlpack_device__(self):
        return self.struct.tensor.device_type, 0


SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class ExchangeAPI(ctypes.Structure):
    """The table for C code; its functions need the GIL, so they are called by PYFUNCTYPE."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("prev_api", ctypes.c_void_p),
        ("make", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p),
                                   ctypes.c_void_p, SetError)),
        ("export", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))),
        ("take", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
        ("look", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))),
        ("stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]  # fmt: skip

    @classmethod
    def of(cls, owner):
        """Return the table on a type."""
        return cls.from_address(PyCapsule_GetPointer(owner.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
