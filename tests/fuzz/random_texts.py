"""Random programs as text: arguments that may overlap, helpers, globals, and a body that writes and loops."""

from __future__ import annotations

import contextlib
import io
import random
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.random_blocks import block, results
from tests.fuzz.random_expressions import DTYPES
from tests.fuzz.random_helpers import HELPERS
from tests.fuzz.random_patterns import ORDINARY, Vocabulary
from tests.fuzz.scope import FEW, HIDDEN, Ended, Extents, Scope
from tests.fuzz.text_program import TextProgram, laid_out, places, values

LAYOUTS = (
    *("C",) * 12,
    "F",
    "F",
    "every second",
    "backwards",
    "read only",
    "turned",
    "unaligned",
    "repeated",
)
RARE_DTYPES = ("int8", "complex64", "float16")
"""Types without those of no sign: NumPy's conversions of negative floats to them are not defined."""
OVERLAPS = (
    "{0}",
    "{0}[1:]",
    "{0}[::2]",
    "{0}[::-1]",
    "{0}.T",
    "{0}[1::2]",
    "{0}[...]",
    "{0}[:, 0]",
    "{0}[0]",
    "{0}.ravel()",
)
CALLS = (
    *(((0, 0), (0, 1)),) * 4,
    *(((0, 0), (0, 1), (1, 2)), ((0, 0), (1, 1), (0, 2)), ((1, 0), (0, 1), (1, 2)), ((0, 0), (0, 1), (0, 2), (0, 3))),
)


@dataclass(frozen=True)
class Sort:
    """Parts of programs of a sort, beside what all programs have.

    ``around`` gives lines of the module, ``given`` further arguments and what makes them. Arguments have ``dtypes``,
    few of them ``rare`` ones, and one of the ``calls`` is chosen. Bodies have one of the numbers of statements in
    ``sizes``, which hold blocks as deep as one of ``depths``.
    """

    vocabulary: Callable[[random.Random], Vocabulary] = lambda rng: ORDINARY
    around: Callable[[random.Random], list[str]] = lambda rng: []
    given: Callable[[random.Random, list[str]], dict[str, str]] = lambda rng, outer: {}
    watched: bool = False
    extents: Extents = FEW
    dtypes: tuple[str, ...] = DTYPES
    rare: tuple[str, ...] = RARE_DTYPES
    calls: tuple[tuple[tuple[int, int], ...], ...] = CALLS
    sizes: tuple[int, ...] = (2, 3, 4, 5)
    depths: tuple[int, ...] = (0, 1, 2, 2)


PLAIN = Sort()


def _arguments(rng: random.Random, sort: Sort) -> tuple[list[str], list[str]]:
    """Return the parameters and the lines that make them."""
    extents = sort.extents
    lines = [f"n = {rng.choice(extents.lengths)}[k]", f"m = {rng.choice(extents.widths)}[k]"]
    names = []
    for number, name in enumerate(("x", "y", "z")[: rng.choice((1, 2, 2, 3))]):
        first = rng.choice(LAYOUTS)
        layout = f'"{first}"' if rng.random() < 0.9 else f'("{first}", "{rng.choice(LAYOUTS)}")[k]'
        shape = rng.choice(extents.shapes[:6] if number == 0 else extents.shapes)
        text = f'laid_out(values({rng.randrange(50)} + r, "{_dtype(rng, sort)}", {shape}), {layout})'
        if number and rng.random() < 0.35:
            shared = rng.choice(OVERLAPS).format(names[0])
            text = rng.choice((shared, f"{shared} if k else {text}", f"{text} if k else {shared}"))
        lines.append(f"{name} = {text}")
        names.append(name)
    if rng.random() < 0.35:
        lines.append(f"idx = places({rng.randrange(9)} + r, {rng.choice(extents.places)}, len(x))")
        names.append("idx")
    numbers = (
        ("q", "r + 1", "2", "n - 2", "(0, 1)[k]", "np.int64(r)"),
        ("t", "0.5 * r + 0.5", "1.5", "np.float32(r)", "-2.0"),
    )
    more = (*numbers, ("flag", "r > 0", "True"), ("n",), ("rows", "[x, 1]", "(x, r)"))
    for name, *texts in more:
        if rng.random() < (0.5 if name in "qtn" else 0.1):
            lines += [f"{name} = {rng.choice(texts)}"] if texts else []
            names.append(name)
    return names, lines


