"""Libraries come and go in any order: which kernel a call runs, what is refused, what is left in the end."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from machine import Machine

import tensix
from tensix.dispatch import DispatchKeySet, dispatcher, exclude_keys, fallthrough, include_keys
from tensix.library import Library

NAMESPACE = "state_machine"
# Keys by what they are made of; both lists lowest first.
FUNCTIONALITIES, BACKENDS = ["Dense", "Sparse", "Autograd", "Batched"], ["CPU", "Meta"]
KEYS = {
    "CPU": ("Dense", "CPU"), "Meta": ("Dense", "Meta"), "SparseCPU": ("Sparse", "CPU"),
    "AutogradCPU": ("Autograd", "CPU"), "AutogradMeta": ("Autograd", "Meta"), "Batched": ("Batched", None),
}  # fmt: skip
ALIASES = ["CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd"]
TENSORS = {
    "CPU": tensix.ones(2), "Meta": tensix.ones(2, device="meta"), "SparseCPU": tensix.ones(2).to_sparse(),
}  # fmt: skip
A_NAME, A_LIBRARY, A_KEY = st.sampled_from(["f", "g"]), st.integers(0, 2), st.sampled_from([*KEYS, *ALIASES])
SETS = st.sets(st.sampled_from(sorted(KEYS)), max_size=2)
THROUGH, MISSING = "falls through", "missing"


class Model:
    """Operators are dicts from key to entries (what, whose), the newest first."""

    def __init__(self):
        self.operators, self.owners, self.fallbacks = {}, {}, {}

    def kernel(self, entries, functionality, backend):
        """Return what runs for a slot."""
        key = next((key for key, its in KEYS.items() if its in {(functionality, backend), (functionality, None)}), None)
        backends_own = functionality == "Autograd" and backend in entries
        order = [key]
        order += ["CompositeExplicitAutograd"] if functionality in {"Dense", None} else []
        order += [] if backends_own else ["CompositeImplicitAutograd"]
        order += ["Autograd"] if functionality == "Autograd" else []
        for one in order:
            if one in entries:
                return entries[one][0][0]
        if key in self.fallbacks:
            return self.fallbacks[key][0]
        return THROUGH if functionality in {"Autograd", "Batched"} else MISSING

    def call(self, name, keys, excluded=()):
        """Return what runs for a set of keys: the highest functionality that does not fall through, of one backend."""
        entries = self.operators[name]
        backend = max((KEYS[key][1] for key in keys if KEYS[key][1]), key=BACKENDS.index)
        found = {KEYS[key][0] for key in keys} - {KEYS[key][0] for key in excluded}
        for functionality in sorted(found, key=FUNCTIONALITIES.index, reverse=True):
            kernel = self.kernel(entries, functionality, backend)
            if kernel != THROUGH:
                return kernel
        return self.kernel(entries, None, None)

    def close(self, library):
        """Forget all that a library did."""
        for name in [name for name, owner in self.owners.items() if owner == library]:
            del self.operators[name], self.owners[name]
        for entries in self.operators.values():
            for key in list(entries):
                entries[key] = [entry for entry in entries[key] if entry[1] != library]
                if not entries[key]:
                    del entries[key]
        self.fallbacks = {key: entry for key, entry in self.fallbacks.items() if entry[1] != library}


class Registry(Machine):
    """Three libraries are open at any time; one that is closed is replaced by a new one."""

    def __init__(self):
        super().__init__()
        self.model, self.libraries, self.count = Model(), [Library(NAMESPACE) for _ in range(3)], 0

    def some(self):
        """Return a kernel and its name."""
        self.count += 1
        name = f"kernel {self.count}"
        return (lambda *args: name), name

    @rule(library=A_LIBRARY, name=A_NAME)
    def define(self, library, name):
        if name in self.model.operators:
            with pytest.raises(RuntimeError, match="multiple times"):
                self.libraries[library].define(f"{name}(Tensor self) -> str")
        else:
            self.libraries[library].define(f"{name}(Tensor self) -> str")
            self.model.operators[name], self.model.owners[name] = {}, library

    @rule(library=A_LIBRARY, name=A_NAME, key=A_KEY, override=st.booleans(), through=st.booleans())
    def impl(self, library, name, key, override, through):
        function, what = self.some()
        if through and key not in ALIASES:
            function, what = fallthrough, THROUGH
        register = lambda: self.libraries[library].impl(name, function, key, allow_override=override)  # noqa: E731
        if name not in self.model.operators:
            with pytest.raises(RuntimeError, match="No functions are registered"):
                register()
        elif key in self.model.operators[name] and not override:
            with pytest.raises(RuntimeError, match="has a kernel"):
                register()
        else:
            register()
            self.model.operators[name].setdefault(key, []).insert(0, (what, library))

    @rule(library=A_LIBRARY, key=st.sampled_from(sorted(KEYS)))
    def fallback(self, library, key):
        function, what = self.some()
        if key in self.model.fallbacks:
            with pytest.raises(RuntimeError, match="multiple backend fallbacks"):
                self.libraries[library].fallback(function, key)
        else:
            self.libraries[library].fallback(function, key)
            self.model.fallbacks[key] = what, library

    @rule(library=A_LIBRARY)
    def close(self, library):
        self.libraries[library].close()
        self.libraries[library] = Library(NAMESPACE)
        self.model.close(library)

    def check(self, expected, function, *args):
        """Compare what runs; a call without a kernel says so."""
        try:
            found = function(*args)
        except (NotImplementedError, RuntimeError):
            found = MISSING
        assert found == (MISSING if expected == THROUGH else expected)

    @rule(name=A_NAME, of=st.sampled_from(sorted(TENSORS)), included=SETS, excluded=SETS)
    def call(self, name, of, included, excluded):
        operator = getattr(getattr(tensix.ops, NAMESPACE), name, None)
        assert (operator is not None) == (name in self.model.operators)
        if operator is not None:
            with include_keys(*included), exclude_keys(*excluded):
                self.check(self.model.call(name, {of} | included, excluded), operator, TENSORS[of])

    @invariant()
    def each_key_has_the_kernel_that_is_due(self):
        for name in self.model.operators:
            table = dispatcher.get_op_table(f"{NAMESPACE}::{name}")
            for key in KEYS.keys() - {"Batched"}:
                self.check(self.model.call(name, {key}), table.redispatch, DispatchKeySet(key), TENSORS["CPU"])

    @invariant()
    def operators_are_those_that_are_declared(self):
        there = {name for name in dispatcher.operators() if name.startswith(NAMESPACE)}
        assert there == {f"{NAMESPACE}::{name}" for name in self.model.operators}
        for name, entries in self.model.operators.items():
            assert set(dispatcher.get_op_table(f"{NAMESPACE}::{name}").registered_keys()) == set(entries)

    @invariant()
    def tensix_itself_goes_on(self):
        assert self.model.fallbacks or (TENSORS["CPU"] + 1).tolist() == [2.0, 2.0]

    def teardown(self):
        for library in self.libraries:
            library.close()
        assert not any(name.startswith(NAMESPACE) for name in dispatcher.operators())


def call_without_backend(self, name, keys, excluded=(), call=Model.call):
    takes_meta = "Meta" in {KEYS[key][1] for key in excluded}
    return call(self, name, {"CPU" if key == "Meta" and takes_meta else key for key in keys}, excluded)


MACHINE = Registry
MUTATIONS = {
    "exclusion takes the backend as well": (Model, "call", call_without_backend),
    "the oldest kernel serves": (
        Model, "kernel",
        lambda self, entries, *slot, kernel=Model.kernel: kernel(
            self, {key: its[::-1] for key, its in entries.items()}, *slot),
    ),
    "fallbacks stay when their library is closed": (
        Model, "close",
        lambda self, library, close=Model.close: [
            fallbacks := self.fallbacks, close(self, library), setattr(self, "fallbacks", fallbacks)],
    ),
}  # fmt: skip
