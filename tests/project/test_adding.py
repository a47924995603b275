"""The page on adding things names files, tables and commands that are there."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`]+)`", TEXT)
PATHS = sorted({word for word in QUOTED if "/" in word})
TABLES = {
    "REDUCERS": "xjit.ops.whole_arrays.reduce",
    "FOLDS": "xjit.numpy.reducing.axis_reductions",
    "RUNNING": "xjit.numpy.reducing.scans",
    "_MODULES": "xjit.codegen.vmath",
}


@pytest.mark.parametrize("path", PATHS)
def test_files_and_folders_are_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_there(table: str) -> None:
    assert f"`{table}`" in TEXT
    assert hasattr(importlib.import_module(TABLES[table]), table)


def test_commands_are_there() -> None:
    commands = re.findall(r"`python -m ([\w.]+)", TEXT)
    assert len(commands) >= 4
    assert all(importlib.util.find_spec(command) for command in commands)
    assert len(PATHS) > 30
