"""Objects of libraries: each has one stand-in in a trace, however the function comes to it, so that ``is`` holds.

np.linalg is self.library           a module by its name, and by an attribute
field.default is MISSING            what a library compares by ``is`` is itself
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xjit.capture.comprehensions.ordered_lists import SEQUENCE_FUNCTIONS
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.identities import LOOKING, Identities
from xjit.capture.guarding.signature import is_plain
from xjit.capture.python_numbers.traced_math import traced_math
from xjit.capture.recording.module_views import NDARRAY, traced_numpy, traced_operation
from xjit.capture.recording.objects_of_run import foreign_object
from xjit.capture.recording.traceable import is_called_whole, is_function_of_arguments, is_pure
from xjit.capture.splits.object_comparisons import OF_OBJECTS
from xjit.capture.splits.outside import splitting_function
from xjit.capture.substitutes.dataclass_functions import DATACLASS_FUNCTIONS
from xjit.capture.substitutes.restoring import RESTORING
from xjit.capture.tracers.opaque import Opaque
from xjit.ir.context import TracedValue

_RAW_CLASSES = (types.GenericAlias, types.UnionType, np.finfo, np.iinfo, np.ufunc, type(np.r_), type(np.c_))
_SUBSTITUTES: dict[Any, Any] = {**DATACLASS_FUNCTIONS, **RESTORING, **SEQUENCE_FUNCTIONS, np.ndarray: NDARRAY}


class LibraryObjects:
    """The stand-ins that one trace has made of objects of libraries, and of builtins."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities
        self._seen: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}

    def add_builtins(self, table: Mapping[str, Any]) -> None:
        """Notes the stand-ins of builtins."""
        for name, seen in table.items():
            if seen is not vars(builtins)[name]:
                self._note(vars(builtins)[name], seen)

    def once(self, value: Any, make: Callable[[], Any]) -> Any:
        """The stand-in of an object, made if there is none."""
        if is_plain(value):
            return make()
        known = self._seen.get(id(value))
        return self._note(value, make()) if known is None else known[1]

    def _note(self, value: Any, seen: Any) -> Any:
        self._seen[id(value)] = value, seen
        if seen is not value:
            self._originals[id(seen)] = seen, value
        return seen

    def forget(self) -> None:
        """Gives up the stand-ins, which hold the trace."""
        self._seen.clear()
        self._originals.clear()

    def original(self, seen: Any) -> Any:
        """The object that a stand-in stands for; anything else itself."""
        known = self._originals.get(id(seen))
        return seen if known is None else known[1]

    def substitute(self, value: Any) -> Any:
        """The traced version of a library's function or class, or the value itself."""
        return self.once(value, functools.partial(self._substitute, value))

    def _substitute(self, value: Any) -> Any:
        try:
            if value in LOOKING:
                return self._identities.looking(OF_OBJECTS.get(value, value))
            found = _SUBSTITUTES.get(value) or traced_math(value) or traced_numpy(value) or traced_operation(value)
        except TypeError:  # not hashable
            found = None
        if found is None and is_called_whole(value):
            found = splitting_function(value)
        return value if found is None else found

    def seen(self, value: Any, path: Path) -> Any:
        """A value whose identity says everything, or a stand-in that refuses to be used."""
        if isinstance(value, (TracedValue, *_RAW_CLASSES)) or is_function_of_arguments(value):
            return self.substitute(value)
        return self.once(value, functools.partial(_opaque, value, path))


def _opaque(value: Any, path: Path) -> Any:
    if is_sentinel(value):
        return value
    if isinstance(value, types.BuiltinFunctionType | types.FunctionType | types.MethodType):
        reason = f"{path} depends on or changes something outside of the function"
        return Opaque(value, reason, "call it outside of the function, and pass the result in")
    if isinstance(value, type):
        reason = f"{path} makes objects that depend on something outside of the function"
        return Opaque(value, reason, "make the object outside of the function, and pass in its numbers")
    return foreign_object(value, path)


def is_sentinel(value: Any) -> bool:
    """Return whether a library holds the object by a name beside its class, to compare with it by ``is``.

    >>> import dataclasses
    >>> is_sentinel(dataclasses.MISSING), is_sentinel(np._NoValue), is_sentinel(np.float64(1.0))
    (True, True, False)
    """
    cls = type(value)
    module = sys.modules.get(cls.__module__)
    if cls in _NO_SENTINELS or module is None or not (is_pure(cls.__module__) or _is_numpys(cls.__module__)):
        return False
    return any(one is value for one in vars(module).values())


_NO_SENTINELS = (np.ndarray, np.ufunc, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


def _is_numpys(module: str) -> bool:
    return module.partition(".")[0] == "numpy"
