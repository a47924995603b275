"""Calls in Python of a kept program, bound to what stands in this process."""

from __future__ import annotations

import functools
import types
from typing import Any, TypeAlias

import numpy as np

from xjit import jobs
from xjit.api.start.call_records import CallRecord, ConstantRecord, ResultsRecord, TemplateRecord
from xjit.api.start.code_digests import code_digest
from xjit.api.start.guard_records import Binder, OtherProgramError, value_of
from xjit.api.start.tree_records import leaves_of, tree_of
from xjit.capture.inner_functions import inner_function
from xjit.ir.python_terms import Expression
from xjit.ops.define.named import operation
from xjit.ops.effects.call_parts import CallParts
from xjit.ops.effects.expected_results import Part, Results
from xjit.ops.effects.python_call import PythonCall
from xjit.ops.effects.step_functions import Failure, Test
from xjit.runtime.spec import Constant

Array: TypeAlias = "np.ndarray[Any, Any]"


def bound_call(record: CallRecord, binder: Binder) -> PythonCall:
    """The call of a record. OtherProgramError, or what finding its constants raises, where these are others."""
    constants = tuple(_constant(one, binder) for one in record.constants)
    expression = Expression(record.term, record.operands, constants)
    results = None if record.results is None else _results(record.results)
    parts = CallParts(expression, results, record.copied, record.stored)
    site = record.where, record.label
    return parts.call(site, repeats=record.repeats, first=record.first, guarded=record.guarded)


def _results(record: ResultsRecord) -> Results:
    if leaves_of(record.form) != len(record.parts) or not record.parts:
        raise OtherProgramError("the result of a call has another structure")
    numbers = (None if part.number is None else value_of(part.number) for part in record.parts)
    parts = (Part(number, part.array) for number, part in zip(numbers, record.parts, strict=True))
    return Results(tree_of(record.form), tuple(parts))


def _constant(record: ConstantRecord, binder: Binder) -> Any:
    items = [_constant(one, binder) for one in record.items]
    match record.kind:
        case "described":
            return value_of(record.value)
        case "bound":
            return binder.objects[record.value]
        case "partial":
            function, *arguments = items
            return functools.partial(function, *arguments)
        case "test":
            return Test(tuple(Failure(operation(one.name), dict(one.params), *rest) for one, *rest in record.value))
        case "template":
            return _template(record.value, binder)
        case "array":
            return _array(binder, *record.value)
        case "unbound":
            return jobs.module("xjit.capture.rewriting.runtime_protocol").UNBOUND
    labelled = jobs.module("xjit.capture.splits.labelled_arrays")
    return labelled.Method(record.value) if record.kind == "method" else labelled.Operation(*items)


def _array(binder: Binder, number: int, elements: Constant, writeable: bool) -> Array:
    """The array of a number, the same for all calls of the program."""
    if number not in binder.arrays:
        made = elements.array().copy()
        made.flags.writeable = writeable
        binder.arrays[number] = made
    return binder.arrays[number]


def _template(record: TemplateRecord, binder: Binder) -> Any:
    function = inner_function(binder.objects[record.function])
    code = None if function is None else function.__code__
    for place in record.places:
        code = None if code is None else code.co_consts[place]
    if not isinstance(code, types.CodeType) or code_digest(code) != record.digest:
        raise OtherProgramError(f"{record.name} is not what the trace saw")
    made = jobs.module("xjit.capture.splits.templates").Template
    return made(code, binder.origin(record.namespace), record.name, record.doc)
