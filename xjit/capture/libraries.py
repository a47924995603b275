"""Which code is the user's own and gets traced through, and which is called as it stands."""

from __future__ import annotations

import functools
import sys
import types
import weakref

# Large libraries whose Python code takes decisions that tracing through them could not follow. Anything else that
# is installed may be the user's own package and is traced through.
_FOREIGN_NAMES = """
    IPython PIL _pytest cupy dask h5py hypothesis jax jaxlib llvmlite matplotlib ml_dtypes mpi4py networkx numba
    numexpr numpy pandas pluggy polars pyarrow pytest scipy seaborn setuptools shapely skimage sklearn statsmodels
    sympy tensorflow torch tqdm xarray xjit
"""

# Modules of the standard library whose functions depend on their arguments alone.
_PURE_NAMES = """
    _collections_abc _functools _operator abc bisect cmath collections contextlib copy dataclasses decimal enum
    fractions functools heapq itertools keyword math numbers operator re statistics string struct textwrap types
    typing typing_extensions __future__
"""

_FOREIGN = frozenset(_FOREIGN_NAMES.split())
PURE_MODULES = frozenset(_PURE_NAMES.split())

_PLACES = frozenset({"__dict__", "__weakref__"})  # descriptors that every class statement makes
_python_classes: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


@functools.lru_cache(maxsize=1024)
def is_library(module: str | None) -> bool:
    """Whether code of this module is called as it stands: the standard library and large known packages.

    >>> is_library("scipy.special"), is_library("my_package.models"), is_library("__main__")
    (True, False, False)
    """
    top = (module or "").partition(".")[0]
    return top in _FOREIGN or top in sys.stdlib_module_names


def is_user_function(value: object) -> bool:
    """Whether the value is a function written in Python outside of the libraries."""
    return isinstance(value, types.FunctionType) and not is_library(value.__globals__.get("__name__"))


def is_user_class(cls: type) -> bool:
    """Whether instances of the class hold their state in attributes alone, by classes outside of the libraries.

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
    return not any(
        isinstance(value, types.WrapperDescriptorType | types.MethodDescriptorType | types.BuiltinFunctionType)
        or (isinstance(value, types.GetSetDescriptorType) and name not in _PLACES)
        or (isinstance(value, types.MemberDescriptorType) and not slots)
        for name, value in vars(cls).items()
    )