def _dtype(rng: random.Random, sort: Sort) -> str:
    return rng.choice(sort.dtypes if rng.random() < 0.85 else sort.rare)


def _outer(rng: random.Random) -> list[str]:
    """Return the lines of globals and helpers."""
    lines = ["C = 1"] if rng.random() < 0.2 else []
    lines += [f'G = values({rng.randrange(9)}, "{rng.choice(DTYPES)}", (4,))'] if rng.random() < 0.2 else []
    for text in rng.sample(HELPERS, rng.choice((0, 0, 1, 2))):
        if "global C" not in text or "C = 1" in lines:
            lines += text.split("\n")
    return lines


def random_text(rng: random.Random, sort: Sort = PLAIN) -> TextProgram:
    """Return the next program that NumPy runs on its first arguments."""
    while True:
        with warnings.catch_warnings(), np.errstate(all="ignore", invalid="warn"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="invalid value encountered in cast")
            with contextlib.redirect_stdout(io.StringIO()):
                program = _attempt(rng, sort)
        if program is not None:
            return program


def _attempt(rng: random.Random, sort: Sort) -> TextProgram | None:
    outer, (names, made) = [*sort.around(rng), *_outer(rng)], _arguments(rng, sort)
    for name, text in sort.given(rng, outer).items():
        made.append(f"{name} = {text}")
        names += [] if name in names else [name]
    maker = ["def arguments(k, r):", *(f"    {line}" for line in made)]
    if any(line.startswith("G = ") for line in outer) and rng.random() < 0.2:
        maker.append(f"    {rng.choice(('G[0] = r', 'G[1:] += 1'))}")
    maker.append(f"    return {', '.join(names)},")
    head = "\n".join([*outer, *maker])
    if sort.watched:
        np.random.seed(rng.randrange(1000))
    module = TextProgram(head).module().__dict__
    scope = Scope(rng, {}, sort.extents)
    scope.vocabulary = sort.vocabulary(rng)
    try:
        scope.names = _visible(module, names)
    except (IndexError, TypeError):
        return None
    try:
        body = _body(scope, sort)
    except OverflowError:  # nothing that is small enough is left to be returned
        return None
    if not _says_something(body):
        return None
    text = f"{head}\n\ndef f({', '.join(names)}):\n{textwrap.indent(body, '    ')}\n"
    calls = rng.choice(sort.calls)
    program = TextProgram(text, calls, sort.watched)
    return program if is_short(program, 2 * sort.extents.turns + 200) else None


def _says_something(body: str) -> bool:
    return any(not re.match(r"\s*(pass|return|def|$)", line) for line in body.split("\n"))


def _visible(module: dict[str, Any], names: list[str]) -> dict[str, Any]:
    found = dict(zip(names, module["arguments"](0, 0), strict=True))
    hidden = {*HIDDEN, "arguments"} - {"np"}
    kept = {name: value for name, value in module.items() if name[0] != "_" and name not in hidden}
    return kept | found


def _body(s: Scope, sort: Sort) -> str:
    rng, lines = s.rng, []
    try:
        lines = block(s, rng.choice(sort.sizes), rng.choice(sort.depths))
        lines.append(results(s))
    except Ended:
        lines.append("return None")
    if "C" in s.names and any(line.strip().startswith(("C =", "C +=")) for line in lines):
        lines.insert(0, "global C")
    if rng.random() < 0.05:
        lines = ["def g():", *(f"    {line}" for line in lines), "return g()"]
    return "\n".join(lines)


def is_short(program: TextProgram, most: int, *, raises: bool = False) -> bool:
    """Return whether NumPy ends the program in so many turns; unless it ``raises``, the first call has no error."""
    module = TextProgram(_with_ticks(program.text)).module()
    for number, (k, r) in enumerate(program.calls):
        turns = iter(range(most))
        module.__dict__["_tick"] = lambda turns=turns: next(turns)
        try:
            given = module.arguments(k, r)
        except (IndexError, TypeError):
            return False
        try:
            module.f(*given)
        except StopIteration:
            return False
        except Exception as error:
            if (number == 0 and not raises) or isinstance(error, OverflowError | MemoryError | RuntimeError):
                return False
    return True


def _with_ticks(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        lines.append(line)
        bare = line.lstrip()
        if bare.startswith(("for ", "while ")):
            lines.append(f"{line[: len(line) - len(bare)]}    _tick()")
    return "\n".join(lines)


__all__ = ["laid_out", "places", "random_text", "values"]
