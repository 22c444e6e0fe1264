"""The tasks of a Dask cluster, recorded and limited; workers that are killed, and workers that were begun by hand."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tensix
from tensix.memory import cluster, load_snapshot

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

MB = 1_000_000
OPTIONS = {"dashboard_address": ":0", "memory_limit": "1GB"}


def wait_for(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def make_and_keep_little(size):
    x = np.ones(size * MB, "u1")
    y = x + x
    time.sleep(0.02)
    del x
    return y[:10].copy()


def ask_for(size):
    return int(np.ones(size * MB, "u1").sum())


@pytest.fixture(scope="module")
def client():
    """Return a client of two workers in processes, eight threads each."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=8, **OPTIONS) as made, \
            distributed.Client(made) as client:  # fmt: skip
        yield client


def test_the_peak_of_each_task_is_exact_with_eight_threads(client):
    with cluster.record(client) as recording:
        sizes = range(1, 25)
        client.gather([client.submit(make_and_keep_little, size, key=f"make-{size}") for size in sizes])
        running = recording.peaks()
    for peaks in (running, recording.peaks()):
        assert {key: peaks[key] for key in map("make-{}".format, sizes)} == {f"make-{n}": 2 * n * MB for n in sizes}


def test_coroutines_of_one_thread_are_told_apart(client):
    async def work(size):
        import asyncio  # noqa: PLC0415 - it runs in the worker

        x = np.ones(size * MB, "u1")
        await asyncio.sleep(0.1)
        y = x + x
        return len(y) * 0

    with cluster.record(client) as recording:
        client.gather([client.submit(work, size, key=f"async-{size}") for size in range(1, 9)])
        assert {key: peak for key, peak in recording.peaks().items() if key.startswith("async-")} == {
            f"async-{size}": 2 * size * MB for size in range(1, 9)
        }


def test_one_snapshot_of_all_workers(client, tmp_path):
    with cluster.record(client) as recording:
        x = da.ones((2000, 2000), chunks=500)
        assert (x @ x.T).sum().compute() == 2000**3
        kept = client.submit(np.empty, 3 * MB, key="kept")
        distributed.wait(kept)
        recording.save(tmp_path / "page.html")
        recording.save(tmp_path / "page.json")
    for snapshot in (load_snapshot(tmp_path / "page.json"), recording.snapshot()):
        assert len(snapshot["processes"]) == 2
        assert all(one["name"].startswith("worker ") for one in snapshot["processes"])
        tasks = [task for one in snapshot["processes"] for task in one["tasks"]]
        assert {"kept", "ones_like"} < {task["name"] for task in tasks} and len(tasks) > 20
        (of_kept,) = [task for task in tasks if task["key"] == "kept"]
        assert (of_kept["peak"], of_kept["left"], of_kept["name"]) == (24 * MB, 24 * MB, "kept")
        assert of_kept["began_ns"] <= of_kept["ended_ns"]
        lines = {one["frames"][site]["function"] for one in snapshot["processes"] for site in one["call_sites"]
                 if site is not None}  # fmt: skip
        assert "task kept" in lines and not any("Task.__call__" in line for line in lines)
    assert '"key":"kept"' in (tmp_path / "page.html").read_text()


def test_a_task_beyond_the_limit_fails_and_its_worker_lives(client):
    processes = client.run(os.getpid)
    with cluster.record(client, limit="60%"):
        held = client.submit(np.ones, 25 * MB, key="held")
        distributed.wait(held)
        failed = client.submit(ask_for, 900, retries=2, key="too-much")
        with pytest.raises(MemoryError, match=r"limit 600,000,000") as caught:
            failed.result()
        assert client.run(os.getpid) == processes
        assert client.submit(ask_for, 300).result() == 300 * MB
        where = client.who_has([held])["held"]
        with pytest.raises(MemoryError, match=r"Most is held by these lines: 190.73 MiB by task held"):
            client.submit(ask_for, 700, workers=where).result()
    assert "900000000" in str(caught.value)
    del held  # with it, and what Python takes, a worker would come near its own limit
    assert client.submit(ask_for, 610).result() == 610 * MB  # the limit went with the recording


def test_retries_of_dask_apply(client, tmp_path):
    """The second try asks for less."""

    def work():
        tries = len(list(tmp_path.iterdir()))
        (tmp_path / str(tries)).touch()
        return ask_for(100 if tries else 400)

    with cluster.record(client, limit="300MB") as recording:
        assert client.submit(work, retries=1, key="twice").result() == 100 * MB
        assert len(list(tmp_path.iterdir())) == 2
        assert 100 * MB <= recording.peaks()["twice"] < 101 * MB


@pytest.mark.parametrize("limit", ["120%", "much", -1, "0%"])
def test_limits_that_are_none(client, limit):
    with pytest.raises(ValueError):
        cluster.record(client, limit=limit).__enter__()
    with cluster.record(client) as recording:  # the workers are as before
        assert client.submit(ask_for, 1).result() == MB
    assert recording.peaks()


