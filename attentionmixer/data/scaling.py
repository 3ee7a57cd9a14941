"""Scaling of tags, fitted on what was observed in the training part and on nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .log import StationLog, Tag

ScaleKind = Literal["standard", "robust", "minmax"]
CountTransform = Literal["none", "sqrt", "anscombe"]


@dataclass(frozen=True)
class ScalingConfig:
    """How tags are brought to one scale.

    Attributes
    ----------
    kind
        ``standard`` (mean, standard deviation), ``robust`` (median, 1.4826 × median absolute deviation) or ``minmax``
        (minimum, range)
    counts
        transform of count rates before scaling: ``sqrt`` or ``anscombe`` (2 √(x + 3/8)) make the counting noise the
        same at all levels
    clip
        scaled values are clipped at ± this many scales wherever a model sees or is scored on them
    """

    kind: ScaleKind = "standard"
    counts: CountTransform = "none"
    clip: float = 20.0


class TagScaler(nn.Module):
    """z = (g(x) − location) / scale per tag, clipped; g is the identity, or a square root for count rates.

    A tag that is constant in training gets scale 1 and is listed in ``constant``; one never observed there gets
    location 0, scale 1 and is listed in ``unobserved``. `deviation` is the plain training standard deviation in
    engineering units (1 for constant tags), which is the unit of all scaled metrics.

    Shapes: `forward` and `inverse` take [..., N] or, with ``tag_dim``, N at that dimension.
    """

    location: Tensor
    scale: Tensor
    mean: Tensor
    deviation: Tensor
    rooted: Tensor

    def __init__(self, config: ScalingConfig, tags: int) -> None:
        super().__init__()
        self.config = config
        for name, start in (("location", 0.0), ("scale", 1.0), ("mean", 0.0), ("deviation", 1.0)):
            self.register_buffer(name, torch.full((tags,), start))
        self.register_buffer("rooted", torch.zeros(tags, dtype=torch.bool))
        self.has_roots = False  # known here, since asking the buffer would make a device wait in every batch
        self.constant: tuple[str, ...] = ()
        self.unobserved: tuple[str, ...] = ()

    @classmethod
    def fit(cls, log: StationLog, rows: int, config: ScalingConfig | None = None) -> TagScaler:
        """Fit on the first ``rows`` rows of the log; NaN is ignored."""
        config = config or ScalingConfig()
        scaler = cls(config, len(log.tags))
        constant, unobserved = [], []
        for i, tag in enumerate(log.tags):
            observed = log.values[:rows, i].astype(np.float64)
            observed = observed[~np.isnan(observed)]
            if observed.size == 0:
                unobserved.append(tag.name)
                continue
            scaler.mean[i] = observed.mean()
            if _is_constant(observed):
                constant.append(tag.name)
                scaler.location[i] = observed.mean()
                continue
            scaler.deviation[i] = observed.std()
            scaler.rooted[i] = config.counts != "none" and _is_count(tag)
            seen = scaler._root(torch.from_numpy(observed)).numpy() if scaler.rooted[i] else observed
            location, scale = _location_scale(seen, config.kind)
            # counts that vary below zero alone have the same root
            scaler.location[i], scaler.scale[i] = location, scale if scale > 0 else 1.0
        scaler.constant, scaler.unobserved = tuple(constant), tuple(unobserved)
        scaler.has_roots = bool(scaler.rooted.any())
        return scaler

    def forward(self, x: Tensor) -> Tensor:
        """Scaled and clipped values; NaN stays NaN."""
        if self.has_roots:
            x = torch.where(self.rooted, self._root(x), x)
        return ((x - self.location) / self.scale).clamp(-self.config.clip, self.config.clip)

    def inverse(self, z: Tensor, tag_dim: int = -1) -> Tensor:
        """Engineering units; the inverse of `forward` inside the clip, clipped outside."""
        z = z.movedim(tag_dim, -1).clamp(-self.config.clip, self.config.clip)
        x = z * self.scale + self.location
        if self.has_roots:
            x = torch.where(self.rooted, self._square(x), x)
        return x.movedim(-1, tag_dim)

    def to_deviations(self, x: Tensor) -> Tensor:
        """(x − training mean) / training standard deviation, clipped: the unit of all scaled metrics. [..., N]."""
        return ((x - self.mean) / self.deviation).clamp(-self.config.clip, self.config.clip)

    def _root(self, x: Tensor) -> Tensor:
        if self.config.counts == "anscombe":
            return 2.0 * torch.sqrt((x + 0.375).clamp(min=0.0))
        return torch.sqrt(x.clamp(min=0.0))

    def _square(self, z: Tensor) -> Tensor:
        z = z.clamp(min=0.0)
        if self.config.counts == "anscombe":
            return ((z / 2.0).square() - 0.375).clamp(min=0.0)
        return z.square()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types only."""
        return {
            "config": dict(self.config.__dict__),
            "constant": list(self.constant),
            "unobserved": list(self.unobserved),
            **{name: getattr(self, name).tolist() for name in ("location", "scale", "mean", "deviation", "rooted")},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TagScaler:
        """Inverse of `to_dict`."""
        scaler = cls(ScalingConfig(**data["config"]), len(data["location"]))
        for name in ("location", "scale", "mean", "deviation", "rooted"):
            buffer = getattr(scaler, name)
            buffer.copy_(torch.tensor(data[name], dtype=buffer.dtype))
        scaler.constant, scaler.unobserved = tuple(data["constant"]), tuple(data["unobserved"])
        scaler.has_roots = bool(scaler.rooted.any())
        return scaler


def _is_count(tag: Tag) -> bool:
    return tag.quantity == "count_rate"


def _is_constant(observed: NDArray[np.float64]) -> bool:
    # float32 readings: anything below their resolution is rounding, not signal
    return bool(observed.std() <= 1e-6 * max(1e-30, float(np.abs(observed).max())))


def _location_scale(seen: NDArray[np.float64], kind: ScaleKind) -> tuple[float, float]:
    if kind == "standard":
        return float(seen.mean()), float(seen.std())
    if kind == "minmax":
        return float(seen.min()), float(seen.max() - seen.min())
    middle = float(np.median(seen))
    spread = 1.4826 * float(np.median(np.abs(seen - middle)))
    # more than half of the readings are the same number: the median deviation says nothing then
    return middle, spread if spread > 0 else float(seen.std())
