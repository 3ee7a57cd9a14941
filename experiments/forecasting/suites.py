"""Which problems, contenders and seeds belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .cell import Cell
from .contenders import CONTENDERS
from .problems import PROBLEMS

_PLAIN = ("persistence", "linear")
_CORE = (
    "attentionmixer",
    "temporal only",
    *_PLAIN,
    "ridge_var",
    "lightgbm",
    "gru",
    "nf-patchtst",
    "nf-itransformer",
    "nf-tsmixer",
    "nf-timexer",
)
#: Published protocol of the soft sensors, where the published form and its ablations are of interest.
_PAPER = ("attentionmixer-paper", "paper, shared query and key")


@dataclass(frozen=True)
class Suite:
    """Problems × contenders × seeds, and the most seconds that a training may take.

    ``further`` are contenders of single problems.
    """

    name: str
    problems: tuple[str, ...]
    contenders: tuple[str, ...]
    seeds: int
    seconds: float | None
    further: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def contenders_of(self, problem: str) -> tuple[str, ...]:
        """Who takes part there."""
        return self.contenders + dict(self.further).get(problem, ())

    def cells(self, problems: tuple[str, ...], contenders: tuple[str, ...], seeds: int | None = None) -> Iterator[Cell]:
        """All cells, seed by seed: a suite that is broken off has compared all with all."""
        for seed in range(self.seeds if seeds is None else seeds):
            for problem in problems or self.problems:
                for name in contenders or self.contenders_of(problem):
                    contender = CONTENDERS[name]
                    if seed == 0 or contender.random:
                        yield Cell(PROBLEMS[problem], contender, seed, self.seconds)


_NINE = (
    "radnet-2019",
    "radnet-2019-h1",
    "radnet-2011",
    "japan-daily",
    "etth1-96",
    "etth2-96",
    "sru",
    "debutanizer",
    "ring",
)
SUITES = {
    suite.name: suite
    for suite in (
        Suite("quick", ("radnet-2019",), ("attentionmixer", *_PLAIN, "ridge_var", "gru"), 1, 20.0),
        # on one core: less than 180 s on two
        Suite("core", _NINE, _CORE, 3, 300.0, (("sru", _PAPER), ("debutanizer", _PAPER))),
        Suite("full", tuple(PROBLEMS), tuple(CONTENDERS), 5, None),
    )
}
