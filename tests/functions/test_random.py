"""Random numbers: the documented stream, seeds, states, ranges, types, threads."""

import hashlib
import threading

import numpy as np
import pytest

import tensix
from tensix import Generator, Tensor, rand, randint, randn
from tensix.testing import FailingAllocator


def words(seed, group):
    """Return the 256 words of a group, as Note [Random numbers] describes them."""
    counter = np.arange(64 * group, 64 * group + 64, dtype=np.uint64)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b = counter & mask, counter >> half
    c, d = (np.full(64, part, np.uint64) for part in (seed >> 64 & 0xFFFFFFFF, seed >> 96))
    keys = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for step in range(10):
        p, q = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        steps = zip(keys, (0x9E3779B9, 0xBB67AE85), strict=True)
        key, key2 = [np.uint64((key + step * add) & 0xFFFFFFFF) for key, add in steps]
        a, b, c, d = (q >> half) ^ b ^ key, q & mask, (p >> half) ^ d ^ key2, p & mask
    return np.concatenate([a, b, c, d])


def test_words_are_those_of_philox():
    """The answers that the authors of Philox publish for their own code (Random123, ``kat_vectors``)."""
    of_zeros = words(0, 0)[::64].tolist()
    assert of_zeros == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, 2**127 + 5])
def test_numbers_are_those_of_the_documented_stream(seed):
    first, second = words(seed, 0), words(seed, 1)
    generator = Generator(seed)
    found = rand(300, generator=generator).numpy()
    np.testing.assert_array_equal(found, np.float32(np.concatenate([first, second])[:300] >> np.uint64(8)) * 2.0**-24)
    w = words(seed, 2)
    found = rand(100, dtype="float64", generator=generator).numpy()
    expected = ((w[:100] >> np.uint64(5)) * 2.0**26 + (w[128:228] >> np.uint64(6))) * 2.0**-53
    np.testing.assert_array_equal(found, expected)
    w = words(seed, 3)
    radius = np.sqrt(-2 * np.log(((w[:128] >> np.uint64(1)) + 0.5) * 2.0**-31))
    turns = (w[128:] >> np.uint64(30)) + (w[128:].astype("u4") << 2).view("i4") * 2.0**-32
    expected = np.concatenate([radius * np.cos(turns * np.pi / 2), radius * np.sin(turns * np.pi / 2)])
    np.testing.assert_allclose(randn(256, generator=generator).numpy(), expected, rtol=1e-6, atol=1e-6)
    w = words(seed, 4)
    radius = np.sqrt(-2 * np.log(((w[:64] >> np.uint64(5)) * 2.0**26 + (w[128:192] >> np.uint64(6)) + 0.5) * 2.0**-53))
    fraction = (w[64:128].astype("u4") << 2).view("i4") * 2.0**-32 + (w[192:] >> np.uint64(2)) * 2.0**-62
    angle = ((w[64:128] >> np.uint64(30)) + fraction) * (np.pi / 2)
    expected = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    found = randn(128, dtype="float64", generator=generator).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    for position, n in ((5, 9), (6, 2**32 - 3), (7, 2**31)):
        w, v = words(seed, position).tolist(), words(seed, position + 2**57).tolist()
        expected = [(n * (high * 2**32 + low) >> 64) - 4 for high, low in zip(w, v, strict=True)]
        assert randint(-4, n - 4, (256,), generator=generator).tolist() == expected
    for position, n in ((8, 2**63 - 1), (9, 2**64), (10, 2**32 + 1)):
        w = words(seed, position).tolist()
        bits = [w[i] << 96 | w[i + 64] << 64 | w[i + 128] << 32 | w[i + 192] for i in range(64)]
        expected = [(n * one >> 128) - 2**63 for one in bits]
        assert randint(-(2**63), n - 2**63, (64,), generator=generator).tolist() == expected
    assert generator.get_state()["position"] == 11


def digest(dtype):
    generator = Generator(12)
    made = b"".join(randn(100_000, dtype=dtype, generator=generator).tobytes() for _ in range(2))
    return hashlib.sha256(made).hexdigest()[:16]


def test_bits_are_the_same_on_every_machine():
    """Found with AVX-512, with AVX2 and without; a machine or compiler that finds others breaks seeds."""
    assert (digest("float32"), digest("float64")) == ("56fdbf60af668053", "adc1724843713d40")


