"""Runs of kernels between other steps: each is one FastProgram over numbered buffers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Container, Sequence

from xjit.codegen.nests import LoweredKernel
from xjit.dataclass import dataclass, field
from xjit.fusion.checks import failure_of, is_status
from xjit.fusion.layout import Layouts
from xjit.fusion.memory import MemoryPlan, share_memory
from xjit.ir.context import CONSTANT
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.runtime.kernels import Loader
from xjit.runtime.loader import LoadedKernel
from xjit.runtime.records import ArraySpec, FastProgram, KernelCall, ScalarSpec


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One kernel of a segment on a machine: the nodes whose buffers it gets and which of them it writes, the other
    words of its table, the extent of its shared loop, its work in additions, how its machine code is come by, and
    whether the interpreter lock is released for it however little work it is, as NumPy does.

    A pointer is a node and the byte of its buffer to start from. A loop that runs ``in_turn`` is not shared among
    threads. ``lasting`` says whether one step of the loop takes long, None that its work tells.
    """

    machine: Machine
    pointers: tuple[tuple[Node, int], ...]
    written: tuple[bool, ...]
    words: tuple[int, ...]
    extent: int
    work: float
    load: Callable[[], LoadedKernel]
    unlocked: bool = False
    in_turn: bool = False
    lasting: bool | None = None

    @property
    def chunk(self) -> int:
        """How much of the loop one call gets."""
        if self.in_turn:
            return max(1, min(self.extent, int(self.machine.piece_work * self.extent / self.work)))
        return piece_size(self.extent, self.work, self.machine)

    @property
    def lasts(self) -> bool:
        """Whether one call may take so long that signals should not wait for it: much longer than pieces should."""
        if self.lasting is None:
            return self.work * self.chunk > 2 * self.machine.lasting_work * max(self.extent, 1)
        return self.lasting


def generated(lowered: LoweredKernel, source: str, loader: Loader, machine: Machine) -> Piece:
    """The piece of a lowered kernel with its source."""
    written = tuple(argument.is_written for argument in lowered.kernel.arguments)
    load = functools.partial(loader, source)
    return Piece(machine, lowered.pointers, written, tuple(lowered.words), lowered.extent, lowered.work, load)


@dataclass(eq=False)
class Segment:
    """Kernels that run one after the other; ``inputs`` are nodes made earlier, ``results`` nodes needed later."""

    machine: Machine
    pieces: list[Piece] = field(default_factory=list)

    def program(
        self,
        resolve: Callable[[Node], Node],
        layouts: Layouts,
        specs: dict[Node, ArraySpec | ScalarSpec],
        needed: Sequence[Node],
        given: Sequence[Node] = (),
        begun: Container[object] = (),
    ) -> tuple[FastProgram, tuple[Node, ...], tuple[Node, ...]]:
        """The record of the segment, its input nodes and its result nodes.

        ``resolve`` maps a node to the one whose buffer it shares, ``specs`` describes what every node's buffer is,
        ``needed`` are the nodes that other steps or the caller read, the results come in their order; ``given`` are
        inputs that come first, whether they are read or not; ``begun`` are results of earlier segments, to which
        this one may add parts.
        """
        inputs: dict[Node, None] = dict.fromkeys(given)
        made: dict[Node, None] = {}
        for piece in self.pieces:
            for (node, _), written in zip(piece.pointers, piece.written, strict=True):
                base = resolve(node)
                if written and base not in begun:
                    made[base] = None
                elif base not in made and not _is_constant(base) and base.aval.size:
                    inputs[base] = None
        results = tuple(node for node in needed if node in made)
        statuses = tuple(node for node in made if is_status(node))
        memory = self._memory(resolve, [node for node in made if node not in (*results, *statuses)])
        numbers = {node: number for number, node in enumerate((*inputs, *results))}
        numbers |= {node: len(numbers) + number for number, node in enumerate((*memory.offsets, *statuses))}
        keep: list[object] = []
        calls = tuple(self._call(piece, resolve, numbers, keep) for piece in self.pieces)
        work = sum(piece.work for piece in self.pieces)
        program = FastProgram(
            inputs=tuple(specs[node] for node in inputs),
            outputs=tuple(array_spec(node, layouts) for node in results),
            temps=tuple(node.aval.nbytes for node in memory.offsets),
            temp_offsets=tuple(memory.offsets.values()),
            lasting=any(piece.lasts for piece in self.pieces),
            calls=tuple(call for call in calls if call.extent > 0),
            single=len(results) == 1,
            heavy=work > self.machine.parallel_work or any(piece.unlocked for piece in self.pieces),
            keep_alive=tuple(keep),
            failures=tuple(functools.partial(failure_of, node) for node in statuses),
        )
        return program, tuple(inputs), results

    def _memory(self, resolve: Callable[[Node], Node], temporaries: list[Node]) -> MemoryPlan:
        uses = [{resolve(node) for node, _ in piece.pointers} for piece in self.pieces]
        return share_memory(temporaries, uses)

    def _call(
        self,
        piece: Piece,
        resolve: Callable[[Node], Node],
        numbers: dict[Node, int],
        keep: list[object],
    ) -> KernelCall:
        kernel = piece.load()
        keep.append(kernel)
        table: list[int] = []
        patches: list[tuple[int, int, int]] = []
        for slot, (node, offset) in enumerate(piece.pointers):
            base = resolve(node)
            if _is_constant(base):
                array = base.param("value").array()
                keep.append(array)
                table.append(array.ctypes.data + offset)
            else:
                table.append(0)  # stays so for arrays without elements, which nothing makes
                if base in numbers:
                    patches.append((slot, numbers[base], offset))
        table += piece.words
        return KernelCall(
            kernel.address, piece.extent, piece.chunk, tuple(table), tuple(patches), in_turn=piece.in_turn
        )


def piece_size(extent: int, work: float, machine: Machine) -> int:
    """How much of a shared loop one call gets; all of it when the work is small.

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
    """What the buffer of a node looks like."""
    item = node.aval.dtype.itemsize
    strides = tuple(stride * item for stride in layouts.strides(node))
    return ArraySpec(node.aval.dtype, node.aval.shape, strides)
