"""Which maps are right where the truth is arithmetic? Every relevance view on a network that is wired by hand.

    python -m benchmarks.hand_wired

As a Markdown table: the largest error of a map as a share of the largest contribution of a patch, the number by which
the map comes closest when it is multiplied, the error that is left then, and why.
"""

from __future__ import annotations

import typer

from vitexplorer.evaluation.hand_wired import markdown, truth_table


def main() -> None:
    """Print the table."""
    print(markdown(truth_table()))


if __name__ == "__main__":
    typer.run(main)
