"""Tensors as chunks of Dask arrays."""

import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from dask.array.dispatch import percentile_lookup
from dask.sizeof import sizeof
from dask.tokenize import tokenize
from distributed.protocol import deserialize, serialize
from distributed.spill import SpillBuffer

import tensix
from tensix.files.dask_spill import MapSpilled


@pytest.fixture
def pair():
    array = np.arange(24.0).reshape(4, 6)
    return array, da.from_array(tensix.from_numpy(array), chunks=(2, 3))


@pytest.mark.parametrize("function", [
    lambda a: a, lambda a: a + a, lambda a: a * 2 - 1, lambda a: a[1:3, ::2], lambda a: -a,
    lambda a: a.rechunk((4, 2)) if isinstance(a, da.Array) else a, lambda a: a > 5,
])  # fmt: skip
def test_same_as_numpy(pair, function):
    array, chunked = pair
    found = function(chunked).compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor) and found.tolist() == function(array).tolist()


class Arrays:
    """Dask arrays of three inputs, their chunks made by a function of NumPy's arrays."""

    def __init__(self, make):
        rng = np.random.default_rng(0)
        numbers = rng.normal(size=(12, 10))
        self.x = da.from_array(make(numbers), chunks=(4, 5))
        self.v = da.from_array(make(numbers[:, 0].copy()), chunks=4)
        self.i = da.from_array(make(rng.integers(0, 9, (12, 10))), chunks=(4, 5))


def after_writing(x):
    x = x.copy()
    x[2:4] = 7
    x[x > 1] = 0
    return x


RANGES = ((-3, 3), (-3, 3))

