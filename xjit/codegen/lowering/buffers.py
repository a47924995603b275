"""The buffers of a kernel: pointers, addresses, loads and stores."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from xjit import numerics
from xjit.codegen.lowering.elements import Elements, storage_dtype
from xjit.codegen.lowering.scopes import Held, LoopBuilder, Scope
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int, constant, variable
from xjit.ir.loops.nodes import UNKNOWN, Argument, Block, Buffer, Load, Store
from xjit.ir.loops.nodes import Access as Use
from xjit.ir.loops.walk import with_indices
from xjit.ir.node import Node
from xjit.types import DType, dtype_class


@dataclass(frozen=True, slots=True)
class Window:
    """Scratch that holds the part of a value that a tile needs. ``steps`` are the distances in elements by which
    the window moves in the value from tile to tile, per loop over tiles, ``first`` where it begins for the first.
    """

    name: str
    steps: Mapping[str, int]
    first: int


Place = tuple[str, tuple[IntExpr, ...]]
"""A buffer and an index."""


@dataclass(eq=False)
class Pointers:
    """The pointers of a kernel, by the buffer, the element that they begin at and the type in which they count.

    Names are in the order of their slots. The type is another one than the buffer's where a bitcast is filled.
    Buffers that are ``overwritten`` are both read and written, through one pointer. Values with a window are in
    scratch, which has one name for all of it.
    """

    nest: LoopBuilder
    overwritten: frozenset[Node] = frozenset()
    windows: dict[Node, Window] = field(default_factory=dict)
    names: dict[tuple[Node, int, DType], str] = field(default_factory=dict)

    @property
    def written(self) -> dict[str, bool]:
        """Which pointers are stored through."""
        return self.nest.written

    @property
    def places(self) -> tuple[tuple[Node, int], ...]:
        """The buffer and the first byte, per slot."""
        return tuple((node, start * storage.itemsize) for node, start, storage in self.names)

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

        Every stride of a buffer is an axis of it; a window is one line of elements.
        """
        if any(window.name == name for window in self.windows.values()):
            return (functools.reduce(lambda place, part: place + part[0] * part[1], parts, constant(0)),)
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
        if node in self.windows:
            return self.windows[node].name
        key = (node, start, storage_dtype(node.aval.dtype if dtype is None else dtype))
        written = written or node in self.overwritten
        if key not in self.names:
            name = self.nest.fresh("o" if written else "a")
            self.names[key] = name
            self.written[name] = written
        return self.names[key]


