"""What compiled modules rely on changes only on purpose: abi.txt records it, and is reviewed like code."""

import itertools
import re
from pathlib import Path

import pytest

import tensix
from tensix import abi, c_api

RECORD = Path(__file__).with_name("abi.txt")
PACKAGE = Path(tensix.__file__).parent
HEADER = """\
# What modules that are compiled against tensix rely on.
#
# test_abi.py compares this file with the package. After a change on purpose write it again,
#
#     python tests/cython/test_abi.py > tests/cython/abi.txt
#
# and review the difference. A function that is added breaks nobody. Whatever else changes breaks modules that are
# compiled already: then raise ABI_VERSION in tensix/abi.py, and the version at the end of names in abi.pxd, c_api.pxd,
# __init__.pxd and include/tensix/c_api.h, and name the change in CHANGELOG.md.
"""


def code_of(pxd):
    """Return the lines of a file of declarations, without comments, docstrings and empty lines."""
    text = re.sub(r'\A""".*?"""\n|^    """[^\n]*"""\n|#(?!if|else|endif).*?$', "", pxd.read_text(), flags=re.M | re.S)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def block_of(pxd, first):
    """Return the lines of a class or struct, its first one not included."""
    lines = code_of(pxd)
    start = lines.index(first) + 1
    return [*itertools.takewhile(lambda line: line.startswith(" "), lines[start:])]


def record():
    """Return what abi.txt should say."""
    functions = sorted((name, repr(capsule).split('"')[1]) for name, capsule in c_api.__pyx_capi__.items())
    head = object.__basicsize__
    sections = {
        f"version {abi.ABI_VERSION}": [],
        "bytes behind the head of an object": [f"{n} {cls.__basicsize__ - head}" for n, cls in abi.CLASSES.items()],
        "functions": [f"{name} {signature}" for name, signature in functions],
        "tensix/abi.pxd": code_of(PACKAGE / "abi.pxd"),
        "tensix/c_api.pxd": code_of(PACKAGE / "c_api.pxd"),
    }
    return HEADER + "".join("\n".join(["", f"== {title}", *lines, ""]) for title, lines in sections.items())


def test_the_abi_is_the_recorded_one():
    assert record() == RECORD.read_text(), f"the ABI has changed; the head of {RECORD} says what to do"


@pytest.mark.parametrize(
    ("public", "private", "place"),
    [
        ("cdef class IntrusiveTarget_{}:", "cdef class IntrusiveTarget:", "core/intrusive_target.pxd"),
        ("cdef class StrongCount_{}:", "cdef class StrongCount:", "core/raw.pxd"),
        ("cdef class Allocator_{}:", "cdef class Allocator:", "core/allocator.pxd"),
        ("cdef struct data_ptr_t:", "cdef struct data_ptr_t:", "core/data_ptr.pxd"),
    ],
)
def test_public_layouts_are_the_private_ones(public, private, place):
    declared = block_of(PACKAGE / "abi.pxd", public.format(abi.ABI_VERSION))
    declared = [re.sub(rf"(\w)_{abi.ABI_VERSION}\b", r"\1", line) for line in declared]
    assert declared == block_of(PACKAGE / place, private)
    assert len(declared) > 2


def test_all_names_have_the_same_version():
    for name in ("abi.pxd", "c_api.pxd", "__init__.pxd", "include/tensix/c_api.h"):
        versions = re.findall(r"\b[A-Z][a-z]\w+_(\d+)\b", PACKAGE.joinpath(name).read_text())
        assert versions
        assert set(versions) == {str(abi.ABI_VERSION)}


def test_the_c_header_has_every_function():
    header = (PACKAGE / "include/tensix/c_api.h").read_text()
    assert set(re.findall(r'TX_FUNCTION\(.*?"(\w+)"', header)) == set(c_api.__pyx_capi__)


def test_numbers_of_element_types_are_those_of_python():
    codes = {
        f"TX_{dtype.name.upper()}": dtype.code for dtype in vars(tensix).values() if isinstance(dtype, tensix.DType)
    }
    for name in ("c_api.pxd", "include/tensix/c_api.h"):
        found = re.findall(r"\b(TX_[A-Z]+\d*) = (\d+)", PACKAGE.joinpath(name).read_text())
        assert {name: int(code) for name, code in found} == codes


def test_the_page_names_everything_that_can_be_cimported():
    page = RECORD.parents[2].joinpath("docs", "cython.rst").read_text()
    text = PACKAGE.joinpath("c_api.pxd").read_text().partition("# Private:")[0]
    functions = re.findall(r"^cdef (?!extern).*?(\w+)\(", text, re.MULTILINE)
    types = re.findall(r"^    (?:\w+ as )?(\w+),$|^ctypedef .*?\(\*(\w+)\)|^    (TX_\w+) =", text, re.MULTILINE)
    names = [*functions, *map("".join, types), *re.findall(r"as (\w+)", PACKAGE.joinpath("__init__.pxd").read_text())]
    assert len(names) > 50
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


@pytest.mark.parametrize("name", abi.CLASSES)
def test_classes_are_found_by_their_version(name):
    public = tensix.core.raw if name == "StrongCount" else tensix
    assert getattr(abi, f"{name}_{abi.ABI_VERSION}") is getattr(public, name)
    with pytest.raises(ImportError, match=rf"compiled for version 77 of tensix's ABI.*has version {abi.ABI_VERSION}"):
        getattr(abi, f"{name}_77")


@pytest.mark.parametrize("name", ["Tensor", "Tensor_", "Tensor_x", "DType_1", "nothing"])
def test_other_names_are_not_there(name):
    with pytest.raises(AttributeError, match=name):
        getattr(abi, name) if name != "Tensor" else abi.__getattr__(name)


if __name__ == "__main__":
    print(record(), end="")
