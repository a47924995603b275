"""Random programs as text that Python has a part in: printed text, calls outside, lengths of data, objects."""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.random_patterns import LETTERS, PATTERNS, WORDS, Vocabulary
from tests.fuzz.random_texts import Sort, random_text
from tests.fuzz.scope import Scope
from tests.fuzz.splits.object_patterns import ATTRIBUTES, RECORDS, TABLES
from tests.fuzz.splits.shape_patterns import CHOSEN, GROWING, POSITIONS, SETS
from tests.fuzz.splits.split_helpers import around, given
from tests.fuzz.splits.split_patterns import DRAWS, HANDLERS, NUMBERS, OUTSIDE, TEXTS
from tests.fuzz.text_program import TextProgram

GENERATORS = (np.random.Generator, np.random.RandomState)
SPLITS = (TEXTS, NUMBERS, OUTSIDE, DRAWS, HANDLERS)
SHAPES = (CHOSEN, POSITIONS, SETS, GROWING)
OBJECTS = (ATTRIBUTES, RECORDS, TABLES)
MASKS = (
    "<x> > <number>",
    "<x> < <number>",
    "(<x> > <number>) & (<x> < 6)",
    "<x> % 2 == 0",
    "<x> > 99",
    "<x> == <x>",
    "~(<x> > 1)",
    "np.isfinite(<x>)",
    "<x>.ravel()[:len(<x>)] > <number>",
)


def _named(names: list[str], s: Scope, otherwise: str) -> str:
    return s.rng.choice(names) if names else otherwise


def _of_class(name: str, otherwise: str) -> Callable[[Scope], str]:
    def chosen(s: Scope) -> str:
        return _named(s.of_kind(lambda v: type(v).__name__ == name), s, otherwise.replace("{}", s.array(1)))

    return chosen


def _of_type(kind: Any, otherwise: str) -> Callable[[Scope], str]:
    return lambda s: _named(s.of_kind(lambda v: isinstance(v, kind)), s, otherwise)


def _function(letter: str, otherwise: str) -> Callable[[Scope], str]:
    def chosen(s: Scope) -> str:
        names = [n for n in s.of_kind(callable) if n[0] == letter and n[1:].isdigit() and "row" not in n]
        return _named(names, s, otherwise)

    return chosen


def is_result(value: object) -> bool:
    """Return whether a program may return a value: no function, class or module."""
    return not isinstance(value, types.ModuleType | type | BaseException) and not (
        callable(value) and isinstance(value, types.FunctionType | types.BuiltinFunctionType)
    )


MORE_LETTERS = {
    "O": _of_class("Body", "Body({}, 2)"),
    "D": _of_class("Cell", "Cell({}, 2)"),
    "N": _of_class("Pair", "Pair({}, 2)"),
    "T": _of_type(dict, "{'k': 1, 'n': 2}"),
    "L": _of_type(list, "[1, 2.5]"),
    "R": _of_type(GENERATORS, "np.random.default_rng(3)"),
}
MORE_WORDS = {
    "mask": lambda s: str(s.one(*MASKS)),
    "python": _function("e", "max"),
    "writer": _function("f", "np.copyto"),
    "raiser": _function("r", "max"),
    "i0": lambda s: str(s.one("0", "-1", "0", "1")),
}


def vocabulary(rng: random.Random) -> Vocabulary:
    """Return the patterns of one program: of one to three sorts."""
    sorts = rng.sample((SPLITS, SHAPES, OBJECTS), rng.choice((1, 1, 2, 3)))
    families = [family for sort in sorts for family in sort for _ in range(3)] + [rng.choice(PATTERNS)]
    return Vocabulary(tuple(families), LETTERS | MORE_LETTERS, WORDS | MORE_WORDS, 0.6, is_result)


def split_text(rng: random.Random) -> TextProgram:
    """Return the next program that NumPy runs on its first arguments."""
    return random_text(rng, Sort(vocabulary, around, given, watched=True))
