"""Records as text: what of a program is kept on disk, written and read without running anything that lies there.

The text is JSON. What JSON lacks is a list with a letter in front: ``["t", …]`` a tuple, ``["f", "0x1.8p+0"]`` a
float, ``["b", "00ff"]`` bytes, ``["z", "789c…"]`` long ones, compressed, ``["d", "<f8"]`` an element type,
``["n", "<i4", "01000000"]`` a scalar of NumPy's, ``["r", "RunStep", …]`` a record with its fields in order. Reading
is strict: only classes that the reader names are made, and every field has to be of the type that the class declares.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit.types import OBJECT

Classes = Mapping[str, type]
Aliases = Mapping[str, str]

_PLAIN = (bool, int, str, type(None))

# Bytes from which on they are compressed, and the most that a text may stand for.
_LONG = 1 << 10
_LONGEST = 1 << 26


class UnknownValueError(ValueError):
    """A value that no record may hold, or a text that is none."""


def written(value: Any, classes: Classes) -> bytes:
    """The text of a record of these classes; UnknownValueError if it holds something else."""
    import json

    return json.dumps(_encoded(value, classes), separators=(",", ":")).encode()


def _encoded(value: Any, classes: Classes) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return ["t", *(_encoded(one, classes) for one in value)]
    if kind is float:
        return ["f", value.hex()]
    if kind is complex:
        return ["c", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["b", value.hex()] if len(value) < _LONG else ["z", _packed(value).hex()]
    if isinstance(value, np.dtype) and _dtype(value.str) == value:
        return ["d", value.str]
    if isinstance(value, np.generic) and kind is _dtype(value.dtype.str).type:
        return ["n", value.dtype.str, value.tobytes().hex()]
    if classes.get(kind.__name__) is kind:
        return ["r", kind.__name__, *(_encoded(getattr(value, name), classes) for name in kind.__match_args__)]
    raise UnknownValueError(f"a value of type {kind.__qualname__} is not kept")


def read(text: bytes, classes: Classes, aliases: Aliases) -> Any:
    """The record that a text holds; UnknownValueError for any other text.

    ``aliases`` are names that stand for other types in the annotations of the classes.
    """
    try:
        return _Reader(classes, aliases).decoded(_parsed(text.decode()))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise UnknownValueError(f"not the text of a record: {error}") from None


def _parsed(text: str) -> Any:
    """The value of a JSON text, by the scanner of the module json, which itself takes long to load."""
    try:
        from _json import make_scanner

        scan = make_scanner(_SCANNED)
    except (ImportError, AttributeError, TypeError):  # an interpreter with another scanner, or without one
        import json

        return json.loads(text)
    try:
        value, end = scan(text, 0)
    except StopIteration:
        raise UnknownValueError("the text is no JSON") from None
    if end != len(text):
        raise UnknownValueError("the text is longer than its value")
    return value


_SCANNED: Any = types.SimpleNamespace(
    strict=True,
    object_hook=None,
    object_pairs_hook=None,
    parse_float=float,
    parse_int=int,
    parse_constant=float,
    memo={},
)
"""The options of the scanner: plain values."""


class _Reader:
    def __init__(self, classes: Classes, aliases: Aliases) -> None:
        self.classes = classes
        self.aliases = aliases
        self.tests: dict[str, Callable[[Any], bool]] = {}
        self.fields: dict[type, list[tuple[str, Callable[[Any], bool]]]] = {}

    def decoded(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if type(value) is not list:
            raise UnknownValueError(f"a value of type {type(value).__name__} stands there")
        letter, *parts = value
        if letter == "t":
            return tuple(map(self.decoded, parts))
        if letter == "r":
            return self._record(*parts)
        if letter == "c":
            return complex(*map(float.fromhex, parts))
        if letter == "n":
            return _scalar(*parts)
        (part,) = parts
        return {"f": float.fromhex, "b": bytes.fromhex, "z": _unpacked, "d": _dtype}[letter](part)

    def _record(self, name: str, *parts: Any) -> Any:
        cls: Any = self.classes[name]
        fields = self.fields.get(cls)
        if fields is None:
            names = cls.__match_args__
            fields = self.fields[cls] = [(one, self._fitting(str(cls.__annotations__[one]))) for one in names]
        values = [self.decoded(part) for part in parts]
        for (field, fits), value in zip(fields, values, strict=True):
            if not fits(value):
                raise UnknownValueError(f"{name}.{field} is {cls.__annotations__[field]}")
        return cls(*values)

    def fits(self, value: Any, annotation: str) -> bool:
        """Return whether a value is of the type that an annotation describes."""
        return self._fitting(annotation)(value)

    def _fitting(self, annotation: str) -> Callable[[Any], bool]:
        test = self.tests.get(annotation)
        if test is None:
            test = self.tests[annotation] = self._test(annotation.strip())
        return test

    def _test(self, annotation: str) -> Callable[[Any], bool]:
        if annotation in _KINDS:
            return _is_a(_KINDS[annotation])
        either = split(annotation, "|")
        if len(either) > 1:
            return lambda value: any(self.fits(value, one) for one in either)
        if annotation.startswith("tuple["):
            items = split(annotation[len("tuple[") : -1], ",")
            if items[-1] == "...":
                return lambda value: type(value) is tuple and all(self.fits(one, items[0]) for one in value)
            return lambda value: (
                type(value) is tuple and len(value) == len(items) and all(map(self.fits, value, items))
            )
        if annotation.startswith("Literal["):
            words = {one.strip("\"'") for one in split(annotation[len("Literal[") : -1], ",")}
            return lambda value: type(value) is str and value in words
        if annotation in self.aliases:
            return lambda value: self.fits(value, self.aliases[annotation])
        return _is_a(self.classes[annotation])


def _is_a(kind: type) -> Callable[[Any], bool]:
    if kind in (object, np.dtype):
        return lambda value: isinstance(value, kind)
    return lambda value: type(value) is kind


_KINDS: Mapping[str, type] = {
    "int": int,
    "bool": bool,
    "str": str,
    "float": float,
    "bytes": bytes,
    "None": type(None),
    "Any": object,
    "np.dtype[Any]": np.dtype,
}


def split(text: str, mark: str) -> Sequence[str]:
    """The parts of an annotation between marks that stand in no brackets.

    >>> split("tuple[int, str], int", ",")
    ['tuple[int, str]', 'int']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == mark and not depth:
            parts.append("")
        else:
            parts[-1] = f"{parts[-1]}{letter}"
    return [part.strip() for part in parts]


