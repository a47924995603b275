"""Writes programs down that were traced and compiled, for the first call in another process."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xjit import tree
from xjit.api.options import Options
from xjit.api.start.describe_calls import call_record
from xjit.api.start.guard_records import Describer
from xjit.api.start.program_record import (
    KIND,
    PYTHON,
    AssignmentRecord,
    MadeRecord,
    OutputRecord,
    ProgramRecord,
    can_start,
    key_of,
    keys_of_records,
    name_of_kind,
    to_bytes,
)
from xjit.api.start.tree_records import tree_record
from xjit.capture.capture import Captured
from xjit.capture.outline import Assignment, Output
from xjit.ops.effects.python_call import PythonCall, itself
from xjit.programs.kernels import kernel_key
from xjit.runtime.configured_cache import configured_cache
from xjit.runtime.spec import (
    CallStep,
    Constant,
    ConstantStep,
    KernelText,
    Operation,
    ProgramSpec,
    Routine,
    RunStep,
    StoredObject,
    all_steps,
    with_steps,
)

Notes = tuple[tuple[str, str], ...]
_PYTHON_NAMES: dict[Any, str] = {**{kind: name for name, kind in PYTHON.items()}, itself: "object"}


# Programs of one function that are kept on disk, the bytes of elements in one, and those of its text, in which
# elements that follow from each other take hardly any room.
MAXIMUM_KEPT = 16
MOST_BYTES = 1 << 24
LONGEST_TEXT = 1 << 21


class Keeper:
    """Keeps the first programs of one function."""

    def __init__(self, function: Any, options: Options) -> None:
        self.function = function
        self.options = options
        self.count = 0

    def of(
        self,
        in_tree: tree.Tree,
        leaves: Sequence[Any],
        captured: Captured,
        kinds: Sequence[type],
        contract: bool,
        notes: Notes,
        tried: bool,
    ) -> Callable[[ProgramSpec], None] | None:
        """Return what keeps the program of a traced call with these leaves; None for calls of which none is kept."""
        if self.count >= MAXIMUM_KEPT or not can_start(self.options):
            return None
        key = key_of(self.function, self.options, leaves, in_tree)
        key_of_text = functools.partial(kernel_key, contract=contract)
        made = functools.partial(_record, self.function, captured, kinds, notes, tried, key_of_text)
        return None if key is None else lambda program: self._keep(key, made, program)

    def _keep(self, key: str, made: Callable[[ProgramSpec], ProgramRecord], program: ProgramSpec) -> None:
        try:
            data = to_bytes(made(program))
            if len(data) > LONGEST_TEXT:
                raise ValueError("the program is too large to be kept")
        except (ValueError, KeyError):  # something that can be said of this process alone
            return
        cache, places = configured_cache(), keys_of_records(key)
        kept = [cache.get(KIND, place) for place in places]
        if data not in kept:
            # It comes first: where a call has shown that the earlier one was taken for something else, it is right.
            found = (data, *(one for one in kept if one is not None))
            for place, one, other in zip(places, found, kept, strict=False):
                if one != other:
                    cache.put(KIND, place, one)
        self.count += 1


def _record(
    function: types.FunctionType,
    captured: Captured,
    kinds: Sequence[type],
    notes: Notes,
    tried: bool,
    key_of_text: Callable[[str], str],
    program: ProgramSpec,
) -> ProgramRecord:
    describer = Describer(function, captured.guards.guards)
    if sum(len(one.data) for one in _constants(program)) > MOST_BYTES:
        raise ValueError("the constants are too large to be kept")
    routines = any(isinstance(kernel.code, Routine) for step in _runs(program) for kernel in step.kernels)
    return ProgramRecord(
        program=_as_data(program, key_of_text, describer),
        guards=describer.records(),
        inputs=tuple(map(describer.place, captured.guards.inputs)),
        kinds=tuple(map(name_of_kind, kinds)),
        outputs=tuple(_output(one, describer) for one in captured.outputs),
        structure=tree_record(captured.out_tree),
        leaves=captured.guards.leaf_count,
        long=_long_integers() if routines else None,
        notes=notes,
        catches=captured.catches,
        tried=tried,
        makes=tuple(_made(cls, describer) for cls in captured.makes),
        assignments=tuple(_assignment(one, describer) for one in captured.assignments),
        anew=captured.begins_anew,
    )


def _made(cls: type, describer: Describer) -> MadeRecord:
    if cls is list or cls is dict:
        return MadeRecord("list" if cls is list else "dict")
    return MadeRecord("object", describer.root(cls, cls.__qualname__))


def _assignment(assignment: Assignment, describer: Describer) -> AssignmentRecord:
    place = None if assignment.path is None else describer.place(assignment.path)
    return AssignmentRecord(assignment.way, assignment.key, place, assignment.made)


def _output(output: Output, describer: Describer) -> OutputRecord:
    place = None if output.path is None else describer.place(output.path)
    python = "" if output.python is None else _PYTHON_NAMES[output.python]
    flags = output.scalar, output.frozen
    arrays = tuple(map(describer.place, output.arrays))
    return OutputRecord(
        *(output.source, output.index, output.value, place, *flags, python, output.doubt, output.code, arrays),
        moving=output.moving,
    )


def _runs(program: ProgramSpec) -> list[RunStep]:
    return [step for step in all_steps(program.body) if isinstance(step, RunStep)]


def _constants(program: ProgramSpec) -> Iterator[Constant]:
    for step in all_steps(program.body):
        if isinstance(step, ConstantStep):
            yield step.constant
        elif isinstance(step, RunStep):
            yield from step.constants


def _long_integers() -> bool | None:
    from xjit.runtime.steps.blas_steps import blas_products

    products = blas_products()
    return None if products is None else products.long


def _as_data(program: ProgramSpec, key_of_text: Callable[[str], str], describer: Describer) -> ProgramSpec:
    """The program with the keys of machine code in place of its text, and records of calls in Python."""

    def stored(step: Any) -> Any:
        if isinstance(step, CallStep):
            return dataclasses.replace(step, operation=_operation(step.operation, describer))
        if not isinstance(step, RunStep):
            return step
        kernels = (
            dataclasses.replace(kernel, code=StoredObject(key_of_text(kernel.code.text)))
            if isinstance(kernel.code, KernelText)
            else kernel
            for kernel in step.kernels
        )
        return dataclasses.replace(step, kernels=tuple(kernels))

    return dataclasses.replace(program, body=with_steps(program.body, stored))


def _operation(operation: Operation, describer: Describer) -> Operation:
    params = (
        (name, call_record(value, describer) if isinstance(value, PythonCall) else value)
        for name, value in operation.params
    )
    return Operation(operation.name, tuple(params))
