"""Explanations of compiled functions: kernels, their operations and bytes, and a reason for every split."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.dataclass import dataclass, field, replace
from xjit.fusion.buffers.memory import share_memory
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import (
    KERNELS,
    AliasStep,
    BranchKernelStep,
    ControlKernelStep,
    ControlStep,
    HostStep,
    KernelStep,
    LibraryStep,
    LoopKernelStep,
    SortStep,
    ViewStep,
)
from xjit.fusion.regions.materialized import owner, view_chain
from xjit.fusion.regions.reads import Slices, producer_slice
from xjit.fusion.statements import Check, IndexedValue, Reduce, Scan, Statement, Store
from xjit.inspect.costs import cost_of_calls
from xjit.ir.context import CONSTANT, PROJECT, is_by_reference
from xjit.ir.index_map import axes_of, has_lookups
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.ops.effects.python_call import PYTHON_CALL
from xjit.programs.input_layouts import layouts_of
from xjit.programs.kept_memory import kept_values
from xjit.programs.kernel_runs import piece_size
from xjit.types import TupleType

if TYPE_CHECKING:
    from xjit.codegen.lowering.kernels.nests import LoweredKernel
    from xjit.programs.lowered import Lowered


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel: its operations, the extents of its loops, bytes moved, how it runs, whose results it writes its own
    over, and the rewrites that its loops went through, in order.
    """

    operations: tuple[str, ...]
    domain: tuple[int, ...]
    reduced: tuple[int, ...]
    bytes_read: int
    bytes_written: int
    pieces: int
    lines: tuple[str, ...]
    overwritten: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()

    @property
    def parallel(self) -> bool:
        """Return whether threads share the outer loop."""
        return self.pieces > 1

    def __str__(self) -> str:
        counts = Counter(self.operations)
        names = ", ".join(name if n == 1 else f"{n} {name}" for name, n in counts.items()) or "copy"
        mode = f"parallel in {self.pieces} pieces" if self.parallel else "serial"
        loops = "x".join(map(str, self.domain)) or "1"
        over = f" reducing axes {self.reduced}" if self.reduced else ""
        place = f" in place of {', '.join(self.overwritten)}" if self.overwritten else ""
        head = f"kernel over {loops}{over}, {mode}: {names}; reads {self.bytes_read:,} bytes, writes "
        return "\n       ".join([f"{head}{self.bytes_written:,}{place}", *self.rewrites])


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The plan of one call in words and numbers; ``str()`` is the text, and prompts show it.

    kernels        a report per generated kernel, in order
    steps          every step in order, library calls and NumPy references included
    bytes_moved    what all kernels, library calls and NumPy references read and write
    minimum_bytes  what any program has to: all inputs once, all outputs once
    temporary_bytes  memory for values between the steps, which those share that are not alive together
    peak_bytes     the same and the results: what a call needs besides its arguments
    reasons        why values are stored between kernels and why kernels stay apart
    trials         what became of the trials of split programs of the function
    """

    name: str
    kernels: tuple[KernelReport, ...]
    steps: tuple[str, ...]
    bytes_moved: int
    minimum_bytes: int
    temporary_bytes: int
    peak_bytes: int
    reasons: tuple[str, ...]
    trials: tuple[str, ...] = ()

    @property
    def is_by_numpy(self) -> bool:
        """Return whether NumPy runs the function as a whole, so that nothing is known of its memory."""
        return self.steps == _BY_NUMPY

    def __repr__(self) -> str:
        return str(self)  # prompts and notebooks show it

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.kernels)} kernel{'s' * (len(self.kernels) != 1)}"]
        lines += [f"  {number}. {step}" for number, step in enumerate(self.steps, 1)]
        factor = self.bytes_moved / self.minimum_bytes if self.minimum_bytes else 1.0
        if not self.is_by_numpy:
            lines.append(f"  bytes moved {self.bytes_moved:,}, at least {self.minimum_bytes:,} ({factor:.2f}x)")
        if self.temporary_bytes:
            lines.append(f"  memory for temporaries {self.temporary_bytes:,} bytes, with results {self.peak_bytes:,}")
        lines += [f"  because: {reason}" for reason in self.reasons]
        lines += [f"  trial: {words}" for words in self.trials]
        return "\n".join(lines)


def explain(lowered: Lowered) -> Explanation:
    """The explanation of a lowered graph."""
    graph, steps = lowered.graph, _Steps(_ways_of_control(lowered))
    steps.add(lowered)
    minimum = sum(node.aval.nbytes for node in {*graph.parameters, *graph.outputs})
    temporary, results = _memory(lowered)
    return Explanation(
        graph.name,
        tuple(steps.kernels),
        tuple(steps.lines),
        steps.moved,
        minimum,
        temporary,
        temporary + results,
        tuple(reason for part in lowered.all() for reason in (*part.plan.reasons, *_without_tiles(part))),
    )


def _without_tiles(lowered: Lowered) -> Iterator[str]:
    """The reason why turns of a large loop go through all of its rows, given with the body of the loop."""
    for node, parts in lowered.inner.items():
        if parts[-1].untiled:
            yield f"each turn of {node.op.name} at {node.where} goes through all rows: {parts[-1].untiled}"


def of_numpy(name: str, reasons: tuple[str, ...]) -> Explanation:
    """The explanation of a call that NumPy runs as a whole."""
    return Explanation(name, (), _BY_NUMPY, 0, 0, 0, 0, reasons)


_BY_NUMPY = ("NumPy runs the function",)


def _ways_of_control(lowered: Lowered) -> Iterator[str]:
    """For each loop and branch in their order the way in which it runs: the reason why it needs Python, its tiles."""
    if not lowered.inner:
        return
    from xjit.compile import program_spec
    from xjit.runtime.spec import LoopStep, all_steps
    from xjit.runtime.steps.native_groups import is_control, reasons

    spec = program_spec(lowered)
    for reason, step in zip(reasons(spec), filter(is_control, all_steps(spec.body)), strict=True):
        tiles = f", {step.tiles.in_words}" if isinstance(step, LoopStep) and step.tiles else ""
        yield f"steps in Python: {reason}" if reason else f"native{tiles}"


@dataclass(eq=False)
class _Steps:
    """The steps of a program in words, those of programs inside of it indented; bytes are those of one turn.

    ``ways`` are those in which loops and branches run; a program ``within`` others is the body of one.
    """

    ways: Iterator[str]
    kernels: list[KernelReport] = field(default_factory=list)
    within: bool = False
    lines: list[str] = field(default_factory=list)
    moved: int = 0

    def add(self, lowered: Lowered) -> None:
        """Adds the steps of a program."""
        machine, slices = lowered.target.machine, lowered.plan.slices
        kernels = iter(_reports(lowered, slices, machine))
        changed = {copy: node for node in lowered.graph.nodes for copy in node.updated}
        for step in lowered.plan.steps:
            match step:
                case KernelStep() | SortStep() | LoopKernelStep() | BranchKernelStep():
                    self._add_kernel(next(kernels))
                case LibraryStep(node) if node.op is PYTHON_CALL:
                    self._add_whole(_in_python(node, self.within), node)
                case LibraryStep(node) if node.op.has_effects:
                    self._add_whole(f"effect: {node.op.name} ({node.where})", node)
                case LibraryStep(node):
                    bits = "; its bits may depend on the thread count" if node.op.threaded else ""
                    self._add_whole(f"library call: {node.op.name} ({node.where}){bits}", node)
                case HostStep(node, reason):
                    self._add_whole(f"NumPy runs {node.op.name} ({node.where}): {reason}", node)
                case ControlStep(node):
                    head = f"{node.op.control}: {node.op.name} ({node.where}), {next(self.ways)}"
                    self.lines.append(f"{head}\n{self._inside(node, lowered)}")
                case AliasStep(node, operand) if node in changed:
                    words = f"{changed[node].op.name} changes {operand.op.name} in place"
                    self.lines.append(f"no work: {words} ({node.where})")
                case AliasStep(node, _) if node.op.barrier:
                    self.lines.append(f"no work: nothing moves across {node.op.name} ({node.where})")
                case AliasStep(node, operand) if node in changed:
                    names = f"{changed[node].op.name} changes {operand.op.name}"
                    self.lines.append(f"no work: {names} in place ({node.where})")
                case AliasStep(node, _) | ViewStep(node):
                    self.lines.append(f"no work: {node.op.name} is a view ({node.where})")

    def _add_kernel(self, report: KernelReport) -> None:
        self.kernels.append(report)
        self.lines.append(str(report))
        self.moved += report.bytes_read + report.bytes_written

    def _add_whole(self, line: str, node: Node) -> None:
        self.lines.append(line)
        self.moved += _whole_bytes(node)

    def _inside(self, node: Node, lowered: Lowered) -> str:
        """The steps of the graphs inside of an operation, as indented lines."""
        found: list[str] = []
        for part in lowered.inner[node]:
            steps = _Steps(self.ways, self.kernels, within=True)
            steps.add(part)
            self.moved += steps.moved
            lines = [line for step in steps.lines for line in f"- {step}".splitlines()]
            found += [f"{part.graph.name}:", *(f"  {line}" for line in lines or ["- nothing to do"])]
        return "\n".join(f"       {line}" for line in found)


def _in_python(node: Node, within: bool) -> str:
    """A call in Python, with the reason, the cost and what can be done about it."""
    call = node.param("call")
    line = f"Python calls {call.label} ({node.where})"
    if call.note is None:
        return line
    return f"{line}: {call.note.message}; cost: {cost_of_calls([node], within)}; {call.note.fix or call.note.remedy}"


def _reports(lowered: Lowered, slices: Slices, machine: Machine) -> Iterator[KernelReport]:
    """Yield what there is to say of each kernel."""
    steps = (step for step in lowered.plan.steps if isinstance(step, KERNELS))
    for step, (kernel, _) in zip(steps, lowered.kernels, strict=True):
        if isinstance(step, SortStep):
            yield _pass(step, kernel, machine)
            continue
        report = _kernel(kernel, slices, machine)
        yield report if isinstance(step, KernelStep) else _of_control(step, report)


def _of_control(step: ControlKernelStep, report: KernelReport) -> KernelReport:
    """The kernel of a loop or a branch, its operation first; bytes are those of values around it."""
    read = {view.base for view in step.operands if not is_by_reference(view.base)}
    return replace(
        report,
        operations=(step.node.op.name, *report.operations),
        bytes_read=sum(node.aval.nbytes for node in read),
        bytes_written=sum(node.aval.nbytes for node in step.results),
    )


def _pass(step: SortStep, kernel: LoweredKernel, machine: Machine) -> KernelReport:
    """One pass of a sort."""
    size = piece_size(kernel.extent, kernel.work, machine)
    return KernelReport(
        operations=(step.node.op.name,),
        domain=step.node.inputs[0].aval.shape,
        reduced=(),
        bytes_read=sum(node.aval.nbytes for node in step.sources),
        bytes_written=sum(node.aval.nbytes for node in step.targets),
        pieces=-(-kernel.extent // size),
        lines=(str(step.node.where),),
    )


def _memory(lowered: Lowered) -> tuple[int, int]:
    """The memory that values take which are neither arguments nor results, and that of the results."""
    places = {step.node: step.operand for step in lowered.plan.steps if isinstance(step, AliasStep)}
    updates = (node for node in lowered.graph.nodes if not isinstance(node.type, TupleType))
    places |= {node: held for node in updates if (held := held_by(node)) is not node}
    places |= {target: source for kernel, _ in lowered.kernels for target, source in kernel.in_place.items()}

    def place(node: Node) -> Node:
        while node in places:
            node = places[node]
        return node

    places |= dict(_begun(lowered))
    kept = kept_values(lowered.graph, lowered.inner, layouts_of(lowered.graph, lowered.specs, lowered.stores))
    places |= {result: operand for result, operand in kept if place(operand) in lowered.stores.chains}
    kernels, uses = iter(lowered.kernels), []
    for step in lowered.plan.steps:
        if isinstance(step, KERNELS):
            used = [node for node, _ in next(kernels)[0].pointers]
        else:
            used = [step.node, *step.node.inputs, *(view_chain(source)[0] for source in step.node.inputs)]
        uses.append(set(map(place, used)))
    shown = {place(base) for node in lowered.graph.outputs for base in (node, view_chain(node)[0])}
    temporaries = [node for node in lowered.graph.nodes if node in lowered.plan.stored and place(node) not in shown]
    arrays = [node for node in temporaries if not isinstance(node.type, TupleType)]
    results = sum(node.aval.nbytes for node in shown & lowered.plan.stored)
    return share_memory(arrays, uses).size, results


def _begun(lowered: Lowered) -> Iterator[tuple[Node, Node]]:
    """Yield what loops of steps yield that start from memory of their own: they exchange that, and need no other."""
    for node in lowered.graph.nodes:
        if node.op is not PROJECT or node.inputs[0] not in lowered.inner:
            continue
        loop, number = node.inputs[0], node.param("index")
        if loop.op.control == "loop" and loop.inputs[number] in loop.updated:
            yield node, loop.inputs[number]


def _whole_bytes(node: Node) -> int:
    """Count the bytes that a step on whole arrays reads and writes."""
    types = [source.type for source in (*node.inputs, node)]
    return sum(one.nbytes for type in types for one in (type.elements if isinstance(type, TupleType) else (type,)))


def _elements(indexed: IndexedValue, statement: Statement) -> float:
    """Count the elements of a value that a statement reads where data says; all others read as many as they like."""
    if not has_lookups(indexed.index):
        return math.inf
    return math.prod(statement.dims[axis] for axis in axes_of(indexed.index))


def _read_bytes(node: Node, elements: Sequence[float]) -> int:
    """Count the bytes that a kernel reads of a value: each element once, and no more than are asked for."""
    asked = sum(elements) if elements else math.inf
    return int(min(node.aval.size, asked)) * node.aval.dtype.itemsize


def _written_bytes(statement: Statement, written: set[Node]) -> int:
    """Return what one statement stores: the part of an array that it makes, all results of a reduction."""
    match statement:
        case Check():
            return 0
        case Reduce() if not statement.domain.fixed:
            return sum(node.aval.nbytes for node in written if owner(node) is statement.target)
        case Store() | Scan() if statement.target not in written:  # it stays in scratch
            return 0
        case _:
            return (
                math.prod(statement.dims[axis] for axis in statement.places)
                * statement.values[0].node.aval.dtype.itemsize
            )


def _kernel(kernel: LoweredKernel, slices: Slices, machine: Machine) -> KernelReport:
    group = max(kernel.groups, key=lambda one: math.prod(one.dims))
    statements = [statement for one in kernel.groups for statement in one.statements]
    targets = frozenset(statement.target for statement in statements)
    written = {node for (node, _), a in zip(kernel.pointers, kernel.kernel.arguments, strict=True) if a.is_written}
    read = {node for node, _ in kernel.pointers if not is_by_reference(node)} - written
    read.update(kernel.in_place.values())
    leaves = frozenset(read | {statement.target for statement in statements if isinstance(statement, Reduce | Scan)})
    inlined: dict[Node, None] = {}
    reads: dict[Node, list[float]] = {}
    for statement in statements:
        found = slices.down_to(statement, leaves) or producer_slice(statement, leaves)
        inlined.update(dict.fromkeys(indexed.node for indexed in found.visits))
        if isinstance(statement, Reduce | Scan) or statement.updated:
            inlined[statement.target] = None
        for indexed in found.reads:
            reads.setdefault(indexed.node, []).append(_elements(indexed, statement))
    nodes = [node for node in inlined if node.op is not CONSTANT and (node in targets or node.inputs)]
    size = piece_size(kernel.extent, kernel.work, machine)
    return KernelReport(
        operations=tuple(_label(node) for node in nodes),
        domain=group.dims,
        reduced=group.reduced,
        bytes_read=sum(_read_bytes(node, reads.get(node, ())) for node in read),
        bytes_written=sum(_written_bytes(statement, written.union(kernel.in_place)) for statement in statements),
        pieces=-(-kernel.extent // size),
        lines=tuple(dict.fromkeys(str(node.where) for node in nodes)),
        overwritten=tuple(map(_label, kernel.in_place.values())),
        rewrites=tuple(map(str, kernel.rewrites)),
    )


def _label(node: Node) -> str:
    reducer = dict(node.params).get("reducer")
    return node.op.name if reducer is None else f"{node.op.name} {reducer.name}"
