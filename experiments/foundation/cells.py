"""One cell of the table: one configuration, variant and seed, trained by the command a user would type."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from attentionmixer.config import config_path, parse
from attentionmixer.files import read_json, write_json
from attentionmixer.run import environment as environment_now

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results" / "foundation"

#: Variant → what it changes on the command line.
VARIANTS: dict[str, tuple[str, ...]] = {
    "attentionmixer": (),
    "temporal only": ("--model.spatial=false",),
    "published form": (),
}
#: Configuration → where its data lie below the data folder; ``None`` where they are simulated.
DATA: dict[str, str | None] = {
    "radnet": "radnet",
    "radnet-1h": "radnet",
    "radnet-2011": "radnet",
    "etth1": "ett/ETTh1.csv",
    "paper": "radnet",
}


def variants(config: str) -> tuple[str, ...]:
    """The variants of a configuration, the one in question first. The published form has no block to leave out."""
    return ("published form",) if config == "paper" else ("attentionmixer", "temporal only")


@dataclass(frozen=True)
class Cell:
    """One training. ``config`` is a name in `DATA`, ``variant`` one in `VARIANTS`."""

    config: str
    variant: str
    seed: int

    @property
    def path(self) -> Path:
        """Where its result is kept."""
        return RESULTS / self.config / f"{self.variant.replace(' ', '-')}-seed{self.seed}.json"

    def settings_hash(self) -> str:
        """Hash of the configuration file and the variant; the only one that the oldest results keep."""
        text = config_path(self.config).read_text(encoding="utf-8") + repr(VARIANTS[self.variant])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def resolved_hash(self) -> str:
        """Hash of the settings this cell has now, defaults of the package included."""
        return hash_settings(parse(self.arguments(Path("DATA")), "attentionmixer").text)

    def is_current(self) -> bool:
        """Whether a result of these settings and this version of the package is there.

        Code that changes neither a setting nor the version goes unnoticed here: the page lists the commits.
        """
        if not self.path.is_file():
            return False
        result = read_json(self.path)
        if result["environment"]["packages"].get("attentionmixer") != environment_now([])["packages"]["attentionmixer"]:
            return False
        if "resolved_hash" in result:
            return bool(result["resolved_hash"] == self.resolved_hash())
        return bool(result.get("settings_hash") == self.settings_hash())

    def arguments(self, data: Path) -> list[str]:
        """Its settings, as arguments of the training command."""
        below = DATA[self.config]
        return [
            f"--config={self.config}",
            *([] if below is None else [f"--data.path={data / below}"]),
            f"--seed={self.seed}",
            "--trainer.progress=false",
            *VARIANTS[self.variant],
        ]

    def command(self, data: Path, run: Path) -> list[str]:
        """The command line that trains it."""
        return [sys.executable, "-m", "attentionmixer.train", *self.arguments(data), f"--run_dir={run}"]

    def measure(self, data: Path) -> dict[str, Any]:
        """Train in a process of its own (so that its memory and time are its own) and keep what it measured."""
        code = commit()  # before training: what is committed meanwhile had no part in it
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            subprocess.run(self.command(data, run), check=True, stdout=subprocess.DEVNULL)
            metrics = read_json(run / "metrics.json")
            environment = read_json(run / "environment.json")
            resolved = hash_settings((run / "config.yaml").read_text(encoding="utf-8"))
        # the user's folder is no part of the result
        environment["command"] = " ".join(["python", *self.command(Path("DATA"), Path("RUN"))[1:]])
        result = {"resolved_hash": resolved, "commit": code, "environment": environment, "metrics": slim(metrics)}
        write_json(self.path, result)
        return result


def hash_settings(text: str) -> str:
    """Hash of a resolved configuration: of its values, not its spelling, and not of where the data lie."""
    tree = yaml.safe_load(text)
    tree["data"].pop("path", None)
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:16]


def commit() -> str:
    """Commit of the checkout, with ``+changes`` where package or configurations differ from it, or ``unknown``."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", "attentionmixer", "configs")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+changes" if changed else head


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def slim(metrics: dict[str, Any]) -> dict[str, Any]:
    """The metrics without the tables per tag and step ahead."""
    wide = ("per_tag", "per_horizon")
    return {
        name: slim(value) if isinstance(value, dict) else value for name, value in metrics.items() if name not in wide
    }
