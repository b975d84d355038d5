"""Which images lie together? The features in the plane, by principal components or by UMAP.

PCA: the two directions of largest variance of a random sample of at most `most` images (scikit-learn's PCA, exact
singular values); UMAP: neighbours stay neighbours, distances between groups say little (McInnes et al. 2018,
arXiv 1802.03426), where umap-learn is installed; its seed is fixed. Both take features of length 1, so that they speak
of cosines as the other answers do.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from sklearn.decomposition import PCA

from vitexplorer.errors import SettingError, UnsupportedError
from vitexplorer.registry import unknown_name
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import all_directions, feature_named
from vitexplorer.survey.conditions import Where
from vitexplorer.survey.opened import Survey
from vitexplorer.words import Text

MOST_POINTS = 20_000
METHODS = {"pca": Text("principal components", "主成分"), "umap": Text("UMAP", "UMAP")}
NO_UMAP = Text(
    "UMAP needs a package that is not installed: pip install umap-learn. Principal components need none.",
    "UMAP 所需的软件包尚未安装：pip install umap-learn。主成分方法无需额外安装。",
)


@dataclass(frozen=True)
class Map2d:
    """Images in the plane."""

    rows: Int[np.ndarray, " images"]
    """numbers of the rows"""
    places: Float[np.ndarray, "images 2"]
    """without a unit; of principal components, in lengths of the features"""
    shares: tuple[float, float] | None
    """of the variance that lies along either axis, 0-1; None for UMAP"""
    notes: tuple[Text, ...]


def methods_there() -> tuple[str, ...]:
    """The methods that can be asked for on this machine."""
    return tuple(METHODS) if importlib.util.find_spec("umap") else ("pca",)


def map_2d(
    survey: Survey,
    feature: str | None = None,
    method: Literal["pca", "umap"] = "pca",
    where: Where = (),
    most: int = 5000,
) -> Map2d:
    """Features of images in the plane; of more than `most` images a random sample.

    Args:
        survey: which survey.
        feature: feature_cls or feature_mean; None for the first there is.
        method: pca or umap.
        where: which images.
        most: images, at most `MOST_POINTS`.

    Raises UnsupportedError without features or umap-learn, UnknownNameError, SettingError.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method not in methods_there():
        raise UnsupportedError(NO_UMAP)
    if not 1 <= most <= MOST_POINTS:
        raise SettingError(Text("Ask for 1 to {most} images.", "可取 1 到 {most} 张图像。").format(most=MOST_POINTS))
    rows = chosen(survey, where, most)
    numbers, values = all_directions(survey, feature_named(survey, feature), rows)
    if len(numbers) < 3 or values.shape[1] < 2:
        return Map2d(numbers, np.zeros((len(numbers), 2)), None, rows.notes)
    if method == "umap":
        return Map2d(numbers, _umap(values), None, rows.notes)
    pca = PCA(n_components=2, svd_solver="full").fit(values.astype(np.float64))
    share, other = pca.explained_variance_ratio_.tolist()
    return Map2d(numbers, pca.transform(values.astype(np.float64)), (share, other), rows.notes)


def _umap(values: Float[np.ndarray, "images dim"]) -> Float[np.ndarray, "images 2"]:
    import umap  # pyrefly: ignore

    neighbours = min(15, len(values) - 1)
    return umap.UMAP(n_neighbors=neighbours, metric="cosine", random_state=0, n_jobs=1).fit_transform(values)
