"""Typical mistakes of users: each entry is a call that raises, and words that its last line has to contain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import xjit

ROWS = np.arange(12.0).reshape(3, 4)
LINE = np.arange(4.0)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A call that raises ``kind``; the last line of the traceback contains ``cause``.

    ``line`` is text of the user's line, which the traceback shows. ``strict`` refusals raise under strict mode only.
    """

    name: str
    call: Callable[[], Any]
    kind: type[Exception]
    cause: str
    line: str
    strict: bool = False


def add_unequal_shapes(x: Any, y: Any) -> Any:
    doubled = x * 2.0
    return doubled + y


def multiply_matrices(x: Any, y: Any) -> Any:
    return x @ y


def join(x: Any, y: Any) -> Any:
    return np.concatenate([x, y])


def sum_over_a_missing_axis(x: Any) -> Any:
    return np.exp(x).sum(axis=2)


def reshape_to_another_size(x: Any) -> Any:
    return x.reshape(5, 5)


def read_beyond_the_end(x: Any) -> Any:
    return x[7]


def index_too_often(x: Any) -> Any:
    return x[0, 0, 0]


def index_with_a_float(x: Any) -> Any:
    return x[1.5]


def bits_of_floats(x: Any) -> Any:
    return x & 1


def bits_in_a_helper(x: Any) -> Any:
    return helper(x + 1.0)


def helper(x: Any) -> Any:
    return np.bitwise_and(x, 1)


def unknown_keyword(x: Any) -> Any:
    return np.sum(x, axes=0)


def unknown_function(x: Any) -> Any:
    return np.summ(x)


def unknown_method(x: Any) -> Any:
    return x.summ()


def unknown_dtype(x: Any) -> Any:
    return x.astype("flaot32")


def branch_on_a_value(x: Any) -> Any:
    if x.sum() > 0.0:
        return x
    return -x


def float_of_a_value(x: Any) -> Any:
    return x * float(x.max())


def select_by_mask(x: Any) -> Any:
    return x[x > 1.0]


def write_an_element(x: Any) -> Any:
    y = x + 1.0
    y[0] = 0.0
    return y


def find_unique(x: Any) -> Any:
    return np.unique(x)


def solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def wrong_subscripts(x: Any, y: Any) -> Any:
    return np.einsum("ij,jk->ik", x, y)


def subscripts_without_an_operand(x: Any) -> Any:
    return np.einsum("ij,jk->ik", x)


def stack_unequal(x: Any) -> Any:
    return np.stack([x, x[:2]])


def negative_power(x: Any) -> Any:
    return x**-1


def broadcast(x: Any) -> Any:
    return np.broadcast_to(x, (2, 4))


def choose(x: Any, y: Any) -> Any:
    return np.where(x > 0.0, x, y)


def largest_of_nothing(x: Any) -> Any:
    return x[:0].max()


def add_strictly(x: Any, y: Any) -> Any:
    return xjit.ops.add(x, y)


def too_large_a_number(x: Any) -> Any:
    return x + 300


def no_solution_in_a_helper(a: Any) -> Any:
    return inverse(a + 0.0)


def inverse(a: Any) -> Any:
    return np.linalg.inv(a)


def unpack_too_few(x: Any) -> Any:
    a, b = x
    return a + b


def in_place_shape(x: Any, y: Any) -> Any:
    total = x + 1.0
    total += y
    return total


def missing_global(x: Any) -> Any:
    return x * scael  # noqa: F821


def in_numpys_code(x: Any) -> Any:
    return np.apply_along_axis(lambda row: row + LINE[:3], 1, x)


def _call(function: Any, *arguments: Any, **names: Any) -> Callable[[], Any]:
    jitted = xjit.jit(function)
    return lambda: jitted(*arguments, **names)


def _decorate(**options: Any) -> Callable[[], Any]:
    return lambda: xjit.jit(**options)(solve)


SINGULAR = np.zeros((3, 3))

