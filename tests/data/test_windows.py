"""Windows, scaling, split and data module."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.known import calendar_channels, with_future
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.scaling import ScalingConfig, TagScaler
from attentionmixer.data.split import SplitConfig, check_windows, split_rows
from attentionmixer.data.windows import WindowLoader
from attentionmixer.errors import ConfigError, LogError


def make_log(rows: int = 120, tags: int = 3, seed: int = 0, **tag: object) -> StationLog:
    random = np.random.default_rng(seed)
    values = (100 + 10 * random.standard_normal((rows, tags))).astype(np.float32)
    values[random.random((rows, tags)) < 0.1] = np.nan
    time = pd.date_range("2024-01-01", periods=rows, freq="h", tz="UTC")
    return StationLog(values, time, [Tag(f"t{i}", "nSv/h", **tag) for i in range(tags)])  # type: ignore[arg-type]


CONFIG = WindowConfig(lookback=8, horizon=3, batch_size=7, evaluation_batch_size=5)


def test_a_window_is_the_slice_it_says_it_is() -> None:
    log = make_log()
    data = RadiationDataModule(log, CONFIG)
    for part in ("train", "validation", "test"):
        for batch in data.loader(part):
            for k, start in enumerate(batch.start.tolist()):
                piece = log.values[start : start + 11]
                np.testing.assert_array_equal(batch.observed[k].numpy(), piece[8:])
                np.testing.assert_array_equal(batch.x_mask[k].numpy(), ~np.isnan(piece[:8]))
                expected = (piece - data.scaler.mean.numpy()) / data.scaler.deviation.numpy()
                np.testing.assert_allclose(batch.x[k].numpy(), np.nan_to_num(expected[:8]), atol=1e-5)
                np.testing.assert_allclose(batch.y[k].numpy(), np.nan_to_num(expected[8:]), atol=1e-5)


def test_targets_lie_in_their_part_and_look_back_may_reach_before_it() -> None:
    data = RadiationDataModule(make_log(), CONFIG)
    for part, (first, last) in data.split.parts().items():
        windows = data.windows(part)
        starts = torch.arange(windows.first_start, windows.first_start + len(windows))
        targets = starts + 8
        assert int(targets.min()) == max(first, 8)
        assert int(targets.max()) + 3 == last


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_every_window_comes_once_whatever_the_batch_size(size: int) -> None:
    windows = RadiationDataModule(make_log(), CONFIG).windows("train")
    loader = WindowLoader(windows, size, shuffle=True, seed=3)
    seen = torch.cat([batch.start for batch in loader])
    assert len(list(loader)) == len(loader)
    assert sorted(seen.tolist()) == list(range(windows.first_start, windows.first_start + len(windows)))


def test_epochs_differ_and_repeat_by_seed() -> None:
    windows = RadiationDataModule(make_log(), CONFIG).windows("train")

    def order(seed: int, epoch: int) -> list[int]:
        loader = WindowLoader(windows, 50, shuffle=True, seed=seed)
        loader.sampler.set_epoch(epoch)
        return torch.cat([batch.start for batch in loader]).tolist()

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_processes_share_the_windows_without_overlap() -> None:
    windows = RadiationDataModule(make_log(), CONFIG).windows("train")
    parts = [torch.cat([b.start for b in WindowLoader(windows, 9, rank=r, world=3)]).tolist() for r in range(3)]
    assert sorted(start for part in parts for start in part) == list(range(windows.first_start, windows.first_start + len(windows)))


def test_windows_share_the_memory_of_the_log_and_add_next_to_nothing() -> None:
    log = make_log(5000, 40)
    data = RadiationDataModule(log, CONFIG)
    windows = data.windows("train")
    assert windows.values.data_ptr() == log.tensor().data_ptr()
    assert windows._view.data_ptr() == log.tensor().data_ptr()
    buffers = sum(buffer.nbytes for buffer in data.scaler.buffers())
    assert buffers < 0.5 * log.values.nbytes


def test_the_scaler_sees_training_rows_only() -> None:
    log = make_log()
    other = log.values.copy()
    other[84:] = 1e6
    changed = StationLog(other, log.time, log.tags)
    before, after = (RadiationDataModule(one, CONFIG).scaler.to_dict() for one in (log, changed))
    assert before == after


@pytest.mark.parametrize("kind", ["standard", "robust", "minmax"])
@pytest.mark.parametrize("counts", ["none", "sqrt", "anscombe"])
def test_scaling_goes_there_and_back(kind: str, counts: str) -> None:
    log = make_log(quantity="count_rate")
    scaler = TagScaler.fit(log, 100, ScalingConfig(kind, counts))  # type: ignore[arg-type]
    x = torch.nan_to_num(log.tensor().double(), nan=90.0)
    torch.testing.assert_close(scaler.inverse(scaler(x)), x, rtol=1e-5, atol=1e-4)
    again = TagScaler.from_dict(json.loads(json.dumps(scaler.to_dict())))
    assert all(torch.equal(a, b) for a, b in zip(scaler.buffers(), again.buffers(), strict=True))
    torch.testing.assert_close(scaler.inverse(scaler(x).mT, tag_dim=0), x.mT, rtol=1e-5, atol=1e-4)


def test_standard_scaling_has_mean_zero_and_deviation_one_on_training_rows() -> None:
    log = make_log()
    scaled = TagScaler.fit(log, 80)(log.tensor())[:80].numpy()
    np.testing.assert_allclose(np.nanmean(scaled, axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(np.nanstd(scaled, axis=0), 1, atol=1e-5)


def test_constant_and_unobserved_tags_get_scale_one_and_are_listed() -> None:
    values = make_log().values.copy()
    values[:, 0] = 7.0
    values[:100, 1] = np.nan
    scaler = TagScaler.fit(StationLog(values, make_log().time, make_log().tags), 100)
    assert (scaler.constant, scaler.unobserved) == (("t0",), ("t1",))
    assert scaler.scale[:2].tolist() == [1.0, 1.0]
    assert float(scaler(torch.tensor([7.0, 3.0, 100.0]))[0]) == 0.0


def test_scaled_values_are_clipped() -> None:
    scaler = TagScaler.fit(make_log(), 100)
    assert float(scaler(torch.full((3,), 1e9))[0]) == 20.0


def test_shares_counts_and_dates_split_alike() -> None:
    log = make_log(100)
    wanted = {"train": (0, 70), "validation": (70, 85), "test": (85, 100)}
    dates = SplitConfig(validation_start="2024-01-03T22:00", test_start="2024-01-04T13:00")
    for config in (SplitConfig(), SplitConfig(70, 15, 15), dates):
        assert split_rows(log, config).parts() == wanted


@pytest.mark.parametrize(
    "config",
    [SplitConfig(0.9, 0.2, 0.1), SplitConfig(0.5, 0.0, 0.5), SplitConfig(validation_start="2024-01-02")],
)
def test_a_split_that_makes_no_sense_is_refused(config: SplitConfig) -> None:
    with pytest.raises(ConfigError):
        split_rows(make_log(), config)


def test_more_rows_than_there_are_is_an_error_with_both_numbers() -> None:
    with pytest.raises(LogError, match=r"200 rows.*has 120"):
        split_rows(make_log(), SplitConfig(100, 50, 50))


def test_the_longest_horizon_named_fits_and_one_more_does_not() -> None:
    log = make_log(99)
    split = split_rows(log, SplitConfig())
    with pytest.raises(LogError, match=r"has 69 rows.*need 192") as caught:
        check_windows(log, split, 96, 96)
    assert "no horizon fits a look-back of 96" in str(caught.value)
    with pytest.raises(LogError) as caught:
        check_windows(log, split, 40, 40)
    longest = int(str(caught.value).partition("longest horizon that fits is ")[2].split(".")[0])
    check_windows(log, split, 40, longest)
    with pytest.raises(LogError):
        check_windows(log, split, 40, longest + 1)


def test_a_log_without_targets_is_refused() -> None:
    with pytest.raises(LogError, match="target"):
        RadiationDataModule(make_log(role="input"), CONFIG)


def test_inputs_are_seen_but_not_scored() -> None:
    log = make_log().with_roles({"t1": "input"})
    batch = next(iter(RadiationDataModule(log, CONFIG).loader("train")))
    assert bool(batch.x_mask[:, :, 1].any())
    assert not bool(batch.y_mask[:, :, 1].any())


def test_known_channels_reach_over_the_horizon() -> None:
    log = make_log().with_roles({"t2": "known"})
    data = RadiationDataModule(log, WindowConfig(lookback=8, horizon=3, calendar=("hour",)))
    batch = next(iter(data.loader("train")))
    assert batch.known is not None
    assert batch.known.shape[1:] == (11, 3)
    assert data.known_names == ("calendar: sine of hour", "calendar: cosine of hour", "t2 (ahead)")
    hour = calendar_channels(log.time, ("hour",))
    torch.testing.assert_close(batch.known[0, :, :2], hour[:11])


def test_a_forecast_needs_the_future_of_known_tags() -> None:
    log = make_log().with_roles({"t2": "known"})
    with pytest.raises(LogError, match="ahead"):
        with_future(log, 3, None)
    with pytest.raises(LogError, match="no value at"):
        with_future(log, 3, log)
    longer = make_log(123)
    future = longer.values.copy()
    future[120:, 2] = [1.0, 2.0, 3.0]
    extended = with_future(log, 3, StationLog(future, longer.time, longer.tags))
    assert extended.values[120:, 2].tolist() == [1.0, 2.0, 3.0]
    assert bool(np.isnan(extended.values[120:, :2]).all())
