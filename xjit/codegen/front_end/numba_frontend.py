# mypy: disallow-subclassing-any=False
"""Numba's private parts: kernel functions to LLVM IR through Numba's front end, with our own small contexts.

The IR comes from the text (:mod:`xjit.codegen.front_end.numba_text`), of an unusual one from bytecode; Numba infers
types and walks it.  What a name or an operator means comes from our operation table, so none of Numba's function
registries is loaded.  Importing this module imports Numba.
"""

from __future__ import annotations

import builtins
import importlib
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from llvmlite import ir

from xjit.codegen.cpu import emit_conversions, emit_loops, emit_memory, emit_operators, emit_tiles, emitters
from xjit.codegen.cpu.emitters import CpuTraits, Operation
from xjit.codegen.front_end import numba_text
from xjit.codegen.front_end.numba_inference import Inference
from xjit.codegen.front_end.numba_types import OperationType, call_signature, kind_of, numba_type, types
from xjit.codegen.language.inline_functions import InlineFunction
from xjit.codegen.language.intrinsics import Intrinsic
from xjit.codegen.language.scalar_types import KernelTypeError


def _numba(module: str) -> Any:
    # Numba's annotations differ from one minor version to the next; here all of it is Any.
    return importlib.import_module(f"numba.core.{module}")


bytecode, interpreter = _numba("bytecode"), _numba("interpreter")
callconv, lowering = _numba("callconv"), _numba("lowering")
errors, typing = _numba("errors"), _numba("typing")
_TypingBase: Any = typing.BaseContext
_TargetBase: Any = _numba("base").BaseContext
_CallsBase: Any = callconv.BaseCallConv
_InterpreterBase: Any = interpreter.Interpreter
_LowerBase: Any = lowering.Lower
_global_compiler_lock: Any = _numba("compiler_lock").global_compiler_lock


