"""What is said of a call whose arguments do not fit the signature: what is wrong, and the signature.

Cython and CPython name the function alone. What Cython says is handed here by the header ``argument_errors.h``, when
such an error enters its traceback; what CPython says, by `names_signature` and by the functions of tensors.
"""

import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200  # the flags of a code that is left and entered again, as inspect names them
HEAP_TYPE = 1 << 9  # the flag of a class that is made by a statement of Python

# Words of Cython and CPython -> the package's.
WORDS = {
    r"takes 0 positional arguments? but (\d+) .*": r"takes no arguments, found \1",
    r"takes from 0 to (.*? arguments?) but (\d+) .*": r"takes at most \1, found \2",
    r"takes (?:exactly )?(.*? arguments?) (?:but |\()(\d+) .*": r"takes \1, found \2",
    r"missing \d+ required .*?: (.*)": r"needs \1",
    r"needs keyword-only argument (.*)": r"needs '\1' by name",
    r"got some positional-only arguments passed as keyword arguments: '(.*)'": r"takes '\1' by position only",
    r"(?:got an unexpected keyword|has no) argument ('.*?').*": r"has no argument \1",
    r"got multiple values for (?:keyword )?argument (.*)": r"has \1 twice",
    r"takes no keyword arguments": "takes no arguments by name",
    r"(keywords must be strings)": r"\1",
}


def signature_of(function):
    """Return the signature of a function, a method or a class as text, without `self` and without types.

    Raises
    ------
    ValueError
        If it has none that can be read.
    """
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def with_signature(text, name, function):
    """Return what is to be said of a call in place of what Cython or CPython says of it.

    Parameters
    ----------
    text : str
        What they say, such as ``f() takes exactly 1 positional argument (2 given)``. Other texts are returned as they
        are.
    name : str
        The function's name, its class in front.
    function : callable
        The function, or the class that is called.
    """
    said = text.partition("() ")[2]
    if said.startswith("takes") and counts_self(function):
        said = re.sub(r"\d+", lambda number: str(int(number[0]) - 1), said)
        said = re.sub(r"\b1 positional arguments", "1 positional argument", said)
    for words, replacement in WORDS.items():
        if found := re.fullmatch(words, said):
            try:
                signature = signature_of(function)
            except ValueError:
                return f"{name}() {found.expand(replacement)}."
            return f"{name}() {found.expand(replacement)}: {name}{signature}."
    return text


def counts_self(function):
    """Return whether a count of the arguments includes `self`: of classes in Python, and of their ``__init__``."""
    return function.__flags__ & HEAP_TYPE if isinstance(function, type) else function.__name__ == "__init__"


def error_of_arguments(cls, args, kwargs):
    """Return the error for arguments that a compiled class does not take.

    Of a class that takes nothing by name, Cython says neither what it is called nor its signature.
    """
    said = f"takes no arguments, found {len(args)}" if args else f"has no argument {next(iter(kwargs))!r}"
    return TypeError(f"{cls.__name__}() {said}: {cls.__name__}{signature_of(cls)}.")


def with_signature_of(text, name):
    """Return the same of a compiled function, whose whole name is known: ``tensix.core.storage.Storage.__init__``.

    Raises
    ------
    LookupError, AttributeError
        If there is no such function any more; what Cython says is left as it was then.
    """
    module = name
    while module and module not in sys.modules:
        module = module.rpartition(".")[0]
    path = name[len(module) + 1 :].split(".")
    if path[-1] in {"__cinit__", "__init__"}:
        del path[-1]
    found = sys.modules[module]
    for part in path:
        found = getattr(found, part)
    return with_signature(text, ".".join(path), found)


def names_signature(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function in Python say its signature, too, when it is called with arguments that do not fit.

    An ``__init__`` says that of its class.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # raised in its body
                raise
            name = function.__qualname__.removesuffix(".__init__")
            raise TypeError(with_signature(str(error), name, function)) from None

    return call


def check_runs_to_its_end(function: Callable[..., object], scope: str) -> None:
    """Check that a call of a function runs its body: that of a generator or coroutine is over before."""
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & SUSPENDS:
        raise TypeError(
            f"{scope} cannot decorate {function.__qualname__}(): a call of a generator or coroutine function returns "
            f"before its body runs. Use `with {scope}():` inside it."
        )
