"""Which variables of a function are not loaded again from an instruction on, and what a snapshot has of that.

Note [Liveness of variables]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A variable is live at an instruction if a path from there loads or deletes it before it is stored. Every jump and every
entry of the exception table is a path, whether it can be taken or not. The instructions are those that `dis` shows;
what they load and store is read from their names, so that new combinations of known ones are understood.

Only places between statements matter, for only there can a ``del`` be written. So a variable that a running statement
loads is live throughout the statement, as it is for operands that CPython 3.14 borrows.

A global variable of a script is treated the same, unless a function of the script loads it, too. What is loaded by name
is seen by its text: a variable whose name is a word of a string is live everywhere, for ``numexpr``, ``query`` of
pandas and others evaluate strings. Strings that are documentation, keys, or printed do not count.
"""

import ast
import dis
import re
import sys
from bisect import bisect_right
from types import CodeType

from tensix.memory.call_site import Frame
from tensix.profiling.bindings import FINDERS
from tensix.profiling.statements import can_follow, can_precede, is_written, lines_of_statement, tree_of

ACCESS = re.compile(r"(LOAD|STORE|DELETE)_(?:FAST|NAME|GLOBAL|FROM_DICT_OR_GLOBALS)")
# After these the next instruction is not reached.
JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"}
ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
BORROWS = sys.version_info >= (3, 14)  # an argument's reference may be the caller's
FLOWS = {}  # of code


class Flow:
    """The paths through the instructions of a code object, and what is live where."""

    def __init__(self, code):
        listing = dis.Bytecode(code)
        self.code, self.instructions = code, list(listing)
        self.numbers = {one.offset: number for number, one in enumerate(self.instructions)}
        self.lines = [one.positions.lineno for one in self.instructions]
        self.loads, self.stores, self.deletes = [], [], set()
        for one in self.instructions:
            names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
            access = list(zip(ACCESS.findall(one.opname), names, strict=False))
            self.loads.append({name for kind, name in access if kind != "STORE"})  # a value is deleted, too
            self.stores.append({name for kind, name in access if kind != "LOAD"})
            self.deletes |= {len(self.loads) - 1} if any(kind == "DELETE" for kind, _ in access) else set()
        self.handlers = [set() for _ in self.instructions]
        for entry in listing.exception_entries:
            for number, one in enumerate(self.instructions):
                if entry.start <= one.offset < entry.end:
                    self.handlers[number].add(self.numbers[entry.target])
        self.following = [set() for _ in self.instructions]  # of one that raises nothing
        for number, one in enumerate(self.instructions):
            if one.opname not in JUMPS and one.opname not in ENDS and number + 1 < len(self.instructions):
                self.following[number].add(number + 1)
            if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
                self.following[number].add(self.numbers[one.argval])
        self.leading = [[] for _ in self.instructions]
        for number, following in enumerate(self.following):
            for other in {*following, *self.handlers[number]}:
                self.leading[other].append(number)
        self.find_live()

    def at(self, position):
        """Return the number of the instruction that runs; the position may be in what CPython keeps after it."""
        return max(bisect_right([*self.numbers], position) - 1, 0)

    def find_live(self):
        """Find the variables that are live before each instruction, going backwards until nothing changes."""
        self.live = [set() for _ in self.instructions]
        changes = True
        while changes:
            changes = False
            for number in reversed(range(len(self.instructions))):
                after = set().union(*(self.live[other] for other in self.following[number]))
                before = (after - self.stores[number]) | self.loads[number]
                before = before.union(*(self.live[other] for other in self.handlers[number]))
                if before != self.live[number]:
                    self.live[number], changes = before, True

    def ways(self, lines, end):
        """Yield the steps out of the lines of a statement (`end` is 0), or into them (1), as pairs of instructions."""
        for number, following in enumerate(self.following):
            for other in following | (self.handlers[number] if end else set()):
                inside = self.lines[number] in lines, self.lines[other] in lines
                if inside[end] and not inside[1 - end]:
                    yield number, other

    def before(self, number, name, only_stores=False):
        """Return the instructions that can be the last before one to load or store a variable, and if a path has none.

        -1 is an argument that is still what it was when the function began.
        """
        found, seen, waiting, lacks = set(), set(), [number], False
        while waiting:
            number = waiting.pop()
            if number == 0 and name in arguments_of(self.code):
                found.add(-1)
            lacks |= number == 0 and name not in arguments_of(self.code)
            for other in {*self.leading[number]} - seen:
                seen.add(other)
                if name in self.stores[other] and other in self.deletes:
                    lacks = True
                elif name in self.stores[other] or (name in self.loads[other] and not only_stores):
                    found.add(other)
                else:
                    waiting.append(other)
        return found, lacks

    def comes_again(self, number, name, entries):
        """Whether a path leads from an instruction to one of some without a new value for a variable."""
        seen, waiting = set(), [number]
        while waiting:
            number = waiting.pop()
            if name in self.stores[number]:
                continue
            more = (self.following[number] | self.handlers[number]) - seen
            if more & entries:
                return True
            seen |= more
            waiting += more
        return False


