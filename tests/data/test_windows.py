"""Windows, scaling, split and data module."""

from __future__ import annotations

import gc
import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attentionmixer.data.datamodule import RadiationDataModule, WindowConfig
from attentionmixer.data.known import calendar_channels, with_future
from attentionmixer.data.log import StationLog, Tag
from attentionmixer.data.scaling import ScalingConfig, TagScaler
from attentionmixer.data.split import SplitConfig, check_windows, split_rows
from attentionmixer.data.windows import WindowLoader, Windows
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
    assert sorted(start for part in parts for start in part) == list(
        range(windows.first_start, windows.first_start + len(windows))
    )


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


def storages() -> dict[int, int]:
    """Bytes of every tensor storage that is alive, by address."""
    # not the subclasses: those that the compiler keeps for itself have no memory
    kinds = (torch.Tensor, torch.nn.Parameter)
    alive = [thing for thing in gc.get_objects() if type(thing) in kinds and thing.device.type == "cpu"]
    return {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in alive}


def test_windows_of_all_parts_and_a_pass_over_them_add_less_than_half_the_log() -> None:
    log = make_log(4000, 20)
    own = log.tensor().untyped_storage().data_ptr()
    gc.collect()
    before = storages()
    data = RadiationDataModule(log, CONFIG)
    loaders = [data.loader(part) for part in ("train", "validation", "test")]
    most = 0
    for loader in loaders:
        for number, batch in enumerate(loader):
            if number % 100 == 0:
                added = {place: size for place, size in storages().items() if place not in before and place != own}
                assert batch.x.untyped_storage().data_ptr() in added
                most = max(most, sum(added.values()))
    assert 0 < most < 0.5 * log.values.nbytes


@given(st.integers(1, 90), st.integers(1, 100), st.integers(1, 5), st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=60)
def test_ranks_partition_every_epoch_in_equally_many_batches(
    count: int, size: int, world: int, stride: int, shuffle: bool
) -> None:
    values = torch.arange(count + 3.0).unsqueeze(1)
    windows = Windows(values, TagScaler(ScalingConfig(), 1), 3, 1, 3, count + 3, torch.tensor([True]))
    assert len(windows) == count
    seen: list[int] = []
    for rank in range(world):
        loader = WindowLoader(windows, size, shuffle=shuffle, seed=2, rank=rank, world=world, stride=stride)
        batches = [batch.start.tolist() for batch in loader]
        assert all(len(batch) <= size for batch in batches)
        if loader.count:
            assert len(batches) == len(loader)
        assert sum(map(len, batches)) == loader.count
        seen += [start for batch in batches for start in batch]
    assert sorted(seen) == list(range(0, count, stride))


def test_a_part_at_the_very_start_begins_after_its_first_look_back() -> None:
    values = torch.arange(20.0).unsqueeze(1)
    windows = Windows(values, TagScaler(ScalingConfig(), 1), 5, 2, 0, 12, torch.tensor([True]))
    batch = windows.gather(torch.arange(len(windows)))
    assert batch.start.tolist() == [0, 1, 2, 3, 4, 5]
    assert batch.observed[0, :, 0].tolist() == [5.0, 6.0]
    assert float(batch.observed.max()) == 11.0
    assert len(Windows(values, TagScaler(ScalingConfig(), 1), 5, 2, 0, 6, torch.tensor([True]))) == 0


def test_the_windows_of_a_log_of_one_tag_need_no_list_of_their_own() -> None:
    log = make_log(4000, 1)
    windows = RadiationDataModule(log, CONFIG).windows("train")
    shared = log.tensor().untyped_storage().data_ptr()
    own = [value for value in vars(windows).values() if isinstance(value, torch.Tensor)]
    added = sum(t.untyped_storage().nbytes() for t in own if t.untyped_storage().data_ptr() != shared)
    assert added < 100


def test_a_share_without_windows_yields_no_batch() -> None:
    windows = RadiationDataModule(make_log(), CONFIG).windows_between(60, 62)
    assert len(windows) == 0
    assert list(WindowLoader(windows, 4)) == [] and len(WindowLoader(windows, 4)) == 0


def test_known_and_values_are_cut_at_the_same_rows() -> None:
    values = torch.arange(20.0).unsqueeze(1)
    windows = Windows(values, TagScaler(ScalingConfig(clip=100.0), 1), 5, 2, 0, 20, torch.tensor([True]), values + 0.5)
    batch = windows.gather(torch.tensor([3, 0]))
    assert batch.known is not None
    torch.testing.assert_close(batch.known, torch.cat([batch.x, batch.y], dim=1) + 0.5)
