"""The one way from traced values into the NumPy surface: arguments prepared, errors located, views noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from xjit.capture.tracers.aliasing import MemoryHolder, assign, check_writable, share
from xjit.capture.tracers.known_array import known, plain
from xjit.capture.tracers.provenance import located, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy import dispatch, methods
from xjit.numpy.limited import functions as limited_functions
from xjit.numpy.limited import moving_indices
from xjit.numpy.limited.arrays import LimitedArray
from xjit.numpy.limited.run_time_integers import Integer
from xjit.numpy.selecting import indexing

# Functions whose Python floats may change from call to call without a new trace; elsewhere they may steer shapes.
_DYNAMIC: frozenset[Any] = frozenset(
    {np.where, np.clip, np.full_like, np.full, np.array, np.asarray, np.stack, np.gradient, np.trapezoid}
)

# Functions of types and shapes alone: NumPy answers them for an array of the same layout.
_QUESTIONS: frozenset[Any] = frozenset(
    {
        np.ndim,
        np.shape,
        np.size,
        np.result_type,
        np.can_cast,
        np.iscomplexobj,
        np.isrealobj,
        np.common_type,
        np.diag_indices_from,
        np.tril_indices_from,
        np.triu_indices_from,
    }
)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc, or one of its methods, on values of which at least one is traced."""
    check_alive(inputs)
    if _has_limited(inputs):
        return _of_limited(lambda: limited_functions.call_ufunc(ufunc, method, _prepared(inputs), kwargs), inputs)
    if kwargs:
        return _call_with_options(ufunc, method, inputs, kwargs)
    with located(inputs):
        values = tuple([ufunc_operand(value, ufunc, inputs) for value in inputs])
        result = share(dispatch.call_ufunc(ufunc, method, values, kwargs), inputs)
    return _remember(result, inputs, lambda: ufunc(*map(number_of, inputs)))


