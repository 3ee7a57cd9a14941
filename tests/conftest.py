"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real logs; a test that needs it skips where it is absent."""
    folder = Path(os.environ.get("ATTENTIONMIXER_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real logs are not at {folder}; set ATTENTIONMIXER_DATA to their folder")
    return folder
