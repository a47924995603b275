"""Forms that the runtime's LLVM assembly is written with besides LLVM's own syntax: constants and counted loops.

A loop over ``%i`` from 0 up to below ``%count`` is written as

      for %i below %count, ptr %spec = %first then %after
        ...
      end %i

and carries values from one round to the next: here ``%spec``, which is ``%first`` in the first round and then
what the round before computed as ``%after``. They can also be used behind the loop. Rounds may branch out of it, and
the first line may be continued after its commas.

Texts that read records of words share :data:`WORDS_TEXT`, those that obey the limit of the calling thread
:data:`OWN_LIMIT_TEXT`, those that ask whether anybody still waits for what they do :data:`GIVEN_UP_TEXT`.
"""

from __future__ import annotations

import platform
import re
from string import Template

from xjit.dataclass import dataclass, field

_PAUSE_INSTRUCTION = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}
_MACHINE_ALIASES = {"AMD64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}

_FOR = re.compile(r"\s*for %(\w+)(?: from (\S+))? below ([^\s,]+)(.*)")
_CONTINUED = re.compile(r"^ *for %.*,\n(?:.*,\n)*", re.MULTILINE)
_CARRIED = re.compile(r"\s*(\w+) %(\w+) = (\S+) then (\S+)\s*")

WORDS_TEXT = r"""
define internal ptr @place(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  ret ptr %place
}

define internal i64 @word(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  %value = load i64, ptr %place
  ret i64 %value
}

define internal ptr @pointer(ptr %words, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  %value = load ptr, ptr %place
  ret ptr %value
}

define internal void @put(ptr %words, i64 %index, ptr %value) alwaysinline {
  %place = getelementptr i64, ptr %words, i64 %index
  store ptr %value, ptr %place
  ret void
}
"""
"""Words of 64 bits by their number: their address, their value as an integer or as a pointer, storing a pointer."""

SPIN_LOCK_TEXT = r"""
$PAUSE_DECLARATION

@spin_lock = global i32 0, align 64

define internal void @lock() {
entry:
  br label %try
try:
  %swap = cmpxchg ptr @spin_lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %swap, 1
  br i1 %won, label %done, label %wait
wait:
  $PAUSE
  br label %try
done:
  ret void
}

define internal void @unlock() {
  store atomic i32 0, ptr @spin_lock release, align 4
  ret void
}
"""
"""The lock of a module, for a few instructions at a time."""

GIVEN_UP_TEXT = r"""
; Whether what runs is to be given up. %watch is null, or begins with the address of the function to ask.
define internal i1 @given_up(ptr %watch) alwaysinline {
entry:
  %unwatched = icmp eq ptr %watch, null
  br i1 %unwatched, label %no, label %ask
ask:
  %function = load ptr, ptr %watch
  %answer = call i32 %function(ptr %watch)
  %yes = icmp ne i32 %answer, 0
  ret i1 %yes
no:
  ret i1 false
}
"""

OWN_LIMIT_TEXT = r"""
; ---- set from Python
@limit_key = global ptr null    ; Py_tss_t that holds the calling thread's own limit
@tss_get   = global ptr null    ; PyThread_tss_get, null when absent

; The calling thread's own limit on threads, 0 where it has none.
define internal i64 @own_limit() {
entry:
  %get = load ptr, ptr @tss_get
  %absent = icmp eq ptr %get, null
  br i1 %absent, label %done, label %ask
ask:
  %key = load ptr, ptr @limit_key
  %value = call ptr %get(ptr %key)
  %own = ptrtoint ptr %value to i64
  br label %done
done:
  %limit = phi i64 [ 0, %entry ], [ %own, %ask ]
  ret i64 %limit
}
"""
"""Text by which native code reads the limit of :mod:`xjit.runtime.parallel.threads`, which says what to bind."""


def machine() -> str:
    """The processor family under its Linux name (``x86_64``, ``aarch64``, ...)."""
    name = platform.machine()
    return _MACHINE_ALIASES.get(name, name)


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
