"""Who holds a block: tensors, storages, NumPy arrays and PyTorch tensors on it, and the variables that lead to those.

Python's collector does not track those, but it tracks what holds them: lists, instances, modules. So every object
that it knows is asked for what it refers to, and every running function for its variables. That takes a walk over the
whole heap, once per snapshot, and nothing while memory is recorded: Note [Walks over all objects] in ``referents.pyx``.
What only C code holds is not found. Modules and classes are asked also where the collector does not track them: CPython
3.13 without the GIL, from a program's second thread on.

A list is named with what holds it, up to some levels. Each level takes another walk.

The walks end early if they take too long or too much memory, and the search counts the objects that were left out.

Most objects are somebody's, and what their classes override may raise or do anything. So they are known by their types,
and asked by the methods of the base classes that we know.
"""

import gc
import sys
import time
from collections import deque
from functools import lru_cache
from itertools import compress
from types import (
    AsyncGeneratorType,
    CellType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
    TracebackType,
)

from tensix.core.referents import attributes_of_module, having, holding, referents_of, referring
from tensix.core.storage import Storage
from tensix.memory.resident_memory import resident_nbytes
from tensix.profiling.bindings import locals_of
from tensix.profiling.torch_tensors import address_of, named_tensors

MOST_SECONDS = 30
# What the search takes, at most: this share of what the process has in main memory, but not less than the number.
MOST_SHARE = 1 / 4
LEAST_NBYTES = 64 << 20
NBYTES_OF_ENTRY = 400  # of a holder, a place or a container, with its names and texts
STEP = 1000  # objects between two checks of time and memory
AT_ONCE = 100_000  # objects that one walk reads, while other threads wait

MOST_PLACES = 3  # named for one holder
MOST_LEVELS = 4  # of what holds a container without a name
MOST_LOOKS = 8  # at containers of one holder, of which some have the same name
IS_OPTIMIZED = 1  # the flag of code whose variables are not in a dict
CACHE = type(lru_cache(len))
# The classes of handles on memory, and their modules: those that are not loaded have no objects.
HANDLES = {
    "tensix.core.storage": "Storage", "tensix._tensor": "Tensor",
    "tensix.tensors.typed_storage": "TypedStorage", "numpy": "ndarray", "torch": "Tensor",
}  # fmt: skip
SEQUENCES = (list, tuple, deque)
# What is named with what holds it, for itself it says nothing. A cell is a variable that inner functions share.
NAMELESS = (*SEQUENCES, dict, set, frozenset, CellType)
# What has variables, and the attribute with the code whose name says where. None of them can be derived from.
CODE_OF = [
    (GeneratorType, "gi_code"), (CoroutineType, "cr_code"), (AsyncGeneratorType, "ag_code"), (FrameType, "f_code"),
]  # fmt: skip
# What a metaclass may override.
name_of_type = type.__dict__["__name__"].__get__
qualname_of_type = type.__dict__["__qualname__"].__get__
dictoffset_of_type = type.__dict__["__dictoffset__"].__get__


def holders_of(addresses):
    """Return who holds the living blocks that start at given addresses, and how many objects were left out.

    For every tensor and storage found there are its address, a line of text, and which finished function's variable it
    is if nothing but tracebacks of exceptions keeps it, else None. Objects are left out if the search takes too long or
    too much memory.
    """
    if not addresses:
        return [], 0
    tracked = gc.get_objects()  # first of all: our own containers are not to be found
    search = Search(addresses, tracked)
    search.look_at_models()
    search.look_at_variables()
    for container in search.among_tracked(holding, search.handles):
        search.look_at(container)
    return search.texts(), search.left_out


