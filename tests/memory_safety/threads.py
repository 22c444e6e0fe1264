"""Work of all kinds on the same objects in 64 threads at once, with exact counts at the end.

``python threads.py [rounds] [threads]`` prints what was done. Nothing may be lost: counts are those of the work, every
byte is what its last writer wrote, each block goes back to where it came from. What hangs is ended, with a traceback
of every thread, after `SECONDS`.
"""

import contextlib
import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np

import tensix
from tensix import memory
from tensix.core import IntrusiveTarget, Storage, WeakIntrusivePtr, make_intrusive
from tensix.testing import assert_no_leaks

SECONDS = 600
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else 64


def in_all_threads(work):
    """Run work(number) in every thread, begun together; raise what one of them raised."""
    errors, barrier = [], threading.Barrier(THREADS)

    def run(number):
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return THREADS * ROUNDS


class Counted(IntrusiveTarget):
    """Count what is made and released."""

    made, released = [], []

    def __init__(self):
        self.made.append(1)

    def release_resources(self):
        self.released.append(1)


def owners():
    """Copy, move, lock and drop handles of one target."""
    strong = make_intrusive(Counted)
    weak = WeakIntrusivePtr(strong)

    def work(number):
        for _ in range(ROUNDS):
            twin = strong.copy()
            locked = weak.lock()
            assert locked == twin and strong.use_count() >= 3
            heir = twin.move()
            WeakIntrusivePtr(heir).lock().reset()
            heir.reset()

    done = in_all_threads(work)
    assert (strong.use_count(), strong.weak_use_count()) == (1, 2)
    return done


def last_owners():
    """Lock a target while its last owner goes: it lives or it does not, and is released once."""
    Counted.made.clear()
    Counted.released.clear()
    slots = [[make_intrusive(Counted)] for _ in range(ROUNDS)]
    weak = [WeakIntrusivePtr(slot[0]) for slot in slots]
    watches = [weakref.ref(slot[0].get()) for slot in slots]

    def work(number):
        for slot, each in zip(slots, weak, strict=True):
            locked = each.lock()
            assert (locked.use_count() > 0) == locked.defined()
            with contextlib.suppress(IndexError):
                slot.pop().reset()  # one thread has it
            locked.reset()

    done = in_all_threads(work)
    weak.clear()
    assert len(Counted.made) == len(Counted.released) == ROUNDS
    assert all(watch() is None for watch in watches)
    return done


def storages():
    """Share one block under many storages, and free it once."""
    freed = []
    whole = Storage.from_data_ptr(8, tensix.DataPtr.from_callable(0x1000, freed.append))

    def work(number):
        for _ in range(ROUNDS):
            twin = whole.share()
            third = twin.weak().lock()
            assert twin.data_ptr() == 0x1000 and third.use_count() == 2

    done = in_all_threads(work)
    assert freed == []
    whole.reset()
    assert freed == [0x1000]
    return done


def copies_on_write():
    """Clone lazily what others write to; every clone has what its owner wrote."""
    source = tensix.arange(2000)
    chain = [source.lazy_clone()]

    def work(number):
        dice, own, mark = random.Random(number), source.lazy_clone(), None
        for _ in range(ROUNDS):
            action = dice.randrange(5)
            if action == 0:
                own, mark = own.lazy_clone(), mark
            elif action == 1:
                mark = dice.randrange(1000)
                own.fill_(mark)
            elif action == 2:
                own, mark = source.lazy_clone(), None
            elif action == 3:
                chain[0] = chain[0].lazy_clone()  # which others clone and drop meanwhile
            else:
                own = own.clone()
            assert int(own[1999]) == (1999 if mark is None else mark) and int(own[0]) == (mark or 0)

    done = in_all_threads(work)
    assert source.tolist() == list(range(2000)) == chain[0].tolist()
    chain.clear()
    source[0] = 0
    assert not source.is_cow() and source.use_count() == 1
    return done


def updates():
    """Write to rows of one tensor, each row its thread's: no update is lost, none strays."""
    table = tensix.zeros((THREADS, 50), dtype="int64")
    before = table.version

    def work(number):
        row = table[number]
        for _ in range(ROUNDS):
            row += 1

    done = in_all_threads(work)
    assert (table == ROUNDS).all() and table.version - before == THREADS * ROUNDS
    return done


