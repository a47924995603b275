"""Judge of programs as text: results, arguments, globals, memory, exceptions, all as NumPy leaves them."""

from __future__ import annotations

import contextlib
import io
import re
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.text_program import TextProgram
from tests.fuzz.watching import line_of, opened, same_text, stream_of
from xjit import tree
from xjit.errors import FallbackWarning

UNDEFINED = "invalid value encountered in cast"
"""NumPy's warning where a conversion has no defined result."""
HALF_DONE = "Integers to negative integer powers are not allowed"
"""NumPy's error that leaves what memory held in outputs of another type than the computation's."""
MADE = re.compile(r"\bnp\.(zeros|ones|full|arange|eye|empty)")
EXTREMES = re.compile(r"\b(maximum|minimum|max|min|clip|fmax|fmin)\b")


KEPT = ("G", "H", "C", "L", "D", "O", "K", "Body")
"""Names of what programs keep outside of their functions."""


class Difference(AssertionError):
    """Report of a program that does something else than NumPy."""


@dataclass
class Outcome:
    """Result or exception of a call, and the arrays that it could see."""

    result: Any
    error: BaseException | None
    known: list[Any]
    undefined: bool = False
    refusals: tuple[str, ...] = ()
    printed: str = ""
    stream: str = ""


@dataclass
class Judged:
    """Numbers of calls, and the reasons why calls were left to NumPy."""

    calls: int = 0
    refusals: list[str] = field(default_factory=list)
    raised: int = 0


def call(module: types.ModuleType, function: Callable[..., Any], k: int, r: int, watched: bool = False) -> Outcome:
    """Call the function with new arguments."""
    given = module.arguments(k, r)
    text = contextlib.redirect_stdout(io.StringIO()) if watched else contextlib.nullcontext(io.StringIO())
    np.random.seed(17 + r)
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore", invalid="warn"), text as printed:
        warnings.simplefilter("always")
        try:
            result, error = function(*given), None
        except Exception as found:
            result, error = None, found
    undefined = any(UNDEFINED in str(one.message) for one in said)
    refusals = tuple(str(one.message) for one in said if issubclass(one.category, FallbackWarning))
    kept = {name: module.__dict__[name] for name in KEPT if name in module.__dict__}
    if watched:
        result, given, kept = opened((result, given, kept), {})
    known = [*tree.flatten((given, kept))[0], *cells_of(module)]
    return Outcome(result, error, known, undefined, refusals, printed.getvalue(), stream_of() if watched else "")


def cells_of(module: types.ModuleType) -> Iterator[Any]:
    """Yield what the function has in cells."""
    for cell in getattr(module.f, "__closure__", None) or ():
        if isinstance(cell.cell_contents, np.ndarray | int | float):
            yield cell.cell_contents


def judge(program: TextProgram, compiled: Callable[[Any], Any]) -> Judged:
    """Raise Difference unless all calls do what NumPy's do, at once and looked at again after the last one.

    Calls end before one of which NumPy's result is not defined; that has changed what NumPy's program keeps. They end
    with one whose error leaves outputs that are not defined.
    """
    ours, numpys = program.module(), program.module()
    plain, function = numpys.f, compiled(ours.f)
    judged, pairs = Judged(), []
    for k, r in program.calls:
        expected = call(numpys, plain, k, r, program.watched)
        if expected.undefined:
            return judged
        got = call(ours, function, k, r, program.watched)
        judged.calls += 1
        judged.refusals += got.refusals
        judged.raised += expected.error is not None
        if HALF_DONE in str(expected.error):
            _same_error(got.error, expected.error)
            return judged
        same_outcome(program, f"f(*arguments({k}, {r}))", got, expected)
        pairs.append((k, r, got, expected))
    for k, r, got, expected in pairs:
        same_outcome(program, f"after the last call, of f(*arguments({k}, {r}))", got, expected)
    return judged


def same_outcome(program: TextProgram, where: str, got: Outcome, expected: Outcome) -> None:
    """Compare two calls."""
    try:
        _same_error(got.error, expected.error)
        if program.watched:
            _same_behaviour(got, expected, program)
        kept = len(expected.known)
        one, other = [*got.known], [*expected.known]
        if expected.error is None:
            leaves, structure = tree.flatten(expected.result)
            found, found_structure = tree.flatten(got.result)
            _equal("structure", found_structure, structure)
            one, other = [*one, *found], [*other, *leaves]
        for number, (mine, numpys) in enumerate(zip(one, other, strict=True)):
            name = f"argument or global {number}" if number < kept else f"result {number - kept}"
            try:
                same_value(mine, numpys, program, written=number < kept)
            except Difference as error:
                raise Difference(f"{name}: {error}\n  got {mine!r}\n  NumPy {numpys!r}") from None
        same_memory(one, other, kept, program.watched or MADE.search(program.text) is not None)
    except Difference as error:
        raise Difference(f"{where}: {error}") from None


