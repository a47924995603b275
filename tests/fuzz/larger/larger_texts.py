"""Random programs as text over larger arrays, and such whose lengths only the run knows.

Lengths are about those at which kernels begin other blocks, results may be empty or have one element.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tests.fuzz.larger.length_patterns import COUNTED, CUT, GROWN, LISTED, MASKED, REPEATED
from tests.fuzz.random_expressions import DTYPES
from tests.fuzz.random_patterns import LETTERS, PATTERNS, WORDS, Vocabulary
from tests.fuzz.random_texts import RARE_DTYPES, Sort, random_text
from tests.fuzz.scope import Extents, Scope
from tests.fuzz.text_program import TextProgram

MANY = Extents(
    lengths=("(513, 512)", "(1025, 700)", "(2050, 513)", "(600, 4)", "(5000, 4097)", "(511, 1)", "(1536, 0)"),
    widths=("(40, 40)", "(7, 70)", "(2, 40)", "(1, 33)"),
    shapes=(
        *("(n,)", "(n,)", "(n,)", "(m, 70)", "(m, m)", "(40, m)"),
        *("(2, m, 30)", "()", "(0,)", "(1,)", "(n, 1)", "(0, n)", "(2, n)", "(m, 513)"),
    ),
    places=("3", "50", "600"),
    elements=45_000,
    turns=5_500,
    made=3000,
    integers=(0, 1, 1, 2, 3, -1, -2, 5, 511, 512, 513, 30),
)
LINES = Extents(
    lengths=("(513, 512)", "(511, 1)", "(700, 0)", "(5, 1024)", "(1, 513)", "(512, 40)", "(9, 1100)"),
    widths=("(3, 3)", "(2, 4)"),
    shapes=("(n,)",) * 6 + ("(n,)", "(m,)", "(0,)", "(1,)", "(512,)", "(513,)"),
    places=("3", "50", "600"),
    elements=200_000,
    turns=17_000,
    made=600,
    integers=(0, 1, 1, 2, 3, -1, 5, 511, 512, 513),
)
BLOCKS = replace(LINES, lengths=("(513, 16385)", "(40_000, 512)"))
"""Lengths of masks of more than one block of 2**14: programs that take long uncompiled."""
MASKS = (
    "<x> > <number>",
    "<x> < <number>",
    "(<x> > <number>) & (<x> < 6)",
    "<x> > 99",
    "<x> == <x>",
    "<x> == <x>[:1]",
    "np.arange(len(<x>)) == <index_number>",
    "np.arange(len(<x>)) < <index_number>",
    "np.arange(len(<x>)) >= <index_number>",
    "np.arange(len(<x>)) % 2 == 0",
    "~(<x> > 1)",
)
FAMILIES = (MASKED, REPEATED, COUNTED, GROWN, CUT, LISTED)
EVERY_DTYPE = (*DTYPES, "int8", "uint8", "uint32", "float16", "complex64", "uint64")


def _line(s: Scope) -> str:
    found = s.of_kind(lambda value: isinstance(value, np.ndarray) and value.ndim == 1)
    return s.rng.choice(found) if found else "np.arange(5.0)"


LINE_LETTERS = LETTERS | {"x": _line, "y": _line}
LINE_WORDS = WORDS | {
    "mask": lambda s: str(s.one(*MASKS)),
    "index_number": lambda s: str(s.one("0", "1", "511", "512", "513", "3")),
    "bound": lambda s: str(s.one("1", "512", "513", "-1", "0", "<i0>")),
    "i0": lambda s: str(s.one("2", "-512", "511")),
    "span": lambda s: str(s.one("2", "3", "40", "7", "513")),
}


def _of_lengths(rng: random.Random) -> Vocabulary:
    families = [family for family in rng.sample(FAMILIES, 3) for _ in range(3)]
    return Vocabulary((*families, rng.choice(PATTERNS)), LINE_LETTERS, LINE_WORDS, 0.7)


LARGER = Sort(extents=MANY)
LENGTHS = Sort(_of_lengths, extents=LINES, dtypes=EVERY_DTYPE, rare=RARE_DTYPES)
LONG_LENGTHS = replace(LENGTHS, extents=BLOCKS)


def larger_text(rng: random.Random) -> TextProgram:
    """Return the next program over larger arrays."""
    return random_text(rng, LARGER)


def length_text(rng: random.Random) -> TextProgram:
    """Return the next program whose arrays have lengths that the run knows."""
    return random_text(rng, LONG_LENGTHS if rng.random() < 0.04 else LENGTHS)
