"""Which copies and joined parts could be left out, by the source alone; `advised/` tests what that saves."""

import ast

import pytest

from tensix.memory import Frame
from tensix.profiling.copies import joined, needless_copy

TYPES = {
    "np": "numpy", "x": ["<f8", [4, 5], True], "strided": ["<f8", [4, 5], False], "n": ["<i8", [4, 5], True],
    "scalar": ["<f8", []], "cls": "type", "bool": "type",
}  # fmt: skip
READ = {
    "x.copy().sum()": ("x", "x.copy()"),
    "x.copy().sum(axis=0)": ("x", "x.copy()"),
    "np.percentile(x.flatten(), 99)": ("x.ravel()", "x.flatten()"),
    "np.sqrt(np.array(x))": ("np.asarray(x)", "np.array(x)"),
    "np.sqrt(np.array(x, dtype=float))": ("np.asarray(x, float)", "np.array(x, dtype=float)"),
    "np.copy(n) > scalar": ("n", "np.copy(n)"),
    "x.astype('f8') > 0": ("x.astype('f8', copy=False)", "x.astype('f8')"),
    "n.astype(np.int64) / 2": ("n.astype(np.int64, copy=False)", "n.astype(np.int64)"),
}
NEEDED = {
    "another type": "n.astype(float).sum()",
    "an unknown type": "x.astype(cls).sum()",
    "a type of another name": "n.astype(bool).sum()",
    "no type": "x.astype('nothing').sum()",
    "an unknown option": "x.astype(float, order='F').sum()",
    "another order": "strided.copy().sum()",
    "an unknown array": "unknown.copy().sum()",
    "its memory is the result's": "x.copy() * 2",
    "its memory is the result's, by a sign": "-x.copy()",
    "an unknown operand, whose operator runs": "x.copy() > unknown",
    "an unknown function": "f(x.copy())",
    "an unknown module": "npx.sum(x.copy())",
    "it is written": "np.median(x.copy(), overwrite_input=True)",
    "its source is written meanwhile": "np.dot(x.copy(), f(x))",
    "its source is written": "np.add(x.copy(), 1, out=x)",
    "a method that writes": "x.copy().sort()",
    "it is given out as edges": "np.histogram(y, x.copy())",
    "an array that is written": "np.sum(x.copy(), 0, None, y)",
    "it is given out": "np.diff(x.copy(), 0)",
    "a view of it": "x.copy().T.sum()",
    "it is kept": "[x.copy(), 1]",
    "it has a name": "x.copy()",
    "no array": "scalar.copy().sum()",
}


def copy_in(tmp_path, text):
    """Return what is found of the innermost copy of a statement, as it runs."""
    path = tmp_path / "program.py"
    path.write_text(f"y = {text}\n", encoding="utf-8")
    copies = "copy", "flatten", "astype", "array"
    node = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in copies][-1]  # fmt: skip
    place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    return needless_copy(Frame(str(path), 1, "<module>"), place, TYPES)


@pytest.mark.parametrize("text", READ)
def test_a_copy_that_is_only_read(tmp_path, text):
    instead, copied = READ[text]
    assert copy_in(tmp_path, text) == (f"`{instead}` for `{copied}`", 160)


@pytest.mark.parametrize("name", NEEDED)
def test_a_copy_that_may_be_needed(tmp_path, name):
    assert copy_in(tmp_path, NEEDED[name]) is None


LOOP = ["parts = []", "for i in range(n):", "    parts.append(f(i))", "y = np.stack(parts)"]
LOOPS = {
    "a loop": (LOOP, True),
    "del afterwards": ([*LOOP, "del parts"], True),
    "a longer loop": ([*LOOP[:2], "    g(i)", *LOOP[2:]], True),
    "a comprehension": (["y = np.concatenate([f(i) for i in range(n)])"], True),
    "used afterwards": ([*LOOP, "g(parts)"], False),
    "used before": ([*LOOP[:3], "g(parts)", LOOP[3]], False),
    "begun with a part": (["parts = [f(0)]", *LOOP[1:]], False),
    "a condition": ([*LOOP[:2], "    if g(i):", "        parts.append(f(i))", LOOP[3]], False),
    "a break": ([*LOOP[:3], "    if g(i):", "        break", LOOP[3]], False),
    "any iterable": (["parts = []", "for i in n:", *LOOP[2:]], False),
    "a variable, which may be used": ([*LOOP[:2], "    a = f(i)", "    parts.append(a)", LOOP[3]], False),
    "another axis": ([*LOOP[:3], "y = np.stack(parts, axis=1)"], False),
    "the result has no name": ([*LOOP[:3], "y = np.stack(parts).sum()"], False),
    "a comprehension with a condition": (["y = np.stack([f(i) for i in range(n) if g(i)])"], False),
    "another function": ([*LOOP[:3], "y = g(parts)"], False),
}


@pytest.mark.parametrize("name", LOOPS)
def test_parts_that_could_be_written_at_once(tmp_path, name):
    lines, is_found = LOOPS[name]
    path = tmp_path / "program.py"
    path.write_text("\n".join(["def run(n):", *(f"    {line}" for line in lines)]), encoding="utf-8")
    line = next(number for number, one in enumerate(lines, 2) if one.startswith("y = "))
    node = next(n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(n, ast.Call) and n.lineno == line and "parts" in ast.unparse(n) + "parts")  # fmt: skip
    place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    assert (joined(Frame(str(path), line, "run"), place, TYPES) is not None) == is_found
