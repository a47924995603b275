"""Kernel text to machine code: the one door to Numba and LLVM.  Importing it imports neither.

    module = compile_kernel(source)
    kernel = xjit.runtime.loading.loader.load_object(module.object_code, module.symbol)

Numba serves as front end (:mod:`xjit.codegen.front_end.numba_frontend`, or :mod:`xjit.codegen.front_end.numba_stock`
where Numba's private parts are not as expected), llvmlite as back end (:mod:`xjit.codegen.cpu.llvm_pipeline`).
Nothing here caches objects; :func:`object_key` gives the key to cache under.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xjit import jobs
from xjit.codegen.cpu import tables
from xjit.codegen.language import fingerprint, inline_functions, intrinsics
from xjit.codegen.language.inline_functions import InlineFunction, parse_signature
from xjit.codegen.language.intrinsics import f64, load_f64, radd
from xjit.codegen.language.scalar_types import KernelTypeError
from xjit.codegen.lowering import called_forms
from xjit.dataclass import dataclass
from xjit.errors import FallbackWarning, is_lasting
from xjit.llvm import digests, toolchain

if TYPE_CHECKING:
    from xjit.codegen.cpu.llvm_pipeline import Target
    from xjit.codegen.cpu.step_loads import StepLoad
    from xjit.codegen.cpu.wide_forms import Form
    from xjit.codegen.front_end.numba_frontend import Frontend

KERNEL = "kernel"
KERNEL_SIGNATURE = "void(i64,i64,table)"

PAIRED_LINES = 128
"""The longest text in which LLVM looks for equal neighbours that one vector instruction can do.

That makes kernels over short axes 1 to 2 per cent faster. What it takes grows faster than the text: at 200 lines a
third of the whole compilation. Sums that are added lane by lane are left alone: it would pair lanes of two of them.
"""


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """An object file with one public function.

    ``llvm_ir`` is the optimised IR, kept on request; ``externals`` are symbols that the process provides.
    """

    object_code: bytes
    symbol: str
    llvm_ir: str | None
    seconds: float
    externals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Routine:
    """A function to compile: its types, its name in the object, the inline functions it calls, its text."""

    function: Callable[..., Any]
    signature: str
    symbol: str
    used: tuple[InlineFunction, ...]
    source: str | None = None
    contract: bool = False


def compile_kernel(
    source: str, *, contract: bool = False, keep_ir: bool = False, target: Target | None = None
) -> CompiledModule:
    """Compiles kernel text with one function ``kernel(lo, hi, table)``, for this machine unless told otherwise.

    ``contract`` lets a multiplication and an addition of the text become one fused operation.

    Raises KernelTypeError, a TypeError, when the text does not follow the language, and UnresolvedSymbolError
    when the machine code would need an unknown symbol.

    >>> text = "def kernel(lo, hi, table):\\n    x = ptr_f64(table, 0)\\n    st(x, lo, f64(1.0))\\n"
    >>> compile_kernel(text).symbol
    'kernel'
    """

    def routine() -> Routine:
        used = inline_functions.used_in(source)
        scope = intrinsics.namespace() | {function.name: function for function in used}
        scope["__name__"] = __name__
        exec(compile(source, "<kernel>", "exec"), scope)
        return Routine(scope[KERNEL], KERNEL_SIGNATURE, KERNEL, used, source, contract)

    return jobs.run(lambda: _compile(routine, keep_ir, target))


def compile_native(
    function: Callable[..., Any],
    signature: str,
    symbol: str,
    *,
    keep_ir: bool = False,
    target: Target | None = None,
) -> CompiledModule:
    """Compiles a function of the kernel language to a C function, such as ``"i64(i64,i64,i64)"``.

    The function finds intrinsics, inline functions and number constants through its own globals.
    """

    def routine() -> Routine:
        return Routine(function, signature, symbol, inline_functions.reachable(function))

    return jobs.run(lambda: _compile(routine, keep_ir, target))


def inline_function_ir(name: str, *, target: Target | None = None) -> str:
    """Optimised LLVM IR text of an inline function; made once, then taken from memory or the store."""
    function = inline_functions.lookup(name)
    if function is None:
        raise KeyError(f"there is no inline function named {name}")
    return jobs.run(lambda: _inline_ir(function, target or host()))


def object_key(source: str, *, contract: bool = False) -> str:
    """The cache key of a kernel's object: text, inline functions, compiler, its settings, processor."""
    parts = [function.key() for function in inline_functions.used_in(source)]
    return digests.digest("contracted kernel" if contract else "kernel", source, *parts, *_environment(host()))


def native_key(function: Callable[..., Any], signature: str, symbol: str) -> str:
    """The cache key of the object that :func:`compile_native` would make."""
    key = inline_functions.function_key(function)
    return digests.digest("native", symbol, signature, key, *_environment(host()))


