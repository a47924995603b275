"""Functions rebuilt over a globals dict that sees every read, so that reads become guards and stand-ins come out.

``LOAD_GLOBAL`` asks a subclass of dict through ``__missing__``, nested functions and comprehensions inherit the dict,
and no source is needed. Nothing outside of the rebuilt function is changed.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, Root, cell_path, global_path, object_path
from xjit.capture.guarding.identities import looks_at_identity, looks_at_objects
from xjit.capture.guarding.signature import is_plain
from xjit.capture.tracers.opaque import Opaque

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

_EFFECTS = {
    "STORE_GLOBAL": "assigns to the global {name}",
    "DELETE_GLOBAL": "deletes the global {name}",
    "STORE_DEREF": "assigns to the variable {name} of an enclosing function",
    "DELETE_DEREF": "deletes the variable {name} of an enclosing function",
    "LOAD_BUILD_CLASS": "defines a class",
}
# Functions whose calls make an object that runs the body bit by bit, as others ask for it.
_SUSPENDED = {
    inspect.CO_COROUTINE: "is a coroutine function: its body runs when a call is awaited",
    inspect.CO_ASYNC_GENERATOR: "is an asynchronous generator: its body runs as its items are awaited",
    inspect.CO_ITERABLE_COROUTINE: "is a coroutine function: its body runs when a call is awaited",
    inspect.CO_GENERATOR: "is a generator: its body runs as its items are asked for",
}
_AWAITED = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_EFFECT_CODES = frozenset(dis.opmap[name] for name in _EFFECTS)


class RecordingGlobals(dict[str, Any]):
    """The globals of one module as its rebuilt functions see them; it stores nothing but the builtins."""

    def __init__(self, recorder: Recorder, namespace: dict[str, Any], builtins: dict[str, Any]) -> None:
        super().__init__(__builtins__=builtins, __name__=namespace.get("__name__", "__main__"))
        self.recorder = recorder
        self.namespace = namespace

    def __missing__(self, name: str) -> Any:
        if name in self.namespace:
            return self.recorder.read(self.namespace[name], global_path(self.namespace, name))
        self.recorder.add(guards.no_item(Path(Root("object", self.namespace, "global ")), name))
        raise KeyError(name)  # the interpreter goes on with the builtins


def rebuild(recorder: Recorder, function: types.FunctionType, path: Path | None = None) -> Any:
    """The function over recording globals, its closure and defaults recorded; a stand-in if it has effects.

    With a ``path`` they are what any function has that stands there, without one those of this very function.
    """
    if function.__code__.co_flags & _AWAITED:
        reason = f"{function.__qualname__} {suspension_of(function)}"
        return Opaque(function, reason, "await it outside of the function, and pass in what it returns")
    known = function  # with all its lines
    left_out = recorder.rewriting.left_out
    function = function if left_out is None else left_out.of(function)
    effect = effect_of(function.__code__)
    if effect:
        reason = f"{function.__qualname__} {effect}"
        defines = effect.startswith("defines")
        fix = "define it" if defines else "return the value, and assign it"
        return Opaque(function, reason, f"{fix} outside of the function", final=True)
    recorder.identities.looked |= looks_at_identity(function.__code__, function.__globals__)
    running = recorder.rewriting.rebuilt(function, recorder.runtime)
    if looks_at_objects(running.__code__):
        recorder.looking.append(function.__code__)
    cells = tuple(types.CellType() for _ in running.__code__.co_freevars)
    namespace = recorder.globals_of(function.__globals__)
    rebuilt = types.FunctionType(running.__code__, namespace, function.__name__, None, cells)
    recorder.remember(known, rebuilt)  # before the closure is read: a function may refer to itself
    if path is not None:
        recorder.identities.add(known, rebuilt, path)
    _fill_cells(recorder, function, running, cells, path)
    if path is not None:
        rebuilt.__defaults__ = recorder.read(function.__defaults__, path.attribute("__defaults__"))
    else:
        path = object_path(function, function.__qualname__)
        rebuilt.__defaults__ = _defaults(recorder, function.__defaults__, path.attribute("__defaults__"))
    rebuilt.__kwdefaults__ = _defaults(recorder, function.__kwdefaults__, path.attribute("__kwdefaults__"))
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(rebuilt, name, getattr(function, name))
    for name, value in vars(function).items():
        setattr(rebuilt, name, recorder.read(value, path.attribute(name)))
    recorder.seal(rebuilt)
    return rebuilt


def _fill_cells(
    recorder: Recorder,
    function: types.FunctionType,
    running: types.FunctionType,
    cells: tuple[types.CellType, ...],
    path: Path | None,
) -> None:
    """Fills the cells of the function that runs with what the function's own hold, as it is recorded."""
    own = function.__code__.co_freevars
    for name, old, new in zip(running.__code__.co_freevars, running.__closure__ or (), cells, strict=True):
        if name not in own:  # what a rewritten function was given besides
            new.cell_contents = old.cell_contents
            continue
        try:
            value = old.cell_contents
        except ValueError:
            continue  # not assigned yet: reading it is the user's own NameError
        # super() needs the class itself
        place = cell_path(old, name) if path is None else _cell_of(path, own.index(name))
        new.cell_contents = value if name == "__class__" else recorder.read(value, place)


def _cell_of(path: Path, number: int) -> Path:
    return path.attribute("__closure__").item(number).attribute("cell_contents")


def _defaults(recorder: Recorder, defaults: Any, path: Path) -> Any:
    """Recorded defaults; numbers and text cannot change as long as the tuple or dict is the same."""
    if not defaults:
        return defaults
    if isinstance(defaults, tuple):
        recorder.add(guards.identity(path, defaults))
        return tuple(_default(recorder, value, path.item(k)) for k, value in enumerate(defaults))
    return {name: recorder.read(value, path.item(name)) for name, value in defaults.items()}


def _default(recorder: Recorder, value: Any, path: Path) -> Any:
    return value if is_plain(value) else recorder.read(value, path)


def suspension_of(function: Any) -> str:
    """Words for a function whose calls do not run its body; empty for others."""
    code = getattr(function, "__code__", None)
    flags = 0 if code is None else code.co_flags
    return next((words for flag, words in _SUSPENDED.items() if flags & flag), "")


@functools.lru_cache(maxsize=4096)
def effect_of(code: types.CodeType) -> str:
    """Describe an effect of the code on the outside, with its line; empty for nothing."""
    return next(_effects(code, frozenset(code.co_freevars)), "")


def _effects(code: types.CodeType, outer: frozenset[str]) -> Iterator[str]:
    if not _EFFECT_CODES.isdisjoint(code.co_code[::2]):
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            line = _line_of(instruction) or line
            name = instruction.argval
            if instruction.opname in _EFFECTS and ("DEREF" not in instruction.opname or name in outer):
                yield _EFFECTS[instruction.opname].format(name=name) + f" (line {line})"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_flags & _AWAITED:
                yield f"defines the coroutine {constant.co_name} (line {constant.co_firstlineno})"
            yield from _effects(constant, outer & frozenset(constant.co_freevars))


def _line_of(instruction: dis.Instruction) -> int | None:
    positions = instruction.positions
    return positions.lineno if positions is not None else None


def called_from_user_code(frame: types.FrameType | None) -> bool:
    """Return whether a frame runs a rebuilt function."""
    return frame is not None and isinstance(frame.f_globals, RecordingGlobals)
