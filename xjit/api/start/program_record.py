"""Whole programs on disk: what one process found out about a call of a function, for the first call in another one.

A record holds the program as plain data with the keys of its machine code, everything that the trace took for
granted, and how the result is put together.  It is kept under the function's name and code, the options, the
arguments' layouts and the environment.  It is written only if every single thing that the trace has read can be
described to another process; otherwise the function is traced again there.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from xjit import config, tree
from xjit.api.options import Options
from xjit.api.start.call_records import CallRecord, ConstantRecord, PartRecord, ResultsRecord, TemplateRecord
from xjit.api.start.code_digests import UnknownCodeError, class_digest, environment, function_digest, is_of_users
from xjit.api.start.guard_records import GuardRecord, PlaceRecord, RootRecord, Want
from xjit.api.start.tree_records import TreeRecord, tree_record
from xjit.capture.guarding.guards import GENERATORS, is_generator
from xjit.dataclass import dataclass
from xjit.ir.python_terms import Term
from xjit.ir.source_location import Where
from xjit.llvm.digests import digest
from xjit.runtime import spec
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import NestRows, TimeTiles
from xjit.runtime.record_text import read, written
from xjit.showing import Along, Flattened, Indexed, MovingView, PartsOf, Reshaped, Turned
from xjit.types import ArrayType, Box

KIND = "program"
"""The kind of these entries in the cache."""

_NUMBERS = tuple(np.dtype(code).type for code in "?bBhHiIlLfdFD")
KINDS: dict[str, type] = {
    "array": np.ndarray,
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "box": Box,
    **{f"numpy.{np.dtype(cls).name}": cls for cls in _NUMBERS},
}
PYTHON: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "object": lambda value: value,
}
_BITS_OF_INT64 = 63
MOST_OF_A_KEY = 4


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """The source of one leaf of the result, as :class:`xjit.capture.outline.Output` has it."""

    source: Literal["graph", "static", "argument", "made", "moving"]
    index: int
    value: Any
    place: PlaceRecord | None
    scalar: bool
    frozen: bool
    python: str
    doubt: int
    code: int
    arrays: tuple[PlaceRecord, ...]
    moving: MovingView | None = None


@dataclass(frozen=True, slots=True)
class MadeRecord:
    """An object that a call makes: a list, a dict, or one of a class that a guard is bound to."""

    kind: Literal["list", "dict", "object"]
    cls: RootRecord | None = None


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """An assignment behind the program, as :class:`xjit.capture.outline.Assignment` has it."""

    way: Literal["attribute", "field", "item", "entries", "contents"]
    key: Any
    place: PlaceRecord | None
    made: int


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """A kept program with the guards of its trace. ``kinds`` are the types of its inputs, which lie at ``inputs``;
    the arguments have so many ``leaves``.

    ``long`` says whether the integers of BLAS had 64 bits, None where the program does not call it. ``notes`` are the
    warnings about steps that run in Python, each with its reason. NumPy does the call after errors of a program that
    ``catches`` some, and calls of one that is ``tried`` in turn, until it is known which is quicker. Behind the
    program a call ``makes`` objects and does ``assignments``; ``anew`` says whether NumPy may do it after an error.
    """

    program: spec.ProgramSpec
    guards: tuple[GuardRecord, ...]
    inputs: tuple[PlaceRecord, ...]
    kinds: tuple[str, ...]
    outputs: tuple[OutputRecord, ...]
    structure: TreeRecord
    leaves: int
    long: bool | None
    notes: tuple[tuple[str, str], ...] = ()
    catches: bool = False
    tried: bool = False
    makes: tuple[MadeRecord, ...] = ()
    assignments: tuple[AssignmentRecord, ...] = ()
    anew: bool = False


_OF_PROGRAMS = (
    *(spec.StoredObject, spec.Routine, spec.SortRoutine, spec.CompactionRoutine, spec.DrawRoutine),
    *(spec.Pointer, spec.KernelSpec, spec.Constant, spec.Operation, spec.Failure),
    *(spec.RunStep, spec.CallStep, spec.ConstantStep, spec.ReshapeStep, spec.CopyStep, spec.ViewStep, spec.RoomStep),
    *(spec.Block, NestRows, TimeTiles, spec.LoopStep, spec.BranchStep, spec.ProgramSpec),
)
_OF_TRACES = (RootRecord, PlaceRecord, Want, GuardRecord, OutputRecord, TreeRecord, ProgramRecord)
_OF_OBJECTS = (MadeRecord, AssignmentRecord)
_OF_CALLS = (Term, ConstantRecord, TemplateRecord, PartRecord, ResultsRecord, CallRecord)
_OF_VIEWS = (Along, Indexed, Turned, Reshaped, Flattened, PartsOf, MovingView)
_OF_VALUES = (ArraySpec, ScalarSpec, ArrayType, Where, *_OF_VIEWS)
_CLASSES = {cls.__name__: cls for cls in (*_OF_PROGRAMS, *_OF_TRACES, *_OF_OBJECTS, *_OF_CALLS, *_OF_VALUES)}
_ALIASES = {
    "Step": "RunStep | CallStep | ConstantStep | ReshapeStep | CopyStep | RoomStep | ViewStep"
    " | LoopStep | BranchStep",
    "Params": "tuple[tuple[str, Any], ...]",
    "KernelText": "StoredObject",
    "DType": "np.dtype[Any]",
    "Dim": "int",
    "spec.ProgramSpec": "ProgramSpec",
}


def can_start(options: Options) -> bool:
    """Return whether programs may be taken from the disk: not where each call is to be looked at."""
    return options.errors == "ignore" and not any(map(config.flag, ("XJIT_DEBUG", "XJIT_VERIFY")))


def to_bytes(record: ProgramRecord) -> bytes:
    """The record as it lies on disk; ValueError if something in it is not data."""
    return written(record, _CLASSES)


def from_bytes(data: bytes) -> ProgramRecord:
    """The record of such bytes; ValueError for all others."""
    record = read(data, _CLASSES, _ALIASES)
    if not isinstance(record, ProgramRecord):
        raise ValueError("not the record of a program")
    return record


def key_of(function: Any, options: Options, leaves: Sequence[Any], in_tree: tree.Tree) -> str | None:
    """The key of calls with arguments of this structure and of these layouts; None where there is none."""
    named = in_tree.children[1] if isinstance(in_tree, tree.Branch) else None
    if type(function) is not types.FunctionType or not isinstance(named, tree.Branch) or named.children:
        return None
    try:
        layouts = [layout_text(one) for one in leaves]
        if None in layouts:
            return None
        structure = repr(tree_record(in_tree))
        return digest(function_digest(function), repr(options), environment(), structure, *map(str, layouts))
    except UnknownCodeError:
        return None


def keys_of_records(key: str) -> list[str]:
    """The keys of the records for calls of one key: objects may hold other types of values from call to call."""
    return [key, *(digest(key, str(number)) for number in range(1, MOST_OF_A_KEY))]


def name_of_kind(kind: type) -> str:
    """The name of the type of an input in a record; KeyError for a type that has none."""
    return kind.__qualname__ if is_generator(kind) else _NAMES[kind]


def is_kind(name: str) -> bool:
    """Return whether this is the name of a type of inputs."""
    return name in KINDS or name in GENERATORS


def kind_of(name: str) -> type:
    """The type of an input by its name; the classes of generators are loaded with the first of these."""
    found: type = KINDS[name] if name in KINDS else getattr(sys.modules[GENERATORS[name]], name)
    return found


_NAMES = {kind: name for name, kind in KINDS.items()}


def layout_text(value: Any) -> str | None:
    """An argument as the key has it: the layout of an array, the type of a number, the value of text and truth, the
    class of a generator of random numbers or of an object of the user's; UnknownCodeError for some such classes.
    """
    kind = type(value)
    if kind is np.ndarray:
        return _array_text(value)
    if kind in _NUMBERS or is_generator(kind):
        return f"{kind.__module__} {kind.__qualname__}"
    if kind in (float, complex) or (kind is int and -(2**_BITS_OF_INT64) <= value < 2**_BITS_OF_INT64):
        return kind.__name__
    if kind is bool or kind is str:
        return f"{kind.__name__} {value!r}"
    return f"object {class_digest(kind)}" if is_of_users(kind) else None


def _array_text(array: np.ndarray[Any, Any]) -> str | None:
    item = array.itemsize
    usual = array.dtype.kind in "biufc" and array.dtype.isnative and array.flags.aligned
    if not usual or any(stride % item for stride in array.strides):
        return None
    return f"array {array.dtype.str} {array.shape} {array.strides}"
