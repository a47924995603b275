"""The buffers of a kernel: pointers, addresses, loads and stores."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from xjit import numerics
from xjit.codegen.lowering.elements import Elements, storage_dtype
from xjit.codegen.lowering.scopes import Element, LoopBuilder, Scope
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import FusionGroup
from xjit.fusion.regions.materialized import view_chain
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int, constant, variable
from xjit.ir.loops.nodes import UNKNOWN, Argument, Block, Buffer, Load, Prim, Store
from xjit.ir.loops.nodes import Access as Use
from xjit.ir.loops.walk import with_indices
from xjit.ir.node import Node
from xjit.ops.define.memory_order import PACK
from xjit.types import BOOL, DType, dtype_class

Place = tuple[str, tuple[IntExpr, ...]]
"""A buffer and an index."""


@dataclass(eq=False)
class Pointers:
    """The pointers of a kernel, by the buffer, the element that they begin at and the type in which they count.

    Names are in the order of their slots. The type is another one than the buffer's where a bitcast is filled.
    Values ``inside`` of the kernel are in scratch, which has one name for all of it.
    """

    nest: LoopBuilder
    inside: dict[Node, str] = field(default_factory=dict)
    names: dict[tuple[Node, int, DType], str] = field(default_factory=dict)

    @property
    def written(self) -> dict[str, bool]:
        """Which pointers are stored through."""
        return self.nest.written

    @property
    def by_node(self) -> dict[Node, list[str]]:
        """The names of the pointers to each buffer."""
        found: dict[Node, list[str]] = {}
        for (node, _, _), name in self.names.items():
            found.setdefault(node, []).append(name)
        return found

    @property
    def in_one_memory(self) -> frozenset[tuple[str, str]]:
        """Pairs of names: what is stored through the first may be what is read through the second.

        An update in place has a pointer of its own, beside that to the value it is made of.
        """
        memory = {name: _memory_of(node) for (node, _, _), name in self.names.items()}
        pairs = itertools.product(filter(self.written.__getitem__, memory), memory)
        return frozenset((one, other) for one, other in pairs if one != other and memory[one] is memory[other])

    def places(self, names: Collection[str]) -> tuple[tuple[Node, int], ...]:
        """The buffer and the first byte, per slot, of pointers that a kernel has."""
        return tuple(
            (node, start * storage.itemsize) for (node, start, storage), name in self.names.items() if name in names
        )

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The pointers as the kernel declares them."""
        return tuple(
            Argument(self._buffer(name, storage), Use.UPDATE if self.written[name] else Use.READ)
            for (_, _, storage), name in self.names.items()
        )

    def _buffer(self, name: str, storage: DType) -> Buffer:
        strides = tuple(self.nest.axes.get(name, ()))
        return Buffer(name, storage, (UNKNOWN,) * len(strides), strides)

    def index(self, name: str, parts: Iterable[tuple[Integer, Integer]]) -> tuple[IntExpr, ...]:
        """The index of an element that lies ``stride * at`` elements from the first one, summed over (stride, at).

        Every stride of a buffer is an axis of it.
        """
        axes, found = self.nest.axes.setdefault(name, []), dict[IntExpr, IntExpr]()
        for stride, at in parts:
            axis = as_int(stride)
            found[axis] = found.get(axis, constant(0)) + at
            if axis not in axes:
                axes.append(axis)
        return tuple(found.get(axis, constant(0)) for axis in axes)

    def with_all_axes(self, block: Block) -> Block:
        """The statements with indices along the axes of buffers that came up after they were written."""

        def padded(name: str, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
            return (*index, *(constant(0) for _ in self.nest.axes.get(name, ())[len(index) :]))

        return with_indices(block, padded)

    def pointer(self, node: Node, start: int, written: bool, dtype: DType | None = None) -> str:
        """The name of the pointer to a buffer from some element on, of the buffer's type unless told otherwise."""
        if node in self.inside:
            return self.inside[node]
        key = (node, start, storage_dtype(node.aval.dtype if dtype is None else dtype))
        if key not in self.names:
            name = self.nest.fresh("o" if written else "a")
            self.names[key] = name
            self.written[name] = written
        return self.names[key]


def _memory_of(node: Node) -> Node:
    """The value whose memory a value is in, as far as updates and copies in front of them are in place."""
    while True:
        (base, *_) = view_chain(node)
        held = held_by(base)
        if held is base and base.op is not PACK:
            return base
        node = held.inputs[0]


@dataclass(eq=False)
class Buffers:
    """The reads and writes of one group through the pointers of its kernel.

    Reads that are ``neighbours`` along the ``joined`` loop have one pointer: where that begins, and how many steps
    they are behind.
    """

    nest: LoopBuilder
    elements: Elements
    plan: Schedule
    group: FusionGroup
    accesses: GroupAccesses
    pointers: Pointers
    interleaved: dict[Access, int] = field(init=False)
    neighbours: dict[Access, tuple[int, int]] = field(init=False)
    joined: Loop | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.interleaved, self.neighbours = self.accesses.interleaved(self.plan.short), {}

    def join_neighbours(self, loop: Loop) -> None:
        """Has reads that are steps along a loop apart go through one pointer."""
        late = {access: 0 for access in self.accesses.reads.values() if self._is_late(access)}
        self.joined, self.neighbours = loop, self.accesses.neighbours(loop.axes[-1], self.interleaved | late)

    def _start(self, access: Access) -> int:
        """The first element behind the pointer of an access: neighbours share one."""
        if access in self.neighbours:
            return self.neighbours[access][0]
        return 0 if self._is_late(access) else self.interleaved.get(access, access.start)

    def _is_late(self, access: Access) -> bool:
        """Return whether the elements are counted from a later step than the first, which would be before the
        buffer.
        """
        return access.start < 0 and (self.group.has_skew or self.group.adds_products)

    def load(
        self, access: Access, scope: Scope, node: Node, written: bool, condition: Element | None = None
    ) -> Element:
        """One element of a buffer, named in a scope, or further in where the condition to read it is."""
        dtype = node.aval.dtype
        name = self.pointers.pointer(access.node, self._start(access), written)
        index = self.index_of(access, name, loaded=True)
        load: Load | Prim = Load(name, index, storage_dtype(dtype))
        if condition is not None:
            load = Prim("load_where", (self.elements.plain(condition, BOOL, node.where), load), load.dtype)
            scope = self.nest.innermost((scope, condition.scope))
        return self.held(load, scope, node)

    def held(self, load: Load | Prim, scope: Scope, node: Node) -> Element:
        """The result of a load as the element of a node."""
        var = self.elements.let(scope, "x", load, load.dtype, node.where)
        return Element(None, var, scope) if load.dtype != node.aval.dtype else Element(var, None, scope)

    def index_of(self, access: Access, name: str, chunked: bool = False, loaded: bool = False) -> tuple[IntExpr, ...]:
        """The index of an access in the loops that are open; ``chunked`` ones have a result for every chunk."""
        if access.along:
            return tuple(self._position(access, axis, loaded) for axis in range(len(access.along)))
        strides: dict[str, Integer] = {}
        for loop in (*self.plan.kept, *self.plan.reduced, *self.plan.nested):
            if chunked and self.group.chunk is not None and self.group.chunk[0] in loop.axes:
                of_chunks = replace(loop, variable="k", axes=self.group.chunk[:1])
                strides["k"] = self.stride(access, name, of_chunks, "k", loaded)
            else:
                strides[loop.variable] = self.stride(access, name, loop, loop.variable, loaded)
        return self.pointers.index(
            name, (*self._moving(strides), *self._behind(access, strides), *self._standing(access, name))
        )

    def _position(self, access: Access, number: int, loaded: bool) -> IntExpr:
        """The index of an access along an axis of scratch."""
        axis, along = self.accesses.tiles.values[access.node][number], access.along[number]
        name = self.pointers.inside[access.node]
        if axis.tiled is not None:
            return self._in_tile(axis.tiled, along)
        near = access in self.interleaved or axis.extent <= numerics.TINY
        loops = (*self.plan.kept, *self.plan.reduced)
        strides = {loop.variable: self._stride(along, name, loop, loaded, near) for loop in loops}
        start = as_int(along.start)
        if along.start and not near:
            start = self.nest.word((access.node, "start", number, along.start), along.start, f"{name}_c")
        parts = (*self._moving(strides), *self._found(along, name))
        return functools.reduce(lambda place, part: place + part[0] * part[1], parts, start)

    def _in_tile(self, axis: int, along: Access) -> IntExpr:
        """The position of the group's loop over a tiled axis, counted in the whole value, and how far it is off."""
        loop = next(one for one in (*self.plan.single, *self.plan.kept) if axis in one.axes)
        origin = self.group.statements[0].domain.begin[axis]
        first = self.nest.word(("origin", axis), origin, "first") if origin else 0
        return variable(loop.variable) + first + (along.start - origin)

    def _moving(self, strides: Mapping[str, Integer]) -> Iterator[tuple[Integer, Integer]]:
        for name in self.nest.variables:
            stride = as_int(strides.get(name, 0))
            if stride.value != 0:
                yield stride, variable(name)

    def _behind(self, access: Access, strides: Mapping[str, Integer]) -> Iterator[tuple[Integer, Integer]]:
        if access in self.neighbours and self.joined is not None:
            yield strides[self.joined.variable], self.neighbours[access][1]

    def _standing(self, access: Access, name: str) -> Iterator[tuple[Integer, Integer]]:
        """The parts of an address beside the steps of loops."""
        base = self.interleaved.get(access)
        if base is not None:
            yield from ((1, access.start - base) for _ in range(access.start != base))
            return
        if self._is_late(access):
            yield 1, self.nest.word((access.node, "before", access.start), access.start, f"{name}_s")
        yield from self._found(access, name)

    def _found(self, access: Access, name: str) -> Iterator[tuple[Integer, Integer]]:
        """The parts of an address from positions found in data."""
        for stride, pull in access.lookups:
            word = 1 if stride == 1 else self.nest.word((access.node, pull, stride), stride, f"{name}_s")
            yield word, variable(self.elements.looked_up(pull).name)

    def stride(self, access: Access, name: str, loop: Loop, variable: str = "", loaded: bool = False) -> Integer:
        """The distance from one position of a loop to the next: a number of the text, or a word."""
        near = access in self.interleaved
        if loop.variable in self.plan.rows:
            inside = self.plan.kept[self.plan.kept.index(loop) + 1]
            return self._stride(access, name, inside, loaded, near) * self.nest.row(inside.extent)
        return self._stride(access, name, loop, loaded, near, variable)

    def _stride(self, access: Access, name: str, loop: Loop, loaded: bool, near: bool, variable: str = "") -> Integer:
        move = access.moves[loop.axes[-1]]
        is_close = near or (loaded and self._is_taken_from_vectors(access.node.aval.dtype, move))
        if move in (0, 1) or (is_close and abs(move) <= numerics.TINY):
            return move
        return self.nest.word((access.node, variable or loop.variable, move), move, f"{name}_s")

    def pointer(self, access: Access, written: bool, dtype: DType | None = None) -> str:
        """The name of the pointer of an access, to elements of the buffer's type unless told otherwise."""
        return self.pointers.pointer(access.node, self._start(access), written, dtype)

    def put(self, access: Access, held: Element, chunked: bool = False, source: Node | None = None) -> None:
        """Stores one element; ``source`` is the node whose type it has, where that is not the buffer's own."""
        node = access.node
        dtype = node.aval.dtype if source is None else source.aval.dtype
        name = self.pointer(access, True, dtype)
        value = self.elements.bits(held, dtype, node.where)
        index = self.index_of(access, name, chunked)
        self.nest.inner.statements.append(Store(name, index, value, node.where))

    def place(self, access: Access) -> Place:
        """The pointer and the index of an element that is written."""
        name = self.pointers.pointer(access.node, self._start(access), True)
        return name, self.index_of(access, name)

    def _is_taken_from_vectors(self, dtype: DType, move: int) -> bool:
        """Return whether baking the step makes such loads shuffles of whole vectors; not those of complex numbers."""
        most = self.nest.machine.vector_step_bytes
        return dtype_class(dtype) != "C" and (move == -1 or 0 < move * dtype.itemsize <= most)