def host() -> Target:
    """The processor of this machine; MissingCompilerError without llvmlite, which knows."""
    toolchain.imported("llvmlite.binding")
    from xjit.codegen.cpu import llvm_pipeline

    return llvm_pipeline.host()


def use_store(store: inline_functions.Store | None) -> None:
    """The folder that keeps the IR of inline functions between processes; None keeps it in memory only."""
    inline_functions.set_store(store)


def _environment(target: Target) -> tuple[str, ...]:
    from xjit.codegen.cpu import llvm_pipeline

    return (fingerprint.compiler(), llvm_pipeline.FLAGS, target.triple, target.cpu, target.features)


def _compile(make: Callable[[], Routine], keep_ir: bool, target: Target | None) -> CompiledModule:
    start = time.perf_counter()
    from xjit.codegen.cpu import llvm_pipeline

    routine, target = make(), target or host()
    module = _optimised(routine, target)
    optimised_ir = str(module) if keep_ir else None
    code, externals = llvm_pipeline.emit_object(module, target)
    return CompiledModule(code, routine.symbol, optimised_ir, time.perf_counter() - start, externals)


_INLINE_IR: dict[str, str] = {}


def _optimised(routine: Routine, target: Target, *, vectorise: bool = True, complete: bool = True) -> Any:
    """The module of a routine; unless ``complete``, functions that have vector forms are still called."""
    from xjit.codegen.cpu import lane_trees, llvm_pipeline

    text = _ir_text(routine, target)
    text = llvm_pipeline.allow_contraction(text) if routine.contract else text
    lines = (routine.source or "").count("\n")
    pairs = lines <= PAIRED_LINES and not lane_trees.has_lanes(text)
    return _passed(text, routine.used, target, vectorise=vectorise, pairs=pairs, complete=complete)


def _passed(
    text: str,
    used: Sequence[InlineFunction],
    target: Target,
    *,
    vectorise: bool = True,
    pairs: bool = False,
    complete: bool = True,
    own: str = "",
) -> Any:
    """The module of IR text after all passes, with the functions that it calls, but its own one, linked in."""
    from xjit.codegen.cpu import llvm_pipeline, searches, step_loads, wide_forms
    from xjit.llvm import vector_width

    text = vector_width.kept_to(vector_width.preferred_bits(target.features.split(",")), text)
    called = [function for function in used if function.symbol in text]
    if any(function.called is not None for function in called):
        # What a loop computes with waits on the stack during calls.
        text = vector_width.stack_aligned(target.traits.registers.bits, text)
    wide = wide_forms.among([function.symbol for function in called], target)
    module = llvm_pipeline.parse(step_loads.marked(wide_forms.marked(text, wide)), target)
    early = [function for function in called if not function.out_of_line and function not in wide]
    llvm_pipeline.link(module, [_inline_ir(function, target) for function in early])
    llvm_pipeline.link(module, [searches.definition(kind) for kind in searches.called_in(text)])
    wide = wide_forms.among([name for name in llvm_pipeline.declared_symbols(module) if name != own], target)
    steps = step_loads.called_in(text)
    if wide and vectorise:
        llvm_pipeline.link_as_is(module, wide_forms.declarations(wide))
    if steps:
        llvm_pipeline.link_as_is(module, step_loads.declarations(steps))
    module = _vectorised(module, text, target, vectorise=vectorise, pairs=pairs)
    outside = [function for function in called if function.out_of_line]
    return _with_forms(module, outside, wide if complete else (), steps, target)


def _vectorised(module: Any, text: str, target: Target, *, vectorise: bool, pairs: bool) -> Any:
    """The module after the passes, with the order of its sums and its extremes written out."""
    from xjit.codegen.cpu import extremes, lane_trees, llvm_pipeline

    in_lanes = lane_trees.has_lanes(text)
    llvm_pipeline.optimise(module, target, vectorise=vectorise, pairs=pairs)
    has_extremes = target.traits.architecture == "x86_64" and extremes.has_extremes(text)
    if not (in_lanes or has_extremes):
        return module
    found = lane_trees.in_fixed_order(str(module)) if in_lanes else str(module)
    return llvm_pipeline.parse(extremes.written_out(found, target.features) if has_extremes else found, target)


