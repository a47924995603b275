"""Statements: the five kinds of things that a loop nest computes, each over an affine domain.

``x + 1`` is a store, ``x.max(axis=0)`` a reduction, ``np.cumsum(x * 2, axis=1)`` a scan, ``np.add.at(x, i, y)`` an
update, and that ``rows`` lie within ``x`` for ``x[rows]`` a check.  Each takes ``values``, read at affine functions
of the position in its domain::

    Store(x + 1   -> out[i, j])                 every element by itself
    Reduce(x      -> max over i)                 one result for each j
    Scan(x * 2    -> out[i, j], along j)        what it has got so far, at every step
    Update(y      -> x[rows[i]])                 combined with what is there, one after the other
    Check(0 <= rows < n)                        a status that is set where it does not hold
"""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self, TypeAlias

from xjit.dataclass import dataclass, replace
from xjit.ir.index_map import Index, changed, lookups_of, relabel
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Lookup
from xjit.numerics import SumOrder, in_turn, sum_order
from xjit.types import dtype_class

if TYPE_CHECKING:

    @dataclass(frozen=True, slots=True)
    class IndexedValue:
        """A value and where it is read, in the axes of the domain it is inlined into."""

        node: Node
        index: Index

else:  # a tuple, as planning makes and compares thousands; its method ``index`` has no use
    IndexedValue = namedtuple("IndexedValue", ("node", "index"))


@dataclass(frozen=True, slots=True)
class Domain:
    """The positions that a statement runs over, and where they lie in the domain that it is a part of.

    ``fixed`` = ((axis, position), ...) are axes of which the statement is one position: they have an extent of one.
    ``origin`` is the first position along every axis, beside these; empty: the statement is no part. ``skew`` is how
    many steps of a scan in the same loops it runs behind, its elements counted from there; None if it runs at every
    step of its loops. ``nested`` are reductions that run inside, one loop nest for each of their results: each with
    the first of the axes, after all others, that it reduces. ``limits`` = ((axis, integer), ...) are axes along which
    the run says how many positions there are, counted from the origin of the whole.
    """

    extents: tuple[int, ...]
    fixed: tuple[tuple[int, int], ...] = ()
    origin: tuple[int, ...] = ()
    skew: int | None = None
    nested: tuple[tuple[Node, int], ...] = ()
    limits: tuple[tuple[int, Node], ...] = ()

    @property
    def rank(self) -> int:
        """The number of axes of the statement's own, without those of nested reductions."""
        return min((first for _, first in self.nested), default=len(self.extents))

    @property
    def stops(self) -> dict[int, tuple[Node, int]]:
        """The axes with a limit: its node, and how many positions of the whole come before the domain's."""
        begin = self.begin
        return {axis: (limit, begin[axis]) for axis, limit in self.limits}

    @property
    def is_whole(self) -> bool:
        """Return whether the domain is no single position and no piece of another one."""
        return not (self.fixed or self.origin)

    @property
    def begin(self) -> tuple[int, ...]:
        """The origin, also of what is no part."""
        return self.origin or (0,) * len(self.extents)

    @property
    def corner(self) -> tuple[int, ...]:
        """The first position along every axis, of those that are fixed the one there is."""
        fixed = dict(self.fixed)
        return tuple(first + fixed.get(axis, 0) for axis, first in enumerate(self.begin))

    def part(self, first: tuple[int, ...], extents: tuple[int, ...]) -> Domain:
        """The part of these extents that begins ``first`` steps further along every axis."""
        origin = tuple(a + b for a, b in zip(self.begin, first, strict=True))
        return replace(self, extents=extents, origin=origin)

    def at(self, positions: Mapping[int, int]) -> Domain:
        """The single positions along some axes."""
        extents = tuple(1 if axis in positions else size for axis, size in enumerate(self.extents))
        return replace(self, extents=extents, fixed=(*self.fixed, *positions.items()))

    def skewed(self, steps: int) -> Domain:
        """The same so many steps behind the scans of its loops."""
        return replace(self, skew=steps)

    def around(self, reduction: Node, extents: tuple[int, ...]) -> Domain:
        """The same with further axes for a reduction that runs inside."""
        nested = (*self.nested, (reduction, len(self.extents)))
        origin = (*self.origin, *(0 for _ in extents)) if self.origin else ()
        return replace(self, extents=(*self.extents, *extents), origin=origin, nested=nested)


