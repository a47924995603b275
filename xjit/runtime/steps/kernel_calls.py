"""Runs of kernels with the addresses of this process: the records that entries are made of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from xjit.dataclass import dataclass, field
from xjit.errors import TargetError, XjitError
from xjit.ir.boundary import COMES_FIRST, shown_at
from xjit.runtime.calls.records import Conditions, FastProgram, KernelCall
from xjit.runtime.spec import (
    CompactionRoutine,
    DrawRoutine,
    Failure,
    KernelSpec,
    KernelText,
    RunStep,
    SortRoutine,
    StoredObject,
)

if TYPE_CHECKING:
    from xjit.ir.opdef import OpDef
    from xjit.runtime.loading.loader import LoadedKernel
    from xjit.runtime.steps.blas_steps import Products

Function: TypeAlias = "Callable[..., Any]"
EntryMaker: TypeAlias = "Callable[[FastProgram], Function]"
Loader: TypeAlias = "Callable[[str], LoadedKernel]"


def _no_objects(key: str) -> LoadedKernel:
    raise TargetError(f"xjit: the program needs the object {key}, and there is no cache to take it from")


@dataclass(frozen=True, slots=True, eq=False)
class Loading:
    """The surroundings of a program: the source of machine code, the maker of entries, operations by their names.

    ``load`` takes a text of the kernel language, ``stored`` the key of an object in the cache on disk. ``pieces`` are
    the functions that steps in Python name.
    """

    load: Loader
    make_entry: EntryMaker
    products: Callable[[], Products | None]
    operation: Callable[[str], OpDef]
    pieces: Mapping[str, Function] = field(default_factory=dict)
    stored: Loader = _no_objects


def fast_program(step: RunStep, loading: Loading, conditions: Conditions) -> FastProgram:
    """The record of a run of kernels, with the addresses of this process."""
    keep: list[object] = []
    calls = [_kernel_call(kernel, step, loading, keep) for kernel in step.kernels]
    return FastProgram(
        inputs=step.arguments,
        outputs=step.outputs,
        temps=step.temps,
        temp_offsets=step.offsets,
        lasting=step.lasting,
        calls=tuple(call for call in calls if call.extent > 0),
        single=len(step.results) == 1,
        heavy=step.heavy,
        keep_alive=tuple(keep),
        failures=tuple(error_maker(failure, loading) for failure in step.failures),
        conditions=conditions,
    )


def _kernel_call(spec: KernelSpec, step: RunStep, loading: Loading, keep: list[object]) -> KernelCall:
    kernel, words = _code(spec, loading)
    keep.append(kernel)
    table: list[int] = []
    patches: list[tuple[int, int, int]] = []
    for slot, pointer in enumerate(spec.pointers):
        table.append(0)
        if pointer.to == "constant":
            array = step.constants[pointer.number].array()
            keep.append(array)
            table[slot] = array.ctypes.data + pointer.offset
        elif pointer.to == "buffer":
            patches.append((slot, pointer.number, pointer.offset))
    table += words
    whole = kernel.address, spec.extent, spec.chunk, tuple(table), tuple(patches)
    return KernelCall(*whole, in_turn=spec.in_turn, light=spec.light, resumed=spec.resumed, final=step.final)


def _code(spec: KernelSpec, loading: Loading) -> tuple[LoadedKernel, tuple[int, ...]]:
    """The machine code of a kernel, and the words of its table."""
    if isinstance(spec.code, KernelText):
        return loading.load(spec.code.text), spec.words
    if isinstance(spec.code, StoredObject):
        return loading.stored(spec.code.key), spec.words
    if isinstance(spec.code, SortRoutine):
        return _sort(spec.code, spec.words)
    if isinstance(spec.code, CompactionRoutine):
        return _compaction(spec.code), spec.words
    if isinstance(spec.code, DrawRoutine):
        return _draw(spec.code), spec.words
    products = loading.products()
    if products is None:
        raise TargetError("xjit: the program multiplies matrices by a library that this process does not have")
    return products.kernel(spec.code.name), (products.routines[spec.code.name], *spec.words)


def _sort(code: SortRoutine, words: tuple[int, ...]) -> tuple[LoadedKernel, tuple[int, ...]]:
    from xjit.runtime.steps.sort_steps import numpy_sorts

    sorts = numpy_sorts()
    if sorts is None:
        raise TargetError("xjit: the program sorts by routines of NumPy that this process does not have")
    routines = sorts.routines[code.dtype]
    return sorts.kernel(code.name), (routines[code.first], routines[code.other], *words)


def _compaction(code: CompactionRoutine) -> LoadedKernel:
    from xjit.runtime.steps.compaction_steps import compactions

    routines = compactions()
    if routines is None:
        raise TargetError("xjit: the program packs elements by routines that this process does not have")
    return routines.kernel(code.name)


def _draw(code: DrawRoutine) -> LoadedKernel:
    from xjit.runtime.steps.draw_steps import numpy_draws

    draws = numpy_draws()
    if draws is None:
        raise TargetError("xjit: the program draws by routines of NumPy that this process does not have")
    return draws.kernel(code.name)


def error_maker(failure: Failure, loading: Loading) -> Callable[[], Exception]:
    """The maker of the error to raise when a status is set: a new one, which names the user's line where it can."""
    record, params = loading.operation(failure.operation.name), dict(failure.operation.params)
    make = None if record.failure is None else functools.partial(record.failure, params)
    solver = None if record.solver is None else record.solver(params)
    found = make or (solver.failure if solver else None)
    assert found is not None, f"{record.name} does not fail"
    return functools.partial(_error, found, failure)


def _error(make: Callable[[], Exception], failure: Failure) -> Exception:
    error = make()
    if isinstance(error, XjitError):
        found: Exception = error.located(failure.where)
    else:
        found = error.with_traceback(None if failure.where is None else shown_at(failure.where, None))
    if failure.first:
        found.__dict__[COMES_FIRST] = True
    return found
