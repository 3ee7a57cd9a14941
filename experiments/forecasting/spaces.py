"""What tuning may choose: for each contender a start, tried first, and a space to draw from.

A key leads into the recipe (``model.width``). A list is a choice; a pair ``(low, high)`` is drawn on a logarithmic
scale. All learned contenders have the same freedom in how long and how fast they learn.
"""

from __future__ import annotations

from typing import Any

import optuna

Space = dict[str, list[Any] | tuple[float, float]]

LEARNING: Space = {
    "steps": [400, 800, 1600],
    "optimizer.learning_rate": (3e-4, 1e-2),
    "optimizer.huber_delta": [0.5, 1.0],
}
NORM: Space = {"model.norm_epsilon": [0.01, 0.1, 1.0]}
DROPOUT: Space = {"model.dropout": [0.0, 0.1, 0.2, 0.3]}
CALENDAR: Space = {"calendar": [False, True]}
ENCODER: Space = {**LEARNING, **NORM, **DROPOUT, **CALENDAR, "model.width": [32, 64, 128], "model.layers": [1, 2, 3]}
RECURRENT: Space = {**LEARNING, **NORM, **DROPOUT, **CALENDAR, "model.hidden": [64, 128, 256], "model.layers": [1, 2]}

SPACES: dict[str, Space] = {
    "attentionmixer": {
        **LEARNING,
        **NORM,
        **DROPOUT,
        **CALENDAR,
        "model.width": [32, 64, 128],
        "model.rounds": [1, 2],
        "model.patch": [1, 6, 12, 24],
        "model.warm_start": [True],
        "model.cross_lags": [24],
        "model.cross_rank": [24],
        "regularizer.name": ["gates"],
        "regularizer.strength": [0.005, 0.02, 0.05],
    },
    "attentionmixer-paper": {**LEARNING, **DROPOUT, "model.width": [32, 64], "model.hidden": [50, 100, 200]},
    "linear": {**LEARNING, **NORM, "model.decomposition": [False, True]},
    "ridge_var": {"model.lags": [3, 6, 12, 24, 48, 96], "model.anchor": ["last", "mean"], **CALENDAR},
    "gru": RECURRENT,
    "lstm": RECURRENT,
    "tcn": {**LEARNING, **NORM, **DROPOUT, **CALENDAR, "model.width": [32, 64, 128], "model.kernel": [2, 3, 5]},
    "transformer": ENCODER,
    "itransformer": ENCODER,
    "patchtst": {**ENCODER, "model.patch": [6, 12, 24]},
    "tsmixer": {**LEARNING, **NORM, **DROPOUT, **CALENDAR, "model.width": [32, 64, 128], "model.layers": [1, 2, 4]},
    "deepfilter": ENCODER,
    "graph": {**ENCODER, "model.neighbours": [2, 4]},
    "lightgbm": {
        "model.lags": [12, 24, 48],
        "model.leaves": [15, 31, 63],
        "model.rounds": [50, 100, 200, 400],
        "model.learning_rate": (0.02, 0.2),
        "model.smallest": [20, 100, 400],
        **CALENDAR,
    },
    "nf-itransformer": {
        **LEARNING,
        "model.hidden_size": [64, 128, 256],
        "model.d_ff": [128, 256, 512],
        "model.e_layers": [1, 2, 3],
        "model.dropout": [0.0, 0.1, 0.2, 0.3],
    },
    "nf-patchtst": {
        **LEARNING,
        "model.hidden_size": [32, 64, 128],
        "model.linear_hidden_size": [64, 128, 256],
        "model.n_heads": [4],
        "model.encoder_layers": [1, 2, 3],
        "model.patch_len": [12, 16, 24],
        "model.stride": [8, 12],
        "model.dropout": [0.0, 0.1, 0.2, 0.3],
    },
    "nf-tsmixer": {
        **LEARNING,
        "model.n_block": [1, 2, 4],
        "model.ff_dim": [32, 64, 128],
        "model.dropout": [0.1, 0.3, 0.5, 0.7, 0.9],
    },
    "nf-timexer": {
        **LEARNING,
        "model.hidden_size": [32, 64, 128],
        "model.d_ff": [64, 128, 256],
        "model.n_heads": [4],
        "model.e_layers": [1, 2],
        "model.patch_len": [12, 16, 24],
        "model.dropout": [0.0, 0.1, 0.2, 0.3],
    },
    "nf-nhits": {**LEARNING, "model.dropout_prob_theta": [0.0, 0.1, 0.3]},
    "nf-softs": {
        **LEARNING,
        "model.hidden_size": [64, 128, 256],
        "model.d_core": [32, 64, 128],
        "model.d_ff": [128, 256],
        "model.e_layers": [1, 2],
        "model.dropout": [0.0, 0.1, 0.2],
    },
}

