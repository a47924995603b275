"""Mistakes in calls of operations: the same rule eagerly and compiled, told in four parts, in texts that are kept.

``XJIT_UPDATE_MISTAKES=1`` writes the texts anew.
"""

from __future__ import annotations

import os

import pytest

from tests.helpers.mistakes import FORM, TEXTS, Mistake, keep_text, kept_text, tables

TABLES = tables()
ALL = [pytest.param(mistake, id=f"{family}-{mistake}") for family, table in TABLES.items() for mistake in table]


@pytest.mark.parametrize("mistake", ALL)
def test_the_rule_is_the_same_eagerly_and_compiled(mistake: Mistake) -> None:
    eager, compiled = mistake.raised(compiled=False), mistake.raised(compiled=True)
    assert FORM.fullmatch(eager.message), eager.message
    assert compiled.message == eager.message
    mistake.assert_tells(compiled)


@pytest.mark.parametrize("family", TABLES)
def test_texts_are_as_kept(family: str) -> None:
    text = "\n".join(mistake.text(mistake.raised(compiled=True)) for mistake in TABLES[family])
    if os.environ.get("XJIT_UPDATE_MISTAKES"):
        keep_text(family, text)
    assert text == kept_text(family)


def test_names_are_distinct_and_texts_belong_to_tables() -> None:
    for table in TABLES.values():
        assert len({mistake.name for mistake in table}) == len(table)
    assert {path.stem for path in TEXTS.glob("*.txt")} == set(TABLES)
