"""Runs graphs from what code generation uses: scalar expressions, index maps and pieces, evaluated with NumPy.

Operations that have none of these (reductions, library steps, declared gaps) run their reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special

from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import Arg, Expr, Index, Lit
from xjit.ops.define.references import Array, convert, logistic, maximum, minimum, paired, reciprocal_root, round_away
from xjit.types import FLOAT32, NARROW_FLOATS, DType


def run_elements(graph: Graph, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a graph."""
    values: dict[Node, Any] = dict(zip(graph.parameters, arrays, strict=True))
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            if node.op is not PARAMETER:
                values[node] = _compute(node, [_there(node, source, values) for source in node.inputs])
    return tuple(np.array(values[node]) for node in graph.outputs)


def _there(node: Node, source: Node, values: dict[Node, Any]) -> Any:
    """The value of an operand, cut at its limits where a reduction or an update looks at each element."""
    axes = node.kwargs.get("dims", ()) if node.op.kind is Kind.REDUCE else range(64) if node.place is not None else ()
    if not source.limits or not axes:
        return values[source]
    ends = {axis: int(values[limit]) for axis, limit in source.limits.items() if axis in axes}
    return values[source][tuple(slice(ends.get(axis)) for axis in range(source.aval.rank))]


def _compute(node: Node, inputs: list[Any]) -> Any:
    types = tuple(source.type for source in node.inputs)
    if node.op in (CONSTANT, PROJECT) or isinstance(types[:1], TypeError):
        return node.op.reference(*inputs, **node.kwargs)
    if node.place is not None:
        return _changed(node, inputs)
    if node.op.element is not None and node.op.gap("cpu", tuple(t.dtype for t in types), "") is None:
        expr = node.op.element(types, node.kwargs, node.aval)
        assert expr.dtype == node.aval.dtype, f"{node.op.name}: {expr.dtype} for {node.aval.dtype}"
        return Evaluation(inputs, node.aval.shape).bits(expr).view(node.aval.dtype)
    access = node.op.access(types, node.kwargs, node.aval) if node.op.access is not None else None
    if access is not None:
        return _gathered(inputs, access.axes, node.aval.shape, anywhere=bool(node.limits))
    if node.op.pieces is not None:
        return _assembled(node.op.pieces(types, node.kwargs, node.aval), inputs, node.aval)
    if node.op.flat:
        return np.frombuffer(np.ascontiguousarray(inputs[0]).tobytes(), node.aval.dtype).reshape(node.aval.shape)
    return node.op.reference(*inputs, **node.kwargs)


def _places(inputs: Sequence[Array], axes: Any, shape: tuple[int, ...]) -> tuple[Array, ...]:
    positions = np.indices(shape)
    return tuple(
        np.full(shape, one.offset)
        + sum(positions[axis] * scale for axis, scale in one.terms)
        + sum(found.times * _gathered(inputs, found.axes, shape, found.source) for found in one.found)
        for one in axes
    )


def _changed(node: Node, inputs: Sequence[Array]) -> Any:
    """The first operands with elements changed one after the other, those that are there."""
    n, combine = node.param("n"), node.kwargs.get("computation")
    operands, updates = inputs[:n], inputs[n : 2 * n]
    extra = inputs[len(inputs) - len(combine.captures) :] if combine is not None else []
    results = tuple(operand.copy() for operand in operands)
    assert node.place is not None
    places = _places(inputs, node.place.axes, updates[0].shape)
    for at in np.ndindex(*updates[0].shape):
        place = tuple(int(one[at]) for one in places)
        if not all(0 <= one < size for one, size in zip(place, operands[0].shape, strict=True)):
            assert combine is not None, "windows lie within"
            continue
        values = [one[at] for one in updates]
        if combine is not None:
            old = [np.asarray(one[place]) for one in results]
            values = list(run_elements(combine, [*old, *map(np.asarray, values), *extra]))
        for result, value in zip(results, values, strict=True):
            result[place] = value
    return results if n > 1 else results[0]


def _gathered(
    inputs: Sequence[Array], axes: Any, shape: tuple[int, ...], source: int = 0, *, anywhere: bool = False
) -> Array:
    """The elements at some places; those ``anywhere`` may lie outside, where nobody looks at them."""
    index = _places(inputs, axes, shape)
    if anywhere:
        index = tuple(np.clip(one, 0, size - 1) for one, size in zip(index, inputs[source].shape, strict=True))
    assert all(np.all((place >= 0) & (place < size)) for place, size in zip(index, inputs[source].shape, strict=True))
    return inputs[source][index] if index else np.broadcast_to(inputs[source], shape)


