"""Random changes of ordinary programs, called with arguments of other types, layouts and extents.

Programs that people write have more structure than what is put together at random; near them lie those that were
never tried.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import random
import sys
import warnings
from dataclasses import dataclass

import numpy as np

from perf.ordinary.record import Ordinary
from perf.ordinary.table import PROGRAMS
from tests.fuzz.mutants.mutations import mutated
from tests.fuzz.random_texts import is_short
from tests.fuzz.text_program import TextProgram

TURNS = 1500
MOST_ELEMENTS = 4000
SMALL = (5, 6, 9)
"""Extents in the place of larger ones."""
CALLS = (((0, 0), (0, 1)), ((0, 0), (0, 1), (1, 2)), ((0, 0), (1, 1), (0, 2)))
LAYOUTS = ("C",) * 5 + ("F", "every second", "backwards", "turned", "unaligned", "read only")
DTYPES = ("float32", "int64", "float64", "int32", "complex128", "float16", "bool")
FORMS = ("laid_out(given[{0}], {1!r})", "given[{0}].astype({2!r})", "laid_out(given[{0}].astype({2!r}), {1!r})",
         "np.round(given[{0}] * 4) / 4", "np.round(given[{0}])", "given[{3}]", "given[{0}][::-1]", "given[{0}][:0]",
         "given[{0}].T", "given[{3}][...]", "given[{0}][1:]", "np.asarray(given[{0}])[..., None]")  # fmt: skip
ARGUMENTS = """
def arguments(k, r):
    given = list({inputs}(np.random.default_rng(r), *({sizes})[k]))
{changes}    return tuple(given)
"""


@dataclass(frozen=True)
class Original:
    """A program: the module around its function, the function, what makes its arguments."""

    around: str
    function: ast.FunctionDef
    inputs: str
    sizes: tuple[int, ...]


@functools.cache
def originals() -> tuple[Original, ...]:
    """Return the ordinary programs whose text can be changed."""
    return tuple(one for program in PROGRAMS if (one := _original(program)) is not None)


def _original(program: Ordinary) -> Original | None:
    tree = ast.parse(inspect.getsource(sys.modules[program.function.__module__]))
    name, inputs = program.function.__name__, program.inputs.__name__
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions or inputs not in functions:
        return None
    kept = [node for node in tree.body if ast.unparse(node) != "from perf.ordinary.record import Ordinary"]
    kept = [
        node for node in kept if not (isinstance(node, ast.Assign) and "PROGRAMS" in ast.unparse(node.targets[0]))
    ]
    kept = [node for node in kept if (node is not functions[name] and not isinstance(node, ast.ImportFrom | ast.Expr))
            or (isinstance(node, ast.ImportFrom) and node.module != "__future__")]  # fmt: skip
    needed = _needed([*kept], {functions[name], functions[inputs]})
    around = "\n".join(map(ast.unparse, needed)).replace("np.empty", "np.zeros")
    return Original(around, functions[name], inputs, program.sizes["S"])


def _needed(nodes: list[ast.stmt], roots: set[ast.FunctionDef]) -> list[ast.stmt]:
    """Return the nodes of a module that functions use, directly or not."""
    used = {one.id for root in roots for one in ast.walk(root) if isinstance(one, ast.Name)}
    chosen: list[ast.stmt] = []
    while True:
        more = [node for node in nodes if node not in chosen and (_made(node) & used or node in roots)]
        if not more:
            return [node for node in nodes if node in chosen]
        chosen += more
        used |= {one.id for node in more for one in ast.walk(node) if isinstance(one, ast.Name)}


def _made(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {one.asname or one.name for one in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def mutant_text(rng: random.Random) -> TextProgram:
    """Return the next changed program that NumPy runs on its first arguments."""
    while True:
        program = _attempt(rng)
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.suppress(Exception):
                if _is_small(program) and is_short(program, TURNS, raises=rng.random() < 0.1):
                    return program


def _is_small(program: TextProgram) -> bool:
    module = program.module()
    given = [one for k, r in program.calls for one in module.arguments(k, r)]
    return all(np.size(one) <= MOST_ELEMENTS for one in given if isinstance(one, np.ndarray))


def _attempt(rng: random.Random) -> TextProgram:
    original = rng.choice(originals())
    function = mutated(original.function, rng)
    function.name = "f"
    function.body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    function.body = function.body or [ast.Pass()]
    usual = tuple(min(one, rng.choice(SMALL)) for one in original.sizes)
    other = tuple(min(one, rng.choice(SMALL)) for one in original.sizes)
    made = ARGUMENTS.format(inputs=original.inputs, sizes=(usual, other), changes=_changes(original, rng))
    text = ast.unparse(function).replace("np.empty", "np.zeros")  # what is left out may leave memory as it was
    return TextProgram(f"{original.around}\n{made}\n{text}\n", rng.choice(CALLS), watched=True, changed=True)


def _changes(original: Original, rng: random.Random) -> str:
    """Return the lines that change arguments."""
    count, lines = len(original.function.args.args), []
    for _ in range(rng.choice((0, 0, 1, 1, 2)) if count else 0):
        place, other = rng.randrange(count), rng.randrange(count)
        form = rng.choice(FORMS).format(place, rng.choice(LAYOUTS), rng.choice(DTYPES), other)
        lines.append(f"    given[{place}] = {form}\n")
    return "".join(lines)