_LEARNING: dict[str, Any] = {"steps": 800, "optimizer.learning_rate": 2e-3, "optimizer.huber_delta": 1.0}
_ENCODER = {
    **_LEARNING,
    "model.norm_epsilon": 0.1,
    "model.dropout": 0.1,
    "calendar": False,
    "model.width": 64,
    "model.layers": 2,
}
_RECURRENT = {**{k: v for k, v in _ENCODER.items() if k != "model.width"}, "model.hidden": 128, "model.layers": 1}

#: What each is tried with first: defaults of the library it comes from, narrowed to what two cores can train.
STARTS: dict[str, dict[str, Any]] = {
    "attentionmixer": {
        "steps": 400,
        "optimizer.learning_rate": 3e-3,
        "optimizer.huber_delta": 0.5,
        "model.norm_epsilon": 1.0,
        "model.dropout": 0.1,
        "calendar": False,
        "model.width": 64,
        "model.rounds": 2,
        "model.patch": 6,
        "model.warm_start": True,
        "model.cross_lags": 24,
        "model.cross_rank": 24,
        "regularizer.name": "gates",
        "regularizer.strength": 0.02,
    },
    "attentionmixer-paper": {**_LEARNING, "model.dropout": 0.1, "model.width": 32, "model.hidden": 100},
    "linear": {**_LEARNING, "model.norm_epsilon": 0.01, "model.decomposition": False},
    "ridge_var": {"model.lags": 24, "model.anchor": "mean", "calendar": False},
    "gru": _RECURRENT,
    "lstm": _RECURRENT,
    "tcn": {**{k: v for k, v in _ENCODER.items() if k != "model.layers"}, "model.kernel": 3},
    "transformer": _ENCODER,
    "itransformer": _ENCODER,
    "patchtst": {**_ENCODER, "model.patch": 12},
    "tsmixer": _ENCODER,
    "deepfilter": _ENCODER,
    "graph": {**_ENCODER, "model.neighbours": 4},
    "lightgbm": {
        "model.lags": 24,
        "model.leaves": 31,
        "model.rounds": 100,
        "model.learning_rate": 0.1,
        "model.smallest": 20,
        "calendar": False,
    },
    "nf-itransformer": {
        **_LEARNING,
        "model.hidden_size": 128,
        "model.d_ff": 256,
        "model.e_layers": 2,
        "model.dropout": 0.1,
    },
    "nf-patchtst": {
        **_LEARNING,
        "model.hidden_size": 128,
        "model.linear_hidden_size": 256,
        "model.n_heads": 4,
        "model.encoder_layers": 2,
        "model.patch_len": 16,
        "model.stride": 8,
        "model.dropout": 0.2,
    },
    "nf-tsmixer": {**_LEARNING, "model.n_block": 2, "model.ff_dim": 64, "model.dropout": 0.9},
    "nf-timexer": {
        **_LEARNING,
        "model.hidden_size": 128,
        "model.d_ff": 256,
        "model.n_heads": 4,
        "model.e_layers": 2,
        "model.patch_len": 16,
        "model.dropout": 0.1,
    },
    "nf-nhits": {**_LEARNING, "model.dropout_prob_theta": 0.0},
    "nf-softs": {
        **_LEARNING,
        "model.hidden_size": 128,
        "model.d_core": 128,
        "model.d_ff": 256,
        "model.e_layers": 2,
        "model.dropout": 0.0,
    },
}


def draw(trial: optuna.Trial, name: str) -> dict[str, Any]:
    """A recipe drawn from the space of a contender."""
    drawn = {
        key: trial.suggest_float(key, *of, log=True) if isinstance(of, tuple) else trial.suggest_categorical(key, of)
        for key, of in SPACES[name].items()
    }
    return nested(drawn)


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """``{"model.width": 64}`` as ``{"model": {"width": 64}}``."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return tree
