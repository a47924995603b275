"""The outcome of a call, what it returns, prints and leaves in its arguments, beside NumPy's."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perf.ordinary.record import Arguments, Function, Ordinary

# A peer may add in another order and contract multiply-adds.
SLACK_OF_PEERS = 1000.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call, its arguments after it, and what it has printed."""

    result: Any
    arguments: Arguments
    printed: str = ""

    @property
    def returned(self) -> int | None:
        """Return the position of the argument that is the result; None where it is none."""
        places = (place for place, one in enumerate(self.arguments) if one is self.result)
        return next(places, None) if isinstance(self.result, np.ndarray) or has_state(self.result) else None


def outcome(function: Function, arguments: Arguments) -> Outcome:
    """Call a function."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        result = function(*arguments)
    return Outcome(result, arguments, out.getvalue())


def has_state(value: Any) -> bool:
    """Return whether a value is a generator or an object with attributes of its own."""
    return isinstance(value, np.random.Generator) or hasattr(value, "__dict__")


def leaves(value: Any) -> Iterator[Any]:
    """Yield what tuples, lists, dictionaries, objects and generators hold; None is nothing."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, Mapping):
        yield from leaves(list(value.values()))
    elif isinstance(value, np.random.Generator):
        # Its numbers are wider than those of arrays.
        yield str(value.bit_generator.state)
    elif has_state(value):
        yield type(value).__qualname__
        for name, part in sorted(vars(value).items()):
            yield name
            yield from leaves(part)
    elif value is not None:
        yield value


def difference(program: Ordinary, found: Outcome, wanted: Outcome) -> str | None:
    """Return how a call of the compiled function differs from NumPy's; None where it does not."""
    if found.returned != wanted.returned:
        return f"returns argument {found.returned}, NumPy argument {wanted.returned}"
    results = different(found.result, wanted.result, program.tolerance, same_types=True)
    if results is not None:
        return f"result: {results}"
    if found.printed != wanted.printed:
        return "other text is printed"
    names = program.parameters
    for place, (after, expected) in enumerate(zip(found.arguments, wanted.arguments, strict=True)):
        tolerance = program.tolerance if place in program.stored else 0.0
        argument = different(after, expected, tolerance, same_types=True)
        if argument is not None:
            return f"argument {names[place]}: {argument}"
    return None


def of_peer(program: Ordinary, found: Any, wanted: Outcome) -> str | None:
    """Return how a peer's results and written arguments differ from NumPy's; None where they do not."""
    expected = (wanted.result, *(wanted.arguments[place] for place in program.stored))
    tolerance = max(program.tolerance, 1e-13) * SLACK_OF_PEERS
    return different(found, expected, tolerance, same_types=False)


def different(found: Any, wanted: Any, tolerance: float, same_types: bool) -> str | None:
    """Return how two values differ; None where they do not."""
    got, expected = list(leaves(found)), list(leaves(wanted))
    if len(got) != len(expected):
        return f"{len(got)} values, NumPy {len(expected)}"
    found_differences = (_of_leaves(*pair, tolerance, same_types) for pair in zip(got, expected, strict=True))
    return next((each for each in found_differences if each is not None), None)


def _of_leaves(found: Any, wanted: Any, tolerance: float, same_types: bool) -> str | None:
    if same_types and type(found) is not type(wanted):
        return f"{type(found).__name__}, NumPy {type(wanted).__name__}"
    if not isinstance(wanted, np.ndarray | np.generic | int | float | complex):
        return None if found == wanted else f"{found!r}, NumPy {wanted!r}"
    a, b = np.asarray(found), np.asarray(wanted)
    if a.shape != b.shape or (same_types and a.dtype != b.dtype):
        return f"{a.dtype}{a.shape}, NumPy {b.dtype}{b.shape}"
    if not tolerance:
        return None if a.tobytes() == b.tobytes() else f"other bits in {_count(a, b)} of {a.size} elements"
    return _distance(a, b, tolerance)


def _count(a: Any, b: Any) -> int:
    return int(np.count_nonzero(~((a == b) | (a != a) & (b != b))))


def _distance(a: Any, b: Any, tolerance: float) -> str | None:
    if a.size == 0:
        return None
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=b.dtype.kind in "fc"):
        return "other infinities or NaN"
    kind = np.result_type(b.dtype, np.float64)
    apart = np.abs(a[finite].astype(kind) - b[finite].astype(kind))
    allowed = tolerance * float(np.max(np.abs(b[finite]), initial=0.0))
    # Written so that NaN is too far.
    return None if not apart.size or apart.max() <= allowed else f"apart by {apart.max():g}, allowed {allowed:g}"
