"""The version of the package, found without importing anything heavy."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def package_version() -> str:
    """The installed version of this package."""
    try:
        return version("attentionmixer")
    except PackageNotFoundError:
        return "not installed"
