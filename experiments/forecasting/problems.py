"""What is forecast: a log, its windows and a horizon."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from attentionmixer.config import DataConfig, parse


@dataclass(frozen=True)
class Problem:
    """One log at one horizon.

    Attributes
    ----------
    name: of the problem, as in the tables. config: name of the configuration whose ``data`` part it is.
    paths: setting → path below the data folder; none where the log is simulated.
    horizon: H, where it is another than the configuration's. season: steps of the season, for the seasonal naive.
    calendar: cycles that mean something on this log.
    """

    name: str
    config: str
    paths: tuple[tuple[str, str], ...] = ()
    horizon: int | None = None
    season: int = 24
    calendar: tuple[str, ...] = ()

    def arguments(self, data: Path) -> list[str]:
        """Settings of the log, as arguments of the training command."""
        return [
            f"--config={self.config}",
            *(f"--data.{setting}={data / path}" for setting, path in self.paths),
            *([] if self.horizon is None else [f"--data.horizon={self.horizon}"]),
        ]

    def data_config(self, data: Path) -> DataConfig:
        """Its settings."""
        return parse(self.arguments(data), "experiments.forecasting").data

    def is_there(self, data: Path | None) -> bool:
        """Whether the files it needs are there."""
        return not self.paths or (data is not None and all((data / path).exists() for _, path in self.paths))


_ETT = {"season": 24, "calendar": ("hour",)}
_ETTH1, _ETTH2 = (("path", "ett/ETTh1.csv"),), (("path", "ett/ETTh2.csv"),)
_RADNET = (("path", "radnet"),)
_JAPAN = (
    ("path", "japan-nra/japan_daily_984x822_wide.csv.gz"),
    ("tags", "japan-nra/japan_daily_stations.csv"),
)
_SRU, _DEBUTANIZER = (("path", "softsensor/SRU_data.txt"),), (("path", "softsensor/Debutanizer_Data.txt"),)

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("radnet-2019", "radnet", _RADNET, None, 24, ("hour",)),
        Problem("radnet-2019-h6", "radnet", _RADNET, 6, 24, ("hour",)),
        Problem("radnet-2019-h1", "radnet", _RADNET, 1, 24, ("hour",)),
        Problem("radnet-2011", "radnet-2011", _RADNET, None, 24, ("hour",)),
        Problem("japan-daily", "japan-daily", _JAPAN, None, 7, ("year",)),
        *(Problem(f"etth1-{h}", "etth1", _ETTH1, h, **_ETT) for h in (96, 192, 336, 720)),  # type: ignore[arg-type]
        *(Problem(f"etth2-{h}", "etth2", _ETTH2, h, **_ETT) for h in (96, 192, 336, 720)),  # type: ignore[arg-type]
        Problem("sru", "sru", _SRU, season=1),
        Problem("sru-soft", "sru-soft", _SRU, season=1),
        Problem("debutanizer", "debutanizer", _DEBUTANIZER, season=1),
        Problem("debutanizer-soft", "debutanizer-soft", _DEBUTANIZER, season=1),
        Problem("tep", "tep", (("path", "tep/d00_te.dat"),), season=1),
        Problem("ring", "ring", season=144, calendar=("hour",)),
    )
}
