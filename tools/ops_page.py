"""The operations of xjit.ops: writes docs/ops.md, or checks it.

    python -m tools.ops_page             # writes the page
    python -m tools.ops_page --check     # exit status 1 if the page says something else

Signatures, rules and examples are those of the docstrings. Who computes an operation is seen by planning its example.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xjit import ops
from xjit.compile import lower_graph
from xjit.errors import CaptureError
from xjit.fusion.plan import AliasStep, ControlStep, HostStep, KernelStep, LibraryStep, Step
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT, Trace, TracedValue
from xjit.ir.current import tracing
from xjit.ir.node import Graph
from xjit.ir.opdef import OpDef
from xjit.ops.define.symbolic_value import ScalarValue
from xjit.target import cpu
from xjit.types import type_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ops.md"

HEAD = """\
# Operations

Made by `python -m tools.ops_page` from the docstrings of [xjit.ops](../xjit/ops). Under `@xjit` an operation is

* **kernel**: generated loops, fused with what surrounds them; views and constants, which are no work
* **library**: a call of BLAS, LAPACK, NumPy's sort or FFT, between kernels
* **control**: graphs inside of it, compiled like any others: a loop, or one of several branches
* **effect**: a step of the program in its place, at every call, in the order of the function; a barrier is no work
* **outside**: called outside of compiled functions, or without anything left of it in them

What an operation is composed of stands behind it where that is not its own record.
"""

_LEAVES = (CONSTANT, PARAMETER, PROJECT)


@dataclass(frozen=True)
class Entry:
    """An operation on the page; ``records`` are those that its example is made of."""

    name: str
    module: str
    signature: str
    rule: str
    example: str
    word: str
    records: tuple[OpDef, ...]

    def __str__(self) -> str:
        others = [f"`{op.name}`" for op in self.records if op.name != self.name]
        made = f", of {' '.join(others)}" if others and len(others) <= 12 else ""
        example = f"\n\n```python\n{self.example}\n```" if self.example else ""
        return f"### `{self.name}{self.signature}`\n\n**{self.word}**{made}. {self.rule}{example}\n"


def functions() -> dict[str, Callable[..., Any]]:
    """The public functions by name."""
    found = {name: value for name, value in vars(ops).items() if inspect.isfunction(value)}
    return {name: found[name] for name in sorted(found) if not name.startswith("_")}


def entry(name: str, function: Callable[..., Any]) -> Entry:
    """The entry of a function."""
    text = inspect.cleandoc(function.__doc__ or "")
    rule, _, example = text.partition(">>>")
    graph = graph_of(name, function)
    records = tuple(dict.fromkeys(node.op for node in graph.nodes if node.op not in _LEAVES))
    module = inspect.unwrap(function).__module__
    return Entry(
        name,
        module.removeprefix("xjit.ops.").partition(".")[0],
        _signature(function),
        " ".join(rule.replace(":func:", "").replace("``", "`").split()),
        f">>>{example}".rstrip() if example else "",
        word_of(graph),
        records,
    )


def _signature(function: Callable[..., Any]) -> str:
    """Parameters with their defaults, without types."""
    signature = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def word_of(graph: Graph) -> str:
    """The word for who computes a graph, by the steps of its plan."""
    arrays = [np.zeros(node.aval.shape, node.aval.dtype) for node in graph.parameters]
    lowered = lower_graph(graph, arrays, [False] * len(graph.outputs), target=cpu())
    words = {word for step in lowered.plan.steps if (word := _word(step))}
    if any(node.op.product is not None for node in graph.nodes):
        words |= {"library", "kernel"}  # products by BLAS, and those that are written as sums
    if not words:
        return "kernel" if graph.outputs else "outside"
    return " and ".join(sorted(words, key=_ORDER.index))


_ORDER = ("effect", "control", "library", "NumPy", "kernel")


def _word(step: Step) -> str:
    match step:
        case LibraryStep(node):
            return "effect" if node.op.has_effects else "library"
        case AliasStep(node, _):
            return "effect" if node.op.barrier else ""
        case ControlStep():
            return "control"
        case HostStep():
            return "NumPy"
        case KernelStep():
            return "kernel"
        case _:
            return ""


def graph_of(name: str, function: Callable[..., Any]) -> Graph:
    """The first call of the function in its docstring over arguments in the place of arrays, with the lines before
    it; empty for what belongs outside of compiled functions.
    """
    source = importlib.import_module(inspect.unwrap(function).__module__)
    names = {**vars(source), "ops": ops, "np": np, "print": lambda *values: None}
    trace, leaves = Trace("example", wrap=ScalarValue), []
    for one in doctest.DocTestParser().get_examples(function.__doc__ or ""):
        call = _call_of(name, one.source)
        with tracing(trace), contextlib.suppress(CaptureError):
            if call is not None:
                args, named = _lifted(_arguments(call, names), trace)
                leaves = _leaves(function(*args, **named))
            elif ".start()" not in one.source:
                exec(one.source, names)
        if call is not None:
            break
    return trace.finish(tuple(trace.adopt(leaf.node) for leaf in leaves if isinstance(leaf, TracedValue)))


def _arguments(call: ast.Call, names: dict[str, Any]) -> Any:
    """The positional and the named arguments of a call."""
    given = ast.Call(ast.Name("given", ast.Load()), call.args, call.keywords)
    code = compile(ast.fix_missing_locations(ast.Expression(given)), "<example>", "eval")
    return eval(code, {**names, "given": lambda *args, **named: (args, named)})


def _lifted(value: Any, trace: Trace) -> Any:
    """The value with parameters of a trace in place of its arrays."""
    if isinstance(value, np.ndarray | np.generic):
        return ScalarValue(trace.parameter(type_of(np.asarray(value))), trace)
    if isinstance(value, dict):
        return {key: _lifted(part, trace) for key, part in value.items()}
    return type(value)(_lifted(part, trace) for part in value) if type(value) in (tuple, list) else value


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple | list) else [value]


def _call_of(name: str, source: str) -> ast.Call | None:
    """The first call of the function in a line of an example, or of the one that it has another name for."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [call for call in calls if name in (getattr(call.func, "id", ""), getattr(call.func, "attr", ""))]
    others = [call for call in calls if ast.unparse(call.func).startswith("ops.")]
    return next(iter((*named, *others)), None)


def text() -> str:
    """The whole page."""
    entries = [entry(name, function) for name, function in functions().items()]
    lines = [HEAD, "| operation | computed by |", "| --- | --- |"]
    lines += [f"| [`{one.name}`](#{_anchor(one)}) | {one.word} |" for one in entries]
    for module in sorted({one.module for one in entries}):
        lines += [f"\n## {module.replace('_', ' ').capitalize()}\n"]
        lines += [str(one) for one in entries if one.module == module]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _anchor(one: Entry) -> str:
    """The place that GitHub gives the heading of an entry."""
    kept = re.sub(r"[^\w\- ]", "", f"{one.name}{one.signature}".lower())
    return kept.replace(" ", "-")


def main(arguments: Sequence[str] | None = None) -> int:
    """The tool."""
    parser = argparse.ArgumentParser(prog="python -m tools.ops_page", description=textwrap.dedent(__doc__ or ""))
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    made = text()
    if parser.parse_args(arguments).check:
        return int(PAGE.read_text(encoding="utf-8") != made)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
