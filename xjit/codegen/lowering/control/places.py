"""The buffers of a kernel with control in it: one name for each, whatever its values are called.

A carried value is the parameter of the graph of a turn, what the graph of the condition calls so, the result of the
loop, and perhaps the value that a turn makes in place. All of these have one buffer. Values of one element that the
kernel keeps to itself are scratch, which rewrites put into registers.
"""

from __future__ import annotations

from xjit import numerics
from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.dataclass import dataclass, field, replace
from xjit.fusion.buffers.layout import packed_strides
from xjit.fusion.buffers.operands import View
from xjit.fusion.regions.checks import is_status
from xjit.ir.context import CONSTANT
from xjit.ir.loops.intexpr import IntExpr, constant, evaluate, variable
from xjit.ir.loops.nodes import (
    UNKNOWN,
    Access,
    Alloc,
    Argument,
    Block,
    Buffer,
    Const,
    Load,
    Loop,
    Scope,
    Statement,
    Store,
    Value,
)
from xjit.ir.loops.walk import renamed, with_indices
from xjit.ir.node import Node
from xjit.ir.opdef import Kind, OpDef
from xjit.ir.scalar_expr import Literal
from xjit.types import DType, array_type, dtype_class

OWN = OpDef(
    name="own",
    kind=Kind.LEAF,
    infer=lambda types, params: params["type"],
    reference=lambda **_: None,
    doc="Memory of a kernel's own.",
)


def own_node(dtype: DType, dims: tuple[int, ...] = ()) -> Node:
    """A value that no graph knows, for memory that a kernel needs between its parts."""
    type = array_type(dtype, dims)
    return Node(OWN, (), (("type", type),), type)


@dataclass(frozen=True, slots=True)
class Slot:
    """A pointer as it was written: the name of its buffer, and where its axes are among those of the buffer.

    It begins at the element ``start`` along the axis ``unit``.
    """

    name: str
    axes: tuple[int, ...]
    start: IntExpr
    unit: int

    def placed(self, index: tuple[IntExpr, ...], rank: int) -> tuple[IntExpr, ...]:
        """The index in the buffer, which has so many axes."""
        place = [constant(0)] * rank
        for axis, at in zip(self.axes, index, strict=False):  # axes that came up later are missing
            place[axis] = place[axis] + at
        if self.start.value != 0:
            place[self.unit] = place[self.unit] + self.start
        return tuple(place)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """A body with one name for each buffer; ``arguments`` are those of the program, which belong to ``nodes``."""

    body: Block
    arguments: tuple[Argument, ...]
    nodes: tuple[Node, ...]

    def named(self, node: Node) -> str:
        """The name of the buffer of a value in memory of the program."""
        return self.arguments[self.nodes.index(node)].buffer.name


