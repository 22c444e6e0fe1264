"""Blocks of main memory: sizes, alignments, fills, raw calls and what is noticed when they are misused."""

import ctypes
import mmap
import pickle
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import tensix
from tensix.core import CPUAllocator, DataPtr, Device, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak")

MIB = 1 << 20
HEADER_BYTES = 32


def content(block, nbytes):
    return ctypes.string_at(block.get(), nbytes)


def test_block_is_its_own_context_ca_1_ca_4():
    allocator = CPUAllocator()
    block = allocator.allocate(100)
    assert block.get() == block.get_context() != 0
    assert block.get_deleter() == allocator.raw_deleter()
    assert block.device == Device("cpu")


def test_nothing_is_a_null_block_with_a_deleter_ca_2_ca_3_ca_7():
    before = CPUAllocator.bytes_in_use()
    block = CPUAllocator().allocate(0)
    assert (block.get(), block.get_context()) == (0, 0)
    assert block.get_deleter() == CPUAllocator().raw_deleter()
    block.clear()
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("nbytes", [1, 15, 64, 100, 4096, 65_537, 3 * MIB])
@pytest.mark.parametrize("alignment", [16, 32, 64, 4096, 2 * MIB])
def test_every_address_is_aligned_ca_9(alignment, nbytes):
    blocks = [CPUAllocator(alignment).allocate(nbytes) for _ in range(3)]
    assert {block.get() % alignment for block in blocks} == {0}
    for block in blocks:
        ctypes.memset(block.get(), 0xA5, nbytes)
        assert content(block, nbytes) == b"\xa5" * nbytes


@pytest.mark.parametrize("nbytes", [1, 64, 1000])
def test_default_alignment_is_a_cache_line_ca_9(nbytes):
    assert CPUAllocator().alignment == 64
    assert CPUAllocator().allocate(nbytes).get() % 64 == 0


@pytest.mark.parametrize("alignment", [1, 2, 4, 8])
def test_small_alignments_are_taken_as_16_ca_9(alignment):
    allocator = CPUAllocator(alignment)
    assert allocator.alignment == 16 and repr(allocator) == "CPUAllocator(alignment=16)"
    blocks = [allocator.allocate(nbytes) for nbytes in (1, 3, 17, 100)]
    assert {block.get() % 16 for block in blocks} == {0}


@pytest.mark.parametrize(
    "alignment, error",
    [(0, ValueError), (3, ValueError), (63, ValueError), (96, ValueError), (1 << 31, ValueError), (-64, ValueError),
     (1 << 64, OverflowError), ("64", TypeError), (64.0, TypeError)],
)
def test_bad_alignment_is_refused_ca_9(alignment, error):
    with pytest.raises(error):
        CPUAllocator(alignment)


@pytest.mark.parametrize("nbytes, error", [(-1, ValueError), (-(1 << 70), ValueError), (1 << 64, OverflowError),
                                           (1.0, TypeError), (None, TypeError)])
@pytest.mark.parametrize("method", ["allocate", "raw_allocate"])
def test_sizes_that_are_none_ca_8(method, nbytes, error):
    with pytest.raises(error):
        getattr(CPUAllocator(), method)(nbytes)


@pytest.mark.parametrize("options", [{}, {"zero_fill": True}, {"junk_fill": True}, {"huge_pages": True},
                                     {"numa_node": 0}, {"alignment": 1 << 30}], ids=str)
@pytest.mark.parametrize("nbytes", [1 << 62, 1 << 63, (1 << 64) - 1, (1 << 64) - 64])
def test_too_much_is_out_of_memory_ca_8_ca_11(nbytes, options):
    with pytest.raises(OutOfMemoryError) as caught:
        CPUAllocator(**options).allocate(nbytes)
    assert caught.value.nbytes == nbytes
    assert caught.value.alignment == options.get("alignment", 64)
    assert f"{nbytes:,} bytes" in str(caught.value)


def test_out_of_memory_tells_what_is_in_use_ca_11():
    with pytest.raises(MemoryError) as caught:
        Storage(1 << 62, CPUAllocator(128))
    error = caught.value
    assert (error.alignment, error.in_use, error.limit) == (128, CPUAllocator.bytes_in_use(), None)


@pytest.mark.parametrize(
    "fields, text",
    [
        ((4096, 64, 1024), "cannot allocate 4,096 bytes (alignment 64): in use 1,024. Free tensors or ask for less."),
        ((10, 16, 1, 2000), "cannot allocate 10 bytes (alignment 16): limit 2,000, in use 1. "
                            "Free tensors or raise the limit."),
    ],
)
def test_out_of_memory_text_survives_pickling_ca_11(fields, text):
    error = pickle.loads(pickle.dumps(OutOfMemoryError(*fields)))
    assert type(error) is OutOfMemoryError
    assert (error.nbytes, error.alignment, error.in_use, error.limit) == (*fields, None)[:4]
    assert str(error) == text


