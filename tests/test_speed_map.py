"""``asv_bench/speed_map.py``: no public call is forgotten, and every row runs in every library it names."""

import ast
import json
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest
import race
from benchmarks import public_calls
from benchmarks.public_calls import LIBRARIES, all_rows, operands
from heat_map import heat_map
from speed_map import main

import tensix
from tensix import fft, functions, linalg

ROWS = all_rows()
CODES = "\n".join(row.tensix for row in ROWS)
PARSED = [node for row in ROWS for node in ast.walk(ast.parse(row.tensix))]

# Public names of tensors without a row, by reason.
WITHOUT_A_ROW = {
    "written as a function or operator": "item add_ sub_ mul_ div_",
    "makes what another row makes": "bool cpu double float half int long "
    "expand_as flatten movedim numel reshape_as t view_as unflatten",
    "a fact of the body, read as ndim is": "allocator body_address data_ptr defined impl is_alias_of is_contiguous "
    "is_cow is_shared is_sparse layout mutable_data_ptr readonly storage storage_offset suggest_memory_format "
    "use_count version weak weak_use_count from_impl from_storage set_",
    "of storages, or for memory that is kept": "resize_",
    "of sparse tensors": "coalesce indices is_coalesced nnz to_dense to_sparse values",
    "of random numbers, as rand and randn": "normal_ uniform_",
}


def test_every_function_has_a_row():
    names = {row.name for row in ROWS}
    for module in (*functions.CHAPTERS, linalg, fft):
        prefix = module.__name__.rpartition(".")[2] + "." if module in (linalg, fft) else ""
        for name in module.__all__:
            if public_calls.is_function(getattr(module, name)) and not name.startswith("__"):
                assert prefix + name in names


def test_names_are_unique():
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_every_operator_has_a_row():
    found = {type(node.op) for node in PARSED if isinstance(node, ast.BinOp | ast.UnaryOp)}
    found |= {type(op) for node in PARSED if isinstance(node, ast.Compare) for op in node.ops}
    python_only = {ast.Not, ast.Is, ast.IsNot, ast.In, ast.NotIn}
    every = {*ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__()}
    assert every - python_only - {ast.In} - found == set()


def test_every_kind_of_key_reads_and_writes():
    kinds = {True: set(), False: set()}
    for node in PARSED:
        if isinstance(node, ast.Subscript):
            keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for key in keys:
                written = isinstance(node.ctx, ast.Store)
                kinds[written].add(type(key.value) if isinstance(key, ast.Constant) else getattr(key, "id", type(key)))
    assert {int, ast.Slice, type(...), "t", "b"} <= kinds[True]
    assert {int, ast.Slice, type(...), type(None), "t", "b"} <= kinds[False]


def test_every_name_of_tensors_has_a_row_or_a_reason():
    excused = {name for names in WITHOUT_A_ROW.values() for name in names.split()}
    public = {name for name in dir(tensix.Tensor) if not name.startswith("_") and hasattr(tensix.Tensor, name)}
    functions = {row.name for row in ROWS}  # whose methods are made of the same declarations
    in_codes = {name for name in public if re.search(rf"\.{name}\b", CODES)}
    assert public - in_codes - excused - functions == set()
    assert excused - public == set(), "these are no longer names of tensors"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_row_runs(library):
    if library == "torch":
        pytest.importorskip("torch")
    names = operands(library, 3, 4)
    for row in ROWS:
        if code := row.codes().get(library):
            exec(code, names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_rows_do_the_same_work(library):
    """Results agree in shape and values, but for random and uninitialised ones, and for what has no values."""
    np = pytest.importorskip("numpy")
    if library == "torch":
        pytest.importorskip("torch")
    ours, theirs = operands("tensix", 5, 7), operands(library, 5, 7)
    unlike = {"empty", "empty_like", "rand", "randn", "randint", "finfo", "iinfo"}
    if library == "torch":
        unlike |= {"nonzero", "argwhere", "std", "var", "max", "min"} | {"linalg.svd", "linalg.qr", "linalg.eigh"}
    compared = 0
    for row in ROWS:
        code = row.codes().get(library)
        if code is None or row.chapter not in {"elementwise", "linear_algebra", "sorting", "operators", "manipulation"}:
            continue
        if row.name in unlike or row.name.startswith("o."):
            continue
        mine, other = eval(row.tensix, ours), eval(code, theirs)
        if isinstance(other, list | tuple) or not hasattr(other, "shape"):
            continue
        np.testing.assert_allclose(np.asarray(mine), np.asarray(other), rtol=2e-4, atol=1e-5, err_msg=row.name)
        compared += 1
    assert compared > 100


def test_a_table_that_names_no_function_is_an_error(monkeypatch):
    monkeypatch.setitem(public_calls.CALLS, "sorting", {"sorted": public_calls.Call("x")})
    with pytest.raises(LookupError, match="sorting has no function sorted"):
        all_rows()


def test_json(capfd):
    main(["--only", "add", "--only", "x[[]0]", "--sizes", "3x4,8x8", "--rounds", "1", "--json"])
    found = json.loads(capfd.readouterr().out)
    assert [(row["name"], row["size"]) for row in found["rows"]] == [
        ("add", [3, 4]), ("x[0]", [3, 4]), ("add", [8, 8]), ("x[0]", [8, 8]),
    ]  # fmt: skip
    assert all(0 < row["tensix"] < 1 and 0 < row["numpy"] < 1 for row in found["rows"])
    assert found["threads"] == 1 and found["versions"]["tensix"] == tensix.__version__


def test_text_and_picture(capfd, tmp_path):
    picture = tmp_path / "map.svg"
    main(["--only", "sorting", "--sizes", "3x4", "--rounds", "1", "--plot", str(picture)])
    out = capfd.readouterr().out
    assert "3x4" in out and "geometric mean" in out and "of 2 rows" in out
    texts = ["".join(element.itertext()) for element in ElementTree.parse(picture).findall(".//{*}text")]
    assert {"sorting", "sort", "argsort", "numpy", "3x4"} <= set(texts)


def test_colours_say_which_way():
    def fill(ratio):
        row = {"name": "f", "chapter": "c", "size": [3, 4], "tensix": ratio, "numpy": 1.0}
        text = heat_map([row], ["numpy"], "x86_64")
        return [int(part) for part in re.search(r"rgb\((\d+),(\d+),(\d+)\)", text).groups()]

    red, _, blue = fill(8.0)
    assert red > blue
    red, _, blue = fill(0.125)
    assert blue > red
    assert len(set(fill(1.0))) == 1


@pytest.mark.parametrize(("words", "text"), [
    (["--only", "nothing_of_this_name"], "no row matches nothing_of_this_name"),
    (["--sizes", "2x2"], "at least 3x4"),
    (["--sizes", "big"], "is not a list of shapes"),
])  # fmt: skip
def test_wrong_options(words, text, capfd):
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert text in capfd.readouterr().err


def test_the_first_time_does_not_say_how_often_to_measure(monkeypatch):
    """It may load what others find: a row measured once a round finds caches full of its neighbours' data."""
    now, times = [0.0], []
    monkeypatch.setattr(race, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def work(repeat):
        now[0] += race.ROUND_SECONDS * (repeat / 4 if times else 2)
        times.append(repeat)

    assert (race.calibrated(work), times) == (4, [1, 1, 2, 4])
