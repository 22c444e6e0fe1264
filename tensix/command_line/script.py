"""Run a script as ``python SCRIPT ARGS`` does."""

import builtins
import io
import os
import sys
import threading
import types

__all__ = ["run_script"]


def run_script(path, words, at_start, at_end):
    """Run a script and return its exit status, which is what `sys.exit` takes.

    Parameters
    ----------
    path : str
        Of the script.
    words : list of str
        Its arguments.
    at_start : callable
        Called just before its first line.
    at_end : callable
        Called when the script and its threads have ended, in this process only, while all that its global names and its
        error hold is still alive.
    """
    with io.open_code(path) as file:
        source = file.read()
    main = types.ModuleType("__main__")
    main.__file__ = os.path.abspath(path)
    main.__builtins__ = builtins
    process = os.getpid()
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    try:
        sys.modules["__main__"], sys.argv = main, [path, *words]
        if not sys.flags.safe_path:
            sys.path[0] = os.path.dirname(main.__file__)  # in place of the folder of ``python -m``
        at_start()
        error = error_of(source, main)
        if os.getpid() == process:  # else this is a fork that came back from the script
            wait_for_threads()
            sys.argv, sys.path[:] = [path, *words], before[2]  # the script may have left none
            at_end()
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
    if isinstance(error, SystemExit):
        return error.code
    return 0 if error is None else 130 if isinstance(error, KeyboardInterrupt) else 1


def error_of(source, main):
    """Run code in a module; return what ended it, None at its last line. A traceback has been printed then."""
    try:
        exec(compile(source, main.__file__, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as error:
        return error
    except BaseException as error:
        error.__traceback__ = without_our_frames(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return error
    return None


def without_our_frames(traceback):
    """Return a traceback from the first frame of the script on."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def wait_for_threads():
    """Wait for the threads that the interpreter would wait for at its end."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
