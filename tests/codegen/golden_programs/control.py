"""Golden programs with loops and branches in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.codegen.golden_programs.record import golden
from tests.lowering import control_programs

Array = np.ndarray[Any, Any]

LINE, ROWS, NINE = np.linspace(-1, 1, 50), np.linspace(-1, 1, 1200).reshape(30, 40), np.int64(9)
HALF = np.float64(0.5)

golden(
    LINE,
    HALF,
    HALF,
    NINE,
    shows="A carried array is made in place; a call ends after some turns, and the next one goes on.",
)(control_programs.scaled)
golden(HALF, HALF, NINE, shows="Two scalars are carried in registers.")(control_programs.populations)
golden(
    ROWS,
    NINE,
    shows="Two buffers are exchanged: the second half of a turn is written the other way.",
)(control_programs.relaxed)
golden(
    np.int64(27), name="collatz_in_a_loop", shows="A branch over scalars in a loop whose length its values decide."
)(control_programs.collatz)
golden(np.int32(1), LINE, LINE, shows="One of three computations; what each makes lies where it belongs at once.")(
    control_programs.chosen
)