@dataclass(eq=False)
class Places:
    """The places of values: ``homes`` says in whose buffer a value lies, and from which element on.

    Values of ``outside`` and statuses are in memory of the program, all others are the kernel's own. ``strides`` are
    those that each buffer has, by their lengths. Copies are ``joined`` if they are one loop where that is possible.
    """

    nest: LoopBuilder
    pointers: Pointers
    joined: bool = False
    outside: set[Node] = field(default_factory=set)
    homes: dict[Node, tuple[Node, int]] = field(default_factory=dict)
    strides: dict[tuple[Node, int], IntExpr] = field(default_factory=dict)

    def see_outside(self, *nodes: Node) -> None:
        """Note values that are in memory of the program."""
        self.outside.update(nodes)

    def put(self, node: Node, home: Node, start: int = 0) -> None:
        """Note that a value lies in the buffer of another one."""
        assert self.home(home)[0] is not node, "a value lies in its own buffer"
        self.homes[node] = home, start

    def home(self, node: Node) -> tuple[Node, int]:
        """The value that a buffer belongs to, and the first element of another value in it."""
        first = 0
        while node in self.homes:
            node, start = self.homes[node]
            first += start
        return node, first

    def is_register(self, node: Node) -> bool:
        """Return whether a value is one element that the kernel keeps to itself."""
        home, _ = self.home(node)
        known = home in self.outside or home.op is CONSTANT or is_status(home)
        return home.aval.size == 1 and not known

    # ------------------------------------------------------------------ statements

    def loaded(self, node: Node, at: int = 0) -> Load:
        """The only element of a value, or the one at a place of a line."""
        name = self.pointers.pointer(node, at, False)
        return Load(name, self.pointers.index(name, ()), storage_dtype(node.aval.dtype))

    def stored(self, node: Node, value: Value) -> Store:
        """Gives a value its only element."""
        name = self.pointers.pointer(node, 0, True)
        return Store(name, self.pointers.index(name, ()), value)

    def copied(self, source: View, target: View, shape: tuple[int, ...]) -> Statement:
        """Gives a value of this shape the elements of another one: a number that is known, or what is loaded."""
        known = self._known(source.base)
        if known is not None and not shape:
            return self.stored(target.base, known)
        if self.joined:
            shape, (target, source) = _with_joined_axes(shape, target, source)
        dtype = storage_dtype(target.base.aval.dtype)
        loops = [(self.nest.fresh("i"), extent) for extent in shape]
        place, found = self._element(target, loops, True), self._element(source, loops, False)
        return self._nested(loops, Store(*place, Load(*found, dtype)))

    def _known(self, node: Node) -> Const | None:
        """A truth value, or an integer that begins or steps a count; other numbers are none of the text."""
        home, _ = self.home(node)
        if home.op is not CONSTANT or home.aval.rank or dtype_class(home.aval.dtype) not in ("P", "I"):
            return None
        literal: Literal = home.param("value")
        return Const(literal) if abs(int(literal.item())) <= 1 else None

    def filled(self, target: View, value: Value) -> Statement:
        """Gives each element of a value another number of a kind."""
        loops = [(self.nest.fresh("i"), extent) for extent in target.base.aval.shape]
        return self._nested(loops, Store(*self._element(target, loops, True), value))

    def _nested(self, loops: list[tuple[str, int]], statement: Statement) -> Statement:
        for number, (name, extent) in reversed(list(enumerate(loops))):
            stop = self.nest.word(("copied", number, extent), extent, "n")
            statement = Loop(name, constant(0), stop, (statement,))
            self.nest.loops.add(name)
        return statement

    def _element(self, view: View, loops: list[tuple[str, int]], written: bool) -> tuple[str, tuple[IntExpr, ...]]:
        name = self.pointers.pointer(view.base, view.start, written)

        def step(stride: int) -> IntExpr:
            short = constant(stride)
            return short if stride in (0, 1) else self.nest.word((view.base, "copied", stride), stride, f"{name}_s")

        moves = [(step(stride), variable(loop)) for stride, (loop, _) in zip(view.strides, loops, strict=True)]
        return name, self.pointers.index(name, [move for move in moves if move[0].value != 0])

    # ------------------------------------------------------------------ the whole kernel

    def settled(self, body: Block) -> Settled:
        """The body with one name for each buffer."""
        names: dict[tuple[Node, DType], str] = {}
        axes: dict[str, list[IntExpr]] = {}
        self._know_numbers()
        slots = {name: self._slot(key, name, names, axes) for key, name in self.pointers.names.items()}

        def placed(name: str, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
            return slots[name].placed(index, len(axes[slots[name].name])) if name in slots else index

        def axis(name: str, number: int) -> int:
            return slots[name].axes[number] if name in slots else number

        own_names = {name: slot.name for name, slot in slots.items() if name != slot.name}
        whole = renamed(with_indices(body, placed, axis), own_names)
        stored, allocs, arguments = written(whole), list[Alloc](), dict[Node, Argument]()
        for (node, dtype), name in names.items():
            if self.is_register(node):
                allocs.append(Alloc(Buffer(name, dtype, (), ()), Scope.ITERATION))
                continue
            buffer = Buffer(name, dtype, (UNKNOWN,) * len(axes[name]), tuple(axes[name]))
            arguments[node] = Argument(buffer, Access.UPDATE if name in stored else Access.READ)
        return Settled((*allocs, *whole), tuple(arguments.values()), tuple(arguments))

    def _slot(
        self,
        key: tuple[Node, int, DType],
        name: str,
        names: dict[tuple[Node, DType], str],
        axes: dict[str, list[IntExpr]],
    ) -> Slot:
        """The place of a pointer in its buffer, which gets the axes that it has not got yet."""
        node, start, storage = key
        home, first = self.home(node)
        own = names.setdefault((home, storage), name)
        if self.is_register(node):
            axes[own] = []
            return Slot(own, (), constant(0), 0)
        every = axes.setdefault(own, [])
        mine = tuple(self._common(home, one) for one in self.nest.axes.get(name, ()))
        wanted = (*([constant(1)] if first + start else []), *mine)
        every += [one for one in dict.fromkeys(wanted) if one not in every]
        unit = every.index(constant(1)) if first + start else 0
        return Slot(own, tuple(map(every.index, mine)), self._start(home, first + start, own), unit)

    def _common(self, home: Node, stride: IntExpr) -> IntExpr:
        """A stride of a buffer in the one way in which all that lies in it has it.

        What is stored at an index is then seen to be what is loaded from there in the next turn.
        """
        if stride.value is not None:
            return stride
        return self.strides.setdefault((home, evaluate(stride, dict(self.nest.words.values()))), stride)

    def _know_numbers(self) -> None:
        """Notes the strides that are numbers of the text, which stand for words of the same value."""
        for (node, _, _), name in self.pointers.names.items():
            home, _ = self.home(node)
            numbers = [one for one in self.nest.axes.get(name, ()) if one.value not in (None, 0, 1)]
            self.strides |= {(home, one.value): one for one in numbers if one.value is not None}

    def _start(self, home: Node, start: int, name: str) -> IntExpr:
        """The first element of a pointer: a short way is a number of the text."""
        if abs(start) <= numerics.TINY:
            return constant(start)
        return self.nest.word((home, "begin", start), start, f"{name}_c")


def _with_joined_axes(shape: tuple[int, ...], *views: View) -> tuple[tuple[int, ...], tuple[View, ...]]:
    """A shape, and views of it, with one axis in place of two where the steps of all views allow it."""
    sizes, steps = list(shape[-1:]), [list(view.strides[-1:]) for view in views]
    for axis in reversed(range(len(shape) - 1)):
        moves = [view.strides[axis] for view in views]
        if all(move == step[0] * sizes[0] for move, step in zip(moves, steps, strict=True)):
            sizes[0] *= shape[axis]
            continue
        sizes.insert(0, shape[axis])
        for step, move in zip(steps, moves, strict=True):
            step.insert(0, move)
    joined = tuple(replace(view, strides=tuple(step)) for view, step in zip(views, steps, strict=True))
    return tuple(sizes), joined


def packed_view(node: Node) -> View:
    """A value in memory of its own, its elements in the order of its type."""
    return View(node, packed_strides(node.aval), 0)
