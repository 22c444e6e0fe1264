"""What PyTorch's tensors are called in a program: parameters and buffers of models, their gradients, optimizers' state.

Models and optimizers are asked for what their base classes keep, and nothing that a class may override is called.
"""

import sys

__all__ = ["address_of", "named_tensors"]


def address_of(tensor, base):
    """Return where the block of a tensor begins, also of a derived class; 0 if it has none in main memory."""
    try:
        if base.device.__get__(tensor).type != "cpu":
            return 0
        return sys.modules["torch"]._C._data_address(tensor)  # of the storage; unlike data_ptr() it copies nothing
    except Exception:  # sparse tensors, and classes of others that have no storage
        return 0


def named_tensors(tracked):
    """Yield tensors with words for what they are, such as ``"exp_avg of Adam, for layers.0.weight of Net"``."""
    torch = sys.modules.get("torch")
    module = getattr(sys.modules.get("torch.nn.modules.module"), "Module", None)
    optimizer = getattr(sys.modules.get("torch.optim.optimizer"), "Optimizer", None)
    if torch is None or module is None or optimizer is None:  # it is still being imported
        return
    found = [one for one in tracked if issubclass(type(one), (module, optimizer))]
    models = {id(one): one for one in found if issubclass(type(one), module)}
    children = {id(child) for model in models.values() for child in dict_of(model, "_modules").values()}
    names = {}  # id of a parameter -> its name
    for number, model in models.items():
        if number not in children:
            yield from tensors_of_model(model, torch.Tensor, names)
    for one in found:
        if issubclass(type(one), optimizer):
            yield from state_of_optimizer(one, torch.Tensor, names)


def tensors_of_model(model, base, names):
    """Yield the parameters, gradients and buffers of a model and all its parts."""
    of = f" of {type(model).__qualname__}"
    waiting, seen = [("", model)], set()
    while waiting:
        prefix, part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        waiting += [(f"{prefix}{name}.", child) for name, child in reversed(dict_of(part, "_modules").items())]
        for name, parameter in dict_of(part, "_parameters").items():
            if isinstance(parameter, base):
                names.setdefault(id(parameter), f"{prefix}{name}{of}")
                yield parameter, f"parameter {prefix}{name}{of}"
                gradient = base.grad.__get__(parameter)
                if gradient is not None:
                    yield gradient, f"gradient of {prefix}{name}{of}"
        for name, buffer in dict_of(part, "_buffers").items():
            if isinstance(buffer, base):
                yield buffer, f"buffer {prefix}{name}{of}"


def state_of_optimizer(optimizer, base, names):
    """Yield what an optimizer keeps for each parameter."""
    for parameter, state in dict_of(optimizer, "state").items():
        if isinstance(parameter, base) and isinstance(state, dict):
            for name, value in dict.items(state):
                if isinstance(value, base):
                    whose = names.get(id(parameter), "a parameter")
                    yield value, f"{name} of {type(optimizer).__qualname__}, for {whose}"


def dict_of(thing, name):
    """Return a dict among the attributes of an object as its class set it, an empty one if there is none."""
    try:
        found = object.__getattribute__(thing, "__dict__").get(name)
    except AttributeError:  # it was not initialised
        return {}
    return dict(found) if isinstance(found, dict) else {}
