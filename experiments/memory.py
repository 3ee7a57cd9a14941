"""Memory that windows add to a log: a year of 10-minute readings of 200 tags, trained for a few steps.

python -m experiments.memory
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import psutil

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.models import Task, build
from attentionmixer.training.losses import huber

ROWS, TAGS, STEPS = 52_560, 200, 50


def resident_mb() -> float:
    """Resident memory of this process."""
    return float(psutil.Process().memory_info().rss / 1e6)


def main() -> int:
    """Print the size of the log, what windows add to it, and what training adds."""
    random = np.random.default_rng(0)
    values = random.standard_normal((ROWS, TAGS), dtype=np.float32)
    time = pd.date_range("2024-01-01", periods=ROWS, freq="10min", tz="UTC")
    log = StationLog(values, time, [Tag(f"t{i}") for i in range(TAGS)])
    config = WindowConfig(lookback=96, horizon=24, batch_size=64)
    warm = RadiationDataModule(log.rows(0, 2000), config)  # libraries loaded, allocator warm
    for batch in warm.loader("train"):
        batch.x.sum()
    before = resident_mb()
    data = RadiationDataModule(log, config)
    loader = data.train_dataloader()
    for number, batch in enumerate(loader):
        batch.x.sum()
        if number == STEPS:
            break
    windows = resident_mb() - before
    model = build("attentionmixer", Task(TAGS, 96, 24, (0.05, 0.5, 0.95)), {"width": 16, "rounds": 1})
    for number, batch in enumerate(loader):
        huber(model(batch.x, batch.x_mask)[..., 0], batch.y, batch.y_mask).backward()
        if number == 5:
            break
    size = values.nbytes / 1e6
    print(f"log {size:.1f} MB; {len(loader.windows):,} windows add {windows:.1f} MB, {windows / size:.2f} of the log")
    print(f"with {number + 1} training steps of a small model: {resident_mb() - before:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
