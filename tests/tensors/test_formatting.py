"""The text of tensors."""

import time

import numpy as np
import pytest

import tensix


@pytest.mark.parametrize("data, options, text", [
    ([1.0, 2.5], {}, "tensor([1.0, 2.5])"), ([1.0, 2.0], {}, "tensor([1., 2.])"), (3.5, {}, "tensor(3.5)"),
    ([[1, 2], [3, 40]], {}, "tensor([[ 1,  2],\n        [ 3, 40]])"), ([True, False], {}, "tensor([ True, False])"),
    (7, {}, "tensor(7)"), ([1.0], {"dtype": tensix.float64}, "tensor([1.], dtype=tensix.float64)"),
    ([1], {"dtype": tensix.uint8}, "tensor([1], dtype=tensix.uint8)"), ([], {}, "tensor([])"),
    ([float("nan"), float("inf")], {}, "tensor([nan, inf])"),
    ([], {"dtype": tensix.int32}, "tensor([], dtype=tensix.int32)"),
    ([[]], {}, "tensor([], shape=(1, 0))"),
])
def test_text(data, options, text):
    assert repr(tensix.tensor(data, **options)) == str(tensix.tensor(data, **options)) == text


@pytest.mark.parametrize("dtype", [n for n in tensix.__all__ if isinstance(getattr(tensix, n), tensix.DType)])
def test_every_type_has_a_text(dtype):
    text = repr(tensix.empty(2, dtype=getattr(tensix, dtype)))
    assert text.startswith("tensor([") and (dtype in ("float32", "int64", "bool")) == ("dtype" not in text)


def test_read_only_is_said():
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    assert repr(tensix.from_numpy(array)) == "tensor([0., 0.], readonly=True)"


def test_undefined():
    assert repr(tensix.Tensor()) == "Tensor(undefined)"


def test_text_of_a_view_is_that_of_its_elements():
    x = tensix.tensor([[1, 2], [3, 4]])
    assert repr(x.T) == "tensor([[1, 3],\n        [2, 4]])" and repr(x[::-1, 0]) == "tensor([3, 1])"
    assert repr(x[0, 0].expand(3)) == "tensor([1, 1, 1])"


def test_large_tensor_is_cut():
    text = repr(tensix.zeros(100, 100))
    assert "..." in text and len(text) < 1000


def test_numpys_options_apply_except_the_precision():
    x = tensix.tensor([1.25, 2.0, 3.0, 1e-12])
    with np.printoptions(precision=1, suppress=True):
        assert repr(x[:3]) == "tensor([1.25, 2.00, 3.00])" and "e-12" not in repr(x)
    with np.printoptions(threshold=2, edgeitems=1, nanstr="?"):
        assert repr(x) == "tensor([1.25e+00, ..., 1.00e-12], shape=(4,))"
        assert repr(tensix.tensor(float("nan"))) == "tensor(  ?)"
    with np.printoptions(linewidth=20):
        assert repr(tensix.tensor([1, 2, 3, 4, 5])) == "tensor([1, 2, 3, 4,\n        5])"


def test_printing_neither_copies_nor_materializes():
    x = tensix.ones(1000, 1000)
    clone = x.lazy_clone()
    before = tensix.CPUAllocator.bytes_in_use()
    assert "..." in repr(clone) and clone.is_cow() and clone.data_ptr() == x.data_ptr()
    assert tensix.CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("shape, text", [
    ((3, 4), "tensor(..., device='meta', shape=(3, 4))"), ((), "tensor(..., device='meta', shape=())"),
    ((0,), "tensor(..., device='meta', shape=(0,))"), ((10**9, 10**6), "tensor(..., device='meta', shape=(1000000000, "
                                                                       "1000000))"),
])
def test_meta(shape, text):
    assert repr(tensix.empty(shape, device="meta")) == text
    assert repr(tensix.empty(2, device="meta", dtype=tensix.int64)).endswith("shape=(2,), dtype=tensix.int64)")


