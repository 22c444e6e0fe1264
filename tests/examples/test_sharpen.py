"""The example of a program that knows NumPy only, which the README records."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "sharpen.py"


def test_the_example_runs_without_tensix(capsys):
    assert "tensix" not in EXAMPLE.read_text(encoding="utf-8").partition('"""\n\n')[2]
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out == "-1.184 1.183\n"
