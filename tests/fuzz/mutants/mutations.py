"""Random changes of the trees of functions: operators, numbers, slices, names, statements, copies left out."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable
from typing import Any

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
COPYING = ("copy", "array", "ascontiguousarray", "asarray")
AXES = ("axis", "keepdims")
FOLDS = ("sum", "max", "min", "mean", "any", "all", "prod", "argmax", "argmin", "cumsum", "std")
UFUNCS = ("maximum", "minimum", "add", "multiply", "subtract", "hypot")
WRAPPERS = ("float({})", "int({})", "abs({})", "-{}", "np.asarray({})", "max({}, 1)", "({}, 1)[0]", "({}) * 0.5")
BODIES = ("body", "orelse", "finalbody")


def mutated(function: ast.FunctionDef, rng: random.Random) -> ast.FunctionDef:
    """Return a changed copy of a function, which need not run."""
    changed = copy.deepcopy(function)
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        for _ in range(10):
            if rng.choice(_WAYS)(changed, rng):
                break
    return ast.fix_missing_locations(changed)


def _some(tree: ast.AST, rng: random.Random, fits: Callable[[Any], bool]) -> Any:
    found = [node for node in ast.walk(tree) if fits(node)]
    return rng.choice(found) if found else None


def _replaced(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    """Put a node in the place of another one."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
                return
            if isinstance(value, list):
                for place, one in enumerate(value):
                    if one is old:
                        value[place] = new
                        return


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _other_operator(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.BinOp | ast.AugAssign) and type(one.op) in OPERATORS)
    if node is not None:
        node.op = rng.choice(OPERATORS)()
    return node is not None


def _other_comparison(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.Compare) and type(one.ops[0]) in COMPARISONS)
    if node is not None:
        node.ops[0] = rng.choice(COMPARISONS)()
    return node is not None


def _other_number(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.Constant) and type(one.value) in (int, float))
    if node is not None:
        old = node.value
        node.value = rng.choice((old + 1, old - 1, float(old), 0, 1, 2, 0.5, -1, old * 2))
    return node is not None


def _other_slice(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.Slice))
    if node is None:
        return False
    name = rng.choice(("lower", "upper", "step"))
    number = rng.choice((1, 2, -1)) if name == "step" else rng.choice((0, 1, 2, -1, -2, 3))
    setattr(node, name, None if rng.random() < 0.3 else _expression(str(number)))
    return True


def _slice_for_index(tree: ast.AST, rng: random.Random) -> bool:
    """Take a slice where one position is taken, or the other way round."""
    node = _some(tree, rng, lambda one: isinstance(one, ast.Subscript))
    if node is None:
        return False
    inner = node.slice
    text = rng.choice(("...", "0", "-1", "::-1", "1:", "::2", "[0, 1, 0]", "None", ":2"))
    new = _expression(f"x[{text}]").slice
    if isinstance(inner, ast.Tuple) and inner.elts:
        inner.elts[rng.randrange(len(inner.elts))] = new
    else:
        node.slice = new
    return True


def _other_name(tree: ast.AST, rng: random.Random) -> bool:
    """Put another variable in the place of one that is read or bound."""
    names = sorted({one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)})
    names += [one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)]
    node = _some(tree, rng, lambda one: isinstance(one, ast.Name) and one.id in names)
    if node is not None:
        node.id = rng.choice(names)
    return node is not None


def _without_copy(tree: ast.AST, rng: random.Random) -> bool:
    """Leave out a copy, so that two names are one array; or make one."""

    def copies(one: Any) -> bool:
        return isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in COPYING

    node = _some(tree, rng, copies)
    if node is None or rng.random() < 0.2:
        node = _some(tree, rng, lambda one: isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load))
        if node is not None:
            _replaced(tree, node, _expression(f"({ast.unparse(node)}).copy()"))
        return node is not None
    _replaced(tree, node, node.args[0] if node.args else node.func.value)
    return True


def _augmented(tree: ast.AST, rng: random.Random) -> bool:
    """Write in place what makes a new array, or the other way round."""
    node = _some(tree, rng, lambda one: isinstance(one, ast.AugAssign | ast.Assign))
    if isinstance(node, ast.AugAssign):
        target = ast.unparse(node.target)
        right = ast.BinOp(_expression(target), node.op, node.value)
        _replaced(tree, node, ast.Assign([node.target], right))
        return True
    if node is None or len(node.targets) != 1 or isinstance(node.targets[0], ast.Tuple):
        return False
    target = ast.unparse(node.targets[0])
    if isinstance(node.value, ast.BinOp) and ast.unparse(node.value.left) == target:
        new = f"{target} += {ast.unparse(node.value.right)}"
    elif isinstance(node.targets[0], ast.Name):
        new = f"{target}[...] = {ast.unparse(node.value)}"
    else:
        new = f"{target} {rng.choice(('+=', '*=', '-='))} {ast.unparse(node.value)}"
    _replaced(tree, node, ast.parse(new).body[0])
    return True


