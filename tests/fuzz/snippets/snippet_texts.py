"""Random programs composed of ordinary statements that share their names, loops, branches and handlers around them.

    for i, v in enumerate(x):
        if best is None:
            best = x[i]
        d["n"] = d.get("n", 0) + 1

Each program knows the statements of a few themes only, so that one statement meets what another has made.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tests.fuzz.random_texts import is_short
from tests.fuzz.snippets.snippet_frame import (
    ALWAYS,
    ARGUMENTS,
    AROUND,
    DRAWN,
    EXACT,
    FIRST,
    RESULTS,
    SHOWN,
    SIGNATURE,
    STARTS,
)
from tests.fuzz.snippets.snippet_lines import BRANCHES, ENDS, HANDLERS, LOOPS, RAISING, THEMES
from tests.fuzz.text_program import TextProgram

CALLS = (((0, 0), (0, 0), (0, 2)), ((0, 0), (0, 1), (1, 2)), ((0, 0), (0, 1), (0, 2), (0, 3), (2, 4)))
TURNS = 400
RAISE = 0.1
"""Part of the programs that may raise in their first call."""
AT = ("0", "1", "-1", "t % 4", "k", "2")
ROWS = ("0", "1", "2", "k % 3", "t % 3", "-1")
PARTS = ("1:", "::2", "::-1", ":-1", "k:", "1:-1", "2:5", "t % 3:", "...", ":k + 2")
FLOATS = (
    ("0.5", "1.0", "s", "-0.25", "float(t)", "2.0", "float(x[0])"),
    ("x[0]", "s", "x[1] * 0.5", "x.sum()", "x[t % 4]", "x[-1]", "x[2]"),
    ("0.5", "1.0", "s", "-0.25", "float(t)", "2.0"),
)
UNUSUAL = ("1", "t", "x[0]", "best")
DEEPEST = (0.5, 0.35, 0.25)
"""Chances of a block among the statements of a block, by its depth."""


def snippet_text(rng: random.Random) -> TextProgram:
    """Return the next program that NumPy runs on its first arguments."""
    return runnable(rng, _text)


def runnable(rng: random.Random, text: Callable[[random.Random], str]) -> TextProgram:
    """Return the next program, of a text, that NumPy runs on its first arguments."""
    while True:
        program = TextProgram(text(rng), rng.choice(CALLS), watched=True)
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                if is_short(program, TURNS, raises=rng.random() < RAISE):
                    return program
            except SyntaxError:  # a `return` in a part that has none
                continue


def _text(rng: random.Random) -> str:
    composer = Composer.of(rng)
    body = "\n".join(composer.block(0, None))
    written = {name for name in RESULTS if re.search(rf"\b{name}\b", body)} | set(ALWAYS)
    results = ", ".join(SHOWN.get(name, name) for name in RESULTS if name in written)
    first = f"{rng.choice(STARTS)}{FIRST}"
    lines = ["global C"] if re.search(r"\bC = ", body) else []
    lines += [first.strip(), body, f"return {results}"]
    made = {name: rng.choice((EXACT, EXACT, DRAWN)) for name in "xav"}
    shapes = {"x": "(n,)", "a": "(3, 4) if k < 2 else (4, 3)", "v": "(4,)"}
    texts = {name: text.format(rng.randrange(50), shapes[name]) for name, text in made.items()}
    given = ARGUMENTS.format(*(rng.randrange(50) for _ in range(6)), **texts)
    function = textwrap.indent("\n".join(lines), "    ")
    return f"{AROUND}{given}\n{SIGNATURE}\n{function}\n"


@dataclass(frozen=True)
class Phrases:
    """Parts of programs of a sort: statements by theme, heads of blocks, what raises and what ends a loop.

    A program has one of the families of ``floats``, and ends early by a ``return`` of what is ``returned``.
    """

    themes: tuple[str, ...]
    loops: str
    branches: str
    raising: tuple[str, ...]
    handlers: tuple[str, ...]
    ends: tuple[str, ...]
    floats: tuple[tuple[str, ...], ...]
    returned: str


SNIPPETS = Phrases(THEMES, LOOPS, BRANCHES, RAISING, HANDLERS, ENDS, FLOATS, "x, s, t, out")


@dataclass
class Composer:
    """Statements that a program knows, its floats, and how many statements it may still get."""

    rng: random.Random
    lines: list[str]
    floats: tuple[str, ...]
    left: int
    phrases: Phrases = SNIPPETS

    @classmethod
    def of(cls, rng: random.Random, phrases: Phrases = SNIPPETS, most: int = 20) -> Self:
        """Return a composer that knows statements of a few themes, and makes up to so many."""
        themes = rng.sample(phrases.themes, rng.choice((2, 3, 4, 5)))
        known = [line for theme in themes for line in theme.strip().split("\n")]
        lines = rng.sample(known, min(len(known), rng.randint(8, 25)))
        return cls(rng, lines, rng.choice(phrases.floats), rng.randint(most * 2 // 5, most), phrases)

    def block(self, depth: int, loop: str | None) -> list[str]:
        """Return statements and the blocks among them; ``loop`` is the head of the innermost loop."""
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 4 if depth else 8)):
            if self.left <= 0:
                break
            self.left -= 1
            inner = depth < len(DEEPEST) and self.rng.random() < DEEPEST[depth]
            lines += self._inner(depth, loop) if inner else self._line(loop)
        return lines or self._line(loop)

    def _line(self, loop: str | None) -> list[str]:
        return self._filled(self.rng.choice(self.lines), loop).split("; ")

    def _inner(self, depth: int, loop: str | None) -> list[str]:
        chance = self.rng.random()
        if chance < 0.35 and not (loop and self.rng.random() < 0.4):
            return self._loop(depth)
        return self._handled(depth, loop) if chance > 0.9 else self._branch(depth, loop)

    def _branch(self, depth: int, loop: str | None) -> list[str]:
        head = self._filled(self.rng.choice(self.phrases.branches.strip().split("\n")), loop)
        lines = [head, *self._indented(depth, loop)]
        if head.startswith("if") and self.rng.random() < 0.5:
            lines += ["else:", *self._indented(depth, loop)]
        elif self.rng.random() < 0.06:
            lines.append(f"    return {self.phrases.returned}")
        return lines

    def _loop(self, depth: int) -> list[str]:
        """Return a loop; one whose end is a condition counts its turns."""
        head = self._filled(self.rng.choice(self.phrases.loops.strip().split("\n")), None)
        body, leave, lines = self._indented(depth, head), self._leave(), [head]
        if head.startswith("while"):
            turns = f"turns{depth}"
            counted = [f"{turns} += 1", f"if {turns} > 6:", "    break", *self.rng.sample(("t += 1", "s *= 0.5"), 1)]
            lines = [f"{turns} = 0", head, *(f"    {line}" for line in counted), *body]
        elif self.rng.random() < 0.35:
            lines += [*leave, *body] if self.rng.random() < 0.5 else [*body, *leave]
        else:
            lines += body
        return lines if self.rng.random() > 0.15 else [*lines, "else:", *self._indented(depth, None)]

    def _leave(self) -> list[str]:
        ways = ("break", "continue", "break", f"return {self.phrases.returned}")
        return [f"    if {self.rng.choice(self.phrases.ends)}:", f"        {self.rng.choice(ways)}"]

    def _handled(self, depth: int, loop: str | None) -> list[str]:
        lines = ["try:", *self._indented(depth, loop), f"    {self.rng.choice(self.phrases.raising)}"]
        handler = self.rng.choice(self.phrases.handlers)
        said = "str(error)" if handler.endswith(" as error:") else "'!'"
        lines += [handler, f"    txt += {said}", *self._indented(depth, loop)]
        return lines if self.rng.random() > 0.3 else [*lines, "finally:", *self._indented(depth, loop)]

    def _indented(self, depth: int, loop: str | None) -> list[str]:
        return [f"    {line}" for line in self.block(depth + 1, loop)]

    def _filled(self, line: str, loop: str | None) -> str:
        chosen = self.holes(loop)
        return re.sub(r"<(\w+)>", lambda found: chosen[found[1]], line)

    def holes(self, loop: str | None) -> dict[str, str]:
        """Return what fills the holes of a line."""
        return {
            "at": self.rng.choice(AT + ("i",) * 3 if loop and loop.startswith("for i") else AT),
            "row": self.rng.choice(ROWS),
            "number": self.rng.choice(self.floats if self.rng.random() < 0.95 else UNUSUAL),
            "part": self.rng.choice(PARTS),
            "few": str(self.rng.randint(1, 6)),
        }
