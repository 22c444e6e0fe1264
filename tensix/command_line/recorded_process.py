"""The recording of one process of a program, and the file that it leaves.

Note [The end of a process]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
A process writes what it has recorded to a file of its own when it ends, and there are many ways to end. The
interpreter calls `atexit`. Workers of `multiprocessing`, and of what stands on it, leave by ``os._exit``, after the
finalizers of `multiprocessing.util`; that forgets those of the parent when a worker begins, and then calls what asked
to be called after a fork. ``Pool.__exit__`` terminates its workers by a signal, which may come while they leave, and
hold the locks that writing takes. What ends otherwise cannot say so: therefore a thread writes the file now and then,
so seldom that it takes at most a fiftieth of the time.

Note [Memory of a recording]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A program that makes a million arrays would need more memory for their records than for anything else. So records of
freed blocks are kept in a file (Note [The tape] in ``profiling/recorder.pyx``), and the snapshot is never in memory as
a whole: its columns are written a part after the other, each to a file without a name, and these are joined. What the
module imports is in the program's memory, too: `tempfile` and `shutil` alone would be 0.9 MiB.
"""

import atexit
import contextlib
import itertools
import json
import os
import signal
import sys
import threading
import time

from tensix.command_line.process_memory import more_memory
from tensix.command_line.recorded_files import ARRAYS_PEAK, FAILED
from tensix.memory import max_memory_allocated, record
from tensix.memory.background_thread import BackgroundThread
from tensix.memory.native_blocks import ignore_thread

__all__ = ["RecordedProcess"]

FINALIZED_LAST = -1000  # of the finalizers of multiprocessing, after it has waited for the process's own children
SHORTEST_PAUSE = 1.0  # seconds between two files of a process
PAUSE_PER_COST = 50
MOST_OF_NAME = 80  # characters
MOST_AT_ONCE = 1 << 16  # characters

RUNNING, ENDING, ENDED = range(3)  # of a recording


