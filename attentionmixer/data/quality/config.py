"""Settings of the quality rules."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from ...errors import ConfigError
from .rules import (
    RULES,
    NeighbourRule,
    QuantisedRule,
    RangeRule,
    SaturatedRule,
    SpikeRule,
    StartupRule,
    StuckRule,
    SwapRule,
    UnitRule,
    WrapRule,
)

_NAMES = tuple(rule.name for rule in RULES)


@dataclass(frozen=True)
class QualityConfig:
    """Which rules look at a log, and how.

    Attributes
    ----------
    rules
        names of the rules to apply; they always run in the order of ``RULES``
    quantised
        rounding worth a sentence
    range
        what can be
    saturated
        a flat top
    startup
        transients after power-up
    wrap
        counter faults
    stuck
        how long a tag may repeat itself
    unit_jump
        factors too round to be true
    neighbour
        jumps that one post makes alone
    spike
        single readings far off
    swap
        detectors changed

    Raises
    ------
    ConfigError: a rule is unknown; the message names the nearest.
    """

    rules: tuple[str, ...] = _NAMES
    quantised: QuantisedRule = field(default_factory=QuantisedRule)
    range: RangeRule = field(default_factory=RangeRule)
    saturated: SaturatedRule = field(default_factory=SaturatedRule)
    startup: StartupRule = field(default_factory=StartupRule)
    wrap: WrapRule = field(default_factory=WrapRule)
    stuck: StuckRule = field(default_factory=StuckRule)
    unit_jump: UnitRule = field(default_factory=UnitRule)
    neighbour: NeighbourRule = field(default_factory=NeighbourRule)
    spike: SpikeRule = field(default_factory=SpikeRule)
    swap: SwapRule = field(default_factory=SwapRule)

    def __post_init__(self) -> None:
        for name in self.rules:
            if name not in _NAMES:
                near = difflib.get_close_matches(name, _NAMES, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(_NAMES)}"
                raise ConfigError(f"there is no quality rule {name!r}; {hint}")
