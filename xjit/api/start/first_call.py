"""The first call of a process by a program that an earlier process has kept: no tracer, no compiler is loaded.

Three parts, of which the middle one runs on the calling thread, as reading attributes may run code of the user:

    look up   the record under the key of the call, as a job
    bind      every guard to what stands in this process; where something else stands, it is a miss
    load      machine code and the entry, as a job
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xjit import config, jobs, tree
from xjit.api.entries.shortcut import shortcut
from xjit.api.options import Options
from xjit.api.start.call_records import CallRecord
from xjit.api.start.guard_records import Binder, OtherProgramError
from xjit.api.start.program_record import (
    KIND,
    PYTHON,
    AssignmentRecord,
    MadeRecord,
    OutputRecord,
    ProgramRecord,
    can_start,
    from_bytes,
    is_kind,
    key_of,
    keys_of_records,
    kind_of,
)
from xjit.api.start.tree_records import leaves_of, tree_of
from xjit.capture.guarding.guards import Guards
from xjit.capture.outline import Assignment, Output
from xjit.dataclass import dataclass, replace
from xjit.ir.handlers import from_handler
from xjit.runtime.check_spec import check
from xjit.runtime.configured_cache import configured_cache, from_disk
from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.spec import CallStep, Operation, ProgramSpec, all_steps, with_steps
from xjit.runtime.steps.program import Loading, load
from xjit.runtime.tally import KernelTally
from xjit.showing import numbers_of

Entry = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Started:
    """The entry for calls like one, and warnings about steps in Python: the reason of each, and its text."""

    entry: Entry
    notes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Outline:
    """A trace of which nothing but a record is left."""

    guards: Guards
    outputs: tuple[Output, ...]
    out_tree: tree.Tree
    results: int
    makes: tuple[type, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    begins_anew: bool = False


def started(function: Any, options: Options, arguments: Sequence[Any], tally: KernelTally) -> Iterator[Started]:
    """The ways of calls like this one, from the disk; none where no earlier process has kept one.

    The guards are bound to what stands in this process; whether they hold the entry says when it is called.
    """
    if not can_start(options):
        return
    try:
        leaves, in_tree = tree.flatten((tuple(arguments), {}))
    except RecursionError:
        return
    key = jobs.attempt(lambda: key_of(function, options, leaves, in_tree))
    if key is None or isinstance(key, jobs.Failure):
        return
    for place in keys_of_records(key):
        record = jobs.attempt(functools.partial(_looked_up, place, len(leaves)))
        if record is None or isinstance(record, jobs.Failure):
            return
        try:
            outline, program = _bound(function, leaves, record)
        except Exception as error:  # attributes that are gone, functions of another kind: nothing fits
            if from_handler(error):
                raise
            continue
        entry = jobs.attempt(functools.partial(_loaded, function, record, program, outline, in_tree, tally))
        if entry is not None and not isinstance(entry, jobs.Failure):
            yield Started(entry, record.notes)


def _looked_up(key: str, leaves: int) -> ProgramRecord | None:
    # What this process has made is traced anew for another function of the same code, which so has its own story.
    data = None if configured_cache().has_put(KIND, key) else configured_cache().get(KIND, key)
    if data is None:
        return None
    try:
        record = from_bytes(data)
        _check(record, leaves)
    except ValueError:
        configured_cache().reject(KIND, key)
        return None
    return record


def _check(record: ProgramRecord, leaves: int) -> None:
    """ValueError for a record that contradicts itself."""
    check(record.program)
    counts = (len(record.inputs), len(record.kinds), len(record.program.inputs))
    results = len(record.program.outputs)
    if len(set(counts)) != 1 or record.leaves != leaves or not all(map(is_kind, record.kinds)):
        raise ValueError("the inputs of the program are others")
    if leaves_of(record.structure) != len(record.outputs):
        raise ValueError("the result has another structure")
    for one in record.assignments:
        if (one.place is None) != (0 <= one.made < len(record.makes)):
            raise ValueError("an assignment has no target")
    if any((one.kind == "object") != (one.cls is not None) for one in record.makes):
        raise ValueError("an object has no class")
    for output in record.outputs:
        if output.source == "graph" and not 0 <= output.index < results:
            raise ValueError(f"the program has {results} outputs")
        if output.source == "made" and not 0 <= output.index < len(record.makes):
            raise ValueError(f"a call makes {len(record.makes)} objects")
        if output.source != "moving" and (output.source == "argument") != (output.place is not None):
            raise ValueError("an output has no source")
        _check_moving(output, results)
        if not (-1 <= output.doubt < results and -1 <= output.code < results):
            raise ValueError(f"the program has {results} outputs")
        if output.python and output.python not in PYTHON:
            raise ValueError(f"{output.python} is no type of numbers")


def _check_moving(output: OutputRecord, results: int) -> None:
    """ValueError for a view without a base, or of numbers that the program does not return."""
    if (output.source == "moving") != (output.moving is not None):
        raise ValueError("an output has no source")
    if output.moving is None:
        return
    if (output.place is None) != (0 <= output.index < results):
        raise ValueError("a view has no base")
    if any(number >= results for step in output.moving.steps for number in numbers_of(step)):
        raise ValueError(f"the program has {results} outputs")


def _bound(
    function: types.FunctionType, leaves: Sequence[Any], record: ProgramRecord
) -> tuple[_Outline, ProgramSpec]:
    """The outline and the program, whose calls in Python are those of this process."""
    binder = Binder(function, leaves)
    guards = binder.guards(record.guards)
    inputs = tuple(map(binder.path, record.inputs))
    outputs = tuple(_output(one, binder) for one in record.outputs)
    made = Guards(guards, inputs, record.leaves)
    outline = _Outline(
        made,
        outputs,
        tree_of(record.structure),
        len(record.program.outputs),
        tuple(_class(one, binder) for one in record.makes),
        tuple(_assignment(one, binder) for one in record.assignments),
        record.anew,
    )
    return outline, _with_calls(record.program, binder)


def _with_calls(program: ProgramSpec, binder: Binder) -> ProgramSpec:
    if not any(map(_calls_python, all_steps(program.body))):
        return program
    bound_call = jobs.module("xjit.api.start.bind_calls").bound_call

    def bound(step: Any) -> Any:
        if not _calls_python(step):
            return step
        params = (
            (name, bound_call(one, binder) if type(one) is CallRecord else one) for name, one in step.operation.params
        )
        return replace(step, operation=Operation(step.operation.name, tuple(params)))

    return replace(program, body=with_steps(program.body, bound))


def _calls_python(step: Any) -> bool:
    return isinstance(step, CallStep) and any(type(value) is CallRecord for _, value in step.operation.params)


def _class(record: MadeRecord, binder: Binder) -> type:
    if record.kind != "object" or record.cls is None:
        return list if record.kind == "list" else dict
    cls = binder.origin(record.cls)
    if not isinstance(cls, type):
        raise OtherProgramError("something else stands where a class was")
    return cls


def _assignment(record: AssignmentRecord, binder: Binder) -> Assignment:
    path = None if record.place is None else binder.path(record.place)
    return Assignment(record.way, record.key, path, record.made)


def _output(record: OutputRecord, binder: Binder) -> Output:
    path = None if record.place is None else binder.path(record.place)
    python = PYTHON[record.python] if record.python else None
    return Output(
        record.source,
        record.index,
        record.value,
        path,
        scalar=record.scalar,
        frozen=record.frozen,
        python=python,
        doubt=record.doubt,
        code=record.code,
        arrays=tuple(map(binder.path, record.arrays)),
        moving=record.moving,
    )


def _loaded(
    function: Any,
    record: ProgramRecord,
    spec: ProgramSpec,
    outline: _Outline,
    in_tree: tree.Tree,
    tally: KernelTally,
) -> Entry | None:
    """The entry; None where machine code is missing or the libraries are others."""
    if not _has_blas(record.long):
        return None
    try:
        loading = _loading(tally)
        program = load(spec, loading, outline.guards.of_program()[1])
    except (KeyError, _MissingObjectError):  # an operation that nobody has loaded, an object that was trimmed away
        return None
    program = program.left_to_numpy() if record.catches else program
    entry = shortcut(outline, program.direct, in_tree, tuple(map(kind_of, record.kinds)))
    if entry is None:
        return None
    tally.fallbacks += program.fallbacks
    if not record.tried or not config.flag("XJIT_TRIALS"):
        return entry
    from xjit.api.splits.trials import Trials

    serves = shortcut(outline, program.check(), in_tree, tuple(map(kind_of, record.kinds)), alone=True)
    assert serves is not None
    return Trials(entry, function, (), serves)


class _MissingObjectError(Exception):
    """The cache no longer has the machine code of a kernel."""


def _loading(tally: KernelTally) -> Loading:
    from xjit.runtime.calls.entry import make_entry

    disk = configured_cache().shelf("kernel")

    def stored(key: str) -> LoadedKernel:
        kernel = from_disk(disk, key)
        if kernel is None:
            raise _MissingObjectError(key)
        tally.cache_hits += 1
        return kernel

    def operation(name: str) -> Any:
        from xjit.ops.define.named import operation

        return operation(name)

    def products() -> Any:
        from xjit.runtime.steps.blas_steps import blas_products

        return blas_products()

    return Loading(stored, make_entry, products, operation, stored=stored)


def _has_blas(long: bool | None) -> bool:
    if long is None:
        return True
    from xjit.runtime.steps.blas_steps import blas_products

    products = blas_products()
    return products is not None and products.long is long
