"""Record of a vector function: its error, and whether it has a quick variant."""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """An elementary function of one or two arguments.

    ``error`` is a bound, found by trial, on the distance to the true value in units of the last place of that
    value.  Its companion :attr:`rare` is the function itself, but called instead of inlined.  A ``varied`` function
    has two more: :attr:`near` is right wherever :attr:`is_far` is false, and for NaN, and cheaper.  ``frequent`` says
    that where some arguments are far many are, so that loops over them inline the function, to be vector code.
    """

    name: str
    error: float
    varied: bool = False
    frequent: bool = False

    @property
    def near(self) -> str:
        """The quick variant; the function itself where there is none."""
        return f"{self.name}_near" if self.varied else self.name

    @property
    def rare(self) -> str:
        """The variant that compiles fast."""
        return f"{self.name}_rare"

    @property
    def called(self) -> str:
        """The variant that loops over many functions call, a register of elements at a time."""
        return f"{self.name}_called"

    @property
    def is_far(self) -> str:
        """The inline function that tells, of the same arguments, whether the quick variant will not do."""
        if not self.varied:
            raise ValueError(f"{self.name} has no variants")
        return f"{self.name}_is_far"


def everywhere(name: str, error: float) -> VectorFunction:
    """A function without a quick variant."""
    return VectorFunction(name, error)


def reduced(name: str, error: float, *, frequent: bool = False) -> VectorFunction:
    """A function with the variants ``name_near`` and ``name_is_far``."""
    return VectorFunction(name, error, varied=True, frequent=frequent)
