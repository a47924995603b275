"""Derives every number in ``xjit/codegen/vmath/coefficients/`` from its mathematical definition.

    python -m tools.coefficients                     # writes all modules anew
    python -m tools.coefficients exponential         # one of them
    python -m tools.coefficients --check             # exit status 1 if a module differs from what is derived

Needs ``mpmath``.  Every module ``tools/coefficients/FAMILY.py`` with a function ``tables()`` makes one module
``FAMILY.py`` of numbers.  The error written beside a polynomial is that of the rounded coefficients in exact
arithmetic.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import mpmath as mp

from tools.coefficients.fitting import DIGITS, Fit, Table, solve

DERIVATIONS = Path(__file__).resolve().parent
MODULES = DERIVATIONS.parent.parent / "xjit" / "codegen" / "vmath" / "coefficients"
FAMILIES = sorted(path.stem for path in DERIVATIONS.glob("[a-z]*.py") if path.stem != "fitting")


def render(family: str) -> str:
    """The text of the module with all tables of a family."""
    derivation = importlib.import_module(f"tools.coefficients.{family}")
    lines = [
        f'"""Numbers derived from their definitions by tools/coefficients/{family}.py.',
        "",
        "Polynomial coefficients stand from the lowest power up.  Do not edit: change the derivation and run it.",
        '"""',
        "",
        "from __future__ import annotations",
    ]
    with mp.workdps(DIGITS):
        for item in derivation.tables():
            lines += _text(item)
    return "\n".join(lines) + "\n"


def _text(item: Fit | Table) -> list[str]:
    if isinstance(item, Table):
        return _table(item.name, [item.meaning], list(item.values))
    coefficients, error = solve(item)
    error_note = f"largest error of the function 2**{mp.nstr(mp.log(error, 2), 4)}"
    return _table(item.name, [item.meaning, error_note], [float(c) for c in coefficients])


def _table(name: str, notes: Sequence[str], values: Sequence[float | int]) -> list[str]:
    note = [f"# {text[0].upper()}{text[1:]}." for text in notes]
    if len(values) == 1:
        return ["", *note, f"{name} = {values[0]!r}"]
    text = [f"    0x{value:X}," if isinstance(value, int) else f"    {value!r}," for value in values]
    return ["", *note, f"{name} = (", *text, ")"]


def check(family: str) -> bool:
    """Return whether the module of a family is what its derivation gives."""
    path = MODULES / f"{family}.py"
    same = path.exists() and path.read_text(encoding="utf-8") == render(family)
    sys.stdout.write(f"{path.name} {'agrees with' if same else 'differs from'} its derivation\n")
    return same


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks modules; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.coefficients", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", help=f"all when none is named: {', '.join(FAMILIES)}")
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args(arguments)
    families = options.families or FAMILIES
    if options.check:
        differing = [family for family in families if not check(family)]
        return 1 if differing else 0
    for family in families:
        (MODULES / f"{family}.py").write_text(render(family), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
