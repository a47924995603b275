"""Random ordinary programs, most of which carry a state, with numbers that change from call to call."""

from __future__ import annotations

import random

import numpy as np

from tests.fuzz.random_expressions import integer
from tests.fuzz.random_patterns import LETTERS, ORDINARY, PATTERNS, WORDS, Vocabulary, is_simple
from tests.fuzz.random_texts import CALLS, Sort, random_text
from tests.fuzz.scope import Scope
from tests.fuzz.states.state_patterns import ABSENT, COUNTS, HISTORIES, MEMBERS, RANGES, WORK
from tests.fuzz.text_program import TextProgram

FAMILIES = (ABSENT, MEMBERS, WORK, HISTORIES, COUNTS, RANGES)
AMONG = (
    *("(1, 2)", "(0, <number>)", "(<number>, <number>)", "[0, 3]", "[<whole>, 2.5]", "{1, 2, 5}", "(None, 2, 0.5)"),
    *("<V>[:3]", "<V>[<whole>:]", "<V>", "<V>[<V> > 1]", "range(<n>)", "range(<whole>, <whole>)", "<places>"),
    *("range(0, 9, 2)", "np.arange(3)", "<V>[:2].tolist()", "(True, 3)"),
)
GIVEN = (
    ("low", "r % 3", "(0, 2, -1, 1.5)[r % 4]", "-r", "0.5 * r", "np.float64(r)"),
    ("high", "r + 3", "2.5 + r", "(4, 3.5)[r % 2]", "np.int64(5 - r)"),
    ("step", "(0.5, 0.25, 1, 2)[r % 4]", "(1, 2)[r % 2]", "0.1 + 0.2 * r", "np.float32(0.5)", "-1 - r"),
    ("count", "r + 2", "(3, 0, 5, 1)[r % 4]", "np.int32(r + 1)"),
    ("found", "None", "(None, 2)[r % 2]", "(1.5, None)[r % 2]", "(True, 0)[r % 2]"),
)


def _line(s: Scope) -> str:
    found = s.of_kind(lambda value: isinstance(value, np.ndarray) and value.ndim == 1)
    return s.rng.choice(found) if found else "np.arange(5.0)"


def _step(s: Scope) -> str:
    names = [name for name in ("step", "high", "low") if name in s.names]
    return str(s.one("0.5", "1", "0.3", "-1", "2", *names, *names))


STATE_LETTERS = LETTERS | {"V": _line}
STATE_WORDS = WORDS | {
    "among": lambda s: str(s.one(*AMONG)),
    "whole": lambda s: integer(s, s.one(0, 1)),
    "step": _step,
    "step_of_range": lambda s: str(
        s.one("1", "2", "-1", *(["step"] if isinstance(s.names.get("step"), int) else []))
    ),
}


def is_state(value: object) -> bool:
    """Return whether a program may return a value: numbers, arrays, what holds them, and None."""
    return value is None or is_simple(value) or isinstance(value, dict | tuple)


def vocabulary(rng: random.Random) -> Vocabulary:
    """Return the patterns of one program: the ordinary ones, most often with some of states."""
    if rng.random() < 0.25:
        return ORDINARY
    families = [family for family in rng.sample(FAMILIES, rng.choice((1, 2, 3))) for _ in range(3)]
    return Vocabulary((*families, rng.choice(PATTERNS)), STATE_LETTERS, STATE_WORDS, 0.6, is_state)


def given(rng: random.Random, outer: list[str]) -> dict[str, str]:
    """Return names of numbers that change from call to call, and what makes them."""
    chosen = rng.sample(GIVEN, rng.choice((0, 1, 2, 3)))
    return {name: rng.choice(texts) for name, *texts in chosen}


STATES = Sort(
    vocabulary,
    given=given,
    calls=(*CALLS, *CALLS[-4:], *CALLS[-4:]),
    sizes=(1, 1, 1, 2, 2, 3, 5),
    depths=(0, 1, 1, 2),
)
"""Most of these programs are short: one of several patterns is left to NumPy as soon as one of them is."""


def ordinary_text(rng: random.Random) -> TextProgram:
    """Return the next program that NumPy runs on its first arguments."""
    return random_text(rng, STATES)
