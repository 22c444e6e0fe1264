"""The C header, in C and in C++."""

import subprocess
import sys

import pytest
from tensix_consumer import plain_c, targets

import tensix


@pytest.fixture
def plain_cpp():
    return pytest.importorskip("tensix_consumer.plain_cpp", reason="there is no compiler for C++")


def test_elements_from_c():
    x = tensix.arange(10, dtype=tensix.float64)
    assert plain_c.total(x) == 45
    assert plain_c.total(x[::3]) == 18
    with pytest.raises(TypeError, match="float64 vector"):
        plain_c.total(tensix.ones(2))
    with pytest.raises(TypeError, match="Tensor is needed"):
        plain_c.total([1.0])


def test_foreign_memory_from_c():
    before = plain_c.freed_count()
    x = plain_c.ones(5)
    assert x.sum() == 5
    assert plain_c.freed_count() == before
    del x
    assert plain_c.freed_count() == before + 1


def test_counts_from_c():
    pointer = targets.make_buffer()
    assert plain_c.counted(pointer.get()) == 2
    assert pointer.use_count() == 1
    with pytest.raises(TypeError, match="no target"):
        plain_c.counted(None)


def test_tensors_made_in_a_second_file():
    """Whose table of functions is the one that the first file filled in."""
    made = plain_c.identity(3)
    assert made.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] and made.dtype == tensix.float64
    assert plain_c.identity(0).shape == (0, 0)
    with pytest.raises(ValueError, match="sizes of at least 0, found -1 in dimension 0"):
        plain_c.identity(-1)
    with pytest.raises(ValueError, match="overflow"):
        plain_c.identity(2**40)


def test_views_made_in_c():
    x = tensix.arange(6, dtype=tensix.float32)
    view = plain_c.every_other(x.storage())
    view[1] = 7.0
    assert x.tolist() == [0, 1, 7, 3, 4, 5] and view.is_alias_of(x)


def test_memory_reported_from_c():
    before = tensix.memory.memory_allocated()
    with tensix.memory.statistics() as s:
        storage = plain_c.reported(1000)
        assert (s.current_bytes, s.current_count) == (1000, 1)
        assert tensix.memory.memory_allocated() - before == 1000
        del storage
        assert (s.current_bytes, s.peak_bytes) == (0, 1000)
    assert tensix.memory.memory_allocated() == before


def test_shape_from_cpp(plain_cpp):
    assert plain_cpp.shape(tensix.ones(2, 3, 4)) == [2, 3, 4]
    with pytest.raises(TypeError, match="Tensor is needed"):
        plain_cpp.shape(None)


def test_pointers_in_cpp(plain_cpp):
    pointer = targets.make_buffer()
    assert plain_cpp.counts_of_pointers(pointer.get()) == [2, 3, 3, 3, 2, 2, 2, 7, 4, 2, 0, 1]
    assert pointer.use_count() == 1
    assert plain_cpp.counts_of_pointers(None) == [0] * 12
    with pytest.raises(TypeError, match="target is needed"):
        plain_cpp.counts_of_pointers(3)


def test_a_pointer_in_cpp_takes_over_what_python_released(plain_cpp):
    before = targets.destroyed_count()
    plain_cpp.keep(targets.make_buffer().release())
    assert targets.destroyed_count() == before
    pointer = tensix.IntrusivePtr.reclaim(plain_cpp.release())
    assert pointer.unique() and plain_cpp.release() is None
    plain_cpp.keep(pointer.release())
    plain_cpp.keep(None)
    assert targets.destroyed_count() == before + 1


def test_a_pointer_in_cpp_may_outlive_python(plain_cpp):
    code = "from tensix_consumer import plain_cpp, targets; plain_cpp.keep(targets.make_buffer().release())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
