"""Prints what loops over elementary functions cost, counted from machine code.

    python -m tools.costs                  # all functions
    python -m tools.costs tanh_f32 exp_f64

The columns are cycles per element, with vectors of 512 bits, of the processors in
:data:`tools.costs.model.PROCESSORS`; of functions with a quick variant that is meant.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tools.costs.assembly import hot_loop
from tools.costs.model import PROCESSORS, cycles
from xjit.codegen.vmath import VECTOR_FUNCTIONS


def row(name: str) -> str:
    """The line of one function."""
    quick = VECTOR_FUNCTIONS[name].near
    costs = [cycles(hot_loop(quick, one.cpu), one.costs) for one in PROCESSORS.values()]
    return f"| {name} | {' | '.join(f'{cost:.2f}' for cost in costs)} |"


def say(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(names: Sequence[str]) -> int:
    """Prints the table of some functions, or of all, and returns the exit status."""
    say(f"| function | {' | '.join(PROCESSORS)} |\n|{'---|' * (1 + len(PROCESSORS))}")
    for name in names or VECTOR_FUNCTIONS:
        say(row(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
