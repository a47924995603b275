"""Executors that run generated kernels: as plain Python, compiled on one thread, compiled in many small pieces.

Each takes the way of a user's call, through the decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import xjit
from xjit import numerics
from xjit.codegen import column_nest, pairs, rows, schedule, strips, tiles
from xjit.fusion import cost, planner, tiny
from xjit.fusion.groups import Grouping
from xjit.fusion.materialized import is_given
from xjit.ir.node import Graph, Node
from xjit.passes import chunk_search, split
from xjit.runtime import segments

Executor = Callable[[Callable[..., Any], Sequence[Any]], Any]


@contextmanager
def uncompiled() -> Iterator[None]:
    """Functions that are traced in here run their kernels as plain Python, every access checked."""
    with mock.patch.dict("os.environ", XJIT_DEBUG="1"):
        yield


@contextmanager
def small_blocks() -> Iterator[None]:
    """Loops that are written in here have blocks, strips and scratch so small that few elements fill several."""
    with (
        mock.patch.object(numerics, "BLOCK", 4),
        mock.patch.object(strips, "STRIP", 4),
        mock.patch.multiple(column_nest, COLUMN_BLOCK=3, COLUMN_BYTES=0),
        mock.patch.object(schedule, "SHARED_EXTENT", 3),
        mock.patch.object(pairs, "FEWEST_ROWS", 2),
        mock.patch.object(rows, "SCRATCH_BYTES", 100),
        mock.patch.multiple(tiles, TILE_COLUMNS=12, MOST_ROWS=20, FEWEST_ROWS=1, SHARED_BLOCKS=3),
    ):
        yield


@contextmanager
def small_tiles(room: int = 400) -> Iterator[None]:
    """Stencils that are planned in here run in tiles of at most so many bytes, whatever is computed twice."""
    with mock.patch.multiple(cost, TILED_BYTES=0, TILE_BYTES=room, LEAST_TILES=2, NARROWEST_TILE=2, ROUND_TRIP=1e9):
        yield


@contextmanager
def many_pieces() -> Iterator[None]:
    """Programs that are built in here are cut as large ones would be: shared loops, reductions into chunks, and
    loops over all axes but those of two elements.
    """
    with (
        mock.patch.multiple(segments, PARALLEL_WORK=0.0, PIECE_WORK=1.0, MAXIMUM_PIECES=5),
        mock.patch.multiple(chunk_search, LONG_ROW=16, CHUNK_ELEMENTS=8),
        mock.patch.multiple(split, MANY_ELEMENTS=16, CHUNK_ELEMENTS=8, SHORT_AXIS=3),
        mock.patch.multiple(
            split, MANY_COLUMN_ELEMENTS=30, CHUNK_COLUMN_ELEMENTS=20, CHUNK_ROWS=1, MOST_COLUMN_CHUNKS=1000
        ),
        mock.patch.object(tiny, "TINY", 2),
        small_tiles(),
    ):
        yield


@contextmanager
def one_kernel_for_each() -> Iterator[None]:
    """In here every value gets a buffer and every operation a kernel of its own: nothing is fused."""

    def everything(graph: Graph, views: frozenset[Node]) -> set[Node]:
        return {node for node in graph.nodes if not is_given(node)}

    with (
        mock.patch.object(planner, "_required", everything),
        mock.patch.object(Grouping, "_candidates", lambda *arguments: ()),
    ):
        yield


def run_uncompiled(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The generated source, uncompiled, in pieces and chunks: no access may leave its buffer."""
    with uncompiled(), many_pieces(), small_blocks():
        return xjit.jit(function)(*arrays)


def run_unrolled(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The generated source, uncompiled, as it is for arrays of this size: short axes are written out."""
    with uncompiled():
        return xjit.jit(function)(*arrays)


def run_serial(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Compiled, one thread."""
    with xjit.threads(1):
        return xjit.jit(function)(*arrays)


def run_parallel(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Compiled, several pieces on two threads."""
    with xjit.threads(2), many_pieces():
        return xjit.jit(function)(*arrays)


KERNEL_EXECUTORS: dict[str, Executor] = {
    "uncompiled": run_uncompiled,
    "serial": run_serial,
    "parallel": run_parallel,
}
