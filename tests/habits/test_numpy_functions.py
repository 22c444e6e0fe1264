"""NumPy's functions called with tensors, and tensors handed to what is built on NumPy."""

import hashlib

import numpy as np
import pytest

import tensix
from tensix import Tensor


def both():
    array = np.arange(12, dtype="f4").reshape(3, 4)
    return tensix.tensor(array), array


CALLS = {
    "sin": lambda x, a: np.sin(x),
    "isfinite": lambda x, a: np.isfinite(x),
    "add": lambda x, a: np.add(x, a),
    "maximum": lambda x, a: np.maximum(x, 3),
    "fmax": lambda x, a: np.fmax(a, x),
    "sum": lambda x, a: np.sum(x),
    "mean": lambda x, a: np.mean(x, axis=0),
    "std": lambda x, a: np.std(x, axis=1, ddof=1),
    "argmax": lambda x, a: np.argmax(x),
    "reduce": lambda x, a: np.add.reduce(x, axis=1),
    "accumulate": lambda x, a: np.add.accumulate(x),
    "outer": lambda x, a: np.multiply.outer(x[0], a[1]),
    "where=": lambda x, a: np.add(x, a, where=x > 3, out=np.zeros((3, 4), "f4")),
    "where": lambda x, a: np.where(x > 3, x, -a),
    "clip": lambda x, a: np.clip(x, 2, 5),
    "dot": lambda x, a: np.dot(x, a.T),
    "concatenate": lambda x, a: np.concatenate([x, a, x]),
    "stack": lambda x, a: np.stack((x, x)),
    "median": lambda x, a: np.median(x),
    "norm": lambda x, a: np.linalg.norm(x),
    "einsum": lambda x, a: np.einsum("ij,kj->ik", x, a),
    "x + a": lambda x, a: x + a,
    "a + x": lambda x, a: a + x,
    "a - x": lambda x, a: a - x,
    "row * x": lambda x, a: a[0] * x,
    "2.5 * x": lambda x, a: np.float32(2.5) * x,
    "a < x": lambda x, a: a < x,
    "x == a": lambda x, a: x == a,
    "x @ a": lambda x, a: x @ a.T,
    "a @ x": lambda x, a: a @ x.T,
    "round": lambda x, a: np.round(x / 3, 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_numpys_and_tensors(name):
    x, a = both()
    found, expected = CALLS[name](x, a), CALLS[name](a, a)
    if name != "where=":  # what is written to is returned, as NumPy does
        assert isinstance(found, Tensor)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)


def test_functions_that_tensix_has_are_its_own():
    x, _ = both()
    with tensix.memory.statistics() as counted:
        np.sin(x)
    assert counted.total_bytes >= x.nbytes


def test_views_stay_views():
    x, _ = both()
    for view in np.reshape(x, (4, 3)), np.transpose(x), np.squeeze(x[None]), np.broadcast_to(x, (2, 3, 4)):
        assert isinstance(view, Tensor)
        assert view.is_alias_of(x)
    np.transpose(x)[0, 1] = 100
    assert x[1, 0] == 100
    assert np.split(x, 3)[1].is_alias_of(x)


def test_what_is_written_is_the_tensor_itself():
    x, a = both()
    assert np.add(x, a, out=x) is x
    assert np.cumsum(a[0], out=x[0]).tolist() == [0, 1, 3, 6]
    np.copyto(x, 7)
    np.add.at(x, ([0, 0], [1, 1]), 1)
    assert x[0].tolist() == [7, 9, 7, 7]
    array = a
    array += tensix.ones(3, 4)
    assert array is a
    assert a[0, 0] == 1
    before = x
    x += a
    x @= np.eye(4, dtype="f4")
    assert x is before


def test_writing_to_what_is_read_only_is_refused():
    x = tensix.asarray(b"abc")
    with pytest.raises(ValueError, match="read-only"):
        np.copyto(x, 1)


def test_no_function_that_reads_ends_copy_on_write():
    x, a = both()
    y = x.lazy_clone()
    np.sum(y), np.median(y), np.sin(y), np.reshape(y, -1), a + y
    assert x.is_cow()
    assert y.is_cow()


def test_answers_that_hold_no_elements_stay_what_they_are():
    x, a = both()
    assert np.shape(x) == (3, 4)
    assert np.allclose(x, a) is True
    assert np.result_type(x, "f8") == np.dtype("f8")
    values, vectors = np.linalg.eigh(x[:, :3])
    assert isinstance(values, Tensor)
    assert isinstance(vectors, Tensor)


def test_sparse_tensors_are_refused_in_words():
    with pytest.raises(TypeError, match="to_dense"):
        np.median(tensix.ones(2).to_sparse())


@pytest.mark.parametrize("shape", [(3, 4), (2,)])
def test_limits_of_an_axis_are_told_from_elements(shape):
    """As matplotlib does in ``plt.xlim(x[0], x[1])``."""
    low, high = tensix.rand(2)
    assert np.isfinite(low)
    assert not np.isnan(high)
    assert float(np.nextafter(low, high)) != float(low)


def test_images_are_read_as_pillow_reads_them():
    """`PIL.Image.fromarray` copies if there are strides, and reads the buffer of the object if there are none."""
    x = tensix.zeros((4, 6), dtype="u1")
    interface = x.__array_interface__
    assert interface.get("strides", None) is None
    assert (interface["shape"], interface["typestr"]) == ((4, 6), "|u1")
    assert bytes(x) == bytes(24)
    assert x.T.__array_interface__["strides"] == (1, 6)


def test_a_matrix_is_hashed_as_its_bytes():
    x, a = both()
    assert hashlib.sha256(x).digest() == hashlib.sha256(a.tobytes()).digest()
    assert hashlib.sha256(tensix.tensor(1.0)).digest() == hashlib.sha256(np.float32(1)).digest()
