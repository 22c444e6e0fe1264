"""Random numbers: NumPy's streams, seeds, states, ranges, types, threads."""

import threading

import numpy as np
import pytest

import tensix
from tensix import Generator, Tensor, rand, randn
from tensix.testing import FailingAllocator


def numpys(seed):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (200, 200), (0, 3)])
def test_numbers_are_numpys(shape, dtype):
    uniform = rand(shape, dtype=dtype, generator=Generator(7))
    assert uniform.tolist() == numpys(7).random(shape, dtype).tolist()
    normal = randn(shape, dtype=dtype, generator=Generator(7))
    assert normal.tolist() == numpys(7).standard_normal(shape, dtype).tolist()
    assert uniform.dtype is normal.dtype is getattr(tensix, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ranges(dtype):
    uniform = np.array(rand(100_000, dtype=dtype, generator=Generator(1)).tolist())
    assert 0 <= uniform.min() < 0.001 and 0.999 < uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.01
    normal = np.array(randn(100_000, dtype=dtype, generator=Generator(1)).tolist())
    assert abs(normal.mean()) < 0.02 and abs(normal.std() - 1) < 0.02


def test_seed_of_the_default_generator():
    for make in (rand, randn):
        tensix.manual_seed(3)
        first, later = make(5).tolist(), make(5).tolist()
        tensix.manual_seed(3)
        assert make(5).tolist() == first != later
    assert isinstance(tensix.manual_seed(0), Generator)


def test_generators_do_not_disturb_each_other():
    tensix.manual_seed(3)
    expected = rand(4).tolist()
    tensix.manual_seed(3)
    rand(100, generator=Generator(5))
    assert rand(4).tolist() == expected


def test_without_a_seed_every_generator_differs():
    assert rand(4, generator=Generator()).tolist() != rand(4, generator=Generator()).tolist()
    generator = Generator(1)
    assert generator.manual_seed(2) is generator
    assert rand(3, generator=generator).tolist() == rand(3, generator=Generator(2)).tolist()


@pytest.mark.parametrize("drawn", [0, 1, 3])
def test_state(drawn):
    generator = Generator(9)
    rand(drawn, generator=generator)  # an odd count leaves half a word behind
    state = generator.get_state()
    first = rand(5, generator=generator).tolist()
    generator.set_state(state)
    assert rand(5, generator=generator).tolist() == first
    other = Generator(1)
    other.set_state(state)
    assert rand(5, generator=other).tolist() == first


@pytest.mark.parametrize("seed, error", [(-1, ValueError), ("a", (TypeError, ValueError)), (1.5, (TypeError,))])
def test_seed_that_is_none(seed, error):
    generator = Generator(4)
    for use in (Generator, generator.manual_seed):
        with pytest.raises(error):
            use(seed)
    assert rand(2, generator=generator).tolist() == rand(2, generator=Generator(4)).tolist()


@pytest.mark.parametrize("state", [None, {}, 5, {"bit_generator": "MT19937"}])
def test_state_that_is_none(state):
    generator = Generator(4)
    with pytest.raises((TypeError, ValueError, KeyError)):
        generator.set_state(state)
    assert rand(2, generator=generator).tolist() == rand(2, generator=Generator(4)).tolist()


@pytest.mark.parametrize("make", [rand, randn])
@pytest.mark.parametrize("dtype", ["int64", "bool", "float16", "complex64"])
def test_types_without_random_numbers(make, dtype):
    with pytest.raises(TypeError, match=f"fills float32 and float64 tensors, found {dtype}"):
        make(2, dtype=dtype)


@pytest.mark.parametrize("make", [rand, randn])
def test_generator_of_another_kind(make):
    with pytest.raises(TypeError):
        make(2, generator=np.random.default_rng(0))


@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_filling_a_view_touches_nothing_else(name):
    fill = tensix.dispatch.dispatcher.get_op_table(name)
    x = tensix.full((4, 6), -100.0)
    view = x[1:3, ::2]
    assert fill(view, Generator(5)) is view
    plain = fill(tensix.empty(2, 3), Generator(5))
    assert view.tolist() == plain.tolist() and (np.array(x.tolist()) == -100).sum() == 18
    assert fill(tensix.empty(2, 3), generator=Generator(5)).tolist() == plain.tolist()


@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_filling_respects_the_owner(name):
    fill = tensix.dispatch.dispatcher.get_op_table(name)
    x = tensix.zeros(3)
    clone = x.lazy_clone()
    fill(clone)
    assert x.tolist() == [0.0] * 3 and clone.data_ptr() != x.data_ptr()
    array = np.zeros(3)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        fill(tensix.from_numpy(array))
    assert array.tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fill, make", [(Tensor.uniform_, rand), (Tensor.normal_, randn)])
def test_methods_write_the_numbers_of_the_factories(fill, make, dtype):
    x = tensix.zeros(3, 4, dtype=dtype)
    assert fill(x, generator=Generator(7)) is x
    assert x.tolist() == make(3, 4, dtype=dtype, generator=Generator(7)).tolist()
    tensix.manual_seed(3)
    expected = make(4, dtype=dtype).tolist()
    tensix.manual_seed(3)
    assert fill(x[:, 0][:0]).tolist() == [] and fill(x.view(12)[:4]).tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fill, args, scale, shift", [
    (Tensor.uniform_, (-2, 3), 5, -2), (Tensor.normal_, (8, 3), 3, 8), (Tensor.uniform_, (1,), 0, 1),
])
def test_methods_scale_and_shift(fill, args, scale, shift, dtype):
    x = tensix.full((4, 6), -100.0, dtype=dtype)
    view = x[1:3, ::2]
    plain = fill(tensix.empty(2, 3, dtype=dtype), generator=Generator(5))
    assert fill(view, *args, generator=Generator(5)).tolist() == (plain * scale + shift).tolist()
    assert view.dtype is x.dtype and (np.array(x.tolist()) == -100).sum() == 18


