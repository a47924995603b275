"""Runs of kernels between other steps: each is one step of a program, over numbered buffers."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence

from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.memory import MemoryPlan, share_memory
from xjit.fusion.regions.checks import is_status
from xjit.ir.context import CONSTANT
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.spec import (
    CompactionRoutine,
    Constant,
    DrawRoutine,
    Failure,
    KernelSpec,
    KernelText,
    Operation,
    Pointer,
    Routine,
    RunStep,
    SortRoutine,
)

FOREVER = 1 << 62
"""The turns of a loop that ends by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One kernel of a segment on a machine: the nodes whose buffers it gets and which of them it writes, the other
    words of its table, the extent of its shared loop, its work in additions, its code, and whether the interpreter
    lock is released for it however little work it is, as NumPy does.

    A pointer is a node and the byte of its buffer to start from. A loop that runs ``in_turn`` is not shared among
    threads. ``lasting`` says whether one step of the loop takes long, None that its work tells. A kernel that is
    ``resumed`` runs so many turns of a loop at a call, and is called again until it says that there are no more.
    """

    machine: Machine
    pointers: tuple[tuple[Node, int], ...]
    written: tuple[bool, ...]
    words: tuple[int, ...]
    extent: int
    work: float
    code: KernelText | Routine | SortRoutine | CompactionRoutine | DrawRoutine
    unlocked: bool = False
    in_turn: bool = False
    lasting: bool | None = None
    resumed: bool = False

    @property
    def chunk(self) -> int:
        """Return how much of the loop one call gets."""
        if self.resumed:
            return max(1, int(self.machine.piece_work / max(self.work, 1.0)))
        if self.in_turn:
            return max(1, min(self.extent, int(self.machine.piece_work * self.extent / self.work)))
        return piece_size(self.extent, self.work, self.machine)

    @property
    def light(self) -> bool:
        """Return whether the kernel is over so soon that signals may wait for all of it, and some others."""
        return not self.resumed and not self.unlocked and self.work <= self.machine.parallel_work

    @property
    def lasts(self) -> bool:
        """Return whether one call may take so long that signals should not wait for it: much longer than pieces
        should.
        """
        if self.lasting is None:
            return self.work * self.chunk > 2 * self.machine.lasting_work * max(self.extent, 1)
        return self.lasting


def generated(lowered: LoweredKernel, source: str, machine: Machine) -> Piece:
    """The piece of a lowered kernel with its source."""
    written = tuple(argument.is_written for argument in lowered.kernel.arguments)
    words, code, resumed = tuple(lowered.words), KernelText(source), lowered.resumed
    extent = FOREVER if resumed else lowered.extent
    whole = machine, lowered.pointers, written, words, extent, lowered.work, code
    return Piece(*whole, unlocked=resumed, lasting=False if resumed else None, resumed=resumed)


@dataclass(eq=False)
class Segment:
    """Kernels that run one after the other; ``inputs`` are nodes made earlier, ``results`` nodes needed later.
    Signals ``may_end`` one that writes to memory of the caller's between two turns of its loop.
    """

    machine: Machine
    pieces: list[Piece] = field(default_factory=list)
    may_end: bool = False

    def step(
        self,
        resolve: Callable[[Node], Node],
        layouts: Layouts,
        specs: dict[Node, ArraySpec | ScalarSpec],
        needed: Sequence[Node],
        given: Sequence[Node] = (),
        begun: Container[object] = (),
    ) -> tuple[RunStep, tuple[Node, ...], tuple[Node, ...]]:
        """The step without its slots, its input nodes and its result nodes.

        ``resolve`` maps a node to the one whose buffer it shares, ``specs`` describes what every node's buffer is,
        ``needed`` are the nodes that other steps or the caller read, the results come in their order; ``given`` are
        inputs that come first, whether they are read or not; ``begun`` are results of earlier segments, to which
        this one may add parts.
        """
        inputs, made = self._inputs_and_made(resolve, given, begun)
        results = tuple(node for node in needed if node in made)
        statuses = tuple(node for node in made if is_status(node))
        memory = self._memory(resolve, [node for node in made if node not in (*results, *statuses)])
        numbers = {node: number for number, node in enumerate((*inputs, *results))}
        numbers |= {node: len(numbers) + number for number, node in enumerate((*memory.offsets, *statuses))}
        constants: dict[Node, int] = {}
        work = sum(piece.work for piece in self.pieces)
        step = RunStep(
            inputs=(),
            results=(),
            arguments=tuple(specs[node] for node in inputs),
            outputs=tuple(array_spec(node, layouts) for node in results),
            kernels=tuple(_kernel(piece, resolve, numbers, constants) for piece in self.pieces),
            temps=tuple(node.aval.nbytes for node in memory.offsets),
            offsets=tuple(memory.offsets.values()),
            constants=tuple(map(constant_of, constants)),
            failures=tuple(map(_failure, statuses)),
            heavy=work > self.machine.parallel_work or any(piece.unlocked for piece in self.pieces),
            lasting=any(piece.lasts for piece in self.pieces),
        )
        return step, tuple(inputs), results

    def _inputs_and_made(
        self, resolve: Callable[[Node], Node], given: Sequence[Node], begun: Container[object]
    ) -> tuple[dict[Node, None], dict[Node, None]]:
        inputs: dict[Node, None] = dict.fromkeys(given)
        made: dict[Node, None] = {}
        for piece in self.pieces:
            for (node, _), written in zip(piece.pointers, piece.written, strict=True):
                base = resolve(node)
                if written and base not in begun:
                    made[base] = None
                elif base not in made and not _is_constant(base) and base.aval.size:
                    inputs[base] = None
        return inputs, made

    def _memory(self, resolve: Callable[[Node], Node], temporaries: list[Node]) -> MemoryPlan:
        uses = [{resolve(node) for node, _ in piece.pointers} for piece in self.pieces]
        return share_memory(temporaries, uses)


def _kernel(
    piece: Piece, resolve: Callable[[Node], Node], numbers: dict[Node, int], constants: dict[Node, int]
) -> KernelSpec:
    def pointer(node: Node, offset: int) -> Pointer:
        base = resolve(node)
        if _is_constant(base):
            return Pointer("constant", constants.setdefault(base, len(constants)), offset)
        return Pointer("buffer", numbers[base], offset) if base in numbers else Pointer("nothing", 0, 0)

    pointers = tuple(pointer(*one) for one in piece.pointers)
    how = piece.in_turn, piece.resumed, piece.light
    return KernelSpec(piece.code, pointers, piece.words, piece.extent, piece.chunk, *how)


def constant_of(node: Node) -> Constant:
    """The elements of a constant."""
    literal = node.param("value")
    return Constant(literal.dtype, literal.dims, literal.data)


def operation_of(node: Node) -> Operation:
    """The operation of a node by its name."""
    return Operation(node.op.name, tuple(node.kwargs.items()))


def _failure(status: Node) -> Failure:
    (node,) = status.inputs
    return Failure(operation_of(node), node.where)


def piece_size(extent: int, work: float, machine: Machine) -> int:
    """Return how much of a shared loop one call gets; all of it when the work is small.

    >>> from xjit.machine import processor
    >>> piece_size(1000, 5_000.0, processor())
    1000
    """
    if work < machine.parallel_work or extent < 2:
        return max(extent, 1)
    most = max(machine.most_pieces, math.ceil(work / machine.lasting_work))
    pieces = min(max(2, int(work / machine.piece_work)), most, extent)
    size = -(-extent // pieces)
    whole = machine.piece_steps
    return -(-size // whole) * whole if size > machine.long_piece else size


def _is_constant(node: Node) -> bool:
    return node.op is CONSTANT


def array_spec(node: Node, layouts: Layouts) -> ArraySpec:
    """Return what the buffer of a node looks like."""
    item = node.aval.dtype.itemsize
    strides = tuple(stride * item for stride in layouts.strides(node))
    return ArraySpec(node.aval.dtype, node.aval.shape, strides)
