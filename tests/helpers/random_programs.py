"""Random NumPy programs as source text with the arrays to run them on.

A program grows one line at a time: a rule proposes an expression over the values so far, NumPy evaluates it, and
lines that NumPy refuses or that grow too large are dropped. All decisions go through ``pick``, so that the same
generator serves hypothesis (which shrinks) and plain random numbers.
"""

from __future__ import annotations

import linecache
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from xjit import ops

T = TypeVar("T")
Array = np.ndarray[Any, Any]
Pick = Callable[[Sequence[T]], T]

DTYPES = ("f8", "f8", "f4", "f4", "i4", "i8", "u1", "i1", "u4", "i2", "?", "f2")
LAYOUTS = ("C", "F", "step", "negative", "broadcast", "moved", "C")

# Float functions whose last bits may differ from NumPy's; their results are never compared exactly.
NOISY_UNARY = ("exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "cbrt", "sinh")
NOISY_BINARY = ("hypot", "power")
NOISY_FOLDS = ("sum", "prod", "mean", "var", "std")
NOISY = frozenset((*NOISY_UNARY, *NOISY_BINARY, *NOISY_FOLDS))

EXACT_UNARY = (
    "negative",
    "absolute",
    "square",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "isnan",
    "isfinite",
)
INTEGER_UNARY = ("negative", "absolute", "square", "invert", "sign", "sqrt", "positive")
BOOL_UNARY = ("logical_not", "invert")
BINARY = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin"),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    *("logical_and", "logical_or", "logical_xor", "floor_divide", "remainder"),
)
INTEGER_BINARY = ("bitwise_and", "bitwise_or", "bitwise_xor", "floor_divide", "remainder", "add", "multiply")
EXACT_FOLDS = ("min", "max", "any", "all", "argmin", "argmax")
SLICES = (":", ":", ":", "1:", ":-1", "::2", "::-1", "-1::-2", "1:3", "2:1", "0", "-1", "None", "...", "1::3")
LITERALS = ("0", "1", "2", "-3", "7", "0.5", "-2.0", "1e-3", "0.0", "True")
SPECIALS = (math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-310, 1e-41, 1.0, -1.0, 1e6, -3e9)


@dataclass(frozen=True)
class Sizes:
    """Extents of axes to choose from, and the most elements that a value may have."""

    extents: tuple[int, ...]
    most: int


SMALL = Sizes((1, 2, 3, 4, 5, 7), 300)
LARGE = Sizes((1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 65, 100, 129, 200, 300, 1000, 1030), 150_000)
"""Beyond tiles, strips, blocks of columns and chunks."""


@dataclass(frozen=True)
class Input:
    """One array argument; ``make`` builds it anew, always the same."""

    dtype: str
    shape: tuple[int, ...]
    layout: str
    seed: int
    specials: bool

    def make(self) -> Array:
        rng = np.random.default_rng(self.seed)
        return laid_out(random_values(rng, self.dtype, self.shape, self.specials), self.layout)


@dataclass(frozen=True)
class Program:
    """``source`` defines ``program``; ``noisy`` says that its float results are not exact."""

    source: str
    inputs: tuple[Input, ...]
    scalars: tuple[Any, ...]
    noisy: bool

    def arguments(self) -> list[Any]:
        return [*(one.make() for one in self.inputs), *self.scalars]

    def function(self, module: Any = np) -> Callable[..., Any]:
        """The function, with ``np`` standing for the module; its lines can be found by tracebacks."""
        name = f"<random program {hash(self.source) & 0xFFFFFF:06x}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        scope: dict[str, Any] = {"np": module, "ops": ops}
        exec(compile(self.source, name, "exec"), scope)
        program: Callable[..., Any] = scope["program"]
        return program

    def __str__(self) -> str:
        return f"{self.source}\narguments = {self.inputs}, {self.scalars}"


