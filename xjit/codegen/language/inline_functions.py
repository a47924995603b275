"""Functions that kernels call by name: compiled once to LLVM IR, inlined into the kernels that use them.

How such a module is written::

    from xjit.codegen.language.inline_functions import inline
    from xjit.codegen.language.intrinsics import as_f64, f64, fma, rint, select, shl, u64

    LOG2E = 1.4426950408889634          # module constants: plain Python floats (f64), ints and bools

    @inline("f64(f64)")
    def exp2_f64(x):
        k = rint(x)
        r = x - k
        p = fma(r, 0.2402265069591007, 0.6931471805599453)
        return fma(p, r, 1.0) * scale_f64(k)     # calls another inline function by its plain name

* ``@inline(signature)`` registers the function under its own name, which must be unique in the process;
  names end in the element type (``exp_f32``, ``exp_f64``).  ``register(name, function, signature)`` does
  the same without the decorator, for functions made in a loop.
* Types of a signature are ``b1 i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 c64 c128``.
* The body is the kernel language of :mod:`xjit.codegen.language.intrinsics`: intrinsics, operators, calls of other
  inline functions and module constants, all found through the function's own globals (import them, do not
  qualify them).
* Operands of one operator have ONE type.  An integer literal takes the type of the other operand; a float
  literal or a float constant is always f64, so write ``f32(0.5)`` in f32 code.  Nothing is widened: ``i32 +
  i32`` is i32.
* No ``if`` and no loops where speed matters: ``select``.  No ``min``, ``max``, ``abs``, ``//``, ``%``,
  ``**``, ``math``.
* A long function for rare lanes, called in a loop of its own, is better ``@inline(signature,
  out_of_line=True)``: it stays a function, which costs a kernel a third of the compile time and keeps that
  loop from being vectorised.
* ``wide`` is the text of a vector form for processors with AVX-512 (:mod:`xjit.codegen.cpu.wide_forms`), which must
  give what the function gives.
* ``table`` says that the function looks a number up (:mod:`xjit.codegen.cpu.tables`, which registers such functions).
* The decorated object stays callable from Python: it runs the same text uncompiled on NumPy scalars.
"""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import re
import sys
from collections.abc import Callable
from typing import Any, Protocol

from xjit.codegen.language.scalar_types import KINDS
from xjit.dataclass import dataclass
from xjit.llvm import digests

LIBRARY = "xjit.codegen.vmath"
"""The package of vector math functions, imported when kernel text is looked at for the first time."""

PREFIX = "xjit_"
"""The beginning of the names of inline functions in LLVM."""

LEAST_CALLED = 4
"""The fewest elements of a called form: LLVM makes no vector code of a loop of two steps, which made it."""

SIGNATURE = re.compile(r"^\s*(\w+)\s*\(([\w\s,]*)\)\s*$")


def parse_signature(signature: str) -> tuple[str, tuple[str, ...]]:
    """Splits ``"f64(f64, i64)"`` into its result and its arguments.

    >>> parse_signature("f64(f64, i64)")
    ('f64', ('f64', 'i64'))
    """
    match = SIGNATURE.match(signature)
    if match is None:
        raise ValueError(f"a signature is written like 'f64(f64,i64)'; got {signature!r}")
    arguments = tuple(part.strip() for part in match[2].split(",") if part.strip())
    return match[1], arguments


@dataclass(frozen=True, slots=True)
class Table:
    """Sixteen floats of 32 bits, and from which bit of the operand on four bits say which one is meant."""

    values: tuple[float, ...]
    shift: int


@dataclass(frozen=True, slots=True)
class Called:
    """The parts of the vector form of a called function (:mod:`xjit.codegen.lowering.called_forms`).

    ``quick`` is right wherever ``is_far`` is false, and everywhere if there is none. ``often`` does all lanes at a
    time where some are far; without it the function itself does them one by one.
    """

    quick: InlineFunction
    is_far: InlineFunction | None = None
    often: InlineFunction | None = None


class InlineFunction:
    """A registered function: callable from Python uncompiled, and by its name from kernels compiled."""

    __slots__ = (
        *("__weakref__", "_key", "arguments", "called", "function"),
        *("name", "out_of_line", "result", "table", "wide"),
    )

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        signature: str,
        *,
        out_of_line: bool = False,
        wide: str = "",
        table: Table | None = None,
        called: Called | None = None,
    ) -> None:
        self.name = name
        self.out_of_line = out_of_line
        self.called = called
        self.wide = wide
        self.table = table
        self.function = function
        self._key: str | None = None
        self.result, self.arguments = parse_signature(signature)

    @property
    def signature(self) -> str:
        """The types, as they were given."""
        return f"{self.result}({','.join(self.arguments)})"

    @property
    def symbol(self) -> str:
        """The name in LLVM."""
        return PREFIX + self.name

    def key(self) -> str:
        """Names what the function computes, for cache keys."""
        if self._key is None:
            parts = (self.signature, str(self.out_of_line), self.wide, repr(self.table), function_key(self.function))
            called = self.called and (self.called.quick, self.called.is_far, self.called.often)
            self._key = digests.digest(*parts, *("" if one is None else one.key() for one in called or ()))
        return self._key

    def __call__(self, *arguments: Any) -> Any:
        """Runs the function uncompiled; a constant that it returns gets the type of its result."""
        return KINDS[self.result].dtype.type(self.function(*arguments))

    def __repr__(self) -> str:
        return f"<inline function {self.name}: {self.signature}>"


