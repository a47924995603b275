"""Checks of rewrites: pictures in docstrings, results before and after under the executor, on random data."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from xjit.codegen.language.plain_primitives import primitive
from xjit.codegen.rewrites.record import RefusedError, Rewrite, applied
from xjit.ir.loops import show
from xjit.ir.loops.execute import Executor
from xjit.ir.loops.intexpr import IntExpr, as_int, evaluate
from xjit.ir.loops.nodes import Access, Argument, Buffer, Kernel, Loop, Statement, TransposeBlock
from xjit.ir.loops.verify import verify
from xjit.ir.loops.walk import statements, stores

# Of the column in front of a picture's lines.
WIDTH = 12

Arrays = dict[str, np.ndarray[Any, Any]]


def kernel(buffers: Sequence[Buffer], *body: Statement) -> Kernel:
    """A kernel on buffers, of which it updates those that it stores into."""
    stored = {one.buffer for one in stores(body)} | {
        one.target for one in statements(body) if isinstance(one, TransposeBlock)
    }
    accesses = [Access.UPDATE if one.name in stored else Access.READ for one in buffers]
    return Kernel("test", tuple(map(Argument, buffers, accesses)), body)


def loop(variable: str, stop: IntExpr | int, *body: Statement, start: IntExpr | int = 0, **fields: Any) -> Loop:
    return Loop(variable, as_int(start), as_int(stop), body, **fields)


def rewritten(kernel: Kernel, *rewrites: Rewrite) -> Kernel:
    """The kernel after rewrites; the verifier sees it after each one."""
    return applied(verify(kernel), rewrites, verified=True)


def body_text(kernel: Kernel) -> str:
    return "\n".join(show.block_lines(kernel.body))


def picture(rewrite: type[Any], **words: IntExpr) -> tuple[str, str, Rewrite]:
    """Return what a docstring shows: the lines before, those after, and the rewrite, which is written beside the
    latter, perhaps with words.
    """
    lines = rewrite.__doc__.splitlines()
    before = next(at for at, line in enumerate(lines) if line.lstrip().startswith("before  "))
    after = next(at for at, line in enumerate(lines) if line.lstrip().startswith("after  "))
    inside = " " * (lines[before].index("before") + WIDTH)
    last = next(at for at in range(after + 1, len(lines) + 1) if not "".join(lines[at : at + 1]).startswith(inside))
    call = re.search(rf"{rewrite.__name__}\(.*\)$", lines[after])
    assert call is not None, f"the picture of {rewrite.__name__} has no record beside it"
    lines[after] = lines[after][: call.start()]
    parts = (lines[before:after], lines[after:last])
    texts = ["\n".join(line[len(inside) :].rstrip() for line in part).strip() for part in parts]
    return texts[0], texts[1], eval(call.group(), {rewrite.__name__: rewrite, **words})


def assert_pictured(rewrite: type[Any], kernel: Kernel, **words: IntExpr) -> None:
    """The docstring of a rewrite shows what it makes of a kernel."""
    before, after, found = picture(rewrite, **words)
    assert body_text(kernel) == before
    assert body_text(rewritten(kernel, found)) == after


def arrays(kernel: Kernel, words: Mapping[str, int], rng: np.random.Generator) -> Arrays:
    """Random elements for the arguments of a kernel."""
    found = {}
    for argument in kernel.arguments:
        shape = tuple(evaluate(extent, words) for extent in argument.buffer.extents)
        found[argument.buffer.name] = _random(argument.buffer.dtype, shape, rng)
    return found


def _random(dtype: np.dtype[Any], shape: Sequence[int], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)


def executed(kernel: Kernel, given: Arrays, words: Mapping[str, int]) -> tuple[Arrays, int]:
    """Copies of the arrays after a kernel, and its status."""
    copies = {name: array.copy() for name, array in given.items()}
    status = Executor(primitive).run(kernel, copies, words)
    return copies, status


def assert_same(
    before: Kernel, after: Kernel, several: Iterable[Mapping[str, int]], rng: np.random.Generator
) -> None:
    """Two kernels give the same bits for all these words."""
    for words in several:
        given = arrays(before, words, rng)
        expected, found = executed(before, given, words), executed(after, given, words)
        assert found[1] == expected[1]
        for name, array in expected[0].items():
            bits = found[0][name].view(np.uint8), array.view(np.uint8)
            np.testing.assert_array_equal(*bits, err_msg=f"{name} for {words}", strict=True)


def assert_refused(rewrite: Rewrite, kernel: Kernel, reason: str) -> None:
    """A rewrite of a right kernel is refused, in these words."""
    with pytest.raises(RefusedError, match=reason):
        rewrite.apply(verify(kernel))


def extents(*names: str, block: int = 4) -> Iterator[dict[str, int]]:
    """Yield words: none, one, and lengths around a block."""
    for found in itertools.product((0, 1, block - 1, block, block + 1, 2 * block + 3), repeat=len(names)):
        yield dict(zip(names, found, strict=True))
