"""Reverse-mode differentiation in one file: a fallback for the autograd key, and a rule for each operator.

Within ``recording()`` every call on the CPU goes to the fallback of ``AutogradCPU``. It runs the operator without that
key, and where an operand needs a gradient it puts a `Node` into the result's ``autograd_meta``: which tensors the
result was made of, and how a gradient of the result becomes gradients of these. ``backward`` follows the nodes from the
last to the first, and frees what each has kept once it is used. Nothing in tensix is changed.

Run it to train the network of ``training.py``, whose gradients are written by hand, to the same losses.
"""

import contextlib
from itertools import pairwise

import training

import tensix
from tensix.dispatch import exclude_keys, include_keys
from tensix.library import Library

RULES = {}  # name of an operator -> rule


class Node:
    """Say where a tensor comes from.

    Attributes
    ----------
    name : str
        The operator; "parameter" for a tensor that was declared one.
    steps : list of (Node, callable) or None
        The nodes of operands that need a gradient, and what makes it of the gradient of the result; None after
        `backward`. The tensors that this takes are in the closures, and nowhere else.
    versions : list of (Tensor, int)
        Those tensors, and how often their storages had been written.
    gradient : Tensor or None
        Of a parameter, the sum of all that `backward` found.
    """

    def __init__(self, name, steps=()):
        self.name, self.steps, self.gradient = name, steps, None
        kept = [cell.cell_contents for _, step in steps for cell in step.__closure__ or ()]
        self.versions = [(x, x.impl.version) for x in kept if isinstance(x, tensix.Tensor)]


def parameter(x):
    """Declare that gradients with respect to a tensor are wanted, and return the tensor."""
    x.impl.autograd_meta = Node("parameter")
    return x


def gradient(x):
    """Return the gradient that `backward` found for a parameter, None if none, and forget it."""
    node = x.impl.autograd_meta
    found, node.gradient = node.gradient, None
    return found


@contextlib.contextmanager
def recording():
    """Record what is computed from parameters."""
    with Library("tensix") as library:
        library.fallback(record, "AutogradCPU")
        with include_keys("AutogradCPU"):
            yield


def paused():
    """Return a scope without recording, to change parameters in."""
    return exclude_keys("AutogradCPU")


def record(op, *args, **kwargs):
    """Run an operator and note in the result how its gradient goes back to the operands; this is the fallback."""
    name = op.schema.qualified_name.removeprefix("tensix::")
    operands = args[0] if name in ("cat", "stack") else [x for x in args if isinstance(x, tensix.Tensor)]
    parents = [x.impl.autograd_meta for x in operands]
    needed = any(parents) and name != "detach"
    if needed and op.schema.arguments[0].is_write:
        raise RuntimeError(f"{name}: a tensor with a gradient would be written. Write it within paused().")
    with paused():
        result = op(*args, **kwargs)
        several = result if isinstance(result, (tuple, list)) else (result,)
        if not needed or not any(isinstance(x, tensix.Tensor) and x.dtype.kind in "fc" for x in several):
            return result
        if name not in RULES or result.dtype.kind == "c":
            raise NotImplementedError(f"{name}: no rule for its gradient. There are rules for {', '.join(RULES)}.")
        if all(result.impl is not x.impl for x in operands):  # as contiguous() of what is contiguous gives
            steps = zip(parents, RULES[name](result.detach(), *args, **kwargs), strict=True)
            result.impl.autograd_meta = Node(name, [(parent, step) for parent, step in steps if parent is not None])
        return result


def backward(loss):
    """Add the gradient of a number with respect to every parameter that it was computed from; free the record.

    Raises
    ------
    RuntimeError
        If the number was not recorded, its record was used before, or a tensor in it was written meanwhile.
    """
    last = loss.impl.autograd_meta
    if last is None or loss.numel() != 1:
        raise RuntimeError(f"backward: a recorded tensor of one element is required, found shape {loss.shape}.")
    gradients = {last: tensix.ones(*loss.shape, dtype=loss.dtype)}
    with paused():
        for node in in_order(last):
            arrived = gradients.pop(node)
            if node.name == "parameter":
                node.gradient = arrived if node.gradient is None else node.gradient + arrived
                continue
            if any(x.impl.version != version for x, version in node.versions):
                raise RuntimeError(f"backward: a tensor that the gradient of {node.name} needs was written meanwhile.")
            for parent, step in node.steps:
                part = step(arrived)
                gradients[parent] = gradients[parent] + part if parent in gradients else part
            node.steps, node.versions = None, []


def in_order(last):
    """Return the nodes that one depends on, itself first, each before those that it was made of."""
    order, seen, waiting = [], set(), [(last, False)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            if node.steps is None:
                raise RuntimeError(f"backward: the record of {node.name} was used and freed before.")
            seen.add(node)
            waiting.append((node, True))
            waiting += [(parent, False) for parent, _ in node.steps]
    return reversed(order)


# ---- rules: from the result and the arguments, a function for each operand from the result's gradient to its own


def rule(*names):
    """Enter a rule for operators."""

    def enter(function):
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def sum_to(x, shape):
    """Sum a gradient over the dimensions that broadcasting added or stretched."""
    added = x.ndim - len(shape)
    axes = [*range(added), *(added + i for i, size in enumerate(shape) if size == 1 != x.shape[added + i])]
    return (x.sum(axis=tuple(axes), keepdims=True) if axes else x).reshape(shape)


def stretch(x, shape, axis, keepdims):
    """Give the gradient of a reduction the shape that its operand had."""
    if axis is not None and not keepdims:
        for one in sorted(a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))):
            x = x.unsqueeze(one)
    return x.expand(shape)


