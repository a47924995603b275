"""Random simple statements: names bound, arrays written to in every way that NumPy has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.fuzz.random_expressions import array, condition, element, fitting, index, integer, made, number, view
from tests.fuzz.scope import Scope

AUGMENTED = ("+=", "+=", "-=", "*=", "/=", "//=", "%=", "|=", "**= 2 +", "*=")
UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum", "add", "multiply", "logical_or", "divide")


def _written(s: Scope) -> tuple[str, tuple[int, ...]]:
    """Return the text of a place in an array, with its shape."""
    base = view(s, 1) if s.chance(0.2) else s.array()
    for _ in range(4):
        text = f"{base}[{index(s, base)}]" if s.chance(0.97) else f"{base}.flat[{integer(s, 0)}]"
        try:
            return text, np.shape(s.value(text))
        except Exception:
            continue
    return f"{base}[...]", np.shape(s.value(base))


def _memory(s: Scope) -> tuple[str, tuple[int, ...]]:
    """Return a view that can be handed to a function that writes."""
    text = s.find(lambda: view(s, 1), lambda v: v.flags.writeable, s.array())
    return text, np.shape(s.value(text))


def bind(s: Scope) -> str:
    kind = s.rng.randrange(8)
    if kind < 2:
        return f"{s.new_name('v')} = {view(s)}"
    if kind < 4:
        return f"{s.new_name('a')} = {s.one(array, made)(s)}"
    if kind == 4:
        return f"{s.one('t', 's', s.new_name('t'))} = {number(s)}"
    if kind == 5:
        return f"{s.one('m', 'q', s.new_name('m'))} = {integer(s)}"
    if kind == 6:
        return f"{s.array()} = {array(s)}"
    return f"ok = {condition(s)}"


def store(s: Scope) -> str:
    place, shape = _written(s)
    return f"{place} = {fitting(s, shape)}"


def augment(s: Scope) -> str:
    place, shape = _written(s)
    return f"{place} {s.one(*AUGMENTED)} {fitting(s, shape)}"


def augment_name(s: Scope) -> str:
    kind = s.rng.randrange(4)
    names = (s.arrays(), s.floats(), s.integers(), s.arrays())[kind]
    if not names:
        return "pass"
    name = s.rng.choice(names)
    right = {1: lambda: number(s), 2: lambda: s.one(integer(s), integer(s), number(s, 0), "1000003")}
    text = right.get(kind, lambda: fitting(s, np.shape(s.value(name))))()
    return f"{name} {s.one('+=', '-=', '*=', '+=', '/=' if kind != 2 else '+=', '//=')} {text}"


def into(s: Scope) -> str:
    """Return a call of a ufunc or a function with ``out``, sometimes with ``where``."""
    place, shape = _memory(s)
    one, other = fitting(s, shape), fitting(s, shape)
    where = f", where={fitting(s, shape)} > 1" if s.chance(0.3) else ""
    name = s.one(*UFUNCS)
    if s.chance(0.2):
        return f"np.{s.one('sqrt', 'negative', 'floor', 'square')}({one}, out={place}{where})"
    if s.chance(0.2):
        return f"{s.new_name('a')} = np.{name}({one}, {other}, {place}{where})"
    if s.chance(0.15):
        return f"np.{s.one('sum', 'cumsum', 'max')}({array(s)}, axis=0, out={place})"
    return f"np.{name}({one}, {other}, out={place}{where})"


def write_by_call(s: Scope) -> str:
    place, shape = _memory(s)
    value = fitting(s, shape)
    mask = f"{place} > {number(s, 0)}"
    positions = s.one("[0, 1, 0]", "[0, -1]", "0", "np.array([1, 1, 0])", index(s, place), integer(s, 0))
    return str(
        s.one(
            *(f"np.copyto({place}, {value})", f"np.copyto({place}, {value}, casting='unsafe', where={mask})"),
            *(f"np.put({place}, {positions}, {number(s)})", f"np.putmask({place}, {mask}, {value})"),
            *(f"np.place({place}, {mask}, [{number(s)}, {number(s, 0)}])", f"{place}.fill({number(s)})"),
            *(f"{place}.sort()", f"{place}.sort(axis=0)", f"np.fill_diagonal({place}, {number(s)})"),
            *(
                f"np.add.at({place}, {positions}, {number(s)})",
                f"np.{s.one('subtract', 'maximum')}.at({place}, {positions}, {number(s)})",
            ),
            *(f"{place}.flat[{integer(s, 0)}] = {number(s)}", f"{place}.flat = {value}", f"{place}[...] = {value}"),
            *(f"np.put_along_axis({place}, np.zeros(np.shape({place}), int)[..., :1], {number(s, 0)}, -1)",),
            f"{place}.put({positions}, {number(s)})",
        )
    )


def reshaped(s: Scope) -> str:
    name = s.array(1)
    if s.chance(0.6):
        return f"{name} = {name}.reshape({s.one('-1', '-1, 1', '1, -1', '2, -1', f'{name}.T.shape')})"
    return f"{name}.shape = {s.one('(-1,)', '(2, -1)', '(-1, 1)', f'{name}.T.shape')}"


def swap(s: Scope) -> str:
    one, other = element(s), element(s)
    if s.chance(0.4):
        one, other = s.array(), s.array()
    return f"{one}, {other} = {other}, {one}"


def outside(s: Scope) -> str:
    """Return a statement about a global, a list, a dict or a helper."""
    kind = s.rng.randrange(9)
    if kind == 0 and "G" in s.names:
        return f"G[{s.one('0', '1:', '::2', integer(s, 0))}] {s.one('=', '+=')} {number(s)}"
    if kind == 1 and "C" in s.names:
        return f"C {s.one('=', '+=')} {s.one(integer(s), number(s))}"
    lists = s.of_kind(lambda v: isinstance(v, list))
    if kind == 2 and lists:
        return f"{s.rng.choice(lists)}.append({s.one(number(s), view(s, 0), s.array(), element(s))})"
    if kind == 3:
        return f"{s.new_name('rows')} = [{number(s)}, {element(s)}]"
    if kind == 4:
        row = s.one(f"v * {number(s, 0)} for v in {s.array(1)}", f"{s.array(1)}[j] + j for j in range(2)")
        return f"{s.new_name('c')} = {s.one('[{}]', 'np.array([{}])', 'sum({})', 'max([{}])')}".replace("{}", row)
    helpers = s.of_kind(lambda v: callable(v))
    if not helpers:
        return "pass"
    call = f"{s.rng.choice(helpers)}({s.one(s.array(1), view(s, 1))}, {s.one(integer(s), integer(s), number(s))})"
    return call if s.chance(0.3) else f"{s.one(s.new_name('h'), s.array(), 't')} = {call}"


KINDS: tuple[tuple[int, Callable[[Scope], str]], ...] = (
    *((5, bind), (8, store), (6, augment), (3, augment_name), (3, into), (4, write_by_call)),
    *((1, reshaped), (1, swap), (4, outside)),
)
_WAYS = [way for share, way in KINDS for _ in range(share)]


def statement(s: Scope) -> str | None:
    """Return a statement that runs here, with the scope as it is behind it; None if none was found."""
    for _ in range(4):
        try:
            text = s.rng.choice(_WAYS)(s)
        except Exception:
            continue
        if s.tried(text):
            return text
    return None
