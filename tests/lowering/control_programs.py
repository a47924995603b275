"""Programs with loops and branches of little work, each beside the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass

Array = Any
ONE, TWO, THREE = np.int64(1), np.int64(2), np.int64(3)
ZERO = np.float64(0)


@dataclass(frozen=True, slots=True)
class ControlProgram:
    """A function, its arguments, the same in NumPy, and whether that has the same bits."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    expected: Callable[..., Any]
    exact: bool = True


def full(value: Any, like: Array) -> Array:
    return ops.broadcast(value, like.shape)


def turns(count: Array, body: Callable[..., Any], *carried: Array) -> Any:
    """``count`` turns of a body, in front of whose values stands their number."""
    return ops.while_loop(
        lambda state: ops.lt(state[0], count),
        lambda state: (ops.add(state[0], ONE), *body(*state)),
        (np.int64(0), *carried),
    )


def plainly(count: int, body: Callable[..., Any], *carried: Array) -> Any:
    """The same in Python."""
    for number in range(count):
        carried = body(number, *carried)
    return np.int64(count), *carried


def scaled(x: Array, a: Array, b: Array, count: Array) -> Array:
    """Every element by itself: made in place."""
    return turns(count, lambda _, x: (ops.add(ops.mul(x, full(a, x)), full(b, x)),), x)


def populations(x: Array, y: Array, count: Array) -> Array:
    """Two scalars in registers."""

    def body(_: Array, x: Array, y: Array) -> Any:
        p = ops.mul(x, y)
        dx = ops.sub(ops.mul(np.float64(1.1), x), ops.mul(np.float64(0.4), p))
        dy = ops.sub(ops.mul(np.float64(0.1), p), ops.mul(np.float64(0.4), y))
        return ops.add(x, ops.mul(np.float64(0.001), dx)), ops.add(y, ops.mul(np.float64(0.001), dy))

    return turns(count, body, x, y)


def populations_plainly(x: Array, y: Array, count: Array) -> Any:
    def body(_: int, x: Array, y: Array) -> Any:
        p = x * y
        return x + 0.001 * (1.1 * x - 0.4 * p), y + 0.001 * (0.1 * p - 0.4 * y)

    return plainly(count, body, x, y)


def relaxed(u: Array, count: Array) -> Array:
    """Neighbours are needed: two buffers are exchanged."""

    def body(_: Array, u: Array) -> Any:
        n, m = u.shape
        parts = ((0, 1), (n - 2, m - 1)), ((2, 1), (n, m - 1)), ((1, 0), (n - 1, m - 2)), ((1, 2), (n - 1, m))
        above, below, left, right = (ops.slice(u, start, stop, (1, 1)) for start, stop in parts)
        around = ops.add(ops.add(above, below), ops.add(left, right))
        return (ops.pad(ops.mul(around, full(np.float64(0.25), around)), ZERO, ((1, 1, 0), (1, 1, 0))),)

    return turns(count, body, u)


def relaxed_plainly(u: Array, count: Array) -> Any:
    def body(_: int, u: Array) -> Any:
        around = (u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])
        return (np.pad(around * 0.25, 1),)

    return plainly(count, body, u)


def collatz(n: Array) -> Array:
    """The length of the loop depends on its values, which a branch makes."""

    def body(state: Any) -> Any:
        count, value = state
        odd = ops.ne(ops.and_(value, ONE), np.int64(0))
        following = ops.conditional(
            odd,
            value,
            lambda one: ops.add(ops.mul(one, THREE), ONE),
            value,
            lambda one: ops.div(one, TWO),
        )
        return ops.add(count, ONE), following

    return ops.while_loop(lambda state: ops.ne(state[1], ONE), body, (np.int64(0), n))


def collatz_plainly(n: int) -> Any:
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return np.int64(count), np.int64(n)


def shrunk(x: Array, least: Array) -> Array:
    """The condition is a reduction of what the turn makes."""

    def is_long(x: Array) -> Array:
        return ops.gt(ops.reduce(ops.abs(x), ZERO, ops.max, (0,)), least)

    return ops.while_loop(is_long, lambda x: ops.mul(x, full(np.float64(0.75), x)), x)