def test_a_worker_that_is_killed_shows_what_it_held():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, **OPTIONS) as made, \
            distributed.Client(made) as client, cluster.record(client) as recording:  # fmt: skip
        kept = client.submit(np.empty, 4 * MB, key="kept")
        distributed.wait(kept)
        ((address,),) = client.who_has([kept]).values()
        pid = client.run(os.getpid)[address]
        reports = recording.workers.reports().latest
        wait_for(lambda: any(one["pid"] == pid and one["held"] >= 32 * MB for one in [*reports.values()]))
        assert recording.lost() == []
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: len(recording.lost()) == 1 and len(client.run(os.getpid)) == 2)
        (lost,) = recording.lost()
        assert lost["pid"] == pid and lost["lines"][0][0] == 32 * MB
        assert lost["lines"][0][3] == "task kept"
        assert recording.peaks()["kept"] == 32 * MB
        snapshot = recording.snapshot()
        (dead,) = [one for one in snapshot["processes"] if not one["ended"]]
        assert dead["pid"] == pid and sum(dead["blocks"]["nbytes"]) >= 32 * MB
        text = json.dumps(snapshot)
        assert json.loads(text)["processes"][0]["pid"]


def test_workers_that_are_threads_of_this_process():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=4, processes=False, dashboard_address=":0") as made, \
            distributed.Client(made) as client:  # fmt: skip
        with cluster.record(client, limit="600MB") as recording:
            client.gather([client.submit(make_and_keep_little, size, key=f"make-{size}") for size in range(1, 9)])
            assert isinstance(client.submit(ask_for, 700).exception(), MemoryError)
        assert {key: peak for key, peak in recording.peaks().items() if key.startswith("make-")} == {
            f"make-{size}": 2 * size * MB for size in range(1, 9)
        }
        assert "processes" not in recording.snapshot()


def test_workers_begun_by_hand_over_tcp():
    """A scheduler and workers as processes of their own, one of which joins while it is recorded."""
    python = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    with subprocess.Popen(
        [*python, "--port", "0", "--no-dashboard", "--host", "127.0.0.1"], stderr=subprocess.PIPE, text=True
    ) as scheduler:
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "2", "--no-dashboard",
                   "--memory-limit", "1GB"]  # fmt: skip
        workers = [subprocess.Popen(command, stderr=subprocess.DEVNULL)]
        try:
            with distributed.Client(address) as client:
                client.wait_for_workers(1)
                with cluster.record(client, limit="50%") as recording:
                    workers.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
                    client.wait_for_workers(2)
                    client.gather([client.submit(make_and_keep_little, n, key=f"make-{n}") for n in range(1, 9)])
                    assert isinstance(client.submit(ask_for, 600).exception(), MemoryError)
                    assert recording.peaks()["make-8"] == 16 * MB
                assert len(recording.snapshot()["processes"]) == 2
        finally:
            for process in [*workers, scheduler]:
                process.terminate()
                process.wait(60)


def test_nothing_of_dask_is_replaced_once_no_recording_runs(client):
    def replaced(dask_worker):
        return "execute" in vars(dask_worker), type(dask_worker).execute.__module__

    def found():
        return {*client.run(replaced).values()}

    assert found() == {(False, "distributed.worker")}
    with cluster.record(client) as first:
        second = cluster.record(client).__enter__()
        assert found() == {(True, "distributed.worker")}
        client.submit(ask_for, 1, key="both").result()
    client.submit(ask_for, 2, key="after").result()
    assert {key for key in second.peaks() if key in ("both", "after")} == {"both", "after"}
    assert "after" not in first.peaks()
    second.__exit__()
    assert found() == {(False, "distributed.worker")}


PROGRAM = """
import dask, distributed, numpy
dask.config.set({"distributed.worker.preload": [*dask.config.get("distributed.worker.preload"), "json"]})
if __name__ == "__main__":
    with distributed.Client(n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
        distributed.wait(client.submit(numpy.ones, 10**6, key="named"))
"""


def test_programs_with_a_cluster_inside_need_no_change(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "tensix", "memory", "-q", "-o", "page.json", "program.py"]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=100)
    snapshot = load_snapshot(tmp_path / "page.json")
    named = [task for one in snapshot["processes"] for task in one.get("tasks", ()) if task["key"] == "named"]
    assert [task["peak"] >= 8 * MB for task in named] == [True]


def test_what_is_not_a_client():
    with pytest.raises(TypeError, match=r"record\(\) needs a distributed.Client or the module ray, found int"):
        cluster.record(3)


def test_a_recording_is_entered_once(client):
    recording = cluster.record(client)
    with pytest.raises(RuntimeError, match="not started"):
        recording.peaks()
    with recording:
        pass
    with pytest.raises(RuntimeError, match="recorded once"):
        recording.__enter__()


def test_importing_tensix_imports_no_engine():
    program = "import sys, tensix.memory.cluster; print({'dask', 'distributed', 'ray'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert tensix.memory.cluster is cluster