def _packed(data: bytes) -> bytes:
    import zlib

    return zlib.compress(data, level=1)


def _unpacked(text: str) -> bytes:
    """The bytes that are compressed in a text."""
    import zlib

    reader = zlib.decompressobj()
    try:
        data = reader.decompress(bytes.fromhex(text), _LONGEST)
    except zlib.error as error:
        raise UnknownValueError(f"damaged bytes: {error}") from None
    if not reader.eof or reader.unused_data:
        raise UnknownValueError("compressed bytes end elsewhere")
    return data


def _scalar(code: str, data: str) -> np.generic:
    """The scalar of an element type whose bytes a text has."""
    dtype = _dtype(code)
    if dtype.hasobject:
        raise UnknownValueError("an object is no number")
    (value,) = np.frombuffer(bytes.fromhex(data), dtype)
    assert isinstance(value, np.generic)
    return value


def _dtype(text: str) -> np.dtype[Any]:
    """A numeric element type of NumPy's own by its code, or that of objects."""
    if text == OBJECT.str:
        return OBJECT
    if type(text) is not str or len(text) > 4 or text[:1] not in "<>|=" or text[1:2] not in "biufc":
        raise UnknownValueError(f"{text!r} is no element type")
    try:
        return np.dtype(text)
    except TypeError:  # the code of a type of another library
        raise UnknownValueError(f"{text!r} is no element type of NumPy's own") from None
