"""What AttentionMixer finds: one training, several readings of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attentionmixer.data.datamodule import WindowConfig
from attentionmixer.forecaster import Forecaster, ForecasterConfig
from attentionmixer.interpret import open_routes, route_effects, route_response
from attentionmixer.training.fit import FitConfig, TrainerConfig
from attentionmixer.training.module import OptimizerConfig, RegularizerConfig

from .scoring import score, score_lags
from .systems import Known, System

#: Name in the tables → regularizer, λ, settings of the model.
VARIANTS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "λ = 0": ("none", 0.0, {}),
    "λ = 0, no linear path": ("none", 0.0, {"warm_start": False, "cross_lags": 0}),
    **{f"gates {strength:g}": ("gates", strength, {}) for strength in (0.003, 0.01, 0.03, 0.1)},
    **{f"entropy {strength:g}": ("entropy", strength, {}) for strength in (0.01, 0.1)},
    **{f"tsallis {strength:g}": ("tsallis", strength, {}) for strength in (0.01, 0.1)},
    "entmax": ("entmax", 0.0, {"normalizer": "entmax"}),
    "l1 0.1 (control)": ("l1", 0.1, {}),
}
STEPS = 600


def measure(system: System, known: Known, variant: str, seed: int) -> dict[str, Any]:
    """Train one step ahead, then score each reading of the map; test error in training variances."""
    regularizer, strength, changes = VARIANTS[variant]
    settings = {"width": 32, "patch": 1, "rounds": 1, "warm_start": True, "cross_lags": system.lookback, **changes}
    train_windows = 0.7 * len(known.log) - system.lookback
    epochs = max(2, round(STEPS * 32 / train_windows))
    config = ForecasterConfig(
        model_config=settings,
        window=WindowConfig(lookback=system.lookback, horizon=1, batch_size=32),
        training=FitConfig(
            OptimizerConfig(),
            RegularizerConfig(regularizer, strength),  # type: ignore[arg-type]
            TrainerConfig(max_epochs=epochs, patience=epochs, logger="none", progress=False, accelerator="cpu"),
            seed,
        ),
        coordinates=False,
    )
    forecaster = Forecaster(config).fit(known.log)
    assert forecaster.data is not None and forecaster.result is not None
    part = forecaster.data.split
    effects = route_effects(forecaster, known.log, None, part.train_end, windows=512)
    answer = route_response(forecaster, known.log, None, part.train_end, windows=128)
    readings: dict[str, NDArray[np.float64]] = {"response": effects.response, "effect": effects.effect}
    for route_map in forecaster.routes(known.log, None, part.train_end):
        if route_map.axis == "spatial":
            name = "linear path" if route_map.round == 0 else "attention"
            readings[name] = route_map.strength.astype(np.float64)
    readings["pulse"] = np.nan_to_num(np.abs(answer.response).max(axis=2))
    steps = answer.lag_minutes / (known.log.step.total_seconds() / 60)
    return {
        "readings": {name: score(values, known) for name, values in readings.items()},
        "lags": score_lags(steps, answer.sign, known),
        "test_mse": forecaster.evaluate(known.log, part.validation_end).compute()["mse"],
        "open_share": float(open_routes(forecaster.model).float().mean() * len(known.log.names))
        / (len(known.log.names) - 1),
        "seconds": forecaster.result.seconds,
    }
