"""Does a map point at the right one of several objects? The grid pointing game.

Böhle, Fritz & Schiele 2021 (arXiv 2104.00032, section 4.1) and 2022 (B-cos, arXiv 2205.10268); Rao, Böhle & Schiele
2022 (arXiv 2205.10435): an image is a grid of n x n images of different classes, each of which the model classifies
surely by itself. For each class in turn the score is the positive relevance inside its cell over the positive relevance
in the whole grid, 0-1, high is good; 1 / n^2 by chance, 0 for a map without positive relevance.
The cells here are windows around objects of drawn scenes (`data.grid_cases`), since a network of fixed size takes no
larger image; the papers put whole images of the usual size beside each other.
Misleading: a model trained on one object at a time may really use all of them.
"""

from __future__ import annotations

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.evaluation.mass_accuracy import mass_accuracy
from vitexplorer.evaluation.protocol import Column, Protocol

PROTOCOL = Protocol(
    title=Text("Grid pointing game", "网格指向游戏"),
    question=Text(
        "Of several objects of different classes, does the map point at the one that is asked for?",
        "画面中有多个不同类别的物体时，该图是否指向所问的那一个？",
    ),
    columns=(Column("grid_pointing", Text("grid pointing", "网格指向"), "high"),),
    measure=lambda trial: mass_accuracy(trial.map.values, trial.map.grid, trial.case.cell),
    data="grids",
    paper=Paper("Böhle et al. 2021, section 4.1", "https://arxiv.org/abs/2104.00032"),
    suits=lambda case: case.cell is not None,
    compares_classes=True,
)
