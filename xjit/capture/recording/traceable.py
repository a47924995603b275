"""Which code is the user's own and gets traced through, and which is called as it stands."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import warnings
import weakref

import numpy as np

# Large libraries whose Python code takes decisions that tracing through them could not follow. Anything else that
# is installed may be the user's own package and is traced through.
_FOREIGN_NAMES = """
    IPython PIL _pytest cupy dask h5py hypothesis jax jaxlib llvmlite matplotlib ml_dtypes mpi4py networkx numba
    numexpr numpy pandas pluggy polars pyarrow pytest scipy seaborn setuptools shapely skimage sklearn statsmodels
    sympy tensorflow torch tqdm xarray xjit
"""

# Modules of the standard library whose functions depend on their arguments alone; those of some are defined in C, in
# a module with an underscore.
_PURE_NAMES = """
    _bisect _collections_abc _functools _heapq _operator _statistics _struct abc bisect cmath collections contextlib
    copy dataclasses decimal enum fractions functools heapq itertools keyword math numbers operator re statistics
    string struct textwrap types typing typing_extensions __future__
"""

_WHOLE = frozenset({"re", "struct", "_struct", "statistics", "_statistics", "textwrap", "string"})
_FOREIGN = frozenset(_FOREIGN_NAMES.split())
_PURE = frozenset(_PURE_NAMES.split())

# Functions of other modules of the standard library that a trace may call: compiled code emits no warnings anyway.
HARMLESS = (warnings.catch_warnings, warnings.filterwarnings, warnings.simplefilter)

_PLACES = frozenset({"__dict__", "__weakref__"})  # descriptors that every class statement makes
_python_classes: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


@functools.lru_cache(maxsize=1024)
def is_library(module: str | None) -> bool:
    """Return whether code of this module is called as it stands: the standard library and large known packages.

    >>> is_library("scipy.special"), is_library("my_package.models"), is_library("__main__")
    (True, False, False)
    """
    top = (module or "").partition(".")[0]
    return top in _FOREIGN or top in sys.stdlib_module_names


def is_pure(module: str | None) -> bool:
    """Return whether this is a module of the standard library whose functions depend on their arguments alone.

    >>> is_pure("functools"), is_pure("time")
    (True, False)
    """
    return (module or "").partition(".")[0] in _PURE


def is_standard(module: str | None) -> bool:
    """Return whether this is a module of the standard library."""
    return (module or "").partition(".")[0] in sys.stdlib_module_names


def is_traceable(value: object) -> bool:
    """Return whether the value is a Python function outside of the libraries, or a library's wrapper around one."""
    if not isinstance(value, types.FunctionType):
        return False
    own = value if not is_library(_module_of(value)) else inspect.unwrap(value)
    return isinstance(own, types.FunctionType) and not is_library(_module_of(own))


def is_called_whole(value: object) -> bool:
    """Return whether a value is a function of a library that no traced value goes through.

    NumPy and most of Python's own are traced; functions of text and statistics are not.

    >>> import re, scipy.linalg
    >>> is_called_whole(scipy.linalg.expm), is_called_whole(re.match), is_called_whole(len)
    (True, True, False)
    """
    if type(value).__name__ == "fortran":  # as those of scipy.linalg.lapack, which name no module
        return True
    module = getattr(value, "__module__", None) or ""
    if module.partition(".")[0] in _WHOLE:
        return isinstance(value, types.FunctionType | types.BuiltinFunctionType)
    own = module.partition(".")[0] in ("builtins", "numpy", "xjit") or is_standard(module)
    return callable(value) and not isinstance(value, type | np.ufunc) and not own and is_library(module)


def is_function_of_arguments(value: object) -> bool:
    """Return whether the value is a library's function whose result depends on its arguments alone, as far as
    known.
    """
    if isinstance(value, _SLOTS) or value in HARMLESS:
        return True
    if not callable(value) or not hasattr(value, "__name__"):
        return False
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type | str | bytes | int | float):
        return False
    module = _module_of(value)
    if module == "builtins" or is_pure(module):
        return True
    return not is_standard(module) and not (module or "").startswith("numpy.random")


_SLOTS = (types.MethodWrapperType, types.MethodDescriptorType, types.WrapperDescriptorType)


def _module_of(value: object) -> str | None:
    if isinstance(value, types.FunctionType):
        return value.__globals__.get("__name__")
    return getattr(value, "__module__", None)


def is_plain_class(cls: type) -> bool:
    """Return whether a class may be used as it is: its instances do not read the world when they are made."""
    if issubclass(cls, BaseException) or cls in HARMLESS:
        return True
    module = cls.__module__
    return module == "builtins" or is_pure(module) or not is_standard(module)


def is_user_class(cls: type) -> bool:
    """Return whether instances of the class hold their state in attributes alone, by classes outside of the
    libraries.

    Classes written in C, and classes derived from them, keep state that no attribute shows.
    """
    known = _python_classes.get(cls)
    if known is None:
        known = _python_classes[cls] = _is_user_class(cls)
    return known


def _is_user_class(cls: type) -> bool:
    if issubclass(cls, BaseException | type) or is_library(cls.__module__):
        return False
    return all(_is_written_in_python(base) for base in cls.__mro__ if base is not object)


def _is_written_in_python(cls: type) -> bool:
    slots = "__slots__" in vars(cls)
    own = {name: value for name, value in vars(cls).items() if value is not getattr(object, name, None)}
    return not any(
        _is_made_in_c_for(cls, value)
        or (isinstance(value, types.GetSetDescriptorType) and name not in _PLACES)
        or (isinstance(value, types.MemberDescriptorType) and not slots)
        for name, value in own.items()
    )


def _is_made_in_c_for(cls: type, value: object) -> bool:
    """Return whether a value in the body of a class is one of its own methods in C, not one of another object's."""
    if isinstance(value, types.WrapperDescriptorType | types.MethodDescriptorType):
        return value.__objclass__ is cls
    return isinstance(value, types.BuiltinFunctionType) and value.__self__ is cls