_REGISTRY: dict[str, InlineFunction] = {}


def register(
    name: str,
    function: Callable[..., Any],
    signature: str,
    *,
    out_of_line: bool = False,
    wide: str = "",
    table: Table | None = None,
    called: Called | None = None,
) -> InlineFunction:
    """Makes ``function`` known to kernels as ``name``; a second registration under one name is an error.

    ``out_of_line`` keeps it a function that is called: less to compile, but a loop that calls it is not vectorised.
    ``wide`` is the text of a vector form, a template of :mod:`xjit.codegen.cpu.wide_forms`, ``table`` what it looks
    up.
    """
    if name in _REGISTRY:
        raise ValueError(f"an inline function named {name} is registered already")
    entry = InlineFunction(name, function, signature, out_of_line=out_of_line, wide=wide, table=table, called=called)
    _REGISTRY[name] = entry
    return entry


def inline(
    signature: str, *, out_of_line: bool = False, wide: str = ""
) -> Callable[[Callable[..., Any]], InlineFunction]:
    """Decorator form of :func:`register`; the name is the function's own."""

    def decorate(function: Callable[..., Any]) -> InlineFunction:
        return register(function.__name__, function, signature, out_of_line=out_of_line, wide=wide)

    return decorate


def function_of(name: str, text: str, words: dict[str, Any]) -> Callable[..., Any]:
    """The function of this name that a text over these words defines; its text can be found as that of a file."""
    scope = dict(words)
    exec(compile(text, f"<{name}>", "exec"), scope)
    # The None keeps it from being compared with a file.
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(keepends=True), f"<{name}>")
    function: Callable[..., Any] = scope[name]
    return function


def register_called(name: str, original: str, called: Called | None = None) -> InlineFunction:
    """Makes a registered function known under another name too, as one that is called instead of inlined."""
    function = _REGISTRY[original]
    return register(name, function.function, function.signature, out_of_line=True, called=called)


def registered(name: str) -> InlineFunction:
    """The function registered under this name."""
    return _REGISTRY[name]


class Store(Protocol):
    """Keeps small texts between processes, such as the disk cache; it never raises."""

    def get(self, key: str) -> bytes | None:
        """The entry, or None."""

    def put(self, key: str, data: bytes) -> object:
        """Keeps an entry if it can."""


_STORE: list[Store] = []


def set_store(store: Store | None) -> None:
    """The folder that keeps the compiled text of inline functions between processes."""
    _STORE[:] = [] if store is None else [store]


def stored(key: str) -> str | None:
    """A text kept under this key."""
    data = _STORE[0].get(key) if _STORE else None
    return None if data is None else data.decode()


def keep(key: str, text: str) -> None:
    """Keeps a text for later processes."""
    if _STORE:
        _STORE[0].put(key, text.encode())


def lookup(name: str) -> InlineFunction | None:
    """The inline function of that name, if there is one."""
    load_library()
    return _REGISTRY.get(name)


def load_library() -> None:
    """Imports the vector math functions, so that their names are known."""
    if LIBRARY not in sys.modules and importlib.util.find_spec(LIBRARY) is not None:
        importlib.import_module(LIBRARY)


_NAME = re.compile(r"[A-Za-z_]\w*")
_CALLED = re.compile(r"([A-Za-z_]\w*)\(")
# What kernel text calls, or defines, beside intrinsics and inline functions.
_OF_PYTHON = frozenset(("kernel", "range"))


def used_in(source: str) -> tuple[InlineFunction, ...]:
    """The inline functions whose names occur in kernel text, in alphabetical order."""
    from xjit.codegen.language import intrinsics

    if set(_CALLED.findall(source)) - _OF_PYTHON - intrinsics.INTRINSICS.keys() - _REGISTRY.keys():
        load_library()
    names = sorted(set(_NAME.findall(source)) & _REGISTRY.keys())
    return tuple(_REGISTRY[name] for name in names)


def namespace(source: str) -> dict[str, InlineFunction]:
    """The inline functions that kernel text uses, by name."""
    return {function.name: function for function in used_in(source)}


def free_values(function: Callable[..., Any]) -> dict[str, Any]:
    """The values that a Python function reads from its globals and its closure, by name."""
    variables = inspect.getclosurevars(function)
    return {**variables.globals, **variables.nonlocals}


def reachable(function: Callable[..., Any]) -> tuple[InlineFunction, ...]:
    """The inline functions that a Python function calls itself."""
    return tuple(value for value in free_values(function).values() if isinstance(value, InlineFunction))


def function_key(function: Callable[..., Any]) -> str:
    """Names what a Python function computes: its code, constants it reads, inline functions it calls."""
    values = [f"{name}={_value_key(value)}" for name, value in sorted(free_values(function).items())]
    code: Any = function.__code__
    return digests.digest(digests.code_text(code), *values)


def _value_key(value: Any) -> str:
    return value.key() if isinstance(value, InlineFunction) else repr(value)
