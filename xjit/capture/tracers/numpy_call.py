"""The one way from traced values into the NumPy surface: arguments prepared, errors located, views noted."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from xjit.capture.memory import numpy_writes
from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.stores import setitem, takes_chosen
from xjit.capture.memory.views import link
from xjit.capture.memory.writes import assign, check_writable
from xjit.capture.splits.attempts import attempted
from xjit.capture.splits.deferred import is_deferred, positions_in, refuse_deferred
from xjit.capture.tracers import limited_calls
from xjit.capture.tracers.doubts import as_numpys, hand_on_doubt, settled
from xjit.capture.tracers.known_values import is_constant, known, known_result, plain, plain_arguments, replaced
from xjit.capture.tracers.provenance import located, noted, refuse
from xjit.errors import ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy import dispatch, methods
from xjit.numpy.rules.values import as_value
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


def call_numpys_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc that the user calls, not an operator: its numbers are NumPy's, whatever the operands are."""
    inputs, kwargs = settled(inputs, kwargs)
    return as_numpys(call_ufunc(ufunc, method, inputs, kwargs), inputs)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc, or one of its methods, on values of which at least one is traced, or an array of constants."""
    if is_deferred((inputs, kwargs)):
        return attempted(_never, ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
    if limited_calls.concern(inputs):
        return limited_calls.call_ufunc(ufunc, method, constants(inputs, frozenset({float})), constants(kwargs))
    if any(map(is_constant, inputs)) and only_constants(inputs, kwargs):
        return _ufunc_of_constants(ufunc, method, inputs, kwargs)
    check_alive(inputs)
    if method == "reduceat" and kwargs.get("out") is None:
        call = functools.partial(_call_with_options, ufunc, method, inputs, kwargs)
        return attempted(call, ufunc.reduceat, inputs, kwargs)
    if method == "at":
        return _write_by(ufunc.at, functools.partial(numpy_writes.accumulate_at, ufunc), inputs, kwargs)
    if kwargs:
        return _call_with_options(ufunc, method, inputs, kwargs)
    with located(inputs):
        values = tuple([ufunc_operand(value, ufunc, inputs) for value in inputs])
        result = link(dispatch.call_ufunc(ufunc, method, values, kwargs), inputs)
    hand_on_doubt(ufunc, inputs, result)
    return _remember(result, inputs, lambda: ufunc(*map(number_of, inputs)))


def _call_with_options(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    outs = kwargs.get("out") or ()
    where = kwargs.get("where", True)
    kwargs = {key: constants(value) for key, value in kwargs.items() if key != "out"}
    targets = tuple(outs) if isinstance(outs, tuple) else (outs,)
    for target in targets:
        check_writable(target)
    if where is not True and targets and method == "__call__":
        return _where(ufunc, inputs, kwargs, targets)
    with located(inputs):
        values = tuple(ufunc_operand(value, ufunc, inputs) for value in inputs)
        result = dispatch.call_ufunc(ufunc, method, values, kwargs)
        if not any(target is not None for target in targets):
            call = getattr(ufunc, method)
            return _remember(link(result, inputs), inputs, lambda: call(*map(number_of, inputs), **numbers(kwargs)))
        results = result if isinstance(result, tuple) else (result,)
        written = tuple(map(assign, targets, results, (ufunc.__name__,) * len(results)))
    return written if isinstance(result, tuple) else written[0]


def _where(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any], targets: tuple[Any, ...]) -> Any:
    """A ufunc that writes its results only where a condition holds."""
    where = as_value(kwargs.pop("where"), ufunc.__name__, "where")
    with located(inputs):
        values = tuple(ufunc_operand(value, ufunc, inputs) for value in inputs)
        result = dispatch.call_ufunc(ufunc, "__call__", values, kwargs)
        results = result if isinstance(result, tuple) else (result,)
        for target, one in zip(targets, results, strict=True):
            if target is not None:
                numpy_writes.copyto(target, one, where=where)
    return targets if isinstance(result, tuple) else targets[0]


def numbers(value: Any) -> Any:
    """Nested arguments with the values of what is known."""
    if type(value) in (tuple, list):
        return type(value)(map(numbers, value))
    if type(value) is dict:
        return {key: numbers(item) for key, item in value.items()}
    if type(value) is slice:
        return slice(numbers(value.start), numbers(value.stop), numbers(value.step))
    return plain_arguments(number_of(value) if isinstance(value, TracedValue) else plain(value))


def only_constants(args: Any, kwargs: Any) -> bool:
    """Return whether all traced values among arguments are arrays of constants."""
    return all(map(is_constant, traced_leaves((args, kwargs))))


def _ufunc_of_constants(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    call = getattr(ufunc, method)
    outs = kwargs.get("out")
    targets = [one for one in (outs if isinstance(outs, tuple) else (outs,)) if one is not None]
    if method == "at":
        targets = [inputs[0]]
    if not all(is_constant(target) and target.writable_now() for target in targets):
        return _call_with_options(ufunc, method, inputs, kwargs)
    result = call(*plain_arguments(inputs), **plain_arguments(kwargs))
    if targets:
        return outs if isinstance(outs, tuple) and len(outs) > 1 else targets[0] if method != "at" else None
    return known(result)


def function_of_constants(function: Any, args: Any, kwargs: dict[str, Any], traced: Any = None) -> Any:
    """Results of NumPy for constants, at once; ``traced`` is the function that takes traced values in its place."""

    def again(one: Any, other: Any) -> Any:
        return (traced or function)(*replaced(args, one, other), **replaced(kwargs, one, other))

    result = function(*plain_arguments(args), **plain_arguments(kwargs))
    return known_result(result, list(traced_leaves((args, kwargs))), again)


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

    It is forgotten once an operand is written over. The symbolic values of computations are never known.
    """
    operands = list(operands)
    if isinstance(result, BufferView) and all(map(is_known, operands)) and not is_known(result):
        traced: Any = result
        traced.known = compute
        for operand in operands:
            if isinstance(operand, BufferView) and not operand.scalar:
                operand.tell(traced)
    return result


