"""Libraries to compare with, and which are installed; `benchmarks/requirements.txt` installs all."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PEERS = {
    "pytorch-grad-cam": "grad-cam",
    "torchcam": "torchcam",
    "captum": "captum",
    "timm": "timm",
    "transformers": "transformers",
    "peft": "peft",
}
"""Name -> distribution"""
BESIDE = ("torch", "gradio", "numpy")
"""Further distributions whose versions are reported"""


def peers() -> dict[str, str]:
    """Return the versions of the installed peers by name."""
    versions = {name: _version(distribution) for name, distribution in PEERS.items()}
    return {name: number for name, number in versions.items() if number}


def missing() -> list[str]:
    """Return a line for each peer that is not installed."""
    here = peers()
    return [f"{name} is not installed here and left out." for name in PEERS if name not in here]


def versions() -> dict[str, str]:
    """Return the versions of the peers and of the libraries that the numbers depend on."""
    return {**{name: _version(name) for name in BESIDE}, **peers()}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