class Search:
    """Collect tensors and storages on blocks that matter, and where they are held, among all tracked objects."""

    def __init__(self, addresses, tracked):
        self.addresses, self.tracked = addresses, tracked
        tracked += untracked_owners()
        self.deadline = time.monotonic() + MOST_SECONDS
        resident = resident_nbytes()
        self.most_nbytes = max(LEAST_NBYTES, int(MOST_SHARE * resident[0]) if resident else 0)
        self.left_out = 0  # objects
        self.finished = finished_frames(tracked)
        found = [getattr(sys.modules.get(name), cls, None) for name, cls in HANDLES.items()]
        self.handles = [handle for handle in found if handle is not None]
        self.kinds = {}  # id of a type -> (the type, the class of handles that it is or derives from, or None)
        self.found = {}  # id of a holder -> (holder, address, text)
        self.named = set()  # ids of those that are a part of a model or an optimizer of PyTorch
        self.places = {}  # id of a holder -> where it is held: containers, and words
        self.looked_into = set()  # ids of containers that the collector passes over
        self.wanted = {}  # ids of what is to be named next
        self.names = {}  # id of a container -> what it calls what is wanted
        self.owners = {}  # id of a dict of attributes -> the class of the object
        self.asked = []  # such dicts: an object makes its own when first asked, so it may be newer than the search
        self.variables = {}  # id of a container -> (the container, which variable of a running function has it)
        self.parents = {}  # id of a container -> what holds it: a container or a function
        # Of two names of a module the first one: multiprocessing enters __main__ once more.
        self.modules = {id(attributes_of(module)): name for name, module in reversed(list(sys.modules.items()))}

    def within_bounds(self, values):
        """Yield the values of a sequence until the search has taken all the time or memory that it may."""
        for number, value in enumerate(values):
            if number % STEP == 0:
                entries = sum(map(len, (self.found, self.places, self.looked_into, self.parents)))
                nbytes = entries * NBYTES_OF_ENTRY + sys.getsizeof(self.tracked)
                if nbytes > self.most_nbytes or time.monotonic() > self.deadline:
                    self.left_out += len(values) - number
                    return
            yield value

    def among_tracked(self, find, wanted):
        """Yield the objects that a function of ``referents`` finds among all those that the collector knows."""
        for start in range(0, len(self.tracked), AT_ONCE):
            yield from self.within_bounds(find(self.tracked[start : start + AT_ONCE], wanted))

    def look_at(self, container):
        """Find holders among what a container refers to, and in the containers there that the collector passes over."""
        waiting = [container]
        while waiting:
            container = waiting.pop()
            for value in self.within_bounds(having(referents_of(container), self.handles)):
                if self.is_holder(value, type(value)):
                    self.note(value, container)
                elif self.is_passed_over(value):
                    waiting.append(value)

    def is_passed_over(self, value):
        """Whether the collector passes over a container, since it cannot be in a cycle; False when asked again."""
        is_container = type(value) is dict or type(value) is tuple
        if not is_container or gc.is_tracked(value) or id(value) in self.looked_into:
            return False
        self.looked_into.add(id(value))  # each once, though it may lie in many others
        return True

    def look_at_models(self):
        """Find holders among the parameters of PyTorch's models, and with them the gradients, which only C++ holds."""
        for tensor, words in named_tensors(self.within_bounds(self.tracked)):
            if self.is_holder(tensor, type(tensor)):
                self.note(tensor, words)
                self.named.add(id(tensor))

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
        for name, value in locals_of(frame).items():
            code = frame.f_code
            place = f"{name} in {code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
            if self.is_holder(value, type(value)):
                self.note(value, place)
            else:
                self.variables.setdefault(id(value), (value, place))
                if self.is_passed_over(value):
                    self.look_at(value)

    def is_holder(self, value, kind):
        """Whether a value is a tensor or storage on a block that matters."""
        if id(kind) not in self.kinds:
            found = next((handle for handle in self.handles if issubclass(kind, handle)), None)
            self.kinds[id(kind)] = kind, found
        handle = self.kinds[id(kind)][1]
        if handle is None:
            return False
        if id(value) in self.found:
            return True
        entry = self.entry_of(value, handle)
        if entry is not None:
            self.found[id(value)] = entry
        return entry is not None

    def entry_of(self, holder, handle):
        """Return holder, address and text; None if it is on no block that matters."""
        if handle is getattr(sys.modules.get("torch"), "Tensor", None):
            return self.entry_of_torch_tensor(holder, handle)
        if not hasattr(handle, "storage") and handle is not Storage:
            return self.entry_of_array(holder, handle)
        try:
            storage = holder if handle is Storage else handle.storage(holder)
            address = storage.data_ptr_object().get()
        except RuntimeError:  # it has none
            return None
        if address not in self.addresses:
            return None
        what = name_of_type(type(holder))
        if hasattr(handle, "shape"):
            what += f" {handle.dtype.__get__(holder)} {handle.shape.__get__(holder)}"
        count = storage.use_count() - (storage is not holder)  # our own handle does not count
        shared = ", copy-on-write" if storage.is_cow() else ""
        return holder, address, f"{what}, storage use count {count}{shared}"

    def entry_of_array(self, holder, handle):
        """Return the same of a NumPy array, which is on a block of its own or of the array that it is a view of."""
        root, base = holder, handle.base.__get__(holder)
        while issubclass(type(base), handle):
            root, base = base, handle.base.__get__(base)
        address = handle.__array_interface__.__get__(root)["data"][0]
        if address not in self.addresses:
            return None
        what = f"{name_of_type(type(holder))} {handle.dtype.__get__(holder)} {handle.shape.__get__(holder)}"
        return holder, address, what if root is holder else f"{what}, a view"

    def entry_of_torch_tensor(self, holder, handle):
        """Return the same of a tensor of PyTorch."""
        address = address_of(holder, handle)
        if address not in self.addresses:
            return None
        dtype, shape = handle.dtype.__get__(holder), tuple(handle.shape.__get__(holder))
        name = name_of_type(type(holder))
        return holder, address, f"{'' if name == 'Parameter' else 'torch.'}{name} {str(dtype)[6:]} {shape}"

    def note(self, holder, place):
        """Remember where a holder is held, a container or the words for it, if that is not known well enough."""
        places = self.places.setdefault(id(holder), [])
        if len(places) < MOST_LOOKS and id(holder) not in self.named:
            places.append(place)

    def find_owners(self, containers):
        """Find the objects whose attributes lie in one of the dicts among containers."""
        dicts = {id(place): place for place in containers if type(place) is dict and id(place) not in self.modules}
        for one in self.referrers_of(dicts):
            kind = type(one)
            if issubclass(kind, type):  # what it hands out is not the dict itself
                for value in referents_of(one):
                    if id(value) in dicts and "__module__" in value:
                        self.owners[id(value)] = f"class {qualname_of_type(one)}"
            elif dictoffset_of_type(kind) and not issubclass(kind, ModuleType):
                attributes = attributes_of(one)
                if attributes is not None and id(attributes) not in self.owners:
                    self.owners[id(attributes)] = qualname_of_type(kind)
                    self.asked.append(attributes)

    def find_parents(self):
        """Find what holds the places that have no name of their own, and what holds those, up to some levels."""
        holders = [holder for holder, _, _ in self.found.values()]
        held = [(one, place) for one in holders for place in self.places.get(id(one), ()) if type(place) is not str]
        for _ in range(MOST_LEVELS):
            self.find_owners([place for _, place in held])
            self.wanted, self.names = {id(value): None for value, _ in held}, {}
            nameless = {id(place): place for value, place in held if not self.is_named(value, place)}
            for number in nameless.keys() & (self.variables.keys() | self.parents.keys()):
                del nameless[number]
            held = self.find_parents_of(nameless)

    def find_parents_of(self, nameless):
        """Remember what holds each of the containers by their ids, a module before others; return pairs of these."""
        found = []
        closures = {}  # tuples of cells, which belong to functions
        for one in self.referrers_of(nameless):
            for value in referents_of(one):
                if id(value) not in nameless:
                    continue
                if type(value) is CellType:
                    closures[id(one)] = one
                elif id(value) not in self.parents or id(one) in self.modules:
                    self.parents[id(value)] = one
                    found.append((value, one))
        for one in self.referrers_of(closures):
            if type(one) is FunctionType and id(one.__closure__) in closures:
                self.parents.update((id(cell), one) for cell in one.__closure__ if id(cell) in nameless)
        return found

    def referrers_of(self, containers):
        """Return the objects that refer to one of the containers by their ids."""
        return [*self.among_tracked(referring, containers), *referring(self.asked, containers)] if containers else []

    def is_named(self, value, place):
        """Whether it is known well enough where a value is, which in a list, or where it has no name, it is not."""
        kind = type(place)
        if issubclass(kind, NAMELESS):
            return id(place) in self.modules or id(place) in self.owners
        is_one = kind is FunctionType or kind is CACHE or code_of(place) is not None
        return is_one or type(self.key_of(value, place)) is str

    def key_of(self, value, place):
        """Return the key, the position or the attribute of a value; None if it is not known."""
        if id(place) not in self.names:  # asked for many: a large container is searched once
            self.names[id(place)] = names_in(place, self.wanted)
        return self.names[id(place)].get(id(value))

    def name_of(self, holder, place, levels=MOST_LEVELS):
        """Return in words where a holder is, and where the container is that has it, if that has no name itself."""
        if type(place) is str:
            return place
        words = [] if type(place) is CellType else [self.name_in(holder, place)]
        if self.is_named(holder, place):
            return words[0]
        if id(place) in self.variables:
            words.append(self.variables[id(place)][1])
        elif id(place) in self.parents and levels:
            words.append(self.name_of(place, self.parents[id(place)], levels - (type(place) is not CellType)))
        return ": ".join(words) or "a variable of a closure"

    def name_in(self, holder, place):
        """Return in words where in a container, or a function, a holder is."""
        kind = type(place)
        if code_of(place) is not None:
            return self.finished.get(id(place), f"a variable of {code_of(place).co_qualname}")
        if kind is CACHE and type(cached := (attributes_of(place) or {}).get("__wrapped__")) is FunctionType:
            return f"functools.lru_cache of {cached.__qualname__}"
        if kind is FunctionType:
            cells = zip(place.__code__.co_freevars, place.__closure__ or (), strict=True)
            return next((f"{name} of {place.__qualname__}" for name, cell in cells if cell is holder),
                        f"a default of {place.__qualname__}")  # fmt: skip
        name = self.key_of(holder, place)
        if issubclass(kind, dict):
            owner = self.owners.get(id(place))
            if type(name) is str and id(place) in self.modules:
                return f"{name} in module {self.modules[id(place)]}"
            return f"{name} of {owner}" if type(name) is str and owner else f"value of {repr_of(name)} in a dict"
        if issubclass(kind, SEQUENCES):
            return f"item {name} of a {name_of_type(kind)}"
        return f"{name} of {qualname_of_type(kind)}" if type(name) is str else f"a {qualname_of_type(kind)}"

    def texts(self):
        """Return address and text of every holder found, and what alone has it if that is finished."""
        self.find_parents()
        self.wanted, self.names = self.found.keys() | self.parents.keys(), {}
        found = []
        for holder, address, text in self.found.values():
            held = self.places.get(id(holder), ())
            places = [*dict.fromkeys(self.name_of(holder, place) for place in held)]
            is_finished = 0 < len(held) < MOST_LOOKS and all(id(place) in self.finished for place in held)
            found.append((address, ", ".join([text, *places[:MOST_PLACES]]), places[0] if is_finished else None))
        return found


