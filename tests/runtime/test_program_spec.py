"""Programs as plain data: rules that a checker knows, and steps of control, by both executors of kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit.ir.source_location import NOWHERE
from xjit.ops.define.named import operation
from xjit.programs.kernels import KernelStore
from xjit.programs.uncompiled_entry import KernelSources, make_uncompiled_entry
from xjit.runtime.calls.entry import make_entry
from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import NestRows, TimeTiles
from xjit.runtime.check_spec import check
from xjit.runtime.miss import MISS
from xjit.runtime.spec import (
    Block,
    BranchStep,
    CallStep,
    Constant,
    ConstantStep,
    CopyStep,
    Failure,
    KernelSpec,
    KernelText,
    LoopStep,
    Operation,
    Pointer,
    ProgramSpec,
    PythonStep,
    ReshapeStep,
    RoomStep,
    RunStep,
    ViewStep,
)
from xjit.runtime.steps.program import Loading, load
from xjit.runtime.tally import KernelTally

SIZE = 5
F64 = np.dtype(np.float64)
ARRAY = ArraySpec(F64, (SIZE,), (8,))
NUMBER = ArraySpec(F64, (), ())


def text(expression: str) -> KernelText:
    """A kernel that computes every element of its second array from the same one of the first, ``v``."""
    return KernelText(
        "def kernel(lo, hi, table):\n"
        "    a = ptr_f64(table, 0)\n"
        "    o = ptr_f64(table, 1)\n"
        "    for i in range(lo, hi):\n"
        "        v = ld(a, i)\n"
        f"        st(o, i, {expression})\n"
    )


def run(source: int, result: int, expression: str) -> RunStep:
    """A step that makes one slot of another, element by element."""
    pointers = (Pointer("buffer", 0, 0), Pointer("buffer", 1, 0))
    kernel = KernelSpec(text(expression), pointers, (), SIZE, SIZE)
    return RunStep((source,), (result,), (ARRAY,), (ARRAY,), (kernel,))


def call(name: str, sources: tuple[int, ...], result: int, layout: ArraySpec = ARRAY, **params: Any) -> CallStep:
    return CallStep(Operation(name, tuple(params.items())), sources, (result,), layout, NOWHERE)


def compiled(pieces: dict[str, Callable[..., Any]]) -> Loading:
    store, tally = KernelStore(), KernelTally()
    return Loading(lambda source: store.load(source, tally), make_entry, lambda: None, operation, pieces)


def uncompiled(pieces: dict[str, Callable[..., Any]]) -> Loading:
    sources = KernelSources()
    return Loading(sources.load, make_uncompiled_entry(sources), lambda: None, operation, pieces)


LOADINGS = pytest.mark.parametrize("loading", [compiled, uncompiled], ids=["compiled", "uncompiled"])
X = np.arange(1.0, SIZE + 1)


def results(spec: ProgramSpec, loading: Any, *values: Any, **pieces: Callable[..., Any]) -> Any:
    """Return what a program makes of values, after a look at its rules."""
    check(spec)
    return load(spec, loading(pieces)).direct(*values)


# Doubles all elements until the first one is 100 or more, and counts the turns: slot 1 is the array, 2 the count.
LIMIT, ONE = (Constant(F64, (), np.float64(value).tobytes()) for value in (100.0, 1.0))
GROWTH = LoopStep(
    inputs=(0, 6),
    results=(1, 2),
    condition=Block(
        (
            ViewStep((1,), (3,), (Operation("slice", (("start", (0,)), ("limit", (1,)), ("strides", (1,)))),)),
            ConstantStep(LIMIT, (), (4,)),
            call("lt", (3, 4), 5, ArraySpec(np.dtype(bool), (1,), (1,))),
        )
    ),
    test=5,
    body=Block((run(1, 7, "v + v"), call("add", (2, 8), 9, NUMBER)), ((), ())),
    next=(7, 9),
)


def growth() -> ProgramSpec:
    zero = Constant(F64, (), np.float64(0.0).tobytes())
    steps = (ConstantStep(zero, (), (6,)), ConstantStep(ONE, (), (8,)), GROWTH)
    return ProgramSpec((ARRAY,), Block(steps), (1, 2))


@LOADINGS
def test_a_loop_carries_slots(loading: Any) -> None:
    array, count = results(growth(), loading, X)
    assert count == 7.0
    assert array.tolist() == (X * 2**7).tolist()
    array, count = results(growth(), loading, X + 100.0)
    assert count == 0.0
    assert array.tolist() == (X + 100.0).tolist()


@LOADINGS
def test_a_loop_carries_all_slots_at_once(loading: Any) -> None:
    """A pair that is exchanged in each turn, for as many turns as the first array has elements above zero."""
    condition = Block((call("gt", (4, 1), 6, ArraySpec(np.dtype(bool), (), ())),))
    body = Block((call("sub", (4, 5), 7, NUMBER),))
    loop = LoopStep((0, 8, 9), (2, 3, 4), condition, 6, body, (3, 2, 7))
    zero, three = (Constant(F64, (), np.float64(value).tobytes()) for value in (0.0, 3.0))
    steps = (
        ConstantStep(zero, (), (1,)),
        ConstantStep(ONE, (), (5,)),
        run(0, 8, "v * v"),
        ConstantStep(three, (), (9,)),
        loop,
    )
    first, second = results(ProgramSpec((ARRAY,), Block(steps), (2, 3)), loading, X)
    assert first.tolist() == (X * X).tolist()
    assert second.tolist() == X.tolist()


def choice() -> ProgramSpec:
    last = Block((run(1, 2, "v + v"), run(2, 3, "v * v")), ((), (2,)))
    first = Block((call("neg", (1,), 4),))
    return ProgramSpec(
        (ScalarSpec(np.dtype(bool)), ARRAY), Block((BranchStep((0,), (5,), (first, last), ((4,), (3,))),)), (5,)
    )


@LOADINGS
def test_a_branch_runs_one_of_its_blocks(loading: Any) -> None:
    assert results(choice(), loading, True, X).tolist() == ((X + X) ** 2).tolist()
    assert results(choice(), loading, False, X).tolist() == (-X).tolist()


@LOADINGS
def test_a_piece_in_python_stands_between_kernels(loading: Any) -> None:
    steps = (run(0, 1, "v + v"), PythonStep("look", (1,), (2, 3)), run(2, 4, "v * v"))
    spec = ProgramSpec((ARRAY,), Block(steps, ((), (1,), (2,))), (4, 3))
    seen: list[float] = []

    def look(array: Any) -> tuple[Any, Any]:
        seen.append(float(array.sum()))
        return array[::-1].copy(), seen[-1]

    squares, total = results(spec, loading, X, look=look)
    assert squares.tolist() == ((2.0 * X[::-1]) ** 2).tolist()
    assert seen == [total] == [2.0 * X.sum()]


@LOADINGS
def test_other_layouts_and_one_object_twice_miss(loading: Any) -> None:
    spec = ProgramSpec((ARRAY, ARRAY), Block((run(0, 2, "v + v"), CopyStep((1,), (3,)))), (2, 3), apart=((0, 1),))
    program = load(spec, loading({}))
    assert program.direct(X, X.copy())[1].tolist() == X.tolist()
    assert program.direct(X, X) is MISS
    assert program.direct(X[:3], X) is MISS


# Rules

RUN = run(0, 1, "v")
PLAIN = ProgramSpec((ARRAY,), Block((RUN,)), (1,))


def plain(**changes: Any) -> ProgramSpec:
    return dataclasses.replace(PLAIN, body=Block((dataclasses.replace(RUN, **changes),)))


def with_kernel(**changes: Any) -> ProgramSpec:
    return plain(kernels=(dataclasses.replace(RUN.kernels[0], **changes),))


def with_loop(**changes: Any) -> ProgramSpec:
    spec = growth()
    steps = (*spec.body.steps[:2], dataclasses.replace(GROWTH, **changes))
    return dataclasses.replace(spec, body=Block(steps))


def with_branch(**changes: Any) -> ProgramSpec:
    (branch,) = choice().body.steps
    return dataclasses.replace(choice(), body=Block((dataclasses.replace(branch, **changes),)))


SOMEWHERE: Any = "somewhere"
# Doubles five rows, two turns at a time; slot 1 is the array.
TILES = TimeTiles(2, 0, 2, 3, 1, 0, 0, (NestRows(0, 0, 3, 1, 0, 0, 0), NestRows(0, 3, 5, 1, 3, 0, 0)), (), ((1, 7),))
TRUTH = ConstantStep(Constant(np.dtype(bool), (), b"1"), (), (5,))
TURNS = LoopStep((0,), (1,), Block((TRUTH,)), 5, Block((run(1, 7, "v + v"),)), (7,))


def with_tiles(loop: LoopStep = TURNS, **changes: Any) -> ProgramSpec:
    tiles = dataclasses.replace(TILES, **changes)
    return ProgramSpec((ARRAY,), Block((dataclasses.replace(loop, tiles=tiles),)), (1,))


def with_nest(**changes: Any) -> ProgramSpec:
    first, last = TILES.nests
    return with_tiles(nests=(first, dataclasses.replace(last, **changes)))


def turns_of(step: Any) -> LoopStep:
    return dataclasses.replace(TURNS, body=Block((step,)))


def turns_with(**changes: Any) -> LoopStep:
    (step,) = TURNS.body.steps
    (kernel,) = step.kernels
    return turns_of(dataclasses.replace(step, kernels=(dataclasses.replace(kernel, **changes),)))


def failing(step: RunStep) -> RunStep:
    return dataclasses.replace(step, failures=(Failure(Operation("require"), NOWHERE),))


BROKEN = {
    "output": (dataclasses.replace(PLAIN, outputs=(2,)), r"outputs \(2,\) are not all filled"),
    "pairs": (dataclasses.replace(PLAIN, apart=((0, 1),)), "not pairs of inputs"),
    "input": (plain(inputs=(3,)), "step 0: reads slots"),
    "slot": (plain(results=(-1,)), "not slots"),
    "twice": (plain(results=(1, 1), outputs=(ARRAY, ARRAY)), "twice"),
    "layouts of inputs": (plain(arguments=()), "for every input"),
    "layouts of results": (plain(outputs=()), "for every result"),
    "strides": (plain(outputs=(ArraySpec(F64, (SIZE,), ()),)), "differ in length"),
    "negative size": (dataclasses.replace(PLAIN, inputs=(ArraySpec(F64, (-1,), (8,)),)), "not negative"),
    "places": (plain(temps=(8,)), "every temporary"),
    "negative place": (plain(temps=(8,), offsets=(-8,)), "not negative"),
    "buffer": (with_kernel(pointers=(Pointer("buffer", 2, 0),)), "buffer 2 of 2"),
    "constant": (with_kernel(pointers=(Pointer("constant", 0, 0),)), "constant 0 of 0"),
    "kind of pointer": (with_kernel(pointers=(Pointer(SOMEWHERE, 0, 0),)), "somewhere 0 of 0"),
    "chunk": (with_kernel(chunk=0), "runs over 5 by 0"),
    "extent": (with_kernel(extent=-1), "runs over -1"),
    "bytes": (plain(constants=(Constant(F64, (2,), b"x"),)), "has 1 bytes"),
    "bytes of a step": (
        dataclasses.replace(PLAIN, body=Block((ConstantStep(Constant(F64, (2,), b"x"), (), (1,)),))),
        "has 1 bytes",
    ),
    "sources": (dataclasses.replace(PLAIN, body=Block((CopyStep((), (1,)),))), "reads one slot"),
    "results": (dataclasses.replace(PLAIN, body=Block((ReshapeStep((0,), (1, 2), ARRAY),))), "fills one slot"),
    "rooms": (dataclasses.replace(PLAIN, body=Block((RoomStep((0,), (1,), F64),))), "fills two"),
    "rooms for objects": (
        dataclasses.replace(PLAIN, body=Block((RoomStep((0,), (1, 2), np.dtype(object)),))),
        "no room for objects",
    ),
    "recycled": (
        dataclasses.replace(
            PLAIN, body=Block((CallStep(Operation("neg"), (0,), (1,), None, NOWHERE, recycled=True),))
        ),
        "of no layout",
    ),
    "spent too early": (
        dataclasses.replace(PLAIN, body=Block((RUN, CopyStep((1,), (2,))), ((1,), ()))),
        "step 1: reads",
    ),
    "spent unfilled": (dataclasses.replace(PLAIN, body=Block((RUN,), ((4,),))), "not filled"),
    "spent lists": (dataclasses.replace(PLAIN, body=Block((RUN,), ((), ()))), "for every step"),
    "carried": (with_loop(next=(7,)), "as many slots"),
    "test": (with_loop(test=12), "does not fill slot 12"),
    "condition": (with_loop(condition=Block((CopyStep((40,), (5,)),))), "condition 0: reads"),
    "condition drops": (with_loop(condition=Block((CopyStep((1,), (5,)),), ((1,),))), "drops a carried slot"),
    "body": (with_loop(body=Block((CopyStep((1,), (7,)), CopyStep((2,), (9,))), ((), (8,)))), "next turn"),
    "asked": (with_branch(inputs=(0, 1)), "asks one slot"),
    "values": (with_branch(values=((), (3,))), "gives 0 values"),
    "arm": (with_branch(values=((4,), (4,))), "does not fill"),
    "arm drops": (
        with_branch(blocks=(Block((CopyStep((1,), (4,)),), ((0,),)), choice().body.steps[0].blocks[1])),
        "drops slots from before",
    ),
    "tiles of calls": (with_tiles(turns_of(call("neg", (1,), 7))), "0, tiles: a turn has steps that are no kernels"),
    "tiles that fail": (with_tiles(turns_of(failing(TURNS.body.steps[0]))), "may fail"),
    "tiles of turns": (with_tiles(turns_with(in_turn=True)), "turns of its own"),
    "one turn": (with_tiles(turns=1), "no turns or rows"),
    "no rows": (with_tiles(band=0), "no turns or rows"),
    "turns ahead": (with_tiles(skew=-1), "a turn is ahead"),
    "no nests": (with_tiles(nests=()), "no nests"),
    "nest of no kernel": (with_nest(kernel=1), "kernel 1 of 1"),
    "iterations": (with_nest(stop=6), "iterations 3 to 6 of 5"),
    "iterations again": (with_nest(first=2), "overlap"),
    "nest ahead": (with_nest(before=-1), "ahead of the first"),
    "rows behind tiles": (with_nest(begin=5), "rows 5 to 7 are not all in tiles"),
    "rows before tiles": (with_nest(begin=-1), "not all in tiles"),
    "copied kernel": (with_tiles(copied=((1, 0),)), "copies for kernel 1 of 1"),
    "copied pointer": (with_tiles(copied=((0, 2),)), "pointer 2 of 2"),
    "copied nothing": (
        with_tiles(turns_with(pointers=(Pointer("nothing", 0, 0), Pointer("buffer", 1, 0))), copied=((0, 0),)),
        "a pointer to nothing",
    ),
    "families": (with_tiles(families=((1, 7), (7,))), "share a slot"),
    "family of others": (with_tiles(families=((1, 11),)), "does not know all slots"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_rules(name: str) -> None:
    spec, reason = BROKEN[name]
    with pytest.raises(ValueError, match=reason):
        check(spec)


def test_what_compiled_programs_are_follows_the_rules() -> None:
    check(PLAIN)
    check(growth())
    check(choice())
    check(with_tiles())
