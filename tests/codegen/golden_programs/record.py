"""The record of a golden program: a function, what it is called with, and one sentence about what becomes of it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
# Of this many elements along an axis a program is run where nothing is compiled.
FEW = 25


@dataclass(frozen=True)
class Golden:
    """A program whose source is kept word for word.

    ``any_size`` says that larger arrays give the same source.
    """

    name: str
    shows: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    any_size: bool = True

    def few(self) -> tuple[Any, ...]:
        """The arguments with few elements along every axis, in the same order in memory."""
        return tuple(one[tuple(slice(FEW) for _ in one.shape)] for one in self.arguments)

    def more(self) -> tuple[Any, ...]:
        """Larger arguments: axes of a few elements stay."""
        shapes = [[size + 100 if size > 8 else size for size in one.shape] for one in self.arguments]
        return tuple(np.ones(shape, one.dtype) for shape, one in zip(shapes, self.arguments, strict=True))

    def text(self) -> str:
        """The program itself, without its docstring."""
        source = textwrap.dedent(inspect.getsource(self.function))
        body = ast.parse(source).body[0]
        if not isinstance(body, ast.FunctionDef):
            return source.strip()
        skip = range(0)
        if ast.get_docstring(body) is not None:
            skip = range(body.body[0].lineno, (body.body[0].end_lineno or 0) + 1)
        numbered = enumerate(source.splitlines(), 1)
        return "\n".join(line for number, line in numbered if number >= body.lineno and number not in skip)


GOLDENS: dict[str, Golden] = {}


def golden(*arguments: Any, shows: str = "", **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a function under its name; its docstring says what it shows."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        name = options.pop("name", function.__name__)
        assert name not in GOLDENS, f"there are two programs {name}"
        sentence = shows or " ".join(inspect.getdoc(function).split())
        GOLDENS[name] = Golden(name, sentence, function, arguments, **options)
        return function

    return add


def numbers(*shape: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    """Some floats between 0.5 and 2, integers from 1 to 19, truth values, complex numbers of such parts."""
    rng = np.random.default_rng(seed)
    match np.dtype(dtype).kind:
        case "i" | "u":
            return rng.integers(1, 20, shape).astype(dtype)
        case "b":
            return rng.integers(0, 2, shape).astype(dtype)
        case "c":
            return (rng.uniform(0.5, 2, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
        case _:
            return rng.uniform(0.5, 2, shape).astype(dtype)