MISTAKES = (
    Mistake("add", _call(add_unequal_shapes, ROWS, np.ones(3)), ValueError, "", "return doubled + y"),
    Mistake("matmul", _call(multiply_matrices, ROWS, ROWS), ValueError, "", "return x @ y"),
    Mistake("concatenate", _call(join, ROWS, LINE), ValueError, "", "return np.concatenate([x, y])"),
    Mistake("axis", _call(sum_over_a_missing_axis, ROWS), ValueError, "", "sum(axis=2)"),
    Mistake("reshape", _call(reshape_to_another_size, ROWS), ValueError, "", "x.reshape(5, 5)"),
    Mistake("index", _call(read_beyond_the_end, ROWS), IndexError, "", "x[7]"),
    Mistake("indices", _call(index_too_often, ROWS), IndexError, "", "x[0, 0, 0]"),
    Mistake("float index", _call(index_with_a_float, ROWS), IndexError, "", "x[1.5]"),
    Mistake("bits", _call(bits_of_floats, ROWS), TypeError, "", "x & 1"),
    Mistake("helper", _call(bits_in_a_helper, ROWS), TypeError, "", "np.bitwise_and(x, 1)"),
    Mistake("keyword", _call(unknown_keyword, ROWS), TypeError, "", "axes=0"),
    Mistake("function", _call(unknown_function, ROWS), AttributeError, "", "np.summ(x)"),
    Mistake("method", _call(unknown_method, ROWS), AttributeError, "", "x.summ()"),
    Mistake("dtype", _call(unknown_dtype, ROWS), TypeError, "", 'x.astype("flaot32")'),
    Mistake("if", _call(branch_on_a_value, ROWS), TypeError, "", "if x.sum() > 0.0", strict=True),
    Mistake("float", _call(float_of_a_value, ROWS), TypeError, "", "float(x.max())", strict=True),
    Mistake("mask", _call(select_by_mask, ROWS), TypeError, "", "x[x > 1.0]", strict=True),
    Mistake("write", _call(write_an_element, ROWS), TypeError, "", "y[0] = 0.0", strict=True),
    Mistake("unique", _call(find_unique, ROWS), TypeError, "", "np.unique(x)", strict=True),
    Mistake("opaque", _call(add_unequal_shapes, object(), ROWS), TypeError, "", "", strict=True),
    Mistake("masked", _call(add_unequal_shapes, np.ma.array([1.0]), ROWS), TypeError, "", "", strict=True),
    Mistake("singular", _call(solve, SINGULAR, SINGULAR), np.linalg.LinAlgError, "", "np.linalg.solve(a, b)"),
    Mistake("inverse", _call(no_solution_in_a_helper, SINGULAR), np.linalg.LinAlgError, "", "np.linalg.inv(a)"),
    Mistake("not square", _call(solve, ROWS, ROWS), np.linalg.LinAlgError, "", "np.linalg.solve(a, b)"),
    Mistake("einsum", _call(wrong_subscripts, ROWS, ROWS), ValueError, "", "np.einsum"),
    Mistake("operands", _call(subscripts_without_an_operand, ROWS), ValueError, "", "np.einsum"),
    Mistake("stack", _call(stack_unequal, ROWS), ValueError, "", "np.stack"),
    Mistake("power", _call(negative_power, np.arange(3)), ValueError, "", "x**-1"),
    Mistake("broadcast", _call(broadcast, ROWS), ValueError, "", "np.broadcast_to"),
    Mistake("where", _call(choose, ROWS, np.ones(3)), ValueError, "", "np.where"),
    Mistake("nothing", _call(largest_of_nothing, ROWS), ValueError, "", "x[:0].max()"),
    Mistake("ops", _call(add_strictly, ROWS, LINE), ValueError, "", "xjit.ops.add(x, y)"),
    Mistake("ops eager", lambda: xjit.ops.add(ROWS, LINE), ValueError, "", "xjit.ops.add(ROWS, LINE)"),
    Mistake("ops dtype", lambda: xjit.ops.add(LINE, LINE.astype(int)), TypeError, "", "xjit.ops.add(LINE, LINE"),
    Mistake("ops text", lambda: xjit.ops.reshape(ROWS, "5"), ValueError, "", "xjit.ops.reshape(ROWS"),
    Mistake("ops reduce", lambda: xjit.ops.iota(xjit.ops.Shape((3,), "f99"), 0), TypeError, "", "xjit.ops.iota("),
    Mistake("number", _call(too_large_a_number, np.ones(3, np.uint8)), OverflowError, "", "x + 300"),
    Mistake("target", _decorate(target="gpu"), ValueError, "", "xjit.jit(**options)"),
    Mistake("errors", _decorate(errors="nump"), ValueError, "", "xjit.jit(**options)"),
    Mistake("option", _decorate(nogil=True), TypeError, "", "xjit.jit(**options)"),
    Mistake("arguments", _call(solve, ROWS), TypeError, "", ""),
    Mistake("argument name", _call(solve, ROWS, c=ROWS), TypeError, "", ""),
    Mistake("unpack", _call(unpack_too_few, ROWS), ValueError, "", "a, b = x"),
    Mistake("in place", _call(in_place_shape, LINE, ROWS), ValueError, "", "total += y"),
    Mistake("global", _call(missing_global, ROWS), NameError, "", "x * scael"),
    Mistake("inner", _call(in_numpys_code, ROWS), ValueError, "", "row + LINE[:3]"),
    Mistake("threads", lambda: xjit.threads(0), ValueError, "", "xjit.threads(0)"),
    Mistake("explain", lambda: xjit.jit(add_unequal_shapes).explain(ROWS, np.ones(3)), ValueError, "", "doubled + y"),
    Mistake("not a function", lambda: xjit.jit(5), TypeError, "", "xjit.jit(5)"),
)
