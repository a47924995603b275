"""NumPy as a test module sees it: the same modules, with every public function called inside a compiled one."""

from __future__ import annotations

import builtins
import functools
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import xjit
from xjit.errors import FallbackWarning, RetraceWarning

_MODULES = (np, np.linalg, np.fft)
# Settings, texts, files and questions about types: there is nothing to compile. What makes arrays of Python's lists
# is left out as well: arguments that no program would pass are all that would be tested.
_LEFT = """
    array array2string array_repr array_str asanyarray asarray asarray_chkfinite ascontiguousarray
    asfortranarray base_repr binary_repr can_cast common_type datetime_as_string datetime_data einsum_path empty
    format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromfunction fromiter
    frompyfunc fromregex fromstring genfromtxt get_include get_printoptions getbufsize geterr geterrcall info
    isdtype issubdtype iterable load loadtxt may_share_memory min_scalar_type mintypecode nested_iters
    printoptions promote_types result_type save savetxt savez savez_compressed set_printoptions setbufsize
    seterr seterrcall shares_memory show_config show_runtime test typename
"""
_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")


def public_functions() -> Iterator[Any]:
    """Every function and ufunc that NumPy documents, once."""
    found = {}
    for module in _MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and name not in _LEFT.split():
                found[id(value)] = value
    return iter(found.values())


class Wrapped:
    """A function that is called inside a compiled one, and is itself to whoever asks."""

    def __init__(self, function: Any, wrapper: Wrapper, of: Any = None) -> None:
        self.__wrapped__, self.__doc__ = function, function.__doc__
        self._compiled = wrapper.compiled(function if of is None else of, "" if of is None else function.__name__)
        self._wrapper = wrapper

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._wrapper.call(self._compiled, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        return Wrapped(found, self._wrapper, self.__wrapped__) if name in _METHODS else found

    @property
    def __class__(self) -> Any:
        return type(self.__wrapped__)

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError(f"the class of {self!r} is assigned to")

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == plain(other))

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


class Wrapper:
    """The compiled form of every function, made when it is asked for, and counts of what became of calls."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._jitted: dict[tuple[int, str], Any] = {}
        self._wrapped = {id(function): function for function in public_functions()}
        self._modules: dict[int, types.ModuleType] = {}
        self._seen: dict[int, Wrapped] = {}  # one of each, as tests ask whether functions are the same
        self.calls = 0

    @property
    def fallbacks(self) -> int:
        """Count the calls, or steps of them, that NumPy has run."""
        return sum(one.stats().fallbacks for _, one in self._jitted.values())

    def compiled(self, function: Any, method: str = "") -> Callable[..., Any]:
        """A compiled function that does nothing but call this one, or a method of it."""
        if (id(function), method) not in self._jitted:

            def call(*args: Any, **kwargs: Any) -> Any:
                return (getattr(function, method) if method else function)(*args, **kwargs)

            call.__qualname__ = getattr(function, "__name__", "call")
            self._jitted[id(function), method] = function, xjit.jit(call, **self._options)
        found: Callable[..., Any] = self._jitted[id(function), method][1]
        return found

    def call(self, compiled: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return the function's result, without a word where NumPy runs it."""
        self.calls += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            warnings.simplefilter("ignore", RetraceWarning)
            return compiled(*plain(args), **plain(kwargs))

    def seen(self, value: Any) -> Any:
        """Return what a test module finds in place of a value of NumPy's."""
        if isinstance(value, types.ModuleType) and is_numpys(value.__name__):
            return self._modules.setdefault(id(value), Module(value, self))
        # The same object only: others may have its address later.
        if value is None or self._wrapped.get(id(value)) is not value:
            return value
        if id(value) not in self._seen:
            self._seen[id(value)] = Wrapped(value, self)
        return self._seen[id(value)]

    def importer(self) -> Callable[..., Any]:
        """`__import__` for a module that shall see NumPy like this."""

        @functools.wraps(builtins.__import__)
        def imported(*args: Any, **kwargs: Any) -> Any:
            return self.seen(builtins.__import__(*args, **kwargs))

        return imported


class Module(types.ModuleType):
    """A module of NumPy's with wrapped functions; what is stored in it is stored in NumPy's."""

    def __init__(self, module: types.ModuleType, wrapper: Wrapper) -> None:
        super().__init__(module.__name__, module.__doc__)
        object.__setattr__(self, "_seen", (module, wrapper))

    def __getattribute__(self, name: str) -> Any:
        module, wrapper = object.__getattribute__(self, "_seen")
        return wrapper.seen(getattr(module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_seen")[0], name, plain(value))

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_seen")[0], name)


def is_numpys(name: str) -> bool:
    """Return whether a module belongs to what is tested: not the comparisons that judge results."""
    parts = name.split(".")
    return parts[0] == "numpy" and parts[1:2] not in (["testing"], ["random"], ["ma"], ["exceptions"])


def plain(value: Any) -> Any:
    """Arguments as NumPy would have got them."""
    if type(value) is Wrapped:
        return value.__wrapped__
    if type(value) in (tuple, list) and any(type(one) is Wrapped for one in value):
        return type(value)(map(plain, value))
    if type(value) is tuple:
        return tuple(map(plain, value))
    if type(value) is dict:
        return {key: plain(one) for key, one in value.items()}
    return value
