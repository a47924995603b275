"""Memory of objects of the run: arrays of the graph that these may show, as calls of libraries return views.

parts = np.split(y, places)      the parts show y, as a call on arrays of the same types tells
parts[0]                         shows it, too
y[0] = 1                         refused while one of them lives
parts[0][:] = 1                  refused: the graph would not know

A step that gets such an object has the arrays as operands, so that nothing changes them before it has run.
"""

from __future__ import annotations

import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.memory.buffer import Buffer
from xjit.capture.splits.purity import repeats
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.operators import PYTHON
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass
from xjit.ir.context import CONSTANT
from xjit.ir.current import untraced
from xjit.ir.node import Node
from xjit.numpy.limited.arrays import LimitedArray, root_of

_MAKING_NAMES = """
    all allclose any append argmax argmin argsort argwhere array_equal average bincount choose clip compress
    concatenate convolve copy correlate count_nonzero cov cross cumprod cumsum delete digitize dot extract
    flatnonzero full_like histogram hstack inner insert interp intersect1d isclose isin kron lexsort matmul max
    mean median min nonzero ones_like outer percentile polyval prod quantile repeat roll searchsorted select
    setdiff1d setxor1d sort stack std sum take take_along_axis tensordot tile union1d unique var vdot vstack
    where zeros_like
"""
_MAKING = frozenset(_MAKING_NAMES.split())
"""Functions of NumPy that return new arrays, whatever they get."""
_LAYING = frozenset(["ascontiguousarray", "asfortranarray", "require", "asarray", "asanyarray", "ravel", "reshape"])
"""Functions of which the layout of an array decides whether they copy it, which no example tells."""
_OPERATORS = frozenset(PYTHON.values())
_WITHOUT_ARRAYS = (int, float, complex, str, bytes, bool, type, np.generic, np.dtype, type(None), set, frozenset)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """An array that an object may show: its memory, a buffer or an array of a size of the run, and its version."""

    memory: Any
    node: Node

    def until_dead(self, holder: Any) -> None:
        """Lets nobody write to the array while something lives; to one without a name, of which there are views
        alone, nobody can.
        """
        if isinstance(self.memory, Buffer):
            self.memory.blind.append(weakref.ref(holder))
        elif hasattr(self.memory, "shown_by"):
            self.memory.shown_by(holder)


def shown_by(
    function: Any, run: Callable[..., Any], given: Iterable[Any], examples: Iterable[Any] | None, trace: CaptureTrace
) -> tuple[Shown, ...]:
    """The arrays among those ``given`` to a function that its result may show.

    ``run`` calls it for ``examples`` of the operands, None where there are no such.
    """
    arrays = list(given)
    if not arrays or not _may_return_views(function, run, examples):
        return ()
    return tuple(_shown(array, trace) for array in arrays)


def make_apart(arrays: Iterable[Any], trace: CaptureTrace, copy: Callable[[Any], Any]) -> bool:
    """Makes copies of arrays where objects of the run may show the memory of equal ones, or constants of the program;
    return whether there are any.

        a, b = x + 1, x + 1                        one node of the graph, in two buffers
        np.split(a, places), np.split(b, places)   the parts of b show another array
    """
    found = False
    for array in map(root_of, arrays):
        if isinstance(array, LimitedArray) or array.frozen or array.scalar or array.buffer.path is not None:
            continue
        if is_constant(array):
            array.give_up()
        buffer = array.buffer
        version = buffer.version(trace)
        if buffer.home is trace and (version.op is CONSTANT or is_shown_by_other(buffer, trace)):
            buffer.advance(trace, copy(trace.wrap(version, trace)).node)
            found = True
        trace.shown.setdefault(buffer.version(trace), buffer)
    return found


def is_shown_by_other(buffer: Buffer, trace: CaptureTrace) -> bool:
    """Return whether an object of the run may show the memory of a value, as that of another array."""
    return trace.shown.get(buffer.version(trace), buffer) is not buffer


def _shown(array: Any, trace: CaptureTrace) -> Shown:
    root = root_of(array)
    if isinstance(root, LimitedArray):
        return Shown(root, root.value.node)
    buffer: Buffer = root.buffer
    version = buffer.version(trace)
    if buffer.path is not None and version is not buffer.first:
        refuse(
            "an array from outside that the function has written to is passed to a function that may return a view",
            root,
            fix="pass a copy: x.copy()",
        )
    return Shown(buffer, root.node)


def _may_return_views(function: Any, run: Callable[..., Any], examples: Iterable[Any] | None) -> bool:
    if not repeats(function) or isinstance(function, np.ufunc) or function in _OPERATORS:
        return False
    if lays_out(function):
        return True
    if examples is None:
        module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
        return module.partition(".")[0] != "numpy" or name not in _MAKING
    given = list(examples)
    # Of no elements nothing is shared: arrays whose sizes only the run knows are tried with one more, too.
    return _shares_any(run, given) is not False or _shares_any(run, [larger(one, 1) for one in given]) is True


def lays_out(function: Any) -> bool:
    """Return whether the layout of an array decides whether a function of NumPy's returns it, or a view of it."""
    module = getattr(function, "__module__", None) or ""
    known = isinstance(function, types.MethodDescriptorType) or module.partition(".")[0] == "numpy"
    return known and getattr(function, "__name__", "") in _LAYING


def _shares_any(run: Callable[..., Any], examples: list[Any]) -> bool | None:
    """Return whether the result for examples has memory of one of them; None where there is none."""
    try:
        with untraced(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return shares_memory(run(*examples), examples)
    except Exception:
        return None


def larger(example: Any, plus: int) -> Any:
    """An example of an operand; a number of Python's or of NumPy's with another one added."""
    if type(example) in (int, float):
        return example + plus
    is_number = type(example) is np.ndarray and example.ndim == 0 and example.dtype.kind in "iuf"
    return np.asarray(example + np.asarray(plus, "i8"), example.dtype) if is_number else example


def shares_memory(result: Any, arrays: Iterable[Any]) -> bool:
    """Return whether a result may have the memory of one of some arrays.

    >>> x = np.zeros(4)
    >>> shares_memory((1, [x[1:]]), [x]), shares_memory(x + 1, [x]), shares_memory(iter(x), [x])
    (True, False, True)
    """
    operands = [one for one in arrays if isinstance(one, np.ndarray)]
    return any(_shares(leaf, operands) for leaf in tree.flatten(result)[0])


def _shares(leaf: Any, arrays: list[Any]) -> bool:
    if type(leaf) is np.ndarray:
        return any(np.may_share_memory(leaf, array) for array in arrays)
    return not isinstance(leaf, _WITHOUT_ARRAYS)
