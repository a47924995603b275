"""Carried arrays that a turn makes anew: two turns, of which the second reads what the first has written.

    while more:                          while more:
      y[i] = x[n - i] for all i            y[i] = x[n - i] for all i
      more = ...                           more = ...
      x[i] = y[i] for all i                if more:
                                             x[i] = y[n - i] for all i
                                             more = ...
                                           else:
                                             x[i] = y[i] for all i

Nothing is copied but in the end, and perhaps when a call of the kernel ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from xjit.codegen.lowering.control.places import Places
from xjit.dataclass import replace
from xjit.ir.loops.nodes import Block, TransposeBlock
from xjit.ir.loops.walk import loads, names, renamed, statements, stores
from xjit.ir.node import Node


def exchanged(places: Places, turn: Block, pairs: Mapping[Node, Node], carried: Collection[Node]) -> Block:
    """The statements of a turn once more, with each buffer of the ``pairs`` in place of the other one.

    Values that are ``carried`` are the same ones, and those from before the turn. All other values of one element are
    its own.
    """
    both = {**pairs, **{second: first for first, second in pairs.items()}}
    touched = {load.buffer for load in loads(turn)} | {store.buffer for store in stores(turn)}
    touched |= {
        name for one in statements(turn) if isinstance(one, TransposeBlock) for name in (one.target, one.source)
    }
    changed = {store.buffer for store in stores(turn)}
    made = {places.home(node)[0] for (node, _, _), name in places.pointers.names.items() if name in changed}
    instead: dict[str, str] = {}
    for (node, start, storage), name in list(places.pointers.names.items()):
        home, first = places.home(node)
        if name not in touched or home in carried:
            continue
        if home not in both:
            if home not in made or not places.is_register(node):
                continue
            both[home] = replace(home)
        twin = replace(node)
        places.put(twin, both[home], first)
        own = instead[name] = places.nest.fresh(_stem(name))
        places.pointers.names[twin, start, storage] = own
        places.pointers.written[own] = places.pointers.written[name]
        if name in places.nest.axes:
            places.nest.axes[own] = list(places.nest.axes[name])
    given = {name: places.nest.fresh(_stem(name)) for name in sorted(names(turn))}
    return renamed(turn, instead | given)


def _stem(name: str) -> str:
    return re.sub(r"_?\d+$", "_" if "_" in name else "", name)
