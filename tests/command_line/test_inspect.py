"""``python -m tensix inspect``: what is in a .npy file, for persons and for machines."""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import tensix
from tensix.__main__ import main


@pytest.fixture
def inspect(tmp_path, capsys):
    """Return a function that saves an array and returns the facts that are printed of it."""

    def run(array):
        path = tmp_path / "x.npy"
        np.save(path, array)
        assert main(["inspect", str(path), "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts.pop("file") == str(path)
        return facts

    return run


def test_facts(inspect):
    facts = inspect(np.arange(12, dtype="f4").reshape(3, 4))
    assert facts.pop("alignment") >= 64
    assert facts == {
        "format": "npy", "shape": [3, 4], "dtype": "float32", "strides": [4, 1], "order": "row-major",
        "elements": 12, "bytes": 48, "mapped": True, "first_values": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    }  # fmt: skip


def test_column_major(inspect):
    facts = inspect(np.asfortranarray(np.arange(12).reshape(3, 4)))
    assert (facts["order"], facts["strides"], facts["first_values"]) == ("column-major", [1, 3], [0, 1, 2, 3])


@pytest.mark.parametrize("array, values", [
    (np.array(2.5), [2.5]), (np.array([True]), [True]), (np.array([1 + 2j]), ["(1+2j)"]),
    (np.array([np.nan, np.inf]), ["nan", "inf"]), (np.arange(7, dtype="u1"), [0, 1, 2, 3, 4, 5]),
])
def test_values(inspect, array, values):
    facts = inspect(array)
    assert facts["first_values"] == values and facts["dtype"] == str(array.dtype)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_elements(inspect, shape, order):
    facts = inspect(np.zeros(shape, order=order))
    assert (facts["shape"], facts["elements"], facts["bytes"], facts["first_values"]) == (list(shape), 0, 0, [])
    assert facts["mapped"] is False


def test_text_has_the_facts(tmp_path, capsys):
    path = tmp_path / "weights.npy"
    np.save(path, np.arange(1_000_000.0).reshape(1000, 1000))
    assert main(["inspect", str(path)]) == 0
    captured = capsys.readouterr()
    for words in (str(path), "(1000, 1000)", "float64", "(1000, 1) elements", "row-major", "1000000", "7.63 MiB",
                  "read-only, nothing copied", "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, "):  # fmt: skip
        assert words in captured.out
    assert captured.err == "" and "\x1b" not in captured.out


def test_several_tensors(tmp_path, capsys):
    path = tmp_path / "x.safetensors"
    tensix.save(path, {"a": tensix.ones(2, 3), "none": tensix.zeros(0)}, metadata={"k": "v"})
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(path), "format": "safetensors", "bytes": 24, "metadata": {"k": "v"},
        "tensors": [
            {"name": "a", "shape": [2, 3], "dtype": "float32", "bytes": 24, "mapped": True, "how": "mapped"},
            {"name": "none", "shape": [0], "dtype": "float32", "bytes": 0, "mapped": False, "how": "no elements"},
        ],
    }  # fmt: skip


def test_members_of_every_fate(tmp_path, capsys):
    """What is wrong with one does not hide the others, and a terminal does not obey names."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, good=np.arange(3.0), objects=np.array([None]), dates=np.zeros(1, "M8[s]"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("\x1b[31mred.npy", b"no header")
    assert main(["inspect", str(path)]) == 0
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines()[-4:]]
    assert rows[0] == ["good", "float64", "(3,)", "24", "bytes", "copied:", "deflated"]
    assert all("no element type of tensix" in line for line in out.splitlines()[-3:-1])
    assert "'\\x1b[31mred'" in out and "\x1b" not in out and "not a .npy file" in out and err == ""


def test_types_that_tensix_lacks(tmp_path, capsys):
    header = {"x": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [0, 3]},
              "y": {"dtype": "U8", "shape": [1], "data_offsets": [3, 4]}}  # fmt: skip
    text = json.dumps(header).encode()
    (tmp_path / "x.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(4))
    np.savez(tmp_path / "x.npz", x=np.zeros(3, "M8[s]"))
    for name in ("x.safetensors", "x.npz"):
        assert main(["inspect", "--json", str(tmp_path / name)]) == 0
    safetensors, npz = map(json.loads, capsys.readouterr().out.replace("}\n{", "}\0{").split("\0"))
    lacking = {"name": "x", "shape": [3], "mapped": False, "how": "no element type of tensix"}
    assert safetensors["tensors"][0] == lacking | {"dtype": "F8_E4M3", "bytes": 3}
    assert safetensors["tensors"][1]["how"] == "mapped"
    assert npz["tensors"] == [lacking | {"dtype": "datetime64[s]", "bytes": 24}]


def test_no_tensors(tmp_path, capsys):
    for name in ("x.npz", "x.safetensors"):
        tensix.save(tmp_path / name, {})
        assert main(["inspect", str(tmp_path / name)]) == 0
        assert "tensors       0" in capsys.readouterr().out


def truncated(path):
    np.save(path, np.arange(3.0))
    path.write_bytes(path.read_bytes()[:-1])


def saving(array):
    return lambda path: np.save(path, array)


HUGE = (b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 0), }" % 2**70).ljust(
    127
) + b"\n"
OPEN = (b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': (").ljust(127) + b"\n"

REFUSED = {
    "missing": (lambda path: None, "No such file"),
    "directory": (lambda path: path.mkdir(), "directory"),
    "empty": (lambda path: path.touch(), "not a .npy file"),
    "text": (lambda path: path.write_text("hello, this is not an array"), "not a .npy file"),
    "truncated": (truncated, "cut short"),
    "objects": (saving(np.array([None])), ""),
    "structures": (saving(np.zeros(2, [("a", "f4")])), "not an element type"),
    "beyond 64 bits": (lambda path: path.write_bytes(HUGE), ""),
    "open bracket": (lambda path: path.write_bytes(OPEN), ""),
}


@pytest.mark.parametrize("make, words", REFUSED.values(), ids=REFUSED)
def test_file_that_is_refused(tmp_path, capsys, make, words):
    path = tmp_path / "x.npy"
    make(path)
    status = main(["inspect", str(path)])
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err.startswith("tensix: ") and captured.err.count("\n") == 1 and words in captured.err


def test_as_a_program(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(100))
    command = [sys.executable, "-m", "tensix", "inspect", str(path)]
    finished = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["elements"] == 100
    narrow = os.environ | {"PYTHONIOENCODING": "ascii"}
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=narrow)
    assert (finished.returncode, finished.stderr) == (0, "") and "elements" in finished.stdout
    path.unlink()
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "No such file" in finished.stderr and "Traceback" not in finished.stderr


def test_several_files(tmp_path, capsys):
    paths = [str(tmp_path / "a.npy"), str(tmp_path / "b.npz")]
    np.save(paths[0], np.arange(3))
    np.savez(paths[1], w=np.ones(2))
    assert main(["inspect", *paths]) == 0
    text = capsys.readouterr().out
    assert text.index("a.npy") < text.index("b.npz")
    assert main(["inspect", *paths, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["first_values"], second["tensors"][0]["name"]) == ([0, 1, 2], "w")
