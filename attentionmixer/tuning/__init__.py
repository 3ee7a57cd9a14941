"""Searching settings: what may be tried, one trial, a study that several processes share, and what it found."""
