"""Docstrings begin with a verb or a noun of the field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("xjit", "perf", "tools", "tests", "examples")
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
QUESTION = re.compile(r"(What|Whether|Where|How)\b")


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring: of modules, classes, functions and variables."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for number, statement in enumerate(body if isinstance(body, list) else []):
            first = number == 0 and isinstance(
                node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            )
            behind = number > 0 and isinstance(body[number - 1], (ast.Assign, ast.AnnAssign))
            value = statement.value if (first or behind) and isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value.strip()


def questions(path: str, text: str) -> list[str]:
    """Return the places of docstrings that begin with a question."""
    return [f"{path}:{line}" for line, doc in docstrings(ast.parse(text)) if QUESTION.match(doc)]


def files(folder: str) -> list[tuple[str, str]]:
    """Return path and text of every module below a folder."""
    found = sorted((ROOT / folder).rglob("*.py"))
    return [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in found]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    assert not [place for path, text in files(folder) for place in questions(path, text)]


def test_questions_are_found_wherever_they_stand() -> None:
    text = '"""How."""\nx = 1\n"""What x is."""\nclass A:\n    """Where."""\n    y: int\n    """Whether y."""\n'
    text += 'async def f():\n    """How many."""\ndef g():\n    """Return whether."""\n    "What"\n'
    assert [int(place.rpartition(":")[2]) for place in questions("a.py", text)] == [1, 3, 5, 7, 9]
