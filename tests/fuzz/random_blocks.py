"""Random blocks: loops over ranges, rows and pairs, ``while``, branches, early ends."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from tests.fuzz.random_expressions import condition, element, integer, number, view
from tests.fuzz.random_patterns import pattern, vocabulary_of
from tests.fuzz.random_statements import statement
from tests.fuzz.scope import Ended, Scope


def block(s: Scope, size: int, depth: int, loop: bool = False) -> list[str]:
    """Return the lines of some statements, of which the scope knows the outcome."""
    lines: list[str] = []
    for _ in range(size):
        if depth and s.chance(0.35):
            lines += _that_runs(s, lambda: s.one(_branch, _for, _for, _while)(s, depth - 1, loop))
        elif s.chance(vocabulary_of(s).share):
            lines += _that_runs(s, lambda: pattern(s))
        elif loop and s.chance(0.1):
            lines += [f"if {condition(s)}:", f"    {s.one('break', 'continue', 'continue', _returned(s))}"]
        else:
            text = statement(s)
            lines += [text] if text else []
    return lines or ["pass"]


def _returned(s: Scope) -> str:
    return f"return {s.one(s.array(), number(s, 0), view(s, 0), 'None')}"


def _that_runs(s: Scope, make: Callable[[], list[str]]) -> list[str]:
    """Return the lines of a loop, a branch or a pattern that runs here; none if it does not."""
    for _ in range(3):
        try:
            lines = make()
        except Ended:
            raise
        except Exception:
            continue
        if runs(s, lines):
            return lines
    return []


def runs(s: Scope, lines: list[str]) -> bool:
    """Run the lines in the scope, their loops counted, and return whether they can be run."""
    turns = [0]

    def tick() -> None:
        turns[0] += 1
        if turns[0] > s.extents.turns:
            raise OverflowError

    s.names["_tick"], s.names["_Ended"] = tick, Ended
    text = []
    for line in lines:
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        text.append(f"{indent}raise _Ended" if bare.startswith("return") else line)
        if bare.startswith(("for ", "while ")):
            text.append(f"{indent}    _tick()")
    return s.tried("\n".join(text))


def _indented(lines: list[str]) -> list[str]:
    return textwrap.indent("\n".join(lines), "    ").split("\n")


def _branch(s: Scope, depth: int, loop: bool) -> list[str]:
    lines = [f"if {condition(s)}:", *_indented(block(s.inner(), s.one(1, 1, 2), depth, loop))]
    if s.chance(0.2):
        lines += [f"elif {condition(s)}:", *_indented(block(s.inner(), 1, depth, loop))]
    if s.chance(0.5):
        lines += ["else:", *_indented(block(s.inner(), s.one(1, 1, 2), depth, loop))]
    return lines


def _for(s: Scope, depth: int, loop: bool) -> list[str]:
    counter = next(name for name in ("i", "j", "k", "l", "p") if name not in s.names)
    count = s.find(lambda: integer(s), lambda v: 0 <= v < 9, str(s.one(3, 4, 12)))
    rows = s.find(lambda: s.one(view(s, 0), s.array(1)), lambda v: 0 < len(v) < 9, "np.arange(3.0)")
    ranges = (f"range({count})", f"range(1, {count})", f"range({count} - 1, -1, -1)", f"range(0, {count}, 2)")
    form, values = s.one(
        *((f"{counter} in {text}", text) for text in (*ranges, *ranges, f"reversed(range({count}))")),
        (f"row{counter} in {rows}", rows),
        (f"{counter}, row{counter} in enumerate({rows})", f"list(enumerate({rows}))"),
        (f"row{counter}, {counter} in zip({rows}, range({count}))", f"list(zip({rows}, range({count})))"),
    )
    first = next(iter(s.value(values)), None)
    names = form.split(" in ")[0].split(", ")
    found = dict(zip(names, [first] if len(names) == 1 else first, strict=True)) if first is not None else {}
    body = s.inner(**(found if found else dict.fromkeys(names, 1)))
    lines = [f"for {form}:", *_indented(block(body, s.one(1, 2, 2, 3), depth, True))]
    return lines + (["else:", *_indented(block(s.inner(), 1, 0, loop))] if s.chance(0.05) else [])


def _while(s: Scope, depth: int, loop: bool) -> list[str]:
    counter = s.new_name("w")
    tests = (f"{counter} < {integer(s, 0)}", f"{counter} < 4 and {condition(s)}", f"{element(s)} > {counter}")
    more = (f"np.sum({s.array()}) > {number(s, 0)} and {counter} < 5", f"{counter} < len({s.array(1)})")
    body = block(s.inner(**{counter: 0}), s.one(1, 2), depth, True)
    step = f"{counter} += {s.one(1, 1, 2)}"
    body = [step, *body] if s.chance(0.6) or any("continue" in line for line in body) else [*body, step]
    start = s.one("0", "0", "0.0", "1")
    return [f"{counter} = {start}", f"while {s.one(*tests, *more)}:", *_indented(body)]


def results(s: Scope) -> str:
    """Return what the program returns: names, views, numbers."""
    chosen = [s.one(s.array(), view(s, 0), number(s), element(s), s.array()) for _ in range(s.one(1, 2, 3))]
    chosen += s.of_kind(vocabulary_of(s).returned)[-3:]
    listed = ", ".join(dict.fromkeys(chosen))
    return f"return {s.one(*['{}'] * 8, '[{}]', '({},), 1', '{{0: ({},)}}').replace('{}', listed)}"
