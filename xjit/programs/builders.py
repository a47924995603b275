"""Writers of programs as plain data, with the libraries that these may call."""

from __future__ import annotations

from xjit import config
from xjit.ir.node import Node
from xjit.programs.input_layouts import layouts_of
from xjit.programs.libraries import LIBRARIES, NO_LIBRARIES
from xjit.programs.lowered import Lowered
from xjit.programs.make_spec import Builder


def builder_of(lowered: Lowered, apart: tuple[tuple[int, int], ...] = ()) -> Builder:
    """The writer of a program; ``apart`` are pairs of parameters that have to be two objects."""
    layouts = layouts_of(lowered.graph, lowered.specs, lowered.stores)
    libraries = NO_LIBRARIES if config.flag("XJIT_DEBUG") else LIBRARIES
    parts = lowered.plan, lowered.views, lowered.memories, layouts, lowered.specs
    machine, written, stores = lowered.target.machine, lowered.written, lowered.stores
    return Builder(
        *parts, machine, libraries, apart, lowered.inner, written=written, stores=stores, fixed=stores.chains
    )


def untiled_loops(lowered: Lowered) -> dict[Node, str]:
    """The large loops of a program whose turns are not done in tiles of time, with the reasons."""
    builder = builder_of(lowered)
    builder.spec(lowered.kernels)
    return builder.untiled
