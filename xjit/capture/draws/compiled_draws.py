"""Draws that programs do by NumPy's own routines: how the arguments of a method become operands.

rng.normal(1.0, s)       draw random_normal of 1.0, s            if not (s < 0)
rng.uniform(a, b, 10)    draw random_uniform of a, b - a         if b - a is a finite number, and not negative
rng.integers(0, n)       draw bounded integers of 0, n - 1 - 0   if 0 < n

Conditions of numbers that the trace knows are looked at by the draw of an example. Others are conditions of the run.
What is not listed here, or gets arrays of other dimensions than the result has, is a step in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.splits.call_results import traced_results
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import repeats_so_far, settle
from xjit.capture.tracers.errors_in_order import test_ahead_of_effect
from xjit.capture.tracers.provenance import CaptureTrace, position, refuse
from xjit.dataclass import dataclass, field
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import constant, lift
from xjit.ops.effects.expected_results import Results, results_like
from xjit.ops.random.numpy_generators import BIT_GENERATOR, DRAW, ROUTINES, library, single
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import FLOAT32, FLOAT64, INT64, ArrayType, DType, array_type

MOST_UNROLLED = 64
"""Draws of the function's own loops that are traced turn by turn, before these become loops of the graph."""

Dims = tuple[int, ...]

Rule = Callable[[Any], Any]
"""A condition on a number of type F64."""


# ---- rules


def _not_negative(value: Any) -> Any:
    """Not below zero, nor minus zero; NaN is fine."""
    below = ops.or_(ops.lt(value, 0.0), ops.lt(ops.div(1.0, value), 0.0))
    return ops.not_(below)


def _positive(value: Any) -> Any:
    return ops.not_(ops.le(value, 0.0))


def _finite(value: Any) -> Any:
    return ops.and_(ops.is_finite(value), _not_negative(value))


def _rate(value: Any) -> Any:
    """Not negative, and so small that what is drawn stays within integers."""
    most = np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10
    return ops.and_(ops.ge(value, 0.0), ops.le(value, most))


def _probability(value: Any) -> Any:
    return ops.and_(ops.ge(value, 0.0), ops.le(value, 1.0))


def _share(value: Any) -> Any:
    return ops.and_(ops.gt(value, 0.0), ops.le(value, 1.0))