def random_values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], specials: bool) -> Array:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        info = np.iinfo(dtype)
        small = rng.integers(0 if kind == "u" else -6, 9, shape)
        ends = rng.choice([info.min, info.max, 0, 1], shape) if specials else small
        return np.where(rng.random(shape) < 0.15, ends, small).astype(dtype)
    values = rng.standard_normal(shape) * rng.choice([1.0, 4.0], shape)
    values = np.where(rng.random(shape) < 0.25, np.rint(values), values)
    if specials:
        values = np.where(rng.random(shape) < 0.2, rng.choice(SPECIALS, shape), values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def laid_out(values: Array, layout: str) -> Array:
    """The same shape and element type in another place in memory."""
    if not values.ndim:
        return np.array(values)
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "step":
        wide = np.zeros(tuple(2 * n + 1 for n in values.shape), values.dtype)
        part = wide[tuple(slice(0, 2 * n, 2) for n in values.shape)]
        part[...] = values
        return part
    if layout == "negative":
        return np.array(values[(slice(None, None, -1),) * values.ndim])[(slice(None, None, -1),) * values.ndim]
    if layout == "broadcast" and values.shape[0]:
        return np.broadcast_to(values[:1], values.shape)
    if layout == "moved" and values.ndim > 1:
        return np.ascontiguousarray(np.moveaxis(values, -1, 0)).transpose(*range(1, values.ndim), 0)
    return np.array(values, order="C")


class Generator:
    """One program under construction."""

    def __init__(self, pick: Pick[Any], *, noisy: bool, sizes: Sizes = SMALL) -> None:
        self.pick = pick
        self.noisy = noisy
        self.sizes = sizes
        self.lines: list[str] = []
        self.values: dict[str, Any] = {}
        self.extents = [pick(sizes.extents) for _ in range(3)]
        if pick(range(12)) == 0:
            self.extents[pick(range(3))] = 0

    def program(self) -> Program:
        """Inputs, lines and results."""
        inputs = tuple(self._input() for _ in range(self.pick((1, 2, 2, 3))))
        scalars = (self.pick((2.5, -1, True, np.float32(1.5), np.float64(-0.0), 3)),) if self.pick((0, 0, 1)) else ()
        arguments = [*(one.make() for one in inputs), *scalars]
        names = list("abcdefgh"[: len(arguments)])
        self.values = dict(zip(names, arguments, strict=True))
        for _ in range(self.pick(range(2, 10))):
            self._line()
        made = [name for name in self.values if name.startswith("v")] or names
        results = [made[-1], *(self.pick(made) for _ in range(self.pick((0, 0, 1, 2))))]
        body = "".join(f"    {line}\n" for line in self.lines)
        returned = results[0] if len(results) == 1 else ", ".join(results)
        source = f"def program({', '.join(names)}):\n{body}    return {returned}\n"
        return Program(source, inputs, scalars, self.noisy)

    def _input(self) -> Input:
        rank = self.pick((0, 1, 2, 2, 2, 3))
        kept = [self.pick((n, n, n, 1)) for n in self.extents[3 - rank :]]
        while math.prod(kept) > self.sizes.most:
            kept[kept.index(max(kept))] = 1
        return Input(
            self.pick(DTYPES), tuple(kept), self.pick(LAYOUTS), self.pick(range(1000)), self.pick((False, True))
        )

    def _line(self) -> None:
        for _ in range(4):
            text = self.pick(RULES)(self)
            if text is None:
                continue
            value = evaluate(text, self.values)
            if value is None or np.size(value) > self.sizes.most or np.asarray(value).dtype == object:
                continue
            name = f"v{len(self.lines)}"
            self.lines.append(f"{name} = {text}")
            self.values[name] = value
            return

    # ---- operands

    def some(self, kinds: str = "?biuf", rank: int = 0) -> str | None:
        """The name of a value whose element type is of one of these kinds; later values are likelier."""
        fit = [n for n, v in self.values.items() if _kind(v) in kinds and np.ndim(v) >= rank]
        return self.pick([*fit, *fit[-4:]]) if fit else None

    def partner(self, name: str, kinds: str = "?biuf") -> str:
        """A value that broadcasts with this one, or a number."""
        shape = np.shape(self.values[name])
        fit = [n for n, v in self.values.items() if _kind(v) in kinds and _broadcasts(np.shape(v), shape)]
        return self.pick([*fit, *fit, self.pick(LITERALS)])

    def alike(self, name: str) -> str:
        """A value of the same shape; the value itself always is one."""
        shape = np.shape(self.values[name])
        return self.pick([n for n, v in self.values.items() if np.shape(v) == shape])

    def is_float(self, *names: str) -> bool:
        return any(n in self.values and _kind(self.values[n]) == "f" for n in names)


def evaluate(text: str, values: dict[str, Any]) -> Any:
    """The value of an expression, None if NumPy refuses it."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(text, {"np": np, "ops": ops}, dict(values))
    except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError):
        return None


def _kind(value: Any) -> str:
    return np.asarray(value).dtype.kind


def _broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or a == 1 or b == 1 for a, b in pairs)


# ---- rules


def _unary(g: Generator) -> str | None:
    x = g.some()
    if x is None:
        return None
    kind = _kind(g.values[x])
    if kind == "f" or (kind in "iu" and g.noisy and g.pick((0, 0, 1))):
        return f"np.{g.pick(EXACT_UNARY + NOISY_UNARY if g.noisy else EXACT_UNARY)}({x})"
    return f"np.{g.pick(BOOL_UNARY if kind == 'b' else INTEGER_UNARY)}({x})"


def _binary(g: Generator) -> str | None:
    x = g.some()
    if x is None:
        return None
    y = g.partner(x)
    if g.pick((False, True)):
        x, y = y, x
    if g.pick((False, True)):
        return f"{x} {g.pick(('+', '-', '*', '/', '<', '>=', '==', '//', '%'))} {y}"
    integers = all(n in g.values and _kind(g.values[n]) in "iu" for n in (x, y))
    names = INTEGER_BINARY if integers else (*BINARY, *NOISY_BINARY) if g.noisy and g.is_float(x, y) else BINARY
    return f"np.{g.pick(names)}({x}, {y})"


def _shift(g: Generator) -> str | None:
    x = g.some("iu")
    return x and f"{x} {g.pick(('<<', '>>'))} {g.pick((0, 1, 3, 7))}"


def _where(g: Generator) -> str | None:
    x = g.some()
    if x is None:
        return None
    condition = g.partner(x, "b")
    return f"np.where({condition if condition in g.values else f'{x} > 1'}, {x}, {g.partner(x)})"


def _clip(g: Generator) -> str | None:
    x = g.some("iuf")
    return x and f"np.clip({x}, {g.pick((0, 1, 'None'))}, {g.pick((3, 5))})"


def _cast(g: Generator) -> str | None:
    x = g.some()
    if x is None:
        return None
    target = g.pick(("np.float64", "np.float32", "np.int32", "np.int64", "np.uint8", "np.int8", "bool", "np.float16"))
    if "int" in target and _kind(g.values[x]) == "f":
        return f"np.where(np.abs({x}) < 100, np.abs({x}), 0).astype({target})"
    return f"{x}.astype({target})"


def _fold(g: Generator) -> str | None:
    x = g.some()
    if x is None:
        return None
    exact = _kind(g.values[x]) != "f"
    name = g.pick((*EXACT_FOLDS, *NOISY_FOLDS[:2]) if exact else (*EXACT_FOLDS, *NOISY_FOLDS, *NOISY_FOLDS))
    if name in NOISY_FOLDS and not exact and not g.noisy:
        name = g.pick(EXACT_FOLDS)
    rank = np.ndim(g.values[x])
    axes = [None, *range(-rank, rank), *range(rank)]
    if "arg" not in name:
        axes += [(0, -1), (1, 0), (0, 1), (1, 2), (0, 2), tuple(range(rank)), ()]
    return f"np.{name}({x}, axis={g.pick(axes)}, keepdims={g.pick((False, False, True))})"


def _index(g: Generator) -> str | None:
    x = g.some(rank=1)
    if x is None:
        return None
    parts = [g.pick(SLICES) for _ in range(g.pick((1, np.ndim(g.values[x]), np.ndim(g.values[x]))))]
    return f"{x}[{', '.join(parts)}]"


def _shape(g: Generator) -> str | None:
    x = g.some(rank=1)
    if x is None:
        return None
    value = np.asarray(g.values[x])
    rank = value.ndim
    kind = g.pick(("T", "transpose", "swapaxes", "reshape", "ravel", "expand", "squeeze", "broadcast", "reshape"))
    match kind:
        case "T":
            return f"{x}.T"
        case "transpose":
            places = list(range(rank))
            order = [places.pop(g.pick(range(len(places)))) for _ in range(rank)]
            return f"np.transpose({x}, {tuple(order)})"
        case "swapaxes":
            return f"np.swapaxes({x}, {g.pick(range(rank))}, {g.pick(range(-rank, rank))})"
        case "reshape":
            return f"np.reshape({x}, {_factors(g, value.size)})"
        case "ravel":
            return f"{x}.ravel()"
        case "expand":
            return f"np.expand_dims({x}, {g.pick(range(-rank - 1, rank + 1))})"
        case "squeeze":
            return f"np.squeeze({x})"
        case _:
            return f"np.broadcast_to({x}, {(g.pick((1, 2, 3)), *value.shape)})"


def _factors(g: Generator, size: int) -> tuple[int, ...]:
    if size == 0:
        return g.pick(((0,), (0, 3), (2, 0)))
    found: list[int] = []
    while size > 1 and len(found) < 3:
        factor = g.pick([n for n in range(1, size + 1) if size % n == 0])
        found.append(factor)
        size //= factor
    return (*found, size) if size > 1 or not found or g.pick((0, 0, 1)) else tuple(found)


def _join(g: Generator) -> str | None:
    x = g.some(rank=1)
    if x is None:
        return None
    rank = np.ndim(g.values[x])
    if g.pick((False, True)):
        return f"np.stack([{x}, {g.alike(x)}], axis={g.pick(range(-1, rank + 1))})"
    parts = [x, *(g.alike(x) for _ in range(g.pick((1, 2))))]
    axis = g.pick(range(rank))
    other = g.some(rank=1)
    return f"np.concatenate([{', '.join([*parts, g.pick((other, x))])}], axis={axis})"


def _strict(g: Generator) -> str | None:
    """Operations that NumPy does not have; outside of a trace they run their reference."""
    x = g.some(rank=1)
    if x is None or not isinstance(g.values[x], np.ndarray):
        return None
    value = g.values[x]
    axis, dtype = g.pick(range(value.ndim)), f"np.{value.dtype.name}"
    match g.pick(("pad", "rev", "clamp", "convert", "max", "stepwise", "bits")):
        case "pad":
            edges = tuple((g.pick((0, 1, -1)), g.pick((0, 2, -1)), g.pick((0, 0, 1, 2))) for _ in value.shape)
            return f"ops.pad({x}, np.asarray(1, {dtype}), {edges})"
        case "rev":
            return f"ops.rev({x}, ({axis},))"
        case "clamp" if value.dtype.kind != "b":
            return f"ops.clamp(np.asarray(1, {dtype}), {x}, np.asarray(3, {dtype}))"
        case "convert":
            return f"ops.convert_element_type({x}, {g.pick(('np.int8', 'np.uint32', 'np.float32', 'np.int64'))})"
        case "max":
            return f"ops.reduce({x}, np.asarray(1, {dtype}), ops.max, ({axis},))"
        case "stepwise" if value.dtype.kind in "iu":
            return f"ops.reduce({x}, np.asarray(1, {dtype}), lambda t, e: t + t + e, ({axis},))"
        case "bits" if value.dtype.itemsize == 4:
            return f"ops.bitcast_convert_type({x}, np.uint16)"
    return None


def _create(g: Generator) -> str | None:
    n = g.pick(g.extents)
    return g.pick(
        (
            f"np.arange({n})",
            f"np.arange({n}, dtype=np.float32)",
            f"np.ones(({g.pick((1, 2))}, {n}))",
            f"np.zeros({n}, dtype=np.int16)",
            f"np.full(({n},), 2.5)",
            f"np.eye({n})",
        )
    )


RULES = (
    *(_binary, _binary, _binary, _binary, _unary, _unary, _unary, _where, _where, _clip, _cast, _shift),
    *(_fold, _fold, _fold, _fold, _index, _index, _index, _shape, _shape, _shape, _join, _join, _create, _strict),
)


def random_program(pick: Pick[Any], sizes: Sizes = SMALL) -> Program:
    """One program; about half of them use functions whose last bits differ from NumPy's."""
    return Generator(pick, noisy=pick((False, True)), sizes=sizes).program()