class TypingContext(_TypingBase):
    """Types of names and operators, from the operation table alone; results are remembered."""

    def __init__(self, table: dict[Any, Operation]) -> None:
        self.table = table
        self.words = {key: OperationType(operation) for key, operation in table.items()}
        self.signatures: dict[Any, Any] = {}
        super().__init__()

    def refresh(self) -> None:
        """Nothing is registered from outside."""

    def add(self, key: Any, operation: Operation) -> None:
        """Makes one more operation known."""
        self.table[key] = operation
        self.words[key] = OperationType(operation)

    def resolve_value_type(self, value: Any) -> Any:
        """The type of a global or a constant."""
        if isinstance(value, Intrinsic | InlineFunction):
            return self.words[value.name]
        constant = _CONSTANTS.get(type(value))
        if constant is not None:
            return constant
        word = self.words.get(value) if isinstance(value, Hashable) else None
        if word is None:
            raise errors.TypingError(f"the kernel language has no {value!r}")
        return word

    def resolve_value_type_prefer_literal(self, value: Any) -> Any:
        """The same, with the value in the type where Numba can."""
        return types.maybe_literal(value) or self.resolve_value_type(value)

    def resolve_function_type(self, function: Any, arguments: Any, keywords: Any) -> Any:
        """The signature of a call or an operator."""
        key = (function, tuple(arguments))
        signature = self.signatures.get(key)
        if signature is None:
            signature = self.signatures[key] = self._infer(function, key[1])
        return signature

    def _infer(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        operation = function.operation if isinstance(function, OperationType) else self.table.get(function)
        if operation is None:
            raise errors.TypingError(f"the kernel language has no {function}")
        try:
            return call_signature(operation, arguments)
        except KernelTypeError as error:
            # A TypingError may be taken back when more of the program is known, and it names the line.
            raise errors.TypingError(str(error)) from error


_CONSTANTS = {bool: types.boolean, int: types.int64, float: types.float64, type(None): types.none}


class PlainCalls(_CallsBase):
    """Arguments and result exactly as in C; there are no exceptions."""

    def get_function_type(self, result: Any, arguments: Any) -> Any:
        """The LLVM type of a function."""
        llvm_result = ir.VoidType() if result == types.none else self.context.get_value_type(result)
        return ir.FunctionType(llvm_result, [self.context.get_value_type(a) for a in arguments])

    def decode_arguments(self, builder: Any, arguments: Any, function: Any) -> list[Any]:
        """The values of the arguments."""
        return list(function.args)

    def decorate_function(self, function: Any, names: Any, arguments: Any, noalias: bool = False) -> None:
        """Names the arguments for readers of the IR."""
        for argument, name in zip(function.args, names, strict=True):
            argument.name = name

    def return_value(self, builder: Any, value: Any) -> None:
        """Returns."""
        type_ = builder.function.function_type.return_type
        if type_ == ir.VoidType():
            builder.ret_void()
        else:
            # Numba hands truth values over as bytes here and nowhere else.
            builder.ret(value if value.type == type_ else builder.trunc(value, type_))

    def return_user_exc(self, builder: Any, *arguments: Any, **options: Any) -> None:
        """Nothing can raise, so control never gets here."""
        builder.unreachable()

    def init_call_helper(self, builder: Any) -> None:
        """No helper is needed."""


class TargetContext(_TargetBase):
    """Implementations of names and operators, from the same operation table."""

    def __init__(self, typing_context: TypingContext) -> None:
        self.implementations: dict[Any, Any] = {}
        super().__init__(typing_context, "cpu")

    def refresh(self) -> None:
        """Nothing is registered from outside."""

    def codegen(self) -> None:
        """Code is generated elsewhere."""

    def create_module(self, name: str) -> Any:
        """An empty module."""
        return emit_memory.new_module(name)

    @property
    def call_conv(self) -> PlainCalls:
        """The calling convention."""
        return PlainCalls(self)

    def declare_env_global(self, module: Any, name: str) -> None:
        """Compiled code has no Python environment."""

    def post_lowering(self, module: Any, library: Any) -> None:
        """Nothing is linked here."""

    def get_abi_sizeof(self, llvm_type: Any) -> int:
        """Asked for debug information only, which is off."""
        return 8

    def get_function(self, function: Any, signature: Any, _firstcall: bool = True) -> Callable[..., Any]:
        """The function that writes the call into the LLVM function."""
        key = (function, signature.args)
        found = self.implementations.get(key)
        if found is None:
            found = self.implementations[key] = self._implementation(function, signature.args)
        return found

    def _implementation(self, function: Any, arguments: Any) -> Callable[..., Any]:
        operation = function.operation if isinstance(function, OperationType) else self.typing_context.table[function]
        kinds = tuple(kind_of(argument) for argument in arguments)

        def emit(builder: Any, values: Sequence[Any], location: Any = None) -> Any:
            return operation.emit(builder, kinds, values)

        return emit

    def cast(self, builder: Any, value: Any, source: Any, target: Any) -> Any:
        """Conversions that typing asked for, such as an integer literal to the type of its partner."""
        if source == target:
            return value
        return emitters.convert(builder, value, kind_of(source), kind_of(target))

    def get_constant_generic(self, builder: Any, type_: Any, value: Any) -> Any:
        """A constant, or nothing of interest for a function."""
        if isinstance(type_, OperationType) or value is None:
            return self.get_dummy_value()
        return ir.Constant(self.get_value_type(type_), value)

    def get_constant(self, type_: Any, value: Any) -> Any:
        """A constant."""
        return self.get_constant_generic(None, type_, value)

    def pair_first(self, builder: Any, value: Any, type_: Any) -> Any:
        """The loop counter of an iteration step."""
        return builder.extract_value(value, 0)

    def pair_second(self, builder: Any, value: Any, type_: Any) -> Any:
        """Return whether an iteration step happens."""
        return builder.extract_value(value, 1)


class Interpreter(_InterpreterBase):
    """Numba's translation of bytecode without its search for lists, with blocks and keyword calls."""

    def post_process(self, rewrites: Any, function_ir: Any) -> Any:
        """The language has none of what the rewrites look for."""
        return function_ir


class Lower(_LowerBase):
    """Numba's walk over its IR without reference counts, error contexts and texts for debugging."""

    def lower_block(self, block: Any) -> None:
        """The statements of a block."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)
        self.post_block(block)

    def lower_inst(self, inst: Any) -> None:
        """One statement, an assignment nearly always."""
        if isinstance(inst, numba_text.ir.Assign):
            name = inst.target.name
            self.storevar(self.lower_assign(self.typeof(name), inst), name)
        else:
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assigns a variable: values used in one block stay values."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
            return
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing is freed."""

    def _find_singly_assigned_variable(self) -> None:
        """Finds the variables that need no memory: assigned once, and read in that block only, further down."""
        assigned: Counter[str] = Counter()
        outside: set[str] = set()
        for block in self.func_ir.blocks.values():
            own: set[str] = set()
            for statement in block.body:
                outside.update(one for one in _names_read(statement) if one not in own)
                if isinstance(statement, numba_text.ir.Assign):
                    assigned[statement.target.name] += 1
                    own.add(statement.target.name)
        self._singly_assigned_vars = {name for name, times in assigned.items() if times == 1} - outside
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_call(self, result: Any, expression: Any) -> Any:
        """A call: one look-up, as there are neither keywords nor methods."""
        signature = self.fndesc.calltypes[expression]
        values = [
            self.context.cast(self.builder, self.loadvar(variable.name), self.typeof(variable.name), type_)
            for variable, type_ in zip(expression.args, signature.args, strict=True)
        ]
        function = self.typeof(expression.func.name)
        value = self.context.get_function(function, signature)(self.builder, values)
        if value is None:
            return self.context.get_dummy_value()
        return self.context.cast(self.builder, value, signature.return_type, result)

    def lower_binop(self, result: Any, expression: Any, function: Any) -> Any:
        """An operator: one look-up, without trying constant operands first."""
        signature = self.fndesc.calltypes[expression]
        values = [
            self.context.cast(self.builder, self.loadvar(variable.name), self.typeof(variable.name), type_)
            for variable, type_ in zip((expression.lhs, expression.rhs), signature.args, strict=True)
        ]
        value = self.context.get_function(function, signature)(self.builder, values)
        return self.context.cast(self.builder, value, signature.return_type, result)


def _names_read(statement: Any) -> Iterable[str]:
    """The variables that a statement reads."""
    value = statement.value if isinstance(statement, numba_text.ir.Assign) else statement
    kind = type(value)
    if kind is numba_text.ir.Var:
        return (value.name,)
    if kind is numba_text.ir.Expr and value.op == "call":
        return [value.func.name, *(one.name for one in value.args)]
    if kind is numba_text.ir.Expr and value.op == "binop":
        return (value.lhs.name, value.rhs.name)
    return [one.name for one in value.list_vars()] if hasattr(value, "list_vars") else ()


class Library:
    """The library that the lowering puts its module into."""

    def __init__(self, context: TargetContext) -> None:
        self.context = context

    def create_ir_module(self, name: str) -> Any:
        """The module to write into."""
        return self.context.create_module(name)

    def add_ir_module(self, module: Any) -> None:
        """The module is read from the lowering itself."""


_PYTHON_OPERATORS = {
    "and_": (operator.and_, operator.iand),
    "or_": (operator.or_, operator.ior),
    "xor": (operator.xor, operator.ixor),
    "add": (operator.add, operator.iadd),
    "sub": (operator.sub, operator.isub),
    "mul": (operator.mul, operator.imul),
    "truediv": (operator.truediv, operator.itruediv),
    "not_": (operator.not_,),
    "bool": (builtins.bool, operator.truth),
}


def operation_table(traits: CpuTraits) -> dict[Any, Operation]:
    """All operations, by the names and by the functions of the module operator that stand for them."""
    table: dict[Any, Operation] = {}
    table.update(emitters.operations(traits))
    table.update(emit_conversions.operations(traits))
    table.update(emit_memory.operations(traits))
    table.update(emit_tiles.operations())
    table.update(emit_loops.operations())
    table[builtins.range] = table["range"]
    for name, operation in emit_operators.operators().items():
        for key in _PYTHON_OPERATORS.get(name) or (getattr(operator, name),):
            table[key] = operation
    return table


class Frontend:
    """Functions of the kernel language to LLVM IR text for one kind of processor."""

    def __init__(self, traits: CpuTraits) -> None:
        self.registers = traits.registers
        self.typing = TypingContext(operation_table(traits))
        self.target = TargetContext(self.typing)

    def translate(
        self,
        function: Callable[..., Any],
        arguments: Sequence[str],
        result: str,
        symbol: str,
        used: Sequence[InlineFunction] = (),
        source: str | None = None,
    ) -> str:
        """LLVM IR text of a module with one C function ``symbol``; inline functions are declared only.

        ``source`` is the text of the function, where that is known.
        """
        for inline in used:
            if inline.name not in self.typing.words:
                self.typing.add(inline.name, call_operation(inline))
        try:
            with _global_compiler_lock, _numba("targetconfig").ConfigStack().enter(_flags()):
                module = self._lower(_numba_ir(function, source), arguments, result, symbol)
        except errors.NumbaError as error:
            raise KernelTypeError(str(error)) from error
        emit_memory.add_alias_scopes(module)
        emit_loops.shape_loops(module, self.registers)
        return str(module)

    def _lower(self, function_ir: Any, arguments: Sequence[str], result: str, symbol: str) -> Any:
        typemap, result_type, calltypes = self._types(function_ir, tuple(map(numba_type, arguments)), result)
        descriptor = _numba("funcdesc").PythonFunctionDescriptor.from_specialized_function(
            function_ir, typemap, result_type, calltypes, lambda *_, **__: symbol, False, False, ()
        )
        lower = Lower(self.target, Library(self.target), descriptor, function_ir)
        lower.lower()
        return lower.module

    def _types(self, function_ir: Any, arguments: tuple[Any, ...], result: str) -> tuple[Any, Any, Any]:
        """The types of variables, of the result and of calls. Typing gives no warnings, so none are collected."""
        inference = Inference(self.typing, function_ir)
        with self.typing.callstack.register(self.target.target, inference, function_ir.func_id, arguments):
            for index, (name, type_) in enumerate(zip(function_ir.arg_names, arguments, strict=True)):
                inference.seed_argument(name, index, type_)
            inference.seed_return(numba_type(result))
            inference.build_constraint()
            inference.propagate()
            types: tuple[Any, Any, Any] = inference.unify()
            return types


def call_operation(function: InlineFunction) -> Operation:
    """A call of an inline function as one more word of the language."""
    result = emitters.LLVM_TYPES[function.result]

    def emit(builder: Any, kinds: tuple[str, ...], values: Sequence[Any]) -> Any:
        return emitters.call_intrinsic(builder, function.symbol, result, values)

    return Operation(function.name, emitters.signature(function.name, function.arguments, function.result), emit)


def _flags() -> Any:
    flags = _numba("compiler").Flags()
    options = {"nrt": False, "no_compile": True, "error_model": "numpy", "enable_ssa": False}
    for name, value in options.items():
        setattr(flags, name, value)
    return flags


def _numba_ir(function: Callable[..., Any], source: str | None) -> Any:
    with suppress(numba_text.UnusualTextError):
        return numba_text.numba_ir(function, source)
    identity = bytecode.FunctionIdentity.from_function(function)
    function_ir = Interpreter(identity).interpret(bytecode.ByteCode(func_id=identity))
    # Numba's own pass at this place finds the lifetimes of variables, for reference counts that we have not.
    function_ir.generator_info = None
    return function_ir
