"""The table of how long ours needs to be as good as a peer."""

from __future__ import annotations

from typing import Any

from experiments.forecasting.time_to_quality import table


def training(name: str, seconds: float, error: float) -> dict[str, Any]:
    about = {"date": "2026-01-01T00:00:00Z", "cpu": "a core", "packages": {"torch": "2"}}
    return {"name": name, "seconds": seconds, "validation_mse": error, "environment": about}


def test_the_first_training_that_is_good_enough_counts() -> None:
    ours = [training("attentionmixer", s, e) for s, e in [(40.0, 0.43), (10.0, 0.46), (20.0, 0.44), (80.0, 0.41)]]
    text = table([*ours, training("gru", 100.0, 0.45), training("best", 50.0, 0.43), training("magic", 9.0, 0.1)])
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| peer")]
    assert rows == [
        "| magic | 0.1000 | 9 | not reached | | |",
        "| best | 0.4300 | 50 | 0.4300 | 40 | 0.80 |",
        "| gru | 0.4500 | 100 | 0.4400 | 20 | 0.20 |",
    ]
    assert "10 s 0.4600; 20 s 0.4400; 40 s 0.4300; 80 s 0.4100." in text and "a core, 2026-01-01, torch 2." in text
