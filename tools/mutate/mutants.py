"""The small faults that one file can be given: an edit of its text each, found in its syntax tree.

The text is edited, not written anew from the tree, so that line numbers, comments and what reads its own source stay.
"""

from __future__ import annotations

import ast
import difflib
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

Edit = tuple[int, int, bytes]

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
ARITHMETIC = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
# They say nothing that a right program depends on.
HARMLESS_KEYWORDS = ("strict", "slots", "maxsize", "encoding", "stacklevel", "prefix", "suffix")
# Factor by which a float is made wrong: what the tests of accuracy must see.
NUDGE = b" * 1.001"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: bytes `start` to `end` of the file are replaced. `within`: where its function begins, or 0."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    new: bytes
    within: int

    def applied(self, source: bytes) -> bytes:
        """The text of the file with the fault in it."""
        return source[: self.start] + self.new + source[self.end :]

    def difference(self, source: bytes) -> list[str]:
        """The lines that the fault takes away and puts in."""
        old, new = (text.decode().splitlines() for text in (source, self.applied(source)))
        lines = difflib.unified_diff(old, new, n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


class Positions:
    """Positions of the nodes of a tree in the text, in bytes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """The first byte of a node."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """The byte behind a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> bytes:
        """The text of a node."""
        return self.source[self.start(node) : self.end(node)]

    def whole(self, node: ast.expr | ast.stmt, new: bytes) -> Edit:
        """The edit that puts other text in place of a node."""
        return self.start(node), self.end(node), new

    def between(self, left: ast.expr, right: ast.expr, pattern: str, new: str) -> Iterator[Edit]:
        """The edit of an operator, which has no position of its own in the tree."""
        first, last = self.end(left), self.start(right)
        word = rf"(?<!\w){pattern}(?!\w)" if pattern[0].isalpha() else pattern
        found = re.search(word.encode(), self.source[first:last])
        if found is not None:
            yield first + found.start(), first + found.end(), new.encode()

    def exchanged(self, left: ast.expr, right: ast.expr) -> Edit:
        """The edit that exchanges two nodes."""
        middle = self.source[self.end(left) : self.start(right)]
        return self.start(left), self.end(right), self.text(right) + middle + self.text(left)


Maker = Callable[[ast.AST, Positions], Iterator[Edit]]


def comparison(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`<` becomes `<=`, `==` becomes `!=`, and so on."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            yield from at.between(left, right, *COMPARISONS[type(operator)])


def arithmetic(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`+` becomes `-`, and so on."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield from at.between(node.left, node.right, *ARITHMETIC[type(node.op)])


def operands(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`a - b` becomes `b - a`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ORDERED):
        yield at.exchanged(node.left, node.right)


def arguments(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`f(a, b)` becomes `f(b, a)`."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        first, second = node.args[:2]
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            yield at.exchanged(first, second)


def constant(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """Whole numbers are one off, floats a thousandth, truth values turned round."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield at.whole(node, str(not node.value).encode())
    elif isinstance(node.value, int):
        yield at.whole(node, str(node.value + 1).encode())
        if node.value > 1:
            yield at.whole(node, str(node.value - 1).encode())
    elif isinstance(node.value, float):
        yield at.whole(node, b"(" + at.text(node) + NUDGE + b")")


def statement(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """A statement that does something is left out."""
    dropped = (ast.AugAssign, ast.Raise, ast.Delete, ast.Break, ast.Continue)
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_store = isinstance(node, ast.Assign) and not any(isinstance(one, ast.Name | ast.Tuple) for one in node.targets)
    if isinstance(node, ast.stmt) and (isinstance(node, dropped) or is_call or is_store):
        yield at.whole(node, b"pass")


def returned(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`return value` becomes `return None`."""
    if isinstance(node, ast.Return) and node.value is not None:
        yield at.whole(node.value, b"None")


def condition(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`if a` becomes `if not (a)`."""
    tests = node.ifs if isinstance(node, ast.comprehension) else []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    for test in tests:
        yield at.whole(test, b"not (" + at.text(test) + b")")


def negation(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`not a` and `-a` become `a`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield at.whole(node, at.text(node.operand))


def connective(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`and` becomes `or`, and the other way round."""
    if isinstance(node, ast.BoolOp):
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from at.between(left, right, *words)


def keyword(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`f(a, key=b)` becomes `f(a)`."""
    if not isinstance(node, ast.Call):
        return
    parts: list[ast.expr | ast.keyword] = sorted([*node.args, *node.keywords], key=at.start)
    for before, part in zip([None, *parts], parts, strict=False):
        if isinstance(part, ast.keyword) and part.arg not in (None, *HARMLESS_KEYWORDS):
            first = at.end(node.func) + 1 if before is None else at.end(before)
            rest = at.source[at.end(part) : at.end(node)]
            comma = re.match(rb"\s*,\s*", rest) if before is None else None
            yield first, at.end(part) + (comma.end() if comma else 0), b""


def branches(node: ast.AST, at: Positions) -> Iterator[Edit]:
    """`a if b else c` becomes `a`, then `c`."""
    if isinstance(node, ast.IfExp):
        yield at.whole(node, b"(" + at.text(node.body) + b")")
        yield at.whole(node, b"(" + at.text(node.orelse) + b")")


KINDS: dict[str, Maker] = {
    "comparison": comparison,
    "arithmetic": arithmetic,
    "operands": operands,
    "arguments": arguments,
    "constant": constant,
    "statement": statement,
    "return": returned,
    "condition": condition,
    "negation": negation,
    "connective": connective,
    "keyword": keyword,
    "branch": branches,
}


def mutants(path: str, source: bytes) -> list[Mutant]:
    """All edits of a file; a few of them leave no program, or the same one."""
    at, tree = Positions(source), ast.parse(source)
    return [
        Mutant(path, source.count(b"\n", 0, start) + 1, kind, start, end, new, within)
        for node, within in walk(tree, 0)
        for kind, make in KINDS.items()
        for start, end, new in make(node, at)
    ]


def is_fault(mutant: Mutant, source: bytes) -> bool:
    """Return whether an edit leaves a program, and another one."""
    try:
        return ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def sample(files: Mapping[str, bytes], count: int, seed: int) -> list[Mutant]:
    """Faults drawn from files, all kinds alike and no two on one line; the same for the same seed."""
    draw = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {}
    for path in sorted(files):
        for mutant in mutants(path, files[path]):
            by_kind.setdefault(mutant.kind, []).append(mutant)
    lists = [draw.sample(found, len(found)) for _, found in sorted(by_kind.items())]
    chosen: dict[tuple[str, int], Mutant] = {}
    while len(chosen) < count and any(lists):
        candidates = draw.choice([found for found in lists if found])
        mutant = candidates.pop()
        if (mutant.path, mutant.line) not in chosen and is_fault(mutant, files[mutant.path]):
            chosen[mutant.path, mutant.line] = mutant
    return list(chosen.values())


def walk(node: ast.AST, within: int) -> Iterator[tuple[ast.AST, int]]:
    """Every node that runs, with the first line of the innermost function around it.

    Annotations and texts of messages are left out: no test should depend on them.
    """
    for child in children(node):
        inside = within
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = min([child.lineno, *(one.lineno for one in child.decorator_list)])
        yield child, inside
        yield from walk(child, inside)


def children(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node in which a fault would matter."""
    if isinstance(node, ast.keyword) and node.arg in HARMLESS_KEYWORDS:
        return []
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "__repr__":
        return []
    skipped = {"annotation", "returns", "decorator_list", "type_params"}
    parts = (value for field, value in ast.iter_fields(node) if field not in skipped)
    nodes = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    return [one for one in nodes if isinstance(one, ast.AST) and not _is_for_types(one)]


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
