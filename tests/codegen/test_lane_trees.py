"""The last step of sums in lanes: written out, or refused."""

from __future__ import annotations

import pytest

from xjit.codegen.cpu.lane_trees import UnorderedSumError, has_lanes, in_fixed_order

STEP = "  %s = fadd reassoc <64 x float> %a, %b\n"
SUM = "  %r = tail call reassoc float @llvm.vector.reduce.fadd.v64f32(float -0.0, <64 x float> %s)"


def function(*lines: str) -> str:
    return "\ndefine float @kernel() {\n" + "".join(lines) + "\n  ret float %r\n}\n"


def test_halves_are_added() -> None:
    found = in_fixed_order(function(STEP, SUM))
    assert not has_lanes(found) and "call" not in found
    assert [found.count(f"fadd <{lanes} x float>") for lanes in (32, 16, 8, 4, 2, 1)] == [1] * 6
    assert "%r = fadd float -0.0, " in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (STEP.replace("64", "16") + SUM, "16 at a time"),
        (STEP.replace("float", "double") + SUM, "64 at a time"),  # of float64 there are 32 lanes
        ("  %s = fadd reassoc float %a, %b\n", "one after the other"),
        (STEP + SUM + ", !dbg !7", "in the order of the processor's back end"),
    ],
)
def test_other_sums_are_refused(text: str, message: str) -> None:
    with pytest.raises(UnorderedSumError, match=message):
        in_fixed_order(function(text))


def test_sums_in_order_are_left_alone() -> None:
    """Some vectorisers add up what has to stay in order by an instruction that keeps it."""
    ordered = "  %r = call float @llvm.vector.reduce.fadd.v4f32(float %t, <4 x float> %v)"
    assert ordered in in_fixed_order(function(STEP, ordered))
