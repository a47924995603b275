"""Cycles of a loop's turn, from a table of what its instructions keep busy.

A processor runs a long loop of independent turns as fast as the part of it that has most to do.  The parts are the
ports of vector arithmetic and the divider.  Loads, stores and scalar instructions hide behind them, and moves between
registers are done by renaming.  Facts about processors: published measurements of instructions (uops.info, tables of
Agner Fog), compared with the scheduling models of LLVM.

* Intel's server processors: ports 0 and 5, both with multipliers.  Comparisons into masks and permutations run on
  port 5, shifts and operations on masks on port 0.
* Zen 4: four pipes of 256 bits, two of them with multipliers, two with adders, which take 512 bits in two turns.

All is for vectors of 512 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tools.costs.assembly import HotLoop

KINDS_OF_INSTRUCTIONS = (
    ("divide f32", r"vdivps"),
    ("divide f64", r"vdivpd"),
    ("root f32", r"vsqrtps"),
    ("root f64", r"vsqrtpd"),
    ("multiply", r"vfn?m(add|sub)(add)?\d*p[sd]|vmulp[sd]"),
    ("add", r"v(add|sub|min|max)p[sd]"),
    ("compare", r"vp?cmp\w+|vptestn?m\w+|vfpclass\w+"),
    ("take apart", r"vget(exp|mant)p[sd]"),
    ("scale", r"vscalefp[sd]"),
    ("round", r"vrndscalep[sd]|vroundp[sd]|vrangep[sd]|vreducep[sd]"),
    ("convert", r"vcvt\w+"),
    ("long multiply", r"vpmul\w+"),
    ("permute", r"vperm\w+|vpshuf\w+|vinsert\w+|vextract\w+|vpunpck\w+|vunpck\w+|vshuf\w+|valign\w+|vpmov[^\W]+"),
    ("broadcast", r"vp?broadcast\w+"),
    ("shift", r"vps(ll|rl|ra)\w+"),
    ("choose", r"vp?blend\w+"),
    ("integer", r"vp(add|sub|min|max|and|or|xor|abs|ternlog|lzcnt)\w*|v(and|or|xor)n?p[sd]|vandnp[sd]|vpandn\w*"),
    ("gather", r"vp?gather\w+"),
    ("mask", r"k\w+"),
)
"""Kinds of vector instructions, by what their names match."""

FREE = re.compile(r"v?mov\w+|vmovdq\w+|vzero\w+")
MASKED_MOVE = re.compile(r"\tvmov\w+\t.*\{%k")

Costs = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Processor:
    """Cycles for which each kind of instruction keeps the parts of a processor busy."""

    cpu: str
    costs: Costs


_INTEL: Costs = {
    "divide f32": {"ports": 1.5, "divider": 10.0},
    "divide f64": {"ports": 1.5, "divider": 16.0},
    "root f32": {"ports": 1.5, "divider": 12.0},
    "root f64": {"ports": 1.5, "divider": 18.0},
    **{key: {"ports": 0.5} for key in ("multiply", "add", "integer", "choose")},
    **{key: {"ports": 1.0} for key in ("take apart", "scale", "round")},
    "convert": {"ports": 0.75},
    "long multiply": {"ports": 1.5},
    **{key: {"ports": 0.5, "port 5": 1.0} for key in ("compare", "permute", "broadcast")},
    **{key: {"ports": 0.5, "port 0": 1.0} for key in ("shift", "mask")},
    "gather": {"ports": 2.0, "loads": 16.0},
}
_ZEN_4: Costs = {
    "divide f32": {"pipes": 0.5, "divider": 6.0},
    "divide f64": {"pipes": 0.5, "divider": 10.0},
    "root f32": {"pipes": 0.5, "divider": 10.0},
    "root f64": {"pipes": 0.5, "divider": 18.0},
    **{key: {"pipes": 0.5, "multipliers": 1.0} for key in ("multiply", "scale", "long multiply")},
    **{key: {"pipes": 0.5, "adders": 1.0} for key in ("add", "round", "convert")},
    **{key: {"pipes": 0.5, "comparers": 1.0} for key in ("compare", "take apart")},
    **{key: {"pipes": 0.5, "shufflers": 1.0} for key in ("shift", "permute", "broadcast")},
    **{key: {"pipes": 0.5} for key in ("integer", "choose", "mask")},
    "gather": {"pipes": 20.0},
}

PROCESSORS = {
    "Intel server": Processor("icelake-server", _INTEL),
    "Zen 4": Processor("znver4", _ZEN_4),
}


def kind_of(instruction: str) -> str | None:
    """The kind of an instruction; None for those that hide behind others, LookupError for what nobody has counted.

    >>> kind_of("\\tvfmadd213ps\\t%zmm1, %zmm2, %zmm3")
    'multiply'
    """
    name = instruction.split()[0]
    if MASKED_MOVE.match(instruction):
        return "choose"
    if ("mm" not in instruction and not name.startswith("k")) or FREE.fullmatch(name):
        return None
    for kind, pattern in KINDS_OF_INSTRUCTIONS:
        if re.fullmatch(pattern, name):
            return kind
    raise LookupError(f"no kind of instructions has {name}")


def counts(instructions: Iterable[str]) -> dict[str, int]:
    """Count the instructions of every kind."""
    found: dict[str, int] = {}
    for instruction in instructions:
        kind = kind_of(instruction)
        if kind is not None:
            found[kind] = found.get(kind, 0) + 1
    return found


def cycles(loop: HotLoop, costs: Costs) -> float:
    """Cycles per element of a loop."""
    busy: dict[str, float] = {}
    for kind, count in counts(loop.instructions).items():
        for part, time in costs[kind].items():
            busy[part] = busy.get(part, 0.0) + count * time
    return max(busy.values(), default=0.0) / loop.elements
