"""A Python number that is an input of the graph: dynamic for as long as only arrays and arithmetic need it.

These are the numbers among the arguments, and those outside of them that are known to change. Where Python itself
needs the number, its value becomes a guard of the trace and plain Python goes on with it, so that Python's exact
rules hold: ZeroDivisionError, integers of any size, formatting.
"""

from __future__ import annotations

import numbers
import operator
import sys
from typing import Any

import numpy as np

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.python_numbers.doubted_operators import call_operator
from xjit.capture.python_numbers.number_attributes import check_attribute
from xjit.capture.tracers.numpy_call import call_function, call_ufunc
from xjit.capture.tracers.operators import COMPARISONS, PYTHON, Operators
from xjit.capture.tracers.provenance import ask_to_rewrite, is_splitting, refuse
from xjit.ir.context import Trace, TracedValue
from xjit.ir.node import Node
from xjit.ops.define.core import apply, registry
from xjit.types import COMPLEX128, FLOAT64, INT64, DType, dtype_class

DTYPES: dict[type, DType] = {int: INT64, float: FLOAT64, complex: COMPLEX128}

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
# What IEEE arithmetic computes exactly as Python does, divisions by what is not zero; powers differ.
_STAYS_DYNAMIC: dict[Any, str] = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.true_divide: "div"}
# Ufuncs in which an integer may change: they treat all numbers alike, and no narrow type has to hold it.
_INTEGER_UFUNCS = frozenset({np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, *COMPARISONS})
# NumPy computes these powers as square, sqrt and so on, with other results for some operands.
_SPECIAL_EXPONENTS = (-1.0, 0.0, 0.5, 1.0, 2.0)
_REAL: tuple[type, ...] = (bool, int, float)
_ARRAYS = (np.ndarray, np.generic)


