"""The glossary: every term once, in order, in the one file that it leads to; and no word that has been given up.

``XJIT_UPDATE_OLD_WORDS=1 python -m pytest tests/project/test_glossary.py`` takes what is renamed off the list of
files that still have such a word; nothing puts a file on it.
"""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
# Where the words had their meaning; elsewhere they may have another one.
COMPILER = ("fusion", "codegen", "runtime", "inspect", "passes", "compile.py")
ENDS = ("", "s", "d", "ed", "ing")


def rows(width: int) -> list[list[str]]:
    """Return the cells of the tables with so many columns, without the heads."""
    lines = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in line] for line in lines if len(line) == width]
    return [row for row in found if row[0] not in ("term", "not")]


ROWS = rows(3)
OLD = [row[0].strip("`") for row in rows(2)]


def place_of(where: str) -> Path:
    """Return the file or folder that a row leads to."""
    (place,) = (word for word in re.findall(r"`([^`]+)`", where) if "/" in word or word.endswith(".py"))
    return next(base / place for base in (ROOT / "xjit", ROOT) if (base / place).exists())


def text_of(place: Path) -> str:
    """Return the text of a file, or of all modules in a folder, with the names of the files."""
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return "\n".join(f"{file.stem}\n{file.read_text(encoding='utf-8')}" for file in files)


def names_in(file: Path) -> set[str]:
    """Return all names in the code of a module, and its own."""
    with file.open(encoding="utf-8") as lines:
        found = {token.string for token in tokenize.generate_tokens(lines.readline) if token.type == tokenize.NAME}
    return found | {file.stem}


def old_words() -> set[str]:
    """Return ``word module`` for every module of the compiler that has a word which has been given up."""
    files = [
        file for name in COMPILER for file in [*(ROOT / "xjit").glob(name), *(ROOT / "xjit" / name).rglob("*.py")]
    ]
    modules = [file for file in files if file.suffix == ".py" and "vmath" not in file.parts]
    return {f"{word} {file.stem}" for file in modules for word in names_in(file) & set(OLD)}


def test_terms_stand_once_and_in_order() -> None:
    terms = [row[0] for row in ROWS]
    assert terms == sorted(set(terms)) and len(terms) > 20
    assert sorted(set(OLD)) == OLD and len(OLD) > 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_term_leads_to_one_file_that_has_it(row: list[str]) -> None:
    term, _, where = row
    text = text_of(place_of(where))
    for one in re.sub(r" \(.*\)", "", term).split(", "):
        forms = "|".join(f"{stem}{end}" for stem in (one, one.rstrip("e")) for end in ENDS).replace(" ", "[ _]?")
        assert re.search(rf"(?i)(?<![a-z])(?:{forms})(?![a-z])", text), f"no {one} in {where}"
    for name in (word for word in re.findall(r"`(\w+)`", where)):
        assert f"class {name}" in text, f"no {name} in {where}"


def test_old_words_do_not_come_back() -> None:
    assert not old_words()


def test_old_words_are_found_in_names_alone(tmp_path: Path) -> None:
    file = tmp_path / "strips.py"
    file.write_text('"""A Unit."""\nfrom x import Pull as y\nz.lag = "Region"  # Walk\n', encoding="utf-8")
    assert names_in(file) & set(OLD) == {"strips", "Pull", "lag"}
