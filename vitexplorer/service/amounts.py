"""Formats of seconds, bytes and shares for people."""

from __future__ import annotations

from vitexplorer.core.text import Language
from vitexplorer.service.words import SERVICE_WORDS


def duration(seconds: float, language: Language, least: int = 1) -> str:
    """Format a duration of at least `least` seconds: 12 s, 3 min 5 s, 2 h 10 min."""
    whole = max(least, round(seconds))
    if whole < 60:
        text = SERVICE_WORDS["time_seconds"].format(seconds=whole)
    elif whole < 3600:
        text = SERVICE_WORDS["time_minutes"].format(minutes=whole // 60, seconds=whole % 60)
    else:
        text = SERVICE_WORDS["time_hours"].format(hours=whole // 3600, minutes=whole % 3600 // 60)
    return text.in_(language)


def memory(size: int) -> str:
    """Format bytes: 12 kB, 3.4 MB, 1.2 GB, with 1000 bytes to the kB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{max(1, round(size / 1000))} kB"


def percentage(share: float) -> str:
    """Format a share in 0-1 with two significant digits: 100 %, 12 %, 1.3 %, 0.068 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def score(metric: str, value: float | None) -> str:
    """Format a metric: shares as a percentage, errors in the target's own unit."""
    if value is None:
        return "–"
    return f"{value:.4g}" if metric in ("rmse", "mae", "r2", "loss") else f"{100 * value:.1f} %"
