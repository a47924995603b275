"""Random programs of NumPy's functions on arrays of several types, layouts and axes, among loops and branches.

for i, row in enumerate(a):
    np.add.at(x, q, y)
    w = a.sum(axis=1, keepdims=True)
    if np.all(a > 0.5):
        row[...] = x[:4]
"""

from __future__ import annotations

import random
import re
import textwrap
from dataclasses import dataclass

from tests.fuzz.arrays.array_blocks import BRANCHES, ENDS, HANDLERS, LOOPS, RAISING
from tests.fuzz.arrays.array_frame import (
    ALWAYS,
    ARGUMENTS,
    AROUND,
    DTYPES,
    EMPTY,
    FIRST,
    GIVEN,
    LAYOUTS,
    RESULTS,
    SHARED,
    SIGNATURE,
    STARTS,
    ZEROS,
)
from tests.fuzz.arrays.array_lines import THEMES
from tests.fuzz.snippets.snippet_texts import Composer, Phrases, runnable
from tests.fuzz.text_program import TextProgram

FLOATS = (
    ("0.5", "1.0", "s", "-0.25", "2", "float(t)"),
    ("x[0]", "s", "x[1] * 0.5", "x.sum()", "x[-1]", "t"),
    ("0.5", "1.0", "-0.25", "2.0", "0"),
)
ARRAYS = Phrases(THEMES, LOOPS, BRANCHES, RAISING, HANDLERS, ENDS, FLOATS, "x, s, t, w")
PARTS = ("1:", "::2", "::-1", ":-1", "k:", "1:-1", "2:5", "t % 3:", "...", ":k + 2")
PLACES = ("[0, 1, 0]", "[2, 2, -1]", "q[:3]", "q[1:4] % 3", "np.array([1, 0, 1])", "[0, k, k]")
MOST = 14


@dataclass
class ArrayComposer(Composer):
    """Composer of statements of NumPy's functions."""

    def holes(self, loop: str | None) -> dict[str, str]:
        """Return what fills the holes of a line."""
        rows = ("0", "1", "2", "-1", "k", "t % 3")
        return {
            "row": self.rng.choice((*rows, "i % 3", "i % 3") if loop and loop.startswith("for i") else rows),
            "number": self.rng.choice(self.floats),
            "few": str(self.rng.randint(1, 5)),
            "axis": self.rng.choice(("0", "1", "-1", "0")),
            "part": self.rng.choice(PARTS),
            "positions": self.rng.choice(PLACES),
        }


def array_text(rng: random.Random) -> TextProgram:
    """Return the next program that NumPy runs on its first arguments."""
    return runnable(rng, _text)


def _text(rng: random.Random) -> str:
    composer = ArrayComposer.of(rng, ARRAYS, MOST)
    body = "\n".join(composer.block(0, None))
    results = ", ".join(name for name in RESULTS if name in ALWAYS or re.search(rf"\b{name}\b", body))
    first = f"{rng.choice(STARTS)}{FIRST}"
    function = textwrap.indent("\n".join([first.strip(), body, f"return {results}"]), "    ")
    return f"{AROUND}{_arguments(rng)}\n{SIGNATURE}\n{function}\n"


def _arguments(rng: random.Random) -> str:
    made = {}
    for name, shape in GIVEN.items():
        numbers = f'values({rng.randrange(50)} + r, "{rng.choice(DTYPES[name])}", {shape})'
        layout = rng.choice(LAYOUTS)
        made[name] = numbers if layout == "C" else f'laid_out({numbers}, "{layout}")'
    if rng.random() < 0.1:
        made["y"] = rng.choice(SHARED)
    return ARGUMENTS.format(*(rng.randrange(50) for _ in range(3)), **made, z=rng.choice(ZEROS), e=rng.choice(EMPTY))
