"""Draws from generators of NumPy's: its own routines, over its own state.

A generator's ``bitgen_t`` are five words, which begin with the address of the state and those of the functions that
make bits of it. A copy of them is as good, as the state lies elsewhere. :data:`BIT_GENERATOR` is such a copy, behind
which stand the addresses of the routines, and its own. A draw moves the state on: it has an effect.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from xjit.dataclass import dataclass
from xjit.ir.opdef import Drawing, Kind, OpDef, Params
from xjit.ops.define.core import Array, register
from xjit.ops.effects.python_call import unboxed
from xjit.types import FLOAT32, FLOAT64, INT64, ArrayType, DType, array_type

Types = tuple[ArrayType, ...]


# ---- routines


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine of NumPy's that draws numbers.

    Those that ``fill`` memory get how many numbers, and where to; ``bounded`` ones the least of them and how many
    there are besides, too, of which the one for ``one`` integer gets nothing else. Others return one number and get
    ``operands`` of type F64; one of ``trials`` gets a probability, the number of trials of type S64, and memory that
    it keeps what it has computed of these in. ``cost`` is that of a number, in additions.
    """

    dtype: DType
    operands: int = 0
    way: str = "each"
    cost: float = 20.0


def _each(operands: int, names: str, dtype: DType = FLOAT64, cost: float = 20.0) -> dict[str, Routine]:
    return {name: Routine(dtype, operands, cost=cost) for name in names.split()}


def _fill(names: str, cost: float) -> dict[str, Routine]:
    types = {"": FLOAT64, "_f": FLOAT32}
    return {f"{name}{end}": Routine(dtype, 0, "fill", cost) for name in names.split() for end, dtype in types.items()}


ROUTINES: dict[str, Routine] = {
    **_fill("random_standard_uniform_fill", 4.0),
    **_fill(
        "random_standard_normal_fill random_standard_exponential_fill random_standard_exponential_inv_fill", 12.0
    ),
    **_each(0, "random_standard_uniform", cost=4.0),
    **_each(0, "random_standard_normal random_standard_exponential", cost=12.0),
    **_each(0, "random_standard_cauchy"),
    **_each(
        1,
        """random_exponential random_rayleigh random_pareto random_weibull random_power random_chisquare
        random_standard_gamma random_standard_t""",
        cost=40.0,
    ),
    **_each(2, "random_uniform", cost=4.0),
    **_each(2, "random_normal", cost=12.0),
    **_each(
        2,
        """random_laplace random_gumbel random_logistic random_lognormal random_gamma random_beta random_f
        random_wald random_vonmises""",
        cost=40.0,
    ),
    **_each(3, "random_triangular"),
    **_each(1, "random_poisson random_geometric random_logseries random_zipf", INT64, 40.0),
    "random_binomial": Routine(INT64, 2, "trials", 60.0),
    "random_bounded_uint64_fill": Routine(INT64, 2, "bounded", 8.0),
    "random_bounded_uint64": Routine(INT64, 2, "one", 8.0),
}
"""The routines by their names in C."""

_TYPES_IN_C = {FLOAT32: ctypes.c_float, FLOAT64: ctypes.c_double, INT64: ctypes.c_int64}


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library that holds the routines; None where this NumPy hands them out to nobody."""
    try:
        from numpy.random import _generator

        found = ctypes.CDLL(_generator.__file__)
        return found if all(hasattr(found, name) for name in ROUTINES) else None
    except (ImportError, AttributeError, OSError):
        return None


# ---- the state

_WORDS_OF_BITS = 5
"""Words of a ``bitgen_t``."""

PLACES = {name: _WORDS_OF_BITS + number for number, name in enumerate(ROUTINES)}
"""The places of the addresses of the routines."""

OWN_PLACE = _WORDS_OF_BITS + len(ROUTINES)
"""The place of the address of the words."""

SETUP_PLACE = OWN_PLACE + 1
"""The place of the memory of a routine of trials, NumPy's ``binomial_t``: zeros at first."""
_WORDS_OF_SETUP = 24


@functools.cache
def _template() -> bytes:
    """The words without those of a bit generator."""
    found = library()
    assert found is not None, "the trace has asked whether the routines are there"
    addresses = (ctypes.cast(getattr(found, name), ctypes.c_void_p).value for name in ROUTINES)
    return np.array(
        [*(0 for _ in range(_WORDS_OF_BITS)), *addresses, *(0 for _ in range(1 + _WORDS_OF_SETUP))], np.uint64
    ).tobytes()


class Memory(ctypes.Array[ctypes.c_int64]):
    """The memory of an array of words, which keeps their bit generator alive."""

    _type_ = ctypes.c_int64
    _length_ = SETUP_PLACE + _WORDS_OF_SETUP
    bit_generator: Any


_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_pointer = _get_pointer(("PyCapsule_GetPointer", ctypes.pythonapi))


