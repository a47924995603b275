"""The buffers of a kernel: pointers, addresses, loads and stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xjit.codegen.accesses import Access, GroupAccesses
from xjit.codegen.elements import Elements, storage_dtype
from xjit.codegen.kinds import STEPS
from xjit.codegen.scalar_text import kind
from xjit.codegen.schedule import Loop, Schedule
from xjit.codegen.scopes import Held, Nest, Scope
from xjit.codegen.step_loads import TYPES
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops import Argument, Load, Offset, Store, Term
from xjit.ir.node import Node
from xjit.passes.split import TINY
from xjit.types import DType, dtype_class

# Steps of a load, in bytes, up to which LLVM takes the elements out of whole vectors, once the text has the step.
# Of longer ones, and backwards ones but -1, it makes gathers, of stores scatters: scalar code beats both.
WIDE_STEP = 32


@dataclass(frozen=True, slots=True)
class Window:
    """Scratch that holds the part of a value that a tile needs. ``steps`` are the distances in elements by which
    the window moves in the value from tile to tile, per loop over tiles, ``first`` where it begins for the first.
    """

    name: str
    steps: Mapping[str, int]
    first: int


@dataclass(eq=False)
class Pointers:
    """The pointers of a kernel, by the buffer, the element that they begin at and the type in which they count.

    Names are in the order of their slots. The type is another one than the buffer's where a bitcast is filled.
    Buffers that are ``overwritten`` are both read and written, through one pointer. Values with a window are in
    scratch, which has one name for all of it.
    """

    nest: Nest
    overwritten: frozenset[Node] = frozenset()
    windows: dict[Node, Window] = field(default_factory=dict)
    names: dict[tuple[Node, int, DType], str] = field(default_factory=dict)
    written: dict[str, bool] = field(default_factory=dict)

    @property
    def places(self) -> tuple[tuple[Node, int], ...]:
        """The buffer and the first byte, per slot."""
        return tuple((node, start * storage.itemsize) for node, start, storage in self.names)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The pointers as the kernel declares them."""
        return tuple(
            Argument(name, storage, slot, self.written[name])
            for slot, ((_, _, storage), name) in enumerate(self.names.items())
        )

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
    """What one group reads and writes through the pointers of its kernel; ``packed`` is read from scratch.

    While a loop adds lane by lane it is ``skipping`` the elements between those that it reads.
    """

    nest: Nest
    elements: Elements
    plan: Schedule
    group: FusionGroup
    accesses: GroupAccesses
    pointers: Pointers
    interleaved: dict[Access, int] = field(init=False)
    packed: dict[Access, tuple[str, Offset]] = field(init=False)
    skipping: Loop | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.interleaved = self.accesses.interleaved()
        self.packed = {}

    def _start(self, access: Access) -> int:
        """Where the pointer of an access begins: neighbours share one."""
        return 0 if self._is_late(access) else self.interleaved.get(access, access.start)

    def _is_late(self, access: Access) -> bool:
        """Whether the elements are counted from a later step than the first, which would be before the buffer."""
        return access.start < 0 and self.group.has_skew

    def holds(self, access: Access) -> bool:
        """Whether the elements of an access are in scratch while their loop runs."""
        return access in self.packed

    def load(self, access: Access, scope: Scope, node: Node, written: bool) -> Held:
        """One element of a buffer, named in a scope."""
        dtype = node.aval.dtype
        if access in self.packed:
            return self.held(Load(*self.packed[access], storage_dtype(dtype), True), scope, node)
        name = self.pointers.pointer(access.node, self._start(access), written)
        offset = self.offset_of(access, name, loaded=True)
        written = self.pointers.written.get(name, True)  # scratch is
        loop = self.skipping
        apart = access.moves[loop.axes[-1]] if loop is not None and self._is_skipped(access, loop) else 0
        return self.held(Load(name, offset, storage_dtype(dtype), written, apart), scope, node)

    def leaves_gaps(self, loop: Loop) -> bool:
        """Whether elements are read along a loop that lie apart, nothing reads those between, and loads of whole
        vectors do not skip them.
        """
        axis = loop.axes[-1]
        return any(
            abs(access.moves[axis]) > 1 and not (self._is_skipped(access, loop) or self._has_neighbours(access, axis))
            for access in self.accesses.reads.values()
        )

    def _is_skipped(self, access: Access, loop: Loop) -> bool:
        """Whether loads take elements that lie apart along a loop out of whole vectors, which nobody else reads."""
        dtype, step = storage_dtype(access.node.aval.dtype), access.moves[loop.axes[-1]]
        written = {write.node for write in self.accesses.writes if write is not None}
        held = access.node in written | self.pointers.overwritten | self.pointers.windows.keys()
        if held or access.lookups or step not in STEPS or not _is_taken_from_vectors(dtype, step):
            return False
        return kind(dtype) in TYPES and not self._has_neighbours(access, loop.axes[-1])

    def _has_neighbours(self, access: Access, axis: int) -> bool:
        """Whether the elements between are read as well, so that whole vectors are."""
        alike = [
            other
            for other in self.interleaved
            if (other.node, other.moves) == (access.node, access.moves)
            and self.interleaved[other] == self.interleaved.get(access)
        ]
        return len(alike) == abs(access.moves[axis])

    def held(self, load: Load, scope: Scope, node: Node) -> Held:
        """What a load gives, as the element of a node."""
        var = self.elements.let(scope, "x", load, load.dtype, node.where)
        return Held(None, var, scope) if load.dtype != node.aval.dtype else Held(var, None, scope)

    def offset_of(self, access: Access, name: str, chunked: bool = False, loaded: bool = False) -> Offset:
        """The address of an access in the loops that are open; ``chunked`` ones have a result for every chunk."""
        strides: dict[str, str | int] = {}
        base = self.interleaved.get(access)
        for loop in (*self.plan.kept, *self.plan.reduced, *self.plan.nested):
            if chunked and self.group.chunk is not None and self.group.chunk[0] in loop.axes:
                of_chunks = replace(loop, variable="k", axes=self.group.chunk[:1])
                strides["k"] = self.stride(access, name, of_chunks, "k", loaded)
            else:
                strides[loop.variable] = self.stride(access, name, loop, loop.variable, loaded)
        start = self._within_window(access, name, strides)
        offset = self.nest.offset((name, access.moves, start), name, strides, start)
        if base is not None:
            return Offset(offset.terms, access.start - base)
        return Offset((*offset.terms, *self._before(access, name), *self._lookups(access, name)))

    def _before(self, access: Access, name: str) -> Iterator[Term]:
        """The distance to that place."""
        if self._is_late(access):
            yield Term(self.nest.word((access.node, "before", access.start), access.start, f"{name}_s"), 1)

    def stride(self, access: Access, name: str, loop: Loop, variable: str = "", loaded: bool = False) -> str | int:
        """The distance from one position of a loop to the next: an integer of the text, or the name of a word."""
        move = access.moves[loop.axes[-1]]
        is_close = access in self.interleaved or (loaded and _is_taken_from_vectors(access.node.aval.dtype, move))
        if move in (0, 1) or (is_close and abs(move) <= TINY):
            return move
        return self.nest.word((access.node, variable or loop.variable, move), move, f"{name}_s")

    def _within_window(self, access: Access, name: str, strides: dict[str, str | int]) -> str:
        """Counts the address of a value in scratch from where its window begins; the name of the constant part."""
        window = self.pointers.windows.get(access.node)
        if window is None:
            return ""
        for variable, step in window.steps.items():
            if step:
                strides[variable] = self.nest.word((access.node, "tile", variable), -step, f"{name}_s")
        start = self._start(access) - window.first
        return self.nest.word((access.node, "start", start), start, f"{name}_c") if start else ""

    def _lookups(self, access: Access, name: str) -> Iterator[Term]:
        for stride, indexed in access.lookups:
            word = 1 if stride == 1 else self.nest.word((access.node, indexed, stride), stride, f"{name}_s")
            yield Term(self.elements.looked_up(indexed).name, word)

    def pointer(self, access: Access, written: bool, dtype: DType | None = None) -> str:
        """The name of the pointer of an access, to elements of the buffer's type unless told otherwise."""
        return self.pointers.pointer(access.node, self._start(access), written, dtype)

    def put(self, access: Access, held: Held, chunked: bool = False, source: Node | None = None) -> None:
        """Stores one element; ``source`` is the node whose type it has, where that is not the buffer's own."""
        node = access.node
        dtype = node.aval.dtype if source is None else source.aval.dtype
        storage = storage_dtype(dtype)
        name = self.pointer(access, True, dtype)
        value = self.elements.bits(held, dtype, node.where)
        offset = self.offset_of(access, name, chunked)
        self.nest.inner.statements.append(Store(name, offset, value, storage, node.where))

    def place(self, access: Access) -> tuple[str, Offset]:
        """The pointer and the address of an element that is written."""
        name = self.pointers.pointer(access.node, self._start(access), True)
        return name, self.offset_of(access, name)


def _is_taken_from_vectors(dtype: DType, move: int) -> bool:
    """Whether baking the step makes such loads shuffles of whole vectors; those of complex numbers are without it."""
    return dtype_class(dtype) != "C" and (move == -1 or 0 < move * dtype.itemsize <= WIDE_STEP)
