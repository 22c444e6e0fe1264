"""Writing a file so that readers see the old one or the new one, and nothing between.

Where Linux can, the new file has no name until it is whole, so that nothing is left of it when the process is killed.
A name cannot be given to it over another file, so it gets one beside that first, as it has from the start elsewhere.
"""

import contextlib
import errno
import os
import stat

__all__ = []


@contextlib.contextmanager
def replacing(path):
    """Give a file to write, which takes the place of `path` when the block ends well and vanishes when it does not.

    It is written in the folder of its place, flushed to the disk and renamed. A link stays a link; what it points to is
    replaced. An existing file's permissions are kept. Maps of the replaced file stay as they were.
    """
    target = os.path.realpath(os.fsdecode(path))
    mode = mode_of(target)
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".tensix-{os.urandom(8).hex()}.part")
    if not os.path.isdir(folder):  # said here, because the error of open() would name the file beside
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    descriptor = unnamed_file(folder)
    is_named = descriptor is None
    if is_named:
        access = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # Not for a moment with more rights than in the end: who opened it then could read what is written later.
        descriptor = os.open(beside, access, 0o666 if mode is None else mode)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(beside if is_named else descriptor, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
            if not is_named:  # with a folder's descriptor, which goes unused, os.link() follows links
                os.link(f"/proc/self/fd/{descriptor}", beside, src_dir_fd=descriptor)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # not named yet, or renamed already
            os.unlink(beside)
        raise
    flush_folder(folder)


def unnamed_file(folder):
    """Return a descriptor of a new file without a name, None where there is no such thing or no name can be given."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o666)
    except OSError:  # of this file system; if it is of the folder, open() with a name says so
        return None


def mode_of(target):
    """Return the permissions of the file that will be replaced, None if there is none.

    Without the bits that run a program as its owner: the new file has another owner, perhaps, and is another program.
    """
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(f"{target} is a directory.")
    if not stat.S_ISREG(found):
        raise ValueError(f"{target} is no regular file: it cannot be replaced.")
    return stat.S_IMODE(found) & 0o777


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