def _same_error(got: BaseException | None, expected: BaseException | None) -> None:
    if got is None or expected is None:
        if got is not expected:
            told = f"{type(got).__name__}: {str(got).splitlines()[:1]}" if got else "nothing"
            wanted = f"{type(expected).__name__}: {str(expected).splitlines()[:1]}" if expected else "nothing"
            raise Difference(f"raised {told} for {wanted}")
        return
    if type(got) is not type(expected) and not isinstance(got, type(expected)):
        raise Difference(f"raised {type(got).__name__} ({got}) for {type(expected).__name__} ({expected})")


def _same_behaviour(got: Outcome, expected: Outcome, program: TextProgram) -> None:
    if not isinstance(expected.error, UnboundLocalError):  # Python 3.11 names the line before once code is warm
        _equal("line of the error", line_of(got.error), line_of(expected.error))
    if not same_text(got.printed, expected.printed, program.noisy):
        raise Difference(f"printed text\n  got {got.printed!r}\n  NumPy {expected.printed!r}")
    if got.stream != expected.stream:
        raise Difference("random numbers drawn")


def _equal(what: str, got: Any, expected: Any) -> None:
    if got != expected:
        raise Difference(f"{what} {got} for {expected}")


def same_value(got: Any, expected: Any, program: TextProgram, *, written: bool) -> None:
    """Compare types, element types, shapes, flags and numbers."""
    _equal("type", type(got).__name__, type(expected).__name__)
    if isinstance(expected, np.ndarray | np.generic):
        _equal("dtype", got.dtype.newbyteorder("="), expected.dtype.newbyteorder("="))
        _equal("shape", got.shape, expected.shape)
    if isinstance(expected, np.ndarray):
        _equal("writeable", got.flags.writeable, expected.flags.writeable)
        if written:
            _equal("strides", got.strides, expected.strides)
    if isinstance(expected, types.FunctionType):  # each module has one of its own
        _equal("value", (got.__qualname__, got.__code__.co_code), (expected.__qualname__, expected.__code__.co_code))
        return
    if not isinstance(expected, np.ndarray | np.generic | int | float | complex):
        _equal("value", got, expected)
        return
    if isinstance(expected, int) and not isinstance(expected, bool):
        _equal("value", got, expected)
        return
    same_numbers(np.asarray(got), np.asarray(expected), program)


def same_numbers(got: Any, expected: Any, program: TextProgram) -> None:
    """Compare bits, those of NaN left out; in noisy programs as near as the element type lets hope."""
    with np.errstate(all="ignore"):
        same = (got == expected) | ((got != got) & (expected != expected))
        if expected.dtype.kind == "f" and not EXTREMES.search(program.text):
            same &= (np.signbit(got) == np.signbit(expected)) | np.isnan(expected) | program.noisy
        if program.noisy and expected.dtype.kind in "fc":
            size = np.max(np.abs(np.where(np.isfinite(expected), expected, 0)), initial=1.0)
            same |= np.abs(got - expected) <= program.tolerance(expected.dtype) * size
    if not np.all(same):
        raise Difference(f"{np.sum(~same)} of {np.size(same)} numbers differ")


def same_memory(got: list[Any], expected: list[Any], kept: int, made: bool) -> None:
    """Compare which arrays are the same object, and which lie in the same memory, and how.

    Views of arrays that the program has ``made`` itself may be copies.
    """
    arrays = [number for number, one in enumerate(expected) if isinstance(one, np.ndarray)]
    for place, last in enumerate(arrays):
        for first in arrays[:place] if last >= kept else ():
            one, other = expected[first], expected[last]
            mine, theirs = got[first], got[last]
            if made and first >= kept and not np.shares_memory(mine, theirs):
                continue
            pair = f"{_called(first, kept)} and {_called(last, kept)}"
            _equal(f"{pair} are one object:", mine is theirs, one is other)
            shared = np.shares_memory(one, other)
            _equal(f"{pair} share memory:", np.shares_memory(mine, theirs), shared)
            if shared:
                _equal(f"{pair} lie apart", _address(theirs) - _address(mine), _address(other) - _address(one))
                _equal(f"{pair}: strides", _steps(theirs), _steps(other))


def _called(number: int, kept: int) -> str:
    return f"argument or global {number}" if number < kept else f"result {number - kept}"


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _steps(array: Any) -> list[int]:
    return [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]