def finished_frames(tracked):
    """Return in words the variables of the functions, by the ids of their frames, that only tracebacks keep.

    Those of the exception that ended the program do not count.
    """
    running, waiting = set(), [*sys._current_frames().values()]
    last = getattr(getattr(sys, "last_value", None), "__traceback__", None)
    while last is not None and not hasattr(sys, "ps1"):
        waiting.append(last.tb_frame)
        last = last.tb_next
    while waiting:
        frame = waiting.pop()
        running.add(id(frame))
        waiting += [frame.f_back] if frame.f_back is not None else []
    frames = [one.tb_frame for one in tracked if type(one) is TracebackType]
    return {
        id(frame): f"a variable of {frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno}), kept by a "
        "traceback" for frame in frames if id(frame) not in running
    }  # fmt: skip


def untracked_owners():
    """Return the modules, their dicts and the classes that the collector does not track."""
    modules = list(sys.modules.values())
    classes, waiting = {}, {id(object): object}
    while waiting:
        classes.update(waiting)
        found = {id(one): one for base in waiting.values() for one in type.__subclasses__(base)}
        waiting = {number: one for number, one in found.items() if number not in classes}
    return [one for one in (*modules, *map(attributes_of, modules), *classes.values()) if not gc.is_tracked(one)]


