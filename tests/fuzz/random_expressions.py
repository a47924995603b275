"""Random expressions of NumPy: views, numbers, conditions, arrays of a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.scope import Scope

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "int16", "bool", "complex128")
UNARY = (
    "-{}",
    "abs({})",
    "np.sqrt(np.abs({}))",
    "np.square({})",
    "np.floor({})",
    "np.exp(-np.abs({}))",
    "np.sign({})",
)
BINARY = (
    *("{} + {}", "{} - {}", "{} * {}", "{} + {}", "{} * {}", "{} / {}", "{} // {}", "{} % {}"),
    *("np.maximum({}, {})", "np.minimum({}, {})", "{} > {}", "{} <= {}", "{} == {}", "np.logical_and({}, {})"),
)
FOLDS = ("np.sum", "np.max", "np.min", "np.mean", "np.cumsum", "np.any", "np.all", "np.argmax", "np.prod", "np.std")


def integer(s: Scope, depth: int = 1) -> str:
    """Return an expression of a whole number."""
    names = s.integers()
    kind = s.rng.randrange(12)
    if kind < 4 and names:
        return str(s.rng.choice(names))
    if depth == 0 or kind < 6:
        return str(s.one(*s.extents.integers))
    inner = integer(s, depth - 1)
    if kind == 6:
        return s.one(f"len({s.array(1)})", f"{s.array(1)}.shape[0]", f"{s.array()}.size", f"{s.array()}.ndim")
    if kind == 7 and s.chance(0.5):
        return s.find(lambda: f"int({element(s)})", lambda v: abs(v) < 50, inner)
    if kind == 8:
        return s.one(f"min({inner}, 3)", f"max({inner}, 0)", f"abs({inner})", f"int({condition(s, 0)})")
    other = str(s.one(1, 2, 3, -1))
    return s.one(f"{inner} + {other}", f"{inner} - {other}", f"{inner} // 2", f"{inner} % 3", f"({inner}) * {other}")


def element(s: Scope) -> str:
    """Return one element of an array."""
    name = s.array(1)
    places = ", ".join(s.one("0", "1", "-1", integer(s, 0)) for _ in range(np.ndim(s.value(name))))
    return s.find(lambda: f"{name}[{places}]", lambda v: True, "0.5")


def number(s: Scope, depth: int = 1) -> str:
    """Return an expression of a number of any type."""
    names = s.floats()
    kind = s.rng.randrange(14)
    if kind < 3 and names:
        return str(s.rng.choice(names))
    if depth == 0 or kind < 5:
        return str(s.one(0.5, 2.0, -1.5, 0.25, 1, 2, 3))
    if kind < 7:
        return element(s)
    if kind == 7:
        return integer(s)
    if kind == 8:
        return s.one("np.sum({})", "{}.max()", "{}.min()", "np.mean({})", "{}.sum()").format(s.array())
    if kind == 9 and s.chance(0.4):
        return f"float({element(s)})"
    one, other = number(s, depth - 1), number(s, 0)
    if kind == 10:
        return f"({one} if {condition(s, 0)} else {other})"
    if kind == 11:
        return s.one(f"max({one}, {other})", f"min({one}, {other})", f"abs({one})", f"np.sqrt(abs({one}))")
    return f"({one} {s.one('+', '-', '*', '/', '+', '*', '//', '%')} {other})"


def condition(s: Scope, depth: int = 1) -> str:
    """Return an expression of a truth value."""
    kind = s.rng.randrange(14)
    if depth == 0 or kind < 4:
        return f"{s.one(element, integer, element)(s)} {s.one('>', '<', '>=', '==', '!=', '<=')} {number(s, 0)}"
    if kind < 6:
        return f"{integer(s)} {s.one('% 2 == 0', '% 2', '< 3', '> 1', '== 2', '!= 1')}"
    if kind == 6:
        return s.one(f"np.any({s.array()} > {number(s, 0)})", f"np.all({s.array()} < 4)", f"({s.array()} > 1).any()")
    if kind == 7:
        return f"{condition(s, 0)} {s.one('and', 'or')} {condition(s, 0)}"
    if kind == 8:
        return f"not {condition(s, 0)}"
    if kind == 9:
        return f"{integer(s, 0)} < {integer(s, 0)} <= {integer(s, 0)}"
    if kind == 10:
        return s.one(element(s), integer(s), number(s, 0), f"len({s.array(1)})")
    if kind == 11:
        return f"{s.array()}.sum() > {number(s, 0)}"
    return f"{number(s)} > {number(s, 0)}"


def _axis_index(s: Scope, extent: int) -> str:
    kind = s.rng.randrange(22)
    if kind < 4:
        return ":"
    if kind < 9:
        return str(s.one("1:", ":-1", "1:-1", "::2", "::-1", "1::2", ":2", "2:", "-2:", ":0", "-1:0:-2", "::-2"))
    if kind < 13:
        bound = integer(s)
        return str(s.one(f":{bound}", f"{bound}:", f"{bound}:{bound} + 2", f"{bound}::-1", f":{bound}:2"))
    if kind < 16:
        return str(s.one(0, -1, 1, s.rng.randrange(-extent, extent) if extent else 0))
    if kind < 18:
        return integer(s)
    if kind == 18 and extent:
        return str([s.rng.randrange(-extent, extent) for _ in range(s.one(1, 2, 3))])
    if kind == 19:
        indices = s.of_kind(lambda v: isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.ndim == 1)
        return s.rng.choice(indices) if indices else "np.arange(2)"
    return str(s.one("None", "...", "None", ":"))


def index(s: Scope, name: str) -> str:
    """Return the text between the brackets after an array, of any kind."""
    array = s.value(name)
    kind = s.rng.randrange(18)
    if kind == 0:
        return str(s.one(f"{name} > {number(s, 0)}", f"{name} != {name}", f"~({name} > 1)", f"{name} % 2 == 0"))
    if kind == 1:
        masks = s.of_kind(lambda v: isinstance(v, np.ndarray) and v.dtype.kind == "b")
        return s.rng.choice(masks) if masks else f"{name} < 3"
    if kind == 2:
        return str(s.one("...", ":", "()", "..., 0", "None"))
    axes = s.rng.randint(1, max(array.ndim, 1)) if s.chance(0.4) else max(array.ndim, 1)
    return ", ".join(_axis_index(s, array.shape[axis] if axis < array.ndim else 1) for axis in range(axes))


def view(s: Scope, depth: int = 2) -> str:
    """Return a view of an array, or of a view."""
    name = s.array()
    text = view(s, depth - 1) if depth and s.chance(0.25) else name
    kind = s.rng.randrange(14)
    if kind < 8:
        return s.find(lambda: f"{text}[{index(s, text)}]", lambda v: np.ndim(v) > 0, text)
    ways = (".T", ".reshape(-1)", ".ravel()", ".real", "[::-1]", "[None]", ".transpose()", ".view()")
    more = (".imag", ".swapaxes(0, -1)", ".reshape(2, -1)", ".reshape(-1, 2)", "[..., None]", ".flatten()", ".copy()")
    calls = ("np.diagonal({})", "np.asarray({})", "np.ravel({})", "np.transpose({})", "np.flip({})", "{}.diagonal()")
    rare = (
        "np.broadcast_to({}, (2, *np.shape({})))",
        "np.atleast_2d({})",
        "np.ascontiguousarray({})",
        "np.array({})",
    )
    form = s.one(*("{}" + way for way in ways * 2 + more), *calls, *rare)
    return s.find(lambda: form.replace("{}", text), lambda v: isinstance(v, np.ndarray), text)


def array(s: Scope, depth: int = 2) -> str:
    """Return an expression of an array, or of what an array came to."""
    kind = s.rng.randrange(20) if depth else 0
    if kind < 4:
        return s.array()
    if kind < 8:
        return view(s, 1)
    if kind < 10:
        return f"({s.one(*UNARY)})".format(array(s, depth - 1))
    if kind < 15:
        pair = [array(s, depth - 1), s.one(array, number, number)(s, depth - 1)]
        s.rng.shuffle(pair)
        return f"({s.one(*BINARY)})".format(*pair)
    if kind == 15:
        return f"np.where({array(s, depth - 1)} > {number(s, 0)}, {array(s, 0)}, {number(s, 0)})"
    if kind == 16:
        axis = s.one("", ", axis=0", ", axis=-1", ", axis=0")
        return f"{s.one(*FOLDS)}({array(s, 0)}{axis})"
    if kind == 17:
        return made(s)
    if kind == 18:
        return f"{array(s, 0)}.astype(np.{s.one(*DTYPES).replace('bool', 'bool_')})"
    one = s.array(1)
    return str(s.one(f"np.concatenate(({one}, {one}))", f"np.dot({one}, {one})", f"np.roll({one}, {integer(s, 0)})"))


def made(s: Scope) -> str:
    """Return a new array of nothing."""
    like = s.array()
    extent = s.find(lambda: integer(s), lambda v: 0 <= v < s.extents.made, "3")
    dtype = s.one("", "", ", dtype=np.int64", ", np.float32", ", dtype=bool", ", dtype=complex", ", np.int8")
    return str(
        s.one(
            *(f"np.zeros({extent}{dtype})", f"np.ones(({extent}, 2){dtype})", f"np.zeros_like({like})"),
            *(f"np.arange({extent})", f"np.full({extent}, {number(s, 0)})", f"np.zeros({like}.shape)"),
            *(f"{like}.copy()", f"np.arange({extent}.0)", f"np.eye({extent})"),
        )
    )


def fitting(s: Scope, shape: tuple[int, ...]) -> str:
    """Return an expression that can be stored into an array of this shape."""

    def fits(value: Any) -> bool:
        return np.broadcast_shapes(np.shape(value), shape) == shape

    if s.chance(0.3):
        return number(s)
    return s.find(lambda: array(s), fits, number(s), tries=6)
