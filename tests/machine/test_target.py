"""A target as a value: its name, what it has, and how a program asks it."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers import gaps
from xjit.codegen.scheduling.loop_kinds import UnknownLoopError
from xjit.errors import ArgumentError
from xjit.ir.loops.nodes import LoopKind
from xjit.runtime.calls import entry
from xjit.target import TARGETS, cpu, resolved

LINE = np.arange(6.0)


def test_names_stand_for_targets() -> None:
    for name, make in TARGETS.items():
        assert resolved(name) == make() and make().name == name
    other = replace(cpu(), name="other")
    assert resolved(other) is other


@pytest.mark.parametrize("wrong", ["tpu", None, 3, {}])
def test_what_is_no_target(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="xjit: target: 'cpu' is required"):
        resolved(wrong)


def test_targets_with_equal_numbers_are_equal() -> None:
    assert cpu() == cpu() and hash(cpu()) == hash(cpu())
    assert replace(cpu(), machine=replace(cpu().machine, line_bytes=128)) != cpu()


def test_kinds_of_loops_are_those_of_the_loops() -> None:
    assert set(cpu().loops) <= {kind.value for kind in LoopKind}


def test_kernels_have_only_loops_that_the_target_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")
    xjit.jit(np.exp).source(LINE)
    alone = replace(cpu(), loops=("for",))
    with pytest.raises(UnknownLoopError, match="cpu has no loops of the kind parallel, only for"):
        xjit.jit(np.exp, target=alone).source(LINE)


def test_programs_are_entered_as_the_target_says(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def make_entry(program: Any) -> Any:
        made.append(program)
        return entry.make_entry(program)

    monkeypatch.setitem(sys.modules, "entry_in_tests", types.SimpleNamespace(make_entry=make_entry))
    target = replace(cpu(), entry="entry_in_tests")
    np.testing.assert_array_equal(xjit.jit(lambda x: x + 1.0, strict=True, target=target)(LINE), LINE + 1.0)
    assert made


def test_gaps_are_those_of_the_target() -> None:
    with pytest.raises(xjit.TargetError, match=gaps.REASON):
        xjit.jit(gaps.tripled, strict=True)(LINE)
    other = replace(cpu(), name="other")
    np.testing.assert_array_equal(xjit.jit(gaps.tripled, strict=True, target=other)(LINE), 3 * LINE)