def arguments_of(code):
    """Return the names of the arguments of a function."""
    flags = bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args and **kwargs
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]


def flow_of(code):
    """Return the flow of a code object."""
    key = code, code.co_filename  # which does not count for equality
    if key not in FLOWS:
        FLOWS[key] = Flow(code)
    return FLOWS[key]


def frame_at(code, line):
    return Frame(code.co_filename, line, code.co_qualname)


def running(code, position, names):
    """Return the flow of a function, and the instruction and the lines of the statement that run; None if unknown."""
    has_statements = not code.co_name.startswith("<") or code.co_name == "<module>"
    if has_statements and tree_of(code.co_filename) is not None and all(is_plain(code, name) for name in names):
        flow = flow_of(code)
        number = flow.at(position)
        if flow.lines[number] is not None:
            return flow, number, lines_of_statement(frame_at(code, flow.lines[number]))
    return None, None, None


def facts_of(moments, known):
    """Return which variables were not used any more at the moments of a recording; `known` keeps what was found out.

    A moment is the number of the block whose allocation it was, and what `bindings.moment` returned, numbers of blocks
    in place of addresses. Of it there is what `death_of` returns, with ``names``, the ``block`` of the moment, the
    ``blocks`` that the variables hold, and ``depth``, how many frames of the block's stack are further in. Without
    names and blocks there is ``at``, where in the source the operation is that runs, and the ``types`` of names there.
    """

    def once(find, code, *arguments):
        key = find, code, code.co_filename, *arguments
        if key not in known:
            known[key] = find(code, *arguments)
        return known[key]

    facts = {}
    for block, frames, held, types in moments:
        code, position, depth = frames[0]
        place = once(place_in_source, code, position)
        if None not in place:
            facts[code, code.co_filename, position] = {
                "block": block, "depth": depth, "line": place[0], "at": place, "types": types, "names": (),
                "blocks": [], "dead": [], "live": [], "made": [], "is_after": False,
            }  # fmt: skip
        for number, frame, names, part in held:
            code, position, depth = frames[frame]
            where = once(death_of, code, position, names)
            if where is None and part:  # the variable is used again, most of the array is not
                found = once(place_of_copy, code, position, *names)
                where = found and found | {"part": part}
            if where is not None:
                key = code, code.co_filename, names, where["line"], where["is_after"], where.get("part")
                fact = facts.setdefault(key, where | {"names": names, "block": block, "depth": depth, "blocks": []})
                if number not in fact["blocks"]:
                    fact["blocks"].append(number)
    FLOWS.clear()
    return [fact | {"names": list(fact["names"])} for fact in facts.values()]


def place_in_source(code, position):
    """Return the first and last line and column of what runs at a position."""
    flow = flow_of(code)
    return [*flow.instructions[flow.at(position)].positions]


def place_of_copy(code, position, name):
    """Return before which line a variable can be given a copy of the view that it is, None if there is no such place.

    Every path to the line brings a value of one statement, and comes to it once. The variable is not an argument, and
    the file writes into nothing of its name.
    """
    flow, number, here = running(code, position, (name,))
    if flow is None or not can_precede(frame_at(code, here[0])) or is_written(code.co_filename, name):
        return None
    stores = flow.before(number, name, only_stores=True)[0]
    entries = {other for _, other in flow.ways(here, 1)}
    if len({flow.lines[n] for n in stores if n >= 0}) != 1 or -1 in stores or not entries or any(
        flow.before(entry, name)[1] or flow.comes_again(entry, name, entries) for entry in entries
    ):  # fmt: skip
        return None
    made = {lines_of_statement(frame_at(code, flow.lines[n])) for n in stores}.pop()
    return {"line": here[0], "is_after": False, "dead": [], "live": [], "made": [*made]}