# ---- methods


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a method gets: its default, None where it has none, its rule with that in words, and its type."""

    name: str
    default: float | None = None
    rule: Rule | None = None
    words: str = ""
    dtype: DType = FLOAT64


@dataclass(frozen=True, slots=True)
class Method:
    """A method of generators: NumPy's routine, or that for each element type, and what the method gets ahead of the
    size, and the ``options`` behind it. With ``dims`` it gets dimensions one by one, with ``masked`` integers are
    drawn by bits that fit.
    """

    routine: str | Mapping[DType, str]
    parameters: tuple[Parameter, ...] = ()
    make: Callable[[list[Any]], list[Any]] = field(default=lambda numbers: numbers)
    options: tuple[str, ...] = ()
    dims: bool = False
    masked: bool = False


_OLD = "RandomState."


def _filled(routine: str) -> dict[DType, str]:
    return {FLOAT64: routine, FLOAT32: f"{routine}_f"}


def _at_least_zero(name: str, default: float | None = None) -> Parameter:
    return Parameter(name, default, _not_negative, f"{name} < 0")


def _above_zero(name: str, default: float | None = None) -> Parameter:
    return Parameter(name, default, _positive, f"{name} <= 0")


def _range(numbers: list[Any]) -> list[Any]:
    """The least number, and the length of the range."""
    low, high = numbers
    length = ops.sub(high, low)
    if is_known(low) and is_known(high):
        return [low, length]
    return [low, require(length, _finite(length), "number", "high - low is not a finite number, or negative")]


_SCALE = _at_least_zero("scale", 1.0)
_LOCATED = (Parameter("loc", 0.0), _SCALE)
_TRIALS = (
    Parameter("n", None, lambda value: ops.ge(value, 0), "n < 0", INT64),
    Parameter("p", None, _probability, "p < 0, p > 1 or p contains NaNs"),
)
_LOW_HIGH = (Parameter("low", 0.0), Parameter("high", 1.0))

_BINOMIAL = Method("random_binomial", _TRIALS, lambda numbers: numbers[::-1])

METHODS: dict[str, Method] = {
    "random": Method(_filled("random_standard_uniform_fill"), options=("dtype", "out")),
    "standard_normal": Method(_filled("random_standard_normal_fill"), options=("dtype", "out")),
    "standard_exponential": Method(_filled("random_standard_exponential_fill"), options=("dtype", "method", "out")),
    "standard_cauchy": Method("random_standard_cauchy"),
    "uniform": Method("random_uniform", _LOW_HIGH, _range),
    "normal": Method("random_normal", _LOCATED),
    "laplace": Method("random_laplace", _LOCATED),
    "gumbel": Method("random_gumbel", _LOCATED),
    "logistic": Method("random_logistic", _LOCATED),
    "lognormal": Method("random_lognormal", (Parameter("mean", 0.0), _at_least_zero("sigma", 1.0))),
    "exponential": Method("random_exponential", (_SCALE,)),
    "rayleigh": Method("random_rayleigh", (_SCALE,)),
    "pareto": Method("random_pareto", (_above_zero("a"),)),
    "weibull": Method("random_weibull", (_at_least_zero("a"),)),
    "power": Method("random_power", (_above_zero("a"),)),
    "chisquare": Method("random_chisquare", (_above_zero("df"),)),
    "standard_t": Method("random_standard_t", (_above_zero("df"),)),
    "gamma": Method("random_gamma", (_at_least_zero("shape"), _SCALE)),
    "beta": Method("random_beta", (_above_zero("a"), _above_zero("b"))),
    "f": Method("random_f", (_above_zero("dfnum"), _above_zero("dfden"))),
    "wald": Method("random_wald", (_above_zero("mean"), _above_zero("scale"))),
    "poisson": Method("random_poisson", (Parameter("lam", 1.0, _rate, "lam < 0, lam is NaN or too large"),)),
    "binomial": _BINOMIAL,
    "geometric": Method("random_geometric", (Parameter("p", None, _share, "p <= 0, p > 1 or p contains NaNs"),)),
    f"{_OLD}random": Method("random_standard_uniform_fill"),
    f"{_OLD}random_sample": Method("random_standard_uniform_fill"),
    f"{_OLD}rand": Method("random_standard_uniform_fill", dims=True),
    f"{_OLD}uniform": Method("random_uniform", _LOW_HIGH, _range),
    f"{_OLD}binomial": _BINOMIAL,
    f"{_OLD}randint": Method("random_bounded_uint64_fill", masked=True),
    "integers": Method("random_bounded_uint64_fill"),
}
"""The methods by their names."""


# ---- from a call to a node


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A draw that the program can do: its operands, the first of which are the words of the generator, and params."""

    operands: tuple[Node, ...]
    params: dict[str, Any]
    typed: Results

    def done(self) -> Any:
        """The numbers, drawn here by the trace that is under way."""
        trace = current()
        assert isinstance(trace, CaptureTrace)
        _count(trace)
        _test(trace)
        nodes = tuple(map(trace.adopt, self.operands))
        return traced_results(self.typed, trace.add(DRAW, nodes, self.params, position()), trace)


def compiled_draw(generator: Any, name: str, args: Any, kwargs: dict[str, Any], like: Any) -> Any:
    """The numbers that a method draws in the program; None where a step in Python has to.

    ``generator`` is a deferred object, or NumPy's own RandomState; ``like`` is the draw of an example, in a tuple.
    """
    found = draw_of(generator, name, args, kwargs, like)
    return None if found is None else found.done()


def draw_of(generator: Any, name: str, args: Any, kwargs: dict[str, Any], like: Any) -> Draw | None:
    """The same draw, with the conditions of its arguments, before it is done."""
    trace, typed = current(), None if like is None else results_like(like[0])
    method = method_of(generator, name)
    if method is None or typed is None or len(typed.types) != 1 or not isinstance(trace, CaptureTrace):
        return None
    given = given_arguments(method, args, kwargs)
    routine = None if given is None else _routine(method, given, typed.types[0])
    if given is None or routine is None or library() is None:
        return None
    (type_,) = typed.types
    words = _words(generator, trace)
    operands = _operands(method, name, given, type_.shape)
    if words is None or operands is None:
        return None
    nodes = (words, *(lift(trace, one) for one in operands))
    return Draw(nodes, {"routine": routine, "dims": type_.shape, "masked": method.masked}, typed)


def method_of(generator: Any, name: str) -> Method | None:
    """The method of a generator; None of one that steps in Python call."""
    kind = generator.kind if type(generator) is DeferredObject else type(generator)
    return METHODS.get((_OLD if issubclass(kind, np.random.RandomState) else "") + name)


def _test(trace: CaptureTrace) -> None:
    """Tests what may fail ahead of a draw, if NumPy cannot do the call any more: else the state is put back.

    In loops and branches kernels do so: a test would be a step in Python.
    """
    if repeats_so_far(trace):
        return
    if trace.parent is None:
        test_ahead_of_effect(trace)
    else:
        settle(trace)