@pytest.mark.parametrize("fill", [Tensor.uniform_, Tensor.normal_])
def test_methods_on_meta_and_read_only(fill):
    x = tensix.empty(2, 3, device="meta")
    assert fill(x, 1, 2) is x and x.shape == (2, 3)
    array = np.zeros(3)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        fill(tensix.from_numpy(array), 2, 3)
    assert array.tolist() == [0.0] * 3


@pytest.mark.parametrize("use, error", [
    (lambda x: x.uniform_(2, 1), ValueError), (lambda x: x.uniform_(0, np.inf), ValueError),
    (lambda x: x.uniform_(np.nan, 1), ValueError), (lambda x: x.normal_(0, -1), ValueError),
    (lambda x: x.normal_(0, np.nan), ValueError), (lambda x: x.uniform_("a", 1), TypeError),
    (lambda x: x.uniform_(generator=3), TypeError), (lambda x: x.normal_(generator=3), TypeError),
    (lambda x: x.view("int64").uniform_(1, 2), TypeError), (lambda x: x.view("int64").normal_(1, 2), TypeError),
])
def test_methods_that_cannot_fill_write_nothing(use, error):
    x = tensix.ones(3, dtype="float64")
    with pytest.raises(error):
        use(x)
    assert x.tolist() == [1.0] * 3


@pytest.mark.parametrize("count", [100, 40_000])
def test_eight_threads_share_a_generator(count):
    """They take turns call by call: together they get the numbers of one thread, in some order of the calls."""
    generator, found = Generator(11), []

    def work():
        found.extend(rand(count, dtype="float64", generator=generator) for _ in range(4))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = Generator(11)
    expected = [rand(count, dtype="float64", generator=alone).tolist() for _ in range(32)]
    assert sorted(x.tolist() for x in found) == sorted(expected)


# ---- integers


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_randint_reaches_both_ends(dtype):
    x = tensix.randint(3, 6, (40, 50), dtype=dtype)
    assert (x.shape, str(x.dtype)) == ((40, 50), dtype) and set(np.asarray(x).ravel().tolist()) == {3, 4, 5}
    limits = tensix.iinfo(dtype)
    assert tensix.randint(limits.min, limits.max + 1, 3, dtype=dtype).shape == (3,)


def test_randint_of_a_seed():
    first = tensix.randint(0, 1000, (5,), generator=tensix.Generator(3))
    assert first.tolist() == tensix.randint(0, 1000, 5, generator=tensix.Generator(3)).tolist()
    expected = np.random.Generator(np.random.PCG64(3)).integers(0, 1000, 5)
    assert first.tolist() == expected.tolist() and first.dtype is tensix.int64
    tensix.manual_seed(3)
    assert tensix.randint(0, 1000, 5).tolist() == first.tolist()


@pytest.mark.parametrize(("low", "high"), [(0, 9), (-3, 2), (5, 6), (0, 2**32 - 1), (0, 2**32), (-(2**63), 2**63)])
def test_randint_makes_what_numpy_makes(low, high):
    ours, theirs = tensix.Generator(5), np.random.Generator(np.random.PCG64(5))
    for shape in ((3,), (201, 203)):
        x = tensix.randint(low, high, shape, generator=ours)
        np.testing.assert_array_equal(x.numpy(), theirs.integers(low, high, shape))


def test_randint_from_zero():
    x = tensix.randint(3, (50,))
    assert sorted(set(x.tolist())) == [0, 1, 2] and tensix.randint(1, 4).tolist() == [0] * 4
    with pytest.raises(ValueError):
        tensix.randint(0, (2,))


