"""Words for values that programs do not take: their kind, what compiles in their place, and what to pass instead.

>>> import numpy as np
>>> about = foreign_value(np.array(["2024-01-01"], "datetime64[D]"))
>>> about.kind, about.instead("days")
('dates (datetime64[D])', "pass numbers: (days - days[0]) / np.timedelta64(1, 'D')")
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from xjit.capture.guarding.guards import is_labelled
from xjit.dataclass import dataclass

# So many elements of an array of objects are looked at.
_LOOKED_AT = 100
_NUMBERS = "arrays of numbers and bools are compiled"
_FOR_TEXT = "pass numbers: np.unique({}, return_inverse=True)[1], or {}.astype(float)"
_PLAIN = "plain arrays are compiled"
_OBJECTS = "arrays, numbers and objects of Python classes are compiled"


@dataclass(frozen=True, slots=True)
class ForeignValue:
    """A value that no program takes: its ``kind``, what is ``taken`` in its place, and the ``advice``, with ``{}``
    where its name stands.
    """

    kind: str
    advice: str
    taken: str = _NUMBERS

    def instead(self, name: str) -> str:
        """The advice for a value of this name."""
        return self.advice.replace("{}", name)


def foreign_value(value: Any) -> ForeignValue:
    """The words for a value."""
    kind = type(value)
    if is_labelled(kind):
        return _labelled(value)
    if isinstance(value, np.ndarray) and kind is not np.ndarray:
        return _subclass(value)
    if isinstance(value, np.ndarray | np.generic):
        return _elements(value)
    return _other(value)


def described(value: Any) -> str:
    """The type of a value in short, with the shape of an array.

    >>> described(np.array([None])), described(iter([]))
    ('array of object, shape (1,)', 'list_iterator')
    """
    kind = type(value)
    if isinstance(value, np.ndarray):
        name = "array" if kind is np.ndarray else kind.__qualname__
        return f"{name} of {_name(value.dtype)}, shape {value.shape}"
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else _public_name(kind)


def _public_name(kind: type) -> str:
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"


def _name(dtype: np.dtype[Any]) -> str:
    return f"records of {', '.join(dtype.names)}" if dtype.names else str(dtype)


def _elements(value: Any) -> ForeignValue:
    """An array, or a NumPy scalar, of elements that programs have no type for."""
    dtype = value.dtype
    match dtype.kind:
        case "O":
            return ForeignValue("object dtype", _for_objects(itertools.islice(np.ravel(value), _LOOKED_AT)))
        case "U" | "S" | "T":
            return ForeignValue(f"text ({dtype})", _FOR_TEXT)
        case "M":
            unit = np.datetime_data(dtype)[0]
            start = "{}[0]" if value.ndim == 1 else "{}.min()"
            return ForeignValue(f"dates ({dtype})", f"pass numbers: ({{}} - {start}) / np.timedelta64(1, '{unit}')")
        case "m":
            unit = np.datetime_data(dtype)[0]
            return ForeignValue(f"time spans ({dtype})", f"pass numbers: {{}} / np.timedelta64(1, '{unit}')")
        case "V" if dtype.names:
            fields = ", ".join(f"{{}}[{name!r}]" for name in dtype.names[:3])
            return ForeignValue("records (a structured dtype)", f"pass the fields as arrays: {fields}")
        case "f" | "c":
            plain = "np.complex128" if dtype.kind == "c" else "np.float64"
            return ForeignValue(f"{dtype} elements", f"pass {{}}.astype({plain}) if that is precise enough")
    return ForeignValue(f"{dtype} elements", "pass {}.astype(float), or another array of numbers")


def _for_objects(elements: Iterable[Any]) -> str:
    """The advice for an array of objects; of pandas, its columns have the same elements."""
    found = list(elements)
    if found and all(isinstance(one, str) for one in found):
        return _FOR_TEXT
    if found and all(isinstance(one, numbers.Number | None) for one in found):
        return "use {}.astype(float)"
    if any(isinstance(one, np.ndarray | list | tuple) for one in found):
        return "pass one array of numbers: its lines padded to one length, or np.concatenate({}) and their lengths"
    return "pass arrays of numbers made of it, such as [one.value for one in {}]"


def _labelled(value: Any) -> ForeignValue:
    """A Series, data frame or labelled array that holds objects."""
    if type(value).__qualname__ == "DataFrame":
        objects = [name for name, one in zip(value.columns, value.dtypes, strict=True) if one == np.object_]
        names = ", ".join(map(repr, objects[:3]))
        return ForeignValue(
            f"object dtype in column{'s' * (len(objects) > 1)} {names}", "use {}.select_dtypes('number')"
        )
    found = list(itertools.islice(np.ravel(value), _LOOKED_AT))
    convert = "{}.to_numpy(float)" if hasattr(value, "to_numpy") else "{}.astype(float)"
    if any(isinstance(one, str) for one in found):
        convert += ", or pd.factorize({})[0] of text" if hasattr(value, "to_numpy") else ""
    return ForeignValue("object dtype", f"use {convert}")


def _subclass(value: Any) -> ForeignValue:
    """An array of a class derived from ``ndarray``, which has rules of its own."""
    name = type(value).__qualname__
    if isinstance(value, np.ma.MaskedArray):
        return ForeignValue("a masked array", "pass {}.filled(np.nan), or {}.data and {}.mask", _PLAIN)
    if isinstance(value, np.matrix):
        advice = "pass np.asarray({}), and write @ for products of matrices"
    elif value.dtype.names:
        return _elements(value.view(np.ndarray))
    else:
        advice = "pass np.asarray({}), which shares its memory"
    return ForeignValue(f"{name}, a subclass of ndarray", advice, _PLAIN)


def _other(value: Any) -> ForeignValue:
    """A value that is no array."""
    module, name = type(value).__module__, f"a value of type {described(value)}"
    if isinstance(value, Iterator):
        return ForeignValue(
            f"{name}, whose items can be read only once", "pass list({}) or np.array(list({}))", _OBJECTS
        )
    if getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m"):
        about = _elements(value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value))
        return ForeignValue(f"{about.kind} in {name.removeprefix('a value of type ')}", about.advice)
    if callable(getattr(value, "to_numpy", None)):
        of_columns = ", of a column each" if hasattr(value, "columns") else ""
        return ForeignValue(name, "pass its numbers: {}.to_numpy()" + of_columns, _OBJECTS)
    if module.startswith("scipy.sparse") and hasattr(value, "tocsr"):
        return ForeignValue(name, "pass its arrays: {}.data, {}.indices and {}.indptr, of {}.tocsr()", _OBJECTS)
    if module.startswith("xarray.") and hasattr(value, "data_vars"):
        return ForeignValue(name, "pass its variables: {}['name'].to_numpy()", _OBJECTS)
    if callable(getattr(value, "__array__", None)):
        return ForeignValue(name, "pass np.asarray({})", _OBJECTS)
    return ForeignValue(name, "pass the arrays and numbers that the function reads of it", _OBJECTS)
