"""``predict``: tables of forecasts from new logs."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attentionmixer import predict
from attentionmixer.data.simulate import simulate_ring

LINES_ON_A_SCREEN = 24
# a file of dose rates must state their unit
HEADERS = {tag.name: f"{tag.name} [{tag.unit}]" for tag in simulate_ring(posts=3, days=4).log.tags if tag.unit}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """The log of the tiny run."""
    return simulate_ring(posts=3, days=4).log.to_frame()


def forecast(run: Path, frame: pd.DataFrame, folder: Path, *options: str) -> pd.DataFrame:
    frame.rename(columns=HEADERS).to_csv(folder / "log.csv", index_label="time")
    output = folder / "f.parquet"
    assert predict.main([str(run), str(folder / "log.csv"), "--output", str(output), *options]) == 0
    return pd.read_parquet(output)


def refused(run: Path, frame: pd.DataFrame, folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    frame.rename(columns=HEADERS).to_csv(folder / "log.csv", index_label="time")
    assert predict.main([str(run), str(folder / "log.csv"), "--output", str(folder / "f.csv"), *options]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert len(error.splitlines()) <= LINES_ON_A_SCREEN
    assert not (folder / "f.csv").exists()
    return error


def test_columns_in_another_order_and_a_further_one_change_nothing(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain = forecast(tiny_run, frame, tmp_path)
    with caplog.at_level(logging.WARNING):
        other = forecast(tiny_run, frame[frame.columns[::-1]].assign(**{"further [bar]": 1.0}), tmp_path)
    pd.testing.assert_frame_equal(plain, other)
    assert "further" in caplog.text


def test_missing_columns_are_listed(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(tiny_run, frame.drop(columns=["P01 dose rate", "rain"]), tmp_path, capsys)
    assert "P01 dose rate" in error
    assert "rain" in error


def test_another_step_or_a_short_log_is_refused_with_numbers(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "01:00:00" in refused(tiny_run, frame.iloc[::6], tmp_path, capsys)
    short = refused(tiny_run, frame.iloc[:10], tmp_path, capsys)
    assert "24" in short
    assert "10" in short


def test_rows_without_a_reading_at_the_end_do_not_move_the_forecast(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    silent = frame.iloc[:200].copy()
    silent.iloc[-7:] = np.nan
    assert forecast(tiny_run, silent, tmp_path)["time"].min() == frame.index[193]


def test_back_to_back_forecasts_cover_the_log_without_overlap(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    table = forecast(tiny_run, frame, tmp_path, "--all")
    assert not table.duplicated(["time", "tag"]).any()
    assert table["time"].nunique() == (len(frame) - 24) // 4 * 4
    levels = table[[name for name in table.columns if name.startswith("q0")]].to_numpy()
    assert bool((np.diff(levels, axis=1) >= -1e-4).all())


def test_the_same_command_writes_the_same_bytes(tiny_run: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.rename(columns=HEADERS).to_csv(tmp_path / "log.csv", index_label="time")
    for name in ("a.csv", "b.csv"):
        assert predict.main([str(tiny_run), str(tmp_path / "log.csv"), "--output", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_an_output_of_another_kind_is_refused(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert predict.main([str(tiny_run), "--output", str(tmp_path / "f.xlsx")]) == 2
    assert ".csv or .parquet" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_refused_with_the_reason(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert predict.main([str(tiny_run), "--output", str(tmp_path / "file" / "f.csv")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error
    assert "Traceback" not in error


def test_the_table_is_made_for_people_and_spreadsheets(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new folder" / "F.CSV"
    assert predict.main([str(tiny_run), "--output", str(output)]) == 0
    assert str(output) in capsys.readouterr().out
    content = output.read_bytes()
    assert content.startswith(b"\xef\xbb\xbforigin,time,tag,unit,horizon,point,q0.05")
    table = pd.read_csv(output)
    assert table["origin"].unique().tolist() == ["2023-01-04T23:50:00Z"]
    assert table["time"].unique().tolist() == [f"2023-01-05T00:{minute:02d}:00Z" for minute in (0, 10, 20, 30)]
    assert table.loc[table["tag"] == "P01 dose rate", "unit"].unique().tolist() == ["nSv/h"]
    assert all(table[name].dtype.kind == "f" for name in table.columns if name.startswith(("q", "point")))


def test_times_between_seconds_keep_their_fraction(tmp_path: Path) -> None:
    times = pd.to_datetime(["2024-01-01T00:00:00.5Z", "2024-01-01T00:00:01Z"], format="ISO8601")
    table = pd.DataFrame({"origin": times, "time": times, "tag": "a", "unit": ""})
    predict._write(table, tmp_path / "f.csv", ".csv")
    assert pd.to_datetime(pd.read_csv(tmp_path / "f.csv")["time"]).tolist() == times.tolist()


def test_the_program_itself_predicts_the_same_bits_as_this_process(
    tiny_run: Path, frame: pd.DataFrame, tmp_path: Path
) -> None:
    here = forecast(tiny_run, frame, tmp_path)
    arguments = [str(tiny_run), str(tmp_path / "log.csv"), "--output", "there.parquet"]
    command = [sys.executable, "-m", "attentionmixer.predict", *arguments]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stderr
    assert "there.parquet" in result.stdout
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "there.parquet"), here, check_exact=True)
