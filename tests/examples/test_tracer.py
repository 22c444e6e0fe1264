"""The example of a tracer: its graphs print, and give what the function gives."""

import gc
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tensix

EXAMPLE = Path(__file__).parents[2] / "examples" / "tracer.py"


@pytest.fixture
def trace(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    return importlib.import_module("tracer").trace


def in_place(x):
    y = x.clone()
    y[1:].fill_(7)
    y += x
    return y, y.sum()


FUNCTIONS = {
    "one": lambda x: x,
    "views": lambda x: [x[0], x.T.reshape(-1), {"a": x[:, 1:] ** 2}],
    "several results": lambda x: x.unbind(0)[1] + sum(tensix.linalg.svd(x @ x.T).S),
    "in place": in_place,
    "a list of operands": lambda x: tensix.concat([x, x * 2, tensix.zeros(1, 4)]),
    "no tensor": lambda x: x + (1 if tensix.array_equal(x, x) else 2),
    "a mask": lambda x: x[x > 0.5],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_gives_what_the_function_gives(trace, name):
    function = FUNCTIONS[name]
    tensix.manual_seed(0)
    graph = trace(function, tensix.rand(3, 4))
    x = tensix.rand(3, 4)
    assert repr(graph(x.clone())) == repr(function(x.clone()))
    assert str(graph).startswith("graph(x0: float32[3, 4])\n") and re.search(r"\n  return .*\Z", str(graph))


def test_a_graph_keeps_constants_only(trace):
    gc.collect()
    constant, before = tensix.ones(1000), tensix.memory_allocated()
    graph = trace(lambda x: tensix.exp(x) * constant, tensix.ones(1000))
    assert tensix.memory_allocated() == before
    constant = None
    assert tensix.memory_allocated() == before and graph(tensix.zeros(1000)).sum().item() == 1000


def test_the_number_of_inputs_is_checked(trace):
    with pytest.raises(TypeError, match="takes 1 inputs, found 2"):
        trace(tensix.exp, tensix.ones(1))(tensix.ones(1), tensix.ones(1))


def test_a_function_that_fails_leaves_nothing(trace):
    with pytest.raises(ValueError, match="broadcast"):
        trace(lambda x: x + tensix.ones(2), tensix.ones(3))
    assert "t0 = tensix::exp(x0)" in str(trace(tensix.exp, tensix.ones(3)))


def test_it_runs():
    finished = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.endswith("  return (t6, t4)\nrun again on 3 rows: the same\n")
    assert "  t0 = tensix::matmul(x0, <float32[4, 2]>)  # float32[8, 2]\n" in finished.stdout
