"""Executors that run generated kernels: as plain Python, compiled on one thread, compiled in many small pieces.

Each takes the way of a user's call, through the decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import xjit
from xjit import numerics
from xjit.fusion import planner
from xjit.fusion.grouping.groups import Grouping
from xjit.fusion.regions.materialized import is_given, partial_values
from xjit.ir.node import Graph, Node
from xjit.machine import Machine, processor
from xjit.target import Target, cpu

Executor = Callable[..., Any]
"""Takes a function, its arguments, and the machine that programs are made for; returns what the function does."""

PROCESSOR = processor()


@contextmanager
def uncompiled() -> Iterator[None]:
    """Functions that are traced in here run their kernels as plain Python, every access checked."""
    with mock.patch.dict("os.environ", XJIT_DEBUG="1"):
        yield


@contextmanager
def short_blocks() -> Iterator[None]:
    """Sums that are written in here have blocks of few elements."""
    with mock.patch.object(numerics, "BLOCK", 4):
        yield


def small_blocks(machine: Machine) -> Machine:
    """The machine with blocks, strips and scratch so small that few elements fill several."""
    return replace(
        machine,
        strip_elements=4,
        column_block=3,
        column_bytes=0,
        shared_extent=3,
        fewest_paired_rows=2,
        row_scratch_bytes=100,
        transposed_columns=12,
        transposed_rows=20,
        fewest_transposed_rows=1,
        shared_blocks=3,
    )


def on(machine: Machine) -> Target:
    """The processor with these numbers."""
    return replace(cpu(), machine=machine)


def small_tiles(machine: Machine, room: int = 400) -> Machine:
    """The machine with stencils in tiles of at most so many bytes, whatever is computed twice."""
    return replace(machine, tiled_bytes=0, tile_bytes=room, least_tiles=2, narrowest_tile=2, round_trip_cost=1e9)


def many_pieces(machine: Machine) -> Machine:
    """The machine with programs that are cut as large ones would be: all loops are shared, stencils in tiles."""
    return replace(small_tiles(machine), parallel_work=0.0, piece_work=1.0, most_pieces=5)


@contextmanager
def many_chunks() -> Iterator[None]:
    """Programs that are built in here have reductions in chunks, and loops over all axes but those of two
    elements.
    """
    with (
        mock.patch.multiple(numerics, SEARCHED_ELEMENTS=16, MANY_ELEMENTS=16, CHUNK_ELEMENTS=8, CUT_EXTENT=3, TINY=2),
        mock.patch.multiple(
            numerics, MANY_COLUMN_ELEMENTS=30, CHUNK_COLUMN_ELEMENTS=20, CHUNK_ROWS=1, MOST_COLUMN_CHUNKS=1000
        ),
    ):
        yield


@contextmanager
def one_kernel_for_each() -> Iterator[None]:
    """In here every value gets a buffer and every operation a kernel of its own: nothing is fused. Values of
    which parts lie outside of an array have none.
    """

    def everything(graph: Graph, views: frozenset[Node], target: Target) -> set[Node]:
        return {node for node in graph.nodes if not is_given(node)} - partial_values(graph.nodes)

    with (
        mock.patch.object(planner, "_required", everything),
        mock.patch.object(Grouping, "_candidates", lambda *arguments: ()),
    ):
        yield


def run_uncompiled(function: Callable[..., Any], arrays: Sequence[Any], machine: Machine = PROCESSOR) -> Any:
    """The generated source, uncompiled, in pieces and chunks: no access may leave its buffer."""
    with uncompiled(), many_chunks(), short_blocks():
        return xjit.jit(function, target=on(small_blocks(many_pieces(machine))))(*arrays)


def run_unrolled(function: Callable[..., Any], arrays: Sequence[Any], machine: Machine = PROCESSOR) -> Any:
    """The generated source, uncompiled, as it is for arrays of this size: short axes are written out."""
    with uncompiled():
        return xjit.jit(function, target=on(machine))(*arrays)


def run_serial(function: Callable[..., Any], arrays: Sequence[Any], machine: Machine = PROCESSOR) -> Any:
    """Compiled, one thread."""
    with xjit.threads(1):
        return xjit.jit(function, target=on(machine))(*arrays)


def run_parallel(function: Callable[..., Any], arrays: Sequence[Any], machine: Machine = PROCESSOR) -> Any:
    """Compiled, several pieces on two threads."""
    with xjit.threads(2), many_chunks():
        return xjit.jit(function, target=on(many_pieces(machine)))(*arrays)


KERNEL_EXECUTORS: dict[str, Executor] = {
    "uncompiled": run_uncompiled,
    "serial": run_serial,
    "parallel": run_parallel,
}
