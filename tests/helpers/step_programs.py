"""Programs written by hand: kernels of one expression, loops and branches around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.dataclass import dataclass, field
from xjit.ops.define.named import operation
from xjit.programs.kernels import KernelStore
from xjit.programs.uncompiled_entry import KernelSources, make_uncompiled_entry
from xjit.runtime.calls.entry import make_entry
from xjit.runtime.calls.entry_python import PythonEntry
from xjit.runtime.calls.records import ArraySpec
from xjit.runtime.check_spec import check
from xjit.runtime.spec import (
    Block,
    BranchStep,
    Constant,
    ConstantStep,
    Failure,
    KernelSpec,
    KernelText,
    LoopStep,
    Pointer,
    ProgramSpec,
    RunStep,
    Step,
)
from xjit.runtime.steps import program
from xjit.runtime.steps.program import Loading
from xjit.runtime.tally import KernelTally

NAMES = {"float64": "f64", "int64": "i64", "int32": "i32", "bool": "b1"}


def spec_of(value: Any) -> ArraySpec:
    """The layout of an array like this one."""
    array = np.asarray(value)
    return ArraySpec(array.dtype, array.shape, array.strides)


@dataclass(eq=False)
class Steps:
    """Steps in order; ``layouts`` are those of the slots so far, which blocks inside share."""

    layouts: list[ArraySpec] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def slot(self, layout: ArraySpec) -> int:
        """A new slot."""
        self.layouts.append(layout)
        return len(self.layouts) - 1

    def inner(self) -> Steps:
        """Steps of a block inside."""
        return Steps(self.layouts)

    @property
    def block(self) -> Block:
        return Block(tuple(self.steps))

    def constant(self, value: Any) -> int:
        array = np.asarray(value)
        slot = self.slot(spec_of(array))
        self.steps.append(ConstantStep(Constant(array.dtype, array.shape, array.tobytes()), (), (slot,)))
        return slot

    def run(
        self,
        expression: str,
        *sources: int,
        dtype: Any = None,
        into: int | None = None,
        failure: Failure | None = None,
        **options: Any,
    ) -> int:
        """A kernel over all elements: the operands ``a``, ``b``, ..., and numbers among them, make each from its
        expression, in which ``z`` is the element of the first one that lies as far from its end. ``into`` is an
        operand that it writes over. With a failure it sets the status instead where the expression holds, and passes
        its first operand on.
        """
        model = next((self.layouts[slot] for slot in sources if self.layouts[slot].shape), self.layouts[sources[0]])
        layout = spec_of(np.empty(model.shape, dtype or model.dtype))
        result = self.slot(layout) if into is None else into
        names = "abcdefg"[: len(sources)]
        size = int(np.prod(layout.shape))
        layouts = [self.layouts[slot] for slot in sources]
        named = list(zip(names, layouts, strict=True))
        read = [f"    p{n} = ptr_{NAMES[one.dtype.name]}(table, {at})" for at, (n, one) in enumerate(named)]
        loads = [f"        {name} = ld(p{name}, {_index(one)})" for name, one in named]
        if "z" in expression:
            loads.append(f"        z = ld(pa, {size - 1} - i)")
        made = f"        st(o, i, {expression})"
        if failure is not None:
            read.append(f"    status = ptr_i64(table, {len(sources) + 1})")
            made = f"        st(o, i, a)\n        if {expression}:\n            st(status, 0, i64(1))"
        lines = [
            "def kernel(lo, hi, table):",
            *read,
            f"    o = ptr_{NAMES[layout.dtype.name]}(table, {len(sources)})",
            "    for i in range(lo, hi):",
            *loads,
            made,
        ]
        end = len(sources) + (into is None)
        numbers = [*range(len(sources)), len(sources) if into is None else sources.index(into)]
        numbers += [end] if failure is not None else []
        pointers = tuple(Pointer("buffer", number, 0) for number in numbers)
        chunk = options.pop("chunk", size)
        kernel = KernelSpec(KernelText("\n".join(lines) + "\n"), pointers, (), size, max(chunk, 1))
        results = () if into is not None else (result,)
        outputs = () if into is not None else (layout,)
        failures = () if failure is None else (failure,)
        self.steps.append(RunStep(sources, results, tuple(layouts), outputs, (kernel,), failures=failures, **options))
        return result

    def loop(self, starts: Sequence[int], condition: Any, body: Any) -> tuple[int, ...]:
        """``condition`` and ``body`` are functions of steps and the carried slots."""
        carried = tuple(self.slot(self.layouts[slot]) for slot in starts)
        tests, turns = self.inner(), self.inner()
        test = condition(tests, *carried)
        following = tuple(body(turns, *carried))
        self.steps.append(LoopStep(tuple(starts), carried, tests.block, test, turns.block, following))
        return carried

    def branch(self, asked: int, *blocks: Any) -> tuple[int, ...]:
        """Each of the blocks is a function of steps that returns slots."""
        inner = [self.inner() for _ in blocks]
        values = tuple(tuple(block(steps)) for block, steps in zip(blocks, inner, strict=True))
        results = tuple(self.slot(self.layouts[slot]) for slot in values[0])
        self.steps.append(BranchStep((asked,), results, tuple(steps.block for steps in inner), values))
        return results

    def count(self, turns: int | None, starts: Sequence[int], body: Any, limit: int | None = None) -> tuple[int, ...]:
        """A loop with a counter, which comes first among what the body gets and is no result of it."""
        end = self.constant(np.int64(turns)) if limit is None else limit
        zero = self.constant(np.int64(0))

        def following(steps: Steps, number: int, *carried: int) -> tuple[int, ...]:
            values = tuple(body(steps, number, *carried))
            return (steps.run("a + 1", number), *values)

        _, *results = self.loop(
            (zero, *starts), lambda steps, number, *_: steps.run("a < b", number, end, dtype=bool), following
        )
        return tuple(results)


def _index(layout: ArraySpec) -> str:
    """The place of an element; arrays of one axis may have any step."""
    if len(layout.shape) == 1:
        return f"i * {layout.strides[0] // layout.dtype.itemsize}"
    return "i" if layout.shape else "0"


def loading(maker: str = "native", pieces: Any = None) -> Loading:
    """The surroundings of a program whose entries are native, in Python, or run the texts of kernels in Python."""
    if maker == "uncompiled":
        sources = KernelSources()
        return Loading(sources.load, make_uncompiled_entry(sources), lambda: None, operation, pieces or {})
    store, tally = KernelStore(), KernelTally()
    makers = {"native": make_entry, "python": PythonEntry}
    return Loading(lambda text: store.load(text, tally), makers[maker], lambda: None, operation, pieces or {})


def begin(*values: Any) -> Steps:
    """Steps of a program with such arguments, in the first slots."""
    return Steps([spec_of(value) for value in values])


def made(steps: Steps, inputs: int, outputs: Sequence[int]) -> ProgramSpec:
    """The program of some steps, which follows the rules."""
    spec = ProgramSpec(tuple(steps.layouts[:inputs]), steps.block, tuple(outputs))
    check(spec)
    return spec


def run(spec: ProgramSpec, *values: Any, maker: str = "native") -> Any:
    """The results of a program."""
    return program.load(spec, loading(maker)).direct(*values)
