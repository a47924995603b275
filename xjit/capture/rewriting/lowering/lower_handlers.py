"""Bodies of ``try`` as protected expressions, behind each of which the handlers' code may follow.

    try:                                .try_1 = handlers((LinAlgError,)); .raised_1 = False
        x[k] = inv(a) + 1               .value_1 = protected(.try_1, inv(a) + 1); .raised_1 = raised(.try_1)
    except LinAlgError:                 if .raised_1: x[k] = 0.0
        x[k] = 0.0                      else: x[k] = .value_1

The statement stays a ``try`` with its handlers, which catch what is raised while the body is traced. What only the
run can tell is a truth value: an expression is evaluated to its end in any case, and nothing behind it runs where it
has failed. So a handler's code stands behind each expression that may raise; behind blocks of the body it stands
once, and the blocks skip their rest.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from xjit.capture.rewriting.lowering.lower_jumps import blocks_of
from xjit.capture.rewriting.scope_names import COMPREHENSIONS, DEFINITIONS, Function
from xjit.capture.rewriting.tree_walks import children, walk
from xjit.dataclass import dataclass, replace

THUNKS = {".handlers": "handlers", ".protected": "protected", ".condition": "protected"}
"""Names that stand for methods of the runtime whose last operand is evaluated later."""

PLAIN = {
    ".asked": "asked",
    ".key": "key",
    ".lacks": "lacks",
    ".raised": "raised",
    ".clause": "clause",
    ".handed": "handed",
    ".entered": "entered",
    ".left": "left",
}
"""Names that stand for methods of the runtime with plain operands."""

_MOST_EXPRESSIONS = 16
_MOST_NODES = 3000
_NOT_IN_BODIES = (ast.With, ast.Match, ast.TryStar, *DEFINITIONS, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_NOT_IN_HANDLERS = (ast.TryStar, *DEFINITIONS, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_RAISING = (ast.Call, ast.Subscript, ast.BinOp)


def lower_handlers(function: Function, unsafe: set[ast.AST]) -> bool:
    """Lower the ``try`` statements of a function, as far as that can be done; the others stay.

    Return whether there are any. Copies of ``unsafe`` reads are added to these.
    """
    if not isinstance(function.body, list) or not any(isinstance(one, ast.Try) for one in walk(function)):
        return False
    lowering = _Lowering(function, unsafe)
    function.body = lowering.chain(function.body, ())
    return lowering.tries > 0


@dataclass(frozen=True, slots=True)
class _Try:
    """A ``try`` around statements: its number, how many clauses it has, and what follows where one has failed."""

    number: int
    clauses: int
    failed: Callable[[], list[ast.stmt]]
    is_own: bool = True

    @property
    def record(self) -> str:
        """The variable that has the handlers."""
        return f".try_{self.number}"

    @property
    def raised(self) -> str:
        """The flag that says whether one of them is to run."""
        return f".raised_{self.number}"

    @property
    def clause(self) -> str:
        """The number of the one that is to run, from 1."""
        return f".clause_{self.number}"

    def within(self, kind: type[ast.stmt]) -> _Try:
        """Return the same for statements in a block, of which the rest is skipped."""
        return replace(self, failed=lambda: [kind()], is_own=False)


class _Lowering:
    """The lowering of one function."""

    def __init__(self, function: Function, unsafe: set[ast.AST]) -> None:
        self.tries = 0
        self._function = function
        self._unsafe = unsafe
        self._values = 0
        self._around = 0  # statements that may catch errors, and are Python's own
        self._rebinds = any(isinstance(one, ast.Nonlocal) for one in walk(function))

    def chain(
        self, statements: Sequence[ast.stmt], tries: tuple[_Try, ...], tail: Sequence[ast.stmt] = ()
    ) -> list[ast.stmt]:
        """Lower statements that run one after the other within ``tries``, the innermost first, and then the tail."""
        lowered: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            before, after = self._statement(statement, tries)
            lowered += [_placed(one, statement) for one in before]
            if after is not None:
                behind = [*(_placed(one, statement) for one in after), *statements[number + 1 :]]
                rest = self.chain(behind, tries, tail)
                return [*lowered, *(_placed(one, statement) for one in _unless_raised(tries, rest))]
        return [*lowered, *tail]

    def _statement(self, node: ast.stmt, tries: tuple[_Try, ...]) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        """Return a statement up to where it may have failed, and the rest of it; None where it cannot fail."""
        if isinstance(node, ast.Try):
            found = self._try(node, tries)
            return found, [] if tries and _may_raise(node.body) else None
        if isinstance(node, DEFINITIONS):
            return [node], None
        if not tries:
            self._around += isinstance(node, ast.With | ast.TryStar)
            for block in _blocks(node):
                block[:] = self.chain(block, ())
            self._around -= isinstance(node, ast.With | ast.TryStar)
            return [node], None
        if isinstance(node, (ast.If, ast.While, ast.For)):
            return self._block(node, tries)
        return self._simple(node, tries)

    def _block(
        self, node: ast.If | ast.While | ast.For, tries: tuple[_Try, ...]
    ) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        if isinstance(node, ast.If) and _is_raising(node.test):
            value = self._value()
            before = self._evaluated(value, node.test, tries, ".condition")
            node.test = _name(value)
            return before, [node]
        fails = _may_raise([*node.body, *node.orelse])
        kind = ast.Pass if isinstance(node, ast.If) else ast.Break
        node.body = self.chain(node.body, tuple(one.within(kind) for one in tries))
        node.orelse = self.chain(node.orelse, tuple(one.within(ast.Pass) for one in tries))
        return [node], [] if fails else None

    def _simple(self, node: ast.stmt, tries: tuple[_Try, ...]) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return self._call(node, node.value, tries)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value and _is_raising(node.value):
            value = self._value()
            before = self._evaluated(value, node.value, tries)
            node.value = _name(value)
            return before, [node]
        if isinstance(node, ast.AugAssign) and _is_raising(node.value) and not self._rebinds:
            return self._augmented(node, tries)
        return [node], None

    def _call(
        self, node: ast.Expr, called: ast.Call, tries: tuple[_Try, ...]
    ) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        """Evaluate the operands of a call ahead of it: it may change something."""
        operands = [*called.args, *(one.value for one in called.keywords)]
        later = any(isinstance(one, (ast.Starred, ast.GeneratorExp)) for one in operands)
        plain = _is_plain(called.func) and not later and all(one.arg for one in called.keywords)
        if not plain or not any(map(_is_raising, operands)):
            return self._evaluated(self._value(), called, tries), []
        value = self._value()
        before = self._evaluated(value, ast.Tuple(operands, ast.Load()), tries)
        names = [self._value() for _ in operands]
        targets = ast.Tuple([ast.Name(one, ast.Store()) for one in names], ast.Store())
        called.args = [_name(one) for one in names[: len(called.args)]]
        for keyword, name in zip(called.keywords, names[len(called.args) :], strict=True):
            keyword.value = _name(name)
        return before, [ast.Assign([targets], _name(value)), node]

    def _augmented(
        self, node: ast.AugAssign, tries: tuple[_Try, ...]
    ) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
        """Evaluate the operand ahead of the assignment; Python reads elements of arrays even before that."""
        value = self._value()
        if isinstance(node.target, ast.Name):
            before = self._evaluated(value, node.value, tries)
            node.value = _name(value)
            return before, [node]
        if not isinstance(node.target, ast.Subscript) or not _is_place(node.target):
            return [node], None
        element = self._value()
        (statement,) = self._copied([ast.Expr(node.target)])
        assert isinstance(statement, ast.Expr)
        read = statement.value
        assert isinstance(read, ast.Subscript)
        read.ctx = ast.Load()
        before = [ast.Assign([ast.Name(element, ast.Store())], read), *self._evaluated(value, node.value, tries)]
        changed = ast.AugAssign(ast.Name(element, ast.Store()), node.op, _name(value))
        return before, [changed, ast.Assign([node.target], _name(element))]

    def _evaluated(
        self, value: str, expression: ast.expr, tries: tuple[_Try, ...], method: str = ".protected"
    ) -> list[ast.stmt]:
        """Return the evaluation of an expression, and of the flags that say whether it has failed."""
        written = [_assign(value, _call(method, _name(tries[0].record), expression))]
        for one in tries:
            written.append(_assign(one.raised, _call(".raised", _name(one.record))))
            if one.clauses > 1:
                written.append(_assign(one.clause, _call(".clause", _name(one.record))))
        return written

    def _copied(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return copies of statements, of which the same reads are unsafe."""
        copies = copy.deepcopy(list(statements))
        for one, other in zip(statements, copies, strict=True):
            pairs = zip(walk(one), walk(other), strict=True)
            self._unsafe.update(copied for known, copied in pairs if known in self._unsafe)
        return copies

    def _value(self) -> str:
        self._values += 1
        return f".value_{self._values}"

    # Statements ``try``

    def _try(self, node: ast.Try, tries: tuple[_Try, ...]) -> list[ast.stmt]:
        outside = tuple(one.within(ast.Pass) for one in tries)
        lowers = self._is_lowered(node)
        handlers = [self._copied(one.body) for one in node.handlers] if lowers else []
        orelse = self._copied(node.orelse) if lowers else []
        for block in [*(one.body for one in node.handlers), node.orelse]:
            block[:] = self.chain(block, outside)
        self._around += 1  # it runs behind errors, too, whose flags it leaves as they are
        node.finalbody = self.chain(node.finalbody, ())
        self._around -= 1
        if not lowers:
            self._around += 1
            node.body = self.chain(node.body, outside)
            self._around -= 1
            return [node]
        self.tries += 1
        record = f".try_{self.tries}"

        def failed() -> list[ast.stmt]:
            clauses = [self.chain(self._copied(one), outside) for one in handlers]
            return [_left(record), *_chosen(own, clauses)]

        own = _Try(self.tries, len(handlers), failed)
        classes = ast.Tuple([one.type or _name("BaseException") for one in copy.deepcopy(node.handlers)], ast.Load())
        outer = _name(tries[0].record) if tries else ast.Constant(False if self._around else None)
        begins = [_assign(own.record, _call(".handlers", outer, classes)), _assign(own.raised, ast.Constant(False))]
        begins += [_assign(own.clause, ast.Constant(0))] if len(handlers) > 1 else []
        tail: list[ast.stmt] = []
        if orelse:
            body = [_left(record), *self.chain(orelse, outside)]
            tail = [_placed(ast.If(_call(".handed", _name(record)), body, []), node)]
            test = ast.UnaryOp(ast.Not(), _call(".handed", _name(record)))
            node.orelse = [_placed(ast.If(test, node.orelse, []), node)]
        node.body = [*(_placed(one, node) for one in begins), *self.chain(node.body, (own, *outside), tail)]
        return [node]

    def _is_lowered(self, node: ast.Try) -> bool:
        """Return whether the handlers of a ``try`` can run behind what fails in its body."""
        if not node.handlers or not all(map(self._is_plain_handler, node.handlers)):
            return False
        if any(isinstance(one, _NOT_IN_BODIES) for statement in node.body for one in walk(statement)):
            return False
        blocks = [*(one.body for one in node.handlers), node.orelse]
        inside = [one for block in blocks for statement in block for one in walk(statement)]
        if any(isinstance(one, _NOT_IN_HANDLERS) for one in inside):
            return False
        tries = [one for statement in node.body for one in walk(statement) if isinstance(one, ast.Try)]
        count = sum(map(_is_candidate, walk(node)))
        return (
            all(map(self._is_lowered, tries))
            and 0 < count <= _MOST_EXPRESSIONS
            and count * len(inside) <= _MOST_NODES
        )

    def _is_plain_handler(self, node: ast.ExceptHandler) -> bool:
        """Return whether a handler names classes, and nobody looks at the error."""
        plain = node.type is None or all(map(_is_plain, _classes(node.type)))
        names = (one.id for one in walk(self._function) if isinstance(one, ast.Name))
        return plain and (node.name is None or node.name not in names)


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    return [node.body, node.orelse] if isinstance(node, (ast.While, ast.For)) else blocks_of(node)


