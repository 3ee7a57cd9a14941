"""The rules, one signature for all: ``rule(readings, settings) -> Finding``, in order of application.

A rule sees the readings of one tag that the rules before it have left: what was flagged with one of `IGNORED` is set
aside, so that a start-up transient is no spike, and a stuck run goes on across a counter fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..flags import Flag
from ..readings import Finding, Readings
from .limits import RangeRule, SaturatedRule, in_range, saturated
from .neighbour import NeighbourRule, neighbour
from .quantised import QuantisedRule, quantised
from .single import SpikeRule, WrapRule, spike, wrap
from .startup import StartupRule, startup
from .stuck import StuckRule, stuck
from .swap import SwapRule, swap
from .unit_jump import UnitRule, unit_jump

__all__ = [
    "RULES",
    "NeighbourRule",
    "QuantisedRule",
    "RangeRule",
    "Rule",
    "SaturatedRule",
    "SpikeRule",
    "StartupRule",
    "StuckRule",
    "SwapRule",
    "UnitRule",
    "WrapRule",
]


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    name: as in `QualityConfig.rules`, and the name of its settings there.
    flag: what its cells are flagged with; no bit for a rule that only measures.
    find: the rule itself; settings are of the type that its docstring names.
    says: what a flagged reading is, for people.
    """

    name: str
    flag: Flag
    find: Callable[[Readings, Any], Finding]
    says: str


#: In order of application.
RULES: tuple[Rule, ...] = (
    Rule("quantised", Flag(0), quantised, "readings are rounded"),
    Rule("range", Flag.RANGE, in_range, "outside what the instrument can measure"),
    Rule("saturated", Flag.SATURATED, saturated, "at the top of the instrument's range; the true value was higher"),
    Rule("startup", Flag.STARTUP, startup, "transient after power-up or a gap"),
    Rule("wrap", Flag.WRAP, wrap, "counter fault: a single reading that no radiation makes"),
    Rule("stuck", Flag.STUCK, stuck, "the same value for longer than the instrument's noise allows"),
    Rule("unit_jump", Flag.UNIT, unit_jump, "the level differs by a factor of 10, 100 or 1000; check the unit"),
    Rule("neighbour", Flag.NEIGHBOUR, neighbour, "a jump that stays; instrument fault likely: no neighbour agrees"),
    Rule("spike", Flag.SPIKE, spike, "one reading far from both its neighbours in time"),
    Rule("swap", Flag.SWAP, swap, "level and variance step at once; the detector was probably changed here"),
)
