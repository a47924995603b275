"""Forms that the runtime's LLVM assembly is written with besides LLVM's own syntax: constants and counted loops.

A loop over ``%i`` from 0 up to below ``%count`` is written as

      for %i below %count, ptr %spec = %first then %after
        ...
      end %i

and carries values from one round to the next: here ``%spec``, which is ``%first`` in the first round and then
what the round before computed as ``%after``. They can also be used behind the loop. Rounds may branch out of it, and
the first line may be continued after its commas.
"""

from __future__ import annotations

import re
from string import Template

from xjit.dataclass import dataclass, field
from xjit.llvm.processor import machine

_PAUSE_INSTRUCTION = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}

_FOR = re.compile(r"\s*for %(\w+)(?: from (\S+))? below ([^\s,]+)(.*)")
_CONTINUED = re.compile(r"^ *for %.*,\n(?:.*,\n)*", re.MULTILINE)
_CARRIED = re.compile(r"\s*(\w+) %(\w+) = (\S+) then (\S+)\s*")


def expand(text: str, **constants: int | str) -> str:
    """LLVM assembly of a text: loops written out, the ``$NAME`` constants filled in.

    ``$PAUSE`` is the processor's pause instruction, ``$PAUSE_DECLARATION`` goes before it.
    """
    declaration, call = _PAUSE_INSTRUCTION.get(machine(), ("", "fence seq_cst"))
    return Template(with_loops(text)).substitute(constants, PAUSE_DECLARATION=declaration, PAUSE=call)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop whose end has not come yet; ``head`` is the place of its first line in the output."""

    variable: str
    start: str
    stop: str
    carried: tuple[tuple[str, str, str, str], ...]
    before: str
    head: int

    def lines(self, last: str) -> list[str]:
        """The lines that open the loop; ``last`` is the label of the block that ends a round."""
        name = self.variable
        rounds = (("i64", name, self.start, f"%{name}.next"), *self.carried)
        return [
            f"  br label %{name}.more",
            f"{name}.more:",
            *(f"  %{own} = phi {kind} [ {a}, %{self.before} ], [ {b}, %{last} ]" for kind, own, a, b in rounds),
            f"  %{name}.left = icmp slt i64 %{name}, {self.stop}",
            f"  br i1 %{name}.left, label %{name}.body, label %{name}.end",
            f"{name}.body:",
        ]


def with_loops(text: str) -> str:
    """The text with its counted loops written out in LLVM's blocks.

    Raises ``ValueError`` for a loop before the first label of its function, or an end that ends no loop.
    """
    writer = _Writer()
    for line in _CONTINUED.sub(lambda match: " ".join(match[0].split()) + " ", text).splitlines():
        match line.split(maxsplit=1):
            case ["for", _]:
                writer.begin(line.split(";")[0])
            case ["end", _]:
                writer.end(line)
            case words:
                writer.plain(line, words[0] if words else "")
    if writer.loops:
        raise ValueError(f"a loop without an end: %{writer.loops[-1].variable}")
    return "\n".join(writer.lines)


@dataclass(slots=True)
class _Writer:
    """Lines written so far, the loops that are open in them, and the label of the block that they are in."""

    lines: list[str] = field(default_factory=list)
    loops: list[_Loop] = field(default_factory=list)
    block: str = ""

    def plain(self, line: str, word: str) -> None:
        """A line of LLVM's own, which may begin a function or a block."""
        self.lines.append(line)
        if word == "define":
            self.block = ""
        elif word.endswith(":") and not line.startswith(" "):
            self.block = word[:-1]

    def begin(self, line: str) -> None:
        """The first line of a loop."""
        found = _FOR.fullmatch(line)
        if found is None or not self.block:
            raise ValueError(f"a loop is written 'for %i below %count', behind a label; got {line.strip()}")
        variable, start, stop, rest = found.groups()
        self.loops.append(_Loop(variable, start or "0", stop, _carried(rest), self.block, len(self.lines)))
        self.block = f"{variable}.body"

    def end(self, line: str) -> None:
        """The last line of a loop: its first ones are written now that its last block is known."""
        name = line.split()[1].lstrip("%")
        if not self.loops or self.loops[-1].variable != name:
            raise ValueError(f"no loop to end: {line.strip()}")
        loop = self.loops.pop()
        self.lines[loop.head : loop.head] = loop.lines(self.block)
        self.lines += [f"  %{name}.next = add i64 %{name}, 1", f"  br label %{name}.more", f"{name}.end:"]
        self.block = f"{name}.end"


def _carried(text: str) -> tuple[tuple[str, str, str, str], ...]:
    """Return what a loop carries: type, name, first value, next value of each."""
    parts = [_CARRIED.fullmatch(part) for part in text.split(",") if part.strip()]
    if not all(parts):
        raise ValueError(f"a loop carries 'type %name = first then next'; got {text.strip()}")
    return tuple((one[1], one[2], one[3], one[4]) for one in parts if one is not None)
