"""Functions of the kernel language to Numba's IR, straight from the syntax tree of their text.

Numba itself follows a function's bytecode, with its stack, its exceptions and everything else that Python has.
Kernel text has assignments, calls, operators, ``for`` over ``range`` and ``if``, inline functions have a ``return``,
so that a walk over the syntax tree writes the same IR in a fifth of the time.  Within a block a function or a
constant is named once::

    v0 = x0 * f64(0.9)        $1 = global(f64)
    v1 = x1 * f64(0.9)        $2 = const(float, 0.9)
                              $3 = call $1($2)
                              v0 = x0 * $3
                              v1 = x1 * $3

Importing this module imports Numba.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import linecache
import operator
import textwrap
from collections import defaultdict
from collections.abc import Callable
from types import CodeType
from typing import Any

from xjit.codegen.language.scalar_types import KINDS

# Numba's annotations differ from one minor version to the next; here all of it is Any.
ir: Any = importlib.import_module("numba.core.ir")
bytecode: Any = importlib.import_module("numba.core.bytecode")

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


class UnusualTextError(Exception):
    """The text has what only Numba's own way through bytecode knows."""


def numba_ir(function: Callable[..., Any], source: str | None = None) -> Any:
    """The IR of a function. ``source`` is its text, if nothing else is in it and it need not be looked for.

    Raises UnusualTextError for what kernels and inline functions do not have, and where the text is not found.
    """
    definition = _found(function) if source is None else ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef) or definition.args.defaults:
        raise UnusualTextError("a definition of a function is expected")
    return _Writer(function, definition).function_ir()


def _found(function: Any) -> ast.stmt:
    """The definition in the file that the function came from, unless that has changed since."""
    code: CodeType = function.__code__
    try:
        tree = ast.parse(_text_at(linecache.getlines(code.co_filename), code.co_firstlineno - 1))
        definitions = [statement for statement in tree.body if isinstance(statement, ast.FunctionDef)]
        for definition in definitions:
            definition.decorator_list.clear()
        compiled = compile(tree, code.co_filename, "exec").co_consts
    except SyntaxError as error:
        raise UnusualTextError("the text is not that of a function") from error
    if not any(isinstance(one, CodeType) and _outline(one) == _outline(code) for one in compiled):
        raise UnusualTextError("the text of the function is not to be had")
    return definitions[0]


def _text_at(lines: list[str], start: int) -> str:
    """The text of the definition in the line with this number, with its decorators, to the left."""
    margin = len(lines[start]) - len(lines[start].lstrip()) if start < len(lines) else 0
    taken, in_body = [], False
    for line in lines[start:]:
        if in_body and line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        taken.append(line)
        in_body = in_body or line.lstrip().startswith("def ")
    return textwrap.dedent("".join(taken))


def _outline(code: CodeType) -> tuple[object, ...]:
    """The parts of a function that stay the same, be it nested in another or not."""
    return code.co_name, code.co_varnames, code.co_consts, {*code.co_names, *code.co_freevars}


