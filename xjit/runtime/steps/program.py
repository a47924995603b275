"""Programs that run: the steps of a specification, written out as one Python function.

A program that is nothing but one run of kernels needs none of this: its native entry is the function.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xjit import config
from xjit.dataclass import dataclass, field, replace
from xjit.errors import TargetError, XjitError
from xjit.ir.boundary import COMES_FIRST, PLACES, TAKEN_BACK
from xjit.ir.source_location import Where
from xjit.runtime.calls.records import ArraySpec, Conditions, FastProgram, ScalarSpec
from xjit.runtime.miss import MISS
from xjit.runtime.spec import (
    Block,
    BranchStep,
    CallStep,
    ConstantStep,
    CopyStep,
    LoopStep,
    ProgramSpec,
    PythonStep,
    ReshapeStep,
    RoomStep,
    RunStep,
    Step,
    ViewStep,
    all_steps,
)
from xjit.runtime.steps.kernel_calls import Function, fast_program
from xjit.runtime.steps.kernel_calls import Loading as Loading
from xjit.types import as_array

if TYPE_CHECKING:
    from xjit.ir.opdef import OpDef

Array: TypeAlias = "np.ndarray[Any, Any]"
Codes: TypeAlias = "tuple[tuple[Any, Any], ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Runs on the values of a graph's parameters and returns its outputs.

    ``direct`` takes the values and returns the only output, or a tuple when there are several or none, or MISS for
    values of another layout; what ``check`` makes answers nothing else. ``fallbacks`` counts the steps that NumPy
    runs for want of code.
    """

    direct: Function
    outputs: int
    fallbacks: int
    check: Callable[[], Function]

    def left_to_numpy(self) -> Program:
        """The program, after whose errors NumPy does the call from the beginning."""
        return replace(self, direct=_leaving(self.direct))

    def run(self, values: Sequence[Any]) -> Sequence[Any]:
        """The outputs for these parameter values. What a library raises passes through."""
        made = self.direct(*map(_as_value, values))
        if made is MISS:
            raise _changed_layout()
        return (made,) if self.outputs == 1 else made


def _leaving(direct: Function) -> Function:
    def run(*values: Any) -> Any:
        try:
            return direct(*values)
        except Exception as error:
            setattr(error, COMES_FIRST, True)
            raise

    return run


def _as_value(value: Any) -> Any:
    known = isinstance(value, np.ndarray | float | int)
    return value if known and not isinstance(value, np.generic) else as_array(value)


def load(spec: ProgramSpec, loading: Loading, codes: Codes = ()) -> Program:
    """The program, ready to run. It misses where one of the functions no longer has the code beside it."""
    conditions = Conditions(spec.apart, codes, spec.written)
    check = functools.partial(_check, spec, loading, conditions)
    return Program(_direct(spec, loading, conditions, check), len(spec.outputs), spec.fallbacks, check)


def _check(spec: ProgramSpec, loading: Loading, conditions: Conditions) -> Function:
    """The program without its steps."""
    return loading.make_entry(FastProgram(spec.inputs, (), (), (), single=False, conditions=conditions))


def _direct(spec: ProgramSpec, loading: Loading, conditions: Conditions, check: Callable[[], Function]) -> Function:
    """The program as one function: the native entry if there is no other step, else Python's."""
    match spec.body.steps:
        case (RunStep(inputs, results) as only,) if (inputs, results) == (
            tuple(range(len(spec.inputs))),
            spec.outputs,
        ):
            return loading.make_entry(fast_program(only, loading, conditions))
    trims = (isinstance(step, CallStep) and loading.operation(step.operation.name).trims for step in spec.body.steps)
    if _has_control(spec.body) or spec.written or any(trims):
        from xjit.runtime.steps.native_groups import whole_program

        whole = whole_program(spec, loading, conditions)
        if whole is not None:
            return loading.make_entry(whole)
    return written_out(check(), spec, loading)


