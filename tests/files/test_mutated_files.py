"""Files with a few bytes changed, lost or added: the documented exceptions or a tensor, never a crash or a leak."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix import FileFormatError, load, save
from tensix.core import OutOfMemoryError

ROWS = tensix.arange(6, dtype="float32").reshape(2, 3)
TENSORS = {"a": ROWS, "b": tensix.arange(4) % 2 == 0, "c": tensix.zeros(0, 3)}
KINDS = {".npy": {}, ".npz": {}, ".packed.npz": {"compress": True}, ".safetensors": {"metadata": {"a": "b"}}}


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return a folder, and the bytes of one good file of each kind."""
    folder, contents = tmp_path_factory.mktemp("mutated"), {}
    for suffix, options in KINDS.items():
        path = folder / f"x{suffix}"
        save(path, ROWS.T if suffix == ".npy" else TENSORS, **options)
        contents[suffix] = path.read_bytes()
    return folder, contents


BYTES = st.one_of(
    st.binary(min_size=1, max_size=8),
    st.sampled_from([b"\xff" * 4, b"\xff" * 8, bytes(8), b"\x7f" + b"\xff" * 7]),
    st.sampled_from([b"9", b"-1", b"e9", b"[", b'"', b"{", b"(", b","]),
)
PLACE = st.floats(0, 1, exclude_max=True).map(lambda x: x * x * x)  # mostly the header
MUTATION = st.tuples(st.sampled_from(["overwrite", "insert", "delete", "cut", "double"]), PLACE, BYTES)


def mutated(content, mutations):
    for what, where, new in mutations:
        at = int(where * len(content))
        if what == "overwrite":
            content = content[:at] + new + content[at + len(new) :]
        elif what == "insert":
            content = content[:at] + new + content[at:]
        elif what == "delete":
            content = content[:at] + content[at + len(new) :]
        elif what == "cut":
            content = content[:at]
        else:
            content = content[: at + len(new)] + content[at:]
    return content


def use(x):
    """Touch every element, in ways that would run out of bounds if shape, type or values were not what they seem."""
    x.clone()
    x.tolist()
    tensix.count_nonzero(x)
    if x.ndim:
        tensix.nonzero(x)
    if x.dtype == tensix.bool:
        assert len(tensix.ones(*x.shape)[x]) == int(tensix.count_nonzero(x))


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("mode", ["r", "c", None])
@settings(max_examples=80, deadline=None)
@given(st.lists(MUTATION, min_size=1, max_size=3))
def test_mutated_file(originals, suffix, mode, mutations):
    folder, contents = originals
    path = folder / f"mutated{suffix}"
    path.write_bytes(mutated(contents[suffix], mutations))
    before = len(os.listdir("/proc/self/fd"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about headers of Python 2 and strange NaNs
        try:
            loaded = load(path, mode)
        except FileFormatError as error:
            assert path.name in str(error)
            loaded = {}
        except TypeError as error:
            assert "not an element type of tensix" in str(error)
            loaded = {}
        for name in list(loaded) if isinstance(loaded, dict) else [None]:
            try:
                use(loaded if name is None else loaded[name])
            except (FileFormatError, OutOfMemoryError):
                pass
            except TypeError as error:
                assert "not an element type of tensix" in str(error)
    del loaded
    assert len(os.listdir("/proc/self/fd")) == before
    with open("/proc/self/maps") as maps:
        assert path.name not in maps.read()


def test_bytes_that_are_no_bools(tmp_path):
    """NumPy writes 0 and 1; what a hostile file holds is true, and counts once."""
    np.save(tmp_path / "x.npy", np.arange(256, dtype="u1"))
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(content.replace(b"'|u1'", b"'|b1'"))
    mask = load(tmp_path / "x.npy")
    assert mask.dtype == tensix.bool and int(tensix.count_nonzero(mask)) == 255
    assert len(tensix.nonzero(mask)[0]) == len(tensix.arange(256)[mask]) == len(tensix.argwhere(mask)) == 255
    x = tensix.zeros(256)
    x[mask] = 1
    assert mask.sum().item() == 255 and (mask + 1).max().item() == 2 and tensix.cumulative_sum(mask)[-1].item() == 255
    for dtype in ("uint8", "int64", "float32", "float64", "complex64", "bfloat16", "float16"):
        assert tensix.unique_values(tensix.astype(mask, dtype)).tolist() == [0, 1]
    assert x.sum().item() == 255 and tensix.where(mask, 1, 0).sum().item() == 255
    assert len(tensix.unique_values(mask)) <= 256 and bool(tensix.any(mask)) and not bool(tensix.all(mask))
