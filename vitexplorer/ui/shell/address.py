"""The state of the page as it stands in the URL: a link in a slide opens the very picture.

`?model=...&image=...&room=attention&block=7&head=3&query=4,9&lang=zh`. Whatever a URL says is checked here, but for
whether there is such a room, which `Visit` knows; a value that cannot be is replaced by its default, since a link that
half works is worth more than an error page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args
from urllib.parse import parse_qsl

from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Fit
from vitexplorer.service.engine import Picture
from vitexplorer.service.image_store import UPLOAD, examples
from vitexplorer.service.json_objects import NoObjectError, read_object

OTHER = ("other_image", "other_model", "other_weights", "other_fit", "other_size", "other_change")
"""what the room Compare shows on the right"""
COMPARED = (*OTHER, "left_change")
"""what it shows beside the picture of the bar"""
OF_BROWSER = (
    *("room", "head", "query", "mode", "colormap", "scale", "opacity", "smooth", "keep", "change", "design"),
    *COMPARED,
)
"""what the browser alone writes, as a person chooses it"""
OWN = "own"
"""as a size: the model's own"""
FIRST_CHANGE = "shuffle_patches:seed=0"
"""what a changed run begins with: every model can be given a puzzle"""
FORMER_ROOMS = {"survey": "folder"}
"""Rooms by the name that older links have for them."""

_FORMS = {
    "image": rf"({UPLOAD}[0-9a-f]{{64}})|[a-z0-9_]+",
    "model": r"[A-Za-z0-9_.]{1,100}",
    "weights": "trained|random",
    "fit": "|".join(get_args(Fit)),
    "size": r"\d{1,9}(x\d{1,9})?",
    "room": "[a-z_]{1,40}",
    "block": r"\d{1,3}",
    "head": r"mean|max|min|\d{1,3}",
    "query": r"cls|dist|mean|\d{1,4},\d{1,4}",
    "mode": "overlay|map|reveal",
    "colormap": "viridis|magma|cividis|inferno|greys",
    "scale": "map|heads|block",
    "opacity": r"[01]|0\.\d{1,2}",
    "smooth": "1",
    "keep": r"[01]|0\.\d{1,2}",
    "source": r"cls|dist|mean|\d{1,4},\d{1,4}",
    "fusion": "mean|max|min",
    "discard": r"0(\.\d{1,4})?",
    "start": r"\d{1,3}",
    "design": r"[A-Za-z0-9_;=./-]{1,300}",
    "change": r"[a-z0-9_:;=,.+*-]{1,4000}",
    "both_block": r"\d{1,3}",
    "both_head": r"mean|max|min|\d{1,3}",
    "both_query": r"cls|dist|mean|\d{1,4},\d{1,4}",
    "other_block": r"\d{1,3}",
}
_FORMS |= {name: _FORMS[name.removeprefix("other_").removeprefix("left_")] for name in COMPARED}
_FORMS["other_size"] += f"|{OWN}"


MOST_LETTERS = 4000
"""of one setting"""


