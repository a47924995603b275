"""From a plan to a program as plain data: slots, runs of kernels, and the steps between them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence

from xjit.alignment import SMALLEST_BYTES
from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.dataclass import dataclass, field
from xjit.errors import TargetError
from xjit.fusion import plan as planned
from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.operands import View, view_of
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import WHOLE, Plan
from xjit.fusion.regions.materialized import view_chain
from xjit.fusion.statements import Check
from xjit.ir.context import CONSTANT, PROJECT
from xjit.ir.node import UNREAD, Node
from xjit.ir.repeated_calls import is_demand, may_begin_anew
from xjit.lazy import lazy
from xjit.machine import Machine
from xjit.ops.effects.python_call import is_seen, is_taken_back, repeats_node
from xjit.passes.shown_memory import Written
from xjit.passes.stored_results import NO_STORES, Stores
from xjit.programs.control_steps import STEPS, is_owned
from xjit.programs.cut_results import rooms_of, spent_after, with_cuts
from xjit.programs.input_layouts import layouts_of
from xjit.programs.kept_memory import kept_results, kept_values
from xjit.programs.kernel_runs import Piece, Segment, array_spec, constant_of, generated, operation_of
from xjit.programs.libraries import Libraries
from xjit.programs.library_pieces import library_piece
from xjit.programs.lowered import Lowered
from xjit.programs.run_ends import tested_before
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.spec import (
    Block,
    CallStep,
    ConstantStep,
    CopyStep,
    ProgramSpec,
    ReshapeStep,
    RoomStep,
    RunStep,
    Step,
    ViewStep,
)
from xjit.types import TupleType

_WITH_EFFECTS = WHOLE | planned.ControlKernelStep


@dataclass(eq=False)
class Builder:
    """Writes one program down.

    ``views`` says of each output whether NumPy would return it as a view, ``memories`` numbers the memory that it
    would lie in; -1 is memory that nobody tells apart, UNREAD says that nobody reads the output. ``libraries`` may
    be called. ``apart`` are pairs of parameters that have to be two objects. ``inner`` are the programs of graphs
    inside of operations. A block inside of another program shares the ``numbers`` of its slots, and may hand on the
    memory of the parameters that are ``owned``; what control makes of ``fixed`` ones stays there. The outputs
    ``written`` are in memory of parameters in the end, by the ``stores``. Errors come
    ``first`` until that begins, or an effect ``was_seen``, and of a block that may be done again NumPy ``can_begin``
    the call anew. Loops that are ``untiled`` are not done in tiles of time, for these reasons. Views for the caller
    are in the slots ``shown``, those by which kernels
    know rooms in ``windows``.
    """

    plan: Plan
    views: Sequence[bool]
    memories: Sequence[int]
    layouts: Layouts
    specs: Sequence[ArraySpec | ScalarSpec]
    machine: Machine
    libraries: Libraries
    apart: tuple[tuple[int, int], ...] = ()
    inner: Mapping[Node, tuple[Lowered, ...]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    owned: frozenset[Node] = frozenset()
    fixed: Container[Node] = frozenset()
    slots: dict[object, int] = field(default_factory=dict)
    shown: dict[Node, int] = field(default_factory=dict)
    windows: dict[Node, RoomStep] = field(default_factory=dict)
    aliases: dict[Node, Node] = field(default_factory=dict)
    in_place: dict[Node, Node] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    arrays: dict[int, int] = field(default_factory=dict)
    segment: Segment = field(init=False)
    is_whole: bool = False
    written: Written = ()
    stores: Stores = NO_STORES
    first: bool = False
    can_begin: bool = True
    was_seen: bool = False
    untiled: dict[Node, str] = field(default_factory=dict)

    def spec(self, pieces: Sequence[tuple[LoweredKernel, str]]) -> ProgramSpec:
        """The program. ``pieces`` are the lowered kernels with their source, in the order of the plan."""
        self.is_whole = True
        noticed = not all(map(repeats_node, self.plan.graph.effects))
        self.first = bool(self.written) or noticed or any(map(is_demand, self.plan.graph.nodes))
        slots = list(itertools.islice(self.numbers, len(self.plan.graph.parameters)))
        body, outputs = self.block(slots, pieces)
        stored = tuple(dict.fromkeys(place for _, place in self.written))
        return ProgramSpec(tuple(self.specs), body, outputs, self.apart, stored)

    def inside(self, part: Lowered, owned: frozenset[Node] = frozenset(), fixed: Container[Node] = ()) -> Builder:
        """The builder of a block inside of this program."""
        layouts = layouts_of(part.graph, part.specs)
        return Builder(
            *(part.plan, part.views, part.memories, layouts, part.specs, self.machine, self.libraries),
            inner=part.inner,
            numbers=self.numbers,
            owned=owned,
            fixed=fixed,
            first=self._comes_first and not any(map(is_seen, part.graph.effects)),
            can_begin=self.can_begin and all(map(is_taken_back, part.graph.effects)),
            untiled=self.untiled,
        )

    def block(
        self, parameters: Sequence[int], pieces: Sequence[tuple[LoweredKernel, str]], *, apart: bool = True
    ) -> tuple[Block, tuple[int, ...]]:
        """The steps over the slots of the parameters, and the slots of the results: each memory of its own, unless
        they need not be ``apart``.
        """
        self.segment = Segment(self.machine)
        self.slots.update(zip(self.plan.graph.parameters, parameters, strict=True))
        lowered = iter(pieces)
        for kernel, _ in pieces:
            self.in_place.update(kernel.in_place)
        self._share_buffers()
        needed = self._needed(pieces)
        for step in self.plan.steps:
            self._check_order(step)
            if self._begins_run(step):
                self._flush(needed)
            if isinstance(step, planned.KERNELS):
                self.segment.pieces.append(generated(*next(lowered), self.machine))
                self.segment.may_end = step in self._left and self.segment.pieces[0].resumed
            elif step.node in self.multiplied:
                self._make_room(step.node)
                self.segment.pieces.append(self.multiplied[step.node])
            elif self._breaks(step) and not isinstance(step, planned.AliasStep):
                self._flush(needed)
                self._whole(step)
            begun = isinstance(step, planned.AliasStep) and step.node in self.stores.copies
            self.first, self.can_begin = self.first and not begun, self.can_begin and not begun
            self.was_seen = self.was_seen or (isinstance(step, _WITH_EFFECTS) and step.node in self._seen)
        self._flush(needed)
        outputs = self._outputs() if apart else tuple(map(self._source, self.plan.graph.outputs))
        kept = [self.slots[node] for node in self.plan.graph.parameters if node not in self.owned]
        spent = spent_after(self.steps, parameters, {*kept, *outputs})
        return Block(with_cuts(self.steps, spent), spent), outputs

    def _share_buffers(self) -> None:
        """Notes what updates write over: copies, or the very operands of those that are left out. Other aliases may
        have other dimensions than their operands.
        """
        changed = {copy for node in self.plan.graph.nodes for copy in node.updated}
        for node in self.plan.graph.nodes:
            if (held := held_by(node)) is not node and not isinstance(node.type, TupleType):
                self.in_place[node] = held
        for step in self.plan.steps:
            if isinstance(step, planned.AliasStep):
                (self.in_place if step.node in changed else self.aliases)[step.node] = step.operand
        for node, operand in kept_values(self.plan.graph, self.inner, self.layouts):
            if self.resolve(operand) in self.fixed:
                self.in_place[node] = operand

    def kept(self, node: Node) -> dict[int, Node]:
        """The operands of an operation in whose memory, which is ``fixed``, results stay, by the numbers of these."""
        found = kept_results(node, self.inner[node], self.layouts)
        return {number: one for number, one in found.items() if self.resolve(one) in self.fixed}

    @property
    def _returned(self) -> tuple[Node, ...]:
        """The outputs but for those that are stored into memory of parameters, and those that nobody reads."""
        outputs = self.plan.graph.outputs
        for number, place in self.written:
            assert self.resolve(outputs[number]) is self.plan.graph.parameters[place], "a result is not stored"
        stored = {number for number, _ in self.written}
        return tuple(outputs[number] for number in self._read if number not in stored)

    @lazy
    def _read(self) -> tuple[int, ...]:
        """The numbers of the outputs that somebody reads, or that are stored."""
        return tuple(number for number, memory in enumerate(self.memories) if memory != UNREAD)

    @lazy
    def viewed(self) -> frozenset[Node]:
        """The outputs that are made by NumPy's index operations."""
        return frozenset(step.node for step in self.plan.steps if isinstance(step, planned.ViewStep))

    @lazy
    def multiplied(self) -> dict[Node, Piece]:
        """The library steps that run among the kernels."""
        steps = (step for step in self.plan.steps if isinstance(step, planned.LibraryStep))
        views = {step.node: tuple(map(self._buffer, step.node.inputs)) for step in steps}
        pieces = {
            node: library_piece(node, of, self.layouts, self.libraries, self.machine) for node, of in views.items()
        }
        return {node: piece for node, piece in pieces.items() if piece is not None}

    def _buffer(self, node: Node) -> View:
        """Return where the elements of an operand lie."""
        view = view_of(node, self.layouts) if node in self.viewed else None
        return view or View(node, self.layouts.strides(node), 0)

    @lazy
    def _read_whole(self) -> frozenset[Node]:
        """Return what the caller gets, and what steps that are no kernels read."""
        steps = (step for step in self.plan.steps if isinstance(step, WHOLE))
        read = {source for step in steps if step.node not in self.multiplied for source in step.node.inputs}
        return frozenset(read.union(self.plan.graph.outputs[number] for number in self._read))

    def _is_kernel(self, step: planned.Step) -> bool:
        return isinstance(step, planned.KERNELS) or step.node in self.multiplied

    @lazy
    def _tested(self) -> frozenset[planned.Step]:
        """The steps before which the program looks at conditions."""
        return tested_before(self.plan.steps, self.stores.copies, self.multiplied)

    @lazy
    def _left(self) -> frozenset[planned.Step]:
        """The loops that change memory of the caller's, and that signals may end behind a turn: runs of their own."""
        loops = (step for step in self.plan.steps if isinstance(step, planned.LoopKernelStep))
        fixed = (step for step in loops if any(self.resolve(one) in self.fixed for one in step.results))
        return frozenset(step for step in fixed if not self.is_whole or self.stores.may_end_in(step.node))

    @lazy
    def _behind(self) -> frozenset[planned.Step]:
        """The steps behind these."""
        return frozenset(two for one, two in itertools.pairwise(self.plan.steps) if one in self._left)

    def _check_order(self, step: planned.Step) -> None:
        """TargetError where a call might be left to NumPy when it has begun to write to arguments."""
        late = not self.first and isinstance(step, planned.KernelStep)
        for statement in step.statements if late and isinstance(step, planned.KernelStep) else ():
            if isinstance(statement, Check) and is_demand(statement.target.inputs[0]):
                raise TargetError("the function raises an error after it has written to an argument")

    def _breaks(self, step: planned.Step) -> bool:
        """Return whether a run of kernels ends at the step."""
        if self._begins_run(step):
            return True
        if isinstance(step, planned.ViewStep):
            return step.node in self._read_whole
        return isinstance(step, WHOLE) and not self._is_kernel(step)

    def _begins_run(self, step: planned.Step) -> bool:
        """Return whether the kernels before a step are a run of their own, though it belongs to one itself."""
        if step in self._left or step in self._behind:
            return True
        return step in self._tested or (isinstance(step, planned.LibraryStep) and step.node in self.rooms)

    @lazy
    def rooms(self) -> Mapping[Node, Node]:
        """The values that get memory of their own length, and what says it."""
        found = rooms_of(self.plan) if self.is_whole else {}
        return {node: ends for node, ends in found.items() if node in self.multiplied}

    def _make_room(self, node: Node) -> None:
        """Adds the step that makes room for a value, if it gets memory of its own length."""
        if node not in self.rooms:
            return
        results = self.slot(node), self.slot(object())
        step = RoomStep((self._source(self.rooms[node]),), results, node.aval.dtype)
        self.steps.append(step)
        self.windows[node] = step

    @lazy
    def _seen(self) -> frozenset[Node]:
        """The effects that somebody would notice a second time: what is printed, drawn, or changed outside."""
        return frozenset(filter(is_seen, self.plan.graph.effects))

    @property
    def _comes_first(self) -> bool:
        """Return whether NumPy can do the call from the beginning after an error here."""
        return self.first and not self.was_seen

    def resolve(self, node: Node) -> Node:
        """The node whose buffer holds the value: the first that was written there, through updates and aliases."""
        while (place := self._place(node)) in self.aliases:
            node = self.aliases[place]
        return place

    def _place(self, node: Node) -> Node:
        """The first value of the same dimensions in the buffer that the node is written into."""
        while node in self.in_place:
            node = self.in_place[node]
        return node

    def _needed(self, pieces: Sequence[tuple[LoweredKernel, str]]) -> tuple[Node, ...]:
        """Nodes that something besides the kernels reads: outputs in their order, then the others in theirs."""
        wanted = {*self._read_whole, *self.rooms.values()}
        for step in self.plan.steps:
            if isinstance(step, planned.ViewStep) and self._breaks(step):
                wanted.add(view_chain(step.node)[0])
        wanted |= set(map(self.resolve, wanted))
        wanted |= self._read_later(pieces)
        others = (node for node in self.plan.graph.nodes if node in wanted)
        outputs = (self.plan.graph.outputs[number] for number in self._read)
        return tuple(dict.fromkeys(map(self._place, (*outputs, *others))))

    def _read_later(self, pieces: Sequence[tuple[LoweredKernel, str]]) -> set[Node]:
        """The values that kernels of several runs work on; others are temporaries of the only run that does."""
        lowered, run = iter(pieces), 0
        first, found = dict[Node, int](), set[Node]()
        for step in self.plan.steps:
            run += self._breaks(step)
            if isinstance(step, planned.KERNELS):
                pointers = next(lowered)[0].pointers
            elif step.node in self.multiplied:
                pointers = self.multiplied[step.node].pointers
            else:
                continue
            bases = {self.resolve(node) for node, _ in pointers}
            found |= {base for base in bases if first.setdefault(base, run) != run}
        return found

    def _flush(self, needed: tuple[Node, ...]) -> None:
        if not self.segment.pieces:
            return
        specs: dict[Node, ArraySpec | ScalarSpec] = dict(zip(self.plan.graph.parameters, self.specs, strict=True))
        changes = False
        for piece in self.segment.pieces:
            for (node, _), written in zip(piece.pointers, piece.written, strict=True):
                base = self.resolve(node)
                changes |= written and base in self.fixed
                if written and base.op is PROJECT and base.inputs[0] in self.slots:
                    self._source(base)  # of a tuple that a library made, over which the kernel writes
                if base not in specs and base.op is not CONSTANT:
                    room = self.windows.get(base)
                    specs[base] = room.window if room else array_spec(base, self.layouts)
        alone = self.is_whole and not any(map(self._breaks, self.plan.steps))
        given = self.plan.graph.parameters if alone else ()
        step, inputs, results = self.segment.step(self.resolve, self.layouts, specs, needed, given, begun=self.slots)
        for node in results:
            self.slot(node)
        windows = {base: room.results[1] for base, room in self.windows.items()}
        # Elements of a tuple that a library made are taken out here.
        sources = tuple(windows[node] if node in windows else self._source(node) for node in inputs)
        made = tuple(self.slots[node] for node in results)
        failures = tuple(dataclasses.replace(one, first=self._comes_first) for one in step.failures)
        begun = bool(self.written) and not self.first if self.is_whole else changes
        final = begun and not self.segment.may_end
        step = dataclasses.replace(step, lasting=step.lasting and not final, final=final, failures=failures)
        self.steps.append(dataclasses.replace(step, inputs=sources, results=made))
        self.segment = Segment(self.machine)

    def slot(self, node: object) -> int:
        """The slot of a value."""
        if node not in self.slots:
            self.slots[node] = next(self.numbers)
        return self.slots[node]

    def array(self, node: Node) -> int:
        """The slot of a value that is read whole, as an array."""
        source = self._source(node)
        if source in self.arrays or not (node in self.scalars and source == self.slots[node]):
            return self.arrays.get(source, source)
        self.arrays[source] = self._copy(source)
        return self.arrays[source]

    def handed_over(self, node: Node, to: Node) -> int:
        """The slot of an array, packed in row-major order, that nothing else holds.

        It is the value itself where only one operand of one operation reads that, else a copy.
        """
        source = self._source(node)
        if node in to.updated:  # what the operation changes is its own
            return source
        alone = self._reads.count((node, to)) == self._times_read(node) == 1 and node not in self.aliases
        if alone and node not in self.viewed and (node in self.owned or is_owned(node, self.plan)):
            return source
        return self._packed(node, self._copy(source))

    @lazy
    def _reads(self) -> list[tuple[Node, Node]]:
        return [(source, reader) for reader in self.plan.graph.nodes for source in reader.inputs]

    def _times_read(self, node: Node) -> int:
        return sum(source is node for source, _ in self._reads) + sum(one is node for one in self.plan.graph.outputs)

    @lazy
    def scalars(self) -> frozenset[Node]:
        """The parameters that may be numbers of Python."""
        pairs = zip(self.plan.graph.parameters, self.specs, strict=True)
        return frozenset(node for node, spec in pairs if isinstance(spec, ScalarSpec) or not spec.shape)

    def _packed(self, node: Node, copied: int) -> int:
        """The slot of a copy of a value, packed in the order of its type."""
        if self.layouts.strides(node) == packed_strides(node.aval):
            return copied
        layout = array_spec(node, Layouts({}))
        result = self.slot(object())
        self.steps.append(ReshapeStep((copied,), (result,), layout))
        return result

    def _whole(self, step: planned.Step) -> None:
        if isinstance(step, planned.ViewStep):
            chain = view_chain(step.node)
            stored = step.node in self.slots  # what reads it whole reads that, and the caller sees the base
            self.shown[step.node] = self.slot(object()) if stored else self.slot(step.node)
            self._view(chain, self._source(chain[0]), self.shown[step.node])
            return
        assert isinstance(step, WHOLE)
        node = step.node
        if isinstance(step, planned.ControlStep):
            self.steps.append(STEPS[node.op.control](self, node))
            return
        inputs = tuple(self._source(source) for source in node.inputs)
        reason = step.reason if isinstance(step, planned.HostStep) else ""
        layout = None if isinstance(node.type, TupleType) or node.op.trims else array_spec(node, self.layouts)
        recycled = layout is not None and self._is_recycled(node)
        results = (self.slot(node),)
        begins = not node.op.has_effects or self.can_begin
        if self.is_whole and not self.can_begin and may_begin_anew(node):
            raise TargetError("the function calls Python after it has written to an argument")
        self.steps.append(CallStep(operation_of(node), inputs, results, layout, node.where, reason, recycled, begins))

    def _is_recycled(self, node: Node) -> bool:
        """Return whether a library writes its result into memory that is used again."""
        return node.op.takes_out and node.aval.nbytes >= SMALLEST_BYTES and self.layouts.is_row_major(node)

    def _source(self, node: Node) -> int:
        """The slot of a value that is read whole; reshapes and constants are made on the way."""
        node = self._place(node)
        if node in self.slots:
            return self.slots[node]
        if node.op is CONSTANT:
            self.steps.append(ConstantStep(constant_of(node), (), (self.slot(node),)))
        elif node.op.barrier:
            return self._source(node.inputs[0])
        elif node in self.aliases:
            source = self._source(self.resolve(node))
            self.steps.append(ReshapeStep((source,), (self.slot(node),), array_spec(node, self.layouts)))
        elif node.op is PROJECT:
            source, layout = self._source(node.inputs[0]), array_spec(node, self.layouts)
            self.steps.append(CallStep(operation_of(node), (source,), (self.slot(node),), layout, node.where))
        else:
            assert node.aval.size == 0 or node in self.plan.blank, f"{node} was not made"
            self.steps.append(RunStep((), (self.slot(node),), (), (array_spec(node, self.layouts),)))
        return self.slots[node]

    def _outputs(self) -> tuple[int, ...]:
        """The slots of the results. Each is memory of its own, unless NumPy would return a view."""
        outputs = self._returned
        found = [self.shown[node] if node in self.shown else self._source(node) for node in outputs]
        taken = set(self.plan.graph.parameters) - self.owned
        owners: dict[Node, int] = {}
        copies: dict[tuple[Node, int], int] = {}
        views = ((self.views[number], self.memories[number]) for number in self._read)
        for number, (node, (view, memory)) in enumerate(zip(outputs, views, strict=False)):
            chain = view_chain(node) if node in self.viewed else (node,)
            base = self.resolve(chain[0])
            given = base in self.plan.graph.parameters or base.op is CONSTANT
            apart = memory >= 0 and (given or owners.setdefault(base, memory) != memory)
            if view and apart:
                found[number] = self._view(chain, self._copy_for(chain[0], copies, memory), self.slot(object()))
            elif apart and self.is_whole:
                found[number] = self._copy_for(node, copies, memory)
            elif base.op is CONSTANT or (not view and (apart or base in taken or len(chain) > 1)):
                found[number] = self._packed_copy(node, found[number])
            elif view and len(chain) == 1:  # the whole of another result: an array of its own on the same memory
                found[number] = self._view(chain, found[number], self.slot(object()))
            elif view and found[number] in found[:number]:  # two views of one place are two arrays
                found[number] = self._view(chain, self._source(chain[0]), self.slot(object()))
            elif not view:
                taken.add(base)
        return tuple(found)

    def _copy(self, source: int) -> int:
        result = self.slot(object())
        self.steps.append(CopyStep((source,), (result,)))
        return result

    def _packed_copy(self, node: Node, source: int) -> int:
        """A copy of a result; inside of another program it is packed in the order of its type."""
        copied = self._copy(source)
        return copied if self.is_whole or node not in self.plan.graph.parameters else self._packed(node, copied)

    def _copy_for(self, base: Node, copies: dict[tuple[Node, int], int], memory: int) -> int:
        """The slot of what looks like other memory, but is its own in NumPy: one copy for it and all its views."""
        if (base, memory) not in copies:
            copies[base, memory] = self._copy(self._source(base))
        return copies[base, memory]

    def _view(self, chain: tuple[Node, ...], base: int, result: int) -> int:
        of_number = not chain[0].aval.rank
        self.steps.append(ViewStep((base,), (result,), tuple(map(operation_of, chain[1:])), of_number))
        return result
