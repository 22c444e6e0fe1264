"""``python -m tensix explain``: the chain of what code gives."""

import json
from xml.etree import ElementTree

import pytest

from tensix.__main__ import main


def test_names_stay_while_their_tensors_are_explained(capsys):
    assert main(["explain", "x = tensix.rand(3, 4); y = x.lazy_clone(); y[1]"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Tensor\n") and "2 storages" in text and "copies 48 bytes first" in text


def test_json_and_a_picture(capsys, tmp_path):
    path = tmp_path / "x.svg"
    assert main(["explain", "empty(3)", "--json", "--svg", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["what"] == "Tensor"
    assert ElementTree.parse(path).getroot().get("class") == "tensix-explanation"


@pytest.mark.parametrize("code", ["1 / 0", "x ="])
def test_code_that_raises(capsys, code):
    assert main(["explain", code]) == 1
    assert "Error" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["5", "x = 1", ""])
def test_values_that_own_nothing(capsys, code):
    assert main(["explain", code]) == 2
    assert "explain() explains tensors" in capsys.readouterr().err