def exports():
    """Export one tensor to arrays, buffers and DLPack, all of which go again."""
    x = tensix.zeros((THREADS, 8), dtype="int64")

    def work(number):
        for count in range(ROUNDS):
            view = (np.asarray, np.from_dlpack, memoryview, tensix.from_dlpack)[count % 4](x)
            if count % 4 == 0:
                view[number, 0] += 1
            else:
                assert view[number, 1] == 0

    done = in_all_threads(work)
    assert x[:, 0].tolist() == [sum(count % 4 == 0 for count in range(ROUNDS))] * THREADS
    assert x.storage().use_count() == 2
    x.lazy_clone()
    assert x.is_cow()  # as no storage is that still has an export
    return done


def operators():
    """Declare, implement, call and undo operators, while others call."""
    before = tensix.dispatcher.operators()

    def work(number):
        with tensix.Library(f"threads{number}") as own:
            own.define("twice(Tensor x) -> Tensor")
            twice = getattr(tensix.ops, f"threads{number}").twice
            for count in range(ROUNDS // 4):
                with tensix.Library(f"threads{number}") as again:
                    again.impl("twice", lambda x, count=count: x + count)
                    assert twice(tensix.ones(2)).tolist() == [1 + count] * 2

    done = in_all_threads(work)
    assert tensix.dispatcher.operators() == before
    return done


class Counting(tensix.CPUAllocator):
    """Count blocks of its own."""

    def __init__(self):
        super().__init__()
        self.blocks = 0
        self.lock = threading.Lock()

    def allocate(self, nbytes):
        with self.lock:
            self.blocks += 1
        return super().allocate(nbytes)


def allocators():
    """Switch allocators of a thread and of all; each block says who made it, none is lost."""
    ours, before = [Counting() for _ in range(THREADS)], tensix.get_allocator()
    use, default = tensix.use_allocator, [memory.CachingAllocator(), memory.GuardAdaptor(None), before]

    def work(number):
        for count in range(ROUNDS):
            tensix.set_allocator("cpu", default[count % 3])
            with use(ours[number]):
                x = tensix.empty(100)
                assert x.allocator is ours[number]
            tensix.ones(300).lazy_clone().fill_(2)

    done = in_all_threads(work)
    tensix.set_allocator("cpu", before)
    assert [one.blocks for one in ours] == [ROUNDS] * THREADS
    return done


def records():
    """Count, profile and record in every thread, each its own and all together."""
    with memory.statistics() as whole, memory.record(max_events=10 * THREADS * ROUNDS) as recording:

        def work(number):
            for _ in range(ROUNDS):
                with memory.statistics(this_thread=True) as own, memory.profile(quiet=True):
                    x = tensix.empty(100)
                    x = x.lazy_clone()
                    x.fill_(1)
                assert (own.total_count, own.total_bytes) == (1, 400), (own.total_count, own.total_bytes)

        done = in_all_threads(work)
        snapshot = recording.snapshot(holders=False)
    assert whole.total_count == done and whole.current_count == 0, whole
    assert str(snapshot)
    return done


def kernels():
    """Drop, exchange and resize operands of kernels that run without the GIL."""
    box = [tensix.ones(300_000), tensix.ones(300_000)]

    def work(number):
        for _ in range(max(ROUNDS // 20, 1)):
            if number % 2:
                x, y = box
                with contextlib.suppress(RuntimeError):  # it was resized
                    assert float((x + y).sum()) == 600_000
            elif number % 4:
                box[number % 8 // 4] = tensix.ones(300_000)
            else:
                x = box[0]
                with contextlib.suppress(RuntimeError):  # it is in use
                    x.set_(tensix.ones(300_000))
                with contextlib.suppress(RuntimeError):
                    x.storage().resize_(x.storage().nbytes())

    return in_all_threads(work) // ROUNDS * max(ROUNDS // 20, 1)


def caches():
    """Free in one thread what another one allocated."""
    caching, queue = memory.CachingAllocator(tensix.CPUAllocator(), max_cached="1 MiB"), []
    before = tensix.CPUAllocator.bytes_in_use()

    def work(number):
        dice = random.Random(number)
        with tensix.use_allocator(caching):
            for _ in range(ROUNDS):
                queue.append(tensix.empty(dice.randrange(1, 5000)))
                if len(queue) > 50:
                    with contextlib.suppress(IndexError):
                        queue.pop(dice.randrange(50))

    done = in_all_threads(work)
    queue.clear()
    assert caching.stats().in_use == 0
    caching.trim()
    assert tensix.CPUAllocator.bytes_in_use() == before
    return done


def forks():
    """Fork while all others work; the child computes, copies, records and ends."""
    stop = threading.Event()
    x = tensix.arange(200_000)

    def busy(number):
        while not stop.is_set():
            own = x.lazy_clone()
            own += 1
            with memory.statistics(this_thread=True):
                tensix.ones(1000 * number + 1).sum()

    threads = [threading.Thread(target=busy, args=(number,)) for number in range(THREADS // 4)]
    for thread in threads:
        thread.start()
    count = max(ROUNDS // 15, 2)
    for _ in range(count):
        child = os.fork()
        if child == 0:
            signal.alarm(120)  # one that hangs ends, and not well
            with memory.record() as recording, memory.serve_numpy():
                y = x.lazy_clone()
                y += 1
                right = int(y.sum()) == int(x.sum()) + 200_000 and np.ones(5000).sum() == 5000
            os._exit(0 if right and str(recording.snapshot()) else 1)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    for thread in threads:
        thread.join()
    assert int(x.sum()) == 199_999 * 100_000
    return count


class Interrupted(BaseException):
    """An exception that a handler raises."""


def signals():
    """Let a handler allocate every millisecond, and then one raise, while kernels run in the main thread."""
    handled, results = [0, 0], 0
    x, y = tensix.ones(2_000_000), tensix.arange(50_000)

    def allocate(number, frame):
        handled[0] += 1
        y.lazy_clone().fill_(handled[0])
        np.asarray(x)[0]

    def interrupt(number, frame):
        handled[1] += 1
        raise Interrupted if handled[1] % 2 else KeyboardInterrupt

    # The one that raises is called once in each round: a second time could be where the first is handled.
    for handler, first, period in ((allocate, 0.001, 0.001), (interrupt, 0.005, 0)):
        before = signal.signal(signal.SIGALRM, handler)
        end = time.monotonic() + ROUNDS / 100
        try:
            while time.monotonic() < end:
                with contextlib.suppress(Interrupted, KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, first, period)
                    found = (x * 2 + y[7]).sum(), tensix.sort(y, descending=True)[0], np.median(x)
                    x.copy_(x)
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    assert (float(found[0]), int(found[1]), float(found[2])) == (18_000_000, 49_999, 1)
                    results += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert float(x.sum()) == 2_000_000 and min(handled) > 0 and results > 0
    x.set_(tensix.zeros(3))  # refused if an interrupted operation had left it in use
    assert y.tolist() == list(range(50_000)) and y.use_count() == 1
    return sum(handled)


AT_EXIT = """
import mmap, os, sys, tempfile, threading, time
import numpy as np, tensix
from tensix import memory
from tensix.files.shared_memory import share
recording = memory.record().start()
served = memory.serve_numpy()
whole = memory.statistics(); whole.__enter__()
copies = memory.copies(); copies.__enter__()
scope = tensix.use_allocator(memory.GuardAdaptor(memory.TrackingAdaptor(None))); scope.__enter__()
folder = tempfile.mkdtemp()
tensix.save(folder + "/a.npz", {"x": tensix.ones(9)})
mapped = tensix.load(folder + "/a.npz")["x"]
os.unlink(folder + "/a.npz"); os.rmdir(folder)
shared = share(tensix.ones(3))
array = np.ones(5000); over = tensix.from_numpy(array); view = np.asarray(mapped.lazy_clone())
library = tensix.Library("at_exit"); library.define("f(Tensor x) -> Tensor"); library.impl("f", lambda x: x)
cycle = [tensix.ones(3)]; cycle.append(cycle)
local = threading.local(); local.kept = tensix.ones(4)
sys.kept = tensix.ones(5).lazy_clone()
started = threading.Barrier(9)
def work(number):
    started.wait()
    while True:
        x = tensix.ones(150_000 if number % 2 else 50)
        y = x.lazy_clone(); y += 1
        tensix.ops.at_exit.f(y); np.sort(np.arange(3000)); over.sum(); share(y[:3])
for number in range(8):
    threading.Thread(target=work, args=(number,), daemon=True).start()
started.wait()
time.sleep(NUMBER / 100)
"""


def exits():
    """End the interpreter while everything is alive and threads run."""
    count = max(ROUNDS // 30, 2)
    for number in range(count):
        code = AT_EXIT.replace("NUMBER", str(number))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr[-2000:])
    return count


KINDS = [
    owners, last_owners, storages, copies_on_write, updates, exports, operators, allocators, records, kernels, caches,
    forks, signals, exits,
]  # fmt: skip


def main():
    """Do all of it, one after the other."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    sys.setswitchinterval(1e-5)
    tensix.set_num_threads(4)
    for kind in KINDS:
        start = time.monotonic()
        count = assert_no_leaks()(kind)()
        print(f"{kind.__name__:>16}: {count:9,} times, {time.monotonic() - start:6.1f} s", flush=True)
    print(f"{len(KINDS)} kinds of work, {THREADS} threads: nothing was lost, leaked or late")


if __name__ == "__main__":
    main()
