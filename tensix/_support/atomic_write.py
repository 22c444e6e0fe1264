"""Write a file so that readers see the old one or the new one, and nothing between.

Where Linux allows, the new file has no name until it is complete, so nothing is left of it if the process is killed.
It cannot be linked over an existing name, so it gets a temporary name first; elsewhere it has that from the start.
"""

import contextlib
import errno
import os
import stat
import warnings

# Attributes about the bytes of the old file: the rights of a program, and checksums that the system compares.
OF_OLD_CONTENT = {"security.capability", "security.evm", "security.ima"}


@contextlib.contextmanager
def atomic_write(path):
    """Open a file that replaces `path` when the block ends, and is removed if the block raises.

    It is written in the folder of `path`, flushed to the disk and renamed. A symbolic link is followed: its target is
    replaced. A file that may not be written is not replaced. Owner, group, permissions and extended attributes are
    kept; a warning names those that the system does not allow to keep, before anything is replaced. Maps of the
    replaced file do not change.
    """
    target = os.path.realpath(os.fsdecode(path))
    old = old_file(target)
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".tensix-{os.urandom(8).hex()}.part")
    if not os.path.isdir(folder):  # said here, because the error of open() would name the file beside
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    descriptor = unnamed_file(folder)
    is_named = descriptor is None
    if is_named:
        descriptor = named_file(beside, 0o666 if old is None else 0o600)
    try:
        with open(descriptor, "wb") as file:
            if old is not None and os.name == "posix":
                keep(old, descriptor, target)
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


def named_file(path, mode):
    """Return a descriptor of a new file.

    Its permissions are never more than in the end: a process that opened it then could read what is written later.
    """
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except PermissionError as error:
        reason = f"{error.strerror}: a file is written beside the one that it replaces, in this folder"
        raise PermissionError(error.errno, reason, os.path.dirname(path)) from None


def old_file(target):
    """Return the status of the file that will be replaced, None if there is none.

    The file is opened for writing: what may not be written may not be replaced either.
    """
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{target} is a directory.")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{target} is not a regular file: it cannot be replaced.")
    descriptor = os.open(target, os.O_WRONLY)
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def keep(old, descriptor, target):
    """Give a new file the owner, group, attributes and permissions of the old one; warn of what is not possible.

    Not kept are the bits that run a program as its owner: the new file is another program.
    """
    lost = []

    def attempt(what, call, *arguments):
        try:
            return call(*arguments)
        except OSError as error:
            lost.append(f"{what} ({error.strerror})")

    new = os.fstat(descriptor)
    if new.st_uid != old.st_uid:
        attempt(f"owner {old.st_uid}", os.fchown, descriptor, old.st_uid, -1)
    if new.st_gid != old.st_gid:
        attempt(f"group {old.st_gid}", os.fchown, descriptor, -1, old.st_gid)
    names = attributes_of(target)
    for name in attributes_of(descriptor) - names:  # such as a list of access that the folder gives to new files
        attempt(f"absence of attribute {name}", os.removexattr, descriptor, name)
    for name in names:
        value = attempt(f"attribute {name}", os.getxattr, target, name)
        if value is not None:
            attempt(f"attribute {name}", os.setxattr, descriptor, name, value)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != old.st_gid:  # another group may do what everybody may
        mode = mode & 0o707 | (mode & 0o007) << 3
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:  # last: a list of access changes them, too
        os.fchmod(descriptor, mode)
    if lost:
        text = f"{target} is replaced by a file that does not keep of the old one: {', '.join(lost)}."
        warnings.warn(text, RuntimeWarning, stacklevel=7)  # of save(), which checks its arguments first


def attributes_of(file):
    """Return the names of a file's extended attributes, to which a list of access belongs; none but on Linux."""
    try:
        return set(os.listxattr(file)) - OF_OLD_CONTENT if hasattr(os, "listxattr") else set()
    except OSError as error:
        if error.errno != errno.ENOTSUP:  # a file system that knows no such thing
            raise
        return set()


def flush_folder(folder):
    """Flush the new name to the disk, where the system does that for folders."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one who may write in a folder need not be allowed to list it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that knows no such thing
            raise
    finally:
        os.close(descriptor)