def death_of(code, position, names):
    """Return since when variables are not used, in a function that has come to the instruction at a position.

    That is None if one of them may be used again. Else ``line`` and ``is_after``: the line after or before which
    ``del`` can be written; ``dead``: the lines at which none of them is live; ``made``: those of the statement that
    gave the value, if it is one; ``live``: the lines at which all are live.
    """
    flow, number, here = running(code, position, names)
    if flow is None:
        return None
    for name in names:
        is_used_here = any(name in flow.loads[n] for n, line in enumerate(flow.lines) if line is None or line in here)
        if name in flow.live[number] or is_used_here:
            return None
    place, lines = place_of(flow, number, names, here), lines_of_death(flow, number, names)
    return None if place is None or lines is None else place | lines


def place_of(flow, number, names, here):
    """Return where ``del`` can be written, None if there is no such place that every path passes with values."""
    accesses = set().union(*(flow.before(number, name)[0] for name in names))
    lines = {flow.lines[n] for n in accesses if n >= 0}
    if len(names) == 1 and lines and -1 not in accesses and None not in lines:
        used = {lines_of_statement(frame_at(flow.code, line)) for line in lines}
        if len(used) == 1 and can_follow(frame_at(flow.code, min(lines))):
            [used] = used
            if all(is_gone(flow, names[0], n, other) for n, other in flow.ways(used, 0)):
                return {"line": used[-1], "is_after": True}
    entries = {other for _, other in flow.ways(here, 1)}
    if not can_precede(frame_at(flow.code, here[0])) or any(
        name in flow.live[entry] or flow.before(entry, name)[1] or flow.comes_again(entry, name, entries)
        for entry in entries for name in names
    ):  # fmt: skip
        return None
    return {"line": here[0], "is_after": False}


def is_gone(flow, name, number, other):
    """Whether a variable has a value after an instruction, which the one that follows does not load any more."""
    is_access = name in flow.loads[number] or (name in flow.stores[number] and number not in flow.deletes)
    return name not in flow.live[other] and (is_access or not flow.before(number, name)[1])


def lines_of_death(flow, number, names):
    """Return the lines at which variables are not live, those that gave their values, and those at which all live."""
    dead, live = set(), set()
    stores = set().union(*(flow.before(number, name, only_stores=True)[0] for name in names))
    if BORROWS and -1 in stores:
        return None
    stores.discard(-1)
    for line in {line for line in flow.lines if line is not None}:
        those = [n for n, other in enumerate(flow.lines) if other == line]
        if not any(name in flow.live[n] or name in flow.loads[n] for n in those for name in names):
            dead.add(line)
        if all(name in flow.live[n] for n in those for name in names):
            live.add(line)
    for line in tuple(dead):
        if not dead.issuperset({*lines_of_statement(frame_at(flow.code, line))} & {*flow.lines}):
            dead.discard(line)
    made = {lines_of_statement(frame_at(flow.code, flow.lines[n])) for n in stores if flow.lines[n] is not None}
    return {"dead": sorted(dead), "live": sorted(live), "made": list(made.pop()) if len(made) == 1 else []}


def is_plain(code, name):
    """Whether only instructions of a function can load one of its variables, or of a script one of its global ones."""
    if name in strings_of(code.co_filename) or not name.isidentifier():
        return False
    if code.co_flags & 1:  # its variables are not in a dict
        is_rewritten = "@py_builtins" in code.co_names  # by pytest, which adds a call of locals()
        return name in code.co_varnames and name not in code.co_cellvars and not (is_rewritten and has_locals(code))
    return not any(name in one.co_names or not FINDERS.isdisjoint(one.co_names) for one in codes_in(code))


def has_locals(code):
    """Whether the source of a function names ``locals``."""
    lines = range(code.co_firstlineno, max(line or 0 for _, _, line in code.co_lines()) + 1)
    nodes = ast.walk(tree_of(code.co_filename))
    return any(isinstance(node, ast.Name) and node.id == "locals" and node.lineno in lines for node in nodes)


def codes_in(code):
    """Yield the code of the functions in a function or a script."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from codes_in(one)


WORD = re.compile(r"[^\W\d]\w*")


def strings_of(file):
    """Return the words in strings of a file that could be code: all but keys, documentation, and what is printed."""
    tree = tree_of(file)
    if not hasattr(tree, "words"):
        words, passed = set(), set()
        for node in ast.walk(tree):  # from outside to inside
            is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            plain = [getattr(node, "slice", None), *getattr(node, "keys", ()), *(node.args if is_print else ())]
            plain += [node.value] if isinstance(node, ast.Expr) else []
            for text in plain:
                passed.update(map(id, [text, *getattr(text, "values", ())]))  # what is formatted has pieces
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
                words.update(WORD.findall(node.value))
        tree.words = words
    return tree.words