def _with_forms(
    module: Any,
    outside: Sequence[InlineFunction],
    wide: Sequence[InlineFunction],
    steps: Sequence[StepLoad],
    target: Target,
) -> Any:
    """The module with functions that stay outside of it, and all vector forms in place of their calls."""
    from xjit.codegen.cpu import llvm_pipeline, step_loads, wide_forms

    calls = wide_forms.calls_in(str(module)) if wide else frozenset()
    forms = wide_forms.called(calls, wide)
    made = wide_forms.made(forms, target)
    # One with a vector form may not be called for one element any more.
    needed = {one for form in made for one in called_forms.needed(form.function)}
    kept = [one for one in outside if one.called is None or one in needed or one.symbol in calls]
    inlined = [function for function in wide if not function.out_of_line]
    texts = [_inline_ir(function, target) for function in (*kept, *inlined)]
    if wide:
        llvm_pipeline.link_as_is(module, wide_forms.definitions(forms, target))
    # These are optimised already, and need not be looked at again.
    llvm_pipeline.link(module, [*texts, *(_form_ir(form, target) for form in made)])
    if steps:
        llvm_pipeline.link_as_is(module, step_loads.definitions(steps, target.features))
    if wide or steps:
        llvm_pipeline.inline_calls(module, target)
    return module


def _form_ir(form: Form, target: Target) -> str:
    """Optimised LLVM IR of a vector form that is called."""
    return _made_once(
        digests.digest("form", form.name, form.function.key(), *_environment(target)),
        lambda: _make_form_ir(form, target),
    )


def _make_form_ir(form: Form, target: Target) -> str:
    from xjit.codegen.cpu import llvm_pipeline

    function, called = form.function, form.function.called
    assert called is not None
    text = called_forms.text(called, function, form.name, form.lanes)
    module = _passed(text, called_forms.pieces(called), target, own=function.symbol)
    return llvm_pipeline.text_to_link(module, form.name, out_of_line=True)


def _inline_ir(function: InlineFunction, target: Target) -> str:
    key = digests.digest("inline", function.name, function.key(), *_environment(target))
    return _made_once(key, lambda: _make_inline_ir(function, target))


def _made_once(key: str, make: Callable[[], str]) -> str:
    """The IR of this key: from memory, from the store, or made now."""
    text = _INLINE_IR.get(key) or inline_functions.stored(key)
    if text is None:
        text = make()
        inline_functions.keep(key, text)
    _INLINE_IR[key] = text
    return text


def _make_inline_ir(function: InlineFunction, target: Target) -> str:
    from xjit.codegen.cpu import llvm_pipeline

    if function.table is not None:
        return tables.definition(function.symbol, function.table)
    used = inline_functions.reachable(function.function)
    routine = Routine(function.function, function.signature, function.symbol, used)
    module = _optimised(routine, target, vectorise=False, complete=function.out_of_line)
    return llvm_pipeline.text_to_link(module, function.symbol, out_of_line=function.out_of_line)


_FRONTENDS: dict[Any, Frontend | None] = {}


def _ir_text(routine: Routine, target: Target) -> str:
    """Unoptimised LLVM IR of one function, by our own use of Numba or, should that break, by its public one.

    MissingCompilerError if neither works, whatever the function.
    """
    toolchain.imported("numba")
    try:
        frontend = _frontend(target)
        if frontend is not None:
            result, arguments = parse_signature(routine.signature)
            return frontend.translate(
                routine.function, arguments, result, routine.symbol, routine.used, routine.source
            )
    except KernelTypeError:
        raise
    except Exception as error:
        if not is_lasting(error):
            raise
        if _works(target):
            raise KernelTypeError(f"{routine.symbol} is outside the kernel language: {error!r}") from error
        _FRONTENDS[target.traits] = None
        text = f"this version of Numba is not as expected, kernels compile more slowly: {error!r}"
        jobs.warn(text, FallbackWarning)
    return _stock_ir_text(routine, target)


def _stock_ir_text(routine: Routine, target: Target) -> str:
    from xjit.codegen.front_end import numba_stock

    try:
        return numba_stock.translate(routine, target.traits)
    except KernelTypeError:
        raise
    except Exception as error:
        if not is_lasting(error):
            raise
        try:
            numba_stock.translate(Routine(_sample, "f64(i64,i64)", "sample", ()), target.traits)
        except Exception as another:
            if not is_lasting(another):
                raise
            raise toolchain.unusable("numba", "does not work here", error) from error
        raise


def _sample(address: Any, count: Any) -> Any:
    total = f64(0.0)
    for i in range(count):
        total = radd(total, load_f64(address + i * 8))
    return total


def _works(target: Target) -> bool:
    """Return whether our use of Numba works at all, asked after an error nobody foresaw."""
    try:
        frontend = _frontend(target)
        return frontend is not None and bool(frontend.translate(_sample, ("i64", "i64"), "f64", "sample"))
    except Exception as error:
        if not is_lasting(error):
            raise
        return False


def _frontend(target: Target) -> Frontend | None:
    if target.traits not in _FRONTENDS:
        from xjit.codegen.front_end.numba_frontend import Frontend

        _FRONTENDS[target.traits] = Frontend(target.traits)
    return _FRONTENDS[target.traits]
