"""The way of a call that finds everything as it was: one function from the arguments straight to the result.

It takes nested arguments apart, checks the guards, runs the program and puts the result together. Of
``f({"x": x}, scale)``, where the function returns ``{"sum": s, "input": x}`` and reads a global, it is::

    def enter(*args):
        if len(args) != 2: return missed
        try:
            c0 = args[0]
            if type(c0) is not k1 or len(c0) != 1 or not all(map(is_, c0, k2)): return missed
            leaves = (c0['x'], args[1], )
            v0 = k3['np']
            if not (v0 is k4): return missed
            v1 = leaves[0]
            v2 = leaves[1]
        except Exception as error:
            if from_handler(error): raise
            return missed
        made = program(v1, v2, )
        if made is missed: return missed
        return {'sum': made[()], 'input': v1}

Arguments that are not nested have parameters of their own, ``def enter(a0=missed, a1=missed, *more)``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from xjit import tree
from xjit.api.assigning import WAYS, before_assigning, changes_objects, does_more, make
from xjit.api.entries.guarded_entry import Finishing, guarded_entry
from xjit.api.show_views import bases_of, shown
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.flatten_text import Unpacking, can_unpack, is_deep, is_flat
from xjit.capture.guarding.guards import Guard, GuardText, is_taken_as_array
from xjit.capture.outline import Outline, Output
from xjit.runtime.miss import MISS
from xjit.types import as_array

Function = Callable[..., Any]


def shortcut(
    captured: Outline, program: Function, in_tree: tree.Tree, kinds: Sequence[type], alone: bool = False
) -> Function | None:
    """From arguments to the result, or MISS unless everything matches; arguments that have names come last.

    ``program`` takes the inputs of the graph and answers MISS itself when one of them has another layout. It knows
    arrays and the numbers that ``is_taken_as_array`` leaves; ``kinds`` are the types of the inputs, in order. There
    is no such function unless the program or a guard checks every leaf of the arguments, nor for deeply nested ones.
    What the program returns is the answer where it runs ``alone``.
    """
    if not isinstance(in_tree, tree.Branch) or not can_unpack(in_tree) or is_deep(captured.out_tree):
        return None
    if not _leaves_are_checked(captured):
        return None
    arguments = [one for part in in_tree.children for one in getattr(part, "children", ())]
    direct = alone or _is_what_programs_return(captured)
    if direct and captured.guards.trivial and is_flat(arguments) and not any(map(is_taken_as_array, kinds)):
        return program
    flat = is_flat(arguments)
    left = sorted(captured.guards.left_to_check(), key=_looks_further)
    if flat and not (alone or does_more(captured)) and not any(map(is_taken_as_array, kinds)):
        native = guarded_entry(captured, program, len(arguments), left, _FINISHING, kinds)
        if native is not None:
            return native
    names = {"program": program, "missed": MISS, "is_": operator.is_, "asarray": as_array}
    text = GuardText(names, "a{}" if flat else "leaves[{}]")
    text.lines += [] if flat else Unpacking(text.constant).text(arguments)
    text.check(left, "missed")
    pairs = zip(captured.guards.inputs, kinds, strict=True)
    run = f"program({''.join(f'{_input(path, kind, text)}, ' for path, kind in pairs)})"
    last = [f"return {run}"] if direct else _behind(captured, run, text)
    body = "".join(f"        {line}\n" for line in text.lines or ["pass"])
    parameters, wrong = _parameters(len(arguments)) if flat else ("*args", f"len(args) != {len(arguments)}")
    return text.compiled(
        f"def enter({parameters}):\n    if {wrong}: return missed\n    try:\n{body}"
        f"{guards.UNREADABLE}        return missed\n" + "".join(f"    {line}\n" for line in last)
    )


def _parameters(count: int) -> tuple[str, str]:
    """Parameters for so many arguments, and the condition that there are fewer or more."""
    listed = "".join(f"a{number}=missed, " for number in range(count))
    return f"{listed}*more", f"a{count - 1} is missed or more" if count else "more"


def names_of(in_tree: tree.Tree) -> tuple[str, ...]:
    """The arguments that are given by name, in their order."""
    named = in_tree.children[1] if isinstance(in_tree, tree.Branch) else None
    return tuple(named.keys or ()) if isinstance(named, tree.Branch) else ()


def finish(
    output: Output, results: Sequence[Any] | Mapping[int, Any], leaves: Sequence[Any], made: Sequence[Any] = ()
) -> Any:
    """One leaf of the function's result."""
    if output.source == "made":
        return made[output.index]
    if output.source == "static":
        return output.value
    if output.source == "argument":
        assert output.path is not None
        return output.path.read(leaves)
    if output.source == "moving":
        return shown(output, results, [path.read(leaves) for path in bases_of(output)])
    array = results[output.index]
    if output.code >= 0 and (number := int(results[output.code])):
        return output.arrays[number - 1].read(leaves)
    if output.python is not None and (output.doubt < 0 or results[output.doubt]):
        return output.python(np.asarray(array)[()].item())
    if output.scalar:
        return np.asarray(array)[()]
    if output.frozen:
        array.flags.writeable = False
    return array


def finished_leaves(
    outputs: Sequence[Output], results: Sequence[Any], leaves: Sequence[Any], made: Sequence[Any]
) -> list[Any]:
    """All leaves of the function's result; a view that is returned twice is one object."""
    views = {one.moving.number: one for one in outputs if one.moving is not None}
    found = {number: finish(one, results, leaves) for number, one in views.items()}
    return [finish(one, results, leaves, made) if one.moving is None else found[one.moving.number] for one in outputs]