def test_sparse():
    x = tensix.sparse_coo_tensor([[0, 1], [2, 10]], [3.0, 44.5], (2, 13))
    assert repr(x) == (
        "tensor(indices=[[ 0,  1],\n                [ 2, 10]],\n       values=[ 3.0, 44.5],\n"
        "       shape=(2, 13), nnz=2, layout=tensix.sparse_coo)"
    )
    x = tensix.sparse_coo_tensor([[], []], [], (2, 0), dtype=tensix.float64)
    assert repr(x) == (
        "tensor(indices=[], shape=(2, 0),\n       values=[], shape=(0,),\n"
        "       shape=(2, 0), nnz=0, dtype=tensix.float64, layout=tensix.sparse_coo)"
    )
    many = tensix.ones(1, 5000).to_sparse()
    assert "..." in repr(many) and "nnz=5000" in repr(many)


@pytest.mark.parametrize("array", [
    np.arange(24.0).reshape(2, 3, 4), np.arange(64).reshape(2, 2, 2, 2, 2, 2), np.array([1 + 2j, -1.5j]),
    np.array([[True], [False]]), np.array([np.nan, -np.inf, 1e20]), np.arange(12)[::-2], np.array([0.1, -1e-9]),
    np.arange(5000), np.arange(20000.0).reshape(100, 200)[:, ::-1], np.zeros((2, 600, 2, 3), np.int8),
    np.arange(2000, dtype=np.uint8).reshape(1000, 2),
])
def test_numbers_stand_as_numpy_writes_them(array):
    text = repr(tensix.from_numpy(array))
    numbers = np.array2string(array, separator=", ", prefix="tensor(", precision=4, floatmode="maxprec_equal")
    assert text.startswith(f"tensor({numbers}") and max(map(len, text.splitlines())) <= 75
    assert ("..." in text) == (f"shape={array.shape}" in text) == (array.size > 1000)


def test_facts_go_on_a_line_of_their_own_where_the_last_one_is_full():
    x = tensix.tensor(np.full(9, 0.125))
    assert repr(x).splitlines()[-1] == "       dtype=tensix.float64)" and len(repr(x).splitlines()) == 2
    assert len(repr(x[:4]).splitlines()) == 1


def bfloat16(array):
    """Return a bfloat16 tensor with the upper halves of float32 numbers."""
    bits = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    storage = tensix.tensor(bits).storage()
    return tensix.Tensor.from_storage(storage, 0, array.shape, tensix.tensor(bits).stride(), tensix.bfloat16)


@pytest.mark.parametrize("shape", [(3,), (1500,), (7, 200), (1001, 2), (2, 8, 7, 20), ()])
def test_bfloat16_is_cut_like_other_types(shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 128).astype(np.float32).reshape(shape)
    text, other = repr(bfloat16(array)), repr(tensix.from_numpy(array))
    said = text.replace(",\n       shape", ", shape").replace(",\n       dtype", ", dtype")
    assert said.replace(", dtype=tensix.bfloat16", "") == other.replace(",\n       shape", ", shape")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_only_the_edges_of_a_large_tensor_are_read(dtype):
    """A gibibyte whose pages were never touched: reading it all would take as much memory."""
    resource = pytest.importorskip("resource")
    x = tensix.empty(2**28 if dtype == "float32" else 2**29, dtype=dtype)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    assert "..." in repr(x) and "..." in repr(x.view(2**10, -1).T)
    took = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert took < 1 and grown < 100_000  # kibibytes; on a free machine it takes a millisecond


@pytest.mark.parametrize("spec, text", [(".3f", "3.500"), ("", "3.5"), (">6", "   3.5")])
def test_a_number_is_formatted_as_one(spec, text):
    assert format(tensix.tensor(3.5), spec) == text


def test_other_tensors_have_no_format():
    x = tensix.tensor([1.0])
    assert f"{x}" == str(x)
    with pytest.raises(TypeError, match="without dimensions"):
        format(x, ".3f")
    with pytest.raises(TypeError, match="on meta"):
        format(tensix.empty((), device="meta"), ".3f")
    with pytest.raises(TypeError, match="'spec' must be of type str, found int"):
        tensix.tensor(3.5).__format__(3)