def test_randint_on_meta_and_of_nothing():
    assert str(tensix.randint(0, 2, 3, device="meta").device) == "meta" and tensix.randint(0, 2, (0, 3)).shape == (0, 3)


@pytest.mark.parametrize("args, options, error", [
    ((5, 5, 2), {}, ValueError), ((5, 4, 2), {}, ValueError), ((0, 257, 2), {"dtype": "uint8"}, ValueError),
    ((-1, 2, 2), {"dtype": "uint8"}, ValueError), ((0, 2, 2), {"dtype": "float32"}, TypeError),
    ((0, 2.5, 2), {}, TypeError), ((0, 2, 2), {"generator": 3}, TypeError), ((0, 2, -1), {}, ValueError),
    ((0, 2, 2), {"dtype": "bool"}, TypeError),
])
def test_randint_that_cannot_be(args, options, error):
    with pytest.raises(error):
        tensix.randint(*args, **options)


def test_random_into_views_and_read_only():
    x = tensix.zeros(2, 3, dtype="int64")
    tensix.ops.tensix.random_(x[:, 1], 5, 6)
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]
    with pytest.raises(RuntimeError):
        tensix.ops.tensix.random_(tensix.asarray(b"ab"), 0, 2)


@pytest.mark.parametrize("fail_at", [1, 2, 3, 4])
@pytest.mark.parametrize("make", [lambda: tensix.full((6,), 7.0), lambda: tensix.full((6, 6), 7.0)[::2, 1:5:2]])
@pytest.mark.parametrize("fill", [lambda x: x.uniform_(2, 5), lambda x: x.normal_(100, 2)])
def test_without_memory_nothing_is_written(fill, make, fail_at):
    x = make()
    try:
        with tensix.use_allocator(FailingAllocator(fail_at=fail_at)):
            fill(x)
    except MemoryError:
        assert set(x.flatten().tolist()) == {7.0}
    else:
        assert fail_at > 2 and all(value != 7.0 and value >= 2 for value in x.flatten().tolist())


def test_integers_in_place_count_as_a_write():
    for x in (tensix.zeros(6, dtype=tensix.int64), tensix.zeros(6, dtype=tensix.int64)[::2]):
        before = x.version
        tensix.ops.tensix.random_(x, 0, 9)
        assert x.version == before + 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_like_a_tensor_are_those_of_the_factories(dtype):
    like = tensix.ones((3, 4), dtype=dtype)
    for name in ("rand", "randn"):
        made = getattr(tensix, f"{name}_like")(like, generator=Generator(7))
        assert made.tolist() == getattr(tensix, name)(3, 4, dtype=dtype, generator=Generator(7)).tolist()
        assert made.dtype is like.dtype and not made.is_alias_of(like)
    assert like.tolist() == [[1.0] * 4] * 3


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_integers_like_a_tensor(dtype):
    like = tensix.zeros((50, 50), dtype=dtype)
    made = tensix.randint_like(like, 3, generator=Generator(7))
    assert made.tolist() == tensix.randint(0, 3, (50, 50), dtype=dtype, generator=Generator(7)).tolist()
    assert made.dtype is like.dtype
    made = tensix.randint_like(like, 2, 5)
    assert (made.min().item(), made.max().item()) == (2, 4)


def test_numbers_like_a_tensor_of_another_type_or_device():
    like = tensix.zeros(2, 3, dtype="int64")
    assert tensix.rand_like(like, dtype="float64").dtype is tensix.float64
    assert tensix.randint_like(tensix.ones(2), 0, 9, dtype="int32").dtype is tensix.int32
    on_meta = tensix.randn_like(tensix.empty(2, 3, device="meta"))
    assert (on_meta.device.type, on_meta.shape) == ("meta", (2, 3))
    assert tensix.rand_like(tensix.ones(3, 2).T).shape == (2, 3)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: tensix.rand_like(tensix.tensor([1])), r"rand_like\(\) makes .* float32 or float64, found int64.*dtype="),
    (lambda: tensix.randn_like(tensix.ones(1) > 0), r"randn_like\(\) makes .*, found bool"),
    (lambda: tensix.randint_like(tensix.ones(1), 3), r"randint_like\(\) makes .* an integer type, found float32"),
    (lambda: tensix.rand_like([1.0]), "must be Tensor, found list"),
])
def test_numbers_like_what_they_cannot_be_like(make, text):
    with pytest.raises(TypeError, match=text):
        make()
    with pytest.raises(ValueError, match="range that is not empty"):
        tensix.randint_like(tensix.tensor([1]), 3, 3)