def shrunk_plainly(x: Array, least: Array) -> Any:
    while np.abs(x).max() > least:
        x = x * 0.75
    return x


def exchanged(x: Array, y: Array, count: Array) -> Array:
    """Arrays that only change their places."""
    return turns(count, lambda _, x, y: (y, x), x, y)


def exchanged_and_changed(x: Array, y: Array, count: Array) -> Array:
    def body(_: Array, x: Array, y: Array) -> Any:
        return ops.add(y, full(np.float64(1), y)), ops.mul(x, full(np.float64(1.5), x))

    return turns(count, body, x, y)


def fibonacci(a: Array, b: Array, count: Array) -> Array:
    return turns(count, lambda _, a, b: (b, ops.add(a, b)), a, b)


def folded_onto_itself(x: Array, count: Array) -> Array:
    return turns(count, lambda _, x: (ops.add(ops.rev(x, (0,)), x),), x)


def one_value_twice(x: Array, count: Array) -> Array:
    def body(_: Array, x: Array, y: Array) -> Any:
        total = ops.add(x, y)
        return total, total

    return turns(count, body, x, x)


def given_and_constant(x: Array, y: Array, count: Array) -> Array:
    """Next values that no turn computes: unchanged, from outside, constant."""
    return turns(count, lambda _, a, b, c, d: (a, y, np.arange(5.0), ops.mul(d, b)), x, x, x, x)


def nested(x: Array, count: Array) -> Array:
    """A loop of known length within a turn."""

    def body(_: Array, v: Array) -> Any:
        return (turns(THREE, lambda _, w: (ops.add(ops.mul(w, full(np.float64(0.5), w)), x),), v)[1],)

    return turns(count, body, x)


def alternating(x: Array, count: Array) -> Array:
    """A branch over arrays within a turn."""

    def body(number: Array, v: Array) -> Any:
        even = ops.eq(ops.and_(number, ONE), np.int64(0))
        half = full(np.float64(1.5), x)
        return (ops.conditional(even, v, lambda a: ops.mul(a, half), v, lambda a: ops.sub(ops.rev(a, (0,)), x)),)

    return turns(count, body, x)


def alternating_plainly(x: Array, count: Array) -> Any:
    return plainly(count, lambda number, v: (v * 1.5 if number % 2 == 0 else v[::-1] - x,), x)


def chosen(number: Array, x: Array, y: Array) -> Array:
    """One of three computations; one of them returns what it is given."""
    return ops.conditional(number, (lambda a: a, lambda a: ops.rev(a, (0,)), lambda a: ops.add(a, y)), (x, y, x))


def chosen_plainly(number: int, x: Array, y: Array) -> Any:
    return (x, y[::-1], x + y)[number if 0 <= number < 3 else 2]


def chosen_pair(first: Array, x: Array, y: Array) -> Array:
    """Results of several ranks, and some that change their places."""

    def one(pair: Any) -> Any:
        return pair[1], pair[0], ops.reduce(pair[0], ZERO, ops.max, (0,))

    def other(pair: Any) -> Any:
        return ops.add(pair[0], pair[1]), pair[0], ops.reduce(pair[1], ZERO, ops.max, (0,))

    return ops.conditional(first, (x, y), one, (x, y), other)


def chosen_pair_plainly(first: bool, x: Array, y: Array) -> Any:
    return (y, x, np.float64(max(x.max(), 0))) if first else (x + y, x, np.float64(max(y.max(), 0)))


def halves(x: Array, count: Array) -> Array:
    """Narrow floats are kept as bits."""
    tenth = np.float16(0.1)
    return turns(count, lambda _, x, s: (ops.add(x, full(tenth, x)), ops.mul(s, np.float16(1.01))), x, tenth)


def halves_plainly(x: Array, count: Array) -> Any:
    tenth = np.float16(0.1)
    return plainly(count, lambda _, x, s: (x + tenth, s * np.float16(1.01)), x, tenth)


def truths(p: Array, count: Array) -> Array:
    return turns(count, lambda _, p: (ops.xor(p, ops.rev(p, (0,))),), p)