@pytest.mark.parametrize("nbytes", [1, 100, 4096, 3 * MIB])
@pytest.mark.parametrize("options", [{}, {"alignment": 4096}, {"huge_pages": True}, {"numa_node": 0}], ids=str)
def test_zero_fill_also_of_reused_blocks_ca_12(options, nbytes):
    allocator = CPUAllocator(zero_fill=True, **options)
    for _ in range(3):
        block = allocator.allocate(nbytes)
        assert content(block, nbytes) == bytes(nbytes)
        ctypes.memset(block.get(), 0xFF, nbytes)
        del block


@pytest.mark.parametrize("nbytes", [0, 1, 2, 3, 4, 7, 1000, 3 * MIB + 1])
def test_junk_is_the_pattern_ca_13(nbytes):
    pattern = (0x7FEDBEEF).to_bytes(4, "little")
    block = CPUAllocator(junk_fill=True).allocate(nbytes)
    assert content(block, nbytes) == (pattern * (nbytes // 4 + 1))[:nbytes]


def test_both_fills_are_refused_ca_12():
    with pytest.raises(ValueError, match="Cannot request both zero-fill and junk-fill at the same time"):
        CPUAllocator(zero_fill=True, junk_fill=True)


def huge_page_bytes():
    said = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
    return int(said.read_text()) if said.exists() else mmap.PAGESIZE**2 // 8


ASKS_FOR_HUGE_PAGES = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static long pages_of(int what) { (void)what; return PAGE; }
#define sysconf pages_of
#include "tensix/core/pages.h"
int main(void) { printf("%zu", tx_huge_page_bytes()); return 0; }
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize(("page", "said", "expected"), [
    (4096, "2097152\n", 2 << 20), (4096, None, 2 << 20), (16384, "33554432\n", 32 << 20), (16384, None, 32 << 20),
    (65536, None, 512 << 20), (65536, "2097152\n", 2 << 20), (4096, "0\n", 2 << 20), (4096, "some\n", 2 << 20),
    (4096, "3000000\n", 2 << 20),
])  # fmt: skip
def test_size_of_huge_pages(tmp_path, page, said, expected):
    """It was 2 MiB everywhere, which holds with pages of 4 KiB alone."""
    if said is not None:
        (tmp_path / "said").write_text(said)
    (tmp_path / "asks.c").write_text(ASKS_FOR_HUGE_PAGES)
    include = Path(tensix.__file__).parents[1]
    options = [f"-I{include}", f"-DPAGE={page}", f'-DTX_HUGE_PAGE_FILE="{tmp_path / "said"}"', "-D_GNU_SOURCE"]
    subprocess.run(["cc", *options, tmp_path / "asks.c", "-o", tmp_path / "asks"], check=True, timeout=60)
    asked = subprocess.run([tmp_path / "asks"], capture_output=True, text=True, check=True, timeout=60)
    assert int(asked.stdout) == expected


@pytest.mark.parametrize("options", [{"huge_pages": True}, {"numa_node": 0}, {"numa_node": 63},
                                     {"huge_pages": True, "numa_node": 0, "alignment": 4 * MIB}], ids=str)
@pytest.mark.parametrize("nbytes", [1, 65_536, 2 * MIB - 1, 2 * MIB, 5 * MIB + 3])
def test_regions_of_their_own_can_be_used_and_freed_ca_10_ca_12(options, nbytes):
    before = CPUAllocator.bytes_in_use()
    block = CPUAllocator(**options).allocate(nbytes)
    assert CPUAllocator.bytes_in_use() == before + nbytes
    ctypes.memset(block.get(), 0x5A, nbytes)
    assert content(block, nbytes) == b"\x5a" * nbytes
    if options.get("huge_pages") and nbytes >= huge_page_bytes():
        assert block.get() % huge_page_bytes() == 0
    block.clear()
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("node, error", [(-1, ValueError), (64, ValueError), ("0", TypeError)])
def test_bad_numa_node_is_refused_ca_12(node, error):
    with pytest.raises(error):
        CPUAllocator(numa_node=node)


def test_options_can_be_read():
    allocator = CPUAllocator(4096, zero_fill=True, huge_pages=True, numa_node=1)
    assert (allocator.alignment, allocator.zero_fill, allocator.junk_fill) == (4096, True, False)
    assert (allocator.huge_pages, allocator.numa_node, CPUAllocator().numa_node) == (True, 1, None)
    assert repr(allocator) == "CPUAllocator(alignment=4096, zero_fill=True, huge_pages=True, numa_node=1)"


def test_raw_blocks_are_freed_by_address_ca_4():
    allocator = CPUAllocator()
    before = CPUAllocator.bytes_in_use()
    address = allocator.raw_allocate(100)
    assert CPUAllocator.bytes_in_use() == before + 100
    CPUAllocator(4096).raw_deallocate(address)
    allocator.raw_deallocate(0)
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("options", [{}, {"huge_pages": True}], ids=str)
def test_double_free_is_refused_ca_2(options):
    allocator = CPUAllocator(**options)
    address = allocator.raw_allocate(4 * MIB)
    allocator.raw_deallocate(address)
    with pytest.raises(RuntimeError, match="Was it freed before"):
        allocator.raw_deallocate(address)


@pytest.mark.parametrize("address", [1, 16, 32, 64, 4096, 1 << 47, (1 << 63) + 64, (1 << 64) - 64, (1 << 64) - 1])
def test_address_that_nothing_is_at_is_refused(address):
    with pytest.raises(RuntimeError, match="no living block"):
        CPUAllocator().raw_deallocate(address)


@pytest.mark.parametrize("address, error", [(-1, ValueError), (1 << 64, OverflowError), (None, TypeError)])
def test_address_that_is_none_is_refused(address, error):
    with pytest.raises(error):
        CPUAllocator().raw_deallocate(address)


@pytest.mark.parametrize("offset", [1, 8, 16, 48])
def test_address_inside_a_block_is_refused(offset):
    storage = Storage(64, CPUAllocator(zero_fill=True))
    with pytest.raises(RuntimeError, match="no living block"):
        CPUAllocator().raw_deallocate(storage.data_ptr() + offset)


def test_foreign_memory_is_refused():
    foreign = (ctypes.c_char * 4096)()
    start = ctypes.addressof(foreign) + 64
    for address in range(start, start + 64):
        with pytest.raises(RuntimeError, match="no living block"):
            CPUAllocator().raw_deallocate(address)


@pytest.mark.parametrize("offset", [0, 16, HEADER_BYTES, 64])
def test_address_beside_memory_that_cannot_be_read_is_refused(offset):
    """The pages looked at may be unreadable, or only the one before them mapped."""
    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    look = (ctypes.c_char * len(pages)).from_buffer(pages)
    second = ctypes.addressof(look) + mmap.PAGESIZE
    assert libc.mprotect(second, mmap.PAGESIZE, 0) == 0
    with pytest.raises(RuntimeError, match="no living block"):
        CPUAllocator().raw_deallocate(second + offset)
    assert libc.mprotect(second, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@pytest.mark.parametrize("length", [1, 8, 16])
def test_underrun_is_reported_and_the_block_kept(unraisable, length):
    storage = Storage(100, CPUAllocator(4096))
    address, before = storage.data_ptr(), CPUAllocator.bytes_in_use()
    header = ctypes.string_at(address - HEADER_BYTES, HEADER_BYTES)
    ctypes.memset(address - length, 0xEE, length)
    storage.reset()
    assert [type(error) for error in unraisable] == [RuntimeError]
    assert f"{address:#x} was not freed" in str(unraisable[0])
    assert CPUAllocator.bytes_in_use() == before
    with pytest.raises(RuntimeError, match="no living block"):
        CPUAllocator().raw_deallocate(address)
    ctypes.memmove(address - HEADER_BYTES, header, HEADER_BYTES)
    CPUAllocator().raw_deallocate(address)


def test_deleter_reports_a_foreign_context(unraisable):
    foreign = (ctypes.c_char * 256)()
    DataPtr(0, ctypes.addressof(foreign) + 64, CPUAllocator().raw_deleter()).clear()
    assert len(unraisable) == 1 and "not a block of a CPUAllocator" in str(unraisable[0])


def test_blocks_outlive_their_allocator():
    blocks = [CPUAllocator().allocate(1000) for _ in range(10)]
    for block in blocks:
        ctypes.memset(block.get(), 1, 1000)
    assert all(content(block, 1000) == b"\x01" * 1000 for block in blocks)


def test_many_threads_allocate_and_free_al_15():
    allocator, wrong = CPUAllocator(), []

    def work(mark):
        for nbytes in range(1, 300):
            block = allocator.allocate(nbytes)
            ctypes.memset(block.get(), mark, nbytes)
            if content(block, nbytes) != bytes([mark]) * nbytes:
                wrong.append(nbytes)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
