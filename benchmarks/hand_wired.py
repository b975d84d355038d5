"""Errors of every relevance view on a network wired by hand, whose true relevance follows by arithmetic.

    python -m benchmarks.hand_wired

Prints a Markdown table: the largest error of a map as a share of the largest contribution of a patch, the factor that
brings the map closest to the truth, the remaining error, and the reason.
"""

from __future__ import annotations

import typer

from vitexplorer.evaluation.hand_wired import markdown, truth_table


def main() -> None:
    """Print the table."""
    print(markdown(truth_table()))


if __name__ == "__main__":
    typer.run(main)