@pytest.mark.parametrize("fill", [
    lambda g: rand(1_000_003, generator=g), lambda g: randn(500_001, dtype="float64", generator=g),
    lambda g: randint(0, 2**40, (300_000,), generator=g), lambda g: randint(3, (700_000,), generator=g),
])
def test_numbers_do_not_depend_on_threads(fill):
    found = set()
    before = tensix.get_num_threads()
    try:
        for count in (1, 2, 5):
            tensix.set_num_threads(count)
            found.add(fill(Generator(3)).tobytes())
    finally:
        tensix.set_num_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_normal(dtype):
    """Moments, tails and independence of neighbours, far outside of what chance allows: 6 standard errors."""
    x = randn(2_000_000, dtype=dtype, generator=Generator(5)).numpy().astype("f8")
    n = x.size
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - expected) < 6 * np.sqrt(variance / n)
    for lag in (1, 64, 128, 256):
        assert abs((x[lag:] * x[:-lag]).mean()) < 6 / np.sqrt(n)
    for bound, beyond in ((1, 0.3173105), (2, 0.0455003), (3, 0.0026998), (4, 6.334e-5)):
        assert abs((abs(x) > bound).mean() - beyond) < 6 * np.sqrt(beyond / n)


def test_integers_are_equally_likely():
    x = randint(0, 1000, (1_000_000,), generator=Generator(5)).numpy()
    counts = np.bincount(x, minlength=1000)
    assert abs(((counts - 1000) ** 2 / 1000).sum() - 999) < 6 * np.sqrt(2 * 999)
    order = np.stack([tensix.randperm(5, generator=Generator(seed)).numpy() for seed in range(20_000)])
    counts = np.stack([np.bincount(column, minlength=5) for column in order.T])
    assert abs(((counts - 4000) ** 2 / 4000).sum() - 16) < 6 * np.sqrt(32)


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
    rand(drawn, generator=generator)
    state = generator.get_state()
    first = rand(5, generator=generator).tolist()
    generator.set_state(state)
    assert rand(5, generator=generator).tolist() == first
    other = Generator(1)
    other.set_state(state)
    assert rand(5, generator=other).tolist() == first


@pytest.mark.parametrize("seed, error", [(-1, ValueError), (2**128, ValueError), ("a", TypeError), (1.5, TypeError)])
def test_seed_that_is_none(seed, error):
    generator = Generator(4)
    for use in (Generator, generator.manual_seed):
        with pytest.raises(error):
            use(seed)
    assert rand(2, generator=generator).tolist() == rand(2, generator=Generator(4)).tolist()


@pytest.mark.parametrize("state", [
    None, {}, 5, {"bit_generator": "MT19937"}, {"generator": "Philox4x32-10", "seed": 1, "position": -1},
    {"generator": "Philox4x32-10", "seed": 1, "position": 2**57 + 1}, {"generator": "PCG64", "seed": 1, "position": 1},
    {"generator": "Philox4x32-10", "seed": 0.5, "position": 1},
])
def test_state_that_is_none(state):
    generator = Generator(4)
    with pytest.raises((TypeError, ValueError)):
        generator.set_state(state)
    assert rand(2, generator=generator).tolist() == rand(2, generator=Generator(4)).tolist()


@pytest.mark.parametrize("make", [rand, lambda n, generator: randint(9, (n,), generator=generator)])
def test_end_of_the_stream(make):
    """Beyond it are the second words of integers."""
    generator = Generator(4)
    generator.set_state({"generator": "Philox4x32-10", "seed": 4, "position": 2**57 - 2})
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"position=144115188075855870\) has no more numbers for 513 elements"):
            make(513, generator=generator)
    assert make(512, generator=generator).shape == (512,)
    generator.set_state(generator.get_state())
    with pytest.raises(RuntimeError, match="no more numbers"):
        tensix.randperm(1, generator=generator)


def test_ranges_of_other_ints():
    """NumPy's overflow where Python's do not."""
    x = tensix.zeros(2000, dtype="int64")
    tensix.ops.tensix.random_(x, np.int64(-(2**63)), np.int64(2**63 - 1), generator=Generator(1))
    expected = randint(-(2**63), 2**63 - 1, (2000,), generator=Generator(1))
    assert x.tolist() == expected.tolist() and min(x.tolist()) < -(2**62) and max(x.tolist()) > 2**62


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
    assert first.dtype is tensix.int64
    tensix.manual_seed(3)
    assert tensix.randint(0, 1000, 5).tolist() == first.tolist()


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
