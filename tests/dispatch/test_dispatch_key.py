"""Dispatch keys and sets of them; the rows DK-1 to DK-10 of the original's behaviours."""

import pytest

import tensix
from tensix.dispatch import DispatchKey, DispatchKeySet

BACKENDS = (
    "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA",
    "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta",
)  # fmt: skip
PREFIXES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
ALIASES = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd")


def names(keys):
    return [key.name for key in keys]


@pytest.mark.parametrize("name", ["Undefined", "CPU", "CUDA", "Meta", "SparseCPU", "AutogradCPU", "AutogradCUDA",
                                  "PrivateUse1", "CompositeExplicitAutograd", "CompositeImplicitAutograd"])
def test_keys_sure_to_exist(name):
    assert DispatchKey[name].name == name


def test_each_backend_has_a_key_per_functionality_dk_1_dk_2():
    for prefix in PREFIXES:
        for backend in BACKENDS:
            key = prefix + backend
            assert names(DispatchKeySet(key)) == [key] and DispatchKeySet(key).highest_priority_key().name == key


def test_slots_are_dense_and_in_order_of_priority_dk_8():
    slots = [int(key) for key in DispatchKey if key.name not in ALIASES]
    assert slots == list(range(len(slots))) and int(DispatchKey["Undefined"]) == 0


def test_a_set_is_the_cross_product_dk_3():
    crossed = DispatchKeySet("AutogradCUDA", "CPU")
    assert crossed == DispatchKeySet("AutogradCPU", "CUDA") and hash(crossed) == hash(
        DispatchKeySet("AutogradCPU", "CUDA")
    )
    assert names(crossed) == ["CPU", "CUDA", "AutogradCPU", "AutogradCUDA"]
    assert all(key in crossed for key in ("CPU", "CUDA", "AutogradCPU", "AutogradCUDA"))


def test_remove_and_minus_leave_the_backend_dk_4():
    keys = DispatchKeySet("CPU", "AutogradCUDA", "Tracer")
    assert keys.remove("AutogradCPU") == keys - DispatchKeySet("AutogradCUDA")
    assert names(keys.remove("AutogradCPU")) == ["CPU", "CUDA", "Tracer"]
    assert names(keys.remove("Tracer")) == ["CPU", "CUDA", "AutogradCPU", "AutogradCUDA"]
    assert DispatchKeySet("CPU").remove("CPU") and names(DispatchKeySet("CPU").remove("CPU")) == []
    assert DispatchKeySet("Tracer").remove("Tracer") == DispatchKeySet()


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases_add_nothing_dk_5(alias):
    assert DispatchKeySet(alias) == DispatchKeySet() and not DispatchKeySet(alias)
    assert alias not in DispatchKeySet("CPU", "AutogradCPU")
    assert DispatchKeySet("CPU").add(alias) == DispatchKeySet("CPU")


@pytest.mark.parametrize("keys, highest", [
    ((), "Undefined"), (("CPU",), "CPU"), (("CPU", "CUDA"), "CUDA"), (("Meta", "AutogradCPU"), "AutogradMeta"),
    (("CPU", "SparseCPU"), "SparseCPU"), (("CPU", "Tracer"), "Tracer"), (("BackendSelect", "CPU"), "BackendSelect"),
    (("ADInplaceOrView", "CPU"), "ADInplaceOrView"), (("AutogradOther", "AutogradCPU"), "AutogradCPU"),
    (("Undefined",), "Undefined"), (("PythonDispatcher", "AutogradMeta", "Batched"), "PythonDispatcher"),
])
def test_highest_functionality_wins_then_highest_backend_dk_7(keys, highest):
    assert DispatchKeySet(*keys).highest_priority_key() is DispatchKey[highest]


def test_questions_dk_9():
    keys = DispatchKeySet("CPU", "Tracer")
    assert keys.has("CPU") and "Tracer" in keys and DispatchKey["CPU"] in keys
    assert not keys.has("CUDA") and not keys.has("AutogradCPU") and "Undefined" not in keys
    assert keys.has_any(DispatchKeySet("Tracer")) and not keys.has_any(DispatchKeySet("Batched"))
    assert keys.has_all(DispatchKeySet("CPU")) and keys.has_all(DispatchKeySet())
    assert not keys.has_all(DispatchKeySet("CPU", "Batched"))


def test_algebra():
    a, b = DispatchKeySet("CPU", "Tracer"), DispatchKeySet("CPU", "Batched")
    assert a | b == DispatchKeySet("CPU", "Tracer", "Batched") and a & b == DispatchKeySet("CPU")
    assert a.add("Batched") == a | b and names(a - b) == ["Tracer"]
    assert a != b and a != "CPU" and a.bits == DispatchKeySet("Tracer", "CPU").bits


def test_iteration_and_text_dk_10():
    keys = DispatchKeySet("AutogradCPU", "CPU", "BackendSelect")
    assert names(keys) == ["CPU", "BackendSelect", "AutogradCPU"]
    assert repr(keys) == str(keys) == "DispatchKeySet(AutogradCPU, BackendSelect, CPU)"
    assert repr(DispatchKeySet()) == "DispatchKeySet()" and list(DispatchKeySet()) == []


@pytest.mark.parametrize("wrong", ["cpu", "Autograd_CPU", "", 5, None, 3.5, [], ()])
def test_unknown_key(wrong):
    with pytest.raises((ValueError, TypeError)):
        DispatchKeySet(wrong)


def test_unknown_key_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"no dispatch key is called 'TPU'. Known are .*CPU.*AutogradMeta"):
        DispatchKeySet("CPU", "TPU")


@pytest.mark.parametrize("use", [lambda keys: keys | "CPU", lambda keys: keys & 1, lambda keys: keys.has_any("CPU"),
                                 lambda keys: keys.has_all(None), lambda keys: keys - "CPU"])
def test_sets_mix_with_sets_only(use):
    with pytest.raises(TypeError):
        use(DispatchKeySet("CPU"))


def test_no_backend_for_a_device():
    with pytest.raises(NotImplementedError, match="no backend"):
        tensix.empty(2, device="fpga")
