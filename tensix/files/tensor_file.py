"""A file of several tensors, as the dict that it is."""

from collections.abc import Iterator, MutableMapping
from typing import Any, Self

from tensix._support.argument_errors import names_signature
from tensix._tensor import Tensor
from tensix.core.free_threading import change_lock
from tensix.files.raw_file import Entry, RawFile

__all__ = ["TensorFile"]

TAKING = change_lock()  # of tensors that a file has, into its dict


class TensorFile(dict[str, Tensor]):
    """Hold the tensors of a file by name: a dict that takes each from the file when it is first asked for.

    `tensix.load` makes them. All operations of a dict work. Names may be added, replaced and deleted: that changes this
    dict, never the file.

    Attributes
    ----------
    metadata : dict of str to str
        What the file says beside its tensors; only ``.safetensors`` files do.

    Notes
    -----
    Lifetime: the dict holds the tensors that were asked for, and one open descriptor, until it is closed or dies. Each
    tensor keeps the map alive by itself, so it may outlive the dict. At the end of a ``with`` block the dict is closed;
    tensors that are still held do not change.

    Thread-safety: as a dict. Two threads that ask for a name get the same tensor. While one closes the dict, others get
    tensors, or hear that it is closed.

    Examples
    --------
    >>> import pathlib, tempfile, tensix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.safetensors")
    >>> tensix.save(path, {"a": tensix.ones(2), "b": tensix.zeros(1)})
    >>> with tensix.load(path) as tensors:
    ...     sorted(tensors), tensors["a"].clone()
    (['a', 'b'], tensor([1., 1.]))
    >>> tensors.closed, len(tensors)
    (True, 0)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, raw: RawFile, waiting: dict[str, Any], metadata: dict[str, str] | None = None):
        self._raw = raw
        self._taken: dict[str, Any] = {}  # name -> what was waiting in the place of the tensor that is there now
        self.metadata = {} if metadata is None else metadata
        dict.update(self, waiting)

    # ---- what a format may say otherwise

    _waiting_type: type = Entry  # of what stands in a tensor's place until somebody asks for it

    def _entry(self, waiting: Any) -> Entry:
        """Return where a tensor lies and what it is like."""
        return waiting

    def _obstacle(self, waiting: Any, entry: Entry) -> str | None:
        """Return why a tensor has to be copied or cannot be read, None if it can be mapped."""
        return self._raw.obstacle(entry)

    def _take(self, waiting: Any) -> Tensor:
        """Return a tensor of the file."""
        return self._raw.take(waiting)

    # ---- the dict

    def __getitem__(self, name: str) -> Tensor:
        value = dict.__getitem__(self, name)
        if type(value) is not self._waiting_type:
            return value
        tensor = self._asked(self._take, value)
        with TAKING:
            if dict.get(self, name) is not value:  # another thread was faster
                return self[name]
            dict.__setitem__(self, name, tensor)
            self._taken[name] = value
        if self.closed:  # by another thread, which may have forgotten all tensors before
            dict.pop(self, name, None)
            self._taken.pop(name, None)
        return tensor

    def _asked(self, question, *args: Any) -> Any:
        """Return what the file answers; if it is closed meanwhile, that is why it does not, whatever it raises."""
        try:
            return question(*args)
        except Exception:
            if self.closed:
                raise self._closed_error() from None
            raise

    def _closed_error(self):
        return ValueError(f"{self._raw.path} is closed.")

    def __missing__(self, name: str) -> Tensor:
        if self.closed:
            raise self._closed_error()
        raise KeyError(name)

    def __setitem__(self, name: str, value: Tensor) -> None:
        self._taken.pop(name, None)
        dict.__setitem__(self, name, value)

    def __delitem__(self, name: str) -> None:
        dict.__delitem__(self, name)
        self._taken.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        # With a dict's own __iter__, dict(self) would copy the slots instead of asking for items.
        return dict.__iter__(self)

    # A dict's own methods read its slots; these go through the methods above.
    __eq__ = MutableMapping.__eq__
    __ne__ = object.__ne__
    __hash__ = None
    get = MutableMapping.get
    items = MutableMapping.items
    values = MutableMapping.values
    setdefault = MutableMapping.setdefault
    update = MutableMapping.update

    def pop(self, name: str, *default: Any) -> Any:
        """Take a tensor out of the dict and return it; what is given for it if there is none."""
        if len(default) > 1:
            raise TypeError(f"pop() takes a name and a default, found {1 + len(default)} arguments.")
        if default and name not in self:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Tensor]:
        """Take the last tensor out of the dict and return its name and it."""
        if not self:
            raise KeyError("popitem(): the dict is empty")
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """Forget all names; the file stays open."""
        dict.clear(self)
        self._taken.clear()

    def copy(self) -> dict[str, Tensor]:
        """Return a plain dict of all tensors."""
        return dict(self)

    def __or__(self, other):
        return dict(self) | other

    def __ror__(self, other):
        return other | dict(self)

    def __ior__(self, other):
        self.update(other)
        return self

    def __reduce__(self):
        return dict, (dict(self),)

    def __repr__(self):
        state = "closed" if self.closed else f"{len(self)} tensors"
        return f"{type(self).__name__}({self._raw.path!r}, {state})"

    # ---- the file

    @property
    def closed(self) -> bool:
        """Whether no more tensors can be taken from the file."""
        return self._raw.closed

    def close(self) -> None:
        """Forget all tensors, then unmap and close the file now; nothing happens if it was done.

        Raises
        ------
        BufferError
            If a tensor that is also held elsewhere still refers to the map. The file stays open then, and what is asked
            for is taken from it again.
        """
        self._put_back()
        while True:
            try:
                self._raw.close()
                break
            except BufferError:
                if not self._taken:
                    raise
                self._put_back()  # taken by other threads meanwhile: this dict alone may hold them
        self.clear()

    def _put_back(self) -> None:
        """Let go of the tensors that were taken; what is asked for is taken again."""
        for name in list(self._taken):
            waiting = self._taken.pop(name, None)
            if waiting is not None:
                dict.__setitem__(self, name, waiting)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._raw.release()
        self.clear()

    def entry(self, name: str) -> tuple[Entry, str | None]:
        """Return what the file says of a tensor, and why it cannot be mapped, or None; nothing is taken."""
        waiting = self._taken.get(name) or dict.__getitem__(self, name)
        if type(waiting) is not self._waiting_type:
            raise KeyError(f"{name!r} was put into the dict: the file does not know it.")
        entry = self._asked(self._entry, waiting)
        return entry, self._obstacle(waiting, entry)
