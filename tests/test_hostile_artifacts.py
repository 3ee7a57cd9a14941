"""Files made to do harm, in the places where a run keeps its own: refused, and nothing is imported on their behalf."""

from __future__ import annotations

import importlib
import json
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attentionmixer import train
from attentionmixer.configcheck import check_config_text
from attentionmixer.data.log import StationLog
from attentionmixer.errors import ConfigError, RunError
from attentionmixer.files import verify_manifest, write_json
from attentionmixer.forecaster import Forecaster
from attentionmixer.routemap import RouteMap
from attentionmixer.tensorfile import write_tensors
from attentionmixer.training.allowed import instantiate_callback
from attentionmixer.training.checkpoint import SafeCheckpointIO

SENTINEL = "attentionmixer_sentinel"


@pytest.fixture
def sentinel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module that can be imported and that must not have been at the end."""
    folder = tmp_path / "sentinel"
    folder.mkdir()
    code = f"from pathlib import Path\nPath({str(folder / 'imported')!r}).touch()\nclass Thing: pass\n"
    (folder / f"{SENTINEL}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    yield
    assert SENTINEL not in sys.modules
    assert not (folder / "imported").exists()
    # it could have been imported: else this would show nothing
    importlib.import_module(SENTINEL)
    del sys.modules[SENTINEL]
    assert (folder / "imported").exists()


class Import:
    """Imports the sentinel when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (SENTINEL,)


#: What libraries keep in a checkpoint to make objects from.
LIGHTNING = {
    "state_dict": {},
    "hyper_parameters": {"_target_": f"{SENTINEL}.Thing", "class_path": f"{SENTINEL}.Thing", "init_args": {}},
    "hparams_instantiator": f"{SENTINEL}.Thing",
    "_class_path": f"{SENTINEL}.Thing",
}
CLASS_TEXT = json.dumps({"__pairs__": [["callbacks", {"__pairs__": [["class_path", f"{SENTINEL}.Thing"]]}]]})
HOSTILE: dict[str, Callable[[Path], object]] = {
    "plain pickle": lambda path: path.write_bytes(pickle.dumps({"state_dict": Import()})),
    "old pickle": lambda path: path.write_bytes(pickle.dumps(Import(), protocol=0)),
    "torch zip": lambda path: torch.save({"state_dict": Import()}, path),
    "old torch file": lambda path: torch.save(Import(), path, _use_new_zipfile_serialization=False),
    "lightning": lambda path: torch.save(LIGHTNING, path),
    "class path": lambda path: write_tensors(path, {"t0": torch.ones(1)}, {"skeleton": CLASS_TEXT}, seal=True),
    "json": lambda path: path.write_text(json.dumps(LIGHTNING)),
    "yaml": lambda path: path.write_text(f"!!python/object/apply:importlib.import_module [{SENTINEL}]"),
    "python": lambda path: path.write_text(f"import {SENTINEL}\n"),
    "folder": lambda path: path.mkdir(),
}
hostile = pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)


@hostile
@pytest.mark.usefixtures("sentinel")
def test_a_hostile_checkpoint_is_refused(make: Callable[[Path], object], tmp_path: Path) -> None:
    make(tmp_path / "last.safetensors")
    with pytest.raises(RunError, match=r"last\.safetensors cannot be read"):
        SafeCheckpointIO().load_checkpoint(tmp_path / "last.safetensors")