# Text


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Steps that the text of a program has one line for: a single one, or those of one native program, which makes
    the slots ``wanted`` of others that lie as ``layouts`` say. Behind them nothing reads the slots ``spent``.
    """

    steps: tuple[Step, ...]
    spent: tuple[int, ...]
    wanted: tuple[int, ...] = ()
    layouts: Mapping[int, ArraySpec | ScalarSpec] | None = None


@dataclass(eq=False)
class Scope:
    """The objects that the text of a program names, and the user's lines that lines of the text come from.

    ``parts`` cuts a block into what has lines of its own. ``alone`` has the contexts to use slots in. With
    ``takes_back`` steps whose effects NumPy would not find say how to take these back.
    """

    loading: Loading
    parts: Callable[[Block], Iterator[Part]]
    names: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    places: dict[int, Where] = field(default_factory=dict)
    depth: int = 1
    takes_back: bool = False
    alone: dict[int, Function] = field(default_factory=dict)

    def used_alone(self, slots: Sequence[int]) -> dict[Function, list[int]]:
        """The slots among these that are to be used in contexts, by these."""
        found: dict[Function, list[int]] = {}
        for slot in slots:
            if slot in self.alone:
                found.setdefault(self.alone[slot], []).append(slot)
        return found

    @contextlib.contextmanager
    def taking_back(self, needed: bool) -> Iterator[None]:
        """Has errors of the lines within tell what takes back the steps before::

        taken_back = []
        try:
            s0 = k0(p0)
            taken_back.append(k1(s0))
            ...
        except Exception as error:
            error.taken_back = taken_back
            raise
        """
        if not needed:
            yield
            return
        self.put("taken_back = []")
        self.put("try:")
        self.depth, self.takes_back = self.depth + 1, True
        yield
        self.depth -= 1
        self.put("except Exception as error:")
        self.put(f"    setattr(error, {TAKEN_BACK!r}, taken_back)")
        self.put("    raise")

    def name(self, value: Any) -> str:
        """A name for an object."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def put(self, line: str, where: Where | None = None) -> None:
        """Adds a line; line 1 is the head of the function."""
        self.lines.append("    " * self.depth + line)
        if where is not None:
            self.places[len(self.lines) + 1] = where

    def block(self, block: Block) -> None:
        """Adds the steps of a block."""
        for part in self.parts(block):
            for line in _part_lines(part, self):
                self.put(line, getattr(part.steps[0], "where", None))
            if part.spent:
                self.put(f"del {_slots(part.spent)}")


def _parts(spec: ProgramSpec) -> Callable[[Block], Iterator[Part]]:
    """The way to cut blocks: loops and branches that need no Python become native programs."""
    if not _has_control(spec.body):
        return _each_step
    from xjit.runtime.steps.native_groups import NativeParts

    return NativeParts.of(spec).parts


def _has_control(block: Block) -> bool:
    return any(isinstance(step, LoopStep | BranchStep) for step in block.steps)


def _puts_back(block: Block, loading: Loading) -> bool:
    """Return whether a block has steps that can be taken back, and others that may fail."""
    steps = list(all_steps(block))
    called = [loading.operation(one.operation.name) for one in steps if isinstance(one, CallStep)]
    takes_back = [record for record in called if record.puts_back is not None]
    fails = any(one.failures for one in steps if isinstance(one, RunStep))
    return bool(takes_back) and (fails or len(called) > len(takes_back))


def _each_step(block: Block) -> Iterator[Part]:
    spent = block.spent or ((),) * len(block.steps)
    return (Part((step,), slots) for step, slots in zip(block.steps, spent, strict=True))


def written_out(check: Function, spec: ProgramSpec, loading: Loading) -> Function:
    """The steps as a function of the values in the first slots, which ``check`` looks at first, for example

    def program(*values):
        if check(*values) is MISS: return MISS
        s0, s1, = values
        s2 = k0(s0)
        made = k1(s1, s2)
        if made is MISS: raise changed_layout()
        s3 = made
        del s2
        return s3
    """
    from xjit.runtime.parallel.blas_limits import limited
    from xjit.runtime.parallel.threads import own_limit

    scope = Scope(loading, _parts(spec))
    scope.put("if check(*values) is MISS: return MISS")
    if spec.inputs:
        scope.put(f"{_slots(range(len(spec.inputs)))}, = values")
    with scope.taking_back(_puts_back(spec.body, loading)):
        scope.block(spec.body)
        scope.put(f"return {_slots(spec.outputs) or '()'}")
    source = "def program(*values):\n" + "".join(f"{line}\n" for line in scope.lines)
    names: dict[str, Any] = {
        "check": check,
        "MISS": MISS,
        "ndarray": np.ndarray,
        "array": np.array,
        "asarray": np.asarray,
    }
    names |= {"laid_out": laid_out, "changed_layout": _changed_layout, **scope.names}
    names |= {"own_limit": own_limit, "limited": limited, PLACES: scope.places}
    exec(compile(source, "<xjit program>", "exec"), names)
    program: Function = names["program"]
    return program