class TracedScalar(Operators, TracedValue):
    """A weakly typed traced number.

    value    the number in the call that is traced
    sources  the places of the numbers that it was computed from
    """

    __slots__ = ("recorder", "sources", "value")

    def __init__(self, node: Node, trace: Trace, value: Any, sources: tuple[Path, ...], recorder: Any) -> None:
        super().__init__(node, trace, weak=type(value), scalar=True)
        self.value = value
        self.sources = sources
        self.recorder = recorder

    @property
    def __class__(self) -> Any:  # what isinstance and functools.singledispatch see
        return self.weak

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("__class__ assignment is not supported on numbers")

    def constant(self) -> Any:
        """The number itself; from here on the trace holds for this value only."""
        for path in self.sources:
            self.recorder.freeze(path)
        return self.value

    @property
    def is_settled(self) -> bool:
        """Return whether the trace holds for this value only, already."""
        return all(path in self.recorder.frozen for path in self.sources)

    @property
    def is_argument(self) -> bool:
        """Return whether this is an argument as it came in, not a sum or product of arguments."""
        return len(self.sources) == 1 and self.node in self.owner.parameters

    # NumPy's side, and attributes that only its numbers have

    @property
    def dtype(self) -> Any:
        """The element type."""
        check_attribute(type(self.value), "dtype", sys._getframe(1))
        return self.node.aval.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions, of which there are none."""
        check_attribute(type(self.value), "shape", sys._getframe(1))
        return ()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        check_attribute(type(self.value), "ndim", sys._getframe(1))
        return 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_function(func, args, kwargs)

    def as_operand(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
        """Itself where it may change from call to call, else the constant."""
        if ufunc is np.power and inputs[-1] is self:
            return self._as_exponent()
        dynamic = self.weak is not int or (ufunc in _INTEGER_UFUNCS and all(map(_takes_integers, inputs)))
        return self if dynamic else self.constant()

    def _as_exponent(self) -> Any:
        if self.weak is int or not self.is_argument or self.value in _SPECIAL_EXPONENTS:
            return self.constant()
        self.recorder.decide(guards.not_among(self.sources[0], _SPECIAL_EXPONENTS))
        return self

    # Python's side

    def _unary(self, ufunc: np.ufunc) -> Any:
        if ufunc is np.negative and self.weak is float:
            return self._derived(apply(registry["neg"], self), -self.value, self.sources)
        return PYTHON[ufunc](self.constant())

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        other = right if left is self else left
        if isinstance(other, _ARRAYS):
            return call_operator(ufunc, (left, right))
        if type(other) is not TracedScalar and isinstance(other, TracedValue):
            return NotImplemented  # the traced array's own operator takes it from here
        sign = COMPARISONS.get(ufunc)
        if sign is not None and self.is_argument:
            return self._compared(sign, other, mirrored=left is not self)
        exact = ufunc in _STAYS_DYNAMIC and self._mixes_with(other)
        if exact and (ufunc is not np.true_divide or _is_not_zero(right)):
            return self._arithmetic(ufunc, left, right)
        return PYTHON[ufunc](_plain(left), _plain(right))

    def _inplace(self, ufunc: np.ufunc, other: Any) -> Any:
        return NotImplemented  # numbers cannot change: Python goes on with the plain operator

    def _mixes_with(self, other: Any) -> bool:
        kind = other.weak if type(other) is TracedScalar else type(other)
        return {self.weak, kind} in ({float}, {float, int})

    def _arithmetic(self, ufunc: np.ufunc, left: Any, right: Any) -> Any:
        value = PYTHON[ufunc](_peek(left), _peek(right))
        operands = (_dynamic(left), _dynamic(right))
        sources = tuple(dict.fromkeys(path for one in operands for path in getattr(one, "sources", ())))
        return self._derived(apply(registry[_STAYS_DYNAMIC[ufunc]], *operands), value, sources)

    def _derived(self, result: TracedValue, value: Any, sources: tuple[Path, ...]) -> TracedScalar:
        return TracedScalar(result.node, self.owner, value, sources, self.recorder)

    def _compared(self, sign: str, other: Any, mirrored: bool) -> bool:
        """Only the outcome is a guard: other values of the argument may share the trace."""
        constant = _plain(other)
        if mirrored:
            sign = _MIRRORED[sign]
        if not isinstance(constant, (numbers.Number, np.generic)):
            return bool(_BY_SIGN[sign](self.value, constant))  # never equal, whatever the value
        if type(constant) not in _REAL:
            return bool(_BY_SIGN[sign](self.constant(), constant))
        result = bool(_BY_SIGN[sign](self.value, constant))
        self.recorder.decide(guards.outcome(self.sources[0], sign, constant, result))
        return result

    def __bool__(self) -> bool:
        return self._compared("!=", 0, mirrored=False) if self.is_argument else bool(self.constant())

    def __hash__(self) -> int:
        return hash(self.constant())

    def __int__(self) -> int:
        return int(self.constant())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the array that NumPy makes of the number by itself, as in a list: without this an array of
        objects.
        """
        return np.array(self.constant(), *args, **{"copy": None, **kwargs})

    def __float__(self) -> float:
        return float(self.constant())

    def __complex__(self) -> complex:
        return complex(self.constant())

    def __index__(self) -> int:
        return operator.index(self.constant())

    def __round__(self, *digits: Any) -> Any:
        return round(self.constant(), *digits)

    def __floor__(self) -> Any:
        return self.constant().__floor__()

    def __ceil__(self) -> Any:
        return self.constant().__ceil__()

    def __trunc__(self) -> Any:
        return self.constant().__trunc__()

    def _give_up(self) -> None:
        """Gives up the trace if the function can be rewritten so that a step in Python makes the text."""
        if is_splitting() and ask_to_rewrite():
            refuse("the text of a number needs its value", self)

    def __str__(self) -> str:
        self._give_up()
        return str(self.constant())

    def __repr__(self) -> str:
        return repr(self.constant())

    def __format__(self, spec: str) -> str:
        self._give_up()
        return format(self.constant(), spec)

    def __reduce__(self) -> Any:
        return (type(self.value), (self.constant(),))

    def __copy__(self) -> TracedScalar:
        return self

    def __deepcopy__(self, memo: Any) -> TracedScalar:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__array_"):
            raise AttributeError(f"{type(self.value).__name__!r} object has no attribute {name!r}")
        return getattr(self.constant(), name)


_BY_SIGN: dict[str, Any] = {sign: PYTHON[ufunc] for ufunc, sign in COMPARISONS.items()}


def _plain(value: Any) -> Any:
    return value.constant() if type(value) is TracedScalar else value


def _peek(value: Any) -> Any:
    return value.value if type(value) is TracedScalar else value


def _is_not_zero(divisor: Any) -> bool:
    """Return whether Python divides by this number; of an argument that becomes a guard."""
    if type(divisor) is not TracedScalar:
        return bool(divisor != 0)
    return divisor.is_argument and bool(divisor)


def _dynamic(value: Any) -> Any:
    """An operand of arithmetic on floats: traced floats stay, all else becomes a constant."""
    traced = type(value) is TracedScalar and value.weak is float
    return value if traced else np.asarray(_plain(value), FLOAT64)


def _takes_integers(operand: Any) -> bool:
    """Return whether NumPy converts a Python integer to this operand's type without looking at its value."""
    if isinstance(operand, TracedValue) and operand.weak is not None:
        return True
    if isinstance(operand, TracedValue | np.ndarray | np.generic):
        return dtype_class(operand.dtype) in "FC" or operand.dtype == INT64
    return isinstance(operand, bool | int | float | complex)