# Functions of dask.array on chunks of tensors; each gives what it gives on chunks of NumPy's arrays.
GROUPS = {
    "reductions": [
        *[lambda a, f=f: f(a.x) for f in (da.sum, da.prod, da.mean, da.std, da.var, da.min, da.max, da.any, da.all,
                                          da.argmin, da.argmax, da.ptp, da.linalg.norm, da.average, da.count_nonzero)],
        *[lambda a, f=f: f(a.x, axis=0) for f in (da.sum, da.prod, da.mean, da.std, da.var, da.min, da.max, da.any,
                                                  da.all, da.argmin, da.argmax, da.median, da.ptp, da.linalg.norm)],
        *[lambda a, f=f: f(a.x, axis=1, keepdims=True) for f in (da.sum, da.prod, da.mean, da.std, da.var, da.min,
                                                                 da.max, da.any, da.all, da.median, da.nanmedian)],
        *[lambda a, f=f: f(a.x, axis=1) for f in (da.nansum, da.nanprod, da.nanmean, da.nanstd, da.nanvar, da.nanmin,
                                                  da.nanmax, da.nanargmin, da.nanargmax, da.nanmedian)],
        *[lambda a, f=f: f(a.x, axis=0) for f in (da.cumsum, da.cumprod, da.nancumsum, da.nancumprod)],
        lambda a: da.std(a.x, ddof=1), lambda a: a.x.std(axis=(0, 1)), lambda a: da.moment(a.x, 3),
        lambda a: da.quantile(a.x, [0.25, 0.5], axis=0), lambda a: da.quantile(a.x, 0.5, axis=1),
        lambda a: da.nanquantile(a.x, 0.5, axis=1), lambda a: da.nanpercentile(a.x, 50, axis=1),
        lambda a: da.percentile(a.v, [25, 50]), lambda a: da.average(a.x, axis=0, weights=a.v),
        lambda a: da.reduction(a.x, np.sum, np.sum, axis=0, dtype="f8"), lambda a: a.x.astype("f4").sum(),
        lambda a: np.std(a.x, axis=0), lambda a: da.topk(a.v, 3), lambda a: da.argtopk(a.v, 3), lambda a: da.cov(a.x),
        lambda a: da.corrcoef(a.x), lambda a: da.apply_over_axes(da.sum, a.x, [0]),
        lambda a: da.apply_along_axis(np.sum, 0, a.x), lambda a: da.coarsen(np.sum, a.x, {0: 2, 1: 5}),
    ],
    "elementwise": [
        *[lambda a, f=f: f(a.x) for f in (
            da.absolute, da.arctan, da.cbrt, da.ceil, da.conj, da.cos, da.cosh, da.deg2rad, da.exp, da.exp2, da.expm1,
            da.fabs, da.floor, da.isfinite, da.isinf, da.isnan, da.log1p, da.negative, da.positive, da.rad2deg, da.rint,
            da.sign, da.signbit, da.sin, da.sinh, da.spacing, da.sqrt, da.square, da.tan, da.tanh, da.trunc, da.real,
            da.imag, da.angle, da.fix, da.i0, da.sinc, da.nan_to_num, da.isneginf, da.isreal, da.iscomplex,
            da.logical_not, da.isnull, da.notnull,
        )],
        *[lambda a, f=f: f(a.x, a.x) for f in (
            da.add, da.arctan2, da.copysign, da.divide, da.equal, da.float_power, da.floor_divide, da.fmax, da.fmin,
            da.fmod, da.greater, da.hypot, da.less, da.logaddexp, da.logical_and, da.logical_or, da.maximum, da.minimum,
            da.multiply, da.nextafter, da.not_equal, da.remainder, da.subtract, da.isclose,
        )],
        *[lambda a, f=f: f(a.i, a.i) for f in (da.bitwise_and, da.bitwise_or, da.bitwise_xor, da.left_shift,
                                               da.right_shift, da.floor_divide)],
        lambda a: da.frexp(a.x)[0], lambda a: da.modf(a.x)[1], lambda a: da.divmod(a.x, 2)[0], lambda a: a.x**2,
        lambda a: da.clip(a.x, -1, 1), lambda a: da.round(a.x, 1), lambda a: (a.x > 0) & (a.i > 3),
        lambda a: ~(a.x > 0), lambda a: np.ones((12, 10)) + a.x, lambda a: a.x + np.ones((12, 10)),
        lambda a: da.where(a.x > 0, a.x, 0),
        lambda a: da.where(a.x > 0, a.x, -a.x), lambda a: da.select([a.x > 0, a.x < -1], [a.x, a.x * 2], 0),
        lambda a: da.choose(a.i % 2, [a.x, -a.x]), lambda a: da.digitize(a.x, np.array([-1.0, 0, 1])),
        lambda a: da.piecewise(a.x, [a.x < 0, a.x >= 0], [lambda x: -x, lambda x: x]), lambda a: da.isin(a.i, [1, 2]),
        lambda a: da.allclose(a.x, a.x), lambda a: a.x.astype("f4"), lambda a: a.i.view("f8"),
        lambda a: a.x.map_blocks(lambda b: b * 2),
        lambda a: a.x.map_overlap(lambda b: b + 1, depth=1, boundary="reflect"),
        lambda a: da.blockwise(lambda p, q: p + q, "ij", a.x, "ij", a.x, "ij", dtype="f8"),
        *[lambda a, f=f: f(a.x) for f in (da.zeros_like, da.ones_like, lambda x: da.full_like(x, 3))],
    ],
    "shapes": [
        *[lambda a, f=f: f(a.x) for f in (da.transpose, da.ravel, da.flipud, da.fliplr, da.diagonal, da.tril, da.triu,
                                          da.rot90, da.atleast_3d, da.squeeze)],
        *[lambda a, f=f: f([a.x, -a.x]) for f in (da.concatenate, da.stack, da.vstack, da.hstack, da.dstack)],
        lambda a: da.block([[a.x, a.x]]), lambda a: da.append(a.x, a.x, axis=0),
        lambda a: da.insert(a.x, [1], 0, axis=0), lambda a: da.delete(a.x, [1], axis=0),
        lambda a: da.repeat(a.x, 2, axis=0), lambda a: da.tile(a.x, (2, 1)),
        *[lambda a, mode=mode: da.pad(a.x, 2, mode=mode) for mode in ("constant", "edge", "reflect", "mean")],
        lambda a: a.x.reshape(120), lambda a: a.x.swapaxes(0, 1), lambda a: da.moveaxis(a.x, 0, 1),
        lambda a: da.rollaxis(a.x, 1), lambda a: da.roll(a.x, 3, axis=0), lambda a: da.expand_dims(a.x, 0),
        lambda a: da.broadcast_to(a.x, (2, 12, 10)), lambda a: da.flip(a.x, 0), lambda a: da.diag(a.v),
        lambda a: a.x.rechunk((3, 7)), lambda a: da.diff(a.x, axis=0), lambda a: da.ediff1d(a.v),
        lambda a: da.gradient(a.v), lambda a: da.lib.stride_tricks.sliding_window_view(a.v, 3),
    ],
    "indices": [
        *[lambda a, f=f: f(a.i) for f in (da.unique, da.argwhere, da.flatnonzero, lambda i: da.nonzero(i)[0],
                                          lambda i: da.unique(i, return_counts=True)[1])],
        lambda a: a.x[[0, 3, 5]], lambda a: a.x[a.x > 0], lambda a: a.x[a.v > 0], lambda a: a.x.vindex[[0, 1], [2, 3]],
        lambda a: after_writing(a.x), lambda a: da.take(a.x, [0, 5, 3], axis=0), lambda a: da.extract(a.x > 0, a.x),
        lambda a: da.compress([True] * 6 + [False] * 6, a.x, axis=0), lambda a: da.union1d(a.i[:, 0], a.i[:, 1]),
        lambda a: da.searchsorted(a.v.cumsum(axis=0) ** 2 * 0 + 1, a.v), lambda a: da.bincount(a.i[:, 0], minlength=9),
        lambda a: da.bincount(a.i[:, 0], weights=a.v, minlength=9),
        lambda a: da.histogram(a.x, bins=5, range=(-3, 3))[0],
        lambda a: da.histogram2d(a.v, a.v, bins=5, range=RANGES)[0],
        lambda a: da.histogramdd(a.x[:, :2].rechunk((4, 2)), bins=(3, 3), range=RANGES)[0],
        lambda a: da.unravel_index(a.i[:, 0], (3, 3))[0], lambda a: da.shuffle(a.x, [[0, 3], [1, 2]], axis=0),
    ],
    "linear algebra": [
        lambda a: da.dot(a.x, a.x.T), lambda a: a.x @ a.x.T, lambda a: da.tensordot(a.x, a.x, axes=([0, 1], [0, 1])),
        lambda a: da.vdot(a.v, a.v), lambda a: da.outer(a.v, a.v), lambda a: da.einsum("ij,kj->ik", a.x, a.x),
        lambda a: da.linalg.qr(a.x.rechunk((4, 10)))[1], lambda a: da.linalg.svd(a.x.rechunk((4, 10)))[1],
        lambda a: da.linalg.tsqr(a.x.rechunk((4, 10)))[1], lambda a: da.fft.fft(a.x.rechunk((12, 10))),
        lambda a: da.fft.rfft(a.x.rechunk((12, 10))), lambda a: da.fft.fftshift(a.x),
    ],
}  # fmt: skip


