"""Numba's public interface as front end: slower to compile, but it asks little of Numba's inner parts.

The text is rewritten so that every operator is a call of one of our operations, which then mean the same in both
front ends; ``numba.cfunc`` compiles the result and its LLVM IR goes on through our own passes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from xjit.codegen.cpu import emit_conversions, emit_memory, emit_operators, emit_tiles, emitters
from xjit.codegen.front_end.numba_types import OperationType, extending, kind_of, numba_type, signature, types
from xjit.codegen.language import inline_functions
from xjit.codegen.language.inline_functions import InlineFunction, parse_signature
from xjit.codegen.language.intrinsics import Intrinsic
from xjit.codegen.language.scalar_types import KernelTypeError

if TYPE_CHECKING:
    from xjit.codegen.cpu.emitters import CpuTraits, Operation
    from xjit.codegen.front_end.numba_compat import Routine

numba: Any = importlib.import_module("numba")

_PREFIX = "operator_"
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Invert: "invert",
    ast.USub: "neg",
    ast.Not: "not_",
}


class Word:
    """An operation as a Python value that Numba's stock compiler finds a type for."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation


def translate(routine: Routine, traits: CpuTraits) -> str:
    """LLVM IR text of a module with one C function; inline functions are compiled into it.

    Raises KernelTypeError when the text does not follow the language or cannot be found.
    """
    words = {name: _word(operation) for name, operation in _operations(traits).items()}
    result, arguments = parse_signature(routine.signature)
    function = _rewritten(routine.function, routine.source, words, {})
    prototype = signature(numba_type(result), *map(numba_type, arguments))
    try:
        compiled = numba.cfunc(prototype, error_model="numpy")(function)
    except numba.core.errors.NumbaError as error:
        raise KernelTypeError(str(error)) from error
    return _only(compiled.inspect_llvm(), compiled.native_name, routine.symbol)


def _operations(traits: CpuTraits) -> dict[str, Operation]:
    operators = {f"{_PREFIX}{name}": value for name, value in emit_operators.operators().items()}
    words = (emitters.operations(traits), emit_conversions.operations(traits), emit_memory.operations(traits))
    # Numba's own passes would not take the loops as they are told to: here sums add one element after the other.
    in_order = (emitters.steps_in_order(), emit_memory.plain_step_loads())
    tables = (*words, *in_order, emit_tiles.operations(), operators)
    return {name: word for table in tables for name, word in table.items()}


def _word(operation: Operation) -> Word:
    def implementation(context: Any, builder: Any, call: Any, values: Any) -> Any:
        value = operation.emit(builder, tuple(kind_of(argument) for argument in call.args), values)
        return context.get_dummy_value() if value is None else value

    extending.lower_builtin(OperationType(operation), types.VarArg(types.Any))(implementation)
    return Word(operation)


extending.typeof_impl.register(Word)(lambda word, context: OperationType(word.operation))


def _rewritten(
    function: Callable[..., Any], source: str | None, words: dict[str, Word], made: dict[str, Any]
) -> Callable[..., Any]:
    """The function over words instead of operators, with compiled functions in place of inline ones."""
    tree = ast.parse(_source(function) if source is None else source)
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    definition.decorator_list.clear()
    scope: dict[str, Any] = dict(words)
    for name, value in inline_functions.free_values(function).items():
        if isinstance(value, InlineFunction):
            scope[name] = made.get(name) or made.setdefault(name, _compiled(value, words, made))
        elif isinstance(value, Intrinsic):
            scope[name] = words[value.name]
        else:
            scope[name] = value
    module = ast.fix_missing_locations(_Rewrite().visit(ast.Module([definition], [])))
    exec(compile(module, "<kernel>", "exec"), scope)
    result: Callable[..., Any] = scope[definition.name]
    return result


def _compiled(inline: InlineFunction, words: dict[str, Word], made: dict[str, Any]) -> Any:
    prototype = signature(numba_type(inline.result), *map(numba_type, inline.arguments))
    return numba.njit(prototype, error_model="numpy")(_rewritten(inline.function, None, words, made))


def _source(function: Callable[..., Any]) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise KernelTypeError(f"the text of {function.__name__} cannot be found") from error


class _Rewrite(ast.NodeTransformer):
    """Operators to calls of words."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not any(isinstance(part, ast.Name) for part in ast.walk(node)):
            return node  # computed by Python's own compiler, as in 1 << 52
        return _call(node.op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return node  # a negative number is a constant
        return _call(node.op, self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) > 1:
            raise KernelTypeError("a comparison of more than two values")
        return _call(node.ops[0], self.visit(node.left), self.visit(node.comparators[0]))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            raise KernelTypeError("an assignment to something other than a variable")
        value = _call(node.op, ast.Name(node.target.id, ast.Load()), self.visit(node.value))
        return ast.Assign([node.target], value)

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = _truth(node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _truth(node.test)
        return node


def _call(operation: ast.AST, *operands: ast.expr) -> ast.expr:
    name = _OPERATORS.get(type(operation))
    if name is None:
        raise KernelTypeError(f"the kernel language has no operator {type(operation).__name__}")
    return ast.Call(ast.Name(_PREFIX + name, ast.Load()), list(operands), [])


def _truth(test: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"{_PREFIX}bool", ast.Load()), [test], [])


def _only(text: str, name: str, symbol: str) -> str:
    """The module with one public function, under its new name."""
    # Numba keeps the body apart from its C entry; inlined functions must not be.
    module = llvm.parse_assembly(re.sub(r"\bnoinline\b", "nounwind", text))
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != name:
            value.linkage = "internal"
    module.get_function(name).name = symbol
    return str(module)
