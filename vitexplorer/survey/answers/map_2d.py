"""2D map of the images' features, by principal components or UMAP.

PCA: the two directions of largest variance of a random sample of at most `most` images (scikit-learn's PCA, exact
singular values). UMAP, if umap-learn is installed, with a fixed seed: neighbours stay neighbours, but distances between
groups mean little (McInnes et al. 2018, arXiv 1802.03426). Both use unit features, so they reflect cosines like the
other analyses.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from sklearn.decomposition import PCA

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.survey.answers.bounds import edge, is_count
from vitexplorer.survey.answers.chosen import chosen
from vitexplorer.survey.answers.features import all_directions, directions, feature_named
from vitexplorer.survey.conditions import OneOf, Where
from vitexplorer.survey.opened import Survey

MOST_POINTS, MOST_READ = 20_000, 200_000
"""Limits for the images that define the plane, and for those placed in it"""
Box = tuple[float, float, float, float]
"""Left, right, bottom and top of a part of a map, all inclusive"""
METHODS = {"pca": Text("principal components", "主成分"), "umap": Text("UMAP", "UMAP")}
NO_UMAP = Text(
    "UMAP needs a package that is not installed: pip install umap-learn. Principal components need none.",
    "UMAP 所需的软件包尚未安装：pip install umap-learn。主成分方法无需额外安装。",
)


@dataclass(frozen=True)
class Map2d:
    """Images in the plane."""

    rows: Int[np.ndarray, " images"]
    """Row numbers"""
    places: Float[np.ndarray, "images 2"]
    """Coordinates; for principal components in units of the feature length, for UMAP without a unit"""
    shares: tuple[float, float] | None
    """Share of the variance along each axis, 0-1; None for UMAP"""
    notes: tuple[Text, ...]
    plane: tuple[Float[np.ndarray, " dim"], Float[np.ndarray, "2 dim"]] | None = None
    """Origin and two directions of the plane; None for UMAP, and for fewer than three images"""


def methods_there() -> tuple[str, ...]:
    """Return the methods that are available on this machine."""
    return tuple(METHODS) if importlib.util.find_spec("umap") else ("pca",)


def map_2d(
    survey: Survey,
    feature: str | None = None,
    method: Literal["pca", "umap"] = "pca",
    where: Where = (),
    most: int = 5000,
) -> Map2d:
    """Map the features of images to the plane; of more than `most` images a random sample.

    Args:
        survey: the survey.
        feature: feature_cls, feature_mean or feature_joint; None for the first that exists.
        method: pca or umap.
        where: conditions on the images.
        most: number of images, at most `MOST_POINTS`.

    Raises:
        UnsupportedError: there are no features, or umap-learn is not installed.
        UnknownNameError: there is no such feature or method.
        SettingError: `most` is out of range.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method not in methods_there():
        raise UnsupportedError(NO_UMAP)
    if not is_count(most, 1, MOST_POINTS):
        raise SettingError(Text("Ask for 1 to {most} images.", "可取 1 到 {most} 幅图像。").format(most=MOST_POINTS))
    rows = chosen(survey, where, most)
    numbers, values = all_directions(survey, feature_named(survey, feature), rows)
    if len(numbers) < 3 or values.shape[1] < 2:
        return Map2d(numbers, np.zeros((len(numbers), 2)), None, rows.notes)
    if method == "umap":
        return Map2d(numbers, _umap(values), None, rows.notes)
    pca = PCA(n_components=2, svd_solver="full").fit(values.astype(np.float64))
    share, other = pca.explained_variance_ratio_.tolist()
    plane = pca.mean_, pca.components_
    return Map2d(numbers, _placed(values, plane), (share, other), rows.notes, plane)


def _placed(
    values: Float[np.ndarray, "images dim"], plane: tuple[Float[np.ndarray, " dim"], Float[np.ndarray, "2 dim"]]
) -> Float[np.ndarray, "images 2"]:
    return (values.astype(np.float64) - plane[0]) @ plane[1].T


def all_places(
    survey: Survey, feature: str, mapped: Map2d
) -> tuple[Int[np.ndarray, " images"], Float[np.ndarray, "images 2"]]:
    """Return rows and coordinates of every image, also outside the sample; of more than `MOST_READ` a random sample."""
    if mapped.plane is None:
        return mapped.rows, mapped.places
    parts = directions(survey, feature, chosen(survey, (), MOST_READ))
    rows, places = zip(*((rows, _placed(values, mapped.plane)) for rows, values in parts), strict=True)
    return np.concatenate(rows), np.concatenate(places)


def rows_within(rows: Int[np.ndarray, " images"], places: Float[np.ndarray, "images 2"], box: Box) -> tuple[int, ...]:
    """Return the rows in a part of the plane."""
    (x, y), (left, right, bottom, top) = places.T, map(edge, box)
    return tuple(rows[(left <= x) & (x <= right) & (bottom <= y) & (y <= top)].tolist())


def within_map(survey: Survey, feature: str, box: Box) -> OneOf:
    """Return the condition for the images in a part of the map of principal components."""
    return OneOf("row", rows_within(*all_places(survey, feature, map_2d(survey, feature)), box))


def _umap(values: Float[np.ndarray, "images dim"]) -> Float[np.ndarray, "images 2"]:
    import umap  # pyrefly: ignore

    neighbours = min(15, len(values) - 1)
    return umap.UMAP(n_neighbors=neighbours, metric="cosine", random_state=0, n_jobs=1).fit_transform(values)
