"""The safetensors library reads what tensix writes and the other way round, and both refuse the same files."""

import json

import ml_dtypes  # noqa: F401 - the library asks NumPy for bfloat16 by its name
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

TYPES = ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8")
ARRAYS = {name: (np.arange(12).reshape(3, 4) % 3).astype(name) for name in TYPES}
ARRAYS |= {"empty": np.zeros((0, 3), "f4"), "scalar": np.array(2.5), "long": np.arange(1001), "odd": np.ones(7, "u1")}
METADATA = {"format": "np", "ä€": ""}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "x.safetensors"


def test_they_read_ours(path):
    tensix.save(path, ARRAYS, metadata=METADATA)
    found = safetensors.numpy.load_file(path)
    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)
    with safetensors.safe_open(path, "np") as file:
        assert file.metadata() == METADATA


def test_we_read_theirs(path):
    safetensors.numpy.save_file(ARRAYS, path, METADATA)
    with tensix.load(path) as file:
        assert set(file) == set(ARRAYS) and file.metadata == METADATA
        for name, array in ARRAYS.items():
            assert file[name].dtype.numpy == array.dtype
            np.testing.assert_array_equal(np.asarray(file[name]), array)


def test_bfloat16(path):
    x = tensix.astype(tensix.linspace(-3, 3, 17), tensix.bfloat16)
    tensix.save(path, {"x": x})
    found = safetensors.numpy.load_file(path)["x"]
    assert found.dtype.name == "bfloat16" and found.astype("f4").tolist() == x.tolist()
    safetensors.numpy.save_file({"x": found}, path)
    assert tensix.load(path)["x"].tolist() == x.tolist() and tensix.load(path)["x"].dtype == tensix.bfloat16


NUMBER = st.one_of(st.integers(-2, 40), st.sampled_from([2**31, 2**63, 2**64, 1.0, True, None, "1"]))
ENTRY = st.fixed_dictionaries({
    "dtype": st.sampled_from(["U8", "F32", "F16", "F4", "F8_E4M3", "F99", "f32", None, 3]),
    "shape": st.lists(NUMBER, max_size=3),
    "data_offsets": st.lists(NUMBER, min_size=1, max_size=3),
})  # fmt: skip


def good_header(sizes, shift):
    """Return a header that is right, unless `shift` moves the last tensor."""
    header, end = {}, 0
    for i, size in enumerate(sizes):
        begin, end = end, end + size
        move = shift if i == len(sizes) - 1 else 0
        header[f"t{i}"] = {"dtype": "U8", "shape": [size], "data_offsets": [begin + move, end + move]}
    return header


HEADER = st.one_of(
    st.dictionaries(st.text(max_size=3), ENTRY, max_size=3),
    st.builds(good_header, st.lists(st.integers(0, 9), max_size=4), st.integers(-1, 1)),
)


@settings(max_examples=500, deadline=None)
@given(HEADER, st.integers(0, 40), st.sampled_from([b"", b" ", b"\n", b"x"]))
def test_both_take_the_same_headers(path, header, nbytes, behind):
    text = json.dumps(header).encode() + behind
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(nbytes))
    assert is_taken(tensix.load, path) == is_taken(lambda path: safetensors.safe_open(path, "np"), path)


def is_taken(opened, path):
    try:
        with opened(path):
            return True
    except (tensix.FileFormatError, safetensors.SafetensorError):
        return False
