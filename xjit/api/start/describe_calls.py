"""Describes the calls in Python of a trace to another process."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from xjit.api.start.call_records import CallRecord, ConstantRecord, PartRecord, ResultsRecord, TemplateRecord
from xjit.api.start.code_digests import UnknownCodeError, code_digest
from xjit.api.start.guard_records import Describer, described
from xjit.api.start.tree_records import tree_record
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.splits.labelled_arrays import Method, Operation
from xjit.capture.splits.templates import Template
from xjit.ops.effects.expected_results import Results
from xjit.ops.effects.python_call import PythonCall
from xjit.ops.effects.step_functions import Failure, Test
from xjit.runtime import spec

_FOUND_AGAIN = ("plain", "range", "number", "named", "module")


def call_record(call: PythonCall, describer: Describer) -> CallRecord:
    """The record of a call; UnknownCodeError where something of it is known to this process alone."""
    parts = call.parts
    if parts is None:
        raise UnknownCodeError(f"{call.label} has no parts")
    expression, results = parts.expression, parts.results
    return CallRecord(
        *(expression.term, expression.operands),
        tuple(_constant(one, describer) for one in expression.constants),
        None if results is None else _results(results),
        *(parts.copied, parts.stored),
        *call.site,
        *(call.repeats, call.first, call.guarded),
    )


def _results(results: Results) -> ResultsRecord:
    numbers = (None if part.number is None else described(part.number) for part in results.parts)
    parts = (PartRecord(number, part.array) for number, part in zip(numbers, results.parts, strict=True))
    return ResultsRecord(tree_record(results.form), tuple(parts))


def _constant(value: Any, describer: Describer) -> ConstantRecord:
    kind, number = type(value), describer.bound.get(id(value))
    if number is not None and not _is_plain(value):
        return ConstantRecord("bound", number)
    if kind is Method:
        return ConstantRecord("method", value.name)
    if kind is Operation:
        return ConstantRecord("operator", items=(_constant(value.function, describer),))
    if kind is Test:
        return ConstantRecord("test", tuple(map(_failure, value.failures)))
    if kind is Template:
        return ConstantRecord("template", _template(value, describer))
    if value is UNBOUND:
        return ConstantRecord("unbound")
    if kind is np.ndarray:
        return ConstantRecord("array", (describer.array(value), _elements(value), value.flags.writeable))
    if kind is functools.partial and not value.keywords:
        return ConstantRecord("partial", items=tuple(_constant(one, describer) for one in (value.func, *value.args)))
    found = described(value)
    if found.kind not in _FOUND_AGAIN:
        raise UnknownCodeError(f"an argument of type {kind.__qualname__}")
    return ConstantRecord("described", found)


def _elements(array: np.ndarray[Any, Any]) -> spec.Constant:
    if array.dtype.hasobject or not array.flags.c_contiguous or not array.dtype.isnative:
        raise UnknownCodeError("an array that its elements do not describe")
    return spec.Constant(array.dtype, array.shape, array.tobytes())


def _failure(failure: Failure) -> tuple[Any, ...]:
    return spec.Operation(failure.op.name, tuple(failure.params.items())), failure.where, failure.summed


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic)


def _template(template: Template, describer: Describer) -> TemplateRecord:
    namespace = describer.roots.get(id(template.namespace))
    if namespace is None or namespace.part != "globals":
        raise UnknownCodeError(f"nothing is bound to the globals of {template.name}")
    for number, function in describer.functions:
        for places, code in _codes(function.__code__, ()):
            if code is template.code:
                digest = code_digest(code)
                return TemplateRecord(number, places, digest, namespace, template.name, template.doc)
    raise UnknownCodeError(f"nothing is bound to what defines {template.name}")


def _codes(code: types.CodeType, places: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], types.CodeType]]:
    """The code within code, with the places that lead to it."""
    for place, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            yield (*places, place), constant
            yield from _codes(constant, (*places, place))