def _part_lines(part: Part, scope: Scope) -> Iterator[str]:
    if part.layouts is None:
        yield from _lines(part.steps[0], scope)
        return
    from xjit.runtime.steps.native_blocks import native_block

    native = native_block(part.steps, part.layouts, part.wanted, scope.loading)
    yield from _entry_lines(native.program, native.inputs, native.results, scope)


def _lines(step: Step, scope: Scope) -> Iterator[str]:
    """The lines of a step; steps of control put those of their blocks in between."""
    match step:
        case RunStep():
            yield from _run_lines(step, scope)
        case CallStep():
            yield from _call_lines(step, scope)
        case ConstantStep():
            yield f"{_slots(step.results)} = {scope.name(step.constant.array)}()"
        case ReshapeStep():
            dtype, shape = scope.name(step.layout.dtype), scope.name(step.layout.shape)
            flat = f"asarray({_slots(step.inputs)}).reshape(-1)"
            yield f"{_slots(step.results)} = {flat}.view({dtype}).reshape({shape})"
        case CopyStep():
            yield f"{_slots(step.results)} = array({_slots(step.inputs)}, order='K')"
        case RoomStep():
            yield f"{_slots(step.results)} = {scope.name(_maker_of_rooms(step))}({_slots(step.inputs)})"
        case ViewStep():
            yield from _view_lines(step, scope)
        case LoopStep():
            yield from _loop_lines(step, scope)
        case BranchStep():
            yield from _branch_lines(step, scope)
        case PythonStep():
            function = scope.name(scope.loading.pieces[step.name])
            yield f"[{_slots(step.results)}] = {function}({_slots(step.inputs)})"


def _maker_of_rooms(step: RoomStep) -> Function:
    from xjit.runtime.calls.entry import room

    return functools.partial(room, step.dtype)


def _run_lines(step: RunStep, scope: Scope) -> Iterator[str]:
    return _entry_lines(fast_program(step, scope.loading, Conditions()), step.inputs, step.results, scope)


def _entry_lines(program: FastProgram, inputs: Sequence[int], results: Sequence[int], scope: Scope) -> Iterator[str]:
    """Allocates the results and runs the kernels::

    with k1(s0): made = k0(s0, s1)
    if made is MISS: raise changed_layout()
    s2, s3 = made
    """
    call = f"made = {scope.name(scope.loading.make_entry(program))}({_slots(inputs)})"
    for alone, slots in scope.used_alone(inputs).items():
        call = f"with {scope.name(alone)}({_slots(slots)}): {call}"
    yield call
    yield "if made is MISS: raise changed_layout()"
    yield f"{_slots(results) if len(results) == 1 else f'[{_slots(results)}]'} = made"


def _call_lines(step: CallStep, scope: Scope) -> Iterator[str]:
    """Evaluates the operation; what is not laid out as the kernels expect it is copied::

    s2 = k0(s0, s1)
    if not (type(s2) is ndarray and s2.strides == k1 and s2.dtype is k2): s2 = laid_out(s2, k3)
    s3 = k4(s0, s1, out=k5())
    """
    record = scope.loading.operation(step.operation.name)
    made, function, operands = _slots(step.results), scope.name(called_function(step, record)), _slots(step.inputs)
    if record.alone is not None:
        scope.alone |= dict.fromkeys(step.results, record.alone)
    if step.recycled:
        assert step.layout is not None
        allocate = scope.loading.make_entry(FastProgram((), (step.layout,), (), (), single=True))
        operands += f", out={scope.name(allocate)}()"
    if record.threaded or step.fallback:
        yield f"{made} = limited({function}, {operands}) if own_limit() else {function}({operands})"
    else:
        yield f"{made} = {function}({operands})"
    if record.puts_back is not None and scope.takes_back:
        yield f"taken_back.append({scope.name(record.puts_back)}({made}))"
    if step.layout is None or step.recycled:
        return
    if step.layout.shape:
        strides, dtype = scope.name(step.layout.strides), scope.name(step.layout.dtype)
        expected = f"type({made}) is ndarray and {made}.strides == {strides} and {made}.dtype is {dtype}"
        yield f"if not ({expected}): {made} = laid_out({made}, {scope.name(step.layout)})"
    else:
        yield f"{made} = asarray({made}, {scope.name(step.layout.dtype)})"


