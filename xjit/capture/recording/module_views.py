"""Stand-ins of modules: NumPy with its other functions traced too, and recorded reads elsewhere."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.recording.python_callbacks import REPLACED
from xjit.capture.recording.traceable import is_pure
from xjit.capture.recording.traced_ufuncs import traced_ufunc
from xjit.capture.splits.attempts import attempted
from xjit.capture.splits.deferred import in_arrays, joined
from xjit.capture.splits.purity import draws
from xjit.capture.substitutes.restoring import RESTORING
from xjit.capture.tracers.doubts import settled_class
from xjit.capture.tracers.known_values import known
from xjit.capture.tracers.numpy_call import (
    call_created,
    call_function,
    constants,
    function_of_constants,
    has_open_sizes,
    into,
    only_constants,
    out_by_name,
    prepared,
    traced_leaves,
)
from xjit.capture.tracers.opaque import Opaque
from xjit.capture.tracers.provenance import is_splitting, located, refuse
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.bracketed import SUBSCRIPTED
from xjit.numpy.traced_functions import traced_functions

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

MAX_CONCRETE = 1024
"""Arrays of constants up to this size are known arrays while tracing, so that Python can use their elements."""

_OF_CONTROL = "xjit.capture.control."

_COPIES: frozenset[Any] = frozenset({np.array, np.asarray, np.asanyarray})
_CREATION: frozenset[Any] = frozenset(
    {np.zeros, np.ones, np.empty, np.full, np.arange, np.linspace, np.eye, np.identity, np.tri}
)
# Functions that read or change something outside of the function, or take functions apart.
_REFUSED = {
    "reads or changes something outside of the function": """load loadtxt genfromtxt fromfile memmap save savez
        savez_compressed savetxt seterr seterrcall setbufsize set_printoptions""",
    "calls Python for each element": "frompyfunc",
    "hands out elements one by one": "nditer nested_iters",
}


class _StandIn:
    """Base of stand-ins of modules, which cannot be changed."""

    _module: types.ModuleType

    def __setattr__(self, name: str, value: Any) -> None:
        refuse(f"the function assigns to {self._module.__name__}.{name}", fix="assign it outside of the function")

    def __repr__(self) -> str:
        return repr(self._module)


class RecordingModule(_StandIn):
    """The stand-in of a module; its attributes are recorded as they are read."""

    _recorder: Recorder
    _path: Path

    def __init__(self, recorder: Recorder, module: types.ModuleType, path: Path) -> None:
        vars(self).update(_recorder=recorder, _module=module, _path=path)

    def __getattr__(self, name: str) -> Any:
        try:
            value = getattr(self._module, name)
        except AttributeError:
            self._recorder.add(guards.no_attribute(self._path, name))
            raise
        if is_pure(self._module.__name__):
            return self._recorder.library.substitute(value)
        return self._recorder.read(value, self._path.attribute(name))


class TracedNumpy(_StandIn):
    """The stand-in of NumPy and its submodules; they do not change, so nothing is recorded."""

    def __init__(self, recorder: Recorder, module: types.ModuleType) -> None:
        vars(self).update(_recorder=recorder, _module=module)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        found = vars(self)[name] = self._recorder.library.once(value, lambda: self._stand_in(name, value))
        return found  # it is found there from now on

    @staticmethod
    def _as_it_is(value: Any) -> Any:
        """A function that no array hears of: what it does with an object of the run is a step in Python."""
        if not isinstance(value, types.FunctionType) or hasattr(value, "_implementation"):
            return value
        from xjit.capture.splits.outside import splitting_function

        return splitting_function(value)

    def _stand_in(self, name: str, value: Any) -> Any:
        full = f"{self._module.__name__}.{name}"
        if full.startswith("numpy.random.") and name != "__name__":
            return _random(value, full)
        if isinstance(value, types.ModuleType):
            return TracedNumpy(self._recorder, value) if value.__name__.startswith("numpy") else value
        for reason, names in _REFUSED.items():
            if name in names.split() and self._module is np:
                refuse(f"{full} {reason}", fix="call it outside of the function")
        if value is np.errstate:
            return _errstate
        if value is np.ndarray:
            return NDARRAY
        try:
            return traced_numpy(value) or self._as_it_is(value)
        except TypeError:  # not hashable
            return value


def _random(value: Any, full: str) -> Any:
    """A function of NumPy's random numbers, which a step in Python calls; refused where there are no such steps."""
    drawing = Opaque(
        value,
        f"{full} draws from random state, and a trace would freeze the draw",
        "draw outside of the function, and pass the numbers in",
    )
    return drawing if is_splitting() or draws(value) else drawing()


