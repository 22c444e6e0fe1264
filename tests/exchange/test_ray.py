"""Tensors in Ray's object store, and the tasks of its workers, recorded and limited."""

import os
import signal
import time

import numpy as np
import pytest

import tensix
from tensix.memory import cluster

ray = pytest.importorskip("ray")
from ray.actor import ActorClass  # noqa: E402
from ray.remote_function import RemoteFunction  # noqa: E402

MB = 1_000_000

pytestmark = pytest.mark.filterwarnings("default")  # Ray leaves sockets and files open


@pytest.fixture(scope="module", autouse=True)
def workers():
    """Begin Ray with two workers."""
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=500 * MB, logging_level="ERROR")
    yield
    ray.shutdown()


def test_a_tensor_in_the_store_is_not_copied():
    x = tensix.arange(1_000_000)
    stored = ray.put(x)
    one, other = ray.get(stored), ray.get(stored)
    assert one.readonly and one.data_ptr() == other.data_ptr() and one.data_ptr() % 8 == 0
    assert one.tolist()[:3] == [0, 1, 2] and one.is_alias_of(one[1:])

    clone = tensix.asarray(other, immutable=True).lazy_clone()
    assert clone.is_cow()
    clone[0] = 5
    assert (clone[0].item(), other[0].item()) == (5, 0)

    @ray.remote
    def there(x):
        return x.readonly, x.sum().item()

    assert ray.get(there.remote(stored)) == (True, x.sum().item())


def functions():
    """Return remote functions, which Ray pickles as those of a program are."""

    def make(size):
        x = np.empty(size * MB, "u1")
        y = x + x
        del x
        return y[:10].copy()

    def ask_for(size, tries=None):
        if tries is not None:
            size = size if not os.listdir(tries) else 1
            open(os.path.join(tries, "tried"), "w").close()
        return int(np.ones(size * MB, "u1").sum())

    def die():
        x = np.empty(50 * MB, "u1")
        time.sleep(2)
        os.kill(os.getpid(), signal.SIGKILL)
        return x

    return ray.remote(make), ray.remote(ask_for), ray.remote(max_retries=0)(die)


def test_tasks_are_recorded_and_limited(tmp_path):
    make, ask_for, die = functions()
    with cluster.record(ray, limit="300MB") as recording:
        made = [make.remote(size) for size in range(1, 9)]
        ray.get(made)
        expected = {one.task_id().hex(): 2 * size * MB for size, one in enumerate(made, 1)}
        peaks = recording.peaks()
        assert {key: peaks.get(key) for key in expected} == expected
        names = {task["name"] for one in recording.snapshot()["processes"] for task in one.get("tasks", ())}
        assert "make" in names
        with pytest.raises(MemoryError, match="limit 300,000,000"):
            ray.get(ask_for.remote(400))
        retried = ask_for.options(retry_exceptions=[MemoryError], max_retries=1)
        assert ray.get(retried.remote(400, str(tmp_path))) == MB
        with pytest.raises(ray.exceptions.WorkerCrashedError):
            ray.get(die.remote())
        lost = [one for one in recording.lost() if one["held"] >= 50 * MB]
        assert len(lost) == 1 and lost[0]["lines"][0][0] == 50 * MB and lost[0]["lines"][0][3].endswith("die")
    recording.save(tmp_path / "page.html")
    assert {key: recording.peaks().get(key) for key in expected} == expected
    assert ray.get(ask_for.remote(400)) == 400 * MB  # as before


def actors():
    """Return a class of actors, one whose methods are coroutines, and a function whose tasks submit others."""

    class Base:
        def __init__(self, size):
            self.kept = np.empty(size * MB, "u1")

        def helper(self, size):
            return np.empty(size * MB, "u1")

    class Actor(Base):
        @ray.method(num_returns=2)
        def work(self, size):
            x = self.helper(size)
            y = np.empty(size * MB, "u1")
            return int(x[0]) * int(y[0]) * 0, len(self.kept)

        def count(self, n):
            for i in range(n):  # noqa: UP028 - Ray sends to generators
                yield i

        @staticmethod
        def answer():
            return 42

    class Coroutines:
        async def work(self, size):
            import asyncio  # noqa: PLC0415 - it runs in the worker

            x = np.empty(size * MB, "u1")
            await asyncio.sleep(0.1)
            y = np.empty(size * MB, "u1")
            return len(x) - len(y)

    def inner(size):
        return len(np.empty(size * MB, "u1"))

    inner = ray.remote(num_cpus=0)(inner)

    def outer(size):
        one = inner.remote(size)
        return one.task_id().hex(), ray.get(one)

    return ray.remote(num_cpus=0)(Actor), ray.remote(Coroutines), ray.remote(outer)


def test_methods_of_actors_and_nested_tasks_are_recorded():
    make, make_coroutines, outer = actors()
    before = make.remote(1)
    assert ray.get(before.answer.remote()) == 42
    slots = RemoteFunction._remote, ActorClass._remote
    with cluster.record(ray) as recording:
        actor = make.remote(9)
        done, kept = actor.work.remote(7)
        assert ray.get([done, kept]) == [0, 9 * MB]
        assert ray.get(actor.answer.remote()) == 42
        assert [ray.get(one) for one in actor.count.options(num_returns="streaming").remote(3)] == [0, 1, 2]
        coroutines = make_coroutines.remote()
        at_once = [coroutines.work.remote(size) for size in range(1, 5)]
        assert ray.get(at_once) == [0] * 4
        nested, size = ray.get(outer.remote(5))
        assert size == 5 * MB and ray.get(before.work.remote(2))[1] == MB
    assert (RemoteFunction._remote, ActorClass._remote) == slots
    peaks = recording.peaks()
    assert peaks[done.task_id().hex()] == 14 * MB  # with what its method's other method allocated
    assert peaks[nested] == 5 * MB
    assert [peaks[one.task_id().hex()] for one in at_once] == [2 * size * MB for size in range(1, 5)]
    tasks = [task for one in recording.snapshot()["processes"] for task in one.get("tasks", ())]
    assert {"Base.__init__", "Actor.work", "Coroutines.work", "inner", "outer"} <= {task["name"] for task in tasks}
    assert ray.get(make.remote(1).work.remote(1))[1] == MB  # as before


def test_a_share_of_a_limit_that_there_is_not():
    with pytest.raises(ValueError, match="but there is none: give a size"):
        cluster.record(ray, limit="80%")
