"""Expressions with control flow become calls of the runtime.

Operands that Python may not evaluate become functions. One that binds a variable by ``:=`` cannot be a lambda: it
becomes a hidden function, defined in front of the statement.

Where a value counts, Python may know the truth of an operand from an inner ``and``, ``or`` or comparison, and does
not ask again; here it is asked again. Numbers and arrays do not notice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from xjit.capture.rewriting.list_names import is_entry
from xjit.capture.rewriting.lowering.lower_handlers import PLAIN, THUNKS
from xjit.capture.rewriting.lowering.lower_unbound import KNOWN
from xjit.capture.rewriting.optional_names import asks_for_none, gives_none
from xjit.capture.rewriting.scope_names import (
    ScopeNames,
    bound_by,
)
from xjit.capture.rewriting.source_lookup import NotRewritable
from xjit.capture.rewriting.text_methods import is_text, method_text_values, text_method, with_list
from xjit.capture.rewriting.tree_walks import parts
from xjit.dataclass import dataclass, field

RUNTIME = ".xjit"
SITES = ".sites"
CHECKED = ".checked"
ITEM = ".item"
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "in",
    ast.NotIn: "not_in",
    ast.Is: "is",
    ast.IsNot: "is_not",
}
Node = TypeVar("Node", bound=ast.AST)


@dataclass(slots=True)
class Frame:
    """One function of the result: the names that it binds itself, and functions to define before a statement."""

    bound: set[str] = field(default_factory=set)
    hoisted: list[ast.stmt] = field(default_factory=list)


class ExpressionConverter(ast.NodeTransformer):
    """The conversion of the expressions of one function.

    ``unsafe`` are the reads that may find a variable without a value, ``optional`` the names that may be None,
    ``lists`` those of lists that the function makes.
    """

    def __init__(
        self, names: ScopeNames, unsafe: set[ast.AST], optional: frozenset[str], lists: frozenset[str]
    ) -> None:
        self.lists = lists
        self.names = names
        self.unsafe = unsafe
        self.optional = optional
        self.frames = [Frame()]
        self.shared_by_functions: set[str] = set()
        self._functions = 0

    @property
    def frame(self) -> Frame:
        """The function that is being written."""
        return self.frames[-1]

    @property
    def is_nested(self) -> bool:
        """Return whether a hidden function is being written, not the function itself."""
        return len(self.frames) > 1

    # Hidden functions

    @contextmanager
    def nested(self) -> Iterator[Frame]:
        """Write another hidden function."""
        self.frames.append(Frame())
        yield self.frame
        self.frames.pop()

    def hidden(
        self, kind: str, body: Sequence[ast.stmt], frame: Frame, where: ast.AST, parameters: Sequence[str] = ()
    ) -> ast.FunctionDef:
        """Return the definition of a hidden function, which binds names of the function or of modules."""
        self._functions += 1
        bound = frame.bound.difference(parameters)
        outer = sorted(name for name in bound if self.names.is_state(name))
        shared = sorted(bound & self.names.shared)
        self.shared_by_functions.update(outer)
        head: list[ast.stmt] = [ast.Nonlocal(outer)] if outer else []
        head += [ast.Global(shared)] if shared else []
        args = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
        made: Any = ast.FunctionDef(
            name=f".{kind}_{self._functions}", args=args, body=[*head, *body], decorator_list=[]
        )
        made.type_params = []
        found: ast.FunctionDef = placed(made, where)
        return found

    def thunk(self, nodes: ast.expr, parameters: Sequence[str] = (), truth: bool = False) -> ast.expr:
        """Return a function that evaluates an expression: a lambda, unless the expression binds names."""
        with self.nested() as frame:
            value = self.condition(nodes) if truth else self.converted(nodes)
        if not frame.bound and not frame.hoisted:
            args = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
            return placed(ast.Lambda(args, value), nodes)
        body = [*frame.hoisted, placed(ast.Return(value), nodes)]
        return self.hoist(self.hidden("operand", body, frame, nodes, parameters))

    def hoist(self, definition: ast.FunctionDef) -> ast.expr:
        """Define a function in front of the statement that is being written; return its name."""
        self.frame.hoisted.append(definition)
        return placed(ast.Name(definition.name, ast.Load()), definition)

    # Expressions

    def converted(self, node: ast.expr) -> ast.expr:
        """Convert an expression whose value counts."""
        found: ast.expr = self.visit(node)
        return found

    def condition(self, node: ast.expr) -> ast.expr:
        """Convert an expression of which only the truth counts."""
        if isinstance(node, ast.BoolOp):
            first, *others = node.values
            method = "both" if isinstance(node.op, ast.And) else "either"
            return call(method, node, self.condition(first), *(self.thunk(one, truth=True) for one in others))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return call("not_", node, self.condition(node.operand))
        return self.converted(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, *others = node.values
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        return call(method, node, self.converted(first), *map(self.thunk, others))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.converted(node.operand)
        if isinstance(node.op, ast.Not):
            return call("not_", node, operand)
        node.operand = operand
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return call("if_exp", node, self.condition(node.test), self.thunk(node.body), self.thunk(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            self.generic_visit(node)
            return node
        operators = placed(ast.Tuple([ast.Constant(_OPERATORS[type(one)]) for one in node.ops], ast.Load()), node)
        left = _unread(self.converted(node.left)) if asks_for_none(node) else self.converted(node.left)
        right = self.converted(node.comparators[0])
        return call("compare", node, operators, left, right, *map(self.thunk, node.comparators[1:]))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.assigned(node.value, node.target)
        self.visit(node.target)
        return call("read", node, node) if node.target.id in self.optional else node

    def assigned(self, value: ast.expr, target: ast.expr) -> ast.expr:
        """Convert the value of an assignment, which may be None where the variable may be."""
        is_optional = isinstance(target, ast.Name) and target.id in self.optional and gives_none(value)
        return _unread(self.converted(value)) if is_optional else self.converted(value)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            self.frame.bound.add(node.id)
            return node
        return call("read", node, self._variable(node)) if node.id in self.optional else self._variable(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and is_entry(node, self.lists):
            return call("item", node, self.converted(node.value), self.converted(node.slice))
        if not isinstance(node.value, ast.Name) or node.value.id not in self.optional:
            self.generic_visit(node)
            return node
        variable = self._variable(node.value)
        node.value, node.slice = call("read", node, variable, ast.Constant(False)), self.converted(node.slice)
        return call("read", node, node) if isinstance(node.ctx, ast.Load) else node

    def _variable(self, node: Any) -> ast.expr:
        """Return the read of a variable as it stands: None, or not, as only the run may tell."""
        return self.checked(node.id, node) if node in self.unsafe else node

    def checked(self, name: str, where: ast.AST) -> ast.expr:
        """Return the read of a variable of the function, whose absence is the error of a local variable."""
        read = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Name(name, ast.Load()))
        return placed(ast.Call(ast.Name(CHECKED, ast.Load()), [ast.Constant(name), read], []), where)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        return call("defined", node, node)

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.converted(one) for one in args.defaults]
        args.kw_defaults = [None if one is None else self.converted(one) for one in args.kw_defaults]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.frame.bound.add(node.name)
        defined = placed(ast.Attribute(ast.Name(RUNTIME, ast.Load()), "defined", ast.Load()), node)
        node.decorator_list = [*map(self.converted, node.decorator_list), defined]
        self._defaults(node.args)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        self.frame.bound.add(node.name)
        node.decorator_list = [self.converted(one) for one in node.decorator_list]
        self._defaults(node.args)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        self.frame.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Convert the parts of a node in place."""
        self.frame.bound.update(bound_by(node))
        for name in parts(node):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                value[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
        return node

    # Text

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [self._text_part(one) for one in node.values]
        return call("text", node, placed(ast.Tuple(parts, ast.Load()), node))

    def _text_part(self, node: ast.expr) -> ast.expr:
        """Return text as it is, and a value with its conversion and its format as a tuple."""
        if not isinstance(node, ast.FormattedValue):
            return node
        conversion = placed(ast.Constant(chr(node.conversion) if node.conversion > 0 else ""), node)
        spec = placed(ast.Constant(""), node) if node.format_spec is None else self.converted(node.format_spec)
        return placed(ast.Tuple([self.converted(node.value), conversion, spec], ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Mult) and (isinstance(node.left, ast.List) or isinstance(node.right, ast.List)):
            return call("repeated", node, self.begun(node.left), self.begun(node.right), place_of(node))
        left, right = self.converted(node.left), self.converted(node.right)
        if isinstance(node.op, ast.Mod) and is_text(left):
            return call("format", node, placed(ast.Constant("%"), node), left, right)
        node.left, node.right = left, right
        return node

    def begun(self, node: ast.expr) -> ast.expr:
        """Convert what a list is made of: a display that is repeated is no list of its own."""
        if not isinstance(node, ast.List):
            return self.converted(node)
        self.generic_visit(node)
        return node

    def made_list(self, node: ast.expr, made: ast.expr) -> ast.expr:
        """Return the list that an expression makes, or what the runtime has in its place."""
        return call("new_list", node, made, place_of(node))

    # Calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in (*PLAIN, *THUNKS):
            return self._of_handlers(node, node.func.id)
        if isinstance(node.func, ast.Name) and node.func.id == KNOWN:
            return call("known", node, *map(self.converted, node.args))
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords:
            return self._super(node)
        if _is_conversion(node):
            found = call("convert", node, self.converted(node.func), self.converted(node.args[0]))
            return self.made_list(node, found) if name_of(node) == "list" else found
        makes_text = bool(text_method(node))
        if makes_text:
            with_list(node)
        self.generic_visit(node)
        if gives_none(node):
            return call("read", node, call("find", node, node.func, *node.args))
        if makes_text:
            return call("format", node, *(placed(one, node) for one in method_text_values(node)))
        if _unpacks_rows(node):
            (starred,) = node.args
            assert isinstance(starred, ast.Starred)
            return call("unzip", node, node.func, starred.value)
        if _makes_deque(node) or name_of(node) == "sorted":
            return self.made_list(node, node)
        if _counts(node):
            return call("counter", node, node.func, node.args[0])
        return call("new_dict", node, node, place_of(node)) if _makes_dict(node) else node

    def _of_handlers(self, node: ast.Call, name: str) -> ast.expr:
        """Return the call that a name of lowered handlers stands for."""
        record, *rest = node.args
        thunks = [self.thunk(one, truth=name == ".condition") for one in rest]
        return call(PLAIN.get(name) or THUNKS[name], node, self.converted(record), *thunks)

    def _super(self, node: ast.Call) -> ast.expr:
        """Return ``super()`` with the arguments that Python looks up in the frame of the function."""
        if not self.is_nested or "super" in self.names.local | self.names.outer:
            return node
        if not self.names.first:
            raise NotRewritable("calls super() without a first argument")
        own, this = ast.Name("__class__", ast.Load()), ast.Name(self.names.first, ast.Load())
        node.args = [ast.copy_location(own, node), ast.copy_location(this, node)]
        return node

    # Displays

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.made_list(node, node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        self.generic_visit(node)
        return call("new_dict", node, node, place_of(node))


def _unread(node: ast.expr) -> ast.expr:
    """Return what a call of the runtime reads; any other expression as it is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "read":
        return node
    owner = node.func.value
    return node.args[0] if isinstance(owner, ast.Name) and owner.id == RUNTIME else node


_CONVERSIONS = ("int", "float", "complex", "bool", "str", "repr", *("list", "tuple", "set", "frozenset", "dict"))


def _is_conversion(node: ast.Call) -> bool:
    """Return whether a call looks like that of a type of Python's numbers, with one value."""
    plain = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
    return plain and isinstance(node.func, ast.Name) and node.func.id in _CONVERSIONS


_DICTS = frozenset({"dict", "set", "Counter", "defaultdict"})


def _counts(node: ast.Call) -> bool:
    """Return whether a call looks like that of a class of counters, with what is counted."""
    plain = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
    return plain and name_of(node) == "Counter"


def _makes_dict(node: ast.Call) -> bool:
    """Return whether a call looks like that of a class of dicts or sets, which has no entries at first."""
    named = name_of(node)
    return named in _DICTS and len(node.args) == (named == "defaultdict") and not node.keywords


def _unpacks_rows(node: ast.Call) -> bool:
    """Return whether a call looks like ``zip(*rows)``."""
    is_only = len(node.args) == 1 and isinstance(node.args[0], ast.Starred) and not node.keywords
    return is_only and isinstance(node.func, ast.Name) and node.func.id == "zip"


def _makes_deque(node: ast.Call) -> bool:
    """Return whether a call looks like that of the class of deques, without a largest length."""
    return name_of(node) == "deque" and len(node.args) < 2 and not node.keywords


def name_of(node: ast.Call) -> str | None:
    """Return the name that is called, or the attribute."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def place_of(node: ast.expr) -> ast.expr:
    """Return the place of an expression in the source, as an expression."""
    return placed(ast.Tuple([ast.Constant(node.lineno), ast.Constant(node.col_offset)], ast.Load()), node)


def call(method: str, where: ast.AST, *arguments: ast.expr) -> ast.expr:
    """Return a call of a method of the runtime."""
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), method, ast.Load())
    return placed(ast.Call(function, list(arguments), []), where)


def placed(node: Node, where: ast.AST) -> Node:
    """Give a new node the place of another in the source; what is new inside of it gets it when it is compiled."""
    made: Any = ast.copy_location(node, where)
    if made.end_lineno != made.lineno:
        # Python shows the last line of a method that is called.
        made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
    return node


def none(where: ast.AST) -> ast.expr:
    """Return the constant None."""
    return placed(ast.Constant(None), where)
