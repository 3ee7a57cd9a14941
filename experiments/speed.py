"""Training throughput: our data path beside neuralforecast's, with one and the same network.

The network is neuralforecast's iTransformer (2 layers, width 128, 8 heads, ETTh1 96 → 96, its own default
feed-forward width unless ``--d_ff`` says otherwise) on both sides. Equal: layers, weights' shapes, MAE loss, Adam at
1e-3, float32, windows per step, steps, rows, threads, Lightning as the loop. Different, and so what is measured: how
windows are made and batched (ours: gathered by index from a strided view; theirs: all windows rebuilt, filtered and
sampled in each step), masks and scaling per batch on our side, and what each module does around the step. Runs
alternate in one process, A B A B …; set-up (reading, building, the first step) counts for neither: a short warm-up of
each comes first, and seconds are those of ``Trainer.fit``'s training loop.

    pip install ".[bench]"
    python -m experiments.speed --data ETTh1.csv
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import lightning as L
import pandas as pd
import torch

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.log import StationLog
from attentionmixer.data.readers import read_log
from attentionmixer.data.split import SplitConfig
from attentionmixer.data.windows import WindowBatch
from attentionmixer.run import environment

RESULTS = Path(__file__).resolve().parent / "results"
LENGTH = 96


class Clock(L.Callback):
    """Seconds between the first and the last batch of a training; on the class, since the peer copies its callbacks."""

    last = 0.0

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Start."""
        self.began = time.perf_counter()

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stop."""
        Clock.last = time.perf_counter() - self.began


class Ours(L.LightningModule):
    """The peer's network, fed by our windows."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def training_step(self, batch: WindowBatch, batch_idx: int) -> torch.Tensor:
        """Mean absolute error over observed targets."""
        forecast = self.network({"insample_y": batch.x})
        weight = batch.y_mask.float()
        return ((forecast - batch.y).abs() * weight).sum() / weight.sum().clamp(min=1)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The peer's optimiser."""
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def trainer(steps: int, clock: Clock) -> dict[str, Any]:
    """Settings of both trainers."""
    return {
        "max_steps": steps,
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "callbacks": [clock],
    }


def network(batch: int, steps: int, d_ff: int, clock: Clock) -> Any:
    """The peer's model; its layers serve both sides."""
    from neuralforecast.losses.pytorch import MAE
    from neuralforecast.models import iTransformer

    settings = trainer(steps, clock)
    settings.pop("max_steps")
    return iTransformer(
        h=LENGTH,
        input_size=LENGTH,
        n_series=7,
        hidden_size=128,
        n_heads=8,
        e_layers=2,
        d_ff=d_ff,
        loss=MAE(),
        learning_rate=1e-3,
        windows_batch_size=batch,
        max_steps=steps,
        val_check_steps=10**9,
        **settings,
    )


def run_ours(log: StationLog, batch: int, steps: int, d_ff: int) -> float:
    """Windows per second of our data path."""
    clock = Clock()
    config = WindowConfig(LENGTH, LENGTH, batch_size=batch, split=SplitConfig(8640, 2880, 2880))
    data = RadiationDataModule(log, config)
    module = Ours(network(batch, steps, d_ff, clock))
    L.Trainer(**trainer(steps, clock), limit_val_batches=0).fit(module, datamodule=data)
    return batch * steps / Clock.last


def run_theirs(frame: pd.DataFrame, batch: int, steps: int, d_ff: int) -> float:
    """Windows per second of neuralforecast."""
    from neuralforecast import NeuralForecast

    clock = Clock()
    NeuralForecast(models=[network(batch, steps, d_ff, clock)], freq="h").fit(frame)
    return batch * steps / Clock.last


def main() -> int:
    """Alternate, print, and write experiments/results/speed.{json,md}."""
    parser = argparse.ArgumentParser(prog="python -m experiments.speed", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="ETTh1.csv")
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--windows", type=int, default=6400, help="windows per run")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--d_ff", type=int, default=512)
    options = parser.parse_args()
    log = read_log(options.data, tz="UTC", time_column="date").rows(0, 14_400)
    wide = (log.to_frame().iloc[:8640] - log.to_frame().iloc[:8640].mean()) / log.to_frame().iloc[:8640].std(ddof=0)
    wide.index = wide.index.tz_localize(None)
    frame = wide.rename_axis("ds").reset_index().melt("ds", var_name="unique_id", value_name="y")
    rows = []
    for batch in options.batches:
        steps = max(1, options.windows // batch)
        run_ours(log, batch, 3, options.d_ff)
        run_theirs(frame, batch, 3, options.d_ff)
        pairs = []
        for _ in range(options.pairs):
            a = run_ours(log, batch, steps, options.d_ff)
            b = run_theirs(frame, batch, steps, options.d_ff)
            pairs.append((a, b))
            print(f"batch {batch}: ours {a:.0f}, neuralforecast {b:.0f} windows/s, ratio {a / b:.2f}", flush=True)
        ratios = [a / b for a, b in pairs]
        rows.append(
            {
                "batch": batch,
                "steps": steps,
                "ours": statistics.median(a for a, _ in pairs),
                "neuralforecast": statistics.median(b for _, b in pairs),
                "ratio": statistics.median(ratios),
                "ratio_min": min(ratios),
                "ratio_max": max(ratios),
                "pairs": len(pairs),
            }
        )
    about = environment(["python", "-m", "experiments.speed", "--data", "ETTh1.csv"])
    from importlib.metadata import version

    about["packages"]["neuralforecast"] = version("neuralforecast")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps({"environment": about, "rows": rows}, indent=1), encoding="utf-8")
    (RESULTS / "speed.md").write_text(page(about, rows, options.d_ff), encoding="utf-8")
    print(page(about, rows, options.d_ff))
    return 0


def page(about: dict[str, Any], rows: list[dict[str, Any]], d_ff: int) -> str:
    """The result as Markdown."""
    packages = ", ".join(f"{name} {value}" for name, value in about["packages"].items())
    lines = [
        "# Training throughput",
        "",
        f"The same inverted-attention network (2 layers, width 128, 8 heads, feed-forward {d_ff}) on ETTh1, 96 → 96,",
        "fed by our data path and by neuralforecast, alternating in one process (`experiments/speed.py`). Medians.",
        f"{about['cpu']}, {about['cores']} cores; Python {about['python']}; {packages}; {about['date'][:10]}.",
        "",
        "| windows per step | ours, windows/s | neuralforecast, windows/s | ratio (min to max) | pairs |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['batch']} | {r['ours']:.0f} | {r['neuralforecast']:.0f} | "
        f"{r['ratio']:.2f} ({r['ratio_min']:.2f} to {r['ratio_max']:.2f}) | {r['pairs']} |"
        for r in rows
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
