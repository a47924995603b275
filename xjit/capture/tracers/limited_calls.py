"""NumPy's calls on arrays whose sizes only the run knows: errors located, results as user code sees them, writes."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.stored_numbers import held
from xjit.capture.memory.stores import check_one_number
from xjit.capture.memory.views import link
from xjit.capture.memory.writes import check_same_kind, check_writable, stored_value, write
from xjit.capture.tracers.errors_in_order import test_ahead_of_store
from xjit.capture.tracers.provenance import CaptureTrace, located, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.limited import (
    finding,
    functions,
    limited_functions,
    made_to_length,
    masked_elements,
    numbers_to_length,
)
from xjit.numpy.limited.arrays import LimitedArray, root_of, shows_same, stored_part, trimmed
from xjit.numpy.limited.finding import masked_places
from xjit.numpy.limited.moving_indices import (
    applies,
    are_arrays,
    are_places,
    getitem,
    has_traced_step,
    is_basic,
    is_mask,
    is_traced_mask,
    is_window,
    part_of,
    repeated,
    set_at,
    set_steps,
    set_window,
)
from xjit.numpy.limited.positions_along import place_among
from xjit.numpy.limited.run_time_integers import Integer
from xjit.showing import Flattened, PartsOf, Reshaped, Showing, Turned

_MAKERS = (made_to_length, numbers_to_length)
_VIEWS = frozenset({"ravel", "reshape", "transpose", "real", "imag"})
"""Functions and methods of NumPy whose results show the array, or may do so."""


def concern(values: Iterable[Any]) -> bool:
    """Return whether one of some arguments is an array of a size that only the run knows, or holds one."""
    return any(
        isinstance(value, LimitedArray) or (type(value) in (tuple, list) and concern(value)) for value in values
    )


def call_ufunc(ufunc: np.ufunc, method: str, inputs: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """A ufunc, or one of its methods."""
    return _seen(functools.partial(functions.call_ufunc, ufunc, method, tuple(inputs), kwargs), inputs)


def call_function(function: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy."""
    args = tuple(args)
    found = _seen(functools.partial(limited_functions.call_function, function, args, kwargs), args)
    return _followed(found, function.__name__, args, kwargs) if function.__name__ in _VIEWS and args else found