def called_function(step: CallStep, record: OpDef) -> Function:
    """The operation with its params; NumPy's warnings are left out."""
    params = dict(step.operation.params)
    if record.bound is not None:
        return record.bound(params) if step.first or not record.has_effects else _late(record.bound(params))
    function: Function = functools.partial(record.reference, **params)
    if record.has_effects:
        function = _located(step.where, function)
    if step.fallback:
        function = _unless_forbidden(step, function)
    return function if record.silent else np.errstate(all="ignore")(function)


def _late(function: Function) -> Function:
    """The function, after whose errors NumPy cannot do the call from the beginning."""

    def run(*operands: Any) -> Any:
        try:
            return function(*operands)
        except Exception as error:
            setattr(error, COMES_FIRST, False)
            raise

    return run


def _located(where: Where, function: Function) -> Function:
    """The function of an operation with effects, whose errors name the user's line."""

    def run(*operands: Any) -> Any:
        try:
            return function(*operands)
        except XjitError as error:
            raise error.located(where) from None

    return run


def _unless_forbidden(step: CallStep, function: Function) -> Function:
    def run(*operands: Any) -> Any:
        if config.flag("XJIT_NO_FALLBACK"):
            reason = f"{step.operation.name} would run through NumPy: {step.fallback}"
            raise TargetError(reason, where=step.where)
        return function(*operands)

    return run


def _view_lines(step: ViewStep, scope: Scope) -> Iterator[str]:
    """Applies the operations to the base array, each to the result of the one before. The base may be a number
    that was passed as an argument, of which the function has made an array of rank 0.
    """
    view = _slots(step.inputs)
    if not step.chain or step.of_number:
        view = f"asarray({view})"
    if not step.chain:
        view += "[...]"
    for one in step.chain:
        function = functools.partial(scope.loading.operation(one.name).view, **dict(one.params))
        view = f"{scope.name(function)}({view})"
    yield f"{_slots(step.results)} = {view}"


def _loop_lines(step: LoopStep, scope: Scope) -> Iterator[str]:
    """Carries values from turn to turn::

    s2, = s0,
    while True:
        ...
        if not s3: break
        ...
        s2, = s4,
    """
    yield _moved(step.results, step.inputs)
    yield "while True:"
    scope.depth += 1
    scope.block(step.condition)
    yield f"if not s{step.test}: break"
    scope.block(step.body)
    yield _moved(step.results, step.next)
    scope.depth -= 1


def _branch_lines(step: BranchStep, scope: Scope) -> Iterator[str]:
    """Runs one of several blocks::

    number = int(s0)
    if number == 0:
        ...
        s1, = s2,
    else:
        ...
        s1, = s3,
    """
    yield f"number = int({_slots(step.inputs)})"
    last = len(step.blocks) - 1
    for number, (block, values) in enumerate(zip(step.blocks, step.values, strict=True)):
        word = "elif" if number else "if"
        yield "else:" if number == last > 0 else f"{word} {'True' if number == last else f'number == {number}'}:"
        scope.depth += 1
        scope.block(block)
        yield _moved(step.results, values)
        scope.depth -= 1


def _moved(to: Sequence[int], values: Sequence[int]) -> str:
    """Gives slots the values of others, all at once."""
    return f"{_slots(to)}, = {_slots(values)}," if to else "pass"


def _slots(numbers: Sequence[int]) -> str:
    return ", ".join(f"s{number}" for number in numbers)


def laid_out(made: Any, spec: ArraySpec) -> Array:
    """The array itself if it has the layout, else a copy that has."""
    array = np.asarray(made)
    if array.dtype == spec.dtype and array.strides == spec.strides and array.flags.aligned:
        return array
    fresh = np.ndarray(spec.shape, spec.dtype, strides=spec.strides)
    fresh[...] = array
    return fresh


def _changed_layout() -> TargetError:
    return TargetError("a step of the program got an array of another layout than it was compiled for")