def test_how_many_functions_are_tried():
    """What the pages say."""
    assert {group: len(functions) for group, functions in GROUPS.items()} == {
        "reductions": 73, "elementwise": 100, "shapes": 39, "indices": 22, "linear algebra": 12,
    }  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_functions_of_dask_are_those_on_chunks_of_numpy(group):
    percentile_lookup.register(tensix.Tensor, percentile_lookup.dispatch(np.ndarray))
    tensors, arrays = Arrays(tensix.from_numpy), Arrays(np.asarray)
    with dask.config.set(scheduler="synchronous"), np.errstate(all="ignore"):
        for function in GROUPS[group]:
            found, expected = function(tensors), function(arrays)
            if isinstance(expected, list):  # of gradient along one axis
                found, expected = found[0], expected[0]
            assert found.dtype == expected.dtype
            found, expected = found.compute(), expected.compute()
            assert np.asarray(found).dtype == expected.dtype
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)


def test_functions_over_chunks(pair):
    array, chunked = pair
    found = chunked.map_blocks(tensix.exp, meta=chunked._meta).compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor)
    np.testing.assert_allclose(np.asarray(found), np.exp(array))


def test_functions_of_tensix_as_reductions(pair):
    array, chunked = pair
    total = da.reduction(chunked, tensix.sum, tensix.sum, axis=0, dtype=tensix.float64, meta=chunked._meta)
    found = total.compute(scheduler="threads")
    assert isinstance(found, tensix.Tensor) and found.tolist() == array.sum(0).tolist()


