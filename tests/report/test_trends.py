"""Which tags are shown, and how their forecasts are stitched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attentionmixer.data.log import Tag
from attentionmixer.errors import RunError
from attentionmixer.report.metrics import Metrics
from attentionmixer.report.run import Run, load_run
from attentionmixer.report.trends import choose, load_trends, summary


def run_with(run_dir: Path, tags: list[Tag], skills: dict[str, float]) -> Run:
    def part(error: dict[str, float]) -> dict[str, object]:
        return {"per_tag": {name: {"mse_scaled": value} for name, value in error.items()}}

    data = {
        "test": part({name: 1 - skill for name, skill in skills.items()}),
        "baselines": {"persistence": {"test": part(dict.fromkeys(skills, 1.0))}},
    }
    return replace(load_run(run_dir), tags=tuple(tags), metrics=Metrics(data, "metrics.json"))


def test_dose_rates_come_first_then_the_best_and_worst_of_the_others(run_dir: Path) -> None:
    tags = [Tag(name, "nSv/h", "dose_rate") for name in ("d1", "d2", "d3", "d4")] + [Tag(n) for n in ("x", "y", "z")]
    skills = {"d1": 0.2, "d2": 0.5, "d3": -0.1, "d4": 0.3, "x": 0.9, "y": 0.4, "z": -0.5}
    excursions = dict.fromkeys(skills, 1.0) | {"d4": 9.0, "y": 20.0}
    choices = choose(run_with(run_dir, tags, skills), excursions)
    assert [choice.tag.name for choice in choices] == ["d2", "d3", "d4", "x", "z"]
    assert choices[2].reasons == ("the dose rate with the largest excursion",)


def test_without_dose_rates_the_largest_excursion_of_all_is_shown(run_dir: Path) -> None:
    tags = [Tag(name) for name in ("x", "y", "z")]
    choices = choose(run_with(run_dir, tags, {"x": 0.9, "y": 0.4, "z": -0.5}), {"x": 1.0, "y": 20.0, "z": 1.0})
    assert [choice.tag.name for choice in choices] == ["x", "z", "y"]


def test_one_tag_is_shown_once_with_all_its_reasons(run_dir: Path) -> None:
    (choice,) = choose(run_with(run_dir, [Tag("x")], {"x": 0.1}), {"x": 1.0})
    assert choice.reasons == ("the only tag with a skill", "the tag with the largest excursion")


def test_a_tag_without_test_data_is_not_shown(run_dir: Path) -> None:
    assert choose(run_with(run_dir, [Tag("x")], {"x": 0.1}), {}) == []


def test_forecasts_are_stitched_on_the_grid_and_gaps_stay_gaps(run_dir: Path) -> None:
    frame = pd.read_parquet(run_dir / "forecasts.parquet")
    tag = frame["tag"].iloc[0]
    times = sorted(frame["time"].unique())
    frame[frame["time"] != times[30]].to_parquet(run_dir / "forecasts.parquet")
    trend = next(t for t in load_trends(load_run(run_dir)) if t.choice.tag.name == tag)
    assert len(trend.frame) == len(times)
    assert np.isnan(trend.frame["point"].iloc[30])
    assert trend.frame["point"].drop(trend.frame.index[30]).notna().all()


def test_of_two_forecasts_for_one_time_the_shorter_one_is_shown(run_dir: Path) -> None:
    frame = pd.read_parquet(run_dir / "forecasts.parquet")
    longer = frame.assign(horizon=frame["horizon"] + 100, point=-1.0)
    pd.concat([longer, frame]).to_parquet(run_dir / "forecasts.parquet")
    for trend in load_trends(load_run(run_dir)):
        assert (trend.frame["point"] > 0).all()


def test_the_zoom_holds_the_largest_excursion(run_dir: Path) -> None:
    frame = pd.read_parquet(run_dir / "forecasts.parquet")
    name = frame.loc[frame["tag"].str.endswith("dose"), "tag"].iloc[0]
    time = sorted(frame["time"].unique())[100]
    frame.loc[(frame["tag"] == name) & (frame["time"] == time), "observed"] = 5000.0
    frame.to_parquet(run_dir / "forecasts.parquet")
    trend = next(t for t in load_trends(load_run(run_dir)) if t.choice.tag.name == name)
    assert trend.peak == time
    assert trend.excursion_frame["observed"].max() == 5000.0
    assert "the dose rate with the largest excursion" in trend.choice.reasons


def test_coverage_counts_observed_values_only(run_dir: Path) -> None:
    trend = load_trends(load_run(run_dir))[0]
    seen = trend.frame.dropna(subset="observed")
    inside = [low <= y <= high for y, low, high in zip(seen["observed"], seen["q0.05"], seen["q0.95"], strict=True)]
    assert trend.covered(0.05, 0.95) == pytest.approx(sum(inside) / len(inside))
    assert trend.covered(0.01, 0.99) is None


def test_the_table_adds_up_to_the_picture(run_dir: Path) -> None:
    frame = load_trends(load_run(run_dir))[0].recent_frame
    rows = summary(frame)
    assert sum(values["n"] for _, values in rows) == frame["observed"].notna().sum()
    assert max(values["max"] for _, values in rows if values["n"]) == frame["observed"].max()
    outside = (frame["observed"] < frame["q0.05"]) | (frame["observed"] > frame["q0.95"])
    assert sum(values["outside"] for _, values in rows if values["n"]) == outside.sum()
    assert len(rows) <= 15


def test_a_table_row_without_readings_says_so(run_dir: Path) -> None:
    frame = load_trends(load_run(run_dir))[0].recent_frame.copy()
    frame["observed"] = np.nan
    assert all(values == {"n": 0} for _, values in summary(frame))


def test_missing_columns_are_named(run_dir: Path) -> None:
    frame = pd.read_parquet(run_dir / "forecasts.parquet")
    frame.drop(columns=["observed", "origin"]).to_parquet(run_dir / "forecasts.parquet")
    with pytest.raises(RunError, match=r"lacks the column\(s\) origin, observed"):
        load_trends(load_run(run_dir))


@pytest.mark.parametrize("content", [b"", b"PAR1 but not really", b"text"])
def test_a_damaged_file_of_forecasts_is_named(run_dir: Path, content: bytes) -> None:
    (run_dir / "forecasts.parquet").write_bytes(content)
    with pytest.raises(RunError, match=r"forecasts\.parquet cannot be read"):
        load_trends(load_run(run_dir))


def test_text_where_numbers_belong_is_named(run_dir: Path) -> None:
    frame = pd.read_parquet(run_dir / "forecasts.parquet")
    frame["observed"] = "high"
    frame.to_parquet(run_dir / "forecasts.parquet")
    with pytest.raises(RunError, match=r"forecasts\.parquet is damaged"):
        load_trends(load_run(run_dir))


def test_one_step_ahead_is_drawn_as_well(make_run: Callable[..., Path]) -> None:
    trends = load_trends(load_run(make_run(horizon=1, days=5)))
    assert all(len(trend.frame) == 120 for trend in trends)
