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
    "bincount": lambda x, a: np.bincount([1, 2, 2, 0], x[0], 5),
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


OUTPUTS = {
    "dot": lambda a, o: np.dot(a, a, o),
    "cumsum": lambda a, o: np.cumsum(a, 0, None, o),
    "clip": lambda a, o: np.clip(a, 0, 1, o),
    "concatenate": lambda a, o: np.concatenate([a[:1], a[1:]], 0, o),
    "take": lambda a, o: np.take(a, [[0, 1], [2, 3]], None, o),
    "round": lambda a, o: np.round(a, 0, o),
    "outer": lambda a, o: np.outer(a[0], a[1], o),
    "outer, by name": lambda a, o: np.outer(a[0], a[1], out=o),
    "stack": lambda a, o: np.stack([a[0], a[1]], out=o),
    "fft": lambda a, o: np.fft.ifft(a, None, 0, None, o) if isinstance(o, Tensor) else np.fft.ifft(a, axis=0),
    "isposinf": lambda a, o: np.isposinf(a, o),
    "sum": lambda a, o: np.sum(a[None], 0, None, o),
    "add": lambda a, o: np.add(a, a, o),
    "reduce": lambda a, o: np.add.reduce(a[None], 0, None, o),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_one_by_position_and_by_name(name):
    a = np.float32([[1, 2.5], [-3, 4]])
    dtype = {"isposinf": "bool", "fft": "complex64"}.get(name, "float32")
    expected = OUTPUTS[name](a, np.empty((2, 2), dtype))
    out = tensix.empty(2, 2, dtype=dtype)
    assert OUTPUTS[name](tensix.tensor(a), out) is out
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


def test_functions_that_write_to_their_first_argument_by_its_name():
    x = tensix.zeros(2, 2)
    np.copyto(src=tensix.ones(2, 2), dst=x)
    np.put(a=x, ind=[0], v=9)
    np.putmask(x, mask=x == 9, values=7)
    np.place(arr=x, mask=x == 7, vals=[5])
    assert x.tolist() == [[5, 1], [1, 1]]
    np.fill_diagonal(a=x, val=0)
    np.put_along_axis(arr=x, indices=np.array([[0], [0]]), values=3, axis=1)
    assert x.tolist() == [[3, 1], [3, 0]]


@pytest.mark.parametrize("ufunc", [np.modf, np.frexp, np.divmod])
def test_outputs_that_are_not_given_are_made(ufunc):
    a = np.float32([1.5, -2.75])
    more = (2,) if ufunc is np.divmod else ()
    expected = ufunc(a, *more)
    for given in (0, 1):
        out = [None, None]
        out[given] = tensix.from_numpy(np.empty_like(expected[given]))
        found = ufunc(tensix.tensor(a), *more, out=tuple(out))
        assert found[given] is out[given]
        assert isinstance(found[1 - given], Tensor)
        for one, other in zip(found, expected, strict=True):
            assert one.tolist() == other.tolist()
            assert one.dtype == other.dtype


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
