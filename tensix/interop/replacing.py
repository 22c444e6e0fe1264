"""Writing a file so that readers see the old one or the new one, and nothing between."""

import contextlib
import errno
import os
import stat

__all__ = []


@contextlib.contextmanager
def replacing(path):
    """Give a file to write, which takes the place of `path` when the block ends well and vanishes when it does not.

    It is written beside its place, flushed to the disk and renamed. A link stays a link; what it points to is replaced.
    An existing file's permissions are kept. Maps of the replaced file stay as they were.
    """
    target = os.path.realpath(os.fsdecode(path))
    mode = mode_of(target)
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".tensix-{os.urandom(8).hex()}.part")
    if not os.path.isdir(folder):  # said here, because the error of open() would name the file beside
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(beside, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # renamed already
            os.unlink(beside)
        raise
    flush_folder(folder)


def mode_of(target):
    """Return the permissions of the file that will be replaced, None if there is none."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(f"{target} is a directory.")
    if not stat.S_ISREG(found):
        raise ValueError(f"{target} is no regular file: it cannot be replaced.")
    return stat.S_IMODE(found)


def flush_folder(folder):
    """Flush the new name to the disk, where the system does that for folders."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # who may write in a folder need not be allowed to list it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that knows no such thing
            raise
    finally:
        os.close(descriptor)