def _assembled(pieces: Any, inputs: list[Any], type: Any) -> Array:
    result = np.full(type.shape, 77).astype(type.dtype)  # every element has to be overwritten
    for piece in pieces:
        axes = range(result.ndim) if piece.axes is None else piece.axes
        target: Any = [0] * result.ndim
        rows = zip(axes, piece.start, piece.step, np.indices(piece.count), strict=True)
        for axis, at, by, place in rows:
            target[axis] = target[axis] + at + by * place
        source = inputs[piece.operand]
        if source.ndim:
            source = source[tuple(slice(at, at + n) for at, n in zip(piece.source, piece.count, strict=True))]
        result[tuple(target)] = source
    return result


class Evaluation:
    """One expression on whole arrays: narrow floats are float32 between a decode and an encode."""

    def __init__(self, inputs: list[Any], shape: tuple[int, ...]) -> None:
        self.inputs, self.shape, self.known = inputs, shape, {}

    def bits(self, expr: Expr) -> Array:
        """As stored: narrow floats as the type itself, NaN payloads of copies kept."""
        if isinstance(expr, Arg):
            return np.asarray(self.inputs[expr.index])
        if isinstance(expr, Lit) and expr.dtype in NARROW_FLOATS:
            return np.broadcast_to(expr.literal.array(), self.shape)
        if expr.dtype not in NARROW_FLOATS:
            return np.array(np.broadcast_to(self.plain(expr), self.shape), order="C")
        if not isinstance(expr, Arg | Lit | Index) and expr.name == "bitcast":
            return np.asarray(self.bits(expr.args[0])).view(expr.dtype)
        return np.array(np.broadcast_to(self.plain(expr), self.shape)).astype(expr.dtype)

    def plain(self, expr: Expr) -> Any:
        """In the type that arithmetic uses."""
        if id(expr) not in self.known:
            value = np.asarray(self._plain(expr))
            wanted = FLOAT32 if expr.dtype in NARROW_FLOATS else expr.dtype
            assert value.dtype == wanted, f"{expr}: {value.dtype}"
            self.known[id(expr)] = value
        return self.known[id(expr)]

    def _plain(self, expr: Expr) -> Any:
        if isinstance(expr, Arg):
            return _widened(np.asarray(self.inputs[expr.index]))
        if isinstance(expr, Lit):
            return _widened(expr.literal.array())
        if isinstance(expr, Index):
            return np.indices(self.shape)[expr.axis] if self.shape else np.zeros((), np.int64)
        if expr.name == "bitcast":
            return _widened(np.ascontiguousarray(self.bits(expr.args[0])).reshape(self.shape).view(expr.dtype))
        operands = [self.plain(arg) for arg in expr.args]
        if expr.name == "cast":
            return _widened(convert(operands[0], expr.dtype))
        return _PRIMITIVES[expr.name](*operands)


def _widened(value: Array) -> Array:
    return value.astype(FLOAT32) if value.dtype in NARROW_FLOATS else value