@pytest.mark.parametrize("name", ["plain pickle", "torch zip", "lightning", "class path"])
@pytest.mark.usefixtures("sentinel")
def test_a_training_is_not_resumed_from_a_hostile_checkpoint(
    name: str, tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    path = tmp_path / "run" / "checkpoints" / "last.safetensors"
    path.parent.mkdir(parents=True)
    HOSTILE[name](path)
    # the trainer looks for files of this name by itself
    HOSTILE["torch zip"](tmp_path / "run" / "hpc_ckpt_1.ckpt")
    with pytest.raises(RunError, match="cannot be read"):
        Forecaster(tiny[0].config).fit(tiny[1], tmp_path / "run", resume=True)


@hostile
@pytest.mark.parametrize("name", ["model.safetensors", "forecaster.json"])
@pytest.mark.usefixtures("sentinel")
def test_a_hostile_file_in_place_of_a_forecasters_is_refused(
    make: Callable[[Path], object], name: str, tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    tiny[0].save(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    make(tmp_path / "run" / name)
    with pytest.raises(RunError, match=name.replace(".", r"\.")):
        Forecaster.load(tmp_path / "run")


@pytest.mark.usefixtures("sentinel")
def test_a_class_named_in_a_forecaster_is_not_made(tiny: tuple[Forecaster, StationLog], tmp_path: Path) -> None:
    tiny[0].save(tmp_path)
    text = (tmp_path / "forecaster.json").read_text(encoding="utf-8")
    for key, value in (
        ("name", f"{SENTINEL}.Thing"),
        ("config", {"class_path": f"{SENTINEL}.Thing"}),
        ("config", {"normalizer": f"{SENTINEL}.Thing"}),
        ("task", {"_target_": f"{SENTINEL}.Thing"}),
    ):
        data = json.loads(text)
        data["model"][key] = value
        write_json(tmp_path / "forecaster.json", data)
        with pytest.raises(RunError, match=r"is damaged|does not fit"):
            Forecaster.load(tmp_path)


CALLBACK = f"trainer:\n  callbacks:\n    - class_path: {SENTINEL}.Thing\n"


@pytest.mark.usefixtures("sentinel")
def test_a_class_named_in_the_configuration_of_a_run_is_not_imported_when_the_run_is_resumed(
    tiny_run: Path, tiny_arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(tiny_run, tmp_path / "run")
    (tmp_path / "run" / "config.yaml").write_text(CALLBACK, encoding="utf-8")
    assert train.main([*tiny_arguments, f"--run_dir={tmp_path / 'run'}", "--resume"]) == 2
    error = capsys.readouterr().err
    assert f"'{SENTINEL}.Thing', which is not allowed" in " ".join(error.split())
    config = f"--config={tmp_path / 'run' / 'config.yaml'}"
    assert train.main([*tiny_arguments, config, f"--run_dir={tmp_path / 'other'}"]) == 2
    assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("sentinel")
def test_a_callback_that_is_not_listed_is_not_imported() -> None:
    with pytest.raises(ConfigError, match="not allowed"):
        instantiate_callback({"class_path": f"{SENTINEL}.Thing"})


# --- sizes -----------------------------------------------------------------------------------------------------------


def changed(folder: Path, path: str, value: Any) -> None:
    """Change one entry of the model in forecaster.json; the schema is made to agree with its task."""
    data = json.loads((folder / "forecaster.json").read_text(encoding="utf-8"))
    section, _, key = path.rpartition(".")
    (data["model"][section] if section else data["model"])[key] = value
    if section == "task":
        data["schema"][key] = value
    write_json(folder / "forecaster.json", data)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("task.lookback", 10**9, "lookback is 1,000,000,000; no saved model has more than 65,536"),
        ("task.horizon", 10**12, "horizon is"),
        ("task.variates", 10**9, "variates is"),
        ("task.known", 10**9, "known is"),
        ("task.lookback", 60_000, "does not fit"),
        ("task.lookback", "24", "'24', which is no possible number"),
        ("task.lookback", 24.0, "no possible number"),
        ("task.lookback", True, "no possible number"),
        ("task.variates", 0, "no possible number"),
        ("task.horizon", -4, "no possible number"),
        ("task.static", [[1.0, 2.0, 3.0]], "1 tags have a place, but there are 9"),
        ("config.width", 10**9, "width is"),
        ("config.rounds", 10**6, "rounds is 1,000,000; no saved model has more than 128"),
        ("config.heads", 10**9, "heads is"),
        ("config.patch", 10**9, "patch is"),
        ("config.width", 60_000, "does not fit"),
        ("config.rounds", 100, "does not fit"),
        ("config.expansion", 50_000, "does not fit"),
        ("config", [1], "damaged"),
        ("config", None, "damaged"),
        ("config", "os.system", "damaged"),
    ],
)
def test_a_configuration_that_asks_for_gigabytes_is_refused_before_a_model_is_built(
    path: str, value: Any, says: str, tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    tiny[0].save(tmp_path)
    changed(tmp_path, path, value)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RunError, match=r"forecaster\.json|model\.safetensors") as caught:
        Forecaster.load(tmp_path)
    assert says in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


def test_a_window_that_would_take_gigabytes_is_refused(tiny: tuple[Forecaster, StationLog], tmp_path: Path) -> None:
    tiny[0].save(tmp_path)
    changed(tmp_path, "task.lookback", 60_000)
    changed(tmp_path, "config.width", 60_000)
    with pytest.raises(RunError, match="one window of 9 tags, look-back 60,000 and horizon 4 would take 32,4"):
        Forecaster.load(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"), [("location", 1e300), ("scale", 0.0), ("scale", -1.0), ("deviation", 0.0), ("mean", 1e300)]
)
def test_a_scaler_that_would_give_no_numbers_is_refused(
    key: str, value: float, tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    tiny[0].save(tmp_path)
    data = json.loads((tmp_path / "forecaster.json").read_text(encoding="utf-8"))
    data["scaler"][key][0] = value
    write_json(tmp_path / "forecaster.json", data)
    with pytest.raises(RunError, match=f"the scaler's {key} is no possible number"):
        Forecaster.load(tmp_path)


def test_weights_that_are_no_numbers_are_refused(tiny: tuple[Forecaster, StationLog], tmp_path: Path) -> None:
    tiny[0].save(tmp_path)
    weights = {name: value.clone() for name, value in tiny[0].model.state_dict().items()}
    weights["direct.bias"][0] = float("nan")
    write_tensors(tmp_path / "model.safetensors", weights)
    data = json.loads((tmp_path / "forecaster.json").read_text(encoding="utf-8"))
    del data["weights_sha256"], data["seal"]
    write_json(tmp_path / "forecaster.json", data)
    with pytest.raises(RunError, match=r"'direct\.bias' holds values that are no numbers"):
        Forecaster.load(tmp_path)


@pytest.mark.parametrize("strength", ["NaN", "1e999", "1e300", "[" * 100_000, '"x"', "null", "[1, 2], [3]"])
def test_a_route_map_that_holds_no_numbers_is_refused(strength: str, tmp_path: Path) -> None:
    path = tmp_path / "00-spatial-round1.json"
    RouteMap("spatial", 1, ("a",), ("b",), np.full((1, 1), 0.25, np.float32)).save(path)
    text = path.read_text(encoding="utf-8")
    assert text.count("[[0.25]]") == 1
    path.write_text(text.replace("[[0.25]]", f"[[{strength}]]"), encoding="utf-8")
    with pytest.raises(RunError, match=r"00-spatial-round1\.json cannot be read"):
        RouteMap.load(path)


# --- single bytes ----------------------------------------------------------------------------------------------------


def flips(content: bytes, most: int) -> Iterator[bytes]:
    """The content with one byte changed, at up to ``most`` places from the first to the last."""
    for place in sorted({round(i * (len(content) - 1) / (most - 1)) for i in range(most)}):
        yield content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_one_flipped_byte_in_any_file_of_a_run_is_noticed(tiny_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    names = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["sha256"]
    assert names.keys() >= {"config.yaml", "environment.json", "forecasts.parquet", "log.txt", "report.html"}
    assert names.keys() >= {"forecaster.json", "metrics.json", "model.safetensors"}
    assert any(name.startswith("routes/") for name in names)
    for name in [*names, "manifest.json"]:
        path = run / name
        whole = path.read_bytes()
        for content in [*flips(whole, 5), whole[:-1], whole + b" ", b""]:
            path.write_bytes(content)
            with pytest.raises(RunError, match=path.name if name in names else "manifest"):
                Forecaster.load(run)
        path.unlink()
        if name in names:
            with pytest.raises(RunError, match=f"{path.name} is listed in the manifest but missing"):
                Forecaster.load(run)
        path.write_bytes(whole)
    verify_manifest(run)


def test_one_flipped_byte_in_a_forecaster_saved_alone_is_noticed(
    tiny: tuple[Forecaster, StationLog], tmp_path: Path
) -> None:
    tiny[0].save(tmp_path)
    for name in ("model.safetensors", "forecaster.json"):
        whole = (tmp_path / name).read_bytes()
        for content in [*flips(whole, 60), whole[:-1], whole + b" ", b""]:
            (tmp_path / name).write_bytes(content)
            with pytest.raises(RunError, match=name.replace(".", r"\.")):
                Forecaster.load(tmp_path)
        (tmp_path / name).write_bytes(whole)
    Forecaster.load(tmp_path)


# --- configurations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &a [x]\n" + "b: [" + "*a, " * 50_000 + "]", "anchors or aliases"),
        ("base: &base {a: 1}\nb:\n  <<: *base\n", "anchors or aliases"),
        ("a: &a [*a]\n", "anchors or aliases"),
        ("{a: " * 60 + "1" + "}" * 60, "nested deeper"),
        ("- " * 400_000, "nested deeper"),
        ("? " * 400_000, "nested deeper"),
        ("a: 1\n" * 190_000, "more entries"),
        ("a: [" + "1, " * 300_000 + "]", "more entries"),
        ("a: " + "x" * 900_000, "900,000 characters in line 1"),
        ("a: 1\nb: |\n" + "  xxxxxx\n" * 100_000, "700,000 characters in line 2"),
        ("{" + "a" * 900_000 + ": 1}", "900,000 characters"),
        ("a: '" + "\\" * 900_000 + "'", "900,000 characters"),
        ("a: " + "9" * 9_000, "cannot be read"),
        ("a: 1\nb: {c: 1, c: 2}\n", "'c' twice, in lines 2 and 2"),
        (("k" * 1_000 + ": 1\n") * 2, "kkk' twice, in lines 1 and 2"),
        (f"trainer: {{callbacks: [{{class_path: {'x' * 9_000}}}]}}", "not allowed"),
        (f"!!python/object/apply:importlib.import_module [{SENTINEL}]", "not valid YAML"),
        (f"a: !!python/object:{SENTINEL}.Thing {{}}", "not valid YAML"),
        (f"a: !!python/object/new:{SENTINEL}.Thing []", "not valid YAML"),
        (f"a: !!python/name:{SENTINEL}.Thing ''", "not valid YAML"),
        (f"a: !!python/module:{SENTINEL} ''", "not valid YAML"),
        (f"%TAG ! tag:yaml.org,2002:python/\n---\na: !module:{SENTINEL} ''", "not valid YAML"),
        (f"a: !<tag:yaml.org,2002:python/module:{SENTINEL}> ''", "not valid YAML"),
    ],
    ids=lambda text: text[:30],
)
@pytest.mark.usefixtures("sentinel")
def test_a_hostile_configuration_is_refused_in_few_words(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config_text(text, "config.yaml")
    message = str(caught.value)
    assert message.startswith("config.yaml")
    assert says in message
    assert len(message) < 600
