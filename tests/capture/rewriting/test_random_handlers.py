"""Random functions of statements that may fail, in ``try`` with handlers, loops and branches, beside Python."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, split

_FAILING = (
    "np.linalg.inv({m})",
    "np.linalg.solve({m}, {m} + 1.0)",
    "np.linalg.cholesky({m})",
    "np.linalg.inv({m}) @ np.linalg.cholesky({m} + 0.5)",
    "inverse({m})",
)
_CLAUSES = (
    "except np.linalg.LinAlgError:",
    "except (KeyError, np.linalg.LinAlgError):",
    "except Exception:",
    "except ValueError:",
    "except KeyError:",
    "except:",
)


def inverse(m: Any) -> Any:
    """A helper that may fail between other operations."""
    m = m * 2.0
    return np.linalg.inv(m) + m


class _Text:
    """The text of one function: matrices ``a``, ``b`` and ``c``, a number ``n``, and ``stack`` of matrices."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def function(a, b, stack):", "    c = a * 0.5", "    n = 0.0"]
        self.block("    ", 0, False)
        self.block("    ", 0, False)
        self.lines.append("    return a, b, c, n")

    def block(self, indent: str, depth: int, loop: bool) -> None:
        for _ in range(self.random.randint(1, 2)):
            kinds = [self.simple, self.simple, self.failing, self.failing]
            kinds += [self.try_, self.try_, self.if_, self.loop] if depth < 3 else []
            self.random.choice(kinds)(indent, depth, loop)

    def matrix(self, loop: bool) -> str:
        return self.random.choice(["a", "b", "c", "(a - b)", *(["stack[k]", "stack[k]"] if loop else [])])

    def simple(self, indent: str, depth: int, loop: bool) -> None:
        target = self.random.choice(["a", "b", "c"])
        line = self.random.choice(
            [f"{target}[0] = {target}[1] * 0.5", f"{target} = {target} + 1.0", "n = n + a[0, 0]", "n += 1.0"]
        )
        self.lines.append(indent + line)

    def failing(self, indent: str, depth: int, loop: bool) -> None:
        value = self.random.choice(_FAILING).format(m=self.matrix(loop))
        target = self.random.choice(["c = {}", "b[:] = {}", "n = n + ({}).sum()", "c = c + {}", "a[1] = ({})[0]"])
        self.lines.append(indent + target.format(value))

    def try_(self, indent: str, depth: int, loop: bool) -> None:
        self.lines.append(f"{indent}try:")
        self.block(f"{indent}    ", depth + 1, loop)
        self.failing(f"{indent}    ", depth, loop)
        clauses = [self.random.choice(_CLAUSES)]
        if self.random.random() < 0.3 and clauses[0] != "except:":
            clauses.append(self.random.choice(_CLAUSES[:3]))
        for clause in clauses:
            self.lines.append(indent + clause)
            self.block(f"{indent}    ", depth + 2, loop)
            if loop and self.random.random() < 0.3:
                self.lines.append(f"{indent}    {self.random.choice(['continue', 'break'])}")
            elif self.random.random() < 0.1:
                self.lines.append(f"{indent}    {self.random.choice(['return a, b, c, n', 'raise'])}")
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}else:")
            self.block(f"{indent}    ", depth + 2, loop)
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}finally:")
            self.simple(f"{indent}    ", depth, loop)

    def if_(self, indent: str, depth: int, loop: bool) -> None:
        self.lines.append(f"{indent}if {self.random.choice(['a', 'b', 'c'])}.sum() > {self.random.uniform(-2, 6)}:")
        self.block(f"{indent}    ", depth + 1, loop)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(f"{indent}    ", depth + 1, loop)

    def loop(self, indent: str, depth: int, loop: bool) -> None:
        if loop:
            return self.simple(indent, depth, loop)
        self.lines.append(f"{indent}for k in range(len(stack)):")
        self.block(f"{indent}    ", depth + 1, True)
        return None


def _function(seed: int) -> Any:
    text = "\n".join(_Text(seed).lines) + "\n"
    file = f"<random handlers {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "inverse": inverse, "__name__": __name__}
    exec(compile(text, file, "exec"), namespace)
    return namespace["function"]


def _arguments(seed: int) -> list[tuple[Any, ...]]:
    source = np.random.default_rng(seed)
    found = []
    for kind in range(4):
        matrices = [source.integers(-2, 4, (2, 2)).astype(float) for _ in range(2)]
        if kind % 2:
            matrices = [one @ one.T + np.eye(2) for one in matrices]
        stack = np.stack([*matrices, np.ones((2, 2)), np.eye(2), matrices[0] * 3.0])
        found.append((*matrices, stack if kind else stack[3:]))
    return found


def _outcome(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    given = tuple(one.copy() for one in arguments)
    try:
        return (function(*given), *given)
    except Exception as error:
        return (type(error).__name__,)


def _check(seed: int) -> bool:
    """Check one function; return whether it is compiled."""
    function = _function(seed)
    compiled = xjit.jit(function)
    with split(), np.errstate(all="ignore"):
        for arguments in _arguments(seed):
            check_same(_outcome(compiled, arguments), _outcome(function, arguments))
    return compiled.stats().fallbacks == 0


@pytest.mark.parametrize("start", range(0, 40, 8))
def test_random_functions_are_as_python(start: int) -> None:
    compiled = [_check(seed) for seed in range(start, start + 8)]
    assert sum(compiled) >= 2, "hardly any of them is compiled"
