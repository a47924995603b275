"""A program after each stage of the pipeline, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xjit.compile import Draft, Stage
from xjit.dataclass import dataclass
from xjit.fusion.plan import ControlStep, FusionGroup, HostStep, KernelStep, Plan, Step
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.loops import show
from xjit.ir.node import Graph, Node
from xjit.ir.printer import graph_text


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage: its name, what it does, the module that does it, and the program after it.

    The text is empty where the stage changed nothing.
    """

    name: str
    does: str
    module: str
    text: str

    def __str__(self) -> str:
        head = f"{self.name}: {self.does} ({self.module})"
        body = self.text or "nothing to do"
        return "\n".join([head, *(f"    {line}".rstrip() for line in body.splitlines())])


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of one call, the traced graph first; ``str()`` is the text."""

    name: str
    reports: tuple[StageReport, ...]

    def __getitem__(self, name: str) -> str:
        """The program after the stage of this name; empty where the stage changed nothing."""
        for report in self.reports:
            if report.name == name:
                return report.text
        known = ", ".join(report.name for report in self.reports)
        raise KeyError(f"no stage is called {name}; the stages are {known}")

    def __str__(self) -> str:
        return "\n\n".join([self.name, *map(str, self.reports)])


def reports(graph: Graph, drafts: Iterable[tuple[Stage, Draft]]) -> Stages:
    """Return what became of a graph in each stage."""
    found = [StageReport("trace", "record the operations of the function", "xjit.capture.capture", graph_text(graph))]
    latest: dict[str, Any] = {"graph": found[0].text}
    for stage, draft in drafts:
        text = _SHOWN[stage.makes](draft)
        changed = text if latest.get(stage.makes) != text else ""
        latest[stage.makes] = text
        found.append(StageReport(stage.name, stage.does, stage.module, changed))
    return Stages(graph.name, tuple(found))


def draft_text(draft: Draft) -> str:
    """The steps of a plan, with those of the plans inside of it."""
    return plan_text(draft.planned, {node: [*map(draft_text, parts)] for node, parts in draft.inner.items()})


def plan_text(plan: Plan, inner: Mapping[Node, Sequence[str]] = MappingProxyType({})) -> str:
    """The steps of a plan: what each kernel runs over and makes, by the names of the graph's text.

    ``inner`` are the texts of the plans of graphs inside of operations.
    """
    names = {node: f"%{number}" for number, node in enumerate(plan.graph.nodes)}
    lines: list[str] = []
    for number, step in enumerate(plan.steps, 1):
        lines += _step_lines(number, step, names)
        if isinstance(step, ControlStep):
            lines += _inner_lines(step.node, inner.get(step.node, ()))
    return "\n".join([*lines, *(f"because: {reason}" for reason in plan.reasons)])


def _inner_lines(node: Node, texts: Sequence[str]) -> Iterator[str]:
    for one, text in zip(inner_graphs(node), texts, strict=False):
        yield f"   {one.graph.name}:"
        yield from (f"     {line}" for line in text.splitlines() or ["nothing to do"])


def _step_lines(number: int, step: Step, names: dict[Node, str]) -> Iterator[str]:
    if isinstance(step, KernelStep):
        tiles = "" if step.tiling is None else f", in tiles of {'x'.join(map(str, step.tiling.sizes))}"
        yield f"{number}. kernel{tiles}"
        for group in step.groups:
            yield from _group_lines(group, names)
        return
    why = f": {step.reason}" if isinstance(step, HostStep) else ""
    yield f"{number}. {type(step).__name__.removesuffix('Step').lower()} {_named(step.node, names)}{why}"


def _group_lines(group: FusionGroup, names: dict[Node, str]) -> Iterator[str]:
    loops = "x".join(map(str, group.dims)) or "1"
    reduced = f" reducing axes {group.reduced}" if group.reduced else ""
    yield f"   loops over {loops}{reduced}"
    for statement in group.statements:
        yield f"     {type(statement).__name__.lower()} {_named(statement.target, names)}"


def _named(node: Node, names: dict[Node, str]) -> str:
    return f"{names.get(node, '')} {node.op.name} {node.type} at {node.where}".strip()


_SHOWN: dict[str, Callable[[Draft], str]] = {
    "graph": lambda draft: graph_text(draft.graph),
    "plan": draft_text,
    "loops": lambda draft: "\n".join(
        show.kernel_text(kernel.kernel) for part in draft.all() for kernel in part.kernels
    ),
    "text": lambda draft: "\n".join(source for part in draft.all() for source in part.sources),
}
