"""Rewrites of turns that a kernel runs one after the other: tried on all of them, with what was done."""

from __future__ import annotations

import contextlib

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import RefusedError, Rewrite
from xjit.codegen.rewrites.storage.jam_turns import JamTurns
from xjit.codegen.rewrites.values.choose_by_jump import ChooseByJump
from xjit.codegen.rewrites.values.choose_loops import ChooseLoops
from xjit.codegen.rewrites.values.short_circuit import ShortCircuit
from xjit.codegen.rewrites.values.skip_failed import SkipFailed
from xjit.codegen.scheduling.ideas.scattered_stores import before_all_scattered_stores
from xjit.codegen.scheduling.scheduler import scheduled
from xjit.ir.loops.nodes import Kernel, Loop, While
from xjit.ir.loops.walk import statements
from xjit.machine import Machine


def with_jammed_turns(kernel: Kernel, machine: Machine) -> tuple[Kernel, tuple[Rewrite, ...]]:
    """The kernel with two turns in one pass over the array that a turn changes, if it is only one; what was done."""
    done: list[Rewrite] = []
    for turns in [one for one in statements(kernel.body) if isinstance(one, While)]:
        passes = [one for one in turns.body if isinstance(one, Loop)]
        if len(passes) == 1 and len(list(statements(turns.body))) <= machine.written_out_operations:
            with contextlib.suppress(RefusedError):
                kernel = JamTurns(passes[0].variable).apply(kernel)
                done.append(JamTurns(passes[0].variable))
    return kernel, tuple(done)


def with_jumps(kernel: Kernel, choices: bool, checks: bool) -> tuple[Kernel, tuple[Rewrite, ...]]:
    """The kernel with jumps over what ``choices`` and conditions of loops, or those that it ``checks``, are for; what
    was done.
    """
    done: list[Rewrite] = []
    tried: tuple[Rewrite, ...] = (ShortCircuit(), ChooseByJump(), ChooseLoops()) if choices else ()
    for one in (*tried, SkipFailed()) if checks else tried:
        with contextlib.suppress(RefusedError):
            kernel = one.apply(kernel)
            done.append(one)
    return kernel, tuple(done)


def with_scattered_stores(kernel: Kernel, nest: LoopBuilder) -> tuple[Kernel, tuple[Rewrite, ...]]:
    """The kernel with strips of expensive values in front of stores that lie apart; what was done."""
    return scheduled(kernel, (), nest, (before_all_scattered_stores,))
