"""Loops and branches as one kernel: the same values as in NumPy and as steps, by every way to run them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on, uncompiled
from tests.lowering.control_programs import CONTROL_PROGRAMS, FIVE, ControlProgram, scaled
from tests.lowering.lasting_programs import LASTING_PROGRAMS
from xjit import ops, tree
from xjit.capture.capture import capture
from xjit.codegen.language.plain_primitives import primitive
from xjit.codegen.lowering.kernels.nests import LoweredKernel
from xjit.compile import Lowered, lower_graph
from xjit.ir.context import CONSTANT
from xjit.ir.loops.execute import Executor
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Alloc, Argument, If, Load, Loop, While
from xjit.ir.loops.verify import verify
from xjit.ir.loops.walk import loads, statements, stores
from xjit.ir.node import Node
from xjit.target import Target

# Loops and branches as steps of a program.
STEPS = on(replace(PROCESSOR, longest_turn=0))
Array = np.ndarray[Any, Any]
Arrays = list[Array]


def flat(values: Any) -> Arrays:
    return [one for value in values for one in flat(value)] if isinstance(values, tuple) else [np.asarray(values)]


def run(program: ControlProgram, target: Target | None = None) -> Arrays:
    return flat(xjit.jit(program.function, target=target or on(PROCESSOR))(*program.arguments))


def same_bits(found: Arrays, expected: Arrays) -> bool:
    pairs = zip(found, expected, strict=True)
    return all((a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()) for a, b in pairs)


PROGRAMS = CONTROL_PROGRAMS | LASTING_PROGRAMS


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> ControlProgram:
    return PROGRAMS[request.param]


def test_values(program: ControlProgram) -> None:
    assert_like(program, run(program), flat(program.expected(*program.arguments)))


def assert_like(program: ControlProgram, found: Arrays, expected: Arrays) -> None:
    """The same bits, but where sums are added in another order."""
    assert same_bits(found, expected) or not program.exact
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_bits_are_those_of_steps(program: ControlProgram) -> None:
    assert same_bits(run(program), run(program, STEPS))


def test_uncompiled(program: ControlProgram) -> None:
    with uncompiled():
        found = run(program)
    assert_like(program, found, run(program))


def test_one_kernel_has_the_loop(program: ControlProgram) -> None:
    loops = [one for one in lowered(program) if one.resumed]
    branches = [name for name in ("chosen", "pair") if name in program.function.__name__]
    assert len(loops) == (0 if branches else 1)
    assert not any(step.startswith(("loop", "branch")) for step in explained(program))
    assert any(step.startswith(("loop", "branch")) for step in explained(program, STEPS))


def explained(program: ControlProgram, target: Target | None = None) -> tuple[str, ...]:
    return tuple(xjit.jit(program.function, target=target or on(PROCESSOR)).explain(*program.arguments).steps)


# ---- the loops themselves


def lowered(program: ControlProgram) -> list[LoweredKernel]:
    return [kernel for kernel, _ in whole(program)[0].kernels]


def whole(program: ControlProgram) -> tuple[Lowered, dict[Node, Any]]:
    """The program before machine code, and its arguments by their parameters."""
    leaves, structure = tree.flatten((program.arguments, {}))
    found = capture(program.function, leaves, structure)
    values = found.guards.fetch(leaves) or []
    made = lower_graph(found.graph, values, found.views, target=on(PROCESSOR))
    return made, dict(zip(made.graph.parameters, values, strict=True))


def executed(kernel: LoweredKernel, parameters: Mapping[Node, Any], turns: int) -> dict[Node, np.ndarray[Any, Any]]:
    """The buffers that a kernel leaves behind, under the executor of loops, so many turns at a call."""
    buffers: dict[Node, np.ndarray[Any, Any]] = {}
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    words = dict(zip(kernel.kernel.words or (), kernel.words, strict=True))
    for argument, (node, first) in zip(kernel.kernel.arguments, kernel.pointers, strict=True):
        assert not first
        if node not in buffers:
            buffers[node] = elements(node, parameters)
        arrays[argument.buffer.name] = by_axes(buffers[node], argument, words)
    low = 0
    while True:
        status = Executor(primitive).run(kernel.kernel, arrays, {**words, "lo": low, "hi": low + turns})
        assert status == 0
        low += turns
        if not kernel.resumed or not buffers[kernel.pointers[0][0]][0]:
            return buffers


def elements(node: Node, parameters: Mapping[Node, Any]) -> np.ndarray[Any, Any]:
    """The elements of a buffer in the order in which they lie."""
    value = node.param("value").array() if node.op is CONSTANT else parameters.get(node)
    if value is None:
        value = np.zeros(node.aval.shape, node.aval.dtype)
    flat = np.array(value, node.aval.dtype).reshape(-1)
    return flat.view(f"u{flat.itemsize}") if flat.dtype == np.float16 else flat


def by_axes(flat: np.ndarray[Any, Any], argument: Argument, words: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """The elements as the kernel names them: an axis for each stride."""
    steps = [evaluate(stride, words) for stride in argument.buffer.strides]
    shape = [len(flat) for _ in steps]
    strides = [step * flat.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(flat, shape, strides)


@pytest.mark.parametrize("turns", [1, 3, 1000])
def test_the_executor_of_loops(program: ControlProgram, turns: int) -> None:
    """Every number of turns at a call leaves the same values."""
    made, parameters = whole(program)
    if len(made.kernels) != 1 or not all(is_made(node, made) for node in made.graph.outputs):
        pytest.skip("other kernels, or none, make what it needs")
    (kernel, _) = made.kernels[0]
    buffers = executed(verified(kernel), parameters, turns)
    for node, value in zip(made.graph.outputs, flat(program.expected(*program.arguments)), strict=True):
        if program.exact:
            assert buffers[node].tobytes() == value.tobytes()
        np.testing.assert_allclose(buffers[node].view(value.dtype), value.reshape(-1), rtol=1e-12)


def is_made(node: Node, made: Lowered) -> bool:
    return any(node is one for one, _ in made.kernels[0][0].pointers)


def verified(kernel: LoweredKernel) -> LoweredKernel:
    verify(kernel.kernel)
    return kernel


def test_scalars_are_in_registers() -> None:
    loop = only_loop("populations")
    assert not [one for one in statements(loop.body) if isinstance(one, Alloc)]
    assert len({load.buffer for load in loads(loop.body)}) == 1, "the number of turns"
    assert not list(stores(loop.body))


def test_elements_by_themselves_are_made_in_place_two_turns_in_a_pass() -> None:
    branch = only_loop("scaled").body[-1]
    assert isinstance(branch, If)
    for block, times in ((branch.then, 2), (branch.otherwise, 1)):
        found = list(stores(block))
        assert len(found) == times and len({store.buffer for store in found}) == 1
        read = [load.index for load in loads(block) if load.buffer == found[0].buffer]
        assert read == [store.index for store in found]


def test_arrays_are_exchanged_and_copied_in_the_end_alone() -> None:
    *first, last, _ = only_loop("relaxed").body
    assert isinstance(last, If)
    ((old,), (new,)) = ({one.buffer for one in stores(block)} for block in (last.then, tuple(first)))
    assert {load.buffer for load in loads(tuple(first))} >= {old}
    assert {load.buffer for load in loads(last.then)} >= {new}
    assert not [one for one in (*stores(tuple(first)), *stores(last.then)) if isinstance(one.value, Load)]
    (back,) = stores(last.otherwise)
    assert isinstance(back.value, Load) and (back.buffer, back.value.buffer) == (old, new)


def test_scans_move_one_element() -> None:
    """The update of a carried array has nothing but its window to store."""
    kernel = lowered(CONTROL_PROGRAMS["scanned"])[-1]
    (loop,) = (one for one in kernel.kernel.body if isinstance(one, While))
    assert len(list(stores(loop.body))) == 1
    assert not [one for one in statements(loop.body) if isinstance(one, Loop)]


def only_loop(name: str) -> While:
    (kernel,) = lowered(CONTROL_PROGRAMS[name])
    (loop,) = (one for one in kernel.kernel.body if isinstance(one, While))
    return loop


def test_a_loop_is_called_again_until_it_ends() -> None:
    """Pieces of three turns each, and one of the last."""
    one = xjit.jit(scaled, target=on(replace(PROCESSOR, piece_work=3 * 300.0)))
    arguments = (FIVE, np.float64(0.5), np.float64(1), np.int64(1000))
    assert same_bits(flat(one(*arguments)), flat(xjit.jit(scaled)(*arguments)))


@pytest.mark.parametrize("begin", [-7, 0, 2**62 - 3, 2**63 - 6])
def test_a_counter_of_the_loop_counts_the_turns_of_a_call(begin: int) -> None:
    """A turn has one test, also where no number is so many turns later."""

    def turn(state: Any) -> Any:
        return ops.add(state[0], np.int64(1)), ops.mul(state[1], np.float64(1.5))

    def repeated(begin: Any, end: Any) -> Any:
        return ops.while_loop(lambda state: ops.lt(state[0], end), turn, (begin, np.float64(1)))

    one = xjit.jit(repeated, target=on(replace(PROCESSOR, piece_work=6.0)))
    (counter, product), end = one(np.int64(begin), np.int64(begin + 5)), begin + 5
    assert (int(counter), float(product)) == (end, 1.5**5)
    assert "turn0" not in one.source(np.int64(begin), np.int64(end))


def test_long_turns_and_large_arrays_are_steps() -> None:
    for numbers in ({"longest_turn": 5}, {"parallel_work": 50.0}):
        one = xjit.jit(scaled, target=on(replace(PROCESSOR, **numbers)))
        (step,) = one.explain(np.ones(100), np.float64(0.5), np.float64(1), np.int64(3)).steps
        assert step.startswith("loop")


def test_a_kernel_is_left_in_loops_of_its_turns_alone() -> None:
    """The kernel of the outermost loop would not be left for as long as the innermost runs."""

    def counted(limit: Any, body: Any) -> Any:
        def turn(state: Any) -> Any:
            number, total = state
            return ops.add(number, np.int64(1)), ops.add(total, body(number))

        return ops.while_loop(lambda state: ops.lt(state[0], limit), turn, (np.int64(0), np.int64(0)))[1]

    two = xjit.jit(lambda n: counted(n, lambda i: counted(i, lambda j: j)))
    three = xjit.jit(lambda n: counted(n, lambda i: counted(i, lambda j: counted(j, lambda k: k))))
    for one, kind, expected in ((two, "kernel", 84), (three, "loop", 126)):
        assert one.explain(np.int64(9)).steps[0].startswith(kind)
        assert one(np.int64(9)) == expected


def test_explanations_name_registers_and_values_in_place() -> None:
    text = explained(CONTROL_PROGRAMS["scaled"])[0]
    assert text.startswith("kernel over") and "while_loop" in text
    assert all(name in text for name in ("WriteOver", "KeepInRegister", "JamTurns"))


def counted_by_value(x: Any, bins: int) -> Any:
    """Two conditions are checked in a turn: that a number is an integer, and that there is such a bin."""
    counts = np.zeros(bins, dtype=np.int64)
    for value in x:
        counts[int(value)] += 1
    return counts


FAILING = {
    "no bin": (IndexError, [3.0, 70.0, np.nan, np.inf]),
    "no number": (ValueError, [3.0, np.nan, 70.0, np.inf]),
    "infinite": (OverflowError, [-1.0, np.inf, np.nan, 70.0]),
}


@pytest.mark.parametrize("name", FAILING)
def test_the_first_turn_that_fails_is_the_last(name: str) -> None:
    kind, values = FAILING[name]
    plain, checked = xjit.jit(counted_by_value), xjit.jit(counted_by_value)
    given = np.array([*range(40), *values, *range(9)], dtype=np.float64)
    for function in (counted_by_value, plain):
        with pytest.raises(kind):
            function(given, 50)
    with uncompiled(), pytest.raises(kind):
        checked(given, 50)
    np.testing.assert_array_equal(plain(np.arange(-5.0, 9.0), 50), counted_by_value(np.arange(-5.0, 9.0), 50))


def test_checks_of_a_turn_share_a_branch_behind_which_it_is_the_last() -> None:
    source = xjit.jit(counted_by_value).source(np.ones(30), 50)
    branch = re.search(r"if bad0 \| bad1:(?:\n +(?:if bad|st\().*)+\n +(o\d+) = b1\(1\)\n", source)
    assert branch is not None
    last = re.search(rf"while (o\d+) & [^$]*? if {branch[1]}:\n +(o\d+) = b1\(0\)\n", source)
    assert last is not None
    assert last[1] == last[2]


def test_branches_share_the_words_of_numbers() -> None:
    """Otherwise LLVM does not see that positions which a condition keeps in an array are those that it has."""

    def walked(mask: Array, steps: Array) -> Any:
        place, count = 0, 0
        while count < 1000:
            count += 1
            if 0 <= place < len(mask) and mask[place]:
                place += steps[place]
            if 0 <= place + 1 < len(mask) and mask[place + 1]:
                place += 1
        return place

    arguments = (np.arange(777) % 3 > 0, np.arange(777) % 5)
    assert xjit.jit(walked)(*arguments) == walked(*arguments)
    (loop,) = [one for one in lowered(ControlProgram(walked, arguments, walked)) if one.resumed]
    assert len([word for word in loop.words if word == 777]) == 1
