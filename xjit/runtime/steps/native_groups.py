"""The parts of a program that run natively: neighbouring steps with loops or branches that need no Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from xjit.dataclass import dataclass
from xjit.runtime.calls.records import Conditions, FastProgram
from xjit.runtime.spec import (
    Block,
    BranchStep,
    CallStep,
    LoopStep,
    ProgramSpec,
    ReshapeStep,
    RunStep,
    Step,
    ViewStep,
    all_steps,
    blocks_of,
)
from xjit.runtime.steps.kernel_calls import Loading
from xjit.runtime.steps.native_blocks import native_block
from xjit.runtime.steps.program import Part
from xjit.runtime.steps.virtual_code import Layout, NotNativeError, Writer


def whole_program(spec: ProgramSpec, loading: Loading, conditions: Conditions) -> FastProgram | None:
    """The program as one native program; None where a step needs Python, or a result is an argument.

    run   makes s1, s2            run   makes s1, s2
    trim  s1 to s2  makes s3      result s1, which the entry cuts to s2
    result s3
    """
    cuts = cuts_of(spec, loading)
    steps = [step for step in spec.body.steps if not any(step is one for one in cuts.values())]
    outputs = [cuts[slot].inputs[0] if slot in cuts else slot for slot in spec.outputs]
    made = {slot for step in steps if not isinstance(step, ViewStep) for slot in step.results}
    if len(set(outputs) & made) != len(outputs):
        return None
    layouts, given = dict(enumerate(spec.inputs)), range(len(spec.inputs))
    lengths = {step.inputs[0]: step.inputs[1] for step in cuts.values()}
    try:
        return native_block(steps, layouts, outputs, loading, given, conditions, lengths).program
    except NotNativeError:
        return None


def cuts_of(spec: ProgramSpec, loading: Loading) -> dict[int, CallStep]:
    """The steps that trim results along their first axis, by the slots of these. Nothing else reads such a result,
    and nothing touches behind the step what it trims, which is memory that the program has made.
    """
    steps, found, read = spec.body.steps, dict[int, CallStep](), {*spec.outputs}
    own = {slot for step in steps if isinstance(step, RunStep | LoopStep | BranchStep) for slot in step.results}
    reads = Counter([*reads_of(spec.body), *spec.outputs])
    for step in reversed(steps):
        if isinstance(step, CallStep) and _cuts_rows(step, loading):
            source, result = step.inputs[0], step.results[0]
            if source in own - read and reads[result] == spec.outputs.count(result) == 1:
                found[result] = step
        read.update(reads_of_step(step))
    return found


def _cuts_rows(step: CallStep, loading: Loading) -> bool:
    return loading.operation(step.operation.name).trims and dict(step.operation.params)["axes"] == (0,)


@dataclass(eq=False)
class NativeParts:
    """Cuts the blocks of a program into parts, in the order of the program.

    ``layouts`` say of the slots that are filled so far how they lie in memory, ``reads`` how often each is read.
    """

    layouts: dict[int, Layout]
    reads: Counter[int]

    @classmethod
    def of(cls, spec: ProgramSpec) -> NativeParts:
        """Those of a whole program."""
        return cls(dict(enumerate(spec.inputs)), Counter([*reads_of(spec.body), *spec.outputs]))

    def parts(self, block: Block) -> Iterator[Part]:
        """The parts of a block."""
        group: list[tuple[Step, tuple[int, ...]]] = []
        for number, step in enumerate(block.steps):
            spent = block.spent[number] if block.spent else ()
            if not self.learn(step):
                group.append((step, spent))
                continue
            yield from self._grouped(group)
            group = []
            yield Part((step,), spent)
        yield from self._grouped(group)

    def learn(self, step: Step) -> str:
        """Notes the layouts of what a step fills. Returns the reason why it needs Python, empty where it does not."""
        writer = Writer(layouts=dict(self.layouts) if is_control(step) else self.layouts)
        try:
            writer.step(step)
        except NotNativeError as error:
            self._assume(step)
            return str(error)
        self.layouts |= {slot: writer.layouts[slot] for slot in step.results}
        return ""

    def _assume(self, step: Step) -> None:
        """Takes what Python makes for what the step says of it, and what a loop carries for what it starts from.
        Entries look at their arguments, so that this may be wrong.
        """
        for slot in step.results:
            self.layouts.pop(slot, None)
        if isinstance(step, CallStep) and step.layout is not None:
            self.layouts[step.results[0]] = step.layout
        if isinstance(step, LoopStep):
            sources = zip(step.results, step.inputs, strict=True)
            self.layouts |= {slot: self.layouts[source] for slot, source in sources if source in self.layouts}

    def _grouped(self, group: list[tuple[Step, tuple[int, ...]]]) -> Iterator[Part]:
        """The parts of steps that need no Python. A view of an array that others read is taken in Python, too."""
        if not any(is_control(step) for step, _ in group):
            yield from (Part((step,), spent) for step, spent in group)
            return
        steps = tuple(step for step, _ in group)
        inside = Counter(slot for step in steps for slot in reads_of_step(step))
        made = dict.fromkeys(slot for step in steps for slot in step.results)
        wanted = tuple(slot for slot in made if self.reads[slot] > inside[slot])
        for number, (step, dropped) in enumerate(group):
            if isinstance(step, ViewStep | ReshapeStep) and step.results[0] in wanted:
                yield from self._grouped(group[:number])
                yield Part((step,), dropped)
                yield from self._grouped(group[number + 1 :])
                return
        spent = tuple(slot for _, dropped in group for slot in dropped if slot not in made or slot in wanted)
        yield Part(steps, spent, wanted, dict(self.layouts))


def is_control(step: Step) -> bool:
    """Return whether a step has blocks of steps."""
    return isinstance(step, LoopStep | BranchStep)


def reads_of(block: Block) -> Iterator[int]:
    """The slots that the steps of a block read, as often as they do."""
    for step in block.steps:
        yield from reads_of_step(step)


def reads_of_step(step: Step) -> Iterator[int]:
    """The same of one step."""
    yield from step.inputs
    if isinstance(step, LoopStep):
        yield from (step.test, *step.next)
        yield from reads_of(step.condition)
        yield from reads_of(step.body)
    elif isinstance(step, BranchStep):
        for block, values in zip(step.blocks, step.values, strict=True):
            yield from reads_of(block)
            yield from values


def reasons(spec: ProgramSpec) -> tuple[str, ...]:
    """For each loop and branch of a program, outer ones before those in their blocks, the reason why it needs Python;
    empty where it runs natively.
    """
    return tuple(_reasons(spec.body, NativeParts.of(spec), native=False))


def _reasons(block: Block, parts: NativeParts, native: bool) -> Iterator[str]:
    for step in block.steps:
        if native:
            yield from ("" for one in all_steps(Block((step,))) if is_control(one))
            continue
        why = parts.learn(step)
        if is_control(step):
            yield why
            for inner in blocks_of(step):
                yield from _reasons(inner, parts, native=not why)