class RecordedProcess:
    """The recording of this process, and its file in a folder.

    `options` are those of `record`. `is_kept` says whether the file is of use when the process ends as it should,
    `is_native` whether blocks of other libraries are recorded, too.
    """

    def __init__(self, folder, options, is_kept, is_native):
        self.folder, self.options, self.is_kept, self.is_native = folder, options, is_kept, is_native
        self.at_failure = None  # called with the bytes that are refused

    def begin(self):
        """Record this process, and each that it forks."""
        self.start()
        os.register_at_fork(after_in_child=self.start_in_fork)
        self.write_at_end()

    def start(self):
        """Begin a recording of this process."""
        self.pid, self.started_ns = os.getpid(), time.monotonic_ns()
        self.path = os.path.join(self.folder, f"{self.pid}-{self.started_ns}")
        self.state, self.late_signal, self.has_failed = RUNNING, None, False
        self.lock, self.writer_now = threading.Lock(), None  # the thread that has it; of each process its own
        try:
            recording = record(resident=True, **self.options)
        except ValueError:  # the command found all packages; this process is of another program, which lacks one
            recording = record(resident=True, **self.options | {"through": None})
        with contextlib.ExitStack() as files:
            recording._keep_in(*(files.enter_context(file_without_name(self.folder, "xb+", buffering=0))
                                 for _ in range(1 + self.is_native)))  # fmt: skip
        recording._at_failure = lambda nbytes: self.at_failure and self.at_failure(nbytes)
        self.recording = recording.start()
        if self.is_native and not recording._note_native():
            print(f"tensix: process {self.pid} records no blocks of other libraries: LD_PRELOAD has no effect on "
                  f"{sys.executable}.", file=sys.stderr)  # fmt: skip
        pause = self.write_now()
        self.writer = BackgroundThread("tensix snapshots", self.write_now, pause, in_child=False).start()

    def start_in_fork(self):
        """Leave what the parent recorded to the parent, and begin a recording of this process."""
        self.recording.stop()
        self.start()
        self.write_at_end()

    def write_at_end(self):
        """See to it that the file is written at the end. See Note [The end of a process]."""
        atexit.register(self.end)
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self.end_by_signal)
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self.end, exitpriority=FINALIZED_LAST)
            util.register_after_fork(self, RecordedProcess.become_worker)

    def become_worker(self):
        """Do that again, once `multiprocessing` has given the process its name."""
        self.write(holders=False, ended=False)
        sys.modules["multiprocessing.util"].Finalize(None, self.end, exitpriority=FINALIZED_LAST)

    def write_now(self):
        """Write the file, for the case that the process is killed; return the seconds until the next time."""
        began = time.monotonic()
        self.write(holders=False, ended=False)
        return max(SHORTEST_PAUSE, PAUSE_PER_COST * (time.monotonic() - began))

    def end(self, holders=True):
        """Write the file, with all there is to say."""
        if self.pid == os.getpid() and self.state == RUNNING:
            self.state = ENDING
            self.writer.end()
            if self.is_kept or not holders:
                self.write(holders, ended=True)
            else:
                self.write_arrays_peak()
            self.recording.stop()
            self.state = ENDED
            if self.late_signal is not None:
                end_process(self.late_signal)

    def end_by_signal(self, number, frame):
        """Write the file, at once, and end as if the signal had not been heard."""
        is_inside = self.state == ENDING or self.writer_now == threading.get_ident()
        if self.pid == os.getpid() and is_inside:  # we are called in the middle of it, and of its locks
            self.late_signal = number
        else:
            self.end(holders=False)
            end_process(number)

    def write(self, holders, ended):
        """Write the file, or say why that is not possible and let the program go on."""
        if self.writer_now == threading.get_ident():  # memory is refused, or a signal comes, while it is written
            return
        with self.with_more_memory():
            self.write_it(holders, ended)
        if self.late_signal is not None and self.state == RUNNING:
            self.end_by_signal(self.late_signal, None)

    @contextlib.contextmanager
    def with_more_memory(self):
        """Hold the lock, so that one thread at a time raises the limit of the process and puts it back."""
        with self.lock:
            self.writer_now = threading.get_ident()
            ignore_thread(1)
            try:
                with more_memory():
                    yield
            finally:
                ignore_thread(-1)
                self.writer_now = None

    def write_it(self, holders, ended):
        """Do so, in the thread that holds the lock."""
        try:
            with ColumnFiles(self.folder) as columns:
                snapshot = self.recording._snapshot_in_parts(columns.take, holders=holders)
                snapshot |= {
                    "pid": self.pid, "name": name_of_process(), "started_ns": self.started_ns, "ended": ended,
                }  # fmt: skip
                with open(self.path + ".part", "w", encoding="ascii") as file:
                    file.write(json.dumps(snapshot)[:-1] + ', "blocks": {')
                    columns.write(file)
                    file.write("}}")
            os.replace(self.path + ".part", self.path + ".json")
            self.write_arrays_peak()
        except FileNotFoundError:  # the folder is gone: this process outlives the program, and no one waits for it
            pass
        except (OSError, MemoryError) as error:
            if not self.has_failed:  # it is tried now and then
                self.mark_as_failed()
                print(f"tensix: the memory of process {self.pid} could not be written: {error}. TMPDIR says in which "
                      "folder it is kept while the program runs.", file=sys.stderr)  # fmt: skip
            self.has_failed = True

    def write_arrays_peak(self):
        """Write down the most that arrays had at one time."""
        with contextlib.suppress(OSError), open(self.path + ARRAYS_PEAK, "w", encoding="ascii") as file:
            file.write(str(max_memory_allocated()))

    def mark_as_failed(self):
        """Leave an empty file, for which there is space where there is none for bytes."""
        try:
            os.close(os.open(self.path + FAILED, os.O_CREAT | os.O_WRONLY))
        except OSError as error:
            print(f"tensix: nor could that be noted: {error}.", file=sys.stderr)


class ColumnFiles(contextlib.ExitStack):
    """Columns of a snapshot, each in a file of a folder, which the scope closes. See Note [Memory of a recording]."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.files = folder, {}

    def take(self, columns):
        """Add a part to the columns."""
        for name, values in columns.items():
            if name not in self.files:
                self.files[name] = self.enter_context(file_without_name(self.folder, "x+", encoding="ascii"))
            if values:
                self.files[name].write("," * (self.files[name].tell() > 0) + json.dumps(values)[1:-1])

    def write(self, target):
        """Write the columns as what is between the braces of a JSON object."""
        for number, (name, file) in enumerate(self.files.items()):
            target.write(f"{', ' * (number > 0)}{json.dumps(name)}: [")
            file.seek(0)
            while part := file.read(MOST_AT_ONCE):
                target.write(part)
            target.write("]")


FILE_NUMBERS = itertools.count()


def file_without_name(folder, mode, **options):
    """Open a new file that goes when it is closed; where the system does not allow that, with the folder."""
    path = os.path.join(folder, f"{os.getpid()}-{next(FILE_NUMBERS)}.unnamed")
    file = open(path, mode, **options)  # noqa: SIM115 - the caller closes it
    with contextlib.suppress(PermissionError):
        os.remove(path)
    return file


def end_process(number):
    """End this process by a signal that is not caught."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def name_of_process():
    """Return what `multiprocessing` calls this process, or its command line."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        return process.current_process().name
    if "--multiprocessing-fork" in sys.orig_argv:  # a new interpreter that has not been told its name yet
        return "of multiprocessing"
    return " ".join(sys.orig_argv[1:])[:MOST_OF_NAME]
