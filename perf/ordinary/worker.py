"""One program in a process of its own: is it right, whole or split, its first call, its times beside peers.

    python -m perf.ordinary.worker NAME SIZE cover|first|time [rounds]

The last line of the output is JSON. A process has compiled one kernel before its program, so that the loading of the
compiler is not counted as the program's first call.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import linecache
import os
import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import xjit
from perf.measuring.peers import at_most
from perf.ordinary.outcomes import Outcome, difference, of_peer, outcome
from perf.ordinary.record import Arguments, Ordinary
from perf.ordinary.sampling import Side, interleaved
from perf.ordinary.table import BY_NAME, by_hand, jax_port

LONGEST_COMPILE = 300.0


def warmed() -> None:
    """Compile one kernel."""
    xjit.jit(lambda x: np.exp(x) + 1.0)(np.ones(10))


def obstacle(error: BaseException) -> str:
    """Return the line of the program and the message of a refusal."""
    message = str(getattr(error, "message", error) or repr(error)).splitlines()[0]
    where = getattr(error, "where", None)
    if where is None:
        return f"{type(error).__name__}: {message}"
    kind = "" if isinstance(error, xjit.CaptureError) else f"{type(error).__name__}: "
    return f"line {where.line} `{linecache.getline(where.file, where.line).strip()}`: {kind}{message}"


def covered(program: Ordinary, size: str) -> dict[str, Any]:
    """Return the first obstacle and how outcomes of two calls differ from NumPy's, both None where all is well.

    A program that is not compiled whole is split where no call runs through NumPy.
    """
    # A trial would give one of the two calls to NumPy.
    os.environ["XJIT_TRIALS"] = "0"
    wanted = outcome(program.function, program.arguments(size))
    found: dict[str, Any] = {"obstacle": None, "split": False}
    try:
        with at_most(LONGEST_COMPILE):
            found["first"] = _timed(xjit.jit(strict=True)(program.function), program.arguments(size))
    except Exception as error:
        found["obstacle"] = obstacle(error)
    compiled = xjit.jit(program.function)
    if found["obstacle"] is not None:
        found["first"] = _timed(compiled, program.arguments(size))
        found["split"] = compiled.stats().fallbacks == 0
    calls = [outcome(compiled, program.arguments(size)) for _ in range(2)]
    found["difference"] = next((text for one in calls if (text := difference(program, one, wanted))), None)
    return found


def first_call(program: Ordinary, size: str) -> dict[str, Any]:
    """Return the seconds of the first call."""
    return {"first": _timed(xjit.jit(program.function), program.arguments(size))}


def _timed(function: Any, arguments: Arguments) -> float:
    began = time.perf_counter()
    outcome(function, arguments)
    return time.perf_counter() - began


def sides(program: Ordinary, size: str) -> dict[str, Side]:
    """Return what takes turns, by name; a peer whose outcome is another than NumPy's raises."""
    arguments = program.arguments(size)
    wanted = outcome(program.function, program.arguments(size))
    found = {
        "NumPy": Side(program.function, arguments, program.stored),
        "xjit": Side(xjit.jit(program.function), program.arguments(size), program.stored),
    }
    loops = by_hand(program.name)
    if loops is not None:
        found["Numba"] = Side(loops, program.arguments(size), program.stored)
        after = outcome(loops, program.arguments(size))
        _agree(program, "Numba", (after.result, *(after.arguments[place] for place in program.stored)), wanted)
    if importlib.util.find_spec("jax") is not None:
        found.update(_under_jax(program, size, wanted))
    return found


def _under_jax(program: Ordinary, size: str, wanted: Outcome) -> Mapping[str, Side]:
    port = jax_port(program.name)
    if port is None:
        return {}
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    arguments = program.arguments(size)
    static = tuple(place for place, one in enumerate(arguments) if isinstance(one, int | str))
    device = tuple(jax.device_put(one) if isinstance(one, np.ndarray) else one for one in arguments)
    traced = jax.jit(port, static_argnums=static)
    _agree(program, "JAX", jax.device_get(traced(*device)), wanted)
    # Its arrays are never written: no argument has to be restored.
    return {"JAX": Side(lambda *values: jax.block_until_ready(traced(*values)), device, ())}


def _agree(program: Ordinary, who: str, found: Any, wanted: Outcome) -> None:
    text = of_peer(program, found, wanted)
    if text is not None:
        raise AssertionError(f"{program.name}: {who}: {text}")


def timed(program: Ordinary, size: str, rounds: int) -> dict[str, Any]:
    """Return the seconds of every side in every round."""
    with contextlib.redirect_stdout(io.StringIO()):
        return {"seconds": interleaved(sides(program, size), rounds)}


def main(name: str, size: str, task: str, rounds: int) -> None:
    """Print what was found as JSON."""
    warnings.simplefilter("ignore")
    jax_before = importlib.util.find_spec("jax")
    if jax_before is not None:
        # JAX is told before its first use that numbers are of 64 bits.
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    warmed()
    program = BY_NAME[name]
    if task == "cover":
        found = covered(program, size)
    elif task == "first":
        found = first_call(program, size)
    else:
        found = timed(program, size, rounds)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 7)
