"""Cases of loops, branches, calls and tuples; expected values are literals, or loops of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.case_values import ALL
from tests.helpers.harness import Case, array
from xjit import ops

I32 = np.int32
F64 = np.float64
ROWS = np.arange(12.0).reshape(3, 4)


def counted(turns: int, body: Any, *state: Any) -> tuple[Any, ...]:
    """The state after so many turns of a body over it."""
    last: tuple[Any, ...] = ops.while_loop(
        lambda t: ops.lt(t[0], I32(turns)),
        lambda t: (ops.add(t[0], I32(1)), *body(*t[1:])),
        (I32(0), *state),
    )
    return last[1:]


def _loops_of_types() -> list[Case]:
    """Two values are exchanged in each turn, an odd and an even number of times, and none."""
    found = []
    for dtype in ALL:
        x, y = array(dtype, [[1, 0], [1, 1]]), array(dtype, [[0, 1], [0, 0]])
        for turns in (0, 3, 4):
            expected = (x, y) if turns % 2 == 0 else (y, x)

            def function(a: Any, b: Any, turns: int = turns) -> Any:
                return counted(turns, lambda p, q: (q, p), a, b)

            found.append(Case("while_loop", function, (x, y), expected, label=f"exchanged{turns}"))
    return found


def _loops() -> list[Case]:
    x, y = ROWS, ROWS * 2.0 + 1.0
    one = array("s32", 1)
    power, total, column = x, F64(0), x.T
    for _ in range(3):
        power, total, column = power * y, total + power.sum(), column + y.T
    return [
        Case(
            "while_loop",
            lambda n: ops.while_loop(lambda i: i < I32(10), lambda i: i * I32(3), n),
            (one,),
            array("s32", 27),
        ),
        Case(
            "while_loop",
            lambda n: ops.while_loop(lambda i: i < I32(0), lambda i: i * I32(3), n),
            (one,),
            one,
            label="zero",
        ),
        Case(
            "while_loop", lambda a, b: counted(3, lambda p: (ops.mul(p, b),), a), (x, y), (power,), label="captured"
        ),
        Case("while_loop", lambda a, b: counted(3, lambda p: (b,), a), (x, y), (y,), label="of_captured"),
        Case("while_loop", lambda a, b: counted(3, lambda p, q: (p, p), a, b), (x, y), (x, x), label="same"),
        Case(
            "while_loop",
            lambda a: counted(2, lambda p, q: (q, ops.add(p, q)), a, a),
            (x,),
            (x * 2, x * 3),
            label="twice",
        ),
        Case(
            "while_loop",
            lambda a: counted(3, lambda p: (np.ones((3, 4)),), a),
            (x,),
            (np.ones((3, 4)),),
            label="constant",
        ),
        Case(
            "while_loop",
            lambda a, b: counted(3, lambda p, s: (p * b, s + ops.reduce(p, F64(0), ops.add, (0, 1))), a, F64(0)),
            (x, y),
            (power, np.asarray(total)),
            label="summed",
        ),
        Case(
            "while_loop",
            lambda a, b: counted(3, lambda p: (p + ops.transpose(b, (1, 0)),), ops.transpose(a, (1, 0))),
            (x, y),
            (column,),
            label="transposed",
        ),
        Case(
            "while_loop",
            lambda a, b: counted(2, lambda p: counted(3, lambda q: (q + p * b,), p), a),
            (x, y),
            (x * (1 + 3 * y) ** 2,),
            ulp=4,
            label="nested",
        ),
        Case(
            "while_loop",
            lambda a: counted(3, lambda p: (ops.reshape(ops.transpose(ops.reshape(p, (4, 3)), (1, 0)), (3, 4)),), a),
            (x,),
            (_turned(x, 3),),
            label="turned",
        ),
        Case("while_loop", lambda a: counted(5, lambda p: (ops.neg(p),), a), (x[:0],), (x[:0],), label="empty"),
        Case(
            "while_loop",
            lambda a: counted(5, lambda p: (ops.neg(p),), a),
            (x[::2, ::-1],),
            (-x[::2, ::-1],),
            label="strided",
        ),
        Case("while_loop", _deep, (x,), (x + 2, x * 4), label="tuples"),
        Case("while_loop", _in_branches, (x,), (x * 4 - 1,), label="in_branches"),
        Case(
            "while_loop",
            _scalar_from_a_loop,
            (array("s32", 1), x, y, array("f64", 3)),
            (4 * x + 12 * y,),
            label="scalar",
        ),
        Case(
            "while_loop", lambda a: ops.while_loop(lambda p: ops.lt(p, F64(2)), lambda p: p, a), (x,), ops.ShapeError
        ),
        Case("while_loop", lambda a: ops.while_loop(lambda p: p, lambda p: p, a), (x,), ops.DTypeError),
        Case(
            "while_loop",
            lambda a: counted(2, lambda p: (ops.convert_element_type(p, "f32"),), a),
            (x,),
            ops.DTypeError,
        ),
        Case("while_loop", lambda a: counted(2, lambda p: (ops.reshape(p, (12,)),), a), (x,), ops.ShapeError),
        Case("while_loop", lambda a: counted(2, lambda p: (p, p), a), (x,), ops.ArgumentError),
        Case("while_loop", lambda a: ops.while_loop(lambda p, q: p, lambda p: p, a), (x,), ops.ArgumentError),
    ]


def _turned(x: Any, turns: int) -> Any:
    for _ in range(turns):
        x = x.reshape(4, 3).T.reshape(3, 4)
    return x


def _deep(x: Any) -> Any:
    """A state of nested tuples."""

    def body(state: Any) -> Any:
        count, (a, (b,)) = state
        return count + I32(1), (a + F64(1), (b * F64(2),))

    _, (a, (b,)) = ops.while_loop(lambda state: state[0] < I32(2), body, (I32(0), (x, (x,))))
    return a, b


def _in_branches(x: Any) -> Any:
    """Doubles in a loop, and takes one away behind it, by a branch that the count chooses."""

    def body(count: Any, a: Any) -> Any:
        doubled = lambda v: counted(2, lambda w: (w * F64(2),), v)[0]  # noqa: E731
        return count + I32(1), ops.conditional(count, (doubled, lambda v: v - F64(1)), (a, a))

    return counted(2, body, I32(0), x)[1:]


def _scalar_from_a_loop(index: Any, x: Any, y: Any, factor: Any) -> Any:
    """A number that one loop has made is read in a loop inside of another one."""

    def chosen(state: Any) -> Any:
        a, b, c = state
        (last,) = counted(1, lambda v: (v - F64(1),), c)

        def turn(p: Any) -> Any:
            return (counted(1, lambda q, r: (q + r * last, r * F64(0.5)), p, b)[0] * F64(2),)

        return counted(2, turn, a)

    return ops.conditional(index, (lambda state: (state[0],), chosen), ((x, y, factor),) * 2)


def _branches_of_types() -> list[Case]:
    found = []
    for dtype in ALL:
        x, y = array(dtype, [1, 0, 1]), array(dtype, [0, 1, 0])
        for number, expected in ((0, x), (1, y), (2, y), (-1, y)):
            found.append(
                Case(
                    "conditional",
                    lambda i, a, b: ops.conditional(i, (lambda p: p, lambda p: p), (a, b)),
                    (array("s32", number), x, y),
                    expected,
                    label=f"{dtype}{number}",
                )
            )
    return found


def _branches() -> list[Case]:
    x, y = ROWS, ROWS * 2.0 + 1.0
    yes, no = array("pred", 1), array("pred", 0)

    def either(p: Any, a: Any, b: Any) -> Any:
        return ops.conditional(p, a, lambda v: ops.neg(v), b, lambda v: v * v)

    def captured(p: Any, a: Any, b: Any) -> Any:
        return ops.conditional(p, (a, b), lambda t: (t[0] * b, a, a), (), lambda t: (b, b, ops.transpose(a, (0, 1))))

    def broken(one: Any, other: Any) -> Any:
        return lambda p, a: ops.conditional(p, a, one, a, other)

    same = lambda v: v  # noqa: E731
    return [
        Case("conditional", either, (yes, x, y), -x),
        Case("conditional", either, (no, x, y), y * y, label="false"),
        Case("conditional", captured, (yes, x, y), (x * y, x, x), label="captured"),
        Case("conditional", captured, (no, x, y), (y, y, x), label="captured_false"),
        Case("conditional", lambda i, a: ops.conditional(i, (same,), (a,)), (array("s32", 7), x), x, label="single"),
        Case(
            "conditional",
            lambda p, a: ops.conditional(p, (), lambda t: a, (), lambda t: np.ones((3, 4))),
            (no, x),
            np.ones((3, 4)),
            label="no_operand",
        ),
        Case("conditional", broken(same, lambda v: ops.convert_element_type(v, "f32")), (yes, x), ops.DTypeError),
        Case("conditional", broken(same, lambda v: ops.reshape(v, (12,))), (yes, x), ops.ShapeError),
        Case("conditional", broken(same, lambda v: (v, v)), (yes, x), ops.ArgumentError),
        Case("conditional", broken(same, same), (array("s32", 1), x), ops.DTypeError, label="pred"),
        Case("conditional", broken(same, same), (array("pred", [1]), x), ops.ShapeError, label="pred"),
        Case(
            "conditional",
            lambda i, a: ops.conditional(i, (same,), (a,)),
            (array("s64", 0), x),
            ops.DTypeError,
            label="index",
        ),
        Case("conditional", lambda i, a: ops.conditional(i, (), ()), (array("s32", 0), x), ops.ArgumentError),
        Case(
            "conditional",
            lambda i, a: ops.conditional(i, (same,), (a, a)),
            (array("s32", 0), x),
            ops.ArgumentError,
            label="counts",
        ),
        Case(
            "conditional",
            lambda i, a: ops.conditional(i, a),
            (array("s32", 0), x),
            ops.ArgumentError,
            label="arguments",
        ),
    ]


def _calls() -> list[Case]:
    x, y = ROWS, ROWS * 2.0 + 1.0
    return [
        Case("call", lambda a, b: ops.call(lambda p, q: p - q, a, b), (x, y), x - y),
        Case("call", lambda a, b: ops.call(lambda t: (t[1], t[0]), (a, b)), (x, y), (y, x), label="tuple"),
        Case("call", lambda a: ops.call(lambda: ops.neg(a)), (x,), -x, label="no_arguments"),
        Case("call", lambda a: ops.call(lambda p, q: p, a), (x,), ops.ArgumentError),
        Case("make_tuple", lambda a, b: ops.make_tuple(a, ops.neg(b)), (x, y), (x, -y)),
        Case("make_tuple", lambda a: ops.make_tuple(a, (a, a))[1], (x,), (x, x), label="nested"),
        Case("get_tuple_element", lambda a, b: ops.neg(ops.get_tuple_element((a, b), 1)), (x, y), -y),
        Case("get_tuple_element", lambda a: ops.get_tuple_element((a,), 1), (x,), ops.ArgumentError),
        Case(
            "get_tuple_element", lambda a: ops.get_tuple_element((a,), -1), (x,), ops.ArgumentError, label="negative"
        ),
        Case("get_tuple_element", lambda a: ops.get_tuple_element(a, 0), (x,), ops.ArgumentError, label="array"),
        Case("get_tuple_element", lambda i: ops.get_tuple_element((i,), i), (array("s32", 0),), ops.DTypeError),
    ]


def _root(x: Any) -> tuple[Any, Any]:
    """Newton's square root by a loop, and its number of turns."""
    after: tuple[Any, Any] = ops.while_loop(
        lambda t: ops.gt(ops.abs(t[0] * t[0] - x), F64(1e-9)),
        lambda t: (F64(0.5) * (t[0] + x / t[0]), t[1] + I32(1)),
        (x, I32(0)),
    )
    return after


