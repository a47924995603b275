"""Differences of two recordings, first in texts and plans, then in machine code."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tools.replay.records import Record

# Texts to digests of their machine code, in one revision.
Compiler = Callable[[Sequence[str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One program that two revisions treat otherwise: what of it, and the first lines that differ."""

    program: str
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.program}: {self.what}\n  - {self.old}\n  + {self.new}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two recordings side by side.

    ``renamed`` counts kernels of another text and equal machine code, ``gone`` and ``added`` are programs of which
    one recording has no graph alike.
    """

    compared: int
    differences: tuple[Difference, ...]
    renamed: int
    gone: tuple[str, ...]
    added: tuple[str, ...]


def compared(
    old: Mapping[str, Record], new: Mapping[str, Record], compile_old: Compiler, compile_new: Compiler
) -> Comparison:
    """Compare recordings; texts that differ are compiled, each by its own revision."""
    both = sorted(old.keys() & new.keys())
    pairs = [(old[key], new[key]) for key in both]
    texts = [couple for pair in pairs for couple in _other_texts(*pair)]
    objects_old = compile_old(sorted({one for one, _ in texts}))
    objects_new = compile_new(sorted({other for _, other in texts}))
    same = {couple for couple in texts if objects_old[couple[0]] == objects_new[couple[1]]}
    found = [difference for pair in pairs if (difference := _difference(*pair, same))]
    return Comparison(
        len(both),
        tuple(found),
        len(same),
        tuple(old[key].program for key in sorted(old.keys() - new.keys())),
        tuple(new[key].program for key in sorted(new.keys() - old.keys())),
    )


def _other_texts(old: Record, new: Record) -> Iterator[tuple[str, str]]:
    """Yield the kernels of two programs that have as many, where their texts differ."""
    if len(old.kernels) == len(new.kernels):
        yield from (couple for couple in zip(old.kernels, new.kernels, strict=True) if couple[0] != couple[1])


def _difference(old: Record, new: Record, same: set[tuple[str, str]]) -> Difference | None:
    for what, one, other in (("plan", old.steps, new.steps), ("reasons", old.reasons, new.reasons)):
        if one != other:
            return Difference(new.program, what, *first_difference(one, other))
    for number, couple in enumerate(itertools.zip_longest(old.kernels, new.kernels, fillvalue=""), 1):
        if couple[0] != couple[1] and couple not in same:
            lines = first_difference(*(text.splitlines() for text in couple))
            return Difference(new.program, f"kernel {number}", *lines)
    return None


def first_difference(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """Return the first lines that differ; nothing stands where there is no line.

    >>> first_difference(["a", "b"], ["a", "c", "d"])
    ('b', 'c')
    >>> first_difference(["a"], ["a", "d"])
    ('(nothing)', 'd')
    """
    for one, other in itertools.zip_longest(old, new, fillvalue="(nothing)"):
        if one != other:
            return one.strip(), other.strip()
    raise ValueError("there is no difference")