def turned(x: Array, count: Array) -> Array:
    return turns(count, lambda _, x: (ops.transpose(x, (1, 0)),), x)


def refilled(x: Array, count: Array) -> Array:
    def body(_: Array, x: Array) -> Any:
        flat = ops.reshape(x, (10,))
        return (ops.reshape(ops.add(flat, full(np.float64(1), flat)), (2, 5)),)

    return turns(count, body, x)


def before_and_after(x: Array, count: Array) -> Array:
    """Kernels around a loop."""
    count, v = turns(count, lambda _, v: (ops.mul(v, full(np.float64(0.5), v)),), ops.add(x, x))
    return ops.add(v, x), count


def from_views(x: Array, count: Array) -> Array:
    """The loop begins with a view, and reads another one in every turn."""
    step = ops.slice(x, (0,), (10,), (2,))
    return turns(count, lambda _, v: (ops.add(v, step),), ops.slice(x, (1,), (10,), (2,)))


def scanned(xs: Array, count: Array) -> Array:
    """An element is read and another one written at the number of the turn, in place."""

    def body(number: Array, total: Array, ys: Array) -> Any:
        value = ops.reshape(ops.dynamic_slice(xs, (number,), (1,)), ())
        total = ops.add(ops.mul(total, np.float64(0.9)), value)
        return total, ops.dynamic_update_slice(ys, ops.reshape(total, (1,)), (number,))

    return turns(count, body, ZERO, full(ZERO, xs))


def scanned_plainly(xs: Array, count: Array) -> Any:
    total, ys = ZERO, np.zeros(xs.shape)
    for number in range(count):
        total = ys[number] = total * 0.9 + xs[number]
    return count, total, ys


def scanned_rows(xs: Array, count: Array) -> Array:
    """The same with rows, of which the old ones are needed as well."""

    def body(number: Array, total: Array, ys: Array) -> Any:
        row = ops.reshape(ops.dynamic_slice(xs, (number, np.int64(0)), (1, xs.shape[1])), total.shape)
        before = ops.reshape(ops.slice(ys, (0, 0), (1, xs.shape[1]), (1, 1)), total.shape)
        total = ops.add(ops.add(ops.rev(total, (0,)), row), before)
        return total, ops.dynamic_update_slice(ys, ops.reshape(total, (1, *total.shape)), (number, np.int64(0)))

    return turns(count, body, ops.broadcast(ZERO, xs.shape[1:]), full(ZERO, xs))


def scanned_rows_plainly(xs: Array, count: Array) -> Any:
    total, ys = np.zeros(xs.shape[1]), np.zeros(xs.shape)
    for number in range(count):
        total = ys[number] = (total[::-1] + xs[number]) + ys[0]
    return count, total, ys


def steepest(x: Array, count: Array) -> Array:
    """Sums of floats in every turn."""

    def body(_: Array, v: Array) -> Any:
        length = ops.sqrt(ops.reduce(ops.mul(v, v), ZERO, ops.add, (0,)))
        return (ops.add(ops.div(v, full(length, v)), x),)

    return turns(count, body, x)


def steepest_plainly(x: Array, count: Array) -> Any:
    return plainly(count, lambda _, v: (v / np.sqrt((v * v).sum()) + x,), x)


FIVE, OTHER = np.arange(5.0) + 0.25, np.linspace(-1, 1, 5)
_RANDOM = np.random.default_rng(7)
_MANY, _SQUARE = _RANDOM.standard_normal(100), _RANDOM.standard_normal((12, 14))
_NINE, _NO, _HALF, _SIXTH = np.int64(9), np.int64(0), np.float64(0.5), np.float64(1 / 6)


def _counted(function: Callable[..., Any], body: Callable[..., Any], *arguments: Any, exact: bool = True) -> Any:
    *carried, count = arguments
    return ControlProgram(function, arguments, lambda *_: plainly(count, body, *carried), exact)


