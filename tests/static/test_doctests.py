"""The examples in docstrings do what they say, those of compiled modules too."""

import doctest
import re
import tempfile

import tensix


def test_examples(exemplary_module, source, tmp_path, monkeypatch):
    """Each prompt in the source is found and run, with `tensix` imported: one that doctest cannot see is an error."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runner = doctest.DocTestRunner()
    report = []
    for example in doctest.DocTestFinder().find(exemplary_module, module=False, extraglobs={"tensix": tensix}):
        if all(line.source.splitlines()[0] in source for line in example.examples):  # else a base's, in another module
            runner.run(example, out=report.append)
    assert runner.failures == 0, "".join(report)
    assert runner.tries == len(re.findall(r"^\s*>>> ", source, re.MULTILINE))