def words_of(generator: Any) -> Array:
    """The words for a generator, or a RandomState."""
    old = isinstance(generator, np.random.RandomState)
    memory = Memory.from_buffer_copy(_template())
    memory.bit_generator = generator._bit_generator if old else generator.bit_generator
    ctypes.memmove(memory, _pointer(memory.bit_generator.capsule, b"BitGenerator"), 8 * _WORDS_OF_BITS)
    memory[OWN_PLACE] = ctypes.addressof(memory)
    buffer: Any = memory
    return np.frombuffer(buffer, np.int64)


def locked(words: Array, *others: Array) -> AbstractContextManager[Any]:
    """A context in which no other thread draws from these bit generators."""
    if not others:
        lock = _lock(words)
        return contextlib.nullcontext() if lock is None else lock
    found = {id(lock): lock for lock in map(_lock, (words, *others)) if lock is not None}
    with contextlib.ExitStack() as stack:
        for _, lock in sorted(found.items()):
            stack.enter_context(lock)
        return stack.pop_all()


_STATE_OF_MT19937 = 4 * (624 + 1)
"""The bytes of NumPy's ``mt19937_state``: its words, and the place of the next one."""


def state_back(words: Array) -> Callable[[], object]:
    """The function that gives a bit generator the state back that it has now.

    That of a Mersenne Twister is kept as bytes: to take it apart costs more than to draw.
    """
    memory: Any = words.base
    generator = memory.bit_generator
    if type(generator) is np.random.MT19937:
        place = int(words[0])
        return functools.partial(ctypes.memmove, place, ctypes.string_at(place, _STATE_OF_MT19937), _STATE_OF_MT19937)
    return functools.partial(setattr, generator, "state", generator.state)


def _lock(words: Array) -> Any:
    memory: Any = words.base
    return memory.bit_generator.lock if type(memory) is Memory else None


def _infer_words(types: Types, params: Params) -> ArrayType:
    return array_type(INT64, (SETUP_PLACE + _WORDS_OF_SETUP,))


def _words(*generators: Any) -> Array:
    return words_of(unboxed(generators[0]) if generators else np.random.mtrand._rand)


BIT_GENERATOR = register(
    OpDef(
        name="bit_generator",
        kind=Kind.STRUCTURED,
        infer=_infer_words,
        reference=_words,
        silent=True,
        alone=locked,
        puts_back=state_back,
        doc="The words for a generator, or for the one that NumPy's module draws from.",
    )
)


# ---- draws


def _function(name: str) -> Any:
    found, record = library(), ROUTINES[name]
    assert found is not None, "the trace has asked whether the routines are there"
    operands = (ctypes.c_double,) * record.operands
    result: Any = _TYPES_IN_C[record.dtype]
    kind: Any = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *operands)
    if record.way == "fill":
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
    elif record.way == "bounded":
        words = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_ssize_t, ctypes.c_uint8)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *words, ctypes.c_void_p)
    elif record.way == "trials":
        kind = ctypes.CFUNCTYPE(result, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64, ctypes.c_void_p)
    elif record.way == "one":
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *(ctypes.c_uint64,) * 3, ctypes.c_bool)
    return kind((name, found))


def _infer_draw(types: Types, params: Params) -> ArrayType:
    return array_type(ROUTINES[params["routine"]].dtype, params["dims"])


def _draw(words: Array, *operands: Array, routine: str, dims: tuple[int, ...], masked: bool) -> Array:
    record, made = ROUTINES[routine], np.empty(dims, ROUTINES[routine].dtype)
    function, state = _function(routine), words.ctypes.data
    with locked(words):
        if record.way == "fill":
            function(state, made.size, made.ctypes.data)
        elif record.way == "bounded":
            low, more = (int(one) % 2**64 for one in operands)
            function(state, low, more, made.size, masked, made.ctypes.data)
        elif record.way == "one":
            made[...] = function(state, *(int(one) % 2**64 for one in operands), 0, False)
        else:
            numbers = [np.broadcast_to(one, dims).ravel().tolist() for one in operands]
            last = (state + 8 * SETUP_PLACE,) if record.way == "trials" else ()
            made.reshape(-1)[...] = [function(state, *(one[k] for one in numbers), *last) for k in range(made.size)]
    return made


def single(routine: str) -> str | None:
    """The routine that returns one number of those that another one fills memory with; itself if it returns one.

    >>> single("random_standard_normal_fill"), single("random_normal"), single("random_standard_normal_fill_f")
    ('random_standard_normal', 'random_normal', None)
    """
    found = routine.removesuffix("_fill")
    return found if found in ROUTINES and ROUTINES[found].way in ("each", "one", "trials") else None


def _drawing(params: Params) -> Drawing:
    name, masked = params["routine"], params["masked"]
    record, one = ROUTINES[name], None if masked else single(name)
    alone = 0 if one is None else PLACES[one]
    return Drawing(PLACES[name], record.way, record.operands, record.cost, masked, alone, OWN_PLACE, SETUP_PLACE)


DRAW = register(
    OpDef(
        name="draw",
        kind=Kind.EFFECT,
        infer=_infer_draw,
        reference=_draw,
        silent=True,
        draws=_drawing,
        doc="Numbers that a routine of NumPy's draws from a bit generator, by way of the other operands.",
    )
)