def call_method(name: str, value: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """A method of ndarray."""
    if name == "astype" and _is_no_copy(value, *args, **kwargs):
        return value
    args = tuple(args)
    found = _seen(functools.partial(limited_functions.call_method, name, value, args, kwargs), (value, *args))
    return _followed(found, name, (value, *args), kwargs) if name in _VIEWS else found


def _is_no_copy(value: Any, dtype: Any, *rest: Any, copy: Any = True, **options: Any) -> bool:
    """Return whether ``astype`` returns the array itself."""
    return not copy and not rest and not options and np.dtype(dtype) == value.dtype


def _followed(found: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A result that may be a view, with the way to it.

    Where it is none here nobody writes to it, nor to the array while it lives.
    """
    value = args[0]
    root, noted = root_of(value), found
    if not isinstance(found, LimitedArray) or not isinstance(value, LimitedArray):
        return found
    way = _way(name, value, args[1:], kwargs)
    if way is not None:
        noted._way = value, way
    if root_of(found) is not root:
        noted.frozen = True
        holder = _holder(value)
        if isinstance(holder, LimitedArray):
            noted_holder: Any = holder
            noted_holder.shown_by(found)
        else:
            holder.buffer.blind.append(weakref.ref(found))
    return found


def _holder(value: Any) -> Any:
    """The array of the user's whose memory a value shows: that which a call has made another array of, as well."""
    root, way = root_of(value), getattr(value, "_way", None)
    if hasattr(root, "shown_by") or not isinstance(root, LimitedArray):
        return root
    return value if way is None else _holder(way[0])


def _way(name: str, value: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Showing | None:
    """The step of NumPy's from an array to such a result, of calls that are no index."""
    if name in ("real", "imag"):
        return PartsOf(name == "real") if value.dtype.kind == "c" else None
    if name == "ravel":
        return Flattened()
    dims = args[0] if len(args) == 1 and isinstance(args[0], tuple | list) else args
    if name == "transpose" and not kwargs:
        order = dims if dims and dims[0] is not None else reversed(range(value.ndim))
        return Turned(tuple(operator.index(axis) % value.ndim for axis in order))
    return Reshaped(tuple(dims)) if name == "reshape" and not kwargs else None


def call_creation(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function that makes an array of a length that only the run knows; None of other calls."""
    maker = next((one for one in _MAKERS if one.applies(name, args, kwargs)), None)
    return None if maker is None else _seen(functools.partial(maker.created, name, args, kwargs), args)


def is_moving(value: Any, index: Any) -> bool:
    """Return whether an index says or asks what only the run knows: a basic one, or positions."""
    return applies(value, index) or place_among(value, index) is not None


def takes_store(target: Any, index: Any) -> bool:
    """Return whether an index `is_moving`, or its steps are known to the run only."""
    return applies(target, index) or has_traced_step(target, index)


def call_getitem(value: Any, index: Any) -> Any:
    """``value[index]`` for an index that `is_moving`."""
    found, root = _seen(functools.partial(getitem, value, index), (value,)), root_of(value)
    if getattr(value, "frozen", False) or getattr(root, "frozen", False):
        _freeze(found)
    if isinstance(found, BufferView) and found.is_view and not found.is_linked and hasattr(root, "show"):
        root.show(found)
    return found


def _freeze(found: Any) -> None:
    """Has nobody write to a part of an array that is another one than in NumPy, where it is a view."""
    if isinstance(found, BufferView) and not found.is_linked:
        found.buffer.shared = True
    elif isinstance(found, LimitedArray):
        noted: Any = found
        noted.frozen = True


def _seen(compute: Callable[[], Any], operands: Iterable[Any]) -> Any:
    """The result of a computation as user code sees it."""
    values = [one for one in map(root_of, operands) if isinstance(one, TracedValue)]
    with located(values):
        found = compute()
    return seen(found, values)


def seen(found: Any, operands: Iterable[Any]) -> Any:
    """A result of NumPy's surface as user code sees it, a view of an operand as such."""
    from xjit.capture.tracers.traced_window import TracedWindow

    if isinstance(found, LimitedArray):
        return TracedWindow.of(found)
    if isinstance(found, tuple) and any(isinstance(one, LimitedArray) for one in found):
        return tuple([seen(one, operands) for one in found])
    return link(found, operands)


def chosen_elements(values: Any, mask: Any, axis: int) -> Any:
    """The elements that a mask of the dimensions from an axis on chooses, whose number only the run knows."""
    return _seen(functools.partial(masked_elements.elements, values, mask, axis), (values, mask))


def may_be_one(found: Any, others: Iterable[Any]) -> None:
    """Notes that arrays of such sizes behind a loop or a branch may be ones that were there before it.

    They are others here: nobody writes to one while the other one lives.
    """
    trace = current()
    for one in (leaf for leaf in tree.flatten(found, in_parts=False)[0] if hasattr(type(leaf), "shown_by")):
        for other in (leaf for value in others for leaf in tree.flatten(value, in_parts=False)[0]):
            if getattr(type(other), "chooses", False) and other.values.owner is trace:
                other = other.packed()
            if hasattr(type(other), "shown_by") and other is not one and other.part is None and other.owner is trace:
                one.shown_by(other)
                other.shown_by(one)


def returned(array: LimitedArray) -> Any:
    """An array of such a size as a result of the function: its elements without what lies behind them."""
    found, whole = trimmed(array), array.part is None and hasattr(array, "handed_on")
    made: Any = array
    return made.handed_on(found) if whole else found


def python_integer(size: Integer) -> Any:
    """A size as an integer of Python's, which the run may be the first to know."""
    if size.known is not None:
        return size.known
    value: Any = size.operand
    value.weak, value.scalar = int, True
    value.bounds, value.wraps = (size.low, size.high), False
    return value


# ---- writes


def call_setitem(target: Any, index: Any, value: Any) -> None:
    """``target[index] = value`` where it `takes_store`, or for a value of a size that only the run knows."""
    with located([one for one in (target, value) if isinstance(one, TracedValue)]):
        _set(target, index, value)


def _set(target: Any, index: Any, value: Any) -> None:
    if is_mask(target, index) or (isinstance(value, LimitedArray) and is_traced_mask(index)):
        _store_masked(target, index, value)
        return
    places = index if are_places(index) else (index,)
    if not isinstance(value, LimitedArray) and _is_of_one(target, index):
        check_one_number(value, np.zeros(1, target.dtype))
    if has_traced_step(target, index):
        check_writable(target)
        _advance(target, set_steps(target, index, _as_type(value, target.dtype)))
        return
    if _is_itself(target, index, value):
        return  # x[:i] += y ends with storing the sum once more
    if isinstance(target, LimitedArray):
        made, entries = _as_type(value, target.dtype), index if isinstance(index, tuple) else (index,)
        if is_window(index):
            write_whole(target, set_window(target.whole, index, made, target.sizes))
        elif are_arrays(index) and all(size.known is not None for size in target.sizes[len(entries) :]):
            write_whole(target, set_at(target.whole, entries, made, target.sizes))
        else:
            refuse("index arrays say where an array of unknown size is written to", target, fix="loop over them")
        return
    check_writable(target)
    if isinstance(places[0], LimitedArray):
        _advance(target, set_at(target, places, _as_type(value, target.dtype)))
        return
    if not is_basic(index):
        refuse("values of a size that only the run knows are stored at index arrays", target, fix="loop over them")
    _advance(target, set_window(target, index, _as_type(value, target.dtype)))


def _is_of_one(target: Any, index: Any) -> bool:
    """Return whether an index is a number for each dimension."""
    entries = index if isinstance(index, tuple) else (index,)
    return len(entries) == target.ndim and all(map(_is_number, entries))


def _is_number(entry: Any) -> bool:
    if isinstance(entry, TracedValue):
        return entry.node.aval.dtype.kind in "iu" and (entry.scalar or entry.weak is not None)
    return isinstance(entry, int | np.integer) and not isinstance(entry, bool)


def _store_masked(target: Any, mask: Any, value: Any) -> None:
    """``target[mask] = value`` where something has a size that only the run knows."""
    if isinstance(target, LimitedArray):
        stored = _as_type(value, target.dtype)
        if isinstance(stored, LimitedArray) or stored.shape:
            write_whole(target, set_at(target.whole, (masked_places(target, mask),), stored, target.sizes))
            return
        found = limited_functions.call_function(np.where, (mask, stored, target), {})
        write_whole(target, repeated(_as_type(found, target.dtype), target.sizes, target.bounds))
        return
    where = finding.nonzero(mask)
    call_setitem(target, where if len(where) > 1 else where[0], value)


def _is_itself(target: Any, index: Any, value: Any) -> bool:
    """Return whether a value is what lies at an index of the target."""
    if isinstance(value, LimitedArray):
        part = value.part
        return (
            part is not None
            and part.source is target
            and is_window(index)
            and shows_same(part, part_of(target, index))
        )
    if not (isinstance(value, BufferView) and value.is_linked and isinstance(target, BufferView)):
        return False
    if value.buffer is not target.buffer or not applies(target, index):
        return False
    found = getitem(target, index)
    return isinstance(found, TracedValue) and value.node is found.node


def write_whole(target: Any, value: Any) -> None:
    """Makes the elements of an array those of a value at its bounds: of what it shows, if it is a part."""
    if not isinstance(target, LimitedArray):
        check_writable(target)
        _advance(target, value)
    elif target.part is not None:
        write_whole(target.part.source, stored_part(target.part, value))
    else:
        target.replace(value)


def write_ufunc(ufunc: np.ufunc, target: LimitedArray, other: Any) -> Any:
    """``target op= other``."""
    made = functions.call_ufunc(ufunc, "__call__", (target, other), {})
    check_same_kind(made.dtype, target.dtype, ufunc.__name__)
    write_whole(target, repeated(_as_type(made, target.dtype), target.sizes, target.bounds))
    return target


def write_to(ufunc: np.ufunc, target: Any, other: LimitedArray) -> Any:
    """``target op= other`` for an array of known sizes."""
    check_writable(target)
    made = call_ufunc(ufunc, "__call__", (target, other), {})
    check_same_kind(made.dtype, target.dtype, ufunc.__name__)
    if made.ndim > target.ndim:
        refuse(
            "the result of an operator in place has more dimensions than the array", target, fix="use y = x + other"
        )
    call_setitem(target, (slice(None),) * target.ndim, made)
    return target


def _as_type(value: Any, dtype: Any) -> Any:
    """A value as NumPy casts it to an element type when it is stored."""
    if not isinstance(value, LimitedArray):
        return stored_value(held(value, dtype), dtype)
    return value if value.dtype == dtype else limited_functions.call_method("astype", value, (dtype,), {})


def _advance(target: BufferView, value: Any) -> None:
    """Makes a value the elements of an array, as a whole; nothing is written where there are none."""
    if 0 in target.shape:
        return
    trace = current()
    assert isinstance(trace, CaptureTrace)
    if target.steps:
        write(target, value)
        return
    if target.buffer.path is not None:
        test_ahead_of_store(trace)
    target.buffer.advance(trace, trace.adopt(value.node))
