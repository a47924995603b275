"""Calls in Python as data: what the steps of a kept program call, and what they expect of it.

A constant of a call is plain, or has a name in a library, or a guard of the trace is bound to it: so it is what the
user's function would call itself in this process. An array that the trace has computed has its elements there.
"""

from __future__ import annotations

from typing import Any, Literal

from xjit.api.start.guard_records import RootRecord, Want
from xjit.api.start.tree_records import TreeRecord
from xjit.dataclass import dataclass
from xjit.ir.python_terms import Term
from xjit.ir.source_location import Where
from xjit.types import ArrayType


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """A function without its closure: code within that of a function which a guard is bound to, in its globals.

    ``places`` lead to the code by way of constants of code, ``digest`` names it.
    """

    function: int
    places: tuple[int, ...]
    digest: str
    namespace: RootRecord
    name: str
    doc: str | None


@dataclass(frozen=True, slots=True)
class ConstantRecord:
    """A constant: ``value`` by its ``kind``, or one that is made of others, ``items``.

    described   a value of a guard: plain, or by its name in a library
    bound       the number of the guard that is bound to it
    method      the name of a method
    operator    items: the operator
    partial     items: a function and its first arguments
    test        errors that are raised: of each the operation, the line, and whether it is about all elements
    template    a function without its closure
    unbound     what stands for a variable without a value
    array       an array that the trace has computed: its number in the program, its elements, may it be written to
    """

    kind: Literal["described", "bound", "method", "operator", "partial", "test", "template", "unbound", "array"]
    value: Any = None
    items: tuple[ConstantRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One array or number of a result, as :class:`xjit.ops.effects.expected_results.Part` has it."""

    number: Want | None
    array: ArrayType


@dataclass(frozen=True, slots=True)
class ResultsRecord:
    """The form of a result."""

    form: TreeRecord
    parts: tuple[PartRecord, ...]


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call, as :class:`xjit.ops.effects.call_parts.CallParts` and ``PythonCall`` have it."""

    term: Term
    operands: int
    constants: tuple[ConstantRecord, ...]
    results: ResultsRecord | None
    copied: bool
    stored: int
    where: Where
    label: str
    repeats: bool
    first: bool
    guarded: bool
