"""Values put together of pieces (pad, concatenate), read in place: within one piece an element is one of an operand.

A domain in which some read crosses the border of a piece is cut there, so that no loop asks where it is. What

    p = np.pad(u, 1, mode="edge")
    0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])

computes is an interior that reads ``u`` alone, four edges and four corners; ``p`` is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.fusion.statements import Pull
from xjit.ir.index import normalise
from xjit.ir.opdef import AxisMap, Piece


def piece_pull(pull: Pull, dims: tuple[int, ...]) -> Pull | None:
    """The element of an operand that is read there in all of a domain; None where the domain takes several pieces."""
    spans = _spans(pull, dims)
    for piece in reversed(pull.node.pieces):
        rows = list(zip(spans, piece.start, piece.count, strict=True))
        if all(start <= low and high < start + count for (low, high), start, count in rows):
            return _within(pull, piece)
        if _meets(piece, spans):
            return None
    return None


def _spans(pull: Pull, dims: tuple[int, ...]) -> list[tuple[int, int]]:
    """The first and the last position that a domain reads along each axis."""
    return [_span(map, size, dims) for map, size in zip(pull.index, pull.node.aval.shape, strict=True)]


def _meets(piece: Piece, spans: list[tuple[int, int]]) -> bool:
    rows = zip(spans, piece.start, piece.count, strict=True)
    return all(low < start + count and start <= high for (low, high), start, count in rows)


def _span(map: AxisMap, size: int, dims: tuple[int, ...]) -> tuple[int, int]:
    if map.found:
        return 0, size - 1
    ends = (map.offset, map.offset + (0 if map.axis is None else map.scale * (dims[map.axis] - 1)))
    return min(ends), max(ends)


def _within(pull: Pull, piece: Piece) -> Pull:
    operand = pull.node.inputs[piece.operand]
    if not operand.aval.rank:
        return Pull(operand, ())
    index = tuple(
        map._replace(offset=map.offset - start + first)
        for map, start, first in zip(pull.index, piece.start, piece.source, strict=True)
    )
    return Pull(operand, normalise(index, operand.aval.shape))


def cuts_of(pull: Pull, dims: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """(axis, position, pieces) where what is read of an assembled value crosses into another piece, and how many
    others such a cut goes through.
    """
    spans = _spans(pull, dims)
    pieces = [piece for piece in pull.node.pieces if _meets(piece, spans)]
    for place, map in enumerate(pull.index):
        if map.axis is None or map.found:
            continue
        for border in {piece.start[place] + side for piece in pieces for side in (0, piece.count[place])}:
            past = border - map.offset if map.scale > 0 else map.offset - border + 1
            position = -(-past // abs(map.scale))
            if 0 < position < dims[map.axis]:
                through = sum(one.start[place] < border < one.start[place] + one.count[place] for one in pieces)
                yield map.axis, position, through