class _Writer:
    """Writes the blocks of one function in the order of its text."""

    def __init__(self, function: Callable[..., Any], definition: ast.FunctionDef) -> None:
        self.identity = bytecode.FunctionIdentity.from_function(function)
        self.globals = function.__globals__ | _closure(function)
        self.body = definition.body
        self.location = ir.Loc.from_function_id(self.identity)
        self.scope = ir.Scope(parent=None, loc=self.location)
        self.variables: dict[str, Any] = {}
        self.blocks: dict[int, Any] = {}
        self.count = 0
        self._open()

    def function_ir(self) -> Any:
        """Everything."""
        start = self.location
        for index, name in enumerate(self.identity.arg_names):
            self._assign(ir.Arg(name, index, self.location), name)
        *before, last = self.body
        returned = last.value if isinstance(last, ast.Return) else None
        self._statements(self.body if returned is None else before)
        value = self._assign(ir.Const(None, self.location)) if returned is None else self._value(returned)
        result = self._assign(ir.Expr.cast(value, self.location))
        self.block.append(ir.Return(result, self.location))
        arguments = self.identity.arg_count, self.identity.arg_names
        return ir.FunctionIR(self.blocks, False, self.identity, start, defaultdict(list), *arguments)

    # ------------------------------------------------------------------ statements

    def _open(self) -> int:
        """A new block that what follows is written into; its label."""
        label = len(self.blocks)
        self.block = self.blocks[label] = ir.Block(self.scope, self.location)
        self.known: dict[object, Any] = {}
        return label

    def _assign(self, value: Any, name: str = "") -> Any:
        if not name:
            self.count += 1
            name = f"${self.count}"
        variable = self.variables.get(name)
        if variable is None:
            variable = self.variables[name] = self.scope.define(name, self.location)
        self.block.append(ir.Assign(value, variable, self.location))
        return variable

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.location = ir.Loc(self.identity.filename, statement.lineno)
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(self._expression(value), name)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    self._assign_several(names, values)
                case ast.Expr(value=ast.Constant(value=str())):
                    continue  # says what the function is for
                case ast.Expr(value=value):
                    self._assign(self._expression(value))
                case ast.For(target=ast.Name(id=name), iter=values, body=inner, orelse=[]):
                    self._loop(name, values, inner)
                case ast.While(test=test, body=inner, orelse=[]):
                    self._while(test, inner)
                case ast.If(test=test, body=inner, orelse=otherwise):
                    self._branch(test, inner, otherwise)
                case _:
                    raise UnusualTextError(f"a statement of the kind {type(statement).__name__}")

    def _assign_several(self, names: list[ast.expr], values: list[ast.expr]) -> None:
        """One after the other, which is the same where no value reads one of the names."""
        targets = [name.id for name in names if isinstance(name, ast.Name)]
        read = {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}
        if len(targets) != len(names) or len(names) != len(values) or read & set(targets):
            raise UnusualTextError("names that change while others are assigned")
        for target, value in zip(targets, values, strict=True):
            self._assign(self._expression(value), target)

    def _loop(self, name: str, values: ast.expr, body: list[ast.stmt]) -> None:
        """A block that asks for the next value, and the blocks of the body, which lead back to it."""
        location = self.location
        iterator = self._assign(ir.Expr.getiter(self._value(values), location))
        before = self.block
        header = self._open()
        before.append(ir.Jump(header, location))
        step = self._assign(ir.Expr.iternext(iterator, location))
        value = self._assign(ir.Expr.pair_first(step, location))
        more = self._assign(ir.Expr.pair_second(step, location))
        asking = self.block
        first = self._open()
        self._assign(value, name)
        self._statements(body)
        self.block.append(ir.Jump(header, location))
        asking.append(ir.Branch(more, first, self._open(), location))

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> None:
        """A block that asks whether to go on, and the blocks of the body, which lead back to it."""
        before = self.block
        header = self._open()
        before.append(ir.Jump(header, self.location))
        more = self._truth(test)
        asking = self.block
        first = self._open()
        self._statements(body)
        self.block.append(ir.Jump(header, self.location))
        asking.append(ir.Branch(more, first, self._open(), self.location))

    def _branch(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        location = self.location
        condition = self._truth(test)
        before = self.block
        ways = []
        for way in (body, otherwise) if otherwise else (body,):
            label = self._open()
            self._statements(way)
            ways.append((label, self.block))
        after = self._open()
        other = ways[1][0] if otherwise else after
        before.append(ir.Branch(condition, ways[0][0], other, location))
        for _, last in ways:
            last.append(ir.Jump(after, location))

    def _truth(self, test: ast.expr) -> Any:
        """The variable that holds the truth of an expression."""
        truth = self._assign(ir.Global("bool", bool, self.location))
        return self._assign(ir.Expr.call(truth, (self._value(test),), (), self.location))

    # ------------------------------------------------------------------ expressions

    def _value(self, expression: ast.expr) -> Any:
        """The variable that holds the value of an expression."""
        if isinstance(expression, ast.Name):
            variable = self.variables.get(expression.id)
            return self._global(expression.id) if variable is None else variable
        key = _constant_key(expression)
        if key is None:
            return self._assign(self._expression(expression))
        if key not in self.known:
            self.known[key] = self._assign(self._expression(expression))
        return self.known[key]

    def _global(self, name: str) -> Any:
        if name not in self.known:
            if name not in self.globals and not hasattr(builtins, name):
                raise UnusualTextError(f"the name {name} has no value")
            value = self.globals[name] if name in self.globals else getattr(builtins, name)
            self.known[name] = self._assign(ir.Global(name, value, self.location))
        return self.known[name]

    def _expression(self, expression: ast.expr) -> Any:
        """The right-hand side of an assignment."""
        match expression:
            case ast.Name():
                return self._value(expression)
            case ast.Constant(value=value):
                return ir.Const(value, self.location)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return ir.Const(-value, self.location)  # as Python's own compiler reads it
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
                return ir.Expr.unary(_OPERATORS[type(op)], self._value(operand), self.location)
            case ast.BinOp(left=left) if not isinstance(left, ast.Name) and _is_constant(expression):
                # Between numbers all of Python's operators are there, such as the shift in 1 << 52.
                return ir.Const(eval(compile(ast.Expression(expression), "<constant>", "eval")), self.location)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._binary(op, left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
                return self._binary(op, left, right)
            case ast.Call(func=ast.Name() as function, args=arguments, keywords=[]):
                values = [self._value(argument) for argument in arguments]
                return ir.Expr.call(self._value(function), values, (), self.location)
            case _:
                raise UnusualTextError(f"an expression of the kind {type(expression).__name__}")

    def _binary(self, op: ast.AST, left: ast.expr, right: ast.expr) -> Any:
        return ir.Expr.binop(_OPERATORS[type(op)], self._value(left), self._value(right), self.location)


def _closure(function: Any) -> dict[str, Any]:
    """The values that a nested function has from the functions around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


def _is_constant(expression: ast.expr) -> bool:
    return not any(isinstance(node, ast.Name) for node in ast.walk(expression))


def _constant_key(expression: ast.expr) -> object:
    """The key that constants of equal bits and type share, ``5`` and ``f64(0.9)`` among them; None for all else."""
    match expression:
        case ast.Constant(value=value):
            return type(value), repr(value)
        case ast.Call(func=ast.Name(id=kind), args=[ast.Constant(value=value)]) if kind in KINDS:
            return kind, type(value), repr(value)
    return None
