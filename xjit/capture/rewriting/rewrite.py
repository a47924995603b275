"""From a Python function to one whose control flow calls a runtime; ``runtime_protocol.py`` says which calls.

    source_lookup     the lines of the function; they have to compile to the very code that it has
    lower_matches     match becomes a chain of branches
    lower_missing_keys  handlers of missing keys become branches, too
    scope_names       its variables, and who else sees them
    lower_unbound     variables that only the run gives a value get flags, which reads look at
    lower_handlers    bodies of try become expressions, behind each of which the code of a handler may follow
    bound_names       reads that may find no value: in a nested function Python would have other words for that
    lower_late_returns  where it is asked for, returns in loops come behind these
    lower_jumps       break, continue and return become flags
    liveness          which variables loops and branches carry, from the effects of statements
    convert_*         control flow becomes calls, blocks become nested functions
    function_code     the code object, compiled within the scopes that the function came from

Loops, branches, conditions, assertions and comprehensions are rewritten wherever they stand, in ``try``, ``with`` and
what is left of ``match``, too, which stay Python's own statements, and so do classes and generators that the function
defines. Its functions and lambdas are handed to the runtime where they are defined, which may have them rewritten.
Functions are refused that are coroutines, that look at their variables or frames (``locals()``, ``eval``), that jump
out of a ``finally``, or whose source is missing or has changed.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xjit.capture.rewriting.bound_names import read_in_comprehensions, unbound_names, unsafe_reads
from xjit.capture.rewriting.convert_expressions import CHECKED, RUNTIME, SITES
from xjit.capture.rewriting.convert_statements import StatementConverter
from xjit.capture.rewriting.function_code import compile_function, in_class, polished
from xjit.capture.rewriting.generators import emitting
from xjit.capture.rewriting.list_names import list_names, lone_lists
from xjit.capture.rewriting.liveness import sites_of
from xjit.capture.rewriting.lowering.lower_assigning_tests import lower_assigning_tests
from xjit.capture.rewriting.lowering.lower_handlers import lower_handlers
from xjit.capture.rewriting.lowering.lower_jumps import lower_jumps
from xjit.capture.rewriting.lowering.lower_late_returns import lower_late_returns
from xjit.capture.rewriting.lowering.lower_matches import lower_matches
from xjit.capture.rewriting.lowering.lower_missing_keys import lower_missing_keys
from xjit.capture.rewriting.lowering.lower_unbound import lower_unbound
from xjit.capture.rewriting.optional_names import optional_names, spread
from xjit.capture.rewriting.runtime_protocol import ControlRuntime, Site
from xjit.capture.rewriting.scope_names import DEFINITIONS, Function, ScopeNames, scope_names
from xjit.capture.rewriting.source_lookup import NotRewritable, find_tree
from xjit.capture.rewriting.tree_walks import children, locate
from xjit.dataclass import dataclass, replace

_LOOKS_AT_VARIABLES = ("locals", "vars", "dir")
_RUNS_TEXT = ("eval", "exec")
_LOOKS_AT_FRAMES = ("_getframe", "currentframe")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The code of a rewritten function and its loops and branches."""

    code: types.CodeType
    sites: tuple[Site, ...]


def rebuild(
    function: types.FunctionType,
    runtime: ControlRuntime,
    namespace: dict[str, Any] | None = None,
    closure: Mapping[str, types.CellType] | None = None,
    code: types.CodeType | None = None,
    *,
    handlers: bool = False,
    unbound: frozenset[str] = frozenset(),
    late_returns: bool = False,
) -> types.FunctionType:
    """Return the function with its control flow handed to a runtime; NotRewritable if that cannot be done.

    It has the globals and the cells of the function, unless others are given. Whoever gives others sees to defaults
    and attributes by himself where these have to be others, too. The ``code`` is that of its source, which is another
    one for a function that a rewritten one defines. With ``handlers`` those of ``try`` are part of the control flow.
    Variables that are ``unbound`` where the function reads them get flags. With ``late_returns`` those of loops come
    behind the loops.
    """
    rewritten = rewrite(function, code, handlers, unbound, late_returns)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells.update(closure or {})
    cells[RUNTIME], cells[SITES] = types.CellType(runtime), types.CellType(rewritten.sites)
    cells[CHECKED] = types.CellType(functools.partial(checked, runtime))
    found = types.FunctionType(
        rewritten.code,
        function.__globals__ if namespace is None else namespace,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in rewritten.code.co_freevars),
    )
    found.__kwdefaults__ = function.__kwdefaults__
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(found, name, getattr(function, name))
    vars(found).update(vars(function))
    return found


def returns_in_loops(code: types.CodeType) -> bool:
    """Return whether a function, as it stands, has returns in loops."""
    try:
        pending: list[ast.AST] = [one for one in ast.walk(find_tree(code)) if isinstance(one, (ast.While, ast.For))]
    except NotRewritable:
        return False
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.expr, *DEFINITIONS)):
            pending += children(node)
    return False


def checked(runtime: ControlRuntime, name: str, read: Callable[[], Any]) -> Any:
    """Return the value of a variable of the function; without one Python's error for a local variable."""
    try:
        return read()
    except NameError:
        runtime.missed(name)
    raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def rewrite(
    function: types.FunctionType,
    code: types.CodeType | None = None,
    handlers: bool = False,
    unbound: frozenset[str] = frozenset(),
    late_returns: bool = False,
) -> Rewritten:
    """Return the rewritten code of a function, made once; NotRewritable if it cannot be rewritten."""
    code = code or function.__code__
    linecache.lazycache(code.co_filename, function.__globals__)
    return _rewritten(code, code.co_filename, handlers, unbound, late_returns)


