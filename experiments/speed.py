"""Training throughput: our data path beside neuralforecast's, with one and the same network.

The network is neuralforecast's iTransformer (2 layers, width 128, 8 heads, ETTh1 96 → 96, feed-forward width
``--d_ff``, by default 512 = 4 × 128 and not the peer's 2048) on both sides.

Equal: layers, weights' shapes, MAE loss, Adam at 1e-3, float32, windows per step (counted at the network's door),
steps, rows, threads, Lightning as the loop, no validation.

Different, and so what is measured: how windows are made and batched (ours: gathered by index from a strided view;
theirs: all windows rebuilt, filtered and sampled in each step), masks and scaling per batch on our side (theirs gets
scaled values), epochs (ours: a pass over all windows, none twice; theirs: one step, since all series fit in one batch,
so Lightning's work at an epoch's end comes with every step), their learning-rate schedule and logging, and what else
each module does around the step. Weights and windows are drawn by each side's own seed and are not the same numbers.

Runs alternate in one process, A B A B …; set-up (reading, building, the first step) counts for neither: a short warm-up
of each comes first, and seconds are those of ``Trainer.fit``'s training loop.

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
from typing import Any, ClassVar

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
    #: windows that entered the network, step by step
    windows: ClassVar[list[int]] = []

    def on_train_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Start."""
        Clock.windows.clear()
        self.began = time.perf_counter()

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Stop."""
        Clock.last = time.perf_counter() - self.began

    @staticmethod
    def count(module: torch.nn.Module, inputs: tuple[dict[str, torch.Tensor]]) -> None:
        """Hook before the network's forward pass."""
        Clock.windows.append(len(inputs[0]["insample_y"]))

    @staticmethod
    def speed(batch: int, steps: int) -> float:
        """Windows per second of the training that just ended, if it was the one that was asked for."""
        if Clock.windows != [batch] * steps:
            raise RuntimeError(f"{steps} steps of {batch} windows were asked for, the network saw {Clock.windows}")
        return batch * steps / Clock.last


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
    model = iTransformer(
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
    model.register_forward_pre_hook(Clock.count)
    return model


def run_ours(log: StationLog, batch: int, steps: int, d_ff: int) -> float:
    """Windows per second of our data path."""
    clock = Clock()
    config = WindowConfig(LENGTH, LENGTH, batch_size=batch, split=SplitConfig(8640, 2880, 2880))
    data = RadiationDataModule(log, config)
    module = Ours(network(batch, steps, d_ff, clock))
    L.Trainer(**trainer(steps, clock), limit_val_batches=0).fit(module, datamodule=data)
    return Clock.speed(batch, steps)


def run_theirs(frame: pd.DataFrame, batch: int, steps: int, d_ff: int) -> float:
    """Windows per second of neuralforecast."""
    from neuralforecast import NeuralForecast

    clock = Clock()
    NeuralForecast(models=[network(batch, steps, d_ff, clock)], freq="h").fit(frame)
    return Clock.speed(batch, steps)


def main() -> int:
    """Alternate, print, and write experiments/results/speed.{json,md}."""
    parser = argparse.ArgumentParser(prog="python -m experiments.speed", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="ETTh1.csv")
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--windows", type=int, default=6400, help="windows per run")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--d_ff", type=int, default=512)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for speed.json and speed.md")
    options = parser.parse_args()
    if options.windows > 8640 - 2 * LENGTH + 1:
        parser.error("--windows must fit in one pass over the 8449 training windows: a pass may end in a smaller batch")
    log = read_log(options.data, tz="UTC", time_column="date").rows(0, 14_400)
    wide = (log.to_frame().iloc[:8640] - log.to_frame().iloc[:8640].mean()) / log.to_frame().iloc[:8640].std(ddof=0)
    wide.index = pd.DatetimeIndex(wide.index).tz_localize(None)
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
                "pairs": pairs,
            }
        )
    shape = ["--batches", *map(str, options.batches), "--windows", str(options.windows), "--pairs", str(options.pairs)]
    command = ["python", "-m", "experiments.speed", "--data", "ETTh1.csv", *shape, "--d_ff", str(options.d_ff)]
    about = environment(command) | {"threads": torch.get_num_threads()}
    from importlib.metadata import version

    about["packages"]["neuralforecast"] = version("neuralforecast")
    options.out.mkdir(parents=True, exist_ok=True)
    kept = {"environment": about, "rows": rows}
    (options.out / "speed.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    (options.out / "speed.md").write_text(page(about, rows, options.d_ff), encoding="utf-8")
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
        f"{about['cpu']}, {about['cores']} cores, {about['threads']} threads; Python {about['python']}; {packages}; "
        f"{about['date'][:10]}.",
        f"Made by `{about['command']}`.",
        "",
        "| windows per step | ours, windows/s | neuralforecast, windows/s | ratio (min to max) | pairs |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['batch']} | {r['ours']:.0f} | {r['neuralforecast']:.0f} | "
        f"{r['ratio']:.2f} ({r['ratio_min']:.2f} to {r['ratio_max']:.2f}) | {len(r['pairs'])} |"
        for r in rows
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
