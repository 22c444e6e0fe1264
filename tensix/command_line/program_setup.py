"""Set up a process of a program that ``run`` or ``memory`` starts: the allocator, the limit, the recording.

Called by ``at_startup``; see Note [How a program is set up] in ``program.py``. The program waits for what is
imported here, so each module is imported by what needs it.
"""

import ast
import atexit
import os
import sys
from importlib import import_module
from importlib.util import find_spec

from tensix.core import CPUAllocator, format_size, get_allocator, set_allocator
from tensix.memory.caching_allocator import CachingAllocator
from tensix.memory.numpy_scope import serve_numpy

__all__ = ["begin"]

SHARE_KEPT = 8  # a part of the process's limit
begun = []  # what is kept for as long as the process lives


def begin(text):
    """Begin, once in a process; the text is a dict as Python writes it: which of the things below are wanted."""
    if begun:
        return
    settings = ast.literal_eval(text)  # NumPy has imported it, and json not
    begun.append(settings)
    serve(settings)
    if settings.get("stats_of") == os.getpid() or settings.get("stats_of_child_of") == os.getppid():
        begun.append(import_module("tensix.memory").statistics())
        atexit.register(print_stats, os.getpid(), begun[-1].__enter__())
    if "folder" in settings:
        recorded_process = import_module("tensix.command_line.recorded_process")
        box = settings["black_box"]
        recorded = recorded_process.RecordedProcess(
            settings["folder"], settings["record"], box["is_kept"], bool(settings.get("native"))
        )
        with import_module("tensix.command_line.process_memory").more_memory():  # for the stacks of threads
            recorded.begin()
            import_module("tensix.command_line.black_box").BlackBox(recorded, box).begin()
    allow_reserved()


def begin_further(name):
    """Put PyTorch's tensors into memory of tensix, or name the tasks of Dask, once it is imported."""
    if name == "distributed" and begun and "folder" in begun[0]:
        worker = import_module("dask.config").config["distributed"]["worker"]
        found = worker["preload"]
        worker["preload"] = [*([found] if isinstance(found, str) else found), "tensix.profiling.dask_workers"]
    if name == "torch" and begun and begun[0].get("torch", True):
        import_module("tensix.memory.torch_scope").serve_torch.serve_program()
        allow_reserved()


def allow_reserved():
    """Let what was reserved so far not count, as when NumPy or PyTorch was imported and threads were started."""
    if begun[0].get("limit") is not None:
        import_module("tensix.command_line.process_memory").allow_reserved(begun[0]["limit"])


def serve(settings):
    """Put NumPy's arrays into memory of tensix, of the kind that is asked for."""
    memory = import_module("tensix.memory")
    upstream = memory.HugePageAllocator() if settings.get("huge_pages") else None
    if settings.get("limit_arrays") is not None:
        upstream = memory.LimitingAdaptor(upstream or CPUAllocator(), settings["limit_arrays"])
    if upstream is not None:
        set_allocator("cpu", CachingAllocator(upstream))
    if settings.get("limit") is not None:  # what is kept for reuse counts, and others cannot ask for it
        get_allocator().max_cached = min(get_allocator().max_cached, settings["limit"] // SHARE_KEPT)
    if settings.get("numpy", True):
        serve_numpy.serve_program()


def print_stats(pid, counted):
    """Say what happened in a process, if it is this one and no fork of it."""
    if os.getpid() != pid:
        return
    rows = {"peak": format_size(counted.peak_bytes)}
    allocator = get_allocator()
    if isinstance(allocator, CachingAllocator):  # else the program chose another one
        kept = allocator.stats()
        rows["blocks"] = f"{kept.hits + kept.misses:,}, {kept.hits:,} of them used before"
        rows["reused"] = format_size(kept.reused)
        rows["kept"] = f"{format_size(kept.cached)}, {format_size(kept.resident)} of it with pages"
        if find_spec("resource"):  # not on Windows
            resource = import_module("resource")
            usage = resource.getrusage(resource.RUSAGE_SELF)
            avoided = kept.reused // resource.getpagesize()
            rows["page faults"] = f"{usage.ru_minflt + usage.ru_majflt:,}; without reuse up to {avoided:,} more"
    print("tensix: memory of this process", file=sys.stderr)
    for name, text in rows.items():
        print(f"    {name:<11}  {text}", file=sys.stderr)
