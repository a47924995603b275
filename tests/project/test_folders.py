"""The rooms of the code base: few files in each, and no two files with one name.

Each rule is a function from paths to what is wrong with them, so that it can be tried on a bad example.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 20
# Texts that are looked up by the name of a program.
DATA = ("tests/codegen/golden",)
# Python and pytest look for these by name.
MANY = ("__init__", "__main__", "conftest")
NOT_OURS = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "shipped")


def paths(*folders: str) -> list[str]:
    """Return the paths of all files below the folders, from the root of the project."""
    found = [file for folder in folders for file in sorted((ROOT / folder).rglob("*")) if file.is_file()]
    return [file.relative_to(ROOT).as_posix() for file in found if not set(NOT_OURS) & set(file.parts)]


def crowded(files: Sequence[str]) -> list[str]:
    """Return the folders with more files than a reader takes in at a glance."""
    held: dict[str, int] = defaultdict(int)
    for file in files:
        held[str(PurePosixPath(file).parent)] += 1
    return [
        f"{folder} has {count} files" for folder, count in held.items() if count > MOST_FILES and folder not in DATA
    ]


def namesakes(files: Sequence[str]) -> list[str]:
    """Return the modules that cannot be told apart by their names."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in map(PurePosixPath, files):
        if path.suffix == ".py" and path.stem not in MANY:
            places[path.stem].append(str(path))
    return [" and ".join(found) for found in places.values() if len(found) > 1]


@pytest.mark.parametrize("folder", ("xjit", "tests", "perf", "tools", "examples", "docs"))
def test_no_folder_is_crowded(folder: str) -> None:
    assert not crowded(paths(folder))


@pytest.mark.parametrize("folder", ("xjit", "tests"))
def test_every_module_has_a_name_of_its_own(folder: str) -> None:
    assert not namesakes(paths(folder))


def test_every_folder_of_modules_is_a_package() -> None:
    modules = [PurePosixPath(path) for path in paths("xjit", "tests", "perf", "tools") if path.endswith(".py")]
    assert not {str(path.parent) for path in modules if not (ROOT / path.parent / "__init__.py").exists()}


def test_rules_find_what_they_are_for() -> None:
    many = [f"xjit/ops/file{number}.py" for number in range(MOST_FILES)]
    assert not crowded([*many, "xjit/ops/more/a.py", "xjit/a.py"])
    assert crowded([*many, "xjit/ops/a.py"]) == ["xjit/ops has 21 files"]
    packages = ["xjit/__init__.py", "xjit/a/__init__.py", "xjit/__main__.py", "xjit/a/__main__.py"]
    assert not namesakes([*packages, "xjit/a/b.py", "xjit/c.py", "docs/c.md"])
    assert namesakes(["xjit/a/b.py", "xjit/c/b.py"]) == ["xjit/a/b.py and xjit/c/b.py"]
