"""`RadiationDataModule`: a log, split and scaled, as window batches on the training device."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

import lightning as L
import torch
from torch import Tensor

from ..errors import ConfigError, LogError
from .known import CalendarCycle, known_channels, known_names
from .log import StationLog
from .quality import IGNORED, Flag, parse_flags
from .scaling import ScalingConfig, TagScaler
from .split import SplitConfig, check_windows, split_rows
from .windows import WindowBatch, WindowLoader, Windows

logger = logging.getLogger(__name__)
Part = Literal["train", "validation", "test"]


@dataclass(frozen=True)
class WindowConfig:
    """Windows, split and scaling.

    Attributes
    ----------
    lookback
        L, steps of the log a forecast is made from
    horizon
        H, steps ahead that are forecast
    batch_size
        windows per training step, over all devices together
    evaluation_batch_size
        windows per step without gradient
    split
        where training ends and test begins
    scaling
        how tags are brought to one scale
    calendar
        cycles given to the model as known ahead: ``hour``, ``weekday``, ``year``
    ignored_flags
        cells with one of these quality flags are treated as missing; the usual ones if not given
    """

    lookback: int = 96
    horizon: int = 24
    batch_size: int = 64
    evaluation_batch_size: int = 256
    split: SplitConfig = field(default_factory=SplitConfig)
    scaling: ScalingConfig = field(default_factory=ScalingConfig)
    calendar: tuple[CalendarCycle, ...] = ()
    ignored_flags: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _ = self.ignored  # a name that is unknown is refused at once

    @property
    def ignored(self) -> Flag:
        """``ignored_flags`` as a mask. Raises `ConfigError` where a name is unknown."""
        return IGNORED if self.ignored_flags is None else parse_flags(self.ignored_flags)


class RadiationDataModule(L.LightningDataModule):
    """Chronological train, validation and test windows of one log. Flagged cells are missing in all of them.

    The scaler is fitted on observed training values only; look-back of validation and test windows may reach into the
    part before, their targets never do.

    Raises
    ------
    LogError: before anything is trained, where a part is too short, or no tag is a target.
    ConfigError: a batch size is below 1, or the split makes no sense.
    """

    def __init__(self, log: StationLog, config: WindowConfig | None = None, seed: int = 0) -> None:
        super().__init__()
        self.windows_config = config = config or WindowConfig()
        self.log, self.seed = log.without_flagged(config.ignored), seed
        if config.lookback < 1 or config.horizon < 1:
            raise LogError(f"look-back and horizon must be at least 1, not {config.lookback} and {config.horizon}")
        if min(config.batch_size, config.evaluation_batch_size) < 1:
            sizes = f"{config.batch_size} and {config.evaluation_batch_size}"
            raise ConfigError(f"batch_size and evaluation_batch_size must be at least 1, not {sizes}")
        self.scored = torch.tensor([tag.scored for tag in log.tags])
        self.seen = torch.tensor([tag.seen for tag in log.tags])
        if not bool(self.scored.any()):
            raise LogError("no tag of the log has the role 'target' or 'estimate', so there is nothing to forecast")
        self.split = split_rows(log, config.split)
        check_windows(log, self.split, config.lookback, config.horizon)
        self.scaler = TagScaler.fit(self.log, self.split.train_end, config.scaling)
        self._check_observed()
        self.known_names = known_names(log, config.calendar)

    # --- parts -------------------------------------------------------------------------------------------------------

    def windows(self, part: Part, device: torch.device | str = "cpu") -> Windows:
        """All windows whose targets lie in the part."""
        first, last = self.split.parts()[part]
        return self.windows_between(first, last, device)

    def windows_between(self, first: int, last: int, device: torch.device | str = "cpu") -> Windows:
        """All windows whose targets lie in rows ``first <= i < last``."""
        values, known = self._tensors(torch.device(device))
        config = self.windows_config
        scaler, scored = self.scaler.to(device), self.scored.to(device)
        return Windows(values, scaler, config.lookback, config.horizon, first, last, scored, known, self.seen)

    def loader(self, part: Part, device: torch.device | str = "cpu", stride: int = 1) -> WindowLoader:
        """Batches of a part in order, for evaluation outside a trainer."""
        return WindowLoader(self.windows(part, device), self.windows_config.evaluation_batch_size, stride=stride)

    # --- what Lightning asks for -------------------------------------------------------------------------------------

    def train_dataloader(self) -> WindowLoader:
        """Shuffled training batches on the trainer's device."""
        return self._trainer_loader("train", self.windows_config.batch_size, shuffle=True)

    def val_dataloader(self) -> WindowLoader:
        """Validation batches in order."""
        return self._trainer_loader("validation", self.windows_config.evaluation_batch_size)

    def test_dataloader(self) -> WindowLoader:
        """Test batches in order."""
        return self._trainer_loader("test", self.windows_config.evaluation_batch_size)

    def transfer_batch_to_device(self, batch: WindowBatch, device: torch.device, dataloader_idx: int) -> WindowBatch:
        """Nothing to do: the batch was gathered on the device."""
        return batch

    def _trainer_loader(self, part: Part, batch_size: int, shuffle: bool = False) -> WindowLoader:
        trainer = self.trainer
        device = torch.device("cpu") if trainer is None else trainer.strategy.root_device
        rank, world = (0, 1) if trainer is None else (trainer.global_rank, trainer.world_size)
        windows = self.windows(part, device)
        # the batch is that of one step, whoever computes it: several processes take a share each
        batch_size = -(-batch_size // world)
        return WindowLoader(windows, batch_size, shuffle=shuffle, seed=self.seed, rank=rank, world=world)

    # --- inner -------------------------------------------------------------------------------------------------------

    def _tensors(self, device: torch.device) -> tuple[Tensor, Tensor | None]:
        """The log and its known-ahead channels on a device; kept, so that all parts share them."""
        if getattr(self, "_device", None) != device:
            values = self.log.tensor().to(device)
            known = known_channels(self.log, self.scaler.to("cpu"), self.windows_config.calendar)
            self._device, self._values = device, values
            self._known = None if known is None else known.to(device)
        return self._values, self._known

    def _check_observed(self) -> None:
        names = self.log.names
        dead = [
            name
            for name, scored in zip(names, self.scored.tolist(), strict=True)
            if scored and name in self.scaler.unobserved
        ]
        if len(dead) == int(self.scored.sum()):
            raise LogError("no target tag has a single observed value in the training part")
        for name in dead:
            logger.warning("tag %r has no observed value in the training part: its forecasts mean nothing", name)
        if self.scaler.constant:
            logger.warning("constant in training, scaled by 1: %s", ", ".join(map(repr, self.scaler.constant)))
