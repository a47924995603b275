"""Mistakes in calls of operations: tables of them, what each has to say eagerly and compiled, and the kept texts.

A table is a module ``tests/mistakes/mistakes_<family>.py`` with a list ``MISTAKES``, which ``tests/cases`` may hold
as well. Its texts are kept in ``tests/ops/mistakes/<family>.txt``.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tests.cases
import tests.mistakes
import xjit
from xjit.errors import XjitError

TEXTS = Path(__file__).parents[1] / "ops" / "mistakes"
MOST_LINES = 12
FORM = re.compile(r"ops\.\w+: [^\n]+: [^\n]+; got [^\n]+")
PLACE = re.compile(r"  at (?P<file>[^\n]+):(?P<line>\d+), in (?P<function>\S+)")


@dataclass(frozen=True)
class Mistake:
    """A call that raises ``error``: ``call(*operands)``, in which the operands become arguments of the function."""

    name: str
    call: Callable[..., Any]
    error: type[Exception]
    operands: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return self.name

    def raised(self, compiled: bool) -> XjitError:
        """The error of the call as its user gets it; AssertionError if none is raised, or one of another class."""
        function = xjit.jit(self.call, strict=True) if compiled else self.call
        try:
            result = function(*self.operands)
        except XjitError as error:
            assert type(error) is self.error, f"{self}: {type(error).__name__}: {error}"
            return error
        raise AssertionError(f"{self}: expected {self.error.__name__}, got {result!r}")

    def assert_tells(self, error: XjitError) -> None:
        """Asserts the four parts of an error inside of a compiled function: rule, line, origin and fix."""
        lines = str(error).splitlines()
        assert FORM.fullmatch(lines[0]), lines[0]
        place = PLACE.fullmatch(lines[1])
        assert place is not None and Path(place["file"]).name == Path(self.call.__code__.co_filename).name, lines
        assert int(place["line"]) in {line for *_, line in self.call.__code__.co_lines()}, lines
        origin = lines[2:-1]
        assert all(line.startswith("  from ") for line in origin)
        assert origin or not self.operands, f"{self}: nothing says where the operands came from"
        assert re.fullmatch(r"  fix: .+", lines[-1]), lines
        shown = "".join(traceback.format_exception(error)).splitlines()
        assert len(shown) <= MOST_LINES, "\n".join(shown)

    def text(self, error: XjitError) -> str:
        """The kept text: the error without folders and line numbers."""
        shown = PLACE.sub(lambda found: f"  at {Path(found['file']).name}, in {found['function']}", str(error))
        return f"{self.name}: {type(error).__name__}\n{shown}\n"


def tables() -> dict[str, list[Mistake]]:
    """The mistakes of each family."""
    found = [
        (info.name.removeprefix("mistakes_"), importlib.import_module(f"{folder.__name__}.{info.name}"))
        for folder in (tests.cases, tests.mistakes)
        for info in pkgutil.iter_modules(folder.__path__)
        if info.name.startswith("mistakes_")
    ]
    return {family: module.MISTAKES for family, module in sorted(found, key=lambda one: one[0])}


def kept_text(family: str) -> str:
    """The texts of a family as they were kept; empty for a new one."""
    path = TEXTS / f"{family}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def keep_text(family: str, text: str) -> None:
    """Writes the texts of a family down."""
    TEXTS.mkdir(exist_ok=True)
    (TEXTS / f"{family}.txt").write_text(text, encoding="utf-8")
