"""The glossary: every term once, in order, and every file that it leads to is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| term")
]


def test_terms_stand_once_and_in_order() -> None:
    terms = [row[0] for row in ROWS]
    assert terms == sorted(set(terms)) and len(terms) > 20


def test_every_term_leads_to_a_place() -> None:
    for term, _, where in ROWS:
        places = re.findall(r"`([^`]+)`", where)
        files = [place for place in places if "/" in place or place.endswith(".py")]
        assert files, f"{term} leads nowhere"
        for file in files:
            at_hand = [base / file for base in (ROOT / "xjit", ROOT) if (base / file).exists()]
            assert at_hand, f"{term} leads to {file}, which is not there"
            for name in (place for place in places if place not in files):
                assert f"class {name}" in at_hand[0].read_text(encoding="utf-8"), f"{term}: no {name} in {file}"