@dataclass(eq=False)
class Buffers:
    """What one group reads and writes through the pointers of its kernel.

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
        self.interleaved = self.accesses.interleaved(self.plan.short)
        self.neighbours = {}

    def join_neighbours(self, loop: Loop) -> None:
        """Has reads that are steps along a loop apart go through one pointer."""
        late = {access: 0 for access in self.accesses.reads.values() if self._is_late(access)}
        self.joined, self.neighbours = loop, self.accesses.neighbours(loop.axes[-1], self.interleaved | late)

    def _start(self, access: Access) -> int:
        """Where the pointer of an access begins: neighbours share one."""
        if access in self.neighbours:
            return self.neighbours[access][0]
        return 0 if self._is_late(access) else self.interleaved.get(access, access.start)

    def _is_late(self, access: Access) -> bool:
        """Whether the elements are counted from a later step than the first, which would be before the buffer."""
        return access.start < 0 and self.group.has_skew

    def load(self, access: Access, scope: Scope, node: Node, written: bool) -> Held:
        """One element of a buffer, named in a scope."""
        dtype = node.aval.dtype
        name = self.pointers.pointer(access.node, self._start(access), written)
        index = self.index_of(access, name, loaded=True)
        return self.held(Load(name, index, storage_dtype(dtype)), scope, node)

    def held(self, load: Load, scope: Scope, node: Node) -> Held:
        """What a load gives, as the element of a node."""
        var = self.elements.let(scope, "x", load, load.dtype, node.where)
        return Held(None, var, scope) if load.dtype != node.aval.dtype else Held(var, None, scope)

    def index_of(self, access: Access, name: str, chunked: bool = False, loaded: bool = False) -> tuple[IntExpr, ...]:
        """The index of an access in the loops that are open; ``chunked`` ones have a result for every chunk."""
        strides: dict[str, Integer] = {}
        for loop in (*self.plan.kept, *self.plan.reduced, *self.plan.nested):
            if chunked and self.group.chunk is not None and self.group.chunk[0] in loop.axes:
                of_chunks = replace(loop, variable="k", axes=self.group.chunk[:1])
                strides["k"] = self.stride(access, name, of_chunks, "k", loaded)
            else:
                strides[loop.variable] = self.stride(access, name, loop, loop.variable, loaded)
        start = self._within_window(access, name, strides)
        moving = (*self._moving(strides), *self._behind(access, strides))
        return self.pointers.index(name, (*start, *moving, *self._standing(access, name)))

    def _moving(self, strides: Mapping[str, Integer]) -> Iterator[tuple[Integer, Integer]]:
        for name in self.nest.variables:
            stride = as_int(strides.get(name, 0))
            if stride.value != 0:
                yield stride, variable(name)

    def _behind(self, access: Access, strides: Mapping[str, Integer]) -> Iterator[tuple[Integer, Integer]]:
        if access in self.neighbours and self.joined is not None:
            yield strides[self.joined.variable], self.neighbours[access][1]

    def _standing(self, access: Access, name: str) -> Iterator[tuple[Integer, Integer]]:
        """What an address has beside the steps of loops."""
        base = self.interleaved.get(access)
        if base is not None:
            yield from ((1, access.start - base) for _ in range(access.start != base))
            return
        if self._is_late(access):
            yield 1, self.nest.word((access.node, "before", access.start), access.start, f"{name}_s")
        for stride, pull in access.lookups:
            word = 1 if stride == 1 else self.nest.word((access.node, pull, stride), stride, f"{name}_s")
            yield word, variable(self.elements.looked_up(pull).name)

    def stride(self, access: Access, name: str, loop: Loop, variable: str = "", loaded: bool = False) -> Integer:
        """The distance from one position of a loop to the next: a number of the text, or a word."""
        move = access.moves[loop.axes[-1]]
        is_close = access in self.interleaved or (
            loaded and self._is_taken_from_vectors(access.node.aval.dtype, move)
        )
        if move in (0, 1) or (is_close and abs(move) <= numerics.TINY):
            return move
        return self.nest.word((access.node, variable or loop.variable, move), move, f"{name}_s")

    def _within_window(
        self, access: Access, name: str, strides: dict[str, Integer]
    ) -> Iterable[tuple[Integer, Integer]]:
        """Counts the address of a value in scratch from where its window begins; returns the constant part."""
        window = self.pointers.windows.get(access.node)
        if window is None:
            return ()
        for tile, step in window.steps.items():
            if step:
                strides[tile] = self.nest.word((access.node, "tile", tile), -step, f"{name}_s")
        start = self._start(access) - window.first
        return ((1, self.nest.word((access.node, "start", start), start, f"{name}_c")),) if start else ()

    def pointer(self, access: Access, written: bool, dtype: DType | None = None) -> str:
        """The name of the pointer of an access, to elements of the buffer's type unless told otherwise."""
        return self.pointers.pointer(access.node, self._start(access), written, dtype)

    def put(self, access: Access, held: Held, chunked: bool = False, source: Node | None = None) -> None:
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
        """Whether baking the step makes such loads shuffles of whole vectors; not those of complex numbers."""
        most = self.nest.machine.vector_step_bytes
        return dtype_class(dtype) != "C" and (move == -1 or 0 < move * dtype.itemsize <= most)
