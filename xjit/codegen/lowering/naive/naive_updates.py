"""The naive loops of updates: each is combined with the element that is there, if it is in bounds.

    for i0 in 0 .. n0:
      x0 = a0[i0]
      if 0 <= x0 < size:
        for i1 in 0 .. n1:
          o0[x0, i1] = (o0[x0, i1] + a1[i0, i1])

Windows that hang over the edge are cut by the bounds of their loop, where that is inside of the loops over starts.

Where updates may meet along the outermost loop, threads share one along which they do not, in parts:

    parallel part in 0 .. 2:
      for i0 in 0 .. n0:
        ...
          for i1 in first .. last:
"""

from __future__ import annotations

from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.lowering.scopes import Element
from xjit.codegen.scheduling.accesses import Access
from xjit.codegen.scheduling.update_order import needed_loops, parted_axis, place_of
from xjit.dataclass import dataclass
from xjit.fusion.statements import IndexedValue, Update
from xjit.ir.index_map import relabel
from xjit.ir.loops.comparisons import all_of, within
from xjit.ir.loops.intexpr import IntExpr, as_int, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import LetInt, Load, LoopKind, Store, Value
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.lazy import lazy


@dataclass(eq=False)
class NaiveUpdates:
    """The loops of a group of updates."""

    values: GroupValues

    def __post_init__(self) -> None:
        values = self.values
        self.nest, self.bounds, self.plan, self.group = values.nest, values.bounds, values.plan, values.group
        self._place = place_of(self.group)
        self._sizes = self.group.statements[0].updated[0].aval.shape
        self._needed = needed_loops(self._place, self.plan.kept)
        self._part: Bounds = constant(0), constant(0)

    @property
    def work(self) -> float:
        """The work of all loops, in additions."""
        return self.values.accesses.work(columns=False)

    def write(self) -> None:
        """All loops."""
        if self._parted is None:
            self._inside(0)
            return
        parts = self.nest.machine.update_parts
        size = self.group.dims[self._place[self._parted].axis or 0]
        share = self.nest.word("share", -(-size // parts), "share")
        part = self.nest.open("part")
        first, last = self.nest.fresh("first"), self.nest.fresh("last")
        begin = variable("part") * share
        part.statements += [
            LetInt(first, begin),
            LetInt(last, minimum(begin + share, self.nest.word("columns", size, "columns"))),
        ]
        self._part = variable(first), variable(last)
        outermost, self.nest.outermost = self.nest.outermost, len(self.nest.scopes) - 1
        self._inside(0)
        self.nest.outermost = outermost
        self.nest.close(0, self.nest.word("parts", parts, "parts"), LoopKind.PARALLEL)

    @lazy
    def _parted(self) -> int | None:
        """The axis of the target along which threads get a part each."""
        machine = self.nest.machine
        if self.plan.shared is not None or self.work < machine.parallel_work:
            return None
        return parted_axis(self.group, machine)

    def _inside(self, depth: int) -> None:
        """Everything inside of so many loops."""
        conditions = self._known(depth)
        if conditions:
            self.nest.open_if()
        if depth == len(self.plan.kept):
            for statement, axes in zip(self.group.statements, self.group.axes, strict=True):
                assert isinstance(statement, Update)
                self._update(statement, axes)
        else:
            self._loop(depth)
        if conditions:
            self.nest.close_if(all_of(*conditions))

    def _known(self, depth: int) -> list[Value]:
        """The conditions that are known inside of so many loops, and not before."""
        axis = self._windowed(depth)
        known = [one for one, needed in enumerate(self._needed) if needed == depth and one != axis]
        return [condition for one in known for condition in self._conditions(one)]

    def _loop(self, depth: int) -> None:
        """The next loop and everything inside of it."""
        loop = self.plan.kept[depth]
        start, stop, kind = self.bounds.kept(depth)
        axis = self._windowed(depth + 1)
        if axis is not None:
            start, stop = self._window(axis, stop)
        elif self._parted is not None and self._place[self._parted].axis in loop.axes:
            start, stop = self._part
        self.nest.open(loop.variable, loop.axes)
        self._inside(depth + 1)
        self.nest.close(start, stop, kind if axis is None else LoopKind.SERIAL)

    # ------------------------------------------------------------------ what is in bounds

    def _windowed(self, depth: int) -> int | None:
        """The axis of the target along which the innermost loop is a window, with a start that is known."""
        if not depth:
            return None
        (own,) = self.plan.kept[depth - 1].axes
        for axis, map in enumerate(self._place):
            if map.axis == own and map.scale == 1 and map.found and self._starts_before(map, depth):
                return axis
        return None

    def _starts_before(self, map: AxisMap, depth: int) -> bool:
        """Return whether the start of a window is known outside of the innermost of so many loops."""
        return needed_loops((AxisMap(None, 1, 0, map.found),), self.plan.kept)[0] < depth

    def _window(self, axis: int, stop: IntExpr) -> Bounds:
        """The bounds of a loop over a window that cut it at the edges of the target."""
        start = self._start(axis)
        return maximum(constant(0), constant(0) - start), minimum(stop, self._size(axis) - start)

    def _conditions(self, axis: int) -> list[Value]:
        """Conditions on the position along an axis of the target, of which more than the loop is unknown."""
        map = self._place[axis]
        if not map.found:
            return []
        position = self._start(axis)
        if map.axis is not None and (name := self.values.elements.position(map.axis)) is not None:
            position = position + variable(name) * map.scale
        return list(within(position, self._size(axis)))

    def _start(self, axis: int) -> IntExpr:
        """The position along an axis of the target without that of the window."""
        map = self._place[axis]
        position = as_int(map.offset)
        for one in map.found:
            found = self.values.elements.looked_up(IndexedValue(one.source, one.axes))
            position = position + variable(found.name) * one.times
        return position

    def _size(self, axis: int) -> IntExpr:
        return self.nest.word(("size", axis), self._sizes[axis], "size")

    # ------------------------------------------------------------------ one update

    def _update(self, statement: Update, axes: dict[int, int]) -> None:
        """Combines one element, which is there, with its updates."""
        elements, scope, target = self.values.elements, self.nest.inner, statement.target
        new = [elements.value(IndexedValue(one.node, relabel(one.index, axes))) for one in statement.values]
        places = [self.values.buffers.place(self._access(node)) for node in statement.updated]
        old: list[Element] = []
        for (name, index), node in zip(places, statement.updated, strict=True):
            load = Load(name, index, storage_dtype(node.aval.dtype))
            old.append(self.values.buffers.held(load, scope, node))
        results = elements.inline(target.param("computation"), [*old, *new], scope)
        for (name, index), node, held in zip(places, statement.updated, results, strict=True):
            value = elements.bits(held, node.aval.dtype, target.where)
            scope.statements.append(Store(name, index, value, target.where))

    def _access(self, node: Node) -> Access:
        return self.values.accesses.access(IndexedValue(node, self._place))