def names_in(container, wanted):
    """Return the keys, positions or attributes of what is wanted by its ids, the first of each."""
    kind = type(container)
    sequence = next((base for base in SEQUENCES if issubclass(kind, base)), None)
    if sequence is not None:
        items, values = enumerate(sequence.__iter__(container)), sequence.__iter__(container)
    else:
        attributes = container if issubclass(kind, dict) else attributes_of(container)
        if attributes is None:
            return {}
        items, values = dict.items(attributes), dict.values(attributes)
    # One call of C: no thread changes the container meanwhile, and there is no copy of it.
    found = list(compress(items, map(wanted.__contains__, map(id, values))))
    return {id(value): name for name, value in reversed(found)}


def code_of(thing):
    """Return the code of what runs or waits, None of anything else."""
    attribute = next((attribute for kind, attribute in CODE_OF if type(thing) is kind), None)
    return None if attribute is None else getattr(thing, attribute)


def attributes_of(thing):
    """Return the dict of an object's attributes, None if it has none or does not tell."""
    if issubclass(type(thing), ModuleType):
        return attributes_of_module(thing)
    try:
        found = object.__getattribute__(thing, "__dict__")
    except Exception:  # a property of somebody's
        return None
    return found if issubclass(type(found), dict) else None


def repr_of(thing):
    """Return the text of somebody's object, or what it is if that raises."""
    try:
        return repr(thing)
    except Exception:
        return f"a {qualname_of_type(type(thing))} whose repr raises"
