"""Shrinker of programs as text: statements and parts of expressions are left out while the failure stays."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.text_program import TextProgram

BODIES = ("body", "orelse")
MOST_TURNS = 20_000


def shrunk(program: TextProgram, fails: Callable[[TextProgram], bool], seconds: float = 60.0) -> TextProgram:
    """Return a program with fewer nodes that fails too."""
    stop = time.monotonic() + seconds
    trimmed = without_unused(program)
    program = trimmed if fails(trimmed) else program
    found = True
    while found and time.monotonic() < stop:
        found = False
        for shorter in _shorter(program):
            if time.monotonic() > stop:
                break
            if _ends(shorter) and fails(shorter):
                program, found = shorter, True
                break
    return program


def without_unused(program: TextProgram) -> TextProgram:
    """Return the program without functions, classes and globals that nothing names."""
    tree = ast.parse(program.text)
    while True:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        used |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        kept = [node for node in tree.body if not _made(node) or _made(node) & (used | {"f", "arguments"})]
        if len(kept) == len(tree.body):
            return replace(program, text=ast.unparse(tree) + "\n")
        tree.body = kept


def _made(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module makes."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {one.asname or one.name for one in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {one.id for one in node.targets if isinstance(one, ast.Name)} if isinstance(node, ast.Assign) else set()


def _ends(program: TextProgram) -> bool:
    """Return whether NumPy comes to an end with the program."""
    from tests.fuzz.random_texts import _with_ticks

    try:
        module = TextProgram(_with_ticks(program.text)).module()
        for k, r in program.calls:
            turns = iter(range(MOST_TURNS))
            module.__dict__["_tick"] = lambda turns=turns: next(turns)
            given = module.arguments(k, r)
            try:
                module.f(*given)
            except (StopIteration, NameError, SyntaxError, RuntimeError):
                return False
            except Exception:
                continue
    except Exception:
        return False
    return True


def _shorter(program: TextProgram) -> Iterator[TextProgram]:
    for number in range(len(program.calls)):
        if len(program.calls) > 1:
            calls = program.calls[:number] + program.calls[number + 1 :]
            yield replace(program, calls=calls)
    yield from (replace(program, text=text) for text in _texts(program.text))


def _texts(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for change in _changes(tree):
        other = copy.deepcopy(tree)
        nodes = list(ast.walk(other))
        try:
            change(nodes)
            yield ast.unparse(ast.fix_missing_locations(other)) + "\n"
        except Exception:
            continue


def _changes(tree: ast.Module) -> Iterator[Callable[[list[Any]], None]]:
    """Yield changes of a copy of the tree, given its nodes in order of `ast.walk`: large ones first."""
    nodes = list(ast.walk(tree))
    for place, node in enumerate(nodes):
        for name in BODIES:
            held = getattr(node, name, None)
            if not isinstance(held, list):
                continue
            for number in range(len(held)):
                if len(held) > 1 or name == "orelse":
                    yield lambda them, p=place, b=name, n=number: getattr(them[p], b).pop(n)
    yield from _unwrapped(nodes)
    yield from _simpler(nodes)
    yield from _smaller(nodes)


def _unwrapped(nodes: list[Any]) -> Iterator[Callable[[list[Any]], None]]:
    for place, node in enumerate(nodes):
        for name in BODIES:
            held = getattr(node, name, None)
            for number, inner in enumerate(held if isinstance(held, list) else ()):
                if isinstance(inner, ast.For | ast.While | ast.If | ast.Try | ast.With):

                    def unwrap(them: list[Any], p: int = place, b: str = name, n: int = number) -> None:
                        block = getattr(them[p], b)
                        block[n : n + 1] = block[n].body

                    yield unwrap


def _simpler(nodes: list[Any]) -> Iterator[Callable[[list[Any]], None]]:
    """Yield changes of expressions: each one by a part of it, elements of tuples left out."""
    for place, node in enumerate(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(value, ast.Name | ast.Constant):
                parts = [part for part in ast.walk(value) if isinstance(part, ast.expr) and part is not value]
                for number, part in enumerate(parts[:8]):
                    if isinstance(part, ast.Slice | ast.Starred):
                        continue

                    def put(them: list[Any], p: int = place, b: str = name, n: int = number) -> None:
                        whole = getattr(them[p], b)
                        inner = [one for one in ast.walk(whole) if isinstance(one, ast.expr) and one is not whole]
                        setattr(them[p], b, _as(inner[n], getattr(whole, "ctx", ast.Load())))

                    yield put
                yield lambda them, p=place, b=name: setattr(them[p], b, ast.Constant(1))
            elif isinstance(value, list) and len(value) > 1 and all(isinstance(one, ast.expr) for one in value):
                for number in range(len(value)):
                    yield lambda them, p=place, b=name, n=number: getattr(them[p], b).pop(n)
            elif isinstance(value, list) and value and all(isinstance(one, ast.expr) for one in value):
                for number, one in enumerate(value):
                    if isinstance(one, ast.Name | ast.Constant):
                        continue
                    for inner in range(min(6, sum(isinstance(p, ast.expr) for p in ast.walk(one)) - 1)):

                        def put_in(
                            them: list[Any], p: int = place, b: str = name, n: int = number, i: int = inner
                        ) -> None:
                            held = getattr(them[p], b)
                            parts = [x for x in ast.walk(held[n]) if isinstance(x, ast.expr) and x is not held[n]]
                            held[n] = _as(parts[i], getattr(held[n], "ctx", ast.Load()))

                        yield put_in


def _smaller(nodes: list[Any]) -> Iterator[Callable[[list[Any]], None]]:
    """Yield changes of large whole numbers to smaller ones."""
    for place, node in enumerate(nodes):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 9:
            for value in (node.value // 2, 511, 512, 513, node.value * 3 // 4):
                if value < node.value:
                    yield lambda them, p=place, v=value: setattr(them[p], "value", v)


def _as(node: Any, context: ast.expr_context) -> Any:
    if hasattr(node, "ctx"):
        node.ctx = context
    return node
