"""One vocabulary: the words of c10, CPython and NumPy. docs/glossary.rst says what they mean."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUFFIXES = {".h", ".md", ".pxd", ".py", ".pyi", ".pyx", ".rst"}
TEXTS = sorted(
    path
    for place in (
        "tensix", "dask_tensix.py", "pytest_tensix.py", "docs", "examples", "asv_bench", "README.md", "CONTRIBUTING.md",
        "CHANGELOG.md",
    )
    for path in ((ROOT / place).rglob("*") if (ROOT / place).is_dir() else [ROOT / place])
    if path.suffix in SUFFIXES and not {"_build", "env", "results", "html"} & set(path.relative_to(ROOT).parts)
)

# What the package once said -> what it says
WORDS = {
    r"husks?": "cached object, free list",
    r"newborns?": "new object",
    r"reckon(s|ed|ing)?": "compute",
    r"fold(s|ed|ing)?": "reduce",
    r"amend(s|ed|ing)?": "correct",
    r"rooms?": "slot, space",
    r"(meet|meets|met|meeting) in": "promote to, broadcast to",
    r"(give|gives|gave|given|giving) away": "escape, hand over",
    r"(?<!there )(is|are) no(?! longer| more)": "is not a",
    r"(does|do) not divide by": "is not a multiple of",
    r"whoever": "the caller, code that",
    r"anew": "again",
    r"shall": "is, must",
    r"is told": "is called with, is passed",
    r"(loops?|memory|struct|blocks?|types?|allocators?) of ours": "of tensix",
    r"save that": "except that",
    r"nobody": "no one, nothing",
    r"stands? for": "represents, means, selects",
    r"(stays?|stayed|return(s|ed)?|kept|left) as (it is|they are)": "unchanged, itself",
    r"quietly": "without warnings",
    r'"""Be': "Return, Do, Hold: an imperative that says what the code does",
    r"cover(s|ed|ing)?": "override",
    r"look(s|ed|ing)?(?! up| for)": "view, refer to, read, check",
}


@pytest.mark.parametrize("word", WORDS)
def test_old_words_are_gone(word):
    pattern = re.compile(rf"(?<!\w){word}\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:90]}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"say instead: {WORDS[word]}"
