"""Make one pass over an array of two turns of a while loop."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed, read
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.fuse import Fuse
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import (
    Block,
    If,
    Invoke,
    Kernel,
    Let,
    LetInt,
    Load,
    Loop,
    Statement,
    TransposeBlock,
    While,
)
from xjit.ir.loops.walk import integers, loads, names, parts, renamed, statements


@dataclass(frozen=True, slots=True)
class JamTurns:
    """Take every element through two turns of a while loop at once, where only scalars decide on the next turn.

    before      carry s: s64 = 0
                while (s < s64(n)):
                  v = a[s]
                  s = (s + 1)
                  for i in 0 .. m:
                    x[i] = (x[i] * v)
    after       carry s: s64 = 0                        JamTurns("i")
                while (s < s64(n)):
                  v = a[s]
                  s = (s + 1)
                  if (s < s64(n)):
                    v_turn = a[s]
                    s = (s + 1)
                    for i in 0 .. m:
                      x[i] = (x[i] * v)
                      x[i] = (x[i] * v_turn)
                  else:
                    for i_last in 0 .. m:
                      x[i_last] = (x[i_last] * v)

    Elements are loaded and stored half as often. What both turns know alike, as where the loop ends, is said once.
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the rest of a turn has to do with what the loop changes."""
        path, loop = found(kernel, self.loop)
        around = path[-2] if len(path) > 1 else None
        if not isinstance(around, While):
            raise RefusedError(f"the loop over {self.loop} is in no while loop")
        rest = tuple(one for one in around.body if one is not loop)
        self._see_that_it_is_apart(loop, rest, around)
        fresh = Names(kernel)
        anew = _without_lasting(rest, around)
        again = fresh.copies((*anew, loop), "turn")
        last = fresh.copies((loop,), "last")
        second, last_loop = renamed((*anew, loop), again), renamed((loop,), last)
        branch = If(around.condition, (*second[:-1], loop, second[-1]), last_loop)
        both = with_statements(kernel, around, (replace(around, body=(*rest, branch)),))
        return Fuse(self.loop, again[self.loop]).apply(both)

    def _see_that_it_is_apart(self, loop: Loop, rest: Block, around: While) -> None:
        for name in sorted(read((loop,)) & changed(rest)):
            raise RefusedError(f"a turn changes {name}, which the loop over {self.loop} reads")
        for name in sorted(changed((loop,))):
            raise RefusedError(f"the loop over {self.loop} changes {name}")
        asked = {part.buffer for part in parts(around.condition) if isinstance(part, Load)}
        for name in sorted(written((loop,)) & (_touched(rest) | asked) | _touched((loop,)) & written(rest)):
            raise RefusedError(f"the loop over {self.loop} and the rest of a turn both touch {name}")


def _without_lasting(rest: Block, around: While) -> Block:
    """The rest of a turn without the values that the next turn has, too."""
    varies, stored = changed(around.body) | names(around.body), written(around.body)
    for one in rest:
        if isinstance(one, Let | LetInt) and _read_by(one).isdisjoint(varies) and _touched((one,)).isdisjoint(stored):
            varies.remove(one.name)
    return tuple(one for one in rest if not isinstance(one, Let | LetInt) or one.name in varies)


def _read_by(one: Statement) -> set[str]:
    return read((one,)) | {name for at in integers(one) for name in at.names()}


def _touched(block: Block) -> set[str]:
    """The buffers that a block may read or write."""
    several: set[str] = set()
    for one in statements(block):
        if isinstance(one, TransposeBlock):
            several.add(one.source)
        elif isinstance(one, Invoke):
            several.update(one.buffers)
    return {load.buffer for load in loads(block)} | written(block) | several
