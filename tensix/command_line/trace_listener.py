"""Record what happens while code runs: calls of operators, blocks, counts."""

from string import ascii_uppercase

from tensix._tensor import Tensor
from tensix.core import MemoryReporter, Stat
from tensix.dispatch import dispatcher

__all__ = ["TraceListener"]


class TraceListener(MemoryReporter):
    """Record calls of operators and events of memory while used as a context manager.

    Attributes
    ----------
    events : list of dict
        In order; those inside a call are in the call's own list ``"events"``. Kinds are ``"call"``, ``"allocate"``,
        ``"free"``, ``"out of memory"``.
    blocks : dict
        Address of every living block to its ``"name"``, ``"nbytes"`` and ``"allocator"``.
    stat : Stat
        Bytes of the blocks that were made inside.
    """

    def __init__(self):
        self.events = []
        self.blocks = {}
        self.stat = Stat()
        self.blocks_made = 0
        self.blocks_freed = 0
        self._open = []  # calls that have not returned
        self._tensors = {}  # id of a body -> name, while somebody holds it
        self._tensors_named = 0

    def __enter__(self):
        dispatcher.add_listener(self)
        return super().__enter__()

    def __exit__(self, *exc_info):
        dispatcher.remove_listener(self)
        super().__exit__(*exc_info)

    # ---- from the memory

    def report_memory_usage(self, address, nbytes, total_allocated, device):
        """Take an allocation or a free."""
        if nbytes > 0:
            name = block_name(self.blocks_made)
            self.blocks_made += 1
            self.stat.increase(nbytes)
            self.blocks[address] = {"name": name, "nbytes": nbytes, "allocator": None}
            alignment = min(address & -address, 4096)  # more is chance
            self._add({"kind": "allocate", "block": name, "nbytes": nbytes, "address": address, "aligned": alignment})
        elif address in self.blocks:  # else it is older than the recording
            block = self.blocks.pop(address)
            self.blocks_freed += 1
            self.stat.decrease(block["nbytes"])
            self._add({"kind": "free", "block": block["name"], "nbytes": block["nbytes"]})

    def report_out_of_memory(self, nbytes, total_allocated, device):
        """Take a failure."""
        self._add({"kind": "out of memory", "nbytes": nbytes})

    # ---- from the dispatcher

    def before_call(self, table, key, args, kwargs):
        """Take the start of a call."""
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        call = {
            "kind": "call",
            "operator": table.schema.qualified_name,
            "schema": str(table.schema),
            "key": key.name,
            "kernel": repr(table.kernel_for(key)),
            "arguments": [self._describe(value) for value in args]
            + [f"{name}={self._describe(value)}" for name, value in kwargs.items()],
            "owners_before": self._owners(tensors),
            "events": [],
        }
        self._add(call)
        self._open.append((call, tensors, set()))

    def after_call(self, table, key, result):
        """Take the end of a call."""
        call, tensors, made = self._open.pop()
        shown = [result] if isinstance(result, Tensor) else []
        if shown:
            for event in call["events"]:
                block = self.blocks.get(event["address"]) if event["kind"] == "allocate" else None
                if block is not None and result.storage().data_ptr() == event["address"]:
                    block["allocator"] = event["allocator"] = repr(result.allocator)
            call["result"] = self._result(result, tensors, made)
            if self._open:
                self._open[-1][2].add(result.body_address())  # so that the outer call knows it again
        call["owners_after"] = self._owners(tensors + shown)

    def failed_call(self, table, key):
        """Take the end of a call that raised."""
        self._open.pop()[0]["failed"] = True

    # ---- names

    def name_of(self, tensor):
        """Return the name of a tensor, a new one at its first sight."""
        body = tensor.body_address()
        if body not in self._tensors:
            self._tensors_named += 1
            self._tensors[body] = f"t{self._tensors_named}"
        return self._tensors[body]

    def block_of(self, tensor):
        """Return the record of the block that a tensor's bytes are in, None if it is older than the recording."""
        return self.blocks.get(tensor.storage().data_ptr()) if tensor.defined() else None

    def _add(self, event):
        (self._open[-1][0]["events"] if self._open else self.events).append(event)

    def _describe(self, value):
        """Return a value in one line; tensors inside an index by their names, too."""
        if isinstance(value, Tensor):
            return self.name_of(value)
        if isinstance(value, tuple) and any(isinstance(item, Tensor) for item in value):
            return "(" + ", ".join(map(self._describe, value)) + ("," if len(value) == 1 else "") + ")"
        return " ".join(repr(value).split())

    def _owners(self, tensors):
        """Return how many owners the storage of each tensor has, our own handle not counted."""
        return {self.name_of(tensor): tensor.storage().use_count() - 1 for tensor in tensors if tensor.defined()}

    def _result(self, result, arguments, made):
        same = next((a for a in arguments if a.body_address() == result.body_address()), None)
        if same is None and result.body_address() not in made:
            self._tensors.pop(result.body_address(), None)  # a body that died had this address
        base = next((a for a in arguments if a is not same and result.is_alias_of(a)), None)
        others = [a for a in arguments if a is not same and a.defined()]
        sharer = next((a for a in others if result.is_cow() and a.data_ptr() == result.data_ptr()), None)
        block = self.block_of(result)
        facts = {
            "tensor": self.name_of(result),
            "in_place": same is not None,
            "shape": result.shape,
            "stride": result.stride(),
            "storage_offset": result.storage_offset(),
            "dtype": str(result.dtype),
            "block": block and block["name"],
            "view_of": self.name_of(base) if base is not None and same is None else None,
            "copy_on_write_of": None,
        }
        if same is None and base is None and sharer is not None and result.is_cow():
            facts["copy_on_write_of"] = self.name_of(sharer)
        return facts


def block_name(number):
    """Return A, B, …, Z, AA, AB, … ."""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = ascii_uppercase[letter] + name
    return name
