"""DLPack tensors that come in: what is read, what is refused, and how often the deleter is called."""

import ctypes
import gc
import threading

import numpy as np
import pytest

import tensix
from tensix import from_dlpack

BFLOAT, BOOL, COMPLEX, READ_ONLY, IS_COPIED, UINT = 4, 6, 5, 1, 2, 1  # numbers of the standard


@pytest.mark.parametrize("legacy", [False, True])
def test_memory_is_shared_and_deleted_once(dlpack, legacy):
    producer = dlpack.Producer(legacy=legacy)
    x = from_dlpack(producer)
    assert x.data_ptr() == ctypes.addressof(producer.memory) and x.dtype is tensix.float32
    assert x.tolist() == [0, 1, 2, 3] and not x.readonly
    assert dlpack.PyCapsule_GetName(producer.capsule) == b"used_" + producer.name
    x[1] = -1
    assert producer.memory[1] == -1
    view = x[2:]
    del x
    assert producer.deleted == 0
    del view
    assert producer.deleted == 1


def test_newest_version_is_asked_for(dlpack):
    producer = dlpack.Producer()
    from_dlpack(producer)
    assert producer.asked == {"stream": None, "max_version": (1, 3), "dl_device": None, "copy": None}
    from_dlpack(dlpack.Producer(), device="cpu")
    producer = dlpack.Producer()
    from_dlpack(producer, device="cpu", copy=False)
    assert producer.asked == {"stream": None, "max_version": (1, 3), "dl_device": (1, 0), "copy": False}


def test_producer_of_old_knows_no_options(dlpack):
    class Old(dlpack.Producer):
        def __dlpack__(self):
            return self.capsule

    producer = Old(legacy=True)
    assert from_dlpack(producer).tolist() == [0, 1, 2, 3]
    assert producer.deleted == 1
    producer = Old(legacy=True)
    assert from_dlpack(producer, copy=True).data_ptr() != ctypes.addressof(producer.memory)
    assert producer.deleted == 1


@pytest.mark.parametrize("fields, values", [
    ({"shape": (2, 2), "strides": (1, 2)}, [[0, 2], [1, 3]]), ({"shape": (2, 2), "strides": None}, [[0, 1], [2, 3]]),
    ({"shape": (2,), "strides": (-1,), "byte_offset": 4}, [1, 0]), ({"byte_offset": 16}, [4, 5, 6, 7]),
    ({"shape": (3, 2), "strides": (0, 1)}, [[0, 1]] * 3), ({"shape": (), "strides": ()}, 0),
    ({"shape": None, "strides": None, "ndim": 0}, 0), ({"shape": (0,), "data": None}, []),
    ({"shape": (2, 0, 3), "strides": None, "data": None}, [[], []]), ({"shape": (1,), "strides": (77,)}, [0]),
    ({"device_type": 3}, [0, 1, 2, 3]), ({"device_type": 11}, [0, 1, 2, 3]), ({"version": (1, 99)}, [0, 1, 2, 3]),
    ({"shape": (2,), "code": UINT, "bits": 8}, [0, 0]), ({"shape": (2,), "code": BFLOAT, "bits": 16}, [0, 0]),
    ({"shape": (1,), "code": COMPLEX, "bits": 64}, [1j]), ({"shape": (2,), "code": BOOL, "bits": 8}, [False, False]),
    ({"shape": (1,), "code": COMPLEX, "bits": 64, "byte_offset": 4}, [1 + 2j]), ({"has_deleter": False}, [0, 1, 2, 3]),
])  # fmt: skip
def test_what_is_read(dlpack, fields, values):
    producer = dlpack.Producer(**fields)
    assert from_dlpack(producer).tolist() == values
    assert producer.deleted == fields.get("has_deleter", True)


@pytest.mark.parametrize("fields, text", [
    ({"version": (2, 0)}, "version 2.0"), ({"version": (0, 9)}, "version 0.9"), ({"device_type": 2}, "type 2"),
    ({"device_type": -1}, "device of type"), ({"lanes": 4}, "4 lanes"), ({"lanes": 0}, "0 lanes"),
    ({"code": 17, "bits": 4}, "4 bits"), ({"code": 12, "bits": 8}, "code 12"), ({"code": 3, "bits": 64}, "code 3"),
    ({"code": 255}, "code 255"), ({"bits": 0}, "0 bits"),
    ({"code": BOOL, "bits": 0}, "0 bits"), ({"bits": 255}, "255 bits"), ({"bits": 128}, "128 bits"),
    ({"code": UINT, "bits": 4}, "4 bits"), ({"code": BOOL, "bits": 1}, "1 bits"), ({"ndim": -1}, "-1 dimensions"),
    ({"ndim": 65}, "at most 64"), ({"ndim": 2**31 - 1}, "at most 64"), ({"shape": None}, "no sizes"),
    ({"shape": (-1,)}, "0 or more, found -1"), ({"shape": (2**62, 4), "strides": (1, 1)}, "cannot be taken in"),
    ({"shape": (2**62,)}, "63 bits"), ({"shape": (2, 2), "strides": (2**62, 2**62)}, "63 bits"),
    ({"shape": (2,), "strides": (-(2**63),)}, "63 bits"), ({"shape": (2**61,), "strides": (-4,)}, "63 bits"),
    ({"data": None}, "address is 0"), ({"byte_offset": 2}, "not aligned"),
    ({"code": COMPLEX, "bits": 64, "byte_offset": 2}, "not aligned"),
])  # fmt: skip
def test_what_is_refused(dlpack, fields, text):
    """The capsule keeps what is refused, and deletes it unless it is asked again."""
    producer = dlpack.Producer(**fields)
    for function in (from_dlpack, tensix.asarray):
        with pytest.raises(BufferError, match=text):
            function(producer)
    assert producer.deleted == 0 and dlpack.PyCapsule_GetName(producer.capsule) == producer.name


