"""The last step of sums that are added lane by lane, written out, so that no processor's back end chooses its order.

LLVM's vectoriser leaves one instruction that adds up all lanes in an order of the back end's choice::

    %s = call reassoc float @llvm.vector.reduce.fadd.v8f32(float %start, <8 x float> %v)

It becomes a tree of halves, and what is added to others keeps no word that lets rounding differ::

    %s.h4 = shufflevector <8 x float> %v, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
    %s.l4 = shufflevector <8 x float> %v, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
    %s.t4 = fadd <4 x float> %s.l4, %s.h4
    ...
    %s.t1 = extractelement <1 x float> ..., i32 0
    %s = fadd float %start, %s.t1

A loop that the vectoriser left as it was, or took with another number of lanes, would give another sum on another
processor: that is an error.
"""

from __future__ import annotations

import re

from xjit import numerics
from xjit.types import FLOAT32, FLOAT64

_RELAXED = "reassoc "
_REDUCTION = re.compile(
    r"^  (?P<name>%[\w.\"-]+) = (?:tail )?call reassoc (?P<type>float|double)"
    r" @llvm\.vector\.reduce\.(?P<combine>fadd|fmul)\.v(?P<lanes>\d+)f\d+\("
    r"(?:float|double) (?P<start>[^,]+), <\d+ x (?:float|double)> (?P<vector>[^)]+)\)$",
    re.MULTILINE,
)
# Without the word a sum of lanes is in order: so the vectoriser writes sums one after the other for some processors.
_LEFT = re.compile(r"call [^@\n]*\breassoc [^@\n]*@llvm\.vector\.reduce\.")
_STEP = re.compile(
    r"^  (?P<name>%[\w.\"-]+) = f(?:add|mul) reassoc (?:<(?P<lanes>\d+) x )?(?P<type>float|double)>?"
    r" (?P<left>[^,]+), (?P<right>[^,\n]+)",
    re.MULTILINE,
)
_PHI = re.compile(r"^  (?P<name>%[\w.\"-]+) = phi (?:float|double) (?P<sources>.+)$", re.MULTILINE)
_LANES = {"float": numerics.lanes(FLOAT32), "double": numerics.lanes(FLOAT64)}
_SOURCE = re.compile(r"\[ ([^,]+), %")


class UnorderedSumError(RuntimeError):
    """LLVM has not added the elements of a loop in the lanes that it was told to."""


def has_lanes(text: str) -> bool:
    """Return whether IR text adds something lane by lane."""
    return _RELAXED in text


def in_fixed_order(text: str) -> str:
    """Optimised IR text in which nothing is left to choose about the order of sums and products.

    UnorderedSumError when the vectoriser has not done what it was told.
    """
    for function in text.split("\ndefine ")[1:]:
        _check(function)
    found = _REDUCTION.sub(_tree, text)
    if _LEFT.search(found):
        raise UnorderedSumError("additions in the order of the processor's back end")
    return found.replace(_RELAXED, "")


def _check(function: str) -> None:
    """Refuses a function with a loop that adds otherwise than in lanes.

    Beside a loop in lanes the vectoriser keeps the loop as it was, for less than one group of elements, which there
    never is: it starts anew, and its result goes where that of the lanes goes.
    """
    phis = {one["name"]: _SOURCE.findall(one["sources"]) for one in _PHI.finditer(function)}
    trees = {one["name"] for one in _REDUCTION.finditer(function)}
    for step in _STEP.finditer(function):
        if step["lanes"]:
            if int(step["lanes"]) not in (_LANES[step["type"]], numerics.FEW_LANES):
                raise UnorderedSumError(f"additions {step['lanes']} at a time")
            continue
        name = step["name"]
        starts = [one for side in ("left", "right") for one in phis.get(step[side].strip(), ()) if one != name]
        beside = any(name in sources and not trees.isdisjoint(sources) for sources in phis.values())
        if not beside or any(one.startswith("%") for one in starts):
            raise UnorderedSumError("additions one after the other")


def _tree(found: re.Match[str]) -> str:
    name, type, combine, vector = found["name"], found["type"], found["combine"], found["vector"]
    stem = name.replace('"', "")
    stem = f"%lanes.{stem[1:]}"
    lines = []
    width = int(found["lanes"])
    while width > 1:
        half = width // 2
        parts = []
        for letter, first in (("l", 0), ("h", half)):
            parts.append(f"{stem}.{letter}{half}")
            mask = ", ".join(f"i32 {first + place}" for place in range(half))
            whole = f"<{width} x {type}>"
            lines.append(f"{parts[-1]} = shufflevector {whole} {vector}, {whole} poison, <{half} x i32> <{mask}>")
        lines.append(f"{stem}.t{half} = {combine} <{half} x {type}> {parts[0]}, {parts[1]}")
        vector, width = f"{stem}.t{half}", half
    lines.append(f"{stem}.s = extractelement <1 x {type}> {vector}, i32 0")
    lines.append(f"{name} = {combine} {type} {found['start']}, {stem}.s")
    return "\n".join(f"  {line}" for line in lines)