@dataclass(frozen=True, slots=True)
class Output:
    """The elements of a buffer that a domain fills: axis d moves by ``strides[d]`` of them, from ``start`` on.

    ``found`` are integers from data, times a number of elements, by which all of it lies further on.
    """

    target: Node
    strides: tuple[int, ...]
    start: int = 0
    found: tuple[Lookup, ...] = ()

    def moved(self, first: tuple[int, ...]) -> Output:
        """The same, so many steps further along every axis."""
        ahead = sum(stride * steps for stride, steps in zip(self.strides, first[: len(self.strides)], strict=True))
        return replace(self, start=self.start + ahead)


@dataclass(frozen=True, slots=True, eq=False)
class _Statement:
    """All kinds have: a domain, and the values taken at every position of it."""

    domain: Domain
    values: tuple[IndexedValue, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """The extents of the domain."""
        return self.domain.extents

    @property
    def rank(self) -> int:
        """The number of axes of the domain without those of nested reductions."""
        return self.domain.rank

    @property
    def reduced(self) -> tuple[int, ...]:
        """The axes along which positions are combined."""
        return ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The other axes."""
        return tuple(axis for axis in range(self.rank) if axis not in self.reduced)

    @property
    def places(self) -> tuple[int, ...]:
        """The axes along which results lie."""
        return tuple(range(self.rank))

    @property
    def sums(self) -> SumOrder | None:
        """The order of a reduction whose bits depend on it: of a sum or product of floats."""
        return None

    @property
    def is_search(self) -> bool:
        """Return whether it looks for the place of an extreme, for which it computes some values a second time."""
        return False

    @property
    def reads_twice(self) -> bool:
        """Return whether it reads its operands in loops besides that of its pass."""
        return False

    @property
    def chunk(self) -> tuple[int, int] | None:
        """(axis, size) of the chunks with a result each that a reduced axis is cut into."""
        return None

    @property
    def chunk_number(self) -> IndexedValue | None:
        """The number of the chunk at hand, as its other results are looked up by."""
        return None

    @property
    def makes_target(self) -> bool:
        """Return whether its positions are those of the target, which makes its elements there, and not of an
        operand.
        """
        return True

    @property
    def positions(self) -> tuple[IndexedValue, ...]:
        """The integers from data that say which elements it writes, and where its loops end."""
        return _limits_of(self)

    @property
    def updated(self) -> tuple[Node, ...]:
        """The values that are there before, and of which it changes elements."""
        return ()

    def over(self, domain: Domain, first: tuple[int, ...]) -> Self:
        """The same over a part of the domain that begins so many steps further along every axis."""
        further = functools.partial(_further, first, domain.extents)
        values = tuple(IndexedValue(indexed.node, changed(indexed.index, further)) for indexed in self.values)
        return replace(self, domain=domain, values=values)

    def part(self, first: tuple[int, ...], extents: tuple[int, ...]) -> Self:
        """The part of these extents that begins so many steps further along every axis."""
        return self.over(self.domain.part(first, extents), first)

    def moved(self, axis: int, steps: int) -> Self:
        """The same with all positions so many steps further along an axis."""
        return self.part(tuple(steps * (place == axis) for place in range(len(self.dims))), self.dims)

    def skewed(self, axis: int, steps: int) -> Self:
        """The same so many steps behind scans along an axis: its positions are counted from where these begin."""
        first = tuple(-steps * (place == axis) for place in range(len(self.dims)))
        return self.over(self.domain.part(first, self.dims).skewed(steps), first)

    def at(self, positions: Mapping[int, int]) -> Self:
        """The statement at single positions along some axes."""
        first = tuple(positions.get(axis, 0) for axis in range(len(self.dims)))
        return self.over(self.domain.at(positions), first)

    def made_at(self, axes: Mapping[int, int]) -> Index | None:
        """The index, in the axes of a kernel, at which the target is made; None where it is stored elsewhere."""
        if not self.makes_target:
            return None
        corner, begin = self.domain.corner, self.domain.begin
        index = tuple(
            AxisMap(None, 1, corner[axis]) if self.dims[axis] == 1 else AxisMap(axes[axis], 1, begin[axis])
            for axis in self.places
        )
        number = self.chunk_number
        if number is None:
            return index
        return (*index, AxisMap(None, 1, 0, (Lookup(number.node, relabel(number.index, dict(axes))),)))


def _limits_of(statement: _Statement) -> tuple[IndexedValue, ...]:
    return tuple([IndexedValue(limit, ()) for _, limit in statement.domain.limits])


def _further(first: tuple[int, ...], extents: tuple[int, ...], axis: int) -> AxisMap:
    return AxisMap(None if extents[axis] == 1 else axis, 1, first[axis])


@dataclass(frozen=True, slots=True, eq=False)
class _Stored(_Statement):
    """A statement that writes an element at every position."""

    output: Output

    @property
    def target(self) -> Node:
        """The node whose buffer is written."""
        return self.output.target

    def over(self, domain: Domain, first: tuple[int, ...]) -> Self:
        """The same over a part of the domain, stored there."""
        output = self.output.moved(first)
        if output.found:
            further = functools.partial(_further, first, self.dims)
            found = (Lookup(one.source, changed(one.axes, further), one.times) for one in output.found)
            output = replace(output, found=tuple(found))
        return replace(_Statement.over(self, domain, first), output=output)

    @property
    def positions(self) -> tuple[IndexedValue, ...]:
        """The integers from data that say which elements it writes, and where its loops end."""
        found = tuple([IndexedValue(one.source, one.axes) for one in self.output.found])
        return (*found, *_limits_of(self))

    @property
    def updated(self) -> tuple[Node, ...]:
        """The values that are there before, and of which it changes elements."""
        return self.target.updated

    def to(self, output: Output) -> Self:
        """The same stored elsewhere."""
        return replace(self, output=output)


@dataclass(frozen=True, slots=True, eq=False)
class Store(_Stored):
    """Stores a value, every element by itself."""

    @property
    def makes_target(self) -> bool:
        """Return whether its positions are those of the target: it does not refill those of an operand."""
        return self.values[0].node is self.target


@dataclass(frozen=True, slots=True, eq=False)
class Scan(_Stored):
    """Walks one axis in order and stores what it has got so far at every step."""

    axis: int

    @property
    def reduced(self) -> tuple[int, ...]:
        """The axis."""
        return (self.axis,)


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(_Statement):
    """Folds values (operands, then initial values) over axes, which may be none."""

    target: Node
    axes: tuple[int, ...]
    chunk: tuple[int, int] | None = None

    @property
    def reduced(self) -> tuple[int, ...]:
        """The axes that it folds over."""
        return self.axes

    @property
    def places(self) -> tuple[int, ...]:
        """The axes that it does not fold over."""
        return self.kept

    @property
    def is_search(self) -> bool:
        """Return whether it looks for the place of an extreme."""
        return dict(self.target.params).get("extreme") is not None

    @property
    def reads_twice(self) -> bool:
        """Return whether it is a search, or of a length that only the run knows: few elements are added in turn."""
        return self.is_search or bool(self.domain.limits)

    @property
    def adds_products(self) -> bool:
        """Return whether it adds up products of two operands."""
        reducer = dict(self.target.params).get("reducer")
        return reducer is not None and reducer.factors

    @property
    def sums(self) -> SumOrder | None:
        """The order of a sum or product of floats, and of products of any numbers."""
        if self.adds_products:
            return in_turn(self.dims, self.axes)
        reducer = dict(self.target.params).get("reducer")
        operand = self.values[0].node.aval
        if reducer is None or not reducer.reassociates or dtype_class(operand.dtype) != "F":
            return None
        order = sum_order(operand, self.target.param("dims"))
        return order if self.chunk is None else order.within(self.chunk[0])

    @property
    def chunk_number(self) -> IndexedValue | None:
        """The number of the chunk at hand, as its other results are looked up by."""
        return None if self.chunk is None else IndexedValue(self.target.inputs[2], (AxisMap(self.chunk[0]),))


@dataclass(frozen=True, slots=True, eq=False)
class Check(_Statement):
    """Evaluates a condition everywhere; ``target`` is the status that is set if it does not hold."""

    target: Node

    @property
    def makes_target(self) -> bool:
        """A status has no elements."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Update(_Statement):
    """Combines values (updates, then what the computation closes over) with elements of buffers that are there.

    ``place`` says which element, where there is one: it may lie outside. Of one element the updates are combined in
    the order of the domain, row by row.
    """

    target: Node
    place: Index

    @property
    def makes_target(self) -> bool:
        """Its positions are those of the updates."""
        return False

    @property
    def positions(self) -> tuple[IndexedValue, ...]:
        """The integers from data that say which elements it changes."""
        return tuple([IndexedValue(one.source, one.axes) for one in lookups_of(self.place)])

    @property
    def updated(self) -> tuple[Node, ...]:
        """The values whose elements it changes."""
        return self.target.updated


Statement: TypeAlias = Store | Scan | Reduce | Check | Update
