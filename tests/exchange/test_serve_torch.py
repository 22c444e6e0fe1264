"""PyTorch's CPU tensors lie in tensix's memory while a scope is open, and are counted to the byte."""

import gc
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import tensix
from tensix.core import Allocator, CPUAllocator, use_allocator
from tensix.memory import (
    AlignmentAdaptor,
    CachingAllocator,
    FailureCallbackAdaptor,
    GuardAdaptor,
    LimitingAdaptor,
    StatisticsAdaptor,
    TrackingAdaptor,
    profile,
    record,
    serve_torch,
    statistics,
    torch_memory,
)


class Forwarding(Allocator):
    """An allocator in Python, which takes the GIL."""

    def __init__(self, error=None):
        self.upstream, self.error, self.count = CPUAllocator(), error, 0

    def allocate(self, nbytes):
        if self.error is not None:
            raise self.error
        self.count += 1
        return self.upstream.allocate(nbytes)


ALLOCATORS = {
    "in use": lambda: None,
    "caching": CachingAllocator,
    "caching, small alignment": lambda: CachingAllocator(CPUAllocator(alignment=16)),
    "CPU": CPUAllocator,
    "pages": lambda: CPUAllocator(alignment=4096),
    "statistics": lambda: StatisticsAdaptor(None),
    "guard": lambda: GuardAdaptor(CPUAllocator()),
    "alignment": lambda: AlignmentAdaptor(CPUAllocator(), 128),
    "tracking": lambda: TrackingAdaptor(CPUAllocator()),
    "Python": Forwarding,
}
each_allocator = pytest.mark.parametrize("make", ALLOCATORS.values(), ids=ALLOCATORS)


@pytest.fixture(autouse=True)
def nothing_is_left():
    gc.collect()
    before = tensix.memory.memory_allocated()
    yield
    gc.collect()
    assert tensix.memory.memory_allocated() == before
    assert torch_memory.serve(False) is None  # no scope is left open, so this changes nothing


def nbytes_of(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def run(code, **variables):
    """Run a program that uses PyTorch, and return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | variables,
    )  # fmt: skip
    assert finished.returncode == 0 and finished.stderr == "", finished.stderr
    return finished.stdout


@each_allocator
def test_every_way_to_a_tensor(make):
    before = tensix.memory.memory_allocated()
    with serve_torch(make()), statistics() as counted:
        for size in (0, 1, 7, 64, 513, 1024, 65_536, 300_000, 3 << 20, 40 << 20):
            empty = torch.empty(size, dtype=torch.uint8).fill_(7)
            zeros = torch.zeros(size, dtype=torch.uint8)
            assert int(zeros.sum()) == 0 and int(empty.sum()) == 7 * size
            assert size == 0 or empty.untyped_storage().data_ptr() % 16 == 0
        grown = torch.ones(3)
        grown.resize_(100_000)
        assert grown[:3].tolist() == [1, 1, 1]
        grown.untyped_storage().resize_(12)
        listed = torch.tensor([1.5, 2.5]).to(torch.float64) * 2
        assert listed.tolist() == [3, 5]
        assert counted.total_count > 25
        del empty, zeros, grown, listed
    gc.collect()
    assert tensix.memory.memory_allocated() == before


@each_allocator
def test_lazy_clones_share(make):
    with serve_torch(make()), statistics() as counted:
        x = torch.ones(1000)
        before = counted.current_bytes
        clone = torch._lazy_clone(x)
        assert counted.current_bytes == before and torch._C._is_cow_tensor(clone)
        clone += 1
        assert (x[0].item(), clone[0].item()) == (1, 2) and counted.current_bytes >= before + 4000


@each_allocator
def test_tensors_outlive_the_scope(make):
    with serve_torch(make()) as scope:
        x = torch.arange(1000)
    assert not scope.is_open
    gc.collect()
    later = torch.ones(1000)  # of PyTorch's own
    x += 1
    assert x.sum().item() == 500_500 and later.sum().item() == 1000


def test_older_tensors_stay_where_they_are():
    x = torch.ones(1000)
    with serve_torch(), statistics() as counted:
        x.zero_()
        del x
        assert counted.total_bytes == 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        self.norm = nn.BatchNorm1d(10)

    def forward(self, x):
        return self.norm(self.layers(x))


def step(net, optimizer, x, y):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()


def state_of(net, optimizer):
    states = [value for state in optimizer.state.values() for value in state.values()]
    gradients = [parameter.grad for parameter in net.parameters()]
    return nbytes_of(*net.parameters(), *gradients, *net.buffers(), *states)


def test_a_training_step_is_counted_to_the_byte():
    with serve_torch(), statistics() as counted:
        net = Net()
        optimizer = torch.optim.Adam(net.parameters())
        x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
        for _ in range(3):
            step(net, optimizer, x, y)
        assert counted.current_bytes == state_of(net, optimizer) + nbytes_of(x, y)
        del net, optimizer, x, y
        gc.collect()
        assert counted.current_bytes == 0


def test_a_transformer_with_random_weights():
    with serve_torch(), statistics() as counted:
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        encoder = nn.TransformerEncoder(layer, 2)
        x = torch.randn(4, 10, 32)
        encoder(x).sum().backward()
        parameters = [*encoder.parameters(), *layer.parameters()]
        gradients = [parameter.grad for parameter in encoder.parameters()]
        assert counted.current_bytes == nbytes_of(x, *parameters, *gradients)
        del layer, encoder, x, parameters, gradients
        gc.collect()
        assert counted.current_bytes == 0


WORKERS = """
import gc, warnings, torch, tensix
from torch.utils.data import DataLoader, TensorDataset
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
with tensix.memory.serve_torch(), tensix.memory.statistics() as counted:
    data = TensorDataset(torch.arange(256.).reshape(64, 4))
    total, before = 0, counted.current_bytes
    for (batch,) in DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context="fork"):
        total += batch.sum().item()
    del batch
    gc.collect()
    print(total, counted.current_bytes - before)