def _root_in_python(x: float) -> tuple[float, int]:
    value, turns = x, 0
    while abs(value * value - x) > 1e-9:
        value, turns = 0.5 * (value + x / value), turns + 1
    return value, turns


def _at_each(function: Any, *arrays: Any) -> Any:
    found = [function(*map(float, values)) for values in zip(*(one.ravel() for one in arrays), strict=True)]
    return np.array(found, F64).reshape(arrays[0].shape)


def _folded(function: Any, start: float, rows: Any) -> Any:
    """A left fold of every row."""
    found = []
    for row in rows.reshape(rows.shape[0], -1):
        total = start
        for value in row:
            total = function(total, float(value))
        found.append(total)
    return np.array(found)


def _maps_with_loops() -> list[Case]:
    x = ROWS + 0.5
    y = x[::-1].copy()
    roots = _at_each(lambda v: _root_in_python(v)[0], x)
    turns = _at_each(lambda v: _root_in_python(v)[1], x).astype(np.int32)

    def either(a: Any, b: Any) -> Any:
        return ops.conditional(ops.lt(a, b), a, lambda p: p * p, b, lambda p: _root(p)[0])

    def wide(v: Any) -> Any:
        return ops.reduce(ops.mul(ops.broadcast(v, (3,)), np.arange(3.0)), F64(0), ops.add, (0,))

    def root(a: Any) -> Any:
        return ops.map((a,), lambda v: _root(v)[0])

    def chosen(p: Any, a: Any) -> Any:
        return ops.map((a,), lambda v: ops.conditional(p, v, lambda q: -q, v, lambda q: q + q))

    mixed = _at_each(lambda a, b: a * a if a < b else _root_in_python(b)[0], x, y)
    return [
        Case("map", root, (x,), roots, label="loop"),
        Case("map", lambda a: ops.map((a,), lambda v: _root(v)[1]), (x,), turns, label="turns"),
        Case("map", lambda a, b: ops.map((a, b), either), (x, y), mixed, label="branch"),
        Case("map", chosen, (array("pred", 1), x), -x, label="common_branch"),
        Case("map", chosen, (array("pred", 0), x), x + x, label="common_branch_false"),
        Case("map", lambda a: ops.map((a,), wide), (x,), x * 3.0, label="inner_arrays"),
        Case("map", root, (x[:0],), x[:0], label="loop_of_nothing"),
        Case("map", root, (x[1, 1],), roots[1, 1], label="loop_of_one"),
        Case("map", lambda a: ops.map((a,), wide), (x[:0],), x[:0], label="inner_arrays_of_nothing"),
    ]


