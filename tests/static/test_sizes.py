"""No file is longer than a reader's patience."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "pattern, most_lines",
    [("tensix/**/*.pyx", 600), ("tensix/**/*.py", 400), ("tensix/**/*.pxd", 120), ("tests/**/*.py", 300)],
)
def test_files_are_short(pattern, most_lines):
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in ROOT.glob(pattern)}
    assert lines
    assert {path: count for path, count in lines.items() if count > most_lines} == {}
