"""Random kernels of affine loops, and random rewrites of them, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xjit.codegen.rewrites.collapse import Collapse
from xjit.codegen.rewrites.distribute import Distribute
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.horizontal_fuse import HorizontalFuse
from xjit.codegen.rewrites.parallelize import Parallelize
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.reorder import Reorder
from xjit.codegen.rewrites.rfactor import Rfactor
from xjit.codegen.rewrites.skew import Skew
from xjit.codegen.rewrites.split import Split
from xjit.codegen.rewrites.storage.compute_at import ComputeAt
from xjit.codegen.rewrites.storage.fold_storage import FoldStorage
from xjit.codegen.rewrites.storage.localize import Localize
from xjit.codegen.rewrites.storage.privatize import Privatize
from xjit.codegen.rewrites.storage.privatize_reduction import PrivatizeReduction
from xjit.codegen.rewrites.storage.stage import Stage
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.codegen.rewrites.values.early_exit import EarlyExit
from xjit.codegen.rewrites.values.hoist import Hoist
from xjit.codegen.rewrites.values.share import Share
from xjit.codegen.rewrites.vectorize import Vectorize
from xjit.ir.loops.intexpr import IntExpr, constant, variable, word
from xjit.ir.loops.nodes import (
    Access,
    Accumulate,
    Alloc,
    Argument,
    Block,
    Buffer,
    Carry,
    Const,
    Fold,
    Kernel,
    Let,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import buffers, statements
from xjit.ir.scalar_expr import Literal
from xjit.types import INT64

# Indices stay inside for loops up to the words.
MARGIN = 3
N, M = word("n"), word("m")


def number(value: int) -> Const:
    return Const(Literal.of(value, INT64))


@dataclass
class Programs:
    """Random kernels on integers, whose sums have no rounding that could hide a mistake or show one that is none."""

    rng: np.random.Generator
    count: int = 0
    lines: list[Buffer] = field(default_factory=list)
    planes: list[Buffer] = field(default_factory=list)

    def choice(self, *several: Any) -> Any:
        return several[self.rng.integers(len(several))]

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def kernel(self) -> Kernel:
        """A kernel with a few nests, scratch between them, or one of stages that each read the last one."""
        margin = 2 * MARGIN
        self.lines = [Buffer.packed(name, INT64, N + M + margin) for name in ("a", "b")]
        self.planes = [Buffer.packed(name, INT64, N + margin, M + margin) for name in ("p", "q")]
        given = tuple(Argument(one, Access.UPDATE) for one in (*self.lines, *self.planes))
        if self.rng.random() < 0.4:
            return Kernel("stages", given, tuple(self.choice(self.line_stages, self.plane_stages, self.row_stages)()))
        body: list[Statement] = [Carry("s", number(int(self.rng.integers(0, 3))))]
        if self.rng.random() < 0.6:
            body += self.scratch()
        body += [self.nest((), ()) for _ in range(self.rng.integers(1, 4))]
        return Kernel("random", given, (*body, Store("a", (constant(0),), Var("s", INT64))))

    def near(self, *index: IntExpr) -> tuple[IntExpr, ...]:
        """An index with small offsets."""
        return tuple(at + int(self.rng.integers(-1, 2)) for at in index)

    def line_stages(self) -> list[Statement]:
        """Lines, each of neighbours in the last one."""
        body: list[Statement] = [Carry("s", number(1))] if self.rng.random() < 0.3 else []
        last = self.lines[0]
        margin = 0
        for number_, name in enumerate(("t", "u", "b")):
            at, further = variable(self.fresh("i")), int(number_ > 0 and self.rng.random() < 0.7)
            margin += further
            here = Load(last.name, (at,), INT64)
            value: Value = here
            if further:
                parts = (Load(last.name, self.near(at), INT64) for _ in range(2))
                value = Prim("sub", tuple(parts), INT64)
            target = self.lines[1] if name == "b" else Buffer.packed(name, INT64, N + 4)
            body += [] if name == "b" else [Alloc(target)]
            step: Block = (Store(target.name, (at,), value),)
            if body and isinstance(body[0], Carry) and name == "t":
                step = Accumulate("s", "add", value), Store(target.name, (at,), Var("s", INT64))
            body.append(Loop(str(at), constant(margin), N + 4 - margin, step))
            last = target
        return body

    def plane_stages(self) -> list[Statement]:
        """Planes, the second of neighbours in the first."""
        i, j, k, at = (variable(self.fresh(letter)) for letter in "ijij")
        scratch = Buffer.packed("u", INT64, N + 4, M + 4)
        row = Loop(str(j), constant(0), M + 4, (Store("u", (i, j), Load("p", (i, j), INT64)),))
        parts = tuple(Load("u", self.near(k, at), INT64) for _ in range(2))
        reader = Loop(str(at), constant(1), M + 3, (Store("q", (k, at), Prim("sub", parts, INT64)),))
        return [Alloc(scratch), Loop(str(i), constant(0), N + 4, (row,)), Loop(str(k), constant(1), N + 3, (reader,))]

    def row_stages(self) -> list[Statement]:
        """Rows that are made of themselves by way of scratch and their sum."""
        i, j, k = (variable(self.fresh(letter)) for letter in "ijk")
        fill = Store("t", (j,), Prim("mul", (Load("p", (i, j), INT64), Load("a", (i,), INT64)), INT64))
        whole = Accumulate("c", "add", Load("t", (j,), INT64))
        share = Store("q", (i, k), Prim("sub", (Load("t", (k,), INT64), Var("c", INT64)), INT64))
        row = Alloc(Buffer.packed("t", INT64, M)), Carry("c", number(0))
        loops = Loop(str(j), constant(0), M, (fill, whole)), Loop(str(k), constant(0), M, (share,))
        return [Loop(str(i), constant(0), N, (*row, *loops))]

    def scratch(self) -> list[Statement]:
        """Scratch that is filled whole, and what may read it then."""
        if self.rng.random() < 0.5:
            scratch, at = Buffer.packed("t", INT64, N + M + 2 * MARGIN), variable(self.fresh("i"))
            fill = Loop(str(at), constant(0), scratch.extents[0], (Store("t", (at,), Load("a", (at,), INT64)),))
            self.lines.append(scratch)
            return [Alloc(scratch), fill]
        scratch = Buffer.packed("u", INT64, N + 2 * MARGIN, M + 2 * MARGIN)
        i, j = variable(self.fresh("i")), variable(self.fresh("j"))
        inner = Loop(str(j), constant(0), scratch.extents[1], (Store("u", (i, j), Load("p", (i, j), INT64)),))
        self.planes.append(scratch)
        return [Alloc(scratch), Loop(str(i), constant(0), scratch.extents[0], (inner,))]

    def nest(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...]) -> Statement:
        """A loop over rows or columns, in which the number of loops around is limited."""
        of_rows = not rows if len(rows) + len(columns) < 2 else self.choice(True, False)
        name = self.fresh("i" if of_rows else "j")
        stop, start = (N if of_rows else M), constant(int(self.rng.random() < 0.3))
        around = (rows if of_rows else columns)[-1:]
        if around and self.rng.random() < 0.3:
            start, stop = self.choice((around[0], stop), (start, around[0] + 1))
        at = variable(name)
        inside = ((*rows, at), columns) if of_rows else (rows, (*columns, at))
        return Loop(name, start, stop, self.body(*inside))

    def body(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...]) -> Block:
        found: list[Statement] = []
        scalars: list[Value] = []
        for _ in range(self.rng.integers(1, 4)):
            kind = self.rng.random()
            if kind < 0.45:
                found.append(self.store(rows, columns, scalars))
            elif kind < 0.6 and len(rows) + len(columns) < 3:
                found.append(self.nest(rows, columns))
            elif kind < 0.75:
                name = self.fresh("v")
                found.append(Let(name, self.value(rows, columns, scalars)))
                scalars.append(Var(name, INT64))
            elif kind < 0.85:
                found.append(Accumulate("s", self.choice("add", "max"), self.value(rows, columns, scalars)))
            elif kind < 0.9:
                found.append(Fold(("s",), (self.value(rows, columns, scalars),)))
            else:
                found += self.total(rows, columns)
        if len(rows) + len(columns) < 2 and self.rng.random() < 0.7:
            return (self.nest(rows, columns),)
        return tuple(found)

    def total(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...]) -> list[Statement]:
        """A sum of its own, and where it goes."""
        name, at = self.fresh("c"), variable(self.fresh("k"))
        add = Accumulate(name, "add", self.load(rows, (*columns, at)))
        loop = Loop(str(at), constant(0), M, (add,))
        return [
            Carry(name, number(int(self.rng.integers(0, 2)))),
            loop,
            self.store(rows, columns, [Var(name, INT64)]),
        ]

    def store(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...], scalars: list[Value]) -> Store:
        buffer, index = self.place(rows, columns)
        return Store(buffer.name, index, self.value(rows, columns, scalars))

    def value(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...], scalars: list[Value]) -> Value:
        kind = self.rng.random()
        if kind < 0.35:
            return self.load(rows, columns)
        if kind < 0.5:
            return self.choice(number(int(self.rng.integers(1, 5))), *scalars)
        if kind < 0.55:
            return Var("s", INT64)
        operands = self.value(rows, columns, scalars), self.value(rows, columns, scalars)
        return Prim(self.choice("add", "sub", "mul"), operands, INT64)

    def load(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...]) -> Load:
        buffer, index = self.place(rows, columns)
        return Load(buffer.name, index, INT64)

    def place(self, rows: tuple[IntExpr, ...], columns: tuple[IntExpr, ...]) -> tuple[Buffer, tuple[IntExpr, ...]]:
        """An element of a random buffer, by variables with small offsets."""

        def near(several: tuple[IntExpr, ...]) -> IntExpr:
            at = self.choice(*several, *several, constant(0)) if several else constant(0)
            return at + MARGIN + int(self.rng.integers(-2, 3)) * int(self.rng.random() < 0.5)

        if self.rng.random() < 0.5:
            whole = near((*rows, *columns))
            if rows and columns and self.rng.random() < 0.2:
                whole = rows[-1] + columns[-1] + MARGIN
            return self.choice(*self.lines), (whole,)
        return self.choice(*self.planes), (near(rows), near(columns))


def random_rewrite(kernel: Kernel, rng: np.random.Generator, step: int) -> Rewrite:
    """Any rewrite with names of the kernel, whether it may be applied or not."""

    def pick(several: list[str]) -> str:
        return several[rng.integers(len(several))]

    loops = [one.variable for one in statements(kernel.body) if isinstance(one, Loop)]
    scratch = [one.buffer.name for one in statements(kernel.body) if isinstance(one, Alloc)] or ["t"]
    other, block = pick(loops), f"z{step}"
    one = pick(loops)
    inside = _inside(kernel, one)
    inner = inside or other
    behind = _behind(kernel, one) or other
    any_buffer = pick(list(buffers(kernel)))
    length, few = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    choices: list[Callable[[], Rewrite]] = [
        lambda: Split(one, length, block),
        lambda: Parallelize(one),
        lambda: Vectorize(one),
        lambda: Reorder((inner, one)),
        lambda: Collapse(one, inner, block),
        lambda: Tile((one, inner), (length, 3), (block, f"y{step}")),
        lambda: Fuse(one, behind),
        lambda: Skew(one, behind, few - 1),
        lambda: Distribute(one, few, block),
        lambda: UnrollAndJam(one, length),
        lambda: UnrollAndJam(one, 2, Tail.OVERLAP),
        lambda: Unroll(one),
        lambda: Hoist(one),
        lambda: Share(one, f"w{step}_"),
        lambda: HorizontalFuse((one, behind), block, length),
        lambda: Privatize(any_buffer, one, block),
        lambda: ComputeAt((pick(scratch),), one),
        lambda: Localize(pick(scratch), one),
        lambda: PrivatizeReduction(pick(["s", "s", any_buffer]), one, block),
        lambda: EarlyExit(one),
        lambda: FoldStorage(pick(scratch), length, int(rng.integers(0, 2))),
        lambda: StageInOutput(pick(scratch), any_buffer),
        lambda: StageTransposed(any_buffer, one, block),
        lambda: Stage(any_buffer, one, block),
        lambda: Rfactor(one, 2 ** int(rng.integers(1, 3)), block),
    ]
    return choices[rng.integers(len(choices))]()


def _inside(kernel: Kernel, name: str) -> str:
    """The only thing in a loop, if it is a loop."""
    for one in statements(kernel.body):
        if isinstance(one, Loop) and one.variable == name and one.body and isinstance(one.body[0], Loop):
            return one.body[0].variable
    return ""


def _behind(kernel: Kernel, name: str) -> str:
    """A loop that stands behind another in its block."""
    blocks = [kernel.body, *(one.body for one in statements(kernel.body) if isinstance(one, Loop))]
    for block in blocks:
        loops = [one.variable for one in block if isinstance(one, Loop)]
        if name in loops[:-1]:
            return loops[loops.index(name) + 1]
    return ""
