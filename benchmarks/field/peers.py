"""What a person would pick instead, and whether it is installed here; `benchmarks/requirements.txt` installs all."""

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
"""name -> distribution"""
BESIDE = ("torch", "gradio", "numpy")
"""distributions whose versions are told too"""


def peers() -> dict[str, str]:
    """Name of each peer that is installed here -> its version."""
    found = {name: _version(distribution) for name, distribution in PEERS.items()}
    return {name: number for name, number in found.items() if number}


def missing() -> list[str]:
    """A line for each peer that is not installed."""
    here = peers()
    return [f"{name} is not installed here and left out." for name in PEERS if name not in here]


def versions() -> dict[str, str]:
    """What the numbers depend on: peers and the libraries beside them."""
    return {**{name: _version(name) for name in BESIDE}, **peers()}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