def test_chunks_made_where_they_are_used():
    """The whole is never in memory."""
    chunks = [da.from_delayed(dask.delayed(tensix.full)((1000,), float(i)), (1000,), meta=tensix.empty(0))
              for i in range(10)]  # fmt: skip
    whole = da.concatenate(chunks)
    assert whole.sum().compute().item() == 45000


def test_dask_counts_the_memory_of_tensors():
    """By tensix's entry point, which imports nothing until a tensor is there."""
    x = tensix.ones(1000, 1000)
    storage = x.storage()
    view = x[::2]
    for some, nbytes in ((storage, x.nbytes), (view, x.nbytes // 2), (x[0], 4000), (x[0].expand(9, 1000), 4000)):
        assert 0 <= sizeof(some) - nbytes < 1000
    assert sizeof.dispatch(tensix.Tensor) is sizeof.dispatch(tensix.Storage) is not sizeof.dispatch(object)
    total = x.nbytes + 4000
    for several in ([x, x[0]], (x, x[0]), {"a": x, "b": [x[0]]}):
        assert 0 <= sizeof(several) - total < 2000
    many = [tensix.ones(1000) for _ in range(100)]  # of which Dask looks at ten
    assert 0 <= sizeof(many) - 400_000 < 100_000


def test_dask_loads_no_tensix_by_itself():
    program = "import sys, dask.sizeof; print([name in sys.modules for name in ('dask_tensix', 'tensix')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "[True, False]\n"


def test_between_processes():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:  # fmt: skip
        x = tensix.arange(10)
        there = client.scatter(x)
        found = client.submit(lambda x: x.T + 1, there).result()
        assert isinstance(found, tensix.Tensor) and found.tolist() == list(range(1, 11))
        frozen = tensix.asarray(b"ab")
        assert client.submit(lambda x: (x.readonly, x.tolist()), frozen).result() == (True, [97, 98])


def test_a_worker_spills_tensors_to_disk(tmp_path):
    """Ten tensors of 4 MB, of which a worker's buffer keeps those that fit in 20 MB."""
    buffer = SpillBuffer(str(tmp_path), target=20_000_000)
    for i in range(10):
        buffer[i] = tensix.full((1000, 1000), float(i))
    assert len(buffer.memory) == 4
    assert len(buffer.disk) == 6
    assert [buffer[i][0, 0].item() for i in range(10)] == list(range(10))


def buffer_that_maps(tmp_path):
    buffer = SpillBuffer(str(tmp_path), target=20_000_000)
    MapSpilled().setup(SimpleNamespace(data=buffer))
    return buffer


def is_mapped_from(address, folder):
    """Whether an address is in a mapping of a file in a folder."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return str(folder) in line
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is mapped")
@pytest.mark.parametrize("make", [tensix.from_numpy, np.asarray], ids=["tensor", "array"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "c16"])
def test_a_spilled_chunk_comes_back_as_a_map(tmp_path, make, dtype):
    """Random numbers, which Dask does not compress; a chunk can be written, and files that are back are gone."""
    buffer = buffer_that_maps(tmp_path)
    arrays = [np.random.default_rng(i).integers(0, 256, 4_000_000, "u1").view(dtype).reshape(-1, 10)
              for i in range(10)]  # fmt: skip
    for i, array in enumerate(arrays):
        buffer[i] = make(array.copy())
    assert len(buffer.disk) >= 5
    for i in range(5):
        found = buffer[i]
        address = found.data_ptr() if make is tensix.from_numpy else found.ctypes.data
        assert is_mapped_from(address, tmp_path) and address % 64 == 0
        assert np.asarray(found).tobytes() == arrays[i].tobytes()
        found[0, 0] = 7
        assert np.asarray(found)[0, 0] == 7 and np.asarray(found)[1:].tobytes() == arrays[i][1:].tobytes()


def test_what_else_a_worker_spills_comes_back(tmp_path):
    buffer = buffer_that_maps(tmp_path)
    some = {
        "zeros": tensix.zeros(1_000_000), "bytes": bytes(5_000_000), "several": [tensix.arange(800_000), "text", 3],
        "small": tensix.ones(3), "strided": tensix.arange(1_000_000).reshape(1000, 1000).T, "empty": tensix.empty(0),
    }  # fmt: skip
    for key, value in some.items():
        buffer[key] = value
    while buffer.fast:
        buffer.evict()
    assert buffer["zeros"].sum().item() == 0 and buffer["bytes"] == bytes(5_000_000)
    assert buffer["several"][0].sum().item() == 799_999 * 400_000 and buffer["several"][1:] == ["text", 3]
    assert buffer["small"].tolist() == [1, 1, 1] and buffer["empty"].numel() == 0
    assert buffer["strided"].stride() == (1, 1000) and buffer["strided"][3, 5].item() == 5003


def test_workers_map_what_they_spill():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="400MB"
    ) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(MapSpilled())
        rng = np.random.default_rng(0)
        kept = [client.submit(lambda i, rng: tensix.from_numpy(rng.random(4_000_000)) + i, i, rng) for i in range(10)]
        distributed.wait(kept)
        assert client.run(lambda dask_worker: len(dask_worker.data.disk)).popitem()[1] > 0
        first = rng.random(4_000_000)[0]
        assert [client.submit(lambda x: x[0].item(), one).result() for one in kept] == [first + i for i in range(10)]


def test_tokens():
    """Of the elements and the strides, without a copy of the elements."""
    x = tensix.arange(1_000_000).reshape(1000, 1000)
    token = tokenize(x)
    assert token == tokenize(tensix.arange(1_000_000).reshape(1000, 1000)) == tokenize(x.clone())
    assert len({token, tokenize(x + 1), tokenize(x.T), tokenize(x.reshape(-1)), tokenize(x.view(tensix.float64))}) == 5
    clone = x.lazy_clone()
    tracemalloc.start()
    with tensix.memory.statistics() as counted:
        assert tokenize(x) == tokenize(clone) == token
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 and counted.peak_bytes == 0  # the elements are 8 MB
    clone[0, 0] = 1
    assert tokenize(x) == token != tokenize(clone)


TOKENS = """
import tensix
from dask.tokenize import tokenize

frozen = tensix.asarray(bytes(range(8)))
for one, other in (
    (frozen, frozen.clone()), (tensix.arange(10)[::2], tensix.arange(0, 10, 2)), (tensix.tensor(3.0),) * 2,
    (tensix.ones(3, dtype=tensix.bfloat16), tensix.ones(4, dtype=tensix.bfloat16)[1:]), (tensix.Tensor(),) * 2,
    (tensix.eye(3).to_sparse(), tensix.eye(3).to_sparse()), (tensix.empty(3, device="meta"),) * 2,
    (tensix.empty(0), tensix.ones(3)[3:]),
):
    assert tokenize(one, ensure_deterministic=True) == tokenize(other)
    print(tokenize(one))
"""


def test_tokens_of_all_kinds_are_those_of_another_process():
    run = [subprocess.run([sys.executable, "-c", TOKENS], capture_output=True, text=True, timeout=100, check=True)
           for _ in range(2)]  # fmt: skip
    tokens = run[0].stdout.split()
    assert run[1].stdout.split() == tokens and len({*tokens}) == len(tokens) == 8


def test_frames_of_a_message_are_the_bytes_of_the_tensor():
    x = tensix.arange(1_000_000)
    header, frames = serialize(x)
    big = max(frames, key=len)
    assert np.frombuffer(big, "i8").ctypes.data == x.data_ptr()
    assert deserialize(header, frames).data_ptr() == x.data_ptr()


def test_chunks_are_kept_moved_and_stored(tmp_path):
    """By a cluster: persist, rechunk, map_overlap, and to_zarr."""
    zarr = pytest.importorskip("zarr")
    array = np.random.default_rng(0).random((60, 40))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster, \
            distributed.Client(cluster):  # fmt: skip
        x = da.from_array(tensix.from_numpy(array), chunks=(20, 40), asarray=False)
        kept = (x + 1).persist()
        assert isinstance(kept.blocks[0, 0].compute(), tensix.Tensor)
        moved = kept.rechunk((60, 10))
        np.testing.assert_array_equal(np.asarray(moved.compute()), array + 1)
        spread = x.map_overlap(lambda b: b * 2, depth=1, boundary="none")
        np.testing.assert_array_equal(np.asarray(spread.compute()), array * 2)
        x.map_blocks(np.asarray).to_zarr(str(tmp_path / "x.zarr"))  # which views chunks as types of no numbers
        np.testing.assert_array_equal(zarr.open(str(tmp_path / "x.zarr"))[:], array)
