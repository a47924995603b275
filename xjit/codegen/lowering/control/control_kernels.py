"""A loop that carries values, or a branch, as one kernel: the nests of its graphs between statements of control.

    x = while_loop(i < n, (i + 1, x * a + b))       if lo == 0:
                                                      o1[] = a0[]; o2[j] = a1[j] for all j
                                                      o0[] = o1[] < a2[]
                                                    i = o1[]; more = o0[]; turn = lo
                                                    while more and turn < hi:
                                                      o2[j] = o2[j] * a3[] + a4[] for all j
                                                      i = i + 1; more = i < a2[]; turn = turn + 1
                                                    o1[] = i; o0[] = more

A call of the kernel runs the turns from ``lo`` to ``hi`` at most, and leaves behind what the next call goes on with:
the runtime looks at signals in between.  The condition of the next turn is a part of each turn, planned and lowered
together with it.  A loop inside of another one, or of a branch, runs to its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence

from xjit.alignment import SMALLEST_BYTES
from xjit.codegen.lowering.check_flags import noted_at_once
from xjit.codegen.lowering.control.blocked_rows import NoBlocksError, in_blocks_of_rows, reckoned_turns
from xjit.codegen.lowering.control.bounded_loops import run_uncounted
from xjit.codegen.lowering.control.counted_calls import counted_turns, counter_of_calls
from xjit.codegen.lowering.control.drawn_numbers import drawn
from xjit.codegen.lowering.control.pauses import Pauses
from xjit.codegen.lowering.control.places import Places, own_node, packed_view
from xjit.codegen.lowering.control.taking import Later, made_in
from xjit.codegen.lowering.control.turn_rewrites import with_jammed_turns, with_jumps, with_scattered_stores
from xjit.codegen.lowering.control.turns_apart import (
    counter_of_turns,
    loop_of_turns,
    shared_turns,
    with_own_registers,
)
from xjit.codegen.lowering.control.two_turns import exchanged
from xjit.codegen.lowering.kernels.launch import launched
from xjit.codegen.lowering.kernels.nests import KernelInProgress, LoweredKernel
from xjit.codegen.lowering.scopes import Scope
from xjit.codegen.rewrites.record import RefusedError, Rewrite
from xjit.codegen.rewrites.storage.keep_in_register import KeepInRegister, kept_in_registers
from xjit.dataclass import dataclass, field, replace
from xjit.errors import XjitError
from xjit.fusion.buffers.handed_on import begun_in_place, handed_on
from xjit.fusion.buffers.memory import spent_in_kernels
from xjit.fusion.buffers.operands import View
from xjit.fusion.buffers.updates import held_by
from xjit.fusion.plan import (
    AliasStep,
    BranchKernelStep,
    FusionGroup,
    KernelStep,
    LibraryStep,
    LoopKernelStep,
    SubPlan,
)
from xjit.ir.inner_graphs import changed_parameters, inner_graphs
from xjit.ir.loops.build import equal, number, position, truth
from xjit.ir.loops.nodes import (
    LAUNCHED,
    Alloc,
    Block,
    Carry,
    If,
    Kernel,
    Let,
    Statement,
    Var,
    While,
)
from xjit.ir.loops.walk import loads, renamed, statements
from xjit.ir.node import Node
from xjit.machine import Machine
from xjit.types import BOOL, INT64, TupleType


def lower_control(step: LoopKernelStep | BranchKernelStep, machine: Machine, varying: bool = False) -> LoweredKernel:
    """Lowers a loop or a branch. Numbers of the program stay out of the text if they are known to be ``varying``."""
    if isinstance(step, BranchKernelStep):
        own = _begun(machine, varying)
        own.places.see_outside(*step.results, *(view.base for view in step.operands))
        return replace(own.lowered(tuple(own.branch(step))), in_place=handed_on(step))
    if step.blocked:
        lowered: LoweredKernel | None = _in_blocks(step, machine, varying)
    else:
        lowered = _apart(step, machine, varying)
    if lowered is None and step.apart:
        refusal = NoBlocksError("turns need each other")
        refusal.way = step.node.param("apart")
        raise refusal
    if lowered is None:
        own = _begun(machine, varying)
        lowered = own.lowered(tuple(own.resumable(step, own_node(INT64))), resumed=True)
    return replace(lowered, in_place=begun_in_place(step))


def _begun(machine: Machine, varying: bool, joined: bool = False) -> ControlKernel:
    building = KernelInProgress.of(machine, varying)
    return ControlKernel(building, Places(building.nest, building.pointers, joined))


def _apart(step: LoopKernelStep, machine: Machine, varying: bool) -> LoweredKernel | None:
    """The kernel of a loop whose turns threads share, if they need no others; its mark says that they are enough."""
    count = counter_of_turns(step)
    if count is None:
        return None
    own = _begun(machine, varying)
    try:
        turns = tuple(loop_of_turns(own, step, count))
        # The more turns there are, the less of long windows each is likely to have: pieces have enough of them.
        own.work *= count.turns / (max(machine.most_pieces, count.turns**0.5) if step.apart else 1)
        return own.lowered(turns, apart=True)
    except RefusedError:
        return None


def _in_blocks(step: LoopKernelStep, machine: Machine, varying: bool) -> LoweredKernel:
    """The kernel of a loop in blocks of rows, which may be those of copies in one loop, or in one for each axis.

    Where functions have rare arguments they are called, so that loops over rows are not cut into strips.
    """
    calling = replace(machine, called_functions=1)
    for one, joined in itertools.product((machine, calling), (True, False)):
        own = _begun(one, varying, joined)
        try:
            number = step.node.kwargs.get("masked")
            mask = None if number is None else step.results[number]
            return own.lowered(tuple(own.in_blocks(step)), blocked=True, mask=mask)
        except NoBlocksError as error:
            refusal = error
    refusal.way = step.node.param("blocked")
    raise refusal


@dataclass(eq=False)
class ControlKernel:
    """The statements of one kernel, and what is known of them: their groups, the rewrites of these, their work.

    Of so many loops a turn is written twice. A turn that finds a condition of the ``statuses`` not to hold is the
    last; where no call leaves a turn, a register says that one has ``failed``.
    """

    building: KernelInProgress
    places: Places
    groups: list[FusionGroup] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    allocs: list[Alloc] = field(default_factory=list)
    statuses: dict[Node, None] = field(default_factory=dict)
    failed: Node | None = None
    work: float = 0.0
    turns: int = 0
    draws: bool = False
    pauses: Pauses | None = None

    # ------------------------------------------------------------------ plans of graphs

    def steps(self, sub: SubPlan, kept: dict[Node, Node], owned: Sequence[Node] = ()) -> Iterator[Statement]:
        """The steps of a graph. Parameters that nobody reads any more may be overwritten with those they are
        ``kept`` for; a loop may go on in the memory of those that are ``owned``, and of what the graph has made.
        """
        spent = iter(spent_in_kernels(sub.plan, frozenset(kept)))
        for node in sub.plan.graph.nodes:
            if (held := held_by(node)) is not node and not isinstance(node.type, TupleType):
                self.places.put(node, held)
        later = Later(sub.plan, self.places, owned)
        for step in sub.plan.steps:
            later.begin(step)
            match step:
                case KernelStep():
                    yield from self._nests(step, sub, next(spent), kept)
                case AliasStep(node, operand):
                    self.places.put(node, operand)
                case LoopKernelStep():
                    yield from self.loop(step, later)
                case BranchKernelStep():
                    yield from self.branch(step)
                case LibraryStep(node) if node.op.draws is not None:
                    yield drawn(node, node.op.draws(node.kwargs), self.places)
                    self.work += node.op.draws(node.kwargs).cost * node.aval.size
                    self.draws = True
                case _:
                    raise XjitError(f"a {type(step).__name__} is in no kernel; this is a mistake of the compiler")

    def _nests(
        self, step: KernelStep, sub: SubPlan, spent: frozenset[Node], kept: dict[Node, Node]
    ) -> Iterator[Statement]:
        """The nests of a kernel, the iterations of all loops one after the other."""
        nest, plan = self.building.nest, sub.plan
        nest.scopes, nest.outermost = [Scope(None, frozenset())], 0
        nest.section += 1
        self.building.checks.flags.clear()
        arrays = frozenset(node for node in spent if node.aval.rank)
        built = self.building.scheduled(
            step.groups, sub.layouts, plan.leaves, plan.stored, arrays, step.tiling, kept, shared=False
        )
        nest.section += 1
        self.statuses.update(dict.fromkeys(self.building.checks.flags))
        for target, source in built.in_place.items():
            self.places.put(target, source)
        self.groups += step.groups
        self.rewrites += built.rewrites
        self.work += built.work
        self.allocs += (one for one in built.kernel.body if isinstance(one, Alloc))
        body = [one for one in built.kernel.body if not isinstance(one, Alloc)]
        if self.failed is None or not self.building.checks.flags:
            yield from body
        else:
            yield from noted_at_once(body, self.building.checks, self.places.stored(self.failed, truth(True)))

    def _given(self, sub: SubPlan, first: int = 0) -> None:
        """Note where the parameters of a graph lie, from some of them on."""
        for parameter, view in list(zip(sub.plan.graph.parameters, sub.operands, strict=True))[first:]:
            self.places.put(parameter, view.base, view.start)

    # ------------------------------------------------------------------ loops

    def loop(self, step: LoopKernelStep, later: Later) -> Iterator[Statement]:
        """A loop that runs to its end, in the memory that it starts from if nobody reads that later."""
        for node, view in zip(step.results, step.first.operands, strict=False):
            if later.may_take(step, view, node):
                self.places.put(node, view.base)
        yield from self._begin(step, step.results)
        more = own_node(BOOL)
        yield from self._first(step, step.results, more)
        before, self.work = self.work, 0.0
        turn = self._turn(step, step.results, more)
        if self.pauses is not None and step in self.pauses.steps:
            self.work += before
            yield from run_uncounted(self.places, step, more, self.pauses.turn, turn)
            yield self.pauses.repeated(more, turn)
        else:
            self.work = before + step.trips * self.work
            yield While(self.places.loaded(more), turn)

    def resumable(self, step: LoopKernelStep, flag: Node) -> Iterator[Statement]:
        """A loop of which a call runs some turns, and whose flag says whether there are more."""
        places, in_place = self.places, begun_in_place(step)
        for node, operand in in_place.items():
            places.put(node, operand)
        places.see_outside(flag, *step.results, *(view.base for view in step.operands))
        go_on = places.stored(flag, number(1))  # takes the first slot
        carried = tuple(
            own_node(node.aval.dtype, node.aval.shape) if _is_own(node) and node not in in_place else node
            for node in step.results
        )
        own = [pair for pair in zip(carried, step.results, strict=True) if pair[0] is not pair[1]]
        scalars = [(mine, node) for mine, node in own if not node.aval.rank]
        self.failed = None if step.lasting else own_node(BOOL)
        more, turn = own_node(BOOL), self.building.nest.fresh("turn")
        first = (*self._begin(step, carried), *self._first(step, carried, more))
        later = [places.stored(mine, places.loaded(node)) for mine, node in scalars]
        self.work, self.pauses = 0.0, Pauses(places, turn, step.lasting)
        begin, body = tuple(self.pauses.begin()), self._turn(step, carried, more)
        waiting = self.pauses.kept(body, carried)
        later += [places.stored(mine, places.loaded(node)) for mine, node in waiting]
        again = (*later, places.stored(more, truth(True)))
        if self.failed is not None and self.statuses:
            yield places.stored(self.failed, truth(False))
        yield If(equal(position(LAUNCHED[0]), number(0)), (*first, *begin), again)
        counter = None if self.pauses.loops else counter_of_calls(step, body)
        if counter is None:
            yield Carry(turn, position(LAUNCHED[0]))
            yield self.pauses.repeated(more, self.pauses.left(body), pausing=False)
        else:
            yield from counted_turns(places, (more, carried[counter]), body)
            yield from (*self._first(step, carried, more), *self._ends(more, self.statuses))
        scalars += waiting
        yield from (places.stored(node, places.loaded(mine)) for mine, node in scalars)
        arrays = [(mine, node) for mine, node in own if node.aval.rank]
        last = (places.copied(packed_view(mine), packed_view(node), node.aval.shape) for mine, node in arrays)
        yield If(places.loaded(more), (go_on,), (places.stored(flag, number(0)), *last))

    def in_blocks(self, step: LoopKernelStep) -> Iterator[Statement]:
        """A loop that each block of rows runs to its end."""
        places, in_place = self.places, begun_in_place(step)
        for node, operand in in_place.items():
            places.put(node, operand)
        places.see_outside(*step.results, *(view.base for view in step.operands))
        carried = [node if node.aval.rank else own_node(node.aval.dtype) for node in step.results]
        more = own_node(BOOL)
        first = (*self._begin(step, carried), *self._first(step, carried, more))
        self.work = 0.0
        turn = self._turn(step, carried, more)
        self.work *= reckoned_turns(step, self.building.nest.machine)
        work, noted = self.with_own_flags((*first, While(places.loaded(more), turn)))
        yield from work
        scalars = [(mine, node) for mine, node in zip(carried, step.results, strict=True) if mine is not node]
        yield from (places.stored(node, places.loaded(mine)) for mine, node in scalars)
        yield from noted

    def with_own_flags(self, block: Block) -> tuple[Block, Block]:
        """The statements with flags of the kernel's own in place of statuses, and those that note the flags."""
        places, flags = self.places, {status: own_node(BOOL) for status in self.statuses}
        begin = [places.stored(flag, truth(False)) for flag in flags.values()]
        own = dict[str, str]()
        for (node, start, _), name in list(places.pointers.names.items()):
            if node in flags:
                own[name] = places.pointers.pointer(flags[node], start, True)
        noted = (If(places.loaded(flag), (places.stored(status, truth(True)),)) for status, flag in flags.items())
        return (*begin, *renamed(block, own)), tuple(noted)

    def reads_statuses(self, block: Block) -> bool:
        """Return whether loops of a block end where a condition does not hold."""
        names = {name for (node, _, _), name in self.places.pointers.names.items() if node in self.statuses}
        return any(load.buffer in names for load in loads(block))

    def _begin(self, step: LoopKernelStep, carried: Sequence[Node]) -> Iterator[Statement]:
        """Gives the carried values their first ones."""
        for node, view in zip(carried, step.first.operands, strict=False):
            if self.places.home(node)[0] is not self.places.home(view.base)[0]:
                yield self.places.copied(view, packed_view(node), node.aval.shape)

    def _first(self, step: LoopKernelStep, carried: Sequence[Node], more: Node) -> Iterator[Statement]:
        """The condition of the first turn."""
        self._carried(step.first, carried)
        yield from self.steps(step.first, {})
        yield self.places.stored(more, self.places.loaded(step.first.plan.graph.outputs[0]))

    def _carried(self, sub: SubPlan, carried: Sequence[Node]) -> None:
        for parameter, node in zip(sub.plan.graph.parameters, carried, strict=False):
            self.places.put(parameter, node)
        self._given(sub, len(carried))

    def _turn(self, step: LoopKernelStep, carried: Sequence[Node], more: Node) -> Block:
        """A turn or two, behind which the carried values are the next ones."""
        self._carried(step.turn, carried)
        graph, places = step.turn.plan.graph, self.places
        *following, condition = graph.outputs
        arrays = [(old, new) for old, new in zip(graph.parameters, following, strict=False) if new.aval.rank]
        seen = set(self.statuses)
        begun, taken = self.turns, {old: new for old, new in arrays if following.count(new) == 1}
        work = tuple(self.steps(step.turn, taken, [old for old, _ in arrays]))
        values, targets = [_view(one, step.turn) for one in (*following, condition)], (*carried, more)
        homes = [places.home(target)[0] for target in targets]
        once = self.turns > begun or bool(step.lasting)
        pairs = {} if once else self._pairs(step.turn, values, homes)
        swaps = {} if once else self._swaps(values, homes)
        kept = pairs.keys() | swaps.keys() | set(swaps.values())
        rest = [one for one in zip(values, targets, homes, strict=True) if one[2] not in kept]
        moved = self._moved([value for value, _, _ in rest], [target for _, target, _ in rest])
        turn = (*work, *moved, *self._ends(more, [one for one in self.statuses if one not in seen]))
        if not pairs and not swaps:
            return turn
        self.turns += 1
        second = exchanged(places, turn, pairs | swaps, set(homes) - kept)
        wholes = [(packed_view(old), value) for old, value in pairs.items()]
        back = [places.copied(replace(to, base=value), to, to.base.aval.shape) for to, value in wholes]
        back += [one for pair in swaps.items() for one in self._moved(list(map(packed_view, reversed(pair))), pair)]
        return (*turn, If(places.loaded(more), second, tuple(back)))

    def _ends(self, more: Node, failed: Collection[Node]) -> Iterator[Statement]:
        """Says that there are no more turns where a condition does not hold."""
        known = failed if self.failed is None or not failed else [self.failed]
        no_more = self.places.stored(more, truth(False))
        return (If(self.places.loaded(status), (no_more,)) for status in known)

    def turn_in_place(self, step: LoopKernelStep, carried: Sequence[Node]) -> Block:
        """A turn that changes the carried arrays where they are. Raises RefusedError where it does not."""
        self._carried(step.turn, carried)
        graph = step.turn.plan.graph
        arrays = [(old, new) for old, new in zip(graph.parameters, graph.outputs, strict=False) if new.aval.rank]
        work = tuple(self.steps(step.turn, dict(arrays), [old for old, _ in arrays]))
        if any(self.places.home(old)[0] is not self.places.home(new)[0] for old, new in arrays):
            raise RefusedError("a turn makes arrays in other memory")
        return work

    def _swaps(self, values: Sequence[View], homes: Sequence[Node]) -> dict[Node, Node]:
        """The carried arrays of which each gets the memory of the other one in a turn."""
        moves = dict[Node, Node]()
        for value, target in zip(values, homes, strict=True):
            home, start = self.places.home(value.base)
            if target.aval.rank and home.type == target.type and not start and value == packed_view(value.base):
                moves[target] = home
        pairs = ((one, other) for one, other in moves.items() if moves.get(other) is one)
        return {one: other for one, other in pairs if homes.index(one) < homes.index(other)}

    def _pairs(self, sub: SubPlan, values: Sequence[View], homes: Sequence[Node]) -> dict[Node, Node]:
        """The carried arrays that a turn makes in other memory, each with that."""
        made, found = made_in(sub.plan), dict[Node, Node]()
        for value, target in zip(values, homes, strict=True):
            home, start = self.places.home(value.base)
            whole = home in made and not start and home.aval.size == target.aval.size
            if whole and home.aval.rank and home not in found.values():
                found[target] = home
        return found

    def _moved(self, values: Sequence[View], targets: Sequence[Node]) -> Iterator[Statement]:
        """Gives targets their values, all at once."""
        places, waiting = self.places, list[tuple[View, Node]]()
        homes = {places.home(target)[0] for target in targets}
        for value, target in zip(values, targets, strict=True):
            home, shape = places.home(value.base)[0], target.aval.shape
            if home is places.home(target)[0]:
                continue
            if home in homes:  # another target may get its value before this one is read
                between = packed_view(own_node(target.aval.dtype, shape))
                yield places.copied(value, between, shape)
                value = between
            waiting.append((value, target))
        yield from (places.copied(value, packed_view(target), target.aval.shape) for value, target in waiting)

    # ------------------------------------------------------------------ branches

    def branch(self, step: BranchKernelStep) -> Iterator[Statement]:
        """One of several blocks, which change operands in place where all of them do so."""
        for node, operand in handed_on(step).items():
            self.places.put(node, operand)
        branch = Var(self.building.nest.fresh("branch"), step.choice.base.aval.dtype)
        yield Let(branch.name, self.places.loaded(step.choice.base))
        before, heaviest = self.work, 0.0
        blocks = list[Block]()
        for sub, inner in zip(step.branches, inner_graphs(step.node), strict=True):
            self.work = 0.0
            pairs = zip(inner.graph.parameters, sub.plan.graph.parameters, strict=True)
            changed = changed_parameters(step.node, inner)
            blocks.append(tuple(self._block(sub, step.results, [one for given, one in pairs if given in changed])))
            heaviest = max(heaviest, self.work)
        self.work = before + heaviest
        chosen = blocks[-1]
        for place, block in reversed(list(enumerate(blocks[:-1]))):
            same = equal(branch, number(place, branch.dtype))
            chosen = (If(same, block, chosen),)
        yield from chosen

    def _block(self, sub: SubPlan, results: Sequence[Node], owned: Sequence[Node]) -> Iterator[Statement]:
        """One of the blocks, behind which the results have its values: those that it makes are made there."""
        self._given(sub)
        yield from self.steps(sub, {}, owned)
        places, made = self.places, made_in(sub.plan)
        for value, target in zip(sub.plan.graph.outputs, results, strict=True):
            home, start = places.home(value)
            if home is places.home(target)[0]:
                continue
            if home in made and not start and home.aval.size == target.aval.size:
                places.put(home, target)
                made.discard(home)
            else:
                yield places.copied(_view(value, sub), packed_view(target), target.aval.shape)

    # ------------------------------------------------------------------ the kernel

    def lowered(
        self,
        body: Block,
        *,
        resumed: bool = False,
        blocked: bool = False,
        apart: bool = False,
        mask: Node | None = None,
    ) -> LoweredKernel:
        """The kernel with its scalars in registers, in blocks of rows or with turns ``apart``.

        With a ``mask`` a block of rows ends as soon as none of its rows goes on.
        """
        nest, settled = self.building.nest, self.places.settled((*self.allocs, *body))
        naive = Kernel("kernel", settled.arguments, settled.body, facts=tuple(nest.facts))
        naive = with_own_registers(naive) if apart else naive
        scalars = [
            one.buffer.name for one in statements(naive.body) if isinstance(one, Alloc) and not one.buffer.extents
        ]
        rewrites: tuple[Rewrite, ...] = tuple(map(KeepInRegister, scalars))
        scheduled = kept_in_registers(naive, scalars)
        if mask is None and not self.draws:
            scheduled, jammed = with_jammed_turns(scheduled, nest.machine)
            rewrites = (*rewrites, *jammed)
        if blocked:
            home = None if mask is None else settled.named(self.places.home(mask)[0])
            scheduled, in_blocks = in_blocks_of_rows(scheduled, nest, settled.nodes, home)
            rewrites = (*rewrites, *in_blocks)
        if apart:
            scheduled, parallelized = shared_turns(scheduled, nest)
            rewrites = (*rewrites, parallelized)
        if not blocked:
            scheduled, jumping = with_jumps(scheduled, choices=not apart, checks=self.failed is not None)
            rewrites = (*rewrites, *jumping)
        scheduled, in_strips = with_scattered_stores(scheduled, nest)
        rewrites = (*rewrites, *in_strips)
        launch = launched(scheduled, nest)
        kernel = launch.kernel
        values = tuple(dict(nest.words.values())[name] for name in kernel.words or ())
        places = tuple((node, 0) for node in settled.nodes)
        done = (*self.rewrites, *rewrites)
        return LoweredKernel(kernel, places, values, launch.extent, self.work, tuple(self.groups), {}, done, resumed)


def _is_own(node: Node) -> bool:
    """Return whether a carried value waits in memory of the kernel's own, in a register or aligned."""
    return not node.aval.rank or node.aval.nbytes < SMALLEST_BYTES


def _view(node: Node, sub: SubPlan) -> View:
    """Return where the elements of a value of a graph lie."""
    return View(node, sub.layouts.strides(node), 0)