def _truncated(x: Array, y: Array) -> Array:
    assert not np.any(y == 0), "a zero divisor traps"
    if x.dtype.kind == "i":
        assert not np.any((x == np.iinfo(x.dtype).min) & (y == -1)), "an overflowing division traps"
    return ((x - np.fmod(x, y)) // y).astype(x.dtype)


def _shift(function: Callable[..., Any], kind: str) -> Callable[[Array, Array], Array]:
    def shift(x: Array, amount: Array) -> Array:
        assert np.all((amount >= 0) & (amount < x.dtype.itemsize * 8)), "a shift by the width or more"
        raw = np.dtype(f"{kind}{x.dtype.itemsize}")
        return np.asarray(function(x.astype(raw), amount.astype(raw))).astype(x.dtype)

    return shift


def _leading_zeros(x: Array) -> Array:
    width = x.dtype.itemsize * 8
    mask = (1 << width) - 1
    return np.vectorize(lambda v: width - (int(v) & mask).bit_length(), otypes=[x.dtype])(x)


def _ones(x: Array) -> Array:
    mask = (1 << x.dtype.itemsize * 8) - 1
    return np.vectorize(lambda v: (int(v) & mask).bit_count(), otypes=[x.dtype])(x)


def _extreme(of_floats: Callable[..., Any], of_others: Callable[..., Any]) -> Callable[[Array, Array], Any]:
    return lambda x, y: (of_floats if x.dtype.kind == "f" else of_others)(x, y)


def _division(x: Array, y: Array) -> Array:
    assert x.dtype.kind == "f", "complex division is composed"
    return x / y


def _not_bool(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*operands: Array) -> Any:
        assert all(operand.dtype.kind != "b" for operand in operands), "no arithmetic on booleans"
        return function(*operands)

    return checked


def _result(function: Callable[..., Any], kinds: str) -> Callable[..., Any]:
    def checked(*operands: Array) -> Any:
        assert all(operand.dtype.kind in kinds for operand in operands), f"{function} on {operands[0].dtype}"
        return function(*operands)

    return checked


_SAME_IN_NUMPY = """
    exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh
    cbrt hypot fmod remainder floor_divide nextafter spacing
"""
_OTHERWISE_IN_NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "pow": "power",
}
_IN_SCIPY = {"erf": "erf", "erfc": "erfc", "erf_inv": "erfinv", "logit": "logit", "digamma": "digamma"}
_PRIMITIVES: dict[str, Callable[..., Any]] = {
    "add": _not_bool(np.add),
    "sub": _not_bool(np.subtract),
    "mul": _not_bool(np.multiply),
    "div": _division,
    "neg": _not_bool(np.negative),
    "abs": _result(np.abs, "ifc"),
    "and": _result(np.bitwise_and, "biu"),
    "or": _result(np.bitwise_or, "biu"),
    "xor": _result(np.bitwise_xor, "biu"),
    "not": _result(np.invert, "biu"),
    "eq": _not_bool(_result(np.equal, "iuf")),
    "ne": _not_bool(_result(np.not_equal, "iuf")),
    "lt": _not_bool(_result(np.less, "iuf")),
    "le": _not_bool(_result(np.less_equal, "iuf")),
    "gt": _not_bool(_result(np.greater, "iuf")),
    "ge": _not_bool(_result(np.greater_equal, "iuf")),
    "min": _extreme(minimum, np.minimum),
    "max": _extreme(maximum, np.maximum),
    "select": lambda condition, x, y: np.where(condition, x, y),
    **{name: _result(getattr(np, name), "f") for name in ("rint", "floor", "ceil", "trunc", "copysign")},
    "sqrt": _result(np.sqrt, "fc"),
    **{name: _result(getattr(np, name), "fc") for name in _SAME_IN_NUMPY.split()},
    **{name: _result(getattr(np, other), "fc") for name, other in _OTHERWISE_IN_NUMPY.items()},
    "logistic": _result(logistic, "fc"),
    "rsqrt": _result(reciprocal_root, "fc"),
    **{name: _result(getattr(scipy.special, other), "f") for name, other in _IN_SCIPY.items()},
    "lgamma": _result(lambda x: np.where(x == -np.inf, -x, scipy.special.gammaln(x)), "f"),
    "frexp_mantissa": _result(lambda x: np.frexp(x)[0], "f"),
    "frexp_exponent": _result(lambda x: np.frexp(x)[1], "f"),
    "ldexp": np.ldexp,
    "ldexp_long": np.ldexp,
    "softplus": _result(lambda x: np.logaddexp(x, x.dtype.type(0)), "f"),
    "round_away": _result(round_away, "f"),
    "idiv": _result(_truncated, "iu"),
    "irem": _result(lambda x, y: x - _truncated(x, y) * y, "iu"),
    "shl": _shift(np.left_shift, "u"),
    "lshr": _shift(np.right_shift, "u"),
    "ashr": _shift(np.right_shift, "i"),
    "popcount": _ones,
    "clz": _leading_zeros,
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "complex": paired,
}
KNOWN_PRIMITIVES = frozenset(_PRIMITIVES) | {"cast", "bitcast"}


def primitives(expr: Expr) -> set[str]:
    """The names of all primitives in an expression."""
    found, stack, seen = set(), [expr], set()
    while stack:
        top = stack.pop()
        if id(top) in seen or isinstance(top, Arg | Lit | Index):
            continue
        seen.add(id(top))
        found.add(top.name)
        stack += top.args
    return found


def dtypes_of(nodes: Sequence[Node]) -> set[DType]:
    """The element types of nodes."""
    return {node.aval.dtype for node in nodes}