def _count(trace: CaptureTrace) -> None:
    """Counts the draws; CaptureError where loops of the user's have made many of them, turn by turn."""
    count = 1 + sum(one.op is DRAW for one in trace.effects)
    if count % MOST_UNROLLED == 0 and trace.recorder.rewriting.ask_for_loops(sys._getframe(2)):
        refuse("a Python loop would be traced turn by turn", fix="draw all numbers at once")


def _words(generator: Any, trace: CaptureTrace) -> Node | None:
    """The words of a bit generator, asked for where the generator is made; None of one that only the trace has."""
    if type(generator) is DeferredObject:
        inside = generator.node  # refuses generators that are gone
        assert generator.source is not None and inside is not None
        return trace.adopt(generator.trace.add(BIT_GENERATOR, (generator.source,), {}, position()))
    if generator is not np.random.mtrand._rand:
        return None
    root: Any = trace
    while root.parent is not None:
        root = root.parent
    return trace.adopt(root.add(BIT_GENERATOR, (), {}, position()))


_BOUNDS = ("low", "high", "size", "dtype", "endpoint")


def given_arguments(method: Method, args: Any, kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by their names; None of more than the method has."""
    if method.dims:
        return {} if not kwargs else None
    bounded = method.routine == "random_bounded_uint64_fill"
    names = _BOUNDS if bounded else (*(one.name for one in method.parameters), "size", *method.options)
    return None if len(args) > len(names) else {**dict(zip(names, args, strict=False)), **kwargs}


def _routine(method: Method, given: dict[str, Any], type: ArrayType) -> str | None:
    """The routine that draws numbers of a type; None where there is none."""
    routine: str | None = None
    if isinstance(method.routine, str):
        routine = method.routine
    else:
        wanted = given.get("dtype", np.float64)
        routine = method.routine.get(type.dtype) if wanted in _TYPES.get(type.dtype, ()) else None
    if routine is None or type != array_type(ROUTINES[routine].dtype, type.shape):
        return None
    return routine if type.shape or method.masked else single(routine) or routine


_TYPES: dict[DType, tuple[Any, ...]] = {
    FLOAT64: (np.float64, float, FLOAT64, "float64", "d"),
    FLOAT32: (np.float32, FLOAT32, "float32", "f"),
}
"""The ways to ask for the numbers of a type."""


def _operands(method: Method, name: str, given: dict[str, Any], dims: Dims) -> list[Any] | None:
    """The operands of a routine; None of arguments that it has no operands for."""
    if name in ("integers", "randint"):
        return _bounds(given)
    known = {*(one.name for one in method.parameters), "size", "dtype", "method"}
    if any(value is not None for one, value in given.items() if one not in known):
        return None
    if given.get("method", "zig") != "zig":
        return None
    numbers = [_number(given.get(one.name, one.default), one.dtype, dims) for one in method.parameters]
    if any(number is None for number in numbers):
        return None
    return method.make([_held(one, number) for one, number in zip(method.parameters, numbers, strict=True)])


def _held(parameter: Parameter, number: Any) -> Any:
    """The number, with the condition that it meets its rule; of a number that the trace knows the example tells."""
    if parameter.rule is None or is_known(number):
        return number
    return require(number, parameter.rule(number), "value", parameter.words)


def _bounds(given: dict[str, Any]) -> list[Any] | None:
    """The least integer, and how many there are besides."""
    low, high, closed = given["low"], given.get("high"), given.get("endpoint", False)
    if type(closed) is not bool:
        return None
    if high is None:
        low, high = 0, low
    bounds = [_number(one, INT64) for one in (low, high)]
    if any(one is None for one in bounds):
        return None
    low, high = bounds
    last = high if closed else ops.sub(high, 1)
    if not (is_known(low) and is_known(high)):
        holds = ops.le(low, high) if closed else ops.lt(low, high)
        last = require(last, holds, "value", "low > high" if closed else "low >= high")
    return [low, ops.sub(last, low)]


def is_known(number: Any) -> bool:
    """Return whether a number is one that the trace knows."""
    return bool(number.node.op is CONSTANT)


def _number(value: Any, dtype: DType, dims: Dims = ()) -> Any:
    """A number of this type, or one for each that is drawn; None of other arrays and of what is no such number."""
    kinds = "iu" if dtype == INT64 else "iuf"
    if isinstance(value, TracedValue):
        fits = value.shape in ((), dims) and value.dtype.kind in kinds and value.dtype != np.uint64
        trace: Any = current()
        return ops.convert_element_type(trace.wrap(lift(trace, value), trace), dtype) if fits else None
    known = type(value) in (int, float) or isinstance(value, np.integer | np.floating)
    found = np.asarray(value) if known else None
    if found is None or found.dtype.kind not in kinds or found.dtype == np.uint64:
        return None
    return constant(found.astype(dtype))
