"""`Card`: what one should know of a trained model before one uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import RunError


@dataclass(frozen=True)
class Card:
    """The card of a model.

    Attributes
    ----------
    name, title: of the model. summary: what it does, in a sentence.
    data, licence, span: what it was trained on, under which terms, and over which time.
    split: what was training, validation and test. step: of its logs. lookback, horizon: in steps.
    inputs: what a log must hold. intended_use, limits: what it is for, and what it is not.
    metrics: rows of {log, seen, model, mse, mae, coverage_90, windows}, beside persistence and a linear model; errors
        are in units of the training variance. ``seen`` says whether the station was part of training.
    parameters: number of weights. command: what trains it again. environment: versions, hardware and date.
    sha256: file → hash.
    """

    name: str
    title: str
    summary: str
    data: str
    licence: str
    span: str
    split: str
    step: str
    lookback: int
    horizon: int
    inputs: str
    intended_use: str
    limits: tuple[str, ...]
    metrics: tuple[dict[str, Any], ...]
    parameters: int
    command: str
    environment: dict[str, Any]
    sha256: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Card:
        """Inverse of `to_dict`. Raises `RunError` where something is missing."""
        wanted = {field.name for field in fields(cls)}
        if not isinstance(data, Mapping) or set(data) != wanted:
            odd = sorted(wanted ^ set(data)) if isinstance(data, Mapping) else ["everything"]
            raise RunError(f"a model card is damaged at: {', '.join(odd)}; install the package again")
        return cls(**{**data, "limits": tuple(data["limits"]), "metrics": tuple(data["metrics"])})

    def to_markdown(self) -> str:
        """The card as a page."""
        packages = ", ".join(f"{name} {version}" for name, version in self.environment["packages"].items())
        facts = {
            "Data": self.data,
            "Licence of the data": self.licence,
            "Span": self.span,
            "Split": self.split,
            "Step, look-back, horizon": f"{self.step}; {self.lookback} and {self.horizon} steps",
            "A log must hold": self.inputs,
            "Parameters": f"{self.parameters:,}",
            "Meant for": self.intended_use,
            "Trained again by": f"`{self.command}`",
            "Made with": f"{self.environment['date'][:10]}, {self.environment['cpu']}, {packages}",
        }
        lines = [f"## {self.name}", "", f"**{self.title}.** {self.summary}", "", "| | |", "|---|---|"]
        lines += [f"| {label} | {value} |" for label, value in facts.items()]
        lines += ["", "Limits:", "", *(f"- {limit}" for limit in self.limits), ""]
        lines += ["| log | in training | model | MSE | MAE | 90 % covers | windows |", "|---|---|---|---|---|---|---|"]
        for row in self.metrics:
            covers = "–" if row["coverage_90"] is None else f"{row['coverage_90']:.0%}"
            lines.append(
                f"| {row['log']} | {'yes' if row['seen'] else 'no'} | {row['model']} | {row['mse']:.4f} | "
                f"{row['mae']:.4f} | {covers} | {row['windows']:,} |"
            )
        lines += ["", *(f"- `{file}` SHA-256 `{digest}`" for file, digest in self.sha256.items()), ""]
        return "\n".join(lines)