@rule("add.Tensor")
def add(result, x, y, *, alpha=1):
    x_shape, y_shape = x.shape, y.shape
    return lambda g: sum_to(g, x_shape), lambda g: sum_to(g if alpha == 1 else g * alpha, y_shape)


@rule("sub.Tensor")
def sub(result, x, y, *, alpha=1):
    return add(result, x, y, alpha=-alpha)


@rule("mul.Tensor")
def mul(result, x, y):
    x_shape, y_shape = x.shape, y.shape
    return lambda g: sum_to(g * y, x_shape), lambda g: sum_to(g * x, y_shape)


@rule("div.Tensor")
def div(result, x, y):
    x_shape, y_shape = x.shape, y.shape
    return lambda g: sum_to(g / y, x_shape), lambda g: sum_to(-g * result / y, y_shape)


@rule("pow.Tensor")
def power(result, x, y):
    x_shape, y_shape = x.shape, y.shape
    return lambda g: sum_to(g * y * x ** (y - 1), x_shape), lambda g: sum_to(g * result * tensix.log(x), y_shape)


@rule("maximum.Tensor", "minimum.Tensor")
def extreme(result, x, y):
    is_x, is_y = result == x, result == y
    chosen = is_x.astype(result.dtype) + is_y.astype(result.dtype)  # where both are equal, each has half the gradient

    def step(shape, is_one):
        share = is_one / chosen
        return lambda g: sum_to(g * share, shape)

    return step(x.shape, is_x), step(y.shape, is_y)


@rule("where.self")
def where(result, condition, x, y):
    x_shape, y_shape = x.shape, y.shape
    return None, lambda g: sum_to(g * condition, x_shape), lambda g: sum_to(g * ~condition, y_shape)


@rule("matmul")
def matmul(result, x, y):
    if min(x.ndim, y.ndim) < 2:
        raise NotImplementedError("matmul: its gradient is implemented for two or more dimensions. Use unsqueeze().")
    x_shape, y_shape = x.shape, y.shape
    return lambda g: sum_to(g @ y.mT, x_shape), lambda g: sum_to(x.mT @ g, y_shape)


rule("neg")(lambda result, x: [lambda g: -g])
rule("exp")(lambda result, x: [lambda g: g * result])
rule("log")(lambda result, x: [lambda g: g / x])
rule("sqrt")(lambda result, x: [lambda g: g / (2 * result)])
rule("tanh")(lambda result, x: [lambda g: g * (1 - result * result)])
rule("numpy_T")(lambda result, x: [lambda g: g.T])
rule("mT")(lambda result, x: [lambda g: g.mT])


@rule("sum")
def total(result, x, *, axis=None, dtype=None, keepdims=False):
    shape = x.shape
    return [lambda g: stretch(g, shape, axis, keepdims)]


@rule("mean")
def mean(result, x, *, axis=None, keepdims=False):
    shape, count = x.shape, x.numel() / max(result.numel(), 1)
    return [lambda g: stretch(g / count, shape, axis, keepdims)]


@rule("cat")
def concat(result, tensors, axis=0):
    sizes = [x.shape[axis] for x in tensors]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [lambda g, i=i: g.narrow(axis, starts[i], sizes[i]) for i in range(len(sizes))]


@rule("reshape", "view", "flatten.using_ints", "squeeze.dims", "unsqueeze", "contiguous", "clone", "expand")
def reshape(result, x, *args, **kwargs):
    shape, is_expand = x.shape, result.numel() != x.numel()
    return [lambda g: sum_to(g, shape) if is_expand else g.reshape(shape)]


@rule("index.basic")
def index(result, x, index):
    shape = x.shape

    def step(g):
        whole = tensix.zeros(*shape, dtype=g.dtype)
        whole[index] = g
        return whole

    return [step]


# ---- the network of training.py


def train():
    """Train it as ``training.train`` does, with the gradients of `backward`; return the losses."""
    tensix.manual_seed(0)
    weights = [parameter(tensix.randn(*s) / s[0] ** 0.5) for s in pairwise(training.SIZES)]
    inputs, wanted = tensix.randn(training.ROWS, training.SIZES[0]), tensix.rand(training.ROWS, training.SIZES[-1])
    losses = []
    with recording():
        for _ in range(training.STEPS):
            x = inputs
            for matrix in weights:
                x = tensix.maximum(x @ matrix, 0.0)
            difference = x - wanted
            loss = tensix.mean(difference * difference)
            losses.append(loss.item())
            backward(loss)
            with paused():
                for matrix in weights:  # training.py follows half the sum of the squares, not their mean
                    matrix.sub_(0.05 / training.ROWS * wanted.numel() / 2 * gradient(matrix))
    return losses


if __name__ == "__main__":
    for ours, by_hand in zip(train(), training.train(), strict=True):
        print(f"loss {ours:.6f}, with gradients written by hand {by_hand:.6f}")
