"""The report of a run: one HTML file for people who run the plant. ``python -m attentionmixer.report RUN``"""

from .page import write_report

__all__ = ["write_report"]