def test_capsule_is_taken_in_once(dlpack):
    producer = dlpack.Producer()
    x = from_dlpack(producer)
    for _ in range(2):
        with pytest.raises(BufferError, match="used up"):
            from_dlpack(producer)
    del x
    assert producer.deleted == 1


@pytest.mark.parametrize("capsule", [None, 3, "dltensor"])
def test_no_capsule(dlpack, capsule):
    producer = dlpack.Producer()
    producer.capsule = capsule
    with pytest.raises(BufferError, match="must return a DLPack capsule"):
        from_dlpack(producer)


def test_error_of_the_producer_passes(dlpack):
    class Failing(dlpack.Producer):
        def __dlpack__(self, **options):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        from_dlpack(Failing())


def test_read_only_flag(dlpack):
    producer = dlpack.Producer(flags=READ_ONLY)
    x = from_dlpack(producer)
    assert x.readonly and x[1:].readonly
    with pytest.raises(RuntimeError, match="read-only"):
        x.fill_(1)
    assert not from_dlpack(dlpack.Producer(flags=READ_ONLY), copy=True).readonly


def test_copies(dlpack):
    producer = dlpack.Producer()
    x = from_dlpack(producer, copy=True)
    assert x.data_ptr() != ctypes.addressof(producer.memory) and producer.deleted == 1
    assert producer.asked["copy"] is True
    producer = dlpack.Producer(flags=IS_COPIED)  # the producer has made one
    assert from_dlpack(producer, copy=True).data_ptr() == ctypes.addressof(producer.memory)
    assert str(from_dlpack(dlpack.Producer(), device="meta").device) == "meta"
    with pytest.raises(ValueError, match="copy is False"):
        from_dlpack(dlpack.Producer(), device="meta", copy=False)


def test_lazy_clone_of_what_others_may_write(dlpack):
    producer = dlpack.Producer()
    lazy = from_dlpack(producer).lazy_clone()
    producer.memory[0] = 7
    assert lazy.tolist() == [0, 1, 2, 3]


def test_tensors_and_arrays_are_taken_as_they_are():
    x = tensix.ones(2)
    twin = from_dlpack(x)
    assert twin is not x and twin.is_alias_of(x)
    array = np.arange(3.0)
    assert from_dlpack(array).data_ptr() == array.ctypes.data
    for bad in (np.zeros(2, ">f4"), np.array(["a"])):
        with pytest.raises(BufferError):
            from_dlpack(bad)


def test_deleter_runs_on_any_thread(dlpack):
    producers = [dlpack.Producer() for _ in range(8)]
    tensors = [from_dlpack(producer) for producer in producers]
    threads = [threading.Thread(target=tensors.pop) for _ in producers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [producer.deleted for producer in producers] == [1] * 8


def test_storage_dies_without_the_gil(dlpack):
    """As from C code: the deleter takes the GIL itself."""
    producer = dlpack.Producer()
    storage = from_dlpack(producer).storage()
    capsule = np.from_dlpack(tensix.Tensor.from_storage(storage, 0, (4,), (1,), "float32"))
    del storage
    gc.collect()
    assert producer.deleted == 0
    del capsule
    assert producer.deleted == 1


def test_exception_of_a_deleter_is_reported(dlpack, unraisable):
    producer = dlpack.Producer()
    failing = dlpack.Deleter(lambda _: 1 / 0)
    producer.struct.deleter = failing
    x = from_dlpack(producer)
    del x
    assert [type(error) for error in unraisable] == [ZeroDivisionError]


@pytest.mark.parametrize("is_negated", [False, True])
def test_what_is_negated_by_a_flag_is_refused(dlpack, is_negated):
    producer = dlpack.Producer()
    producer.is_neg = lambda: is_negated
    if is_negated:
        with pytest.raises(BufferError, match="resolve_neg"):
            from_dlpack(producer)
    else:
        assert from_dlpack(producer).tolist() == [0, 1, 2, 3]


def test_devices_without_a_kernel_that_copies():
    with pytest.raises(BufferError, match="cannot copy from cpu to cuda"):
        from_dlpack(tensix.ones(2), device="cuda")


@pytest.mark.parametrize("copy", [0, np.False_])
def test_copy_may_be_said_by_other_bools(dlpack, copy):
    with pytest.raises(ValueError, match="copy is False"):
        tensix.asarray([1], copy=copy)
    assert from_dlpack(np.ones(2), copy=np.True_).tolist() == [1, 1]
