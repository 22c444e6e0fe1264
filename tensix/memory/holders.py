"""Who holds a block: the tensors and storages on it, and the variables that lead to those.

Python's collector does not track tensors, but it tracks what holds them: lists, instances, modules. So every object
that it knows is asked for what it refers to, and every running function for its variables. That takes a walk over the
whole heap, once per snapshot, and nothing while memory is recorded. What only C code holds is not found.
"""

import gc
import sys
from types import ModuleType

from tensix.core.storage import Storage

__all__ = []

MOST_PLACES = 3  # named for one holder
IS_OPTIMIZED = 1  # the flag of code whose variables are not in a dict


def holders_of(addresses):
    """Return who holds the blocks that start at given addresses.

    Parameters
    ----------
    addresses : container of int
        Of living blocks.

    Returns
    -------
    list of (int, str)
        Address and a line of text for every tensor and storage found.
    """
    if not addresses:
        return []
    tracked = gc.get_objects()  # first of all: our own containers are not to be found
    search = Search(addresses)
    search.look_at_variables()
    for container in tracked:
        # Of a module the variables only: asked for all that it keeps, asyncio's hands out freed futures without an end
        # in CPython 3.12 up to 3.12.5.
        is_module = issubclass(type(container), ModuleType)
        search.look_at(object.__getattribute__(container, "__dict__") if is_module else container)
    return search.texts()


class Search:
    """Collect tensors and storages, and where they are held.

    Parameters
    ----------
    addresses : container of int
        Of the blocks that matter.
    """

    def __init__(self, addresses):
        self.addresses = addresses
        self.kinds = {}  # type -> whether it is one of ours that has a storage
        self.found = {}  # id of a holder -> (holder, address, text), None for one on another block
        self.places = {}  # id of a holder -> where it is held
        modules = list(sys.modules.items())
        self.modules = {id(vars(module)): name for name, module in modules if hasattr(module, "__dict__")}

    def look_at(self, container):
        """Find holders among what a container refers to, and in containers that the collector passes over."""
        for value in gc.get_referents(container):
            kind = type(value)
            if kind is dict or kind is tuple:
                if not gc.is_tracked(value):
                    self.look_at(value)
            elif self.is_holder(value, kind):
                self.note(value, lambda value=value: self.place_in(container, value))

    def look_at_variables(self):
        """Find holders among the variables of every running function."""
        innermost = list(sys._current_frames().values())
        while innermost:
            frame = innermost.pop()  # our own frame is among them: a variable that kept it would be a cycle
            while frame is not None:
                if frame.f_code.co_flags & IS_OPTIMIZED and frame.f_code.co_filename != __file__:
                    self.look_at_frame(frame)
                frame = frame.f_back

    def look_at_frame(self, frame):
        """Find holders among the variables of one running function."""
        variables = frame.f_locals
        for name, value in variables.items():
            if self.is_holder(value, type(value)):
                code = frame.f_code
                place = f"{name} in {code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
                self.note(value, lambda place=place: place)
        if type(variables) is dict and sys.getrefcount(variables) == UNSHARED:
            variables.clear()  # before Python 3.13 the frame would keep it, and everything in it, alive

    def is_holder(self, value, kind):
        """Whether a value is a tensor or storage on a block that matters."""
        if kind not in self.kinds:
            is_ours = any(str(base.__module__).startswith("tensix.") for base in kind.__mro__)
            self.kinds[kind] = is_ours and (issubclass(kind, Storage) or callable(getattr(kind, "storage", None)))
        if not self.kinds[kind]:
            return False
        if id(value) not in self.found:
            self.found[id(value)] = self.entry_of(value)
        return self.found[id(value)] is not None

    def entry_of(self, holder):
        """Return holder, address and text; None if it is on no block that matters."""
        try:
            storage = holder if isinstance(holder, Storage) else holder.storage()
            address = storage.data_ptr_object().get()
        except RuntimeError:  # it has none
            return None
        if address not in self.addresses:
            return None
        what = type(holder).__name__
        if hasattr(holder, "dtype") and hasattr(holder, "shape"):
            what += f" {holder.dtype} {tuple(holder.shape)}"
        count = storage.use_count() - (storage is not holder)  # our look does not count
        return holder, address, f"{what}, storage use count {count}" + (", copy-on-write" if storage.is_cow() else "")

    def note(self, holder, place):
        """Remember where a holder is held, if that is not known well enough."""
        places = self.places.setdefault(id(holder), [])
        if len(places) < MOST_PLACES:
            name = place()
            if name is not None and name not in places:
                places.append(name)

    def place_in(self, container, value):
        """Return in words where in a container a value is."""
        if isinstance(container, dict):
            key = next((key for key, other in list(container.items()) if other is value), None)
            if id(container) in self.modules:
                return f"{key} in module {self.modules[id(container)]}"
            owners = [one for one in gc.get_referrers(container) if getattr(one, "__dict__", None) is container]
            return f"{key} of {type(owners[0]).__qualname__}" if owners else f"value of {key!r} in a dict"
        if isinstance(container, (list, tuple)):
            position = next((i for i, other in enumerate(container) if other is value), None)
            return f"item {position} of a {type(container).__name__}"
        attributes = getattr(container, "__dict__", None)
        if isinstance(attributes, dict):
            key = next((key for key, other in list(attributes.items()) if other is value), None)
            if key is not None:
                return f"{key} of {type(container).__qualname__}"
        return f"a {type(container).__qualname__}"

    def texts(self):
        """Return address and text of every holder found."""
        return [
            (address, ", ".join([text, *self.places.get(id(holder), ())]))
            for holder, address, text in filter(None, self.found.values())
        ]


def unshared_count():
    """Return what `sys.getrefcount` says of the variables of a frame that nobody else looks at."""
    frame = sys._getframe()
    variables = frame.f_locals
    return sys.getrefcount(variables)


UNSHARED = unshared_count()
