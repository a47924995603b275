"""The code object of a function from its syntax tree, compiled in the scopes that its qualified name tells."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterable
from typing import Any

from xjit.capture.rewriting.scope_names import Function
from xjit.capture.rewriting.tree_walks import locate

_FACTORY = ".factory"
# A hidden function in the qualified name of a function inside of it.
_HIDDEN = re.compile(r"\.\.\w+\.<locals>")
_NESTED = 0x10
# The features that `from __future__` switches on.
_FUTURES = 0x1FE0000
_COMPARED = (
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_firstlineno",
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_linetable",
    "co_exceptiontable",
)


def compile_function(
    function: Function, code: types.CodeType, hidden: Iterable[str] = (), imports: Iterable[str] = ()
) -> types.CodeType:
    """Compile a function as the one that has the code, with its classes around it; ``hidden`` are free variables too.

    The scopes decide on private names, on ``__class__``, and on qualified names; ``imports`` of the module on how
    attributes are called.
    """
    body: ast.stmt = (
        function if isinstance(function, ast.FunctionDef) else ast.copy_location(ast.Expr(function), function)
    )
    body_name = code.co_name
    for name, is_class in reversed(_scopes(code)):
        made: Any = _class(name, body) if is_class else _definition(name, (), _unbound(body_name, code), body)
        body, body_name = ast.copy_location(made, function), name
    names = [*code.co_freevars, *hidden]
    head: list[ast.stmt] = [ast.copy_location(ast.Import([ast.alias(name) for name in imports]), function)]
    factory = ast.copy_location(_definition(_FACTORY, names, _unbound(body_name, code), body), function)
    module = ast.Module([*(head if imports else []), factory], [])
    locate(module, function)
    compiled = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    for _ in range(len(_scopes(code)) + 2):
        (compiled,) = (one for one in compiled.co_consts if isinstance(one, types.CodeType))
    assert isinstance(compiled, types.CodeType)
    return compiled


def _scopes(code: types.CodeType) -> list[tuple[str, bool]]:
    """Return name and sort of the scopes around a function, from the outside; a class is True."""
    parts = code.co_qualname.split(".")[:-1]
    return [(name, parts[k + 1 : k + 2] != ["<locals>"]) for k, name in enumerate(parts) if name != "<locals>"]


def in_class(code: types.CodeType) -> str:
    """Return the name of the innermost class around a function, or nothing."""
    return next((name for name, is_class in reversed(_scopes(code)) if is_class), "")


def _class(name: str, body: ast.stmt) -> ast.ClassDef:
    made: Any = ast.ClassDef(name=name, bases=[], keywords=[], body=[body], decorator_list=[])
    made.type_params = []
    found: ast.ClassDef = made
    return found


def _unbound(name: str, code: types.CodeType) -> list[ast.stmt]:
    """Return what keeps a definition from binding its name in the scope around it, unless the code finds it there."""
    return [] if name in code.co_freevars else [ast.Global([name])]


def _definition(name: str, parameters: Iterable[str], head: list[ast.stmt], body: ast.stmt) -> ast.FunctionDef:
    args = ast.arguments([], [ast.arg(one) for one in parameters], None, [], [], None, [])
    made: Any = ast.FunctionDef(name=name, args=args, body=[*head, body], decorator_list=[])
    made.type_params = []
    found: ast.FunctionDef = made
    return found


def differs(compiled: types.CodeType, code: types.CodeType) -> bool:
    """Return whether two code objects do different things or have different lines; files do not count."""
    if any(getattr(compiled, name) != getattr(code, name) for name in _COMPARED):
        return True
    if (compiled.co_flags ^ code.co_flags) & ~_NESTED or len(compiled.co_consts) != len(code.co_consts):
        return True
    return any(map(_constants_differ, compiled.co_consts, code.co_consts))


def _constants_differ(one: Any, other: Any) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return differs(one, other)
    # The text tells 0.0 from -0.0, True from 1, and the members of tuples alike.
    return type(one) is not type(other) or _told(one) != _told(other)


def _told(value: Any) -> Any:
    return frozenset(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def polished(code: types.CodeType, function: types.CodeType, prefix: str) -> types.CodeType:
    """Return rewritten code in which hidden functions have the name of the function, and others their own again.

    The prefix is the qualified name that the rewritten function was compiled with.
    """

    def own(name: str) -> str:
        return function.co_qualname + _HIDDEN.sub("", name.removeprefix(prefix))

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            return polished(value, function, prefix)
        # The qualified name of a class is a constant of its body.
        return own(value) if isinstance(value, str) and value.startswith(f"{prefix}.<locals>.") else value

    consts = tuple(map(constant, code.co_consts))
    if code.co_name.startswith("."):
        return code.replace(co_consts=consts, co_name=function.co_name, co_qualname=function.co_qualname)
    return code.replace(co_consts=consts, co_qualname=own(code.co_qualname))