def _never() -> NoReturn:
    """The call that no attempt makes, as only a step in Python can."""
    raise AssertionError


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function on arguments of which at least one is traced, or contains traced values."""
    args, kwargs = settled(args, kwargs)
    if function in numpy_writes.FUNCTIONS or kwargs.get("out") is not None:
        refuse_deferred((args, kwargs))
        return _call_function(function, args, kwargs)
    return attempted(lambda: _call_function(function, args, kwargs), function, args, kwargs)


def _call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    chosen = _chosen_in((*args, *kwargs.values()))
    if chosen is not None:
        return chosen.__array_function__(function, (), args, kwargs)
    if limited_calls.concern((*args, *kwargs.values())):
        return limited_calls.call_function(function, *prepared(function, args, kwargs))
    if only_constants(args, kwargs) and kwargs.get("out") is None and function not in numpy_writes.FUNCTIONS:
        return function_of_constants(function, args, kwargs)
    if function in numpy_writes.FUNCTIONS:
        return _write_by(function, numpy_writes.FUNCTIONS[function], args, kwargs)
    args, kwargs = out_by_name(function, args, kwargs)
    if kwargs.get("out") is not None:
        return into(kwargs["out"], lambda options: call_function(function, args, options), kwargs, function.__name__)
    args, kwargs = prepared(function, args, kwargs)
    leaves = list(traced_leaves((args, kwargs)))
    check_alive(leaves)
    if function in _QUESTIONS:
        return known(function(*_samples(args), **_samples(kwargs)))
    with located(leaves):
        return limited_calls.seen(dispatch.call_function(function, args, kwargs), leaves)


def _chosen_in(values: Iterable[Any]) -> Any:
    """Elements that a mask has chosen, among some arguments or in lists among them."""
    for value in values:
        if getattr(type(value), "chooses", False):
            return value
        found = _chosen_in(value) if type(value) in (tuple, list) else None
        if found is not None:
            return found
    return None


def _write_by(function: Any, write: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function that writes into its first argument: at once, or as a new version of its buffer."""
    refuse_deferred((args, kwargs))
    target, *rest = args
    if is_constant(target) and target.writable_now(rest, kwargs):
        return function(target.array, *plain_arguments(numbers(rest)), **plain_arguments(numbers(kwargs)))
    check_alive(traced_leaves((args, kwargs)))
    with located(list(traced_leaves((args, kwargs)))):
        check_writable(target)
        return write(target, *constants(tuple(rest)), **constants(kwargs))


@functools.lru_cache(maxsize=1024)
def _place_of_out(function: Any) -> int | None:
    try:
        kinds = {name: one.kind for name, one in inspect.signature(function).parameters.items()}
    except (TypeError, ValueError):
        return None
    by_place = kinds.get("out") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return list(kinds).index("out") if by_place else None