def _call_with_options(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    outs = kwargs.get("out") or ()
    kwargs = {key: constants(value) for key, value in kwargs.items() if key != "out"}
    targets = tuple(outs) if isinstance(outs, tuple) else (outs,)
    for target in targets:
        check_writable(target)
    with located(inputs):
        values = tuple(ufunc_operand(value, ufunc, inputs) for value in inputs)
        result = dispatch.call_ufunc(ufunc, method, values, kwargs)
        if not any(target is not None for target in targets):
            return _remember(share(result, inputs), inputs, lambda: ufunc(*map(number_of, inputs)))
        results = result if isinstance(result, tuple) else (result,)
        written = tuple(map(assign, targets, results, (ufunc.__name__,) * len(results)))
    return written if isinstance(result, tuple) else written[0]


def is_known(value: Any) -> bool:
    """Return whether the value is a number that the call was made with, or was computed from such numbers alone."""
    if isinstance(value, TracedValue):
        return hasattr(type(value), "value") or hasattr(value, "known")  # a scalar of Python's always has one
    return isinstance(value, np.generic | bool | int | float | complex)


def number_of(value: Any) -> Any:
    """A known number itself; what it was computed from becomes a guard."""
    if not isinstance(value, TracedValue):
        return value
    if not is_known(value):
        refuse("a value is needed that was known while tracing, and was written over since", value)
    scalar: Any = value
    return scalar.known() if hasattr(value, "known") else scalar.constant()


def _remember(result: Any, operands: Iterable[Any], compute: Callable[[], Any]) -> Any:
    """Lets Python ask for the value of what was computed from known numbers: only then is it computed.

    The symbolic values of computations are never known.
    """
    if isinstance(result, MemoryHolder) and all(map(is_known, operands)) and not is_known(result):
        traced: Any = result
        traced.known = compute
    return result


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function on arguments of which at least one is traced, or contains traced values."""
    if kwargs.get("out") is not None:
        refuse(f"numpy.{function.__name__}: out= is not supported", kwargs["out"], fix="assign the result instead")
    args, kwargs = prepared(function, args, kwargs)
    if _has_limited((*args, *kwargs.values())):
        return _of_limited(lambda: limited_functions.call_function(function, args, kwargs), args)
    leaves = list(traced_leaves((args, kwargs)))
    check_alive(leaves)
    if function in _QUESTIONS:
        return known(function(*_samples(args), **_samples(kwargs)))
    with located(leaves):
        return share(dispatch.call_function(function, args, kwargs), leaves)


def call_created(replacement: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function that does not dispatch (zeros, asarray, ...), through its traced replacement."""
    if _has_limited((*args, *kwargs.values())):
        function = getattr(np, replacement.__name__, replacement)
        return _of_limited(lambda: limited_functions.call_function(function, args, kwargs), args)
    leaves = list(traced_leaves((args, kwargs)))
    check_alive(leaves)
    with located(leaves):
        return share(replacement(*args, **kwargs), leaves)


def _samples(value: Any) -> Any:
    """The same arguments with an array of the same layout, or a number of the same type, for each traced value."""
    if isinstance(value, TracedValue):
        return value.weak(0) if value.weak is not None else np.broadcast_to(np.zeros((), value.dtype), value.shape)
    if type(value) in (tuple, list):
        return type(value)(map(_samples, value))
    return {key: _samples(item) for key, item in value.items()} if type(value) is dict else value


def prepared(function: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function of NumPy, traced Python numbers made constants where they may steer it."""
    keep = frozenset({float}) if function in _DYNAMIC else frozenset()
    return constants(args, keep), constants(kwargs, keep)


def call_method(name: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of ndarray on a traced array."""
    if _has_limited((value, *args)):
        args, kwargs = constants(args), constants(kwargs)
        return _of_limited(lambda: limited_functions.call_method(name, value, args, kwargs), (value, *args))
    check_alive((value,))
    with located((value, *args)):
        keep = frozenset({float}) if name == "clip" else frozenset()
        args, kwargs = constants(args, keep), constants(kwargs, keep)
        result = share(methods.METHODS[name](value, *args, **kwargs), (value,))
    operands = (value, *traced_leaves((args, kwargs)))
    return _remember(result, operands, lambda: getattr(number_of(value), name)(*args, **kwargs))


def call_attribute(name: str, value: Any) -> Any:
    """An attribute of an array that is a value itself: T, mT, real, imag."""
    check_alive((value,))
    with located((value,)):
        return share(methods.ATTRIBUTES[name](value), (value,))


def call_getitem(value: Any, index: Any) -> Any:
    """``value[index]``; Python scalars in the index become part of the trace."""
    check_alive((value,))
    index = _known_index(index)
    if moving_indices.applies(value, index):
        return _of_limited(lambda: moving_indices.getitem(value, index), (value, *traced_leaves(index)))
    with located((value, *traced_leaves(index))):
        result = share(indexing.getitem(value, index), (value,))
    return _remember(result, (value,), lambda: number_of(value)[index])


def _has_limited(values: Iterable[Any]) -> bool:
    """Return whether one of some arguments is an array of a size that only the run knows."""
    return any(isinstance(value, LimitedArray) for value in values)


def _prepared(inputs: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([constants(value, frozenset({float})) for value in inputs])


def _of_limited(compute: Callable[[], Any], operands: Iterable[Any]) -> Any:
    """The result of a computation on arrays of sizes that only the run knows, as user code sees it."""
    from xjit.capture.tracers.traced_window import TracedWindow

    values = [one for one in operands if isinstance(one, TracedValue)]
    check_alive(values)
    with located(values):
        found = compute()
    if isinstance(found, tuple):
        return tuple([TracedWindow.of(one) if isinstance(one, LimitedArray) else one for one in found])
    return TracedWindow.of(found) if isinstance(found, LimitedArray) else share(found, values)


def python_integer(size: Integer) -> Any:
    """A size as an integer of Python's, which the run may be the first to know."""
    if size.known is not None:
        return size.known
    value: Any = size.operand
    value.weak, value.scalar = int, True
    value.bounds, value.wraps = (size.low, size.high), False
    return value


def _known_index(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(_known_index, index))
    return number_of(index) if is_known(index) else constants(index)


def ufunc_operand(value: Any, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """A traced Python scalar may enter as it is, or has to become a constant: it knows itself."""
    if isinstance(value, TracedValue) and value.weak is not None:
        decide: Any = value
        return decide.as_operand(ufunc, inputs)
    return plain(value)


def constants(value: Any, keep: frozenset[type] = frozenset()) -> Any:
    """The same arguments with traced Python numbers replaced by their values, which become guards; plain arrays.

    Numbers of the types in ``keep`` stay traced.
    """
    if isinstance(value, TracedValue):
        scalar: Any = value
        return value if value.weak is None or value.weak in keep else scalar.constant()
    if type(value) in (tuple, list):
        return type(value)(constants(item, keep) for item in value)
    if type(value) is dict:
        return {key: constants(item, keep) for key, item in value.items()}
    if type(value) is slice:
        return slice(constants(value.start), constants(value.stop), constants(value.step))
    return plain(value)


def traced_leaves(value: Any) -> Iterator[TracedValue]:
    """The traced values inside nested arguments."""
    if isinstance(value, TracedValue):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from traced_leaves(item)
    elif isinstance(value, dict):
        yield from traced_leaves(list(value.values()))


def check_alive(values: Iterable[Any]) -> None:
    """CaptureError for a value whose trace is not under construction: it was kept beyond its call."""
    now = current()
    for value in values:
        if isinstance(value, TracedValue) and value.owner is not now:
            trace = now
            while trace is not None and trace is not value.owner:
                trace = trace.parent
            if trace is None:
                refuse(
                    f"a traced value of {value.owner.name} is used after its trace has ended",
                    value,
                    fix="return the value instead of storing it outside of the function",
                )
