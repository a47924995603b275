"""The parts of a program that run natively: neighbouring steps with loops or branches that need no Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from xjit.dataclass import dataclass, field
from xjit.runtime.calls.records import Conditions, FastProgram
from xjit.runtime.spec import Block, BranchStep, CallStep, LoopStep, ProgramSpec, Step
from xjit.runtime.steps.kernel_calls import Loading
from xjit.runtime.steps.native_blocks import native_block
from xjit.runtime.steps.program import Part
from xjit.runtime.steps.virtual_code import Layout, NotNativeError, Writer


def whole_program(spec: ProgramSpec, loading: Loading, conditions: Conditions) -> FastProgram | None:
    """The program as one native program; None where a step needs Python, or a result is an argument."""
    made = {slot for step in spec.body.steps for slot in step.results}
    if len(set(spec.outputs) & made) != len(spec.outputs):
        return None
    layouts = dict(enumerate(spec.inputs))
    if reason(spec.body.steps, layouts):
        return None
    return native_block(
        spec.body.steps, layouts, spec.outputs, loading, given=range(len(spec.inputs)), conditions=conditions
    ).program


def reason(steps: Sequence[Step], layouts: dict[int, Layout]) -> str:
    """The reason why steps need Python, empty where they do not. ``layouts`` are those of slots that they read."""
    writer = Writer(layouts=dict(layouts))
    try:
        for step in steps:
            writer.step(step)
    except NotNativeError as error:
        return str(error)
    return ""


@dataclass(eq=False)
class NativeParts:
    """Cuts the blocks of a program into parts, in the order of the program.

    ``layouts`` say of the slots that are filled so far how they lie in memory, ``reads`` how often each is read.
    ``reasons`` are those of the loops and branches that need Python, in their order.
    """

    layouts: dict[int, Layout]
    reads: Counter[int]
    reasons: list[tuple[Step, str]] = field(default_factory=list)

    @classmethod
    def of(cls, spec: ProgramSpec) -> NativeParts:
        """Those of a whole program."""
        return cls(dict(enumerate(spec.inputs)), Counter([*reads_of(spec.body), *spec.outputs]))

    def parts(self, block: Block) -> Iterator[Part]:
        """The parts of a block."""
        group: list[tuple[Step, tuple[int, ...]]] = []
        for number, step in enumerate(block.steps):
            spent = block.spent[number] if block.spent else ()
            before = dict(self.layouts) if is_control(step) else {}
            why = self._learn(step)
            if not why:
                group.append((step, spent))
                continue
            yield from self._grouped(group)
            group = []
            if is_control(step):
                self.reasons.append((step, why))
                self.layouts = before
                self._assume(step)
            yield Part((step,), spent)
        yield from self._grouped(group)

    def _learn(self, step: Step) -> str:
        """Notes the layouts of what a step fills. Returns the reason why it needs Python."""
        writer = Writer(layouts=self.layouts)
        try:
            writer.step(step)
        except NotNativeError as error:
            for slot in step.results:
                self.layouts.pop(slot, None)
            if isinstance(step, CallStep) and step.layout is not None:
                self.layouts[step.results[0]] = step.layout
            return str(error)
        return ""

    def _assume(self, step: Step) -> None:
        """What a loop in Python carries lies as it does in the beginning: entries check that."""
        if isinstance(step, LoopStep):
            for slot, source in zip(step.results, step.inputs, strict=True):
                if source in self.layouts:
                    self.layouts[slot] = self.layouts[source]

    def _grouped(self, group: list[tuple[Step, tuple[int, ...]]]) -> Iterator[Part]:
        if not any(is_control(step) for step, _ in group):
            yield from (Part((step,), spent) for step, spent in group)
            return
        steps = tuple(step for step, _ in group)
        inside = Counter(slot for step in steps for slot in reads_of_step(step))
        made = dict.fromkeys(slot for step in steps for slot in step.results)
        wanted = tuple(slot for slot in made if self.reads[slot] > inside[slot])
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