@dataclass(frozen=True)
class Address:
    """State of the page in its URL; an empty string is left to the model or the room."""

    image: str = ""
    model: str = ""
    weights: str = "trained"
    fit: str = "crop"
    size: str = ""
    """of the input in pixels, `384` or `384x512`"""
    room: str = "attention"
    block: str = ""
    head: str = ""
    query: str = ""
    mode: str = ""
    colormap: str = ""
    scale: str = ""
    opacity: str = ""
    smooth: str = ""
    keep: str = ""
    """how the canvases show their maps, as far as it is not how they begin"""
    source: str = ""
    """the query of the room Flow; and its settings:"""
    fusion: str = ""
    discard: str = ""
    start: str = ""
    change: str = ""
    """changes of the room What if, as `vx.intervene` reads them"""
    both_block: str = ""
    both_head: str = ""
    both_query: str = ""
    """what is looked at in both runs of that room"""
    other_image: str = ""
    other_model: str = ""
    other_weights: str = ""
    other_fit: str = ""
    other_size: str = ""
    """what Compare shows on the right; what is empty is as on the left"""
    other_change: str = ""
    """what is changed there, as `vx.intervene` reads it"""
    left_change: str = ""
    """what is changed on its left"""
    other_block: str = ""
    """that is shown there; empty for the one at the same share of the depth"""
    design: str = ""
    """what the sliders of the room Size & cost describe"""
    opened: int = 0
    """how many links were opened before this one, in a page that was loaded once: a room takes from the address what a
    person sets in the browser when it first sees it, and again when it is another link's"""

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Address:
        """From the parameters of a URL, which may say anything; what it does not name is what the page shows first."""
        given, first = _understood(parameters), _understood(dict(parse_qsl(settings().first)))
        first = {"model": settings().model, "image": next(iter(examples())), **first}
        if "model" in given:
            first = {"image": first["image"]}  # the rest was said of another model
        return cls(**{**first, **given})

    @classmethod
    def exactly(cls, **given: str) -> Address:
        """Address of a script, which is told of what cannot be. Raises SettingError, naming the first."""
        said = {name: value for name, value in given.items() if value}
        understood = _understood(said)
        for name in (name for name in said if name not in understood):
            raise SettingError(
                Text("{name}={value} is not possible.", "{name}={value} 无效。").format(
                    name=name, value=repr(said[name])[:100]
                )
            )
        return cls(**{"model": settings().model, **said})

    @property
    def display(self) -> dict[str, Any]:
        """Display of maps, as fields of `CanvasData`; None where the address does not say."""
        shares = {"opacity": self.opacity, "keep_mass": self.keep}
        return {
            **{name: getattr(self, name) or None for name in ("mode", "colormap", "scale")},
            **{name: float(share) if share else None for name, share in shares.items()},
            "smooth": True if self.smooth else None,
        }

    @property
    def picture(self) -> Picture:
        """Picture to capture; under fit "native" the picture has the size."""
        return Picture(self.image, self.model, self.weights, self.fit, "" if self.fit == "native" else self.size)

    @property
    def other(self) -> Picture:
        """Right side of Compare. A size that is not named is the left one's, of another model its own."""
        model, fit = self.other_model or self.model, self.other_fit or self.fit
        size = self.other_size or (self.size if model == self.model else OWN)
        return Picture(
            self.other_image or self.image,
            model,
            self.other_weights or self.weights,
            fit,
            "" if size == OWN or fit == "native" else size,
        )

    def parameters(self) -> dict[str, str]:
        """For the browser to write into its URL."""
        return {name: value for name, value in asdict(self).items() if name != "opened"}


@dataclass(frozen=True)
class ShownView:
    """The view that a browser's address names in a room, its settings that are not the defaults, and the theme."""

    room: str = ""
    view: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    theme: str = "light"

    @classmethod
    def read(cls, said: str) -> ShownView:
        """From JSON with `search` and `theme`, which may say anything; a view checks its settings."""
        try:
            sent = read_object(said or "")
            search, theme = str(sent["search"]), str(sent["theme"])
        except (NoObjectError, KeyError):
            return cls()
        parameters = dict(parse_qsl(search.removeprefix("?")))
        settings = tuple(
            (name.removeprefix("v."), value)
            for name, value in parameters.items()
            if re.fullmatch(r"v\.[a-z_]{1,40}", name) and len(value) <= MOST_LETTERS
        )
        view = parameters.get("view", "")
        return cls(
            room=Address.read(parameters).room,
            view=view if re.fullmatch("[a-z_]{1,60}", view) else "",
            settings=settings,
            theme="dark" if theme == "dark" else "light",
        )


def _understood(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters that are known and have a form that they can have; an image that there can be."""
    room = parameters.get("room", "")
    parameters = {**parameters, "room": FORMER_ROOMS.get(room, room)}
    given = {name: value for name, form in _FORMS.items() if re.fullmatch(form, value := parameters.get(name, ""))}
    for name in ("image", "other_image"):
        image = given.get(name, "")
        if image and image not in examples() and not image.startswith(UPLOAD):
            del given[name]
    return given
