"""Errors a user can act on.

Every message says what was found, where (column, row, timestamp) and what to do about it. The front doors turn these
into one screen of text and exit code 2; anything else is a fault of ours and exits with 1.
"""

from __future__ import annotations


class AttentionMixerError(Exception):
    """Base of all errors that bad input or a bad configuration can cause."""


class LogError(AttentionMixerError):
    """A log cannot be read, or does not fit what is asked of it."""


class ConfigError(AttentionMixerError):
    """A configuration is unknown, contradictory or not allowed."""


class RunError(AttentionMixerError):
    """A run directory is incomplete, damaged or of another version."""


class TrainingError(AttentionMixerError):
    """Training cannot go on: the loss or a metric is not a number."""
