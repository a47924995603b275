"""Rules of programs as plain data (:mod:`xjit.runtime.spec`), which hold before a runtime believes one.

Slots are filled before they are read, and kernels reach no further than their buffers are numbered. A program that
breaks a rule raises ValueError, which says which step does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from xjit.runtime.calls.records import ArraySpec, ScalarSpec
from xjit.runtime.calls.tiled_turns import TimeTiles
from xjit.runtime.spec import (
    Block,
    BranchStep,
    CallStep,
    ConstantStep,
    CopyStep,
    KernelSpec,
    LoopStep,
    ProgramSpec,
    ReshapeStep,
    RoomStep,
    RunStep,
    Step,
    ViewStep,
)
from xjit.types import OBJECT

_OF_ONE = (CallStep, ConstantStep, ReshapeStep, CopyStep, ViewStep)
_OF_TILES = (RunStep, ReshapeStep, ConstantStep, CopyStep)


def check(spec: ProgramSpec) -> None:
    """Raises ValueError unless the program follows the rules."""
    for layout in spec.inputs:
        _check_layout(layout, "an input")
    known = _check_block(spec.body, frozenset(range(len(spec.inputs))), "")
    _require(known >= set(spec.outputs), "", f"the outputs {spec.outputs} are not all filled")
    inputs = range(len(spec.inputs))
    _require(all(one in inputs for one in chain(*spec.apart)), "", f"{spec.apart} are not pairs of inputs")
    arrays = {number for number, one in enumerate(spec.inputs) if isinstance(one, ArraySpec)}
    _require(arrays >= set(spec.written), "", f"{spec.written} are not inputs that are arrays")


def _require(holds: bool, place: str, reason: str) -> None:
    if not holds:
        raise ValueError(f"{f'step {place}: ' if place else ''}{reason}")


def _check_block(block: Block, known: frozenset[int], place: str) -> frozenset[int]:
    """The slots that are filled behind a block, where ``known`` are before it."""
    spent = block.spent or ((),) * len(block.steps)
    _require(len(spent) == len(block.steps), place, "spent slots are listed for every step")
    for number, (step, dropped) in enumerate(zip(block.steps, spent, strict=True)):
        here = f"{place}{number}"
        _require(known >= set(step.inputs), here, f"reads slots {step.inputs}, of which not all are filled")
        _require(min(step.results, default=0) >= 0, here, f"{step.results} are not slots")
        _require(len(set(step.results)) == len(step.results), here, f"fills a slot of {step.results} twice")
        _check_step(step, known, here)
        known |= set(step.results)
        _require(known >= set(dropped), here, f"{dropped} are spent but not filled")
        known -= set(dropped)
    return known


def _check_step(step: Step, known: frozenset[int], place: str) -> None:
    if isinstance(step, RunStep):
        _check_run(step, place)
    elif isinstance(step, LoopStep):
        _check_loop(step, known, place)
    elif isinstance(step, BranchStep):
        _check_branch(step, known, place)
    elif isinstance(step, RoomStep):
        _require(len(step.inputs) == 1 and len(step.results) == 2, place, "reads one slot, and fills two")
        _require(not step.dtype.hasobject, place, "makes no room for objects")
    elif isinstance(step, _OF_ONE):
        _require(len(step.results) == 1, place, f"fills one slot, not {len(step.results)}")
        if isinstance(step, ReshapeStep | CopyStep | ViewStep):
            _require(len(step.inputs) == 1, place, f"reads one slot, not {len(step.inputs)}")
        if isinstance(step, CallStep):
            _require(step.layout is not None or not step.recycled, place, "recycles memory of no layout")
        if isinstance(step, ConstantStep):
            _check_bytes(step.constant.data, ArraySpec(step.constant.dtype, step.constant.shape, ()), place)
        if isinstance(step, ReshapeStep | CallStep) and step.layout is not None:
            _check_layout(step.layout, place)


def _check_loop(step: LoopStep, known: frozenset[int], place: str) -> None:
    _require(
        len(step.inputs) == len(step.results) == len(step.next),
        place,
        "starts, carries and goes on with as many slots",
    )
    before = known | set(step.results)
    tested = _check_block(step.condition, before, f"{place}, condition ")
    _require(step.test in tested, place, f"the condition does not fill slot {step.test}")
    _require(tested >= set(step.results), place, "the condition drops a carried slot")
    after = _check_block(step.body, tested, f"{place}, body ")
    _require(after >= {*step.next, *(known & tested)}, place, "the body lacks what the next turn reads")
    if step.tiles is not None:
        _check_tiles(step.tiles, step, f"{place}, tiles")


def _check_tiles(tiles: TimeTiles, loop: LoopStep, place: str) -> None:
    """Tiles of a loop: its turns are kernels that cannot fail, and tiles hold all rows of their nests."""
    steps, pieces = loop.body.steps, (*loop.condition.steps, *loop.body.steps)
    _require(all(isinstance(one, _OF_TILES) for one in pieces), place, "a turn has steps that are no kernels")
    runs = [one for one in pieces if isinstance(one, RunStep)]
    _require(not any(one.failures for one in runs), place, "a turn may fail")
    kernels = [kernel for one in steps if isinstance(one, RunStep) for kernel in one.kernels]
    _require(not any(one.in_turn or one.resumed for one in kernels), place, "a kernel has turns of its own")
    _require(tiles.turns > 1 and min(tiles.width, tiles.tiles, tiles.band) > 0, place, "there are no turns or rows")
    _require(min(tiles.skew, tiles.before) >= 0, place, "a turn is ahead of the one before it")
    _check_nests(tiles, kernels, place)
    for kernel, slot in tiles.copied:
        _require(0 <= kernel < len(kernels), place, f"copies for kernel {kernel} of {len(kernels)}")
        pointers = kernels[kernel].pointers
        _require(0 <= slot < len(pointers), place, f"copies pointer {slot} of {len(pointers)}")
        _require(pointers[slot].to == "buffer", place, f"copies a pointer to {pointers[slot].to}")
    slots = list(chain(*tiles.families))
    used = {*loop.results, *chain(*((*one.inputs, *one.results) for one in steps))}
    _require(len(set(slots)) == len(slots), place, f"the families {tiles.families} share a slot")
    _require(used >= set(slots), place, f"a turn does not know all slots of {tiles.families}")


def _check_nests(tiles: TimeTiles, kernels: Sequence[KernelSpec], place: str) -> None:
    """Nests are parts of kernels in order, and no row of theirs lies outside of the tiles."""
    _require(bool(tiles.nests), place, "there are no nests")
    done = (0, 0)
    for one in tiles.nests:
        _require(0 <= one.kernel < len(kernels), place, f"a nest of kernel {one.kernel} of {len(kernels)}")
        most = kernels[one.kernel].extent
        _require(0 <= one.first < one.stop <= most, place, f"iterations {one.first} to {one.stop} of {most}")
        _require((one.kernel, one.first) >= done, place, "nests overlap, or are not in order")
        done = one.kernel, one.stop
        _require(one.steps > 0 and min(one.skew, one.before) >= 0, place, "a nest is ahead of the first one")
        end = one.begin - (one.first - one.stop) // one.steps
        inside = tiles.begin <= one.begin and end <= tiles.begin + tiles.width * tiles.tiles
        _require(inside, place, f"rows {one.begin} to {end} are not all in tiles")


def _check_branch(step: BranchStep, known: frozenset[int], place: str) -> None:
    _require(len(step.inputs) == 1, place, "asks one slot")
    _require(len(step.blocks) == len(step.values) > 0, place, "values are needed for every block, and a block")
    for number, (block, values) in enumerate(zip(step.blocks, step.values, strict=True)):
        after = _check_block(block, known, f"{place}, block {number} ")
        _require(len(values) == len(step.results), place, f"block {number} gives {len(values)} values")
        _require(after >= set(values), place, f"block {number} does not fill {values}")
        _require(after >= known, place, f"block {number} drops slots from before it")


def _check_run(step: RunStep, place: str) -> None:
    _require(len(step.arguments) == len(step.inputs), place, "a layout is needed for every input")
    _require(len(step.outputs) == len(step.results), place, "a layout is needed for every result")
    for layout in (*step.arguments, *step.outputs):
        _check_layout(layout, place)
    made = {*(one.dtype for one in step.outputs), *(one.dtype for one in step.constants)}
    _require(OBJECT not in made, place, "kernels neither make nor know objects")
    _require(len(step.offsets) == len(step.temps), place, "a place is needed for every temporary")
    _require(min((*step.temps, *step.offsets), default=0) >= 0, place, "sizes and places are not negative")
    for constant in step.constants:
        _check_bytes(constant.data, ArraySpec(constant.dtype, constant.shape, ()), place)
    buffers = len(step.inputs) + len(step.results) + len(step.temps) + len(step.failures)
    counts = {"buffer": buffers, "constant": len(step.constants), "nothing": 1}
    for kernel in step.kernels:
        _require(kernel.chunk >= 1 and kernel.extent >= 0, place, f"runs over {kernel.extent} by {kernel.chunk}")
        for one in kernel.pointers:
            count = counts.get(one.to, 0)
            _require(0 <= one.number < count, place, f"a table points to {one.to} {one.number} of {count}")


def _check_bytes(data: bytes, layout: ArraySpec, place: str) -> None:
    count = 1
    for size in layout.shape:
        count *= size
    _require(len(data) == count * layout.dtype.itemsize, place, f"a constant of {layout.shape} has {len(data)} bytes")


def _check_layout(layout: ArraySpec | ScalarSpec, place: str) -> None:
    if isinstance(layout, ArraySpec):
        shape, strides = layout.shape, layout.strides
        _require(len(shape) == len(strides), place, f"shape {shape} and strides {strides} differ in length")
        _require(min(shape, default=0) >= 0, place, f"sizes of {shape} are not negative")