def _folds_with_loops() -> list[Case]:
    x = ROWS + 0.5

    def smaller(a: Any, v: Any) -> Any:
        return ops.conditional(ops.lt(v, a), a, lambda q: q - v, v, lambda q: q * a)

    def rooted(a: Any, v: Any) -> Any:
        return _root(ops.abs(a + v))[0]

    rows = _folded(lambda a, v: a - v if v < a else v * a, 1.0, x)
    whole = _folded(lambda a, v: _root_in_python(abs(a + v))[0], 1.0, x.reshape(1, -1))[0]
    columns = _folded(lambda a, v: _root_in_python(abs(a + v))[0], 1.0, x.T.copy())

    def both(a: Any, b: Any) -> Any:
        return ops.reduce((a, b), (F64(1), I32(0)), lambda p, n, v, k: (rooted(p, v), n + k), (0,))

    return [
        Case("reduce", lambda a: ops.reduce(a, F64(1), smaller, (1,)), (x,), rows, label="branch"),
        Case("reduce", lambda a: ops.reduce(a, F64(1), rooted, (1, 0)), (x,), np.asarray(whole), label="loop"),
        Case("reduce", both, (x, np.ones((3, 4), np.int32)), (columns, np.full(4, 3, np.int32)), label="loop_of_two"),
        Case("reduce", lambda a: ops.reduce(a, F64(1), rooted, (0,)), (x[:0],), np.ones(4), label="loop_of_nothing"),
    ]


