"""From files to window batches: readers → log → quality → windows → data module, and a simulator with known truth."""

from .log import StationLog, Tag
from .quality import QualityRecord
from .readers import read_log

__all__ = ["QualityRecord", "StationLog", "Tag", "read_log"]