CONTROL_PROGRAMS: dict[str, ControlProgram] = {
    "scaled": ControlProgram(
        scaled,
        (_MANY, _HALF, _SIXTH, _NINE),
        lambda x, a, b, n: plainly(n, lambda _, x: (x * a + b,), x),
    ),
    "scaled, no turn": ControlProgram(scaled, (_MANY, _HALF, _SIXTH, _NO), lambda x, a, b, n: (n, x)),
    "populations": ControlProgram(populations, (np.float64(10), np.float64(5), np.int64(100)), populations_plainly),
    "relaxed": ControlProgram(relaxed, (_SQUARE, _NINE), relaxed_plainly),
    "relaxed, an even number of turns": ControlProgram(relaxed, (_SQUARE, np.int64(8)), relaxed_plainly),
    "collatz": ControlProgram(collatz, (np.int64(27),), collatz_plainly),
    "shrunk": ControlProgram(shrunk, (_MANY, np.float64(1e-3)), shrunk_plainly),
    "exchanged": _counted(exchanged, lambda _, x, y: (y, x), FIVE, OTHER, _NINE),
    "exchanged and changed": _counted(exchanged_and_changed, lambda _, x, y: (y + 1, x * 1.5), FIVE, OTHER, _NINE),
    "fibonacci": _counted(fibonacci, lambda _, a, b: (b, a + b), np.int64(0), ONE, np.int64(50)),
    "folded onto itself": _counted(folded_onto_itself, lambda _, x: (x[::-1] + x,), FIVE, _NINE),
    "one value twice": ControlProgram(
        one_value_twice, (FIVE, _NINE), lambda x, n: plainly(n, lambda _, a, b: (a + b, a + b), x, x)
    ),
    "given and constant": ControlProgram(
        given_and_constant,
        (FIVE, OTHER, _NINE),
        lambda x, y, n: plainly(n, lambda _, a, b, c, d: (a, y, np.arange(5.0), d * b), x, x, x, x),
    ),
    "given and constant, no turn": ControlProgram(
        given_and_constant, (FIVE, OTHER, _NO), lambda x, y, n: (n, x, x, x, x)
    ),
    "nested": _counted(nested, lambda _, v: plainly(3, lambda _, w: (w * 0.5 + FIVE,), v)[1:], FIVE, _NINE),
    "alternating": ControlProgram(alternating, (FIVE, _NINE), alternating_plainly),
    **{
        f"chosen {number}": ControlProgram(chosen, (np.int32(number), FIVE, OTHER), chosen_plainly)
        for number in (-1, 0, 1, 2, 7)
    },
    **{
        f"chosen pair {first}": ControlProgram(chosen_pair, (np.bool_(first), FIVE, OTHER), chosen_pair_plainly)
        for first in (True, False)
    },
    "halves": ControlProgram(halves, (np.arange(5).astype(np.float16), _NINE), halves_plainly),
    "truths": _counted(truths, lambda _, p: (p ^ p[::-1],), np.array([1, 0, 0, 1, 1, 0], bool), THREE),
    "turned": _counted(turned, lambda _, x: (x.T,), _SQUARE[:5, :5].copy(), THREE),
    "refilled": _counted(refilled, lambda _, x: (x + 1,), np.arange(10.0).reshape(2, 5), THREE),
    "before and after": ControlProgram(
        before_and_after, (FIVE, THREE), lambda x, n: (plainly(n, lambda _, v: (v * 0.5,), x + x)[1] + x, n)
    ),
    "from views": ControlProgram(
        from_views, (np.arange(10.0), THREE), lambda x, n: plainly(n, lambda _, v: (v + x[::2],), x[1::2])
    ),
    "nothing": _counted(folded_onto_itself, lambda _, x: (x + x,), np.zeros((0,)), THREE),
    "scanned": ControlProgram(scanned, (_MANY, np.int64(100)), scanned_plainly),
    "scanned in part": ControlProgram(scanned, (_MANY, _NINE), scanned_plainly),
    "scanned rows": ControlProgram(scanned_rows, (_SQUARE, np.int64(12)), scanned_rows_plainly),
    "steepest": ControlProgram(steepest, (_MANY, _NINE), steepest_plainly, exact=False),
}
"""The programs by their names."""
