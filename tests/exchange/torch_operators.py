"""Call every operator that PyTorch's own tests know, with and without its tensors in tensix's memory, and compare.

``python tests/exchange/torch_operators.py [NAME ...]`` needs ``expecttest``, which those tests import. The operators
and their inputs are `op_db` of ``torch.testing``, which the wheel ships. Each call is made with PyTorch's memory, with
tensix's, and with guard bytes around each block.
"""

import gc
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

import tensix
from tensix.memory import GuardAdaptor, serve_torch

MOST_SAMPLES = 8  # of an operator
SEED = 5
# Their values are not specified, or depend on the alignment of memory.
VARYING = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "linalg.lstsq", "new_empty", "new_empty_strided",
}  # fmt: skip


def results_of(operator, dtype):
    """Return what the calls of an operator return, or the type of what they raise."""
    found = []
    torch.manual_seed(SEED)
    samples = operator.sample_inputs("cpu", dtype, requires_grad=False)
    for _, sample in zip(range(MOST_SAMPLES), samples):
        torch.manual_seed(SEED)
        try:
            found.append(operator(sample.input, *sample.args, **sample.kwargs))
        except Exception as error:
            found.append(type(error))
    return found


def same(one, other):
    """Whether two results are the same to the bit."""
    if isinstance(one, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype and torch.equal(bytes_of(one), bytes_of(other))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other)


def bytes_of(tensor):
    dense = tensor if tensor.layout == torch.strided else tensor.to_dense()
    flat = dense.resolve_conj().resolve_neg().reshape(-1)
    return torch.empty(flat.shape, dtype=flat.dtype).copy_(flat).view(torch.uint8)


def compare(operator, dtype):
    """Return how many calls were made, how many of them raise, and which differ where, if they do not differ anyway."""
    own, again = results_of(operator, dtype), results_of(operator, dtype)
    different = []
    for allocator in (None, GuardAdaptor()):
        with serve_torch(allocator):
            served = results_of(operator, dtype)
        triples = zip(own, again, served, strict=True)
        found = [place for place, (one, two, three) in enumerate(triples) if same(one, two) and not same(one, three)]
        different += [f"{operator.name} {operator.variant_test_name}: call {place}, {allocator}" for place in found]
    return len(own), sum(isinstance(one, type) for one in own), different


def main(names):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    broken, different, operators, calls, raised = [], [], 0, 0, 0
    sys.unraisablehook = lambda unraisable: broken.append(str(unraisable.exc_value))
    for operator in op_db:
        dtype = torch.float32 if torch.float32 in operator.dtypes else next(iter(operator.dtypes), None)
        if dtype is not None and (operator.name in names if names else operator.name not in VARYING):
            found = compare(operator, dtype)
            operators, calls, raised, different = (
                operators + 1, calls + 2 * found[0], raised + found[1], different + found[2]
            )  # fmt: skip
    gc.collect()
    for text in [*different, *broken]:
        print(text)
    print(f"{operators} operators, {calls:,} calls in tensix's memory, {raised} raise with PyTorch's memory as well, "
          f"{len(different)} differ, {len(broken)} wrote outside their memory; "
          f"{tensix.memory.memory_allocated():,} bytes are left")  # fmt: skip
    return bool(different or broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
