"""The source of a function, and its syntax tree: only if the source as it stands compiles to the function's code."""

from __future__ import annotations

import ast
import copy
import linecache
import types
import weakref
from collections.abc import Iterator
from typing import Any

from xjit.capture.rewriting.function_code import compile_function, differs
from xjit.capture.rewriting.scope_names import Function, bound_by, own_nodes
from xjit.capture.rewriting.tree_walks import walk

_UNUSUAL = {
    "CO_COROUTINE": "is a coroutine",
    "CO_ASYNC_GENERATOR": "is an asynchronous generator",
    "CO_ITERABLE_COROUTINE": "is a coroutine",
}
_FLAGS = {"CO_COROUTINE": 0x80, "CO_ITERABLE_COROUTINE": 0x100, "CO_ASYNC_GENERATOR": 0x200}


_NOTED: weakref.WeakKeyDictionary[types.CodeType, Function] = weakref.WeakKeyDictionary()


class NotRewritable(Exception):
    """A function whose control flow cannot be rewritten; the text says why, in words that follow its name."""


def find_tree(code: types.CodeType) -> Function:
    """Return the syntax tree of a function; NotRewritable if its source is missing or has changed."""
    if code in _NOTED:
        return copy.deepcopy(_NOTED[code])
    for name, words in _UNUSUAL.items():
        if code.co_flags & _FLAGS[name]:
            raise NotRewritable(words)
    lines = linecache.getlines(code.co_filename)
    found = _found_in(code, lines)
    if found is None:
        linecache.checkcache(code.co_filename)
        changed = linecache.getlines(code.co_filename)
        found = _found_in(code, changed) if changed != lines else None
        if not lines and not changed:
            raise NotRewritable("has no source that could be read: it was typed in or made by exec")
    if found is None:
        raise NotRewritable("differs from its source, which may have been edited since it was imported")
    return found


def note_tree(code: types.CodeType, tree: Function) -> None:
    """Notes the syntax tree of code that has no source of its own, as long as the code lives."""
    _NOTED[code] = copy.deepcopy(tree)


def _found_in(code: types.CodeType, lines: list[str]) -> Function | None:
    for tree, imports in _trees(code, lines):
        for node in walk(tree):
            if _begins_at(node, code) and isinstance(node, (ast.FunctionDef, ast.Lambda)):
                bare = without_surroundings(node)
                if not differs(compile_function(bare, code, imports=imports), code):
                    return bare
    return None


def _trees(code: types.CodeType, lines: list[str]) -> Iterator[tuple[ast.AST, list[str]]]:
    """Yield the tree of the lines of a function, failing that of the file, with the names that the module imports.

    Of these Python calls attributes, not methods. They are guessed for the lines of a function, which is quicker.
    """
    if code.co_name != "<lambda>":
        tree = _tree_of_block(lines, code.co_firstlineno - 1, _last_line(code))
        if tree is not None:
            yield tree, _guessed_imports(lines)
    try:
        module = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return
    yield module, _imports(module)


def _guessed_imports(lines: list[str]) -> list[str]:
    """Return the names that import statements at the start of lines bind, as far as these can be read one by one."""
    names: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith(("import ", "from ", "    import ", "    from ")):
            end = number + 1
            if "(" in line:
                end += next((k for k, one in enumerate(lines[number:]) if ")" in one), 0)
            try:
                names += _imports(ast.parse("".join(lines[number:end]).strip()))
            except (SyntaxError, ValueError):
                continue
    return names


def _imports(module: ast.AST) -> list[str]:
    """Return the names that the import statements of a module bind."""
    nodes = [node for node in own_nodes(module) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return [name for node in nodes for name in bound_by(node) if name != "*"]


def _tree_of_block(lines: list[str], first: int, last: int) -> ast.AST | None:
    """Return the tree of the lines from the first to where its indentation ends, behind the last with code."""
    if first >= len(lines):
        return None
    indent = _indent(lines[first])
    for end in range(last, len(lines) + 1):
        if end == len(lines) or _may_begin(lines[end], indent):
            # Columns and lines stay as they are.
            head = "\n" * (first - 1) + ("if True:" if indent else "") + "\n" * bool(first)
            try:
                return ast.parse(head + "".join(lines[first:end]))
            except (SyntaxError, ValueError):
                continue
    return None


def _may_begin(line: str, indent: int) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#") and _indent(line) <= indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last_line(code: types.CodeType) -> int:
    own = max((end or 0 for _, end, _, _ in code.co_positions()), default=0)
    inner = [_last_line(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return max(own, code.co_firstlineno, *inner, 0)


def _begins_at(node: ast.AST, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if not isinstance(node, ast.FunctionDef):
        return False
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def without_surroundings(node: Function) -> Function:
    """Return a function without what its definition evaluates: decorators, defaults and annotations."""
    bare: Any = copy.copy(node)
    bare.args = copy.copy(node.args)
    bare.args.defaults = []
    bare.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    for one in ("posonlyargs", "args", "kwonlyargs"):
        setattr(bare.args, one, [_bare_argument(arg) for arg in getattr(node.args, one)])
    for one in ("vararg", "kwarg"):
        setattr(bare.args, one, _bare_argument(getattr(node.args, one)))
    if isinstance(node, ast.FunctionDef):
        bare.returns = None
        bare.type_params = []
        first = node.decorator_list[:1]
        bare.decorator_list = [ast.copy_location(ast.Constant(None), one) for one in first]
    found: Function = bare
    return found


def _bare_argument(arg: ast.arg | None) -> ast.arg | None:
    return None if arg is None else ast.copy_location(ast.arg(arg.arg), arg)