def out_by_name(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments, of which ``out`` goes by its name."""
    place = _place_of_out(function)
    if place is None or len(args) <= place:
        return args, kwargs
    if len(args) > place + 1:
        refuse(f"numpy.{function.__name__}: arguments behind out= are named", fix="name them")
    return args[:place], {**kwargs, "out": args[place]}


def into(target: Any, call: Callable[[Any], Any], kwargs: dict[str, Any], name: str) -> Any:
    """A result stored into an array of its shape."""
    (target,) = target if isinstance(target, tuple) else (target,)
    check_writable(target)
    result = call({key: value for key, value in kwargs.items() if key != "out"})
    if isinstance(result, TracedValue) and result.shape != target.shape:
        reason = f"numpy.{name}: an output of shape {result.shape} is required; got {target.shape}"
        raise noted(ShapeError(reason), result, target)
    return assign(target, as_value(result, name), name)


def call_created(replacement: Any, args: tuple[Any, ...], kwargs: dict[str, Any], function: Any = None) -> Any:
    """A NumPy function that does not dispatch (zeros, asarray, ...), through its traced replacement.

    ``function`` is NumPy's, which matters where it has another name there, or is not in its main module.
    """
    args, kwargs = settled(args, kwargs)
    function = getattr(np, replacement.__name__, replacement if function is None else function)
    chosen = _chosen_in((*args, *kwargs.values()))
    if chosen is not None:
        return chosen.__array_function__(function, (), args, kwargs)
    created = limited_calls.call_creation(replacement.__name__, args, kwargs)
    if created is not None:
        return created
    if limited_calls.concern((*args, *kwargs.values())):
        return limited_calls.call_function(function, args, kwargs)
    leaves = list(traced_leaves((args, kwargs)))
    check_alive(leaves)
    with located(leaves):
        return limited_calls.seen(replacement(*args, **kwargs), leaves)


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
    args, kwargs = settled(args, kwargs, value)
    if name in numpy_writes.METHODS or kwargs.get("out") is not None:
        refuse_deferred((args, kwargs))
        return _call_method(name, value, args, kwargs)
    call, method = functools.partial(_call_method, name, value, args, kwargs), getattr(np.ndarray, name)
    return attempted(call, method, (value, *args), kwargs)


def _call_method(name: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if limited_calls.concern((value, *args)):
        return limited_calls.call_method(name, value, constants(args), constants(kwargs))
    if is_constant(value) and only_constants(args, kwargs) and name not in numpy_writes.METHODS:
        return function_of_constants(functools.partial(_method, name), (value, *args), kwargs)
    if name in numpy_writes.METHODS:
        return _write_by(getattr(np.ndarray, name), numpy_writes.METHODS[name], (value, *args), kwargs)
    if kwargs.get("out") is not None:
        return into(kwargs["out"], lambda options: call_method(name, value, args, options), kwargs, name)
    check_alive((value,))
    with located((value, *args)):
        keep = frozenset({float}) if name == "clip" else frozenset()
        args, kwargs = constants(args, keep), constants(kwargs, keep)
        result = limited_calls.seen(methods.METHODS[name](value, *args, **kwargs), (value,))
    operands = (value, *traced_leaves((args, kwargs)))
    return _remember(result, operands, lambda: getattr(number_of(value), name)(*args, **kwargs))


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


def call_attribute(name: str, value: Any) -> Any:
    """An attribute of an array that is a value itself: T, mT, real, imag."""
    if is_constant(value):
        return function_of_constants(lambda one: getattr(one, name), (value,), {})
    check_alive((value,))
    with located((value,)):
        return link(methods.ATTRIBUTES[name](value), (value,))


def call_getitem(value: Any, index: Any) -> Any:
    """``value[index]``; Python scalars in the index become part of the trace."""
    if is_deferred(index):
        return attempted(_never, operator.getitem, (value, index), {})
    check_alive((value,))
    index = known_index(index)
    if limited_calls.is_moving(value, index):
        return limited_calls.call_getitem(value, index)
    if is_constant(value) and next(traced_leaves(index), None) is None:
        return function_of_constants(lambda one: one[index], (value,), {})
    with located((value, *traced_leaves(index))):
        result = link(indexing.getitem(value, index), (value,))
    return _remember(result, (value, *traced_leaves(index)), lambda: number_of(value)[numbers(index)])


def call_setitem(target: Any, index: Any, value: Any) -> None:
    """``target[index] = value``."""
    if is_deferred((index, value)):
        from xjit.capture.splits import deferred_stores

        refuse_deferred(index)
        value = deferred_stores.value_of_store(call_getitem(target, index), value)
    check_alive((target, value))
    index = known_index(index)
    if getattr(type(value), "chooses", False) and not takes_chosen(target, index, value):
        value = value.packed()
    if limited_calls.takes_store(target, index) or limited_calls.concern((value,)):
        limited_calls.call_setitem(target, index, constants(value))
    else:
        setitem(target, index, constants(value))


def write_ufunc(ufunc: np.ufunc, target: Any, other: Any) -> Any:
    """``target op= other``."""
    check_writable(target)
    return call_ufunc(ufunc, "__call__", (target, other), {"out": (target,)})


def packed_index(index: Any, rank: int) -> Any:
    """An index, elements in it that masks chose, and lists of the run, as arrays of a size that only the run knows.

    It is one of an array of so many axes.
    """
    if is_deferred(index):
        index = positions_in(index, rank)
    if type(index) is tuple:
        return tuple(packed_index(one, rank) for one in index)
    return index.packed() if getattr(type(index), "chooses", False) else index


def known_index(index: Any) -> Any:
    """The index with the numbers in it that are known."""
    if type(index) is tuple:
        return tuple(map(known_index, index))
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
    if is_constant(value):
        return plain(value)
    if isinstance(value, type):
        return vars(value).get("stands_for", value)
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
    elif type(value) is slice:
        yield from traced_leaves((value.start, value.stop, value.step))


def has_open_sizes(values: Iterable[Any]) -> bool:
    """Return whether an array of a size that only the run knows is among nested arguments."""
    return limited_calls.concern(values) or _chosen_in(values) is not None


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
