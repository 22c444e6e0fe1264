"""The tutorial's programs print the same before and after, and have the peaks that the page says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.rst").read_text(encoding="utf-8")


def figures_of_page(name):
    """Return the peak in MiB that the page shows for an example, and its call sites at the peak."""
    console = PAGE.split(f"$ python -m tensix memory examples/{name}.py")[1].split("\n\n")[0]
    sites = re.findall(r"examples/(\S+:\d+ \w+)$", console, re.M)
    return float(re.search(r"^ +peak +(\S+) MiB", console, re.M).group(1)), sites


def measure(name, folder, *args):
    """Return what a program prints, its peak in MiB and its call sites."""
    command = [sys.executable, "-m", "tensix", "memory", "-o", "snapshot.json", ROOT / "examples" / f"{name}.py", *args]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    printed, _, summary = done.stdout.partition(f"memory of {ROOT / 'examples' / name}.py")
    return printed, float(re.search(r"peak +(\S+) MiB", summary).group(1)), summary


@pytest.mark.parametrize("name", ["sharpen", "orders", "classify"])
def test_both_programs_print_the_same_at_the_peaks_of_the_page(name, tmp_path):
    args = []
    if name == "classify":
        pytest.importorskip("torch")
    if name == "orders":
        pytest.importorskip("pandas", "3")
        args = ["orders.csv"]
        subprocess.run([sys.executable, ROOT / "examples" / "make_orders.py", *args], cwd=tmp_path, check=True)
    before, after = (measure(one, tmp_path, *args) for one in (name, f"{name}_smaller"))
    assert before[0] == after[0] != ""
    for (_, peak, summary), one in ((before, name), (after, f"{name}_smaller")):
        shown, sites = figures_of_page(one)
        assert peak == pytest.approx(shown, rel=0.03)
        assert [site for site in sites if f"/{site}\n" not in summary] == []
    assert after[1] <= before[1] / 2 * 1.01
    assert json.loads((tmp_path / "snapshot.json").read_text(encoding="utf-8"))
