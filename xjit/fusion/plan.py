"""What planning decides: regions that become kernels, and the steps around them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.ir.index import Index, changed, relabel
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import AxisMap
from xjit.numerics import SumOrder, sum_order
from xjit.types import dtype_class

# (first, last) offsets along each of some axes.
Reach: TypeAlias = "tuple[tuple[int, int], ...]"


@dataclass(frozen=True, slots=True)
class Pull:
    """A value and where it is read, in the axes of the domain it is pulled into."""

    node: Node
    index: Index


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One thing that a loop nest computes: a stored array or a reduction.

    A store walks ``dims`` and writes ``values[0]``; domain axis d moves by ``steps[d]`` elements of the target's
    buffer, beginning at element ``start``. A reduction folds ``values`` (operands, then initial values) over the
    axes ``reduced`` of ``dims``, which may be none; ``chunk`` = (axis, size) cuts one reduced axis into chunks with
    a result each. ``fixed`` = ((axis, position), ...) are axes of which the unit is one position: they count as
    axes of one element. ``nested`` are reductions that run inside, one loop nest for each of their results: each with
    the first of the domain axes, after all others, that it reduces. A scan walks the one axis of ``reduced`` in order
    and stores what it has got so far at every step. A check evaluates a condition, ``values[0]``, everywhere; its
    target is the status that is set if the condition does not hold. ``origin`` is where the unit begins in the domain
    that it is a part of; empty: at the first element of every axis. ``lag`` is how many steps of a scan in the same
    loops the unit runs behind, its elements counted from there; None if it runs at every step of its loops.
    """

    target: Node
    dims: tuple[int, ...]
    values: tuple[Pull, ...]
    steps: tuple[int, ...] = ()
    start: int = 0
    reduced: tuple[int, ...] = ()
    chunk: tuple[int, int] | None = None
    fixed: tuple[tuple[int, int], ...] = ()
    is_reduction: bool = False
    is_scan: bool = False
    is_check: bool = False
    origin: tuple[int, ...] = ()
    nested: tuple[tuple[Node, int], ...] = ()
    lag: int | None = None

    @property
    def rank(self) -> int:
        """How many axes are the unit's own, not those of nested reductions."""
        return min((first for _, first in self.nested), default=len(self.dims))

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(self.rank) if axis not in self.reduced)

    @property
    def is_plain(self) -> bool:
        """Whether the unit does nothing but store a value, every element by itself."""
        return not (self.is_reduction or self.is_scan or self.is_check)

    @property
    def makes_target(self) -> bool:
        """Whether its steps are those of the target, which makes its elements there, and not those of an operand."""
        return self.is_reduction or self.is_scan or self.values[0].node is self.target

    @property
    def covers_target(self) -> bool:
        """Whether the unit is no single position or piece of its target: others may store into the same elements."""
        return not (self.fixed or self.origin)

    def moved(self, axis: int, steps: int) -> Unit:
        """The same with all elements so many steps further along an axis."""

        def at(map: AxisMap) -> AxisMap:
            return map._replace(offset=map.offset + map.scale * steps) if map.axis == axis else map

        origin = self.origin or (0,) * len(self.dims)
        return dataclasses.replace(
            self,
            values=tuple(Pull(pull.node, changed(pull.index, at)) for pull in self.values),
            start=self.start + (self.steps[axis] * steps if self.steps else 0),
            origin=tuple(first + steps * (place == axis) for place, first in enumerate(origin)),
        )

    @property
    def is_search(self) -> bool:
        """Whether it looks for the place of an extreme, for which it computes some values a second time."""
        return self.is_reduction and dict(self.target.params).get("extreme") is not None

    @property
    def sums(self) -> SumOrder | None:
        """The order of a reduction whose bits depend on it: of a sum or product of floats."""
        reducer = dict(self.target.params).get("reducer") if self.is_reduction else None
        operand = self.values[0].node.aval
        if reducer is None or not reducer.reassociates or dtype_class(operand.dtype) != "F":
            return None
        order = sum_order(operand, self.target.param("dims"))
        return order if self.chunk is None else order.within(self.chunk[0])

    @property
    def chunk_number(self) -> Pull | None:
        """The number of the chunk at hand, as its other results are looked up by."""
        return None if self.chunk is None else Pull(self.target.inputs[2], (AxisMap(self.chunk[0]),))


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """One kernel: units over one domain. ``axes[k]`` maps the axes of unit k to axes of the domain, whose first
    ``rank`` are looped over once; the others belong to nested reductions.
    """

    dims: tuple[int, ...]
    reduced: tuple[int, ...]
    units: tuple[Unit, ...]
    axes: tuple[dict[int, int], ...]
    chunk: tuple[int, int] | None
    reasons: tuple[str, ...]
    rank: int

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(self.rank) if axis not in self.reduced)

    @property
    def sums(self) -> SumOrder | None:
        """The order of its sums and products of floats; None where there are none."""
        return next((order for unit in self.units if (order := unit.sums) is not None), None)

    @property
    def chunk_numbers(self) -> frozenset[Pull]:
        """The numbers of chunks that the loops run through."""
        pairs = ((unit.chunk_number, axes) for unit, axes in zip(self.units, self.axes, strict=True))
        return frozenset(Pull(one.node, relabel(one.index, axes)) for one, axes in pairs if one is not None)

    @property
    def has_lags(self) -> bool:
        """Whether some unit runs steps behind a scan."""
        return any(unit.lag is not None for unit in self.units)

    @property
    def nested(self) -> dict[Node, int]:
        """The nested reductions and the first axis of each."""
        return {node: first for unit in self.units for node, first in unit.nested}


