"""The trials of a study as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import optuna

from ..data.export import guard_text


def trial_table(study: optuna.Study) -> str:
    """A row a trial: number, state, validation error, seconds, why it failed, settings. Text cells are guarded."""
    trials = study.get_trials(deepcopy=False)
    keys = sorted({key for trial in trials for key in trial.params})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["trial", "state", "validation_mse", "seconds", "failed", *map(guard_text, keys)])
    for trial in trials:
        row: list[Any] = [trial.number, trial.state.name.lower(), "" if trial.value is None else f"{trial.value:.6g}"]
        row += [trial.user_attrs.get("seconds", ""), guard_text(str(trial.user_attrs.get("failed", "")))]
        row += [_cell(trial.params.get(key, "")) for key in keys]
        writer.writerow(row)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return guard_text(value) if isinstance(value, str) else value
