"""Where blocks lie: alignment as a promise, huge pages, mappings of their own."""

import ctypes
import mmap
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensix
from tensix.core import CPUAllocator, Storage, cow
from tensix.memory import (
    AlignmentAdaptor,
    CachingAllocator,
    HugePageAllocator,
    LimitingAdaptor,
    MappedAllocator,
    StatisticsAdaptor,
)

MIB = 1 << 20


@pytest.mark.parametrize("alignment", [1, 64, 128, 4096, 2 * MIB])
@pytest.mark.parametrize("factory", [tensix.empty, tensix.zeros, tensix.ones])
def test_alignment_per_call(factory, alignment):
    for shape in ((7,), (3, 5), ((3, 0),), ((1000, 300),)):
        x = factory(*shape, dtype="int16", alignment=alignment)
        assert x.data_ptr() % alignment == 0 and x.dtype == tensix.int16
        assert x.shape == factory(*shape).shape and x.is_contiguous()
        if factory is not tensix.empty:
            assert (x == (0 if factory is tensix.zeros else 1)).all()


def test_alignment_of_full():
    x = tensix.full((3,), 2.5, alignment=4096)
    y = tensix.full((2, 3), x, alignment=4096)
    assert x.tolist() == [2.5] * 3 == y.tolist()[1] and x.dtype == y.dtype == tensix.float32
    assert x.data_ptr() % 4096 == y.data_ptr() % 4096 == 0


def test_alignment_is_kept_by_copies_and_new_sizes():
    x = tensix.ones(1000, alignment=8192)
    for y in (x.clone(), x.lazy_clone().add_(1)):
        assert y.data_ptr() % 8192 == 0 or y.allocator is not x.allocator
    y = x.lazy_clone()
    y.add_(1)
    assert y.data_ptr() != x.data_ptr() and y.data_ptr() % 8192 == 0
    x.storage().resize_(100_000)
    assert x.data_ptr() % 8192 == 0
    assert tensix.empty(3, 4, 5, 6, memory_format="channels_last", alignment=256).stride() == (120, 1, 24, 4)


@pytest.mark.parametrize("wrong", [0, -64, 48, 1 << 31])
def test_a_wrong_alignment_is_refused(wrong):
    with pytest.raises(ValueError, match=r"alignment must be a power of two|0 or more"):
        tensix.empty(3, alignment=wrong)
    with pytest.raises(ValueError, match=r"alignment must be a power of two|0 or more"):
        AlignmentAdaptor(None, wrong)


def test_a_wrong_shape_is_refused_as_without():
    with pytest.raises(ValueError):
        tensix.empty(-1, alignment=64)
    with pytest.raises(MemoryError):
        tensix.empty(1 << 59, alignment=4096)


def test_an_allocators_alignment_is_kept_through_whatever_stands_above():
    for nbytes in (1, 100, 5000, 3 * MIB):
        for wrap in (CachingAllocator, StatisticsAdaptor, lambda a: LimitingAdaptor(CachingAllocator(a), "1GiB")):
            allocator = wrap(CPUAllocator(alignment=4096))
            assert allocator.alignment == 4096
            for _ in range(3):
                held = [allocator.allocate(nbytes) for _ in range(3)]
                assert all(block.get() % 4096 == 0 for block in held)


def test_no_more_is_asked_for_than_is_needed():
    statistics = StatisticsAdaptor(CPUAllocator(alignment=512))
    AlignmentAdaptor(statistics, 256).allocate(100)
    assert statistics.total_bytes == 100
    AlignmentAdaptor(statistics, 4096).allocate(100)
    assert statistics.total_bytes == 200 + 4096 - 512


def minor_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@pytest.mark.parametrize("make", [HugePageAllocator, MappedAllocator])
def test_populated_blocks_cost_no_faults(make):
    faults = {}
    for populate in (False, True):
        block = make(populate=populate).allocate(16 * MIB)
        before = minor_faults()
        ctypes.memset(block.get(), 1, 16 * MIB)
        faults[populate] = minor_faults() - before
    assert faults[True] < min(8, faults[False])


def test_huge_pages():
    allocator = HugePageAllocator(populate=True, numa_node=0)
    said = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
    huge = int(said.read_text()) if said.exists() else mmap.PAGESIZE**2 // 8
    large, small = allocator.allocate(huge + MIB), allocator.allocate(100)
    assert large.get() % huge == 0 and small.get() % 64 == 0
    assert repr(allocator) == "HugePageAllocator(populate=True, numa_node=0)"
    caching = CachingAllocator(allocator)
    address = Storage(5 * MIB, caching).data_ptr()
    before = CPUAllocator.bytes_in_use()
    assert Storage(5 * MIB, caching).data_ptr() == address and caching.stats().hits == 1
    assert CPUAllocator.bytes_in_use() == before  # what is kept is not in use


def test_mapped_blocks(tmp_path):
    for allocator in (MappedAllocator(), MappedAllocator(tmp_path)):
        before = CPUAllocator.bytes_in_use(), len(os.listdir("/proc/self/fd"))
        with tensix.use_allocator(allocator):
            x = tensix.empty(1000, 1000)
        assert not np.asarray(x).any() and x.data_ptr() % allocator.alignment == 0
        assert cow.has_simple_data_ptr(x.storage()) and os.listdir(tmp_path) == []
        y = x.lazy_clone().add_(1)
        assert (y.sum(), x.sum()) == (1_000_000, 0)
        del x, y
        assert (CPUAllocator.bytes_in_use(), len(os.listdir("/proc/self/fd"))) == before
        assert not allocator.allocate(0)
        for nbytes in (1 << 60, (1 << 64) - 1):
            with pytest.raises(MemoryError):
                allocator.allocate(nbytes)
    with pytest.raises(FileNotFoundError):
        MappedAllocator(tmp_path / "nowhere").allocate(10)
    assert MappedAllocator(bytes(tmp_path)).directory == str(tmp_path)


def test_a_full_disk_is_an_error_of_memory():
    script = """
import resource, signal, tensix, tempfile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
from tensix.memory import MappedAllocator
allocator = MappedAllocator(tempfile.gettempdir())
assert allocator.allocate(1 << 20)
try:
    allocator.allocate(2 << 20)
except tensix.OutOfMemoryError as error:
    assert error.nbytes == 2 << 20
else:
    raise AssertionError("there was room")
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