@functools.lru_cache(maxsize=256)
def _rewritten(
    code: types.CodeType, filename: str, handlers: bool, unbound: frozenset[str], late_returns: bool
) -> Rewritten:
    """Return the rewritten code; equal code may stand in several files, so the file is part of the key."""
    try:
        return _made(find_tree(code), code, handlers, unbound, late_returns)
    except RecursionError:
        raise NotRewritable("is nested too deeply") from None


def _made(
    tree: Function, code: types.CodeType, handlers: bool, unbound: frozenset[str], late_returns: bool
) -> Rewritten:
    is_generator = bool(code.co_flags & inspect.CO_GENERATOR)
    tree = emitting(tree) if is_generator else tree
    lower_matches(tree)
    lower_missing_keys(tree)
    lower_assigning_tests(tree)
    names = scope_names(tree)
    if _mentioned(code) & {*_LOOKS_AT_VARIABLES, *_RUNS_TEXT, *_LOOKS_AT_FRAMES}:
        _check_introspection(tree)
    unsafe = unsafe_reads(tree, names)
    flagged = frozenset() if is_generator else lower_unbound(tree, names, unsafe, unbound)
    names = scope_names(tree) if flagged else names
    if handlers and not is_generator and lower_handlers(tree, unsafe):
        names = scope_names(tree)
    bound = names.local - names.captured - (unbound_names(unsafe) - flagged) - read_in_comprehensions(tree)
    head, body = _body(tree)
    lowered = lower_jumps(lower_late_returns(spread(body)) if late_returns and not is_generator else spread(body))
    found = sites_of(lowered.body, names, lowered.stops)
    optional = frozenset() if is_generator else optional_names(tree, names)
    sites = {node: _with_marks(site, bound, optional) for node, site in found.items()}
    lone = lone_lists(lowered.body, names)
    converter = StatementConverter(names, unsafe, sites, optional, list_names(tree, names), lone)
    if is_generator:
        written = converter.generator(lowered.body, lowered.body[0], sorted(names.local))
    else:
        written = converter.block(lowered.body)
    definition: Any = ast.FunctionDef(
        name=code.co_name,
        args=tree.args,
        body=[*head, *_declarations(names, converter.shared_by_functions), *written],
        decorator_list=getattr(tree, "decorator_list", []),
    )
    definition.type_params = []
    ast.copy_location(definition, tree)
    locate(definition)
    compiled = compile_function(definition, code, (RUNTIME, SITES, CHECKED))
    return Rewritten(polished(compiled, code, compiled.co_qualname), _mangled(sites.values(), in_class(code)))


def _with_marks(site: Site, bound: frozenset[str], optional: frozenset[str]) -> Site:
    sure, perhaps = (tuple(filter(several.__contains__, site.names)) for several in (bound, optional))
    return replace(site, bound=sure, optional=perhaps)


def _body(tree: Function) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the docstring and the statements of a function."""
    if isinstance(tree, ast.Lambda):
        return [], [ast.copy_location(ast.Return(tree.body), tree.body)]
    count = 1 if ast.get_docstring(tree, clean=False) is not None else 0
    return tree.body[:count], tree.body[count:] or [ast.copy_location(ast.Pass(), tree.body[0])]


def _declarations(names: ScopeNames, assigned: set[str]) -> list[ast.stmt]:
    """Return what makes all variables ones of the function, wherever they are assigned; it does not run."""
    written: list[ast.stmt] = []
    if names.shared:
        written.append(ast.Global(sorted(names.shared)))
    if names.outer:
        written.append(ast.Nonlocal(sorted(names.outer)))
    own = sorted((assigned | names.local).difference(names.parameters, names.outer))
    if own:
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in own]
        written.append(ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], []))
    return written


def _mentioned(code: types.CodeType) -> set[str]:
    """Return the globals and attributes that code mentions."""
    inner = (_mentioned(one) for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*inner)


def _check_introspection(tree: Function) -> None:
    """NotRewritable for calls that look at variables or frames, which are others in the rewritten function."""
    pending: list[ast.AST] = list(tree.body) if isinstance(tree.body, list) else [tree.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            called = _called_name(node.func)
            bare = isinstance(node.func, ast.Name)
            if (bare and called in _RUNS_TEXT) or called in _LOOKS_AT_FRAMES:
                raise NotRewritable(f"calls {called}, which may look at its variables")
            if bare and called in _LOOKS_AT_VARIABLES and not node.args:
                raise NotRewritable(f"calls {called}(), which looks at its variables")
        if not isinstance(node, (ast.Lambda, *DEFINITIONS)):
            pending += children(node)


def _called_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _mangled(sites: Iterable[Site], owner: str) -> tuple[Site, ...]:
    """Return sites with private names of a class as the cells have them."""
    return tuple(
        replace(
            site,
            names=tuple(_private(name, owner) for name in site.names),
            carried=tuple(_private(name, owner) for name in site.carried),
            at_start=tuple(_private(name, owner) for name in site.at_start),
            bound=tuple(_private(name, owner) for name in site.bound),
            optional=tuple(_private(name, owner) for name in site.optional),
        )
        for site in sites
    )


def _private(name: str, owner: str) -> str:
    is_private = name.startswith("__") and not name.endswith("__") and owner.strip("_")
    return f"_{owner.lstrip('_')}{name}" if is_private else name
