"""Names and values of a program that is being written, and random choices among them."""

from __future__ import annotations

import copy
import random
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_BITS = 90
HIDDEN = ("np", "values", "places", "laid_out")


@dataclass(frozen=True)
class Extents:
    """Extents of the arrays of programs.

    ``lengths`` and ``widths`` are the texts of what ``n`` and ``m`` are, ``shapes`` of arguments in terms of these,
    ``places`` of the numbers of positions. No array has more than so many ``elements``, no loop more ``turns``, and
    none that is made by its extent is as long as ``made``. ``integers`` are those that programs have.
    """

    lengths: tuple[str, ...] = ("(5, 4)", "(4, 6)", "(6, 5)", "(3, 3)", "(8, 1)", "(5, 0)", "(4, 9)")
    widths: tuple[str, ...] = ("(3, 3)", "(2, 4)", "(4, 2)", "(1, 3)")
    shapes: tuple[str, ...] = (
        *("(n,)", "(n,)", "(n,)", "(m, n)", "(n, n)", "(m, n)"),
        *("(2, m, 3)", "()", "(0,)", "(1,)", "(n, 1)", "(0, n)"),
    )
    places: tuple[str, ...] = ("3", "4", "5")
    elements: int = 400
    turns: int = 400
    made: int = 9
    integers: tuple[int, ...] = (0, 1, 1, 2, 2, 3, -1, -2, 5)


FEW = Extents()


class Ended(Exception):
    """The program returned, or ran too long."""


class Scope:
    """Names and values at one place of a program, where expressions and statements can be tried.

    ``vocabulary`` is that of the patterns that the program is written with, the ordinary one if None.
    """

    def __init__(self, rng: random.Random, names: dict[str, Any], extents: Extents = FEW) -> None:
        self.rng = rng
        self.names = names
        self.extents = extents
        self.fresh = 0
        self.vocabulary: Any = None

    def inner(self, **more: Any) -> Scope:
        """Return a copy, for the body of a loop or a branch."""
        whole = {name for name, value in self.names.items() if callable(value) or isinstance(value, types.ModuleType)}
        kept = {name: value if name in whole else copy.deepcopy(value) for name, value in self.names.items()}
        scope = Scope(self.rng, kept | more, self.extents)
        scope.fresh, scope.vocabulary = self.fresh, self.vocabulary
        return scope

    def one(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def value(self, text: str) -> Any:
        """Return the value of an expression; an exception if it has none, or a large one."""
        found = eval(text, self.names)
        if isinstance(found, np.ndarray) and found.size > self.extents.elements:
            raise OverflowError
        return found

    def tried(self, text: str) -> bool:
        """Run a statement, and return whether it can be run."""
        try:
            exec(text, self.names)
        except Ended:
            raise
        except Exception:
            return False
        return all(_is_small(value, self.extents.elements) for value in self.names.values())

    def find(self, make: Callable[[], str], fits: Callable[[Any], bool], otherwise: str, tries: int = 4) -> str:
        """Return the first of some random expressions whose value fits."""
        for _ in range(tries):
            text = make()
            try:
                if fits(self.value(text)):
                    return text
            except Exception:
                continue
        return otherwise

    def of_kind(self, fits: Callable[[Any], bool]) -> list[str]:
        """Return the names whose values fit."""
        return [name for name, value in self.names.items() if name not in HIDDEN and name[0] != "_" and fits(value)]

    def arrays(self, least: int = 0) -> list[str]:
        """Return the names of arrays of at least so many axes."""
        return self.of_kind(lambda value: isinstance(value, np.ndarray) and value.ndim >= least)

    def integers(self) -> list[str]:
        return self.of_kind(lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool))

    def floats(self) -> list[str]:
        return self.of_kind(lambda value: isinstance(value, float | np.floating))

    def array(self, least: int = 0) -> str:
        """Return the name of an array, or the text of a new one."""
        found = self.arrays(least)
        return self.rng.choice(found) if found else ("np.ones((2, 3))", "np.ones((2, 3, 2))")[least > 2]

    def new_name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"


def _is_small(value: Any, most: int) -> bool:
    if isinstance(value, int):
        return abs(value) < 2**MOST_BITS
    if isinstance(value, list | dict | str):
        return len(value) < most
    return not isinstance(value, np.ndarray) or value.size <= most
