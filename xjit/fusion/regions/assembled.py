"""Values put together of pieces (pad, concatenate), read in place: within one piece an element is one of an operand.

A domain in which some read crosses the border of a piece is cut there, so that no loop asks where it is. What

    p = np.pad(u, 1, mode="edge")
    0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])

computes is an interior that reads ``u`` alone, four edges and four corners; ``p`` is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xjit.fusion.statements import IndexedValue
from xjit.ir.index_map import Index, normalise
from xjit.ir.opdef import AxisMap, Piece

Box: TypeAlias = "tuple[tuple[int, int], ...]"
"""The first position and the one behind the last, along each axis of a domain."""


def indexed_piece(indexed: IndexedValue, dims: tuple[int, ...]) -> IndexedValue | None:
    """The element of an operand that is read there in all of a domain; None where the domain takes several pieces."""
    spans = _spans(indexed, dims)
    for piece in reversed(indexed.node.pieces):
        holds = meets = True
        for (low, high), start, count in zip(spans, piece.start, piece.count, strict=True):
            holds = holds and start <= low and high < start + count
            meets = meets and low < start + count and start <= high
        if holds:
            return _within(indexed, piece)
        if meets:
            return None
    return None


def pieces_read(indexed: IndexedValue, box: Box) -> Iterator[tuple[IndexedValue, Box]]:
    """The elements of operands that are read in a box of a domain, each with the part of the box where they are.

    The part is the smallest box that holds all of them: later pieces may hide some.
    """
    for piece in indexed.node.pieces:
        part = _part(box, indexed.index, piece)
        if part is not None:
            yield _within(indexed, piece), part


def _part(box: Box, index: Index, piece: Piece) -> Box | None:
    """The part of a box in which an index points into a piece."""
    part = list(box)
    for map, start, count in zip(index, piece.start, piece.count, strict=True):
        if map.found:
            continue
        if map.axis is None:
            if not start <= map.offset < start + count:
                return None
            continue
        for axis, scale in map.terms:
            first, last = _reach(map.offset, [(own, times) for own, times in map.terms if own != axis], part)
            low, high = start - last, start + count - 1 - first
            if scale < 0:
                low, high = -high, -low
            part[axis] = max(part[axis][0], -(-low // abs(scale))), min(part[axis][1], high // abs(scale) + 1)
            if part[axis][0] >= part[axis][1]:
                return None
    return tuple(part)


def _reach(offset: int, terms: Sequence[tuple[int, int]], box: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The least and the greatest sum of an offset and the scaled positions in a box."""
    ends = [sorted((scale * box[axis][0], scale * (box[axis][1] - 1))) for axis, scale in terms]
    return offset + sum([low for low, _ in ends]), offset + sum([high for _, high in ends])


def _spans(indexed: IndexedValue, dims: tuple[int, ...]) -> list[tuple[int, int]]:
    """The first and the last position that a domain reads along each axis."""
    return [_span(map, size, dims) for map, size in zip(indexed.index, indexed.node.aval.shape, strict=True)]


def _meets(piece: Piece, spans: list[tuple[int, int]]) -> bool:
    for (low, high), start, count in zip(spans, piece.start, piece.count, strict=True):
        if not (low < start + count and start <= high):
            return False
    return True


def _span(map: AxisMap, size: int, dims: tuple[int, ...]) -> tuple[int, int]:
    if map.found:
        return 0, size - 1
    return _reach(map.offset, map.terms, [(0, extent) for extent in dims])


def _within(indexed: IndexedValue, piece: Piece) -> IndexedValue:
    operand = indexed.node.inputs[piece.operand]
    if not operand.aval.rank:
        return IndexedValue(operand, ())
    index = tuple(
        [
            map._replace(offset=map.offset - start + first)
            for map, start, first in zip(indexed.index, piece.start, piece.source, strict=True)
        ]
    )
    return IndexedValue(operand, normalise(index, operand.aval.shape))


def cuts_of(indexed: IndexedValue, dims: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """(axis, position, pieces) where what is read of an assembled value crosses into another piece, and how many
    others such a cut goes through. Where a position moves along several axes, no cut of one is at the border.
    """
    spans = _spans(indexed, dims)
    pieces = [piece for piece in indexed.node.pieces if _meets(piece, spans)]
    for place, map in enumerate(indexed.index):
        if map.axis is None or map.found or map.also:
            continue
        for border in {piece.start[place] + side for piece in pieces for side in (0, piece.count[place])}:
            past = border - map.offset if map.scale > 0 else map.offset - border + 1
            position = -(-past // abs(map.scale))
            if 0 < position < dims[map.axis]:
                through = sum(one.start[place] < border < one.start[place] + one.count[place] for one in pieces)
                yield map.axis, position, through