def _associative() -> list[Case]:
    found = []
    for size in range(10):
        values = np.arange(1, size + 1, dtype=np.int32)
        sums, products = np.cumsum(values, dtype=np.int32), np.cumprod(values[::-1], dtype=np.int32)[::-1]

        def backwards(a: Any) -> Any:
            return ops.associative_scan(lambda p, q: p * q, a, 0, True)

        found.append(
            Case("associative_scan", lambda a: ops.associative_scan(ops.add, a), (values,), sums, label=str(size))
        )
        found.append(Case("associative_scan", backwards, (values,), products, label=f"backwards{size}"))
    table = np.arange(21).reshape(3, 7)
    gains, offsets = table.copy(), table.copy()
    for k in range(1, 7):
        gains[:, k] = gains[:, k - 1] * table[:, k]
        offsets[:, k] = table[:, k] * offsets[:, k - 1] + table[:, k]

    def affine(a: Any) -> Any:
        return ops.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, a), 1)

    def broken(fn: Any, dimension: Any = 0) -> Any:
        return lambda a: ops.associative_scan(fn, a, dimension)

    return [
        *found,
        Case("associative_scan", affine, (table,), (gains, offsets), label="affine"),
        Case("associative_scan", broken(lambda p, q: ops.convert_element_type(p, "f32")), (table,), ops.DTypeError),
        Case("associative_scan", broken(lambda p, q: ops.reshape(p, (p.shape[0] * 7,))), (table,), ops.ShapeError),
        Case("associative_scan", broken(lambda p, q: (p, q)), (table,), ops.ArgumentError),
        Case("associative_scan", broken(lambda p: p), (table,), ops.ArgumentError, label="arity"),
        Case("associative_scan", broken(ops.add, 2), (table,), ops.ArgumentError, label="dimension"),
    ]


CASES = [
    *_loops_of_types(),
    *_loops(),
    *_branches_of_types(),
    *_branches(),
    *_calls(),
    *_maps_with_loops(),
    *_folds_with_loops(),
    *_associative(),
]
