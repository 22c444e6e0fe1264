"""Everything public says what it does, and what its parameters mean where there are many."""

import inspect
import re

MANY_PARAMETERS = 3


def names_explained_in(doc):
    """Return the names that a docstring's lists explain, in lines such as ``dst, src : int``."""
    return re.findall(r"\w+", " ".join(re.findall(r"^(\S.*?) : ", doc, re.MULTILINE)))


def documented_things(module):
    """Yield name and object of what a module exports, and of what its classes add to their bases.

    Cython gives attributes declared readonly no docstring; the class's own must speak of those. Fields of named tuples
    are explained by the functions that return them.
    """
    for name in module.__all__:
        exported = getattr(module, name)
        if inspect.isclass(exported) or inspect.isroutine(exported):
            yield name, exported
        if not inspect.isclass(exported):
            continue
        explained = {*names_explained_in(inspect.getdoc(exported)), *getattr(exported, "_fields", ())}
        for attribute in vars(exported):
            value = getattr(exported, attribute)
            is_own = not attribute.startswith("_") and not any(hasattr(base, attribute) for base in exported.__bases__)
            is_data = inspect.isdatadescriptor(value)
            if is_own and (inspect.isroutine(value) or (is_data and attribute not in explained)):
                yield f"{name}.{attribute}", value


def test_docstrings_begin_with_one_sentence(public_module):
    bad = []
    for name, thing in documented_things(public_module):
        first, _, rest = (inspect.getdoc(thing) or "").partition("\n")
        if not first.endswith(".") or rest[:1] not in ("", "\n"):
            bad.append(name)
    assert bad == []


def test_many_parameters_are_documented(public_module):
    """In a section of their own, or by a pointer to the function that has it."""
    bad = []
    for name, thing in documented_things(public_module):
        if inspect.isclass(thing) or not inspect.isroutine(thing):
            continue
        parameters = [one for one in inspect.signature(thing).parameters if one not in ("self", "cls")]
        doc = inspect.getdoc(thing) or ""
        if len(parameters) < MANY_PARAMETERS or "parameters as for `" in doc:
            continue
        explained = names_explained_in(doc.partition("Parameters\n----------\n")[2])
        bad += [f"{name}: {one}" for one in parameters if one not in explained]
    assert bad == []
