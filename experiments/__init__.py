"""Experiments whose results the project's documents quote. Not part of the installed package."""
