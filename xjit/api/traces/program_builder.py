"""Programs of traces: planned and compiled, with what is told and kept of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xjit import compile, config
from xjit.api.options import Options
from xjit.api.specialisation import Specialisation
from xjit.api.splits.host_steps import host_steps, is_tried, warnings_of, warnings_of_pins
from xjit.api.splits.trials import Trials
from xjit.api.start.keep_program import Keeper
from xjit.api.trace import Trace
from xjit.capture.inner_functions import name_of
from xjit.ops.whole_arrays.arg_extreme import may_contract
from xjit.runtime.calls.records import Conditions
from xjit.runtime.tally import KernelTally
from xjit.target import resolved

Entry = Callable[..., Any]


class ProgramBuilder:
    """Makes the programs of one function; ``tally`` counts what that costs."""

    def __init__(self, function: Callable[..., Any], options: Options, tally: KernelTally) -> None:
        self._function = function
        self._options = options
        self._tally = tally
        self._name = name_of(function)
        self._keeper = Keeper(function, options)

    def specialised(self, key: Any, trace: Trace, varying: bool) -> Specialisation:
        """The runner of a trace, which later processes find on disk. If ``varying`` numbers have been seen to change.

        Raises the error of the first step in Python under strict.
        """
        captured, kinds = trace.captured, tuple(map(type, trace.values))
        lowered = trace.lowered(resolved(self._options.target), varying)
        if self._options.errors != "ignore":
            return Specialisation(captured, None, key[0], kinds)
        steps = host_steps(captured, lowered)
        if steps and self._options.raises:
            raise next(iter(steps.values()))
        contract = self._options.contract and may_contract(captured.graph)
        conditions = Conditions(*captured.guards.of_program())
        notes = (*warnings_of(self._name, steps), *warnings_of_pins(self._name, captured))
        tried = is_tried(captured, lowered)
        keep = self._keeper.of(key[0], trace.leaves, captured, kinds, contract, notes, tried)
        program = compile.build_program(
            lowered, self._tally, contract=contract, conditions=conditions, tell=keep, watch=trace.watch
        )
        if captured.catches:
            program = program.left_to_numpy()
        found = Specialisation(captured, program, key[0], kinds, notes)
        if found.entry is not None and tried:
            found.entry = self.tried(found.entry, found.names, found.serves())
        return found

    def tried(self, entry: Entry, names: Sequence[str], serves: Entry) -> Entry:
        """An entry with trials, unless these are switched off; ``serves`` answers MISS where the entry would."""
        return Trials(entry, self._function, names, serves) if config.flag("XJIT_TRIALS") else entry

    def apart(self, key: Any, trace: Trace, varying: bool) -> Specialisation:
        """The runner of a trace that is a part of others, and is not kept by itself."""
        captured, lowered = trace.captured, trace.lowered(resolved(self._options.target), varying)
        conditions = Conditions(*captured.guards.of_program())
        program = compile.build_program(lowered, self._tally, conditions=conditions, watch=trace.watch)
        return Specialisation(captured, program, key[0], tuple(map(type, trace.values)))
