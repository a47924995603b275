"""Whole programs on disk: what one process found out about a call of a function, for the first call in another one.

A record holds the program as plain data with the keys of its machine code, everything that the trace took for
granted, and how the result is put together.  It is kept under the function's name and code, the options, the
arguments' layouts and the environment.  It is written only if every single thing that the trace has read can be
described to another process; otherwise the function is traced again there.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from xjit import config, tree
from xjit.api.options import Options
from xjit.api.start.code_digests import UnknownCodeError, environment, function_digest
from xjit.api.start.guard_records import GuardRecord, PlaceRecord, RootRecord, Want
from xjit.dataclass import dataclass
from xjit.ir.source_location import Where
from xjit.llvm.digests import digest
from xjit.runtime import spec
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import NestRows, TimeTiles
from xjit.runtime.record_text import read, written
from xjit.types import ArrayType

KIND = "program"
"""The kind of these entries in the cache."""

KINDS: dict[str, type] = {"array": np.ndarray, "float": float, "int": int, "bool": bool}
PYTHON: dict[str, type] = {"float": float, "int": int, "bool": bool, "complex": complex}
_BITS_OF_INT64 = 63


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """The source of one leaf of the result, as :class:`xjit.capture.outline.Output` has it."""

    source: Literal["graph", "static", "argument"]
    index: int
    value: Any
    place: PlaceRecord | None
    scalar: bool
    frozen: bool
    python: str
    doubt: int
    code: int
    arrays: tuple[PlaceRecord, ...]


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """The structure of the result: a leaf, nothing, or a container."""

    kind: Literal["leaf", "none", "tuple", "list", "dict"]
    keys: tuple[Any, ...] = ()
    children: tuple[TreeRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """A program with the guards of its trace. ``kinds`` are the types of its inputs, which lie at ``inputs``;
    the arguments have so many ``leaves``.

    ``long`` says whether the integers of BLAS had 64 bits, None where the program does not call it.
    """

    program: spec.ProgramSpec
    guards: tuple[GuardRecord, ...]
    inputs: tuple[PlaceRecord, ...]
    kinds: tuple[str, ...]
    outputs: tuple[OutputRecord, ...]
    structure: TreeRecord
    leaves: int
    long: bool | None


_OF_PROGRAMS = (
    *(spec.StoredObject, spec.Routine, spec.SortRoutine, spec.CompactionRoutine, spec.DrawRoutine),
    *(spec.Pointer, spec.KernelSpec, spec.Constant, spec.Operation, spec.Failure),
    *(spec.RunStep, spec.CallStep, spec.ConstantStep, spec.ReshapeStep, spec.CopyStep, spec.ViewStep),
    *(spec.Block, NestRows, TimeTiles, spec.LoopStep, spec.BranchStep, spec.ProgramSpec),
)
_OF_TRACES = (RootRecord, PlaceRecord, Want, GuardRecord, OutputRecord, TreeRecord, ProgramRecord)
_CLASSES = {cls.__name__: cls for cls in (*_OF_PROGRAMS, *_OF_TRACES, ArraySpec, ScalarSpec, ArrayType, Where)}
_ALIASES = {
    "Step": "RunStep | CallStep | ConstantStep | ReshapeStep | CopyStep | ViewStep | LoopStep | BranchStep",
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
    layouts = [layout_text(one) for one in leaves]
    if None in layouts:
        return None
    try:
        structure = repr(tree_record(in_tree))
        return digest(function_digest(function), repr(options), environment(), structure, *map(str, layouts))
    except UnknownCodeError:
        return None


def layout_text(value: Any) -> str | None:
    """An argument as the key has it: the layout of an array, the type of a number, the value of text and truth."""
    kind = type(value)
    if kind is np.ndarray:
        return _array_text(value)
    if kind is float or (kind is int and -(2**_BITS_OF_INT64) <= value < 2**_BITS_OF_INT64):
        return kind.__name__
    return f"{kind.__name__} {value!r}" if kind is bool or kind is str else None


def _array_text(array: np.ndarray[Any, Any]) -> str | None:
    item = array.itemsize
    usual = array.dtype.kind in "biufc" and array.dtype.isnative and array.flags.aligned
    if not usual or any(stride % item for stride in array.strides):
        return None
    return f"array {array.dtype.str} {array.shape} {array.strides}"


# Structures


def tree_record(structure: tree.Tree) -> TreeRecord:
    """The structure as data; UnknownCodeError for containers of classes of the user."""
    if structure is None:
        return TreeRecord("none")
    if isinstance(structure, tree.Leaf):
        return TreeRecord("leaf")
    children = tuple(map(tree_record, structure.children))
    if structure.kind is dict and all(type(key) is str for key in structure.keys or ()):
        return TreeRecord("dict", structure.keys or (), children)
    if structure.kind is tuple:
        return TreeRecord("tuple", (), children)
    if structure.kind is list:
        return TreeRecord("list", (), children)
    raise UnknownCodeError(f"a container of type {structure.kind.__qualname__}")


def tree_of(record: TreeRecord) -> tree.Tree:
    """The structure that a record describes."""
    if record.kind in ("none", "leaf"):
        return None if record.kind == "none" else tree.LEAF
    children = tuple(map(tree_of, record.children))
    if record.kind == "dict":
        return tree.Branch(dict, record.keys, children, tuple(map(tree.distinct, record.keys)))
    return tree.Branch(tuple if record.kind == "tuple" else list, None, children)


def leaves_of(record: TreeRecord) -> int:
    """Return how many leaves a structure has."""
    return int(record.kind == "leaf") + sum(map(leaves_of, record.children))
