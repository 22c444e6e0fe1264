"""Which lines made lazy clones copy."""

import threading

import numpy as np
import pytest

import tensix
from tensix.core import Storage
from tensix.memory import copies


def write(x):
    x += 1


def test_repr_has_the_sums():
    x = tensix.ones(1000)
    y = x.lazy_clone()
    with copies() as c:
        y += 1
    assert repr(c) == "copies(3.91 KiB in 1)"


def test_write_to_shared_bytes_is_found():
    x = tensix.zeros(100)
    y = x.lazy_clone()
    with copies() as c:
        assert y.sum() == 0 and c.count == 0  # reading copies nothing
        write(y)
        write(y)
        write(x)  # the last one to share takes the bytes as they are
    assert [(row.place.function, row.place.file, row.nbytes, row.times) for row in c.rows] == [
        ("write", __file__, 400, 1)
    ]


def test_lazy_clone_that_cannot_share_is_found():
    x = tensix.zeros(100)
    exported = np.from_dlpack(x)
    with copies() as c:
        y = x.lazy_clone()
        x.clone()  # no lazy clone
    assert (c.count, c.nbytes) == (1, 400) and not y.is_cow()
    assert exported.shape == (100,)


def test_storages_count_too():
    storage = Storage(64)
    clone = storage.lazy_clone()
    with copies() as c:
        clone.mutable_data_ptr()
    assert (c.count, c.nbytes, len(c.rows)) == (1, 64, 1)


def test_rows_are_lines_the_most_bytes_first():
    with copies() as c:
        for _ in range(3):
            small = tensix.zeros(1)
            sharers = [small.lazy_clone()]
            small.fill_(1)
        large = tensix.zeros(1000)
        sharers.append(large.lazy_clone())
        large.fill_(1)
    assert [(row.nbytes, row.times) for row in c.rows] == [(4000, 1), (12, 3)]
    assert c.rows[0].place.line > c.rows[1].place.line
    heading, first, _second = str(c).splitlines()
    assert heading.split() == ["copied", "times", "line"]
    assert first.split()[:3] == ["3.91", "KiB", "1"] and first.endswith(str(c.rows[0].place))


def test_nothing_copied():
    with copies() as c:
        tensix.zeros(3).lazy_clone()
    assert str(c) == "no lazy clone was copied" and (c.count, c.nbytes, c.rows) == (0, 0, [])


def test_failed_copy_is_none():
    allocator = tensix.CPUAllocator()
    storage = Storage.from_data_ptr(1 << 60, allocator.allocate(8), allocator)
    clone = storage.lazy_clone()
    with copies() as c, pytest.raises(tensix.OutOfMemoryError):
        clone.mutable_data_ptr()
    assert c.count == 0


def test_scopes_nest_and_end():
    x = tensix.zeros(1)
    with copies() as outer:
        with copies() as inner:
            other = x.lazy_clone()
            write(x)
        others = [other, x.lazy_clone()]
        write(x)
    others.append(x.lazy_clone())
    write(x)
    assert (inner.count, outer.count, others[0].is_cow()) == (1, 2, True)
    with pytest.raises(RuntimeError, match="entered once"):
        inner.__enter__()


def test_other_threads_are_found():
    def work():
        for _ in range(200):
            x = tensix.zeros(1)
            other = x.lazy_clone()
            write(x)
            del other

    with copies() as c:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (c.count, len(c.rows)) == (1600, 1)
