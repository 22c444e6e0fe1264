"""Where ``del`` can be written: tried on programs of chance, and on some by hand."""

import ast
import contextlib
import io
import random
import sys
import warnings

import pytest

from tensix.profiling.liveness import FLOWS, death_of, facts_of, place_of_copy

NAMES = "abcd"


def statements(rng, depth, in_loop):
    """Return lines of random statements: some may end a function or a loop, raise, or leave a name without a value."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(14 if depth else 7)
        name, other = rng.choice(NAMES), rng.choice(NAMES)
        block = [f"    {line}" for line in statements(rng, depth - 1, in_loop or kind in (7, 8))] if depth else []
        more = [f"    {line}" for line in statements(rng, depth - 1, in_loop)] if depth else []
        loops = ["break", "continue"] if in_loop else ["pass"]
        lines += [
            [f"{name} = see({other})"],
            [f"{name} = ({other} +", "    see(1))"],
            ["see(0)"],
            [f"see({name} if see({other}) % 2 else see(3))"],
            [f"{name} += see(2)"],
            [rng.choice(["return see(b)", "raise KeyError(see(a))", f"del {name}", *loops])] if rng.random() < 0.3
            else [f"{name}, {other} = see(1), see(2)"],
            [f"see([x + {name} for x in range(see(2) % 3)])"],
            [f"for {name} in range(see(3) % 3):", *block],
            [f"while turns() and see({name}) % 3:", *block, "else:", *more],
            [f"if see({name}) % 2:", *block, "else:", *more],
            ["try:", *block, "except KeyError:", *more, "else:", "    see(4)"],
            ["try:", *block, "finally:", *more],
            [f"with entered(see({name})) as {other}:", *block],
            [f"match see({name}) % 3:", f"    case 0 | 1 if see({other}):", *(f"    {line}" for line in block),
             f"    case {rng.choice(NAMES)}:", *(f"    {line}" for line in more)],
        ][kind]  # fmt: skip
    return lines


def source_of(seed):
    rng = random.Random(seed)
    body = statements(rng, 3, False)
    return "\n".join(["def run(a, b):", "    c = see(5)", *(f"    {line}" for line in body), "    return see(c)"])


class Run:
    """Run a program, ask at each call of ``see`` which variables are dead, and note what is seen."""

    def __init__(self, path, asks):
        self.asks, self.seen, self.turns, self.places = asks, [], 0, set()
        scope = {"see": self.see, "turns": self.turn, "entered": contextlib.nullcontext, "range": range}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # CPython 3.14 warns of "return" in "finally"
            exec(compile(path.read_text(), str(path), "exec"), scope)
        try:
            self.seen.append(scope["run"](7, 4))
        except Exception as error:
            self.seen.append((type(error), str(error)))

    def turn(self):
        self.turns += 1
        return self.turns < 12

    def see(self, value):
        frame = sys._getframe(1)
        if self.asks and frame.f_code.co_name == "run":
            for name in [name for name in NAMES if name in frame.f_locals]:
                death = death_of(frame.f_code, frame.f_lasti, (name,))
                if death is not None:
                    self.places.add((name, death["line"], death["is_after"]))
        self.seen.append(value if isinstance(value, (int, str)) else repr(value))
        return value if isinstance(value, int) else 6


def with_del(source, name, line, is_after):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            for place, one in enumerate(body if isinstance(body, list) else ()):
                if (one.end_lineno if is_after else one.lineno) == line and not (is_after and hasattr(one, "body")):
                    body.insert(place + is_after, ast.parse(f"del {name}").body[0])
                    return ast.unparse(ast.fix_missing_locations(tree))
    raise AssertionError((name, line, is_after))


def test_programs_of_chance_do_the_same_without_what_is_dead(tmp_path):
    tried = 0
    for seed in range(60):
        path = tmp_path / f"program{seed}.py"
        path.write_text(source_of(seed))
        before = Run(path, asks=True)
        for name, line, is_after in sorted(before.places):
            other = tmp_path / "other.py"
            other.write_text(with_del(source_of(seed), name, line, is_after))
            after = Run(other, asks=False)
            assert after.seen == before.seen, (source_of(seed), name, line, is_after)
            tried += 1
        FLOWS.clear()
    assert tried > 20


def place_in(tmp_path, text, look, *names):
    """Return the place at the call of ``here`` in a function."""
    path = tmp_path / "program.py"
    path.write_text(text)
    found = []
    scope = {"here": lambda: found.append(look(sys._getframe(1).f_code, sys._getframe(1).f_lasti, *names))}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, str(path), "exec"), scope)
        scope["run"]()
    return None if found[0] is None else (found[0]["line"], found[0]["is_after"])


CASES = {
    "after its last use": ("def run():\n    x = 1\n    print(x)\n    here()", (3, True)),
    "after what made it, if it is not used": ("def run():\n    x = 1\n    here()", (2, True)),
    "a use in the same statement": ("def run():\n    x = 1\n    print(x, here())", None),
    "a use over several lines": ("def run():\n    x = 1\n    print(x,\n          here())", None),
    # CPython 3.12 compiles a short end twice, one for each branch.
    "two last uses": ("def run(c=1):\n    x = 1\n    if c:\n        print(x)\n    else:\n        x + 1\n    here()\n"
                      "    print(1, 2, 3)", (7, False)),
    "no value on one path": ("def run(c=1):\n    if c:\n        x = 1\n        c = x\n    else:\n        x = 2\n"
                             "        del x\n    here()", (4, True)),
    "in a loop": ("def run():\n    for i in range(2):\n        here() if i else 0\n        x = i\n        print(x)",
                  (5, True)),
    "a loop's own variable": ("def run():\n    for x in (1, 2):\n        print(x)\n    here()", (3, True)),
    "an inner function": ("def run():\n    x = 1\n    f = lambda: x\n    here()", None),
    "a string": ("def run():\n    x = 1\n    here()\n    print(eval.__name__, ['x + 1'])", None),
    "a string that is printed": ("def run():\n    x = 1\n    here()\n    print('x', {'x': 1})", (2, True)),
    "finally": ("def run():\n    x = 1\n    try:\n        here()\n    finally:\n        print(x)", None),
    "a comprehension": ("def run():\n    x = 1\n    [here() for i in (1,)]\n    return x", None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_place(tmp_path, name):
    text, place = CASES[name]
    assert place_in(tmp_path, text, death_of, ("x",)) == place


COPIES = {
    "before the statement": ("def run():\n    x = [1]\n    here()\n    return x", (3, False)),
    "an argument": ("def run(x=1):\n    here()\n    return x", None),
    "an argument on one path": ("def run(x=1, c=0):\n    if c:\n        x = 2\n    here()\n    return x", None),
    "two statements": ("def run(c=1):\n    x = 1\n    if c:\n        x = 2\n    here()\n    return x", None),
    "no value on one path": ("def run(c=1):\n    if c:\n        x = 1\n    here()\n    return x", None),
    "in a loop": ("def run():\n    x = 1\n    for i in range(2):\n        here()\n    return x", None),
    "made in the loop": ("def run():\n    for i in 1, 2:\n        x = i\n        here()\n        print(x)", (4, False)),
    "written by an operator": ("def run():\n    x = 1\n    here()\n    x += 1\n    return x", None),
    "written in part": ("def run():\n    x = [1]\n    here()\n    x[0] = 1\n    return x", None),
    "written by a method": ("def run():\n    x = [1]\n    here()\n    x.sort()\n    return x", None),
    "written as a result": ("def run():\n    x = 1\n    here()\n    return dict(x=x, out=x)", None),
    "an inner function": ("def run():\n    x = 1\n    here()\n    return lambda: x", None),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
def test_a_place_of_a_copy(tmp_path, name):
    text, place = COPIES[name]
    assert place_in(tmp_path, text, place_of_copy, "x") == place


def test_two_views_of_one_size_are_told_apart(tmp_path):
    """The file writes into one of them, so it has no place of a copy, whatever is known of the other."""
    names = []

    def note(code, position):
        held = [(1, 0, ("x",), 40), (2, 0, ("y",), 40)]
        names.extend(fact["names"] for fact in facts_of([(0, [(code, position, 0)], held, {})], {}))

    place_in(tmp_path, "def run():\n    x = [1]\n    y = [1]\n    here()\n    y[0] = 1\n    return x, y", note)
    assert names == [[], ["x"]]