def _unless_raised(tries: tuple[_Try, ...], rest: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements that run unless an error was raised, and what runs if one was."""
    for one in reversed(tries):
        begins = [_call_of(".entered", one.record), _assign(one.raised, ast.Constant(False))] if one.is_own else []
        rest = [ast.If(_name(one.raised), one.failed(), [*begins, *rest] or [ast.Pass()])]
    return rest


def _chosen(own: _Try, clauses: Sequence[list[ast.stmt]]) -> list[ast.stmt]:
    """Return the code of the handler that the number of the clause says."""
    found = clauses[-1]
    for number in range(len(clauses) - 1, 0, -1):
        test = ast.Compare(_name(own.clause), [ast.Eq()], [ast.Constant(number)])
        found = [ast.If(test, clauses[number - 1], found)]
    return found


def _may_raise(statements: Sequence[ast.stmt]) -> bool:
    return any(_is_candidate(one) for statement in statements for one in walk(statement))


def _is_candidate(node: ast.AST) -> bool:
    """Return whether a statement has an expression that is evaluated ahead of it."""
    if isinstance(node, ast.If):
        return _is_raising(node.test)
    value = getattr(node, "value", None) if isinstance(node, ast.stmt) else None
    return isinstance(value, ast.expr) and _is_raising(value)


def _is_raising(node: ast.AST) -> bool:
    """Return whether an expression may raise an error that only the run tells."""
    return any(isinstance(one, _RAISING) for one in _evaluated_now(node))


def _evaluated_now(node: ast.AST) -> Iterator[ast.AST]:
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one, ast.Lambda):
            pending += children(one)


def _is_plain(node: ast.expr) -> bool:
    """Return whether an expression is a name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _classes(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_place(node: ast.Subscript) -> bool:
    """Return whether a place may be read and written to without a difference: names and constants say which."""
    plain = (ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.BinOp)
    return isinstance(node.value, ast.Name) and all(
        isinstance(one, plain) and not isinstance(one, COMPREHENSIONS) for one in walk(node.slice)
    )


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(method: str, *operands: ast.expr) -> ast.expr:
    return ast.Call(_name(method), list(operands), [])


def _call_of(method: str, record: str) -> ast.stmt:
    return ast.Expr(_call(method, _name(record)))


def _left(record: str) -> ast.stmt:
    return _call_of(".left", record)


def _placed(node: ast.stmt, where: ast.stmt) -> ast.stmt:
    """Give what is new in a statement the place of another in the source."""
    if not hasattr(node, "lineno"):
        ast.copy_location(node, where)
    ast.fix_missing_locations(node)
    return node
