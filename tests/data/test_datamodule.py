"""`RadiationDataModule`: from a log to batches, with nothing seen that should not be."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.quality import Flag
from attentionmixer.data.split import SplitConfig
from attentionmixer.errors import ConfigError, LogError


def make(rows: int = 200, tags: int = 3) -> StationLog:
    values = np.random.default_rng(0).normal(100, 10, (rows, tags)).astype(np.float32)
    time = pd.date_range("2024-01-01", periods=rows, freq="h", tz="UTC")
    return StationLog(values, time, [Tag(f"t{i}") for i in range(tags)])


CONFIG = WindowConfig(lookback=8, horizon=3, batch_size=16, evaluation_batch_size=10)


def blank(log: StationLog, tag: int, rows: slice) -> StationLog:
    values = log.values.copy()
    values[rows, tag] = np.nan
    return StationLog(values, log.time, log.tags)


def test_parts_are_windows_whose_targets_lie_in_them() -> None:
    data = RadiationDataModule(make(), CONFIG)
    rows = {"train": (8, 140), "validation": (140, 170), "test": (170, 200)}
    for part, (first, last) in rows.items():
        targets = {
            int(start) + 8 + h
            for batch in data.loader(part)  # type: ignore[arg-type]
            for start in batch.start
            for h in range(3)
        }
        assert targets == set(range(first, last))


def test_all_parts_share_one_tensor_which_is_the_log() -> None:
    log = make()
    data = RadiationDataModule(log, CONFIG)
    pointers = {data.windows(part).values.data_ptr() for part in ("train", "validation", "test")}
    assert pointers == {log.tensor().data_ptr()}


def test_what_the_test_part_holds_changes_no_training_batch() -> None:
    log = make()
    spoiled = log.values.copy()
    spoiled[140:] = 1e6
    one, other = (
        list(RadiationDataModule(each, CONFIG).loader("train"))
        for each in (log, StationLog(spoiled, log.time, log.tags))
    )
    for left, right in zip(one, other, strict=True):
        assert torch.equal(left.x, right.x) and torch.equal(left.y, right.y)


def test_training_is_shuffled_by_seed_and_evaluation_is_in_order() -> None:
    def starts(seed: int) -> list[int]:
        return [int(s) for batch in RadiationDataModule(make(), CONFIG, seed).train_dataloader() for s in batch.start]

    assert starts(0) == starts(0) != starts(1)
    assert sorted(starts(0)) == list(range(130))
    data = RadiationDataModule(make(), CONFIG)
    for loader in (data.val_dataloader(), data.test_dataloader()):
        order = [int(s) for batch in loader for s in batch.start]
        assert order == sorted(order)
        assert loader.batch_size == 10


def test_only_targets_are_scored() -> None:
    log = make().with_roles({"t1": "input"})
    batch = next(iter(RadiationDataModule(log, CONFIG).loader("train")))
    assert bool(batch.x_mask.all())
    assert batch.y_mask.all(dim=1).all(dim=0).tolist() == [True, False, True]


def test_an_estimate_is_scored_and_its_own_readings_are_never_given() -> None:
    given = RadiationDataModule(make().with_roles({"t1": "estimate"}), CONFIG).loader("train")
    plain = RadiationDataModule(make(), CONFIG).loader("train")
    for batch, other in zip(given, plain, strict=True):
        assert not batch.x[..., 1].any() and not batch.x_mask[..., 1].any()
        assert torch.equal(batch.x[..., [0, 2]], other.x[..., [0, 2]])
        assert bool(batch.x_mask[..., [0, 2]].all())
        assert torch.equal(batch.y, other.y) and torch.equal(batch.y_mask, other.y_mask)


def test_a_log_without_a_target_or_without_readings_of_one_is_refused() -> None:
    with pytest.raises(LogError, match="role 'target'"):
        RadiationDataModule(make().with_roles({"t0": "input", "t1": "known", "t2": "input"}), CONFIG)
    nothing = make()
    for tag in range(3):
        nothing = blank(nothing, tag, slice(0, 140))
    with pytest.raises(LogError, match="single observed value"):
        RadiationDataModule(nothing, CONFIG)


def test_dead_and_constant_tags_are_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    log = blank(make(), 1, slice(0, 140))
    values = log.values.copy()
    values[:140, 2] = 5.0
    with caplog.at_level(logging.WARNING, logger="attentionmixer"):
        RadiationDataModule(StationLog(values, log.time, log.tags), CONFIG)
    assert "'t1'" in caplog.text
    assert "'t2'" in caplog.text
    assert "'t0'" not in caplog.text


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (WindowConfig(lookback=0), LogError, "at least 1"),
        (WindowConfig(horizon=0), LogError, "at least 1"),
        (WindowConfig(lookback=8, horizon=3, batch_size=0), ConfigError, "batch_size"),
        (WindowConfig(lookback=8, horizon=3, evaluation_batch_size=-1), ConfigError, "batch_size"),
        (WindowConfig(lookback=8, horizon=31), LogError, "longest horizon that fits is 30"),
        (WindowConfig(lookback=8, horizon=3, split=SplitConfig(0.9, 0.2, 0.1)), ConfigError, "more than 1"),
    ],
)
def test_what_can_not_work_is_refused_before_training(
    config: WindowConfig, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        RadiationDataModule(make(), config)


def test_known_channels_cover_look_back_and_horizon_of_each_window() -> None:
    log = make().with_roles({"t2": "known"})
    config = WindowConfig(lookback=8, horizon=3, batch_size=16, calendar=("hour",))
    data = RadiationDataModule(log, config)
    assert data.known_names == ("calendar: sine of hour", "calendar: cosine of hour", "t2 (ahead)")
    scaled = data.scaler(log.tensor())[:, 2]
    for batch in data.train_dataloader():
        assert batch.known is not None and batch.known.shape[1:] == (11, 3)
        for b, start in enumerate(batch.start.tolist()):
            hour = torch.arange(start, start + 11) % 24
            torch.testing.assert_close(batch.known[b, :, 0], torch.sin(2 * torch.pi * hour / 24), atol=1e-5, rtol=0)
            assert torch.equal(batch.known[b, :, 2], scaled[start : start + 11])


def test_a_stride_takes_every_so_many_windows() -> None:
    data = RadiationDataModule(make(), CONFIG)
    starts = [int(s) for batch in data.loader("test", stride=3) for s in batch.start]
    assert starts == list(range(162, 190, 3))


def test_flagged_cells_train_neither_scaler_nor_model_and_are_not_scored() -> None:
    log = make()
    flags = np.zeros(log.shape, dtype=np.uint16)
    flags[20, 0], flags[21, 0] = Flag.STUCK, Flag.UNIT
    values = log.values.copy()
    values[20, 0] = 1e6
    marked = StationLog(values, log.time, log.tags, flags=flags)
    data = RadiationDataModule(marked, CONFIG)
    assert float(data.scaler.mean[0]) < 1e5
    batch = data.windows("train").gather(torch.tensor([15]))
    assert not batch.x_mask[0, 5, 0] and batch.x[0, 5, 0] == 0 and batch.x_mask[0, 6, 0]
    assert not data.windows("train").gather(torch.tensor([12])).y_mask[0, 0, 0]
    with pytest.raises(ConfigError, match="no quality flag sticky"):
        replace(CONFIG, ignored_flags=("sticky",))
    kept = RadiationDataModule(marked, replace(CONFIG, ignored_flags=()))
    assert float(kept.scaler.mean[0]) > 1e3