def _other_fold(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.Attribute) and one.attr in (*FOLDS, *UFUNCS))
    if node is not None:
        node.attr = rng.choice(FOLDS if node.attr in FOLDS else UFUNCS)
    return node is not None


def _other_axis(tree: ast.AST, rng: random.Random) -> bool:
    node = _some(tree, rng, lambda one: isinstance(one, ast.keyword) and one.arg in AXES)
    if node is not None:
        node.value = _expression(str(rng.choice((0, 1, -1, None) if node.arg == "axis" else (True, False))))
    return node is not None


def _wrapped(tree: ast.AST, rng: random.Random) -> bool:
    def wrapped(one: Any) -> bool:
        return isinstance(one, ast.BinOp | ast.Call) or (
            isinstance(one, ast.Subscript | ast.Name)
            and isinstance(one.ctx, ast.Load)
            and one.__dict__.get("id") != "np"
        )

    node = _some(tree, rng, wrapped)
    if node is not None:
        _replaced(tree, node, _expression(rng.choice(WRAPPERS).format(ast.unparse(node))))
    return node is not None


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    held = (getattr(node, name, None) for node in ast.walk(tree) for name in BODIES)
    return [one for one in held if isinstance(one, list) and one]


def _moved_statement(tree: ast.AST, rng: random.Random) -> bool:
    """Leave out a statement, repeat it, or exchange it with the next one."""
    block = rng.choice(_blocks(tree))
    place, way = rng.randrange(len(block)), rng.randrange(4)
    if isinstance(block[place], ast.Return | ast.FunctionDef) or len(block) < 2:
        return False
    if way == 0:
        del block[place]
    elif way == 1:
        block.insert(rng.randrange(len(block)), copy.deepcopy(block[place]))
    elif place + 1 < len(block) and not isinstance(block[place + 1], ast.Return):
        block[place], block[place + 1] = block[place + 1], block[place]
    else:
        return False
    return True


def _new_statement(tree: ast.AST, rng: random.Random) -> bool:
    """Insert a condition, an early end or a write somewhere."""
    bound = [one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    names = [*bound, *(one.arg for one in ast.walk(tree) if isinstance(one, ast.arg))]
    one, other = rng.choice(names), rng.choice(names)
    tests = (f"np.sum({one}) > {rng.choice((0, 1, 5))}", f"np.any({one} == {other})", f"{one} is {other}")
    heads = (*tests, f"np.size({one}) > 2", f"np.max({one}) > np.max({other})")
    texts = (
        *(
            f"{one}[...] = {other}",
            f"{one} += {other}",
            f"{one} = {other}",
            f"{one} = {one} * 2",
            f"{one}[0] = {other}[-1]",
        ),
        *(f"{one}, {other} = {other}, {one}", f"{one}[:1] += 1", f"{one} = {one}[::-1]", f"{one} = {one}.T"),
        *(
            f"return {one}, {other}",
            f"return {one}",
            f"{one} = {one}.astype(np.float32)",
            f"{one} = np.array({other})",
        ),
        *(
            f"np.add({one}, {other}, out={one})",
            f"{one}[{one} > 0] = 0",
            f"{one} = {one}.copy()",
            f"{one} = {one}[1:]",
        ),
        *("break", "continue", f"{one} = np.sort({one})", f"{one} = {one}.max()", f"print({one})"),
    )
    text = rng.choice(texts)
    if text in ("break", "continue") or text.startswith("return") or rng.random() < 0.4:
        text = f"if {rng.choice(heads)}:\n    {text}"
    block = rng.choice(_blocks(tree))
    block.insert(rng.randrange(len(block) + 1), ast.parse(f"while 0:\n{_deeper(text)}").body[0].body[0])
    return True


def _deeper(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _joined_results(tree: ast.AST, rng: random.Random) -> bool:
    """Return more variables than before."""
    node = _some(tree, rng, lambda one: isinstance(one, ast.Return))
    names = [one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    if node is None or not names:
        return False
    before = [node.value] if node.value is not None else []
    node.value = ast.Tuple([*before, _expression(rng.choice(names)), _expression(rng.choice(names))], ast.Load())
    return True


_WAYS = (
    *(_other_operator, _other_comparison, _other_number, _other_number, _other_slice, _other_slice, _slice_for_index),
    *(_other_name, _other_name, _without_copy, _without_copy, _augmented, _augmented, _other_fold, _other_axis),
    *(_wrapped, _moved_statement, _moved_statement, _new_statement, _new_statement, _joined_results),
)
