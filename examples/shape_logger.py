"""Print every call with the types and shapes of its tensors: a fallback for one key, which serves all operators."""

import contextlib

import tensix
from tensix.dispatch import exclude_keys, include_keys
from tensix.library import Library


@contextlib.contextmanager
def logged_shapes(write=print):
    """Write one line for each operator that this thread calls within the scope, also where it fails.

    Parameters
    ----------
    write : callable, optional
        Is called with each line.
    """

    def log(op, *args, **kwargs):
        named = [f"{name}={described(value)}" for name, value in kwargs.items()]
        line = f"{op.schema.operator_name}({', '.join([*map(described, args), *named])})"
        try:
            with exclude_keys("PythonDispatcher"):  # the operator runs as if nothing was here
                result = op(*args, **kwargs)
        except Exception as error:
            write(f"{line} -> {type(error).__name__}")
            raise
        write(f"{line} -> {described(result)}")
        return result

    with Library("tensix") as library:
        library.fallback(log, "PythonDispatcher")
        with include_keys("PythonDispatcher"):
            yield


def described(value):
    """Return a tensor as its type and shape, a sequence by its members, anything else as it is printed."""
    if isinstance(value, tensix.Tensor):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(described, value))}]"
    return repr(value)


def standardize(x):
    """Give each column mean 0 and standard deviation 1."""
    return (x - x.mean(axis=0)) / x.std(axis=0)


if __name__ == "__main__":
    with logged_shapes():
        standardize(tensix.rand(1000, 3))
        with contextlib.suppress(ValueError):
            tensix.ones(3) + tensix.ones(4)
