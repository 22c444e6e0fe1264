"""Record a function's calls as a graph that can be printed and run again: a fallback for the tracer key.

The function runs once, on example inputs. Each operator that it calls becomes a line of the graph; a branch or a loop
in Python is recorded as it went. Tensors that the function has from elsewhere, such as weights, and numbers are
constants of the graph.
"""

import tensix
from tensix.dispatch import exclude_keys, include_keys
from tensix.library import Library


class Name(str):
    """Name a tensor of a graph."""

    __slots__ = ()


class Graph:
    """Hold the calls of a traced function.

    Attributes
    ----------
    inputs : list of Name
        What it is called with.
    calls : list of (Name or list of Name, OperatorTable, tuple, dict)
        The names of the results, the operator and its arguments, with names in the place of tensors.
    result : object
        What the function returned, with names in it.
    types : dict
        The type and shape of each name in the trace, for printing.
    """

    def __init__(self):
        self.inputs, self.calls, self.result, self.types = [], [], None, {}

    def __call__(self, *inputs):
        """Run the calls on other inputs, without the function."""
        if len(inputs) != len(self.inputs):
            raise TypeError(f"the graph takes {len(self.inputs)} inputs, found {len(inputs)}.")
        values = dict(zip(self.inputs, inputs, strict=True))

        def value_of(x):
            return values[x] if isinstance(x, Name) else x

        for target, op, args, kwargs in self.calls:
            result = op(*replaced(args, value_of), **replaced(kwargs, value_of))
            values.update([(target, result)] if isinstance(target, Name) else zip(target, result, strict=True))
        return replaced(self.result, value_of)

    def __str__(self):
        lines = [f"graph({', '.join(f'{name}: {self.types[name]}' for name in self.inputs)})"]
        for target, op, args, kwargs in self.calls:
            targets = [target] if isinstance(target, Name) else target
            shown = [*map(text_of, args), *(f"{key}={text_of(value)}" for key, value in kwargs.items())]
            types = ", ".join(self.types[name] for name in targets)
            lines.append(f"  {', '.join(targets)} = {op.schema.operator_name}({', '.join(shown)})  # {types}")
        return "\n".join([*lines, f"  return {text_of(self.result)}"])


def trace(function, *inputs):
    """Run a function on tensors and return its calls.

    Parameters
    ----------
    function : callable
        Is called with `inputs`, in this thread. What it computes outside of tensix is not recorded.
    *inputs : Tensor
        Examples: shapes and types may differ in a later call where the operators allow it.

    Returns
    -------
    Graph
        It keeps its constants alive, but neither the inputs nor what was computed.
    """
    graph = Graph()
    known = {}  # id of a tensor's body -> its name, and the body: as long as it is kept, no other has its id

    def name_of(x):
        return known[id(x.impl)][0] if id(x.impl) in known else x

    def named(value, name):
        """Give a tensor a name, or each of several; other results, such as bools, have none."""
        if isinstance(value, (tuple, list)):
            return [named(one, f"{name}_{position}") for position, one in enumerate(value)]
        if not isinstance(value, tensix.Tensor):
            return []
        name = Name(name)
        known[id(value.impl)], graph.types[name] = (name, value.impl), f"{value.dtype.name}{list(value.shape)}"
        return name

    def record(op, *args, **kwargs):
        call = replaced(args, name_of), replaced(kwargs, name_of)
        with exclude_keys("Tracer"):
            result = op(*args, **kwargs)
        if op.schema.name == "empty" and args[0] == ():
            return result  # tensix makes a tensor of a number: a constant
        target = named(result, f"t{len(graph.calls)}")
        if target:
            graph.calls.append((target, op, *call))
        return result

    graph.inputs = [named(x, f"x{position}") for position, x in enumerate(inputs)]
    with Library("tensix") as library:
        library.fallback(record, "Tracer")
        with include_keys("Tracer"):
            result = function(*inputs)
    graph.result = replaced(result, name_of)
    return graph


def replaced(value, function):
    """Return a value with a function called on the tensors and names in its sequences and dictionaries."""
    if isinstance(value, (tensix.Tensor, Name)):
        return function(value)
    if isinstance(value, dict):
        return {key: replaced(one, function) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        made = [replaced(one, function) for one in value]
        return made if isinstance(value, list) else tuple(made)
    return value


def text_of(value):
    """Return an argument as it is printed: a large constant by its type and shape."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, tensix.Tensor):
        return repr(value.item()) if value.ndim == 0 else f"<{value.dtype.name}{list(value.shape)}>"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(text_of, value))})"
    return repr(value)


def main():
    """Trace a layer, print its calls, and run them on other rows."""
    tensix.manual_seed(0)
    weights = tensix.randn(4, 2)

    def layer(x):
        y = x @ weights
        for _ in range(2):
            y = tensix.maximum(y, 0.1 * y)
        return y - y.mean(axis=0), y

    graph = trace(layer, tensix.rand(8, 4))
    print(graph)
    rows = tensix.rand(3, 4)
    same = all(tensix.array_equal(one, other) for one, other in zip(graph(rows), layer(rows), strict=True))
    print(f"run again on 3 rows: {'the same' if same else 'different'}")


if __name__ == "__main__":
    main()
