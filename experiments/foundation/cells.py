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

from attentionmixer.config import config_path

RESULTS = Path(__file__).resolve().parents[1] / "results" / "foundation"

#: Variant → what it changes on the command line.
VARIANTS: dict[str, tuple[str, ...]] = {
    "attentionmixer": (),
    "temporal only": ("--model.spatial=false",),
}
#: Configuration → where its data lie below the data folder.
DATA = {
    "radnet": "radnet",
    "radnet-1h": "radnet",
    "radnet-2011": "radnet",
    "etth1": "ett/ETTh1.csv",
}


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
        """Hash of the configuration file and the variant: a result of other settings is not current."""
        text = config_path(self.config).read_text(encoding="utf-8") + repr(VARIANTS[self.variant])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def is_current(self) -> bool:
        """Whether a result of these settings is there."""
        if not self.path.is_file():
            return False
        result = json.loads(self.path.read_text(encoding="utf-8"))
        return bool(result["settings_hash"] == self.settings_hash())

    def command(self, data: Path, run: Path) -> list[str]:
        """The command line that trains it."""
        return [
            sys.executable,
            "-m",
            "attentionmixer.train",
            f"--config={self.config}",
            f"--data.path={data / DATA[self.config]}",
            f"--seed={self.seed}",
            f"--run_dir={run}",
            "--trainer.progress=false",
            *VARIANTS[self.variant],
        ]

    def measure(self, data: Path) -> dict[str, Any]:
        """Train in a process of its own (so that its memory and time are its own) and keep what it measured."""
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            subprocess.run(self.command(data, run), check=True, stdout=subprocess.DEVNULL)
            metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
            environment = json.loads((run / "environment.json").read_text(encoding="utf-8"))
        # the user's folder is no part of the result
        environment["command"] = " ".join(["python", *self.command(Path("DATA"), Path("RUN"))[1:]])
        result = {"settings_hash": self.settings_hash(), "environment": environment, "metrics": slim(metrics)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(result, indent=1), encoding="utf-8")
        part.replace(self.path)
        return result


def slim(metrics: dict[str, Any]) -> dict[str, Any]:
    """The metrics without the tables per tag and step ahead."""
    wide = ("per_tag", "per_horizon")
    return {
        name: slim(value) if isinstance(value, dict) else value for name, value in metrics.items() if name not in wide
    }
