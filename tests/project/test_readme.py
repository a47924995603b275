"""The README tells the truth: its code runs, its table of settings is the real one, its files exist."""

from __future__ import annotations

import linecache
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.gaps import lenient
from xjit import config

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {"__name__": "readme"}
    parts = blocks("python")
    assert parts
    for number, part in enumerate(parts, 1):
        name = f"README.md, block {number}"
        # As code in files has, and cells of notebooks.
        linecache.cache[name] = (len(part), None, part.splitlines(keepends=True), name)
        with lenient() if "print(f" in part else nullcontext():  # what is called in Python is told
            exec(compile(part, name, "exec"), space)


def test_settings_are_all_listed() -> None:
    rows = re.findall(r"^\| `(XJIT_\w+)` \| (.*?) \| (yes|no) \|$", README, re.MULTILINE)
    listed = {name: key == "yes" for name, _, key in rows}
    assert listed == {setting.name: setting.in_cache_key for setting in config.SETTINGS}


def test_links_exist() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_commands_exist() -> None:
    commands = re.findall(r"^python ([\w./]+\.py) (\w+)", "\n".join(blocks("sh")), re.MULTILINE)
    assert {name for _, name in commands} >= {"demo", "test"}
    for script, name in commands:
        assert f'"{name}": Task(' in (ROOT / script).read_text(encoding="utf-8")
