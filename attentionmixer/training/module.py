"""The Lightning module: one training step, one validation step, one optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lightning as L
import torch
from torch import Tensor

from ..data.scaling import TagScaler
from ..data.windows import WindowBatch
from ..errors import TrainingError
from ..models.base import ForecastModel
from ..nn.regularizers import RegularizerName, SparseRegularizer
from .losses import forecast_loss
from .metrics import ForecastErrors

#: Name under which the validation error (masked, in training variances) is logged and watched.
WATCHED = "validation_mse"


@dataclass(frozen=True)
class RegularizerConfig:
    """The sparse message passing regularizer.

    Attributes
    ----------
    name
        ``gates``, ``entropy``, ``tsallis``, ``prior``, ``entmax``, ``l1`` (does nothing: a control) or ``none``
    strength
        λ, its weight in the loss
    spatial
        weight of routes between tags
    temporal
        weight of routes between parts of the window
    warmup
        share of all steps over which λ grows from 0; low entropy early destabilises training
    prior_km
        ℓ of the distance prior, in km
    """

    name: RegularizerName = "gates"
    strength: float = 0.02
    spatial: float = 1.0
    temporal: float = 0.0
    warmup: float = 0.3
    prior_km: float = 5.0


@dataclass(frozen=True)
class OptimizerConfig:
    """Loss and optimiser.

    Attributes
    ----------
    learning_rate
        highest learning rate
    warmup
        share of all steps until it is reached; then it falls along a cosine
    weight_decay
        AdamW's weight decay
    huber_delta
        δ of the Huber loss, in training standard deviations
    gate_rate
        learning rate of route gates, as a multiple: a logit must travel far to close a gate
    average_decay
        decay of the running average of weights that is evaluated and saved
    """

    learning_rate: float = 3e-3
    warmup: float = 0.1
    weight_decay: float = 0.0
    huber_delta: float = 0.5
    gate_rate: float = 30.0
    average_decay: float = 0.995


class ForecastModule(L.LightningModule):
    """Trains a `ForecastModel` on window batches.

    L = Huber(point) + pinball(quantiles) + λ(k) · R, with λ(k) growing linearly over the first steps. ``spent`` gives
    the share of the time allowed that has passed; rates and λ follow it where it is ahead of the steps.

    Raises `TrainingError` as soon as the loss or the validation error is not a number.
    """

    def __init__(
        self,
        model: ForecastModel,
        scaler: TagScaler,
        optimizer: OptimizerConfig,
        regularizer: SparseRegularizer,
        strength: float = 0.0,
        warmup: float = 0.3,
        seed: int = 0,
        spent: Callable[[], float] | None = None,
    ) -> None:
        super().__init__()
        self.model, self.settings, self.seed, self.spent = model, optimizer, seed, spent
        self.regularizer, self.strength, self.warmup = regularizer, strength, warmup
        self.levels: Tensor
        self.register_buffer("levels", torch.tensor(model.task.levels), persistent=False)
        self.errors = ForecastErrors(scaler, model.task.horizon, model.task.levels)

    def forward(self, x: Tensor, x_mask: Tensor, known: Tensor | None = None) -> Tensor:
        """The model's forecast."""
        result: Tensor = self.model(x, x_mask, known)
        return result

    def on_train_batch_start(self, batch: WindowBatch, batch_idx: int) -> None:
        """Seed by step: a resumed run then draws the same gates and dropout as one that never stopped."""
        torch.manual_seed(self.seed * 1_000_003 + self.global_step)

    def training_step(self, batch: WindowBatch, batch_idx: int) -> Tensor:
        """Loss of one batch."""
        if self.regularizer.needs_routes and self.strength > 0:
            output, routes = self.model.forward_with_routes(batch.x, batch.x_mask, batch.known)
        else:
            output, routes = self.model(batch.x, batch.x_mask, batch.known), []
        loss = forecast_loss(output, batch.y, batch.y_mask, self.levels, self.settings.huber_delta)
        if self.strength > 0:
            loss = loss + self._lambda() * self.regularizer(routes, self.model.route_gates).to(loss.device)
        if not torch.isfinite(loss):
            raise TrainingError(
                f"the training loss became {float(loss)} at step {self.global_step}; lower optimizer.learning_rate "
                f"(now {self.settings.learning_rate:g}) or use trainer.precision=32-true"
            )
        self.log("train_loss", loss, prog_bar=True, batch_size=len(batch.x))
        return loss

    def on_validation_epoch_start(self) -> None:
        """Forget the sums of the last pass."""
        self.errors.reset()

    def validation_step(self, batch: WindowBatch, batch_idx: int) -> None:
        """Add one batch to the sums."""
        self.errors.update(self(batch.x, batch.x_mask, batch.known), batch.observed, batch.y_mask)

    def on_validation_epoch_end(self) -> None:
        """Log the validation error; a number that is none must never count as the best."""
        mse = self.errors.compute()["mse"]
        if mse is None:
            raise TrainingError("the validation part has no observed target value; move data.split")
        if not math.isfinite(mse):
            raise TrainingError(f"the validation error became {mse} after epoch {self.current_epoch}")
        self.log(WATCHED, mse, prog_bar=True)
        if self.model.route_gates:
            self.log("open_routes", torch.stack([gate.open_share() for gate in self.model.route_gates]).mean())

    def configure_optimizers(self) -> Any:
        """AdamW with a linear warm-up and a cosine decay per step, or over the time allowed."""
        settings = self.settings
        gates = [parameter for gate in self.model.route_gates for parameter in gate.parameters()]
        ours = {id(parameter) for parameter in gates}
        others = [p for p in self.parameters() if p.requires_grad and id(p) not in ours]
        groups: list[dict[str, Any]] = [{"params": others, "weight_decay": settings.weight_decay}]
        if gates:
            rate_of_gates = settings.learning_rate * settings.gate_rate
            groups.append({"params": gates, "lr": rate_of_gates, "weight_decay": 0.0})
        optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
        total = max(1, int(self.trainer.estimated_stepping_batches))
        rise = max(1, round(total * self.settings.warmup))

        def rate(step: int) -> float:
            done = self._done(step, total)
            if done < rise:
                return (done + 1) / rise
            return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - rise) / max(1, total - rise))))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _lambda(self) -> float:
        total = max(1, int(self.trainer.estimated_stepping_batches))
        return self.strength * min(1.0, self._done(self.global_step, total) / max(1.0, self.warmup * total))

    def _done(self, step: int, total: int) -> float:
        """Steps done, or those that the time spent amounts to."""
        return step if self.spent is None else max(step, self.spent() * total)