"""


def test_workers_of_a_data_loader_are_forked():
    assert run(WORKERS).split() == [str(float(sum(range(256)))), "0"]


def test_a_refusal_is_told_once():
    asked = []
    allocator = FailureCallbackAdaptor(LimitingAdaptor(None, "1MiB"), asked.append)
    refused = pytest.raises(RuntimeError, match="cannot allocate 4,000,000 bytes")
    with serve_torch(allocator), tensix.memory.record() as recording, refused:
        torch.empty(1_000_000)
    assert asked == [4_000_000] and len(recording.snapshot()["failures"]) == 1


def test_limit_is_named_with_the_lines_that_hold_most():
    with serve_torch(LimitingAdaptor(CPUAllocator(), "1MiB")):
        kept = torch.ones(1000)
        with pytest.raises(RuntimeError, match=r"cannot allocate 4,000,000 bytes .*: limit 1,048,576, in use 4,000\. "):
            torch.ones(1_000_000)
        with profile(quiet=True):
            more = torch.ones(50_000)
            with pytest.raises(RuntimeError, match=r"195\.31 KiB by .*test_serve_torch\.py:\d+ in test_limit"):
                torch.ones(1_000_000)
        with record():
            yet_more = torch.ones(500)
            with pytest.raises(RuntimeError, match=r"1\.95 KiB by .*test_serve_torch\.py:\d+ in test_limit"):
                torch.ones(1_000_000)
        assert torch.ones(10).sum().item() == 10  # it goes on
        del kept, more, yet_more


@pytest.mark.parametrize("error", [tensix.OutOfMemoryError("the pool is full"), ValueError("not today")])
def test_what_an_allocator_raises_is_said(error, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    with serve_torch(Forwarding(error)), pytest.raises(RuntimeError, match=str(error)):
        torch.ones(10)


def test_no_memory():
    with serve_torch(), pytest.raises(RuntimeError, match="cannot allocate"):
        torch.empty(1 << 60)


def test_allocator_in_use_or_the_one_given():
    inner, outer = StatisticsAdaptor(), StatisticsAdaptor()
    with use_allocator(inner), serve_torch():
        x = torch.ones(10)
    with serve_torch(outer), use_allocator(inner):
        y = torch.ones(10)
    assert (inner.total_bytes, outer.total_bytes) == (40, 40)
    del x, y


def test_scopes_nest_and_end_in_any_order():
    first, second = StatisticsAdaptor(), StatisticsAdaptor()
    one, other = serve_torch(first), serve_torch(second)
    torch.ones(1)
    one.close()
    torch.ones(1)
    assert (first.total_count, second.total_count) == (0, 2) and other.is_open and not one.is_open
    other.close()
    other.close()
    torch.ones(1)
    assert second.total_count == 2


def test_decorator_and_wrong_arguments():
    counted = StatisticsAdaptor()

    @serve_torch(counted)
    def work():
        return torch.ones(10)

    torch.ones(10)
    assert counted.total_count == 0 and work().sum().item() == 10 and counted.total_count == 1
    with pytest.raises(TypeError, match=r"serve_torch\(\) needs an Allocator or None, found int"):
        serve_torch(3)
    with pytest.raises(TypeError):
        serve_torch(alocator=None)


def profiled_numbers():
    """Return what PyTorch's profiler says of a few operations."""
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        x = torch.ones(1000)
        y = x + x
        del x, y
    return {
        event.key: (event.self_cpu_memory_usage, event.count)
        for event in found.key_averages() if event.self_cpu_memory_usage or event.key == "[memory]"
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_the_profiler_of_pytorch_keeps_its_numbers():
    profiled_numbers()  # it loads what it needs
    own = profiled_numbers()
    with serve_torch():
        assert profiled_numbers() == own != {}


def test_threads():
    def work():
        kept = []
        for turn in range(300):
            kept = [*kept[-8:], torch.empty(1 + turn * 37 % 5000).fill_(turn)]
            assert all(tensor[0].item() == tensor[-1].item() for tensor in kept)

    before = tensix.memory.memory_allocated()
    with serve_torch():
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        x = torch.ones(500_000).requires_grad_()
        for _ in range(20):  # with threads of PyTorch's own
            (x * x).sum().backward()
        for thread in threads:
            thread.join()
        del x
    gc.collect()
    assert tensix.memory.memory_allocated() == before


def test_threads_while_scopes_open_and_close():
    ended = threading.Event()

    def work():
        while not ended.is_set():
            assert torch.ones(1000).sum().item() == 1000

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(200):
        with serve_torch(StatisticsAdaptor() if turn % 2 else None):
            torch.ones(10)
    ended.set()
    for thread in threads:
        thread.join()


def test_a_recording_names_parameters_gradients_and_state():
    with serve_torch(), record() as recording:
        net = Net()
        optimizer = torch.optim.Adam(net.parameters())
        step(net, optimizer, torch.randn(32, 64), torch.randint(0, 10, (32,)))
        snapshot = recording.snapshot()
    texts = [holder["text"] for holder in snapshot["holders"]]
    for expected in (
        "Parameter float32 (128, 64), parameter layers.0.weight of Net",
        "torch.Tensor float32 (128, 64), gradient of layers.0.weight of Net",
        "torch.Tensor float32 (10,), buffer norm.running_mean of Net",
        "torch.Tensor float32 (128, 64), exp_avg of Adam, for layers.0.weight of Net",
    ):
        assert expected in texts
    assert set(snapshot["blocks"]["kind"]) == {2}
    assert {snapshot["threads"][thread] for thread in snapshot["blocks"]["thread"]} == {"MainThread"}
    del net, optimizer


def test_variables_and_lists_are_named():
    with serve_torch(), record() as recording:
        mine = torch.ones(1000)
        view = mine[10:]
        listed = [torch.ones(500)]
        lazy = torch._lazy_clone(mine)
        texts = " | ".join(holder["text"] for holder in recording.snapshot()["holders"])
        assert torch._C._is_cow_tensor(lazy)  # to look is not to copy
    assert "torch.Tensor float32 (1000,), mine in test_variables" in texts
    assert "torch.Tensor float32 (990,), view in test_variables" in texts
    assert "torch.Tensor float32 (500,), item 0 of a list: listed in test_variables" in texts
    del mine, view, listed, lazy


def test_odd_tensors_do_no_harm():
    with serve_torch(), record() as recording:
        odd = [torch.eye(3).to_sparse(), torch.empty(3, device="meta"), torch.nn.Parameter(torch.ones(2))]
        half_made = Net.__new__(Net)
        assert recording.snapshot()["holders"]
    del odd, half_made


ENDING = """
import torch, tensix
scope = tensix.memory.serve_torch({})
kept = [torch.ones(n) for n in (1, 1000, 1000000)]
net = torch.nn.Linear(10, 10)
net(torch.ones(5, 10)).sum().backward()
kept.append(kept)
print("done")
"""


@pytest.mark.parametrize("allocator", ["", "tensix.memory.StatisticsAdaptor()", "tensix.memory.CachingAllocator()"])
def test_exit_with_everything_alive(allocator):
    assert run(ENDING.format(allocator)) == "done\n"


FORKED = """
import os, torch, tensix
with tensix.memory.serve_torch():
    x = torch.ones(1000)
    pid = os.fork()
    if pid == 0:
        y = x + torch.ones(1000)
        tensix.set_allocator("cpu", tensix.CPUAllocator())
        z = torch.ones(1000)
        os._exit(int(y.sum().item() + z.sum().item() != 3000))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_fork():
    assert run(FORKED) == "0\n"


ON_TOP = """
import ctypes, os, warnings, torch, tensix
c10 = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
default = c10._ZN3c1022GetDefaultCPUAllocatorEv
default.restype = ctypes.c_void_p
c10._ZN3c1015SetCPUAllocatorEPNS_9AllocatorEh(ctypes.c_void_p(default()), 200)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    scope = tensix.memory.serve_torch()
print(scope.is_open, torch.ones(3).sum().item(), *[str(one.message).partition(" is ")[2] for one in told])
"""


def test_an_allocator_on_top_is_named():
    told = "not served by tensix: it asks N3c1019DefaultCPUAllocatorE, which was installed with a higher priority."
    assert run(ON_TOP) == f"False 3.0 {told}\n"


def test_a_pytorch_that_is_not_known_is_not_served(monkeypatch):
    problem = "its addresses are not where they are expected"
    monkeypatch.setattr(torch_memory, "serve", lambda wanted, allocator=None: problem if wanted else None)
    with pytest.warns(RuntimeWarning, match=f"PyTorch .* is not served by tensix: {problem}."):
        scope = serve_torch()
    assert not scope.is_open
    scope.close()


LATER = """
import tensix
from tensix.memory.torch_scope import TorchWhenImported
with TorchWhenImported(), tensix.memory.statistics() as counted:
    import torch
    x = torch.ones(1000)
    print(counted.current_bytes >= 4000)
y = torch.ones(1000)
print(x.sum().item() + y.sum().item())
"""


def test_a_scope_that_waits_for_the_import():
    assert run(LATER) == "True\n2000.0\n"


PROGRAM = """
import torch
kept = torch.ones(1_000_000)
def work():
    return torch.ones(2_000_000) + kept.repeat(2)
work()
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    return path


def command(folder, *words, status=0):
    finished = subprocess.run(
        [sys.executable, "-m", "tensix", *map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder,
        check=False,
    )  # fmt: skip
    assert finished.returncode == status, finished.stderr
    return finished


@pytest.mark.parametrize("first", ["", "import numpy\n", "import tensix\n"])
def test_the_memory_command_sees_them(program, tmp_path, first):
    program.write_text(first + PROGRAM)
    command(tmp_path, "memory", "-q", "-o", "found.json", program)
    found = json.loads(Path(tmp_path, "found.json").read_text())
    blocks = found["processes"][0]["blocks"] if found.get("processes") else found["blocks"]
    assert sorted(blocks["nbytes"])[-4:] == [4_000_000, 8_000_000, 8_000_000, 8_000_000]
    assert 2 in blocks["kind"]
    command(tmp_path, "memory", "-q", "-o", "without.json", "--no-torch", program)
    blocks = json.loads(Path(tmp_path, "without.json").read_text())["blocks"]
    assert 2 not in blocks.get("kind", [])


def test_the_run_command_limits_them(program, tmp_path):
    finished = command(tmp_path, "run", "--limit-arrays", "10MiB", program, status=1)
    assert "RuntimeError: cannot allocate 8,000,000 bytes" in finished.stderr and "limit 10,485,760" in finished.stderr
    assert re.search(r"Most is held by these lines: 4\.00 MiB by .*prog\.py:\d+", finished.stderr)
    assert "reused" in command(tmp_path, "run", "--stats", program).stderr


TESTED = """
import pytest, torch

@pytest.mark.limit_memory("1 MiB")
def test_too_much():
    torch.ones(1_000_000)

@pytest.mark.no_leaks
def test_leak():
    global kept
    kept = torch.ones(100)

@pytest.mark.limit_memory("1 MiB")
def test_good():
    torch.ones(1000)
"""


def test_marks_of_pytest_see_them(tmp_path):
    tmp_path.joinpath("test_it.py").write_text(TESTED)
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], capture_output=True, text=True,
        timeout=120, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "2 failed, 1 passed" in finished.stdout
    assert "limit_memory: 1.00 MiB are allowed, 3.81 MiB were in use at one time" in finished.stdout


def test_data_sets_and_loaders_in_this_process():
    with serve_torch(), statistics() as counted, warnings.catch_warnings():
        data = TensorDataset(torch.randn(64, 4), torch.arange(64))
        seen = sum(len(y) for _, y in DataLoader(data, batch_size=10))
        assert seen == 64 and counted.current_bytes >= 64 * 4 * 4 + 64 * 8
        del data


GUIDE = Path(__file__).parents[2] / "docs" / "torch_memory.rst"


def test_the_guide_is_true(tmp_path):
    """Its script has the peak that it says, and the shorter one as well."""
    text = GUIDE.read_text()
    blocks = [block.split("\n\n.. ")[0] for block in text.split(".. code-block:: python\n")[1:]]
    lines = [[line[3:] for line in block.splitlines() if line.startswith("   ") or not line] for block in blocks]
    script, parts = "\n".join(lines[0]), "\n".join(lines[1])
    first, _, rest = script.partition("    for epoch in range(5):\n")
    shorter = first + parts + "\n\ndef main" + rest.partition("def main")[2]
    for code in (script, shorter):
        tmp_path.joinpath("train.py").write_text(code)
        finished = command(tmp_path, "memory", "train.py")
        peak = re.search(r"peak +(\S+ MiB +\d+ blocks)", finished.stdout)[1]
        assert peak in text and "mean loss 2.34" in finished.stdout
