"""Turns of a loop in tiles of time: what of the kernels of a turn are rows, and the record that calls are noted in.

A record is a buffer of words: :mod:`xjit.runtime.native.tiled_turns_native` says what they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from xjit.dataclass import dataclass

HEADER: Final = 16
"""Words of a record in front of its entries."""

ENTRY: Final = 8
"""Words of an entry, which is a nest of a call."""


@dataclass(frozen=True, slots=True)
class NestRows:
    """A nest of a kernel whose iterations are rows.

    ``kernel`` is its number in the body of a loop. Its iterations are those of the kernel from ``first`` to before
    ``stop``, so many (``steps``) for each row, the first of which is ``begin``. In a tile it is ``skew`` rows behind
    the first nest of a turn, and begins ``before`` rows further from the beginning of the tile.
    """

    kernel: int
    first: int
    stop: int
    steps: int
    begin: int
    skew: int
    before: int


@dataclass(frozen=True, slots=True)
class TimeTiles:
    """Turns of a loop that are done for one tile of rows after the other, so many ``turns`` at a time.

    The tiles are as many as ``tiles``, of ``width`` rows from ``begin`` on, each done in bands of ``band`` rows. Each
    turn is ``skew`` rows further behind than the one before it, and begins ``before`` rows further from the beginning
    of a tile. ``copied`` are pointers of kernels, by the numbers of kernel and pointer, to numbers that change from
    turn to turn. Slots of different ``families`` share no memory.
    """

    turns: int
    begin: int
    width: int
    tiles: int
    band: int
    skew: int
    before: int
    nests: tuple[NestRows, ...]
    copied: tuple[tuple[int, int], ...]
    families: tuple[tuple[int, ...], ...]

    @property
    def in_words(self) -> str:
        """The tiles, for an explanation."""
        return f"{self.turns} turns at a time in {self.tiles} tiles of {self.width} rows"

    @property
    def entries(self) -> int:
        """The most entries that a record has."""
        return self.turns * len(self.nests)

    def record_bytes(self, tables: Iterable[int]) -> int:
        """The bytes of a record of calls whose tables have so many words in each turn, those that are copied too."""
        return 8 * (HEADER + ENTRY * self.entries + self.turns * (sum(tables) + len(self.copied)))
