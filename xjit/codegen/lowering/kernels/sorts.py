"""The passes of a sort as kernels: runs that are put in order in scratch, then merges of runs in memory.

Threads share pieces of the result of each pass.  Those of a merge find their places in both runs by halving, all in
the same way.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.kernels.launch import launched
from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.codegen.lowering.merging import Merges, Place, held
from xjit.codegen.lowering.scopes import Element
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.operands import View, view_of
from xjit.fusion.plan import SortStep
from xjit.fusion.regions.materialized import is_given
from xjit.fusion.sort_passes import SCRATCH
from xjit.ir.context import CONSTANT
from xjit.ir.loops.intexpr import IntExpr, constant, minimum
from xjit.ir.loops.nodes import UNKNOWN, Access, Alloc, Argument, Buffer, Kernel, Load, LoopKind
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.types import INT64, DType


def lower_pass(step: SortStep, layouts: Layouts, stored: frozenset[Node], machine: Machine) -> LoweredKernel:
    """The loops of one pass."""
    writer = _Pass(step, layouts, stored, machine)
    if not step.targets:
        writer.note_order()
    elif step.merged:
        writer.merge_runs()
    else:
        writer.sort_runs()
    return writer.lowered()


@dataclass(eq=False)
class _Pass:
    """Writes one pass. ``pointers`` are the buffers, by name in the order of their slots."""

    step: SortStep
    layouts: Layouts
    stored: frozenset[Node]
    machine: Machine
    arguments: list[Argument] = field(default_factory=list)
    pointers: list[tuple[Node, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        step = self.step
        self.dtypes = [source.aval.dtype for source in step.sources]
        self.merges = Merges(self.machine, self.dtypes, step.ordering.before, step.run, step.node.where)
        shape = step.node.inputs[0].aval.shape
        self.axis, self.extent = step.ordering.axis, shape[step.ordering.axis]
        self.others = [size for axis, size in enumerate(shape) if axis != self.axis]
        self.pieces = -(-self.extent // step.run)
        self.n = self.word("extent", self.extent, "n")
        self.merges.captured += map(self._captured, step.node.inputs[step.ordering.moved :])

    def word(self, key: object, value: int, stem: str) -> IntExpr:
        """A number of the table."""
        return self.merges.nest.word(key, value, stem)

    # ---- buffers

    def _captured(self, node: Node) -> Element:
        if node.op is CONSTANT:
            return self.merges.elements.constant(node.param("value"))
        name = self.buffer(node, 0, (), node.aval.dtype, Access.READ)
        dtype = storage_dtype(node.aval.dtype)
        value = self.merges.elements.let(self.merges.nest.scopes[0], "x", Load(name, (), dtype), dtype, node.where)
        return held(value, node.aval.dtype, self.merges.nest.scopes[0])

    def buffer(self, node: Node, start: int, strides: Sequence[IntExpr], dtype: DType, access: Access) -> str:
        """The name of a new argument."""
        storage = storage_dtype(dtype)
        name = self.merges.nest.fresh("a" if access is Access.READ else "o")
        extents = (UNKNOWN,) * len(strides)
        self.arguments.append(Argument(Buffer(name, storage, extents, tuple(strides)), access))
        self.pointers.append((node, start * storage.itemsize))
        return name

    def lines_of(self, nodes: Sequence[Node], line: IntExpr, access: Access) -> Place:
        """One line of each of some arrays, the one with a number."""
        beside = self._coordinates(line)
        found = [self._line(node, number, line, beside, access) for number, node in enumerate(nodes)]

        def place(number: int, at: IntExpr) -> tuple[str, tuple[IntExpr, ...]]:
            name, before, behind = found[number]
            return name, (*before, at, *behind)

        return place

    def _line(
        self, node: Node, number: int, line: IntExpr, beside: Sequence[IntExpr], access: Access
    ) -> tuple[str, Sequence[IntExpr], Sequence[IntExpr]]:
        """A buffer, and the index of its elements in front of and behind the position in a line."""
        view = View(node, (), 0) if node.op is SCRATCH else self._view(node)
        if node.op is SCRATCH or self._has_packed_lines(node, view):
            return self.buffer(view.base, view.start, (self.n, constant(1)), node.aval.dtype, access), (line,), ()
        strides = [self._stride(stride, (number, access, axis)) for axis, stride in enumerate(view.strides)]
        name = self.buffer(view.base, view.start, strides, node.aval.dtype, access)
        return name, beside[: self.axis], beside[self.axis :]

    def _has_packed_lines(self, node: Node, view: View) -> bool:
        """Return whether lines follow each other without gaps, as they do in scratch."""
        shape, step = node.aval.shape, 1
        for size, stride in zip(reversed(shape), reversed(view.strides), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return self.axis == len(shape) - 1

    def _stride(self, stride: int, key: object) -> IntExpr:
        return constant(1) if stride == 1 else self.word(("stride", key), stride, "s")

    def _view(self, node: Node) -> View:
        """Return where the elements of an operand lie."""
        found = None if is_given(node) or node in self.stored else view_of(node, self.layouts)
        return found or View(node, self.layouts.strides(node), 0)

    def _coordinates(self, line: IntExpr) -> list[IntExpr]:
        """The index of a line along the other axes."""
        if len(self.others) < 2:
            return [line] * len(self.others)
        sizes = [self.word(("axis", axis), size, "m") for axis, size in enumerate(self.others)]
        found: list[IntExpr] = []
        for size in reversed(sizes[1:]):
            found.insert(0, self.merges.integer("c", line % size))
            line = self.merges.integer("l", line // size)
        return [line, *found]

    # ---- passes

    def note_order(self) -> None:
        """Note which parts of lines are in order, each up to the first element of the next one."""
        parts = self.word("parts", self.step.parts, "m")
        share = self.word("share", -(-self.extent // self.step.parts), "w")
        with self._tasks(self.step.parts, parts) as (line, part):
            source = self.lines_of(self.step.sources, line, Access.READ)
            first = self.merges.integer("first", minimum(part * share, self.n))
            count = self.merges.integer("count", minimum(self.n - first, share + 1))
            ordered = self.merges.in_order(source, first, count)
            self.merges.note(self._order(Access.WRITE), line * parts + part, ordered)

    def _order(self, access: Access) -> str:
        """The buffer of notes."""
        assert self.step.order is not None
        return self.buffer(self.step.order, 0, (constant(1),), INT64, access)

    @contextlib.contextmanager
    def _unless_in_order(self, line: IntExpr, first: IntExpr, target: Place) -> Iterator[None]:
        """The block for lines that were not in order from the beginning. Others are copied in the last pass, a run
        from an element on.
        """
        step = self.step
        if step.order is None:
            yield
            return
        parts = self.word("parts", step.parts, "m")
        there, apart = self.merges.either(self.merges.noted(self._order(Access.READ), line * parts, parts))
        if step.lines:
            with there:
                count = self.merges.integer("count", minimum(self.n - first, step.run))
                self._copy(self.lines_of(step.lines, line, Access.READ), first, target, first, count)
        with apart:
            yield

    def sort_runs(self) -> None:
        """Put runs in order: a part of a line each."""
        scratch = self._scratch()
        with self._pieces() as (line, piece):
            source = self.lines_of(self.step.sources, line, Access.READ)
            target = self.lines_of(self.step.targets, line, Access.UPDATE)
            first = self.merges.integer("first", piece * self.step.run)
            with self._unless_in_order(line, first, target):
                count = self.merges.integer("count", minimum(self.n - first, self.step.run))
                there, apart = self.merges.either(self.merges.in_order(source, first, count))
                with there:
                    self._copy(source, first, target, first, count)
                with apart:
                    start = self._sorted(source, scratch, first, count)
                    self._copy(scratch, start, target, first, count)

    def _sorted(self, source: Place, scratch: Place, first: IntExpr, count: IntExpr) -> IntExpr:
        """Sort elements in scratch; the result is where they begin there."""
        group = self.merges.group
        groups = self.merges.integer("g", count // group)
        turn, inside = self.merges.loop("q", groups)
        with inside:
            self.merges.exchange(source, scratch, first, turn, group)
        self.merges.insert(source, scratch, first, self.merges.integer("done", groups * group), count)
        return self.merges.merge_groups(scratch, count, group)

    def _copy(self, source: Place, start: IntExpr, target: Place, first: IntExpr, count: IntExpr) -> None:
        """Copy elements of all operands."""
        at, inside = self.merges.loop("t", count)
        with inside:
            self.merges.store(target, first + at, self.merges.load(source, start + at))

    def merge_runs(self) -> None:
        """Merge pairs of runs, a piece of the result in each iteration."""
        with self._pieces() as (line, piece):
            source = self.lines_of(self.step.sources, line, Access.READ)
            target = self.lines_of(self.step.targets, line, Access.UPDATE)
            with self._unless_in_order(line, piece * self.step.run, target):
                self._merge(source, target, piece)

    def _merge(self, source: Place, target: Place, piece: IntExpr) -> None:
        """Merge what one piece of the result comes from."""
        run, merged = self.step.run, self.step.merged
        pieces = self.word("pieces of a pair", 2 * merged // run, "m")
        width = self.word("merged", merged, "w")
        pair = self.merges.integer("pair", piece // pieces)
        first = self.merges.integer("first", pair * width * 2)
        middle = self.merges.integer("middle", minimum(first + width, self.n))
        count = self.merges.integer("count", minimum(self.n - first, width * 2))
        own = self.merges.integer("own", piece - pair * pieces)
        left, right, begin, end = self.merges.split(source, first, middle, count, own, pieces)
        ends = (first + left, first + right, middle + begin - left, middle + end - right)
        self.merges.merge(source, target, *ends, first + begin)

    @contextlib.contextmanager
    def _pieces(self) -> Iterator[tuple[IntExpr, IntExpr]]:
        """The loop that threads share, over the pieces of lines: the line and the number of the piece in it."""
        with self._tasks(self.pieces, self.word("pieces", self.pieces, "n")) as found:
            yield found

    @contextlib.contextmanager
    def _tasks(self, count: int, pieces: IntExpr) -> Iterator[tuple[IntExpr, IntExpr]]:
        """The same over so many pieces of each line."""
        task, inside = self.merges.loop(
            "i", self.word("tasks", count * math.prod(self.others), "n"), LoopKind.PARALLEL
        )
        with inside:
            line = self.merges.integer("line", task // pieces)
            yield line, self.merges.integer("piece", task - line * pieces)

    def _scratch(self) -> Place:
        """Memory for two runs of every operand, one behind the other."""
        names = []
        for dtype in self.dtypes:
            name = self.merges.nest.fresh("r")
            self.merges.add(Alloc(Buffer.packed(name, storage_dtype(dtype), constant(2 * self.step.run))))
            names.append(name)
        return lambda number, at: (names[number], (at,))

    # ---- the kernel

    def lowered(self) -> LoweredKernel:
        """The kernel, its buffers and the words of its table."""
        launch = launched(
            Kernel("kernel", tuple(self.arguments), tuple(self.merges.nest.scopes[0].statements)), self.merges.nest
        )
        values = dict(self.merges.nest.words.values())
        words = tuple(values[name] for name in launch.kernel.words or ())
        levels = self.step.run.bit_length() if not self.step.merged else 1
        step = 2 * self.machine.load_cost + len(self.step.ordering.before.nodes)
        work = self.step.node.inputs[0].aval.size * levels * step
        return LoweredKernel(launch.kernel, tuple(self.pointers), words, launch.extent, float(work), ())
