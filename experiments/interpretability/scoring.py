"""How well a strength finds the routes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from .systems import Known


def score(strength: NDArray[np.float64], known: Known) -> dict[str, float]:
    """AUPRC, AUROC and base rate over the pairs that the truth decides."""
    truth, guess = known.routes[known.scored], np.asarray(strength, dtype=np.float64)[known.scored]
    return {
        "auprc": float(average_precision_score(truth, guess)),
        "auroc": float(roc_auc_score(truth, guess)),
        "base": float(truth.mean()),
    }


def score_lags(lag_steps: NDArray[np.float64], sign: NDArray[np.float64], known: Known) -> dict[str, float]:
    """Share of true routes whose lag is right within one step and whose sign is right; absent where none is known."""
    result = {}
    if (timed := known.lag > 0).any():
        result["lag_right"] = float((np.abs(lag_steps - known.lag)[timed] <= 1).mean())
    if (signed := known.sign != 0).any():
        result["sign_right"] = float((sign == known.sign)[signed].mean())
    return result