@dataclass(frozen=True, slots=True)
class Tiling:
    """How the regions of a kernel run one behind the other, a tile of the result at a time.

    ``axes`` are the tiled axes, the same ones of every region and of every value in between, ``dims`` the extents of
    the result along them, ``sizes`` those of a tile. ``reaches`` says of every region how far before the first and
    behind the last position of a tile it runs, along each tiled axis; ``windows`` the same of every value that is
    kept in scratch: its window is all that a tile reads of it.
    """

    axes: tuple[int, ...]
    dims: tuple[int, ...]
    sizes: tuple[int, ...]
    reaches: tuple[Reach, ...]
    windows: Mapping[Node, Reach]

    def window_shape(self, node: Node) -> tuple[int, ...]:
        """The extents of the part of a value that a tile needs."""
        shape = list(node.aval.shape)
        for axis, size, (before, behind) in zip(self.axes, self.sizes, self.windows[node], strict=True):
            shape[axis] = size + behind - before
        return tuple(shape)


@dataclass(frozen=True, slots=True, eq=False)
class KernelStep:
    """Runs a generated kernel: one loop nest for each region. Without a ``tiling``, none of them needs another."""

    regions: tuple[Region, ...]
    tiling: Tiling | None = None

    @property
    def units(self) -> tuple[Unit, ...]:
        """The units of all regions."""
        return tuple(unit for region in self.regions for unit in region.units)


@dataclass(frozen=True, slots=True, eq=False)
class AliasStep:
    """The node's buffer is the operand's buffer read with other dimensions."""

    node: Node
    operand: Node


@dataclass(frozen=True, slots=True, eq=False)
class LibraryStep:
    """Calls a library on whole arrays (BLAS for dot)."""

    node: Node


@dataclass(frozen=True, slots=True, eq=False)
class HostStep:
    """Runs the NumPy reference of an operation that has a gap on this target."""

    node: Node
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep:
    """An output that NumPy would return as a view: its index operations, run by NumPy on the base array."""

    node: Node


Step: TypeAlias = "KernelStep | AliasStep | LibraryStep | HostStep | ViewStep"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The steps of a program in order.

    Pulling stops at ``leaves``; of these, ``stored`` are the nodes that get a buffer of their own.
    """

    graph: Graph
    steps: tuple[Step, ...]
    leaves: frozenset[Node]
    stored: frozenset[Node]
    reasons: tuple[str, ...]