class TracedOperations(_StandIn):
    """The stand-in of this package: its functions get traced Python numbers as the numbers they are."""

    def __init__(self, recorder: Recorder, module: types.ModuleType) -> None:
        vars(self).update(_recorder=recorder, _module=module)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return self._recorder.library.once(value, lambda: self._stand_in(value))

    def _stand_in(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return TracedOperations(self._recorder, value)
        return traced_operation(value) or value


def module_stand_in(recorder: Recorder, module: types.ModuleType, path: Path) -> Any:
    """The stand-in of a module."""
    library = module.__name__.partition(".")[0]
    if library == "numpy":
        return TracedNumpy(recorder, module)
    return TracedOperations(recorder, module) if library == "xjit" else RecordingModule(recorder, module, path)


def traced_operation(function: Any) -> Callable[..., Any] | None:
    """A function of this package that takes traced Python numbers as constants; None for anything else."""
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith("xjit."):
        return None
    if function.__module__.startswith(_OF_CONTROL):  # they carry numbers as they are
        return None

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves = list(traced_leaves((args, kwargs)))
        with located(leaves):
            return function(*constants(args), **constants(kwargs))

    return wrapper


class _ArrayClass(type):
    """The class of the stand-in of ``numpy.ndarray``."""

    def __call__(cls, shape: Any, dtype: Any = float, buffer: Any = None, *rest: Any, **options: Any) -> Any:
        if buffer is not None or rest or options.keys() - {"order"}:
            refuse("numpy.ndarray makes an array over memory of another object", fix="use np.frombuffer outside")
        made: Any = np.empty
        return traced_numpy(made)(shape, dtype, **options)

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, TracedValue):
            return issubclass(settled_class(value), np.ndarray)
        return isinstance(value, np.ndarray)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ndarray, name)

    def __or__(cls, other: Any) -> Any:
        return np.ndarray | other

    def __ror__(cls, other: Any) -> Any:
        return other | np.ndarray

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is np.ndarray

    def __hash__(cls) -> int:
        return hash(np.ndarray)

    def __repr__(cls) -> str:
        return repr(np.ndarray)


class NDARRAY(metaclass=_ArrayClass):
    """The stand-in of ``numpy.ndarray``: a class to ask for, and a maker of arrays without values."""

    stands_for = np.ndarray


NDARRAY.__name__, NDARRAY.__qualname__, NDARRAY.__module__ = "ndarray", "ndarray", "numpy"


def _errstate(**kwargs: Any) -> Any:
    """Compiled code emits no warnings, so ignoring them is what it does anyway."""
    if not set(kwargs.values()) <= {"ignore", "warn", None}:
        refuse("numpy.errstate turns floating-point warnings into something else", fix="check the result instead")
    return RESTORING[np.errstate](**kwargs)


class TracedSubscripted:
    """Stand-in of ``numpy.r_`` and its like."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getitem__(self, key: Any) -> Any:
        key = constants(key)
        if self._original is np.r_ and has_open_sizes((key,)):
            return call_function(np.concatenate, (_in_row(key),), {})
        if next(traced_leaves(key), None) is None:
            return known(self._original[key])
        return call_created(SUBSCRIPTED[self._original], (key,), {})

    def __repr__(self) -> str:
        return repr(self._original)


def _in_row(key: Any) -> list[Any]:
    """The parts of ``r_[key]`` as arrays of one dimension, numbers and ranges of the type of all of them."""
    parts = [_numbers_of(part) if type(part) is slice else part for part in (key if type(key) is tuple else (key,))]
    numbers = [isinstance(part, bool | int | float | complex | np.generic) for part in parts]
    types = [part if number else part.dtype for part, number in zip(parts, numbers, strict=True)]
    found = np.result_type(*types)
    return [
        np.array([part], found) if number else part.reshape(1) if part.ndim == 0 else part
        for part, number in zip(parts, numbers, strict=True)
    ]


def _numbers_of(part: slice) -> Any:
    if isinstance(part.step, complex):
        return np.linspace(part.start or 0, part.stop, num=int(abs(part.step)))
    return np.arange(part.start or 0, part.stop, part.step or 1)


def _copy_of(function: Any, array: Any, dtype: Any) -> Any:
    """``numpy.array`` or ``numpy.asarray`` of an array whose length only the run knows."""
    if dtype is not None and np.dtype(dtype) != array.dtype:
        return array.astype(np.dtype(dtype))
    return array.copy() if function is np.array else array


@functools.lru_cache(maxsize=512)
def traced_numpy(function: Any) -> Any:
    """The traced version of a function of NumPy, None if the function is to be used as it is."""
    if function in SUBSCRIPTED:
        return TracedSubscripted(function)
    if function in REPLACED:
        return REPLACED[function]
    if isinstance(function, np.ufunc):
        return traced_ufunc(function)
    replacement = traced_functions().get(function)
    if replacement is None:
        return None

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found = joined(function, args, kwargs)
        if found is not None:
            return found
        args, kwargs = out_by_name(function, in_arrays(args), kwargs)
        if kwargs.get("out") is not None:
            return into(kwargs["out"], lambda options: wrapper(*args, **options), kwargs, function.__name__)
        single = len(args) == 1 and not isinstance(args[0], list | tuple) and kwargs.keys() <= {"dtype"}
        if function in _COPIES and single and has_open_sizes(args):
            return _copy_of(function, args[0], kwargs.get("dtype"))
        return attempted(lambda: called(*args, **kwargs), function, args, kwargs)

    def called(*args: Any, **kwargs: Any) -> Any:
        if next(traced_leaves((args, kwargs)), None) is not None and only_constants(args, kwargs):
            if has_open_sizes((*args, *kwargs.values())):
                return call_function(function, args, kwargs)
            return function_of_constants(function, args, kwargs, wrapper)
        args, kwargs = prepared(function, args, kwargs)
        if next(traced_leaves((args, kwargs)), None) is not None:
            return call_created(replacement, args, kwargs, function)
        if function in _CREATION:
            made = call_created(replacement, args, kwargs, function)
            array = made[0] if isinstance(made, tuple) else made  # of a line, with the step
            if math.prod(array.shape) > MAX_CONCRETE:
                return made
        return known(_of_known(function, args, kwargs))

    return wrapper


def _of_known(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result for values that are known; CaptureError for an object that makes a traced array of itself."""
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        if "__array__" not in str(error):
            raise
        reason = "an object is passed to NumPy whose __array__ returns an array that only the run knows"
        refuse(reason, fix="pass the array that it returns")
