"""The example of a device that computes late."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tensix

EXAMPLE = Path(__file__).parents[2] / "examples" / "lazy_device.py"


@pytest.fixture
def lazy(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    module = importlib.import_module("lazy_device")
    with module.lazy_device():
        yield module
    assert not module.allocator.values


def is_computed(lazy, x):
    return lazy.value_of(x).flat is not None


FUNCTIONS = {
    "chain": lambda x, y: tensix.exp(-x) * y + 2,
    "shared": lambda x, y: (x + y) * (x + y) - (x + y),
    "broadcast": lambda x, y: x * y[0] + y[:, :1],
    "strided": lambda x, y: x[:, ::2] * 2 + y[:, 1::2].T.reshape(300, 20),
    "comparison": lambda x, y: tensix.where(x > y, x, y * 0.5),
    "reduction": lambda x, y: (x + y).sum(axis=0) - x.mean(),
    "product": lambda x, y: (x * 2) @ y.T,
    "several results": lambda x, y: sum(part.sum() for part in (x + y).unbind(1)),
    "types": lambda x, y: (x * 10).astype("int32") * 2 + (y > 0.5),
    "joined": lambda x, y: tensix.concat([x, y * 2]),
    "empty": lambda x, y: (x + y)[:0] * 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_computes_what_the_cpu_computes(lazy, name):
    x, y = tensix.rand(300, 40), tensix.rand(300, 40)
    found = FUNCTIONS[name](x.to_device("lazy"), y.to_device("lazy"))
    wanted = FUNCTIONS[name](x, y)
    assert found.device.type == "lazy" and (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert tensix.allclose(found.cpu(), wanted)


def test_nothing_is_computed_until_elements_are_asked_for(lazy):
    x = tensix.ones(100).to_device("lazy")
    y = x * 2 + 1
    z = tensix.exp(y)
    assert not is_computed(lazy, y) and not is_computed(lazy, z)
    assert str(y[:2].cpu()) == "tensor([3., 3.])" and is_computed(lazy, y) and not is_computed(lazy, z)


def test_operands_that_are_written_or_gone_change_nothing(lazy):
    x = tensix.ones(100).to_device("lazy")
    y = x * 2 + 1
    x[:50].fill_(7)
    z = x + y
    x.copy_(tensix.zeros(100))
    del x, y
    assert z.cpu().tolist() == [10.0] * 50 + [4.0] * 50


def test_a_chain_takes_no_temporaries(lazy):
    x = tensix.rand(1 << 20)
    y = x.to_device("lazy")
    before = tensix.memory_allocated()
    tensix.reset_peak_memory_stats()
    result = lazy.elements(lazy.curve(y))
    assert tensix.max_memory_allocated() - before - result.nbytes < 1 << 20
    assert tensix.allclose(result, lazy.curve(x))


def test_devices_do_not_mix(lazy):
    with pytest.raises(RuntimeError, match="tensors on lazy and cpu"):
        tensix.ones(3, device="lazy") + tensix.ones(3)


def test_it_runs_and_undoes_itself():
    finished = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    pattern = r"at once: (\S+) MiB of temporaries, sum (\S+)\nlate: (\S+) MiB of temporaries, sum (\S+)\n"
    at_once, one, late, other = map(float, re.fullmatch(pattern, finished.stdout).groups())
    assert late < at_once / 3 and one == pytest.approx(other)
    with pytest.raises(NotImplementedError):
        tensix.ones(3, device="lazy")