def _looks_further(guard: Guard) -> bool:
    """Return whether a guard is about more than a leaf itself, which is what tells most calls apart, and at once."""
    return bool(guard.path.steps) or guard.path.root.kind != "leaf"


def _leaves_are_checked(captured: Outline) -> bool:
    checked = {path.leaf for path in captured.guards.inputs}
    checked |= {guard.path.leaf for guard in captured.guards.guards if guard.checks_kind}
    return checked >= set(range(captured.guards.leaf_count))


def _input(path: Path, kind: type, text: GuardText) -> str:
    """The name of one input of the program; NumPy scalars and complex numbers as arrays of rank 0."""
    name = text.local(path)
    if not is_taken_as_array(kind):
        return name
    text.check([guards.same_number_type(path, kind)], "missed")
    text.lines.append(f"as_{name} = asarray({name})")
    return f"as_{name}"


def _is_what_programs_return(captured: Outline) -> bool:
    """Return whether the result is the program's only output, or the tuple of all of them, as they are."""
    outputs, out_tree = captured.outputs, captured.out_tree
    plain = not does_more(captured) and all(
        one.source == "graph" and not (one.python or one.frozen or one.scalar or one.code >= 0) for one in outputs
    )
    if captured.results != len(outputs):  # what is tested besides is an output, too
        return False
    if not plain or [one.index for one in outputs] != list(range(len(outputs))):
        return False
    if isinstance(out_tree, tree.Leaf):
        return True
    if not isinstance(out_tree, tree.Branch) or out_tree.kind is not tuple or len(outputs) < 2:
        return False
    return all(isinstance(child, tree.Leaf) for child in out_tree.children)


def _behind(captured: Outline, run: str, text: GuardText) -> list[str]:
    """The lines that ``run`` the program, make and assign what lies behind it, and return the result."""
    single = captured.results == 1
    leaves = iter([_leaf(one, single, text) for one in captured.outputs])
    run, missed = f"made = {run}", "if made is missed: return missed"
    views = _views(captured, single, text)
    if not does_more(captured):
        return [run, missed, *views, f"return {_nested(captured.out_tree, leaves, text)}"]
    assert isinstance(captured.out_tree, tree.Branch)
    result, *values = [_nested(child, leaves, text) for child in captured.out_tree.children]
    lines = [run, missed]
    if changes_objects(captured) and captured.begins_anew:
        handler = f"{text.constant(before_assigning)}(error)"
        lines = ["try:", f"    {run}", "except Exception as error:", f"    {handler}", "    raise", missed]
    lines += [f"o{number} = {text.constant(make)}({text.constant(cls)})" for number, cls in enumerate(captured.makes)]
    lines += views
    lines.append(f"result = {result}")
    values_text = ", ".join(f"x{number}" for number in range(len(values)))
    lines += [f"{values_text}, = {', '.join(values)}, "] if values else []
    for number, one in enumerate(captured.assignments):
        target = f"o{one.made}" if one.path is None else text.local(one.path)
        lines.append(f"{text.constant(WAYS[one.way])}({target}, {text.constant(one.key)}, x{number})")
    return [*lines, "return result"]


def _views(captured: Outline, single: bool, text: GuardText) -> list[str]:
    """The lines that make views of which only the run tells place or size; what is returned twice is made once."""
    made, found = "(made, )" if single else "made", dict[int, str]()
    for one in captured.outputs:
        if one.moving is not None and one.moving.number not in found:
            function = text.constant(functools.partial(shown, one))
            outside = "".join(f"{text.local(path)}, " for path in bases_of(one))
            found[one.moving.number] = f"w{one.moving.number} = {function}({made}, ({outside}))"
    return list(found.values())


def _leaf(output: Output, single: bool, text: GuardText) -> str:
    if output.moving is not None:
        return f"w{output.moving.number}"
    if output.source == "made":
        return f"o{output.index}"
    if output.source == "static":
        return text.constant(output.value)
    if output.source == "argument":
        assert output.path is not None
        return text.local(output.path)
    made = "made" if single else f"made[{output.index}]"
    if output.code >= 0:
        arrays = "".join(f"{text.local(path)}, " for path in output.arrays)
        return f"{text.constant(functools.partial(_numbered, output))}(made, ({arrays}))"
    if output.doubt >= 0:
        return f"{text.constant(functools.partial(_decided, output))}(made)"
    if output.python is not None or output.frozen:
        return f"{text.constant(functools.partial(_finished, output))}({made})"
    return f"{made}[()]" if output.scalar else made


def _finished(output: Output, array: Any) -> Any:
    return finish(output, {output.index: array}, ())


def _decided(output: Output, results: Any) -> Any:
    return finish(output, results, ())


def _numbered(output: Output, results: Any, arrays: Sequence[Any]) -> Any:
    number = int(results[output.code])
    return arrays[number - 1] if number else results[output.index]


_FINISHING: Final = Finishing(
    lambda output: functools.partial(_finished, output), lambda output: functools.partial(_decided, output)
)


def _nested(structure: tree.Tree, leaves: Iterator[str], text: GuardText) -> str:
    if structure is None:
        return "None"
    if isinstance(structure, tree.Leaf):
        return next(leaves)
    children = [_nested(child, leaves, text) for child in structure.children]
    if structure.keys is not None:
        pairs = zip(structure.keys, children, strict=True)
        return "{" + ", ".join(f"{_key(key, text)}: {child}" for key, child in pairs) + "}"
    listed = ", ".join(children)
    if structure.kind is list:
        return f"[{listed}]"
    return (
        f"{text.constant(structure.kind)}({listed})"
        if structure.kind is not tuple
        else f"({listed}{',' * bool(children)})"
    )


def _key(key: Any, text: GuardText) -> str:
    return repr(key) if type(key) is str else text.constant(key)
