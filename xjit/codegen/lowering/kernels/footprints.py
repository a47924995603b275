"""Footprints of nests: the bytes that one iteration of a launch touches, and how far on those of the next one lie.

    for i0 in range(lo, hi):                      a step of the nest touches, in bytes from
        for i1 in range(n0):                      where the pointers of the kernel lead to,
            ... ld(a0, i0 * 800 + i1)               a0: 0 to 8 * n0, 6400 further on in each step
            st(o0, i0 * 800 + i1, ...)              o0: the same, written

Elements at positions that data decides may lie anywhere; loops of unknown length have no footprint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.codegen.rewrites.analysis.dependence import Touch, touches
from xjit.codegen.rewrites.analysis.intervals import interval
from xjit.dataclass import dataclass, replace
from xjit.errors import XjitError
from xjit.ir.loops.intexpr import IntExpr, constant, evaluate, substitute, terms, variable, with_words
from xjit.ir.loops.nodes import (
    LAUNCHED,
    Alloc,
    Argument,
    Barrier,
    Block,
    Check,
    Invoke,
    Let,
    LetInt,
    Loop,
    LoopKind,
    Statement,
    While,
)
from xjit.ir.loops.walk import statements

ENDLESS = 1 << 40
"""More iterations than a launch has."""


class NoFootprintError(XjitError):
    """It is not known what the iterations of a kernel touch; the message says why."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes behind a pointer of a kernel that an iteration touches.

    Those of the first iteration of a nest are ``low`` to before ``high``; each further one touches those that lie
    ``step`` bytes further on. ``slot`` is the number of the pointer. What is not known goes endlessly far.
    """

    slot: int
    low: int
    high: int
    step: int
    written: bool


@dataclass(frozen=True, slots=True)
class NestFootprint:
    """The ``count`` iterations of a launch from ``first`` on, which belong to one nest, and what they touch."""

    first: int
    count: int
    touched: tuple[Footprint, ...]


def footprints(lowered: LoweredKernel) -> tuple[NestFootprint, ...]:
    """The footprints of the nests of a kernel; NoFootprintError where they are not known."""
    if lowered.resumed:
        raise NoFootprintError("a loop of turns is no nest over rows")
    words = dict(zip(lowered.kernel.words or (), lowered.words, strict=True))
    shared = [one for one in lowered.kernel.body if isinstance(one, Loop) and one.kind is LoopKind.PARALLEL]
    for one in statements(lowered.kernel.body):
        _check(one, shared)
    if not shared:
        whole = _touched(lowered, lowered.kernel.body, None, words)
        return (NestFootprint(0, lowered.extent, whole),)
    first_of_all = tuple(one for one in lowered.kernel.body if one not in shared)
    if not all(isinstance(one, LetInt | Alloc | Let) for one in first_of_all):
        raise NoFootprintError("a kernel does more than the iterations that threads share")
    before = _touched(lowered, first_of_all, None, words)
    found, first = list[NestFootprint](), 0
    for loop, count in zip(shared, _counts(lowered, shared, words), strict=True):
        own = _touched(lowered, loop.body, loop.variable, words)
        found.append(NestFootprint(first, count, (*before, *own)))
        first += count
    return tuple(found)


def _check(statement: Statement, shared: Sequence[Loop]) -> None:
    if isinstance(statement, Check | Invoke | Barrier | While):
        raise NoFootprintError(f"a kernel has a {type(statement).__name__}")
    if isinstance(statement, Loop) and statement.kind is LoopKind.PARALLEL and statement not in shared:
        raise NoFootprintError("the loop that threads share is inside of another one")


def _counts(lowered: LoweredKernel, shared: Sequence[Loop], words: Mapping[str, int]) -> list[int]:
    """The number of iterations of each nest."""
    if len(shared) == 1:
        return [lowered.extent]
    low, high = (str(one) for one in LAUNCHED)
    known = {**words, low: 0, high: ENDLESS}
    named = {one.name: one.expr for one in lowered.kernel.body if isinstance(one, LetInt)}
    return [evaluate(named[str(one.stop)], known) for one in shared]


def _touched(
    lowered: LoweredKernel, body: Block, launched: str | None, words: Mapping[str, int]
) -> tuple[Footprint, ...]:
    """The bytes that a block touches, per pointer, direction and step, by the variable that is ``launched``."""
    arguments = {one.buffer.name: (slot, one) for slot, one in enumerate(lowered.kernel.arguments)}
    found: dict[tuple[int, int, bool], Footprint] = {}
    for touch in touches(body):
        if touch.buffer in arguments:
            for one in _of_touch(*arguments[touch.buffer], touch, launched, words):
                key = one.slot, one.step, one.written
                other = found.get(key, one)
                found[key] = replace(other, low=min(one.low, other.low), high=max(one.high, other.high))
    return tuple(found.values())


def _of_touch(
    slot: int, argument: Argument, touch: Touch, launched: str | None, words: Mapping[str, int]
) -> Iterator[Footprint]:
    item = argument.buffer.dtype.itemsize
    place = constant(0)
    for at, stride in zip(touch.index, argument.buffer.strides, strict=True):
        place = place + at * stride
    around = [_in_numbers(one, words) for one in touch.around]
    place = _named(with_words(place, words), around)
    step = sum(times for times, one in terms(place) if launched is not None and one == variable(launched))
    rest = place - variable(launched or "") * step
    loops = [one for one in around if isinstance(one, Loop)]
    if any((one.stop - one.start).value == 0 for one in loops):
        return
    reached = interval(rest, loops)
    ends = (None, None) if reached is None else (reached.low.value, reached.high.value)
    low, high = ends
    if low is None or high is None:
        low, high, step = -ENDLESS, ENDLESS, 0
    yield Footprint(slot, low * item, (high + 1) * item, step * item, touch.written)


def _in_numbers(one: Loop | LetInt, words: Mapping[str, int]) -> Loop | LetInt:
    """A loop or a named integer with numbers in place of words."""
    if isinstance(one, LetInt):
        return replace(one, expr=with_words(one.expr, words))
    return replace(one, start=with_words(one.start, words), stop=with_words(one.stop, words), body=())


def _named(expr: IntExpr, around: Sequence[Loop | LetInt]) -> IntExpr:
    """The expression with named integers written out."""
    for one in reversed(around):
        if isinstance(one, LetInt):
            expr = substitute(expr, {one.name: one.expr})
    return expr
