"""The part of the dispatch key that one argument leaf contributes.

>>> signature(1.5), signature("mean")
((<class 'float'>,), (<class 'str'>, 'mean'))
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import types
import uuid
from _thread import _local as ThreadNamespace
from collections.abc import Hashable
from typing import Any, Final, TypeAlias

import numpy as np

from xjit.capture.guarding.guards import DYNAMIC_INTEGERS, is_generator, is_labelled, layout_of_labelled
from xjit.capture.recording.traceable import is_user_class
from xjit.tree import distinct
from xjit.types import NAMES, combined_order

Signature: TypeAlias = "Hashable | None"

NORMALISE: Final = "normalise"
"""An array that kernels cannot read where it lies: it has to be copied before its signature can be taken."""

PLAIN_TYPES: Final = (
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    range,
    np.dtype,
    enum.Enum,
    fractions.Fraction,
    decimal.Decimal,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    uuid.UUID,
)
"""Immutable values that compare by value; they are handed to the function as they are."""


def signature(leaf: Any) -> Signature:
    """The dispatch key of one leaf, ``NORMALISE``, or None if a call with it cannot be captured.

    * arrays of exactly the type ``numpy.ndarray``: element type, shape and strides, because shapes are static in a
      graph and the strides decide the memory order of results and which accesses are contiguous. Subclasses
      (masked arrays, matrices, memory maps) have rules of their own: None, as for object, string, date and
      structured element types. Byte-swapped and unaligned arrays, and those whose elements do not lie whole
      elements apart: ``NORMALISE``
    * NumPy scalars: the element type; the value stays dynamic
    * Python numbers: the type only, the value stays dynamic until Python needs it, then it is a guard; integers
      that int64 cannot hold are keys by value
    * immutable plain values (text, enum members, dtypes, ...): type and value
    * inner functions and lambdas, which are often made anew for a call: their code; what they read is guarded
    * other functions, classes and modules: the object itself
    * slices, and instances of the user's classes written in Python: the class; what is read of them is guarded
    * generators of random numbers: the class; steps in Python draw from them
    * sets of plain values: their values
    * arrays with labels: class, element types and shape; steps in Python work with them
    * lists and dicts that are not taken apart: the class; steps in Python change them
    * everything else: None
    """
    kind = type(leaf)
    if kind is np.ndarray:
        return _array(leaf)
    if kind is float or kind is complex:
        return (kind,)
    if kind is int:
        return (int,) if leaf in DYNAMIC_INTEGERS else (int, leaf)
    if kind is bool:
        return (bool, leaf)
    return _other(leaf, kind)


def _array(array: np.ndarray[Any, Any]) -> Signature:
    if array.dtype not in NAMES:
        native = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")  # not all types have one
        return NORMALISE if native in NAMES else None
    if not (array.flags.aligned and _counts_in_elements(array)):
        return NORMALISE
    return (array.dtype, array.shape, array.strides)


def _counts_in_elements(array: np.ndarray[Any, Any]) -> bool:
    """Return whether the distances along the axes are whole numbers of elements, as kernels count them.

    Aligned arrays may lie otherwise where the type is wider than its alignment: complex numbers behind a float.
    """
    item = array.dtype.itemsize
    if item == array.dtype.alignment:
        return True
    return all(size < 2 or stride % item == 0 for size, stride in zip(array.shape, array.strides, strict=True))


def normalised(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that kernels can read, whose axes rank in memory as those of the array do.

    Axes of stride zero keep it, and where the array has gaps, so has the copy: NumPy's results depend on both.
    """
    once = array[tuple(slice(None) if stride else slice(1) for stride in array.strides)]
    order = combined_order(once.shape, (once.strides,))
    sizes = [once.shape[axis] for axis in order]
    room = [*sizes[:-1], sizes[-1] + 1] if sizes and not once.flags.forc else sizes
    whole: tuple[Any, ...] = (*map(slice, sizes), ...)
    copy = np.empty(room, array.dtype.newbyteorder("="))[whole].transpose(np.argsort(order))
    copy[...] = once
    return np.broadcast_to(copy, array.shape)


def is_inner(function: types.FunctionType) -> bool:
    """Return whether a function is a lambda, or one that another function defines, which may make it for each call.

    >>> is_inner(lambda x: x), is_inner(is_inner)
    (True, False)
    """
    return function.__name__ == "<lambda>" or "<locals>" in function.__qualname__


def _other(leaf: Any, kind: type) -> Signature:
    if isinstance(leaf, np.generic):
        return (leaf.dtype, "scalar") if leaf.dtype in NAMES and _is_numpy_scalar(kind) else None
    if _is_plain_kind(leaf):
        return distinct(leaf)
    if kind is types.FunctionType and is_inner(leaf):
        return (kind, leaf.__code__)
    if isinstance(leaf, types.FunctionType | types.BuiltinFunctionType | types.ModuleType | type | np.ufunc):
        return leaf
    if kind in (set, frozenset):
        return distinct(leaf) if all(map(is_plain, leaf)) else None
    if is_labelled(kind):
        return _labelled(leaf)
    if kind in _CONTAINERS:
        return (kind, "object")
    return (kind, "object") if kind is slice or is_object(leaf) or is_generator(kind) else None


_CONTAINERS = frozenset({list, dict, collections.defaultdict, collections.OrderedDict, collections.Counter})


def _labelled(value: Any) -> Signature:
    """Types and shape of an array with labels; None for one of objects."""
    layout = layout_of_labelled(value)
    return None if any(one == np.object_ for one in layout[0]) else (type(value), layout)


def _is_numpy_scalar(kind: type) -> bool:
    return kind.__module__ in ("numpy", "ml_dtypes")


def is_plain(value: Any) -> bool:
    """Return whether the value is an immutable one that compares by value.

    >>> is_plain("text"), is_plain(3), is_plain([3])
    (True, True, False)
    """
    return _is_plain_kind(value) or type(value) in (bool, int, float, complex) or _is_plain_record(value)


def _is_plain_kind(value: Any) -> bool:
    """Return whether the value is of one of the immutable types; subclasses may have attributes that change."""
    return isinstance(value, PLAIN_TYPES) and (isinstance(value, enum.Enum) or not hasattr(value, "__dict__"))


def _is_plain_record(value: Any) -> bool:
    """Return whether the value is an instance of a frozen dataclass of this package, such as dimension numbers."""
    cls = type(value)
    if not dataclasses.is_dataclass(cls) or not cls.__module__.startswith("xjit.ops"):
        return False
    parameters: Any = vars(cls)["__dataclass_params__"]
    return bool(parameters.frozen) and hash_of(value) is not None


def hash_of(value: Any) -> int | None:
    """The hash of a value; None if it has none."""
    try:
        return hash(value)
    except TypeError:
        return None


def is_object(value: Any) -> bool:
    """Return whether the value is an instance of a user's class, or a plain namespace: its attributes are its state.

    A thread's own namespace is one too: the guards read it again in the thread that calls.
    """
    namespaces = types.SimpleNamespace | argparse.Namespace | ThreadNamespace
    return isinstance(value, namespaces) or is_user_class(type(value))
