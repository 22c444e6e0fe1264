"""The protocols hold, and a model can tell where they would not: see run.py, which checks all of them to the end."""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("run_models", Path(__file__).with_name("run.py"))
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

pytestmark = pytest.mark.skipif(run.missing_tool() is not None, reason=f"the models need {run.missing_tool()}")


def test_copy_on_write_holds_and_each_of_its_mutations_is_caught():
    assert len(list(run.check("copy_on_write", optimize="-O0"))) == 1 + len(run.mutations_of("copy_on_write"))


@pytest.mark.parametrize("name", run.NAMES)
def test_model_names_its_note_and_its_mutations(name):
    text = (run.HERE / f"{name}.pml").read_text()
    assert "Left out:" in text and len(run.mutations_of(name)) >= 5
    note, path = run.re.search(r"Note \[(.+?)\] in[ *\n]+(tensix/\S+?)\.?\n", text).groups()
    source = (run.HERE.parents[1] / path).read_text()
    assert f"Note [{note}]" in source and f"tests/models/{name}.pml" in source
