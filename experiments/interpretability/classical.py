"""What one would use without a neural network: strength [to, from] of every route, from the values alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution
from sklearn.linear_model import RidgeCV

Floats = NDArray[np.float64]


def lagged_correlation(values: Floats, lags: int) -> Floats:
    """Largest |corr(x_j(t − l), x_i(t))| over l = 1 … lags."""
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    found = [np.abs(z[lag:].T @ z[:-lag]) / (len(z) - lag) for lag in range(1, lags + 1)]
    result: Floats = np.max(found, axis=0)
    return result


def ridge_var(values: Floats, lags: int) -> Floats:
    """√ Σ_l A_l[i, j]² of a vector autoregression, shrunk by generalised cross-validation, on standardised values."""
    inputs, targets = lagged(values, lags)
    coefficient = RidgeCV(alphas=np.logspace(-2, 5, 15)).fit(inputs, targets).coef_
    result: Floats = np.sqrt(np.square(coefficient.reshape(-1, lags, values.shape[1])).sum(axis=1))
    return result


def granger(values: Floats, lags: int) -> Floats:
    """F statistic of leaving all lags of j out of the regression of i on everything, as −log10 p.

    Source: Granger, "Investigating causal relations by econometric models and cross-spectral methods", Econometrica
    1969; the conditional form, in which all other series stay in.
    """
    inputs, targets = lagged(values, lags)
    nodes, freedom = values.shape[1], len(inputs) - inputs.shape[1]
    gram = np.linalg.pinv(inputs.T @ inputs)
    coefficient = gram @ inputs.T @ targets
    variance = np.square(targets - inputs @ coefficient).sum(axis=0) / freedom
    strength = np.zeros((nodes, nodes))
    for source in range(nodes):
        columns = np.arange(lags) * nodes + source
        part = coefficient[columns]
        # Wald's form: what the residual sum would rise by without these columns
        rise = np.einsum("li,lm,mi->i", part, np.linalg.pinv(gram[np.ix_(columns, columns)]), part)
        p = f_distribution.sf(rise / lags / variance, lags, freedom)
        strength[:, source] = -np.log10(np.maximum(p, 1e-300))
    return strength


def found_by_granger(strength: Floats, rate: float = 0.05) -> NDArray[np.bool_]:
    """Routes that stand when the false discovery rate is held at ``rate`` (Benjamini and Hochberg 1995)."""
    other = ~np.eye(len(strength), dtype=bool)
    p = 10.0 ** -strength[other]
    order = np.argsort(p)
    below = p[order] <= rate * np.arange(1, len(p) + 1) / len(p)
    keep = int(np.max(np.flatnonzero(below))) + 1 if below.any() else 0
    chosen = np.zeros(len(p), dtype=bool)
    chosen[order[:keep]] = True
    result = np.zeros_like(other)
    result[other] = chosen
    return result


def lagged(values: Floats, lags: int) -> tuple[Floats, Floats]:
    """Standardised inputs [T − lags, lags · N], lag 1 first, and targets [T − lags, N]."""
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    inputs = np.concatenate([z[lags - lag : len(z) - lag] for lag in range(1, lags + 1)], axis=1)
    return inputs, z[lags:]
