"""State of the page in its URL, so that a link in a slide opens exactly this picture.

`?model=...&image=...&room=attention&block=7&head=3&query=4,9&lang=zh`. Every value of a URL is checked here, except
that the room exists, which `Visit` checks. An invalid value is replaced by its default: a link that half works is worth
more than an error page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args
from urllib.parse import parse_qsl

from vitexplorer.core.settings import settings
from vitexplorer.core.text import Language, SettingError, Text
from vitexplorer.core.types import Fit
from vitexplorer.service.engine import Picture
from vitexplorer.service.first_picture import first_picture
from vitexplorer.service.image_store import UPLOAD, examples
from vitexplorer.service.json_objects import NoObjectError, read_object

OTHER = ("other_image", "other_model", "other_weights", "other_fit", "other_size", "other_change")
"""Fields of the right side of the room Compare"""
COMPARED = (*OTHER, "left_change")
"""Fields of Compare in addition to the picture of the top bar"""
OF_BROWSER = (
    *("room", "head", "query", "mode", "colormap", "scale", "opacity", "smooth", "keep", "change", "design"),
    *("texts", "text", "method"),
    *COMPARED,
)
"""Fields that only the browser writes, as a person chooses them"""
OWN = "own"
"""Value of `other_size` for the model's own size"""
FIRST_CHANGE = "shuffle_patches:seed=0"
"""Change that a changed run begins with: shuffled patches, which every model can take"""
FORMER_ROOMS = {"survey": "folder"}
"""Keys of rooms by their former keys, which older links use"""
_BOTH = {"both_block": "block", "both_head": "head", "both_query": "query"}
FORMER_NAMES = {"flow": {"source": "query"}, "compare": _BOTH, "what_if": _BOTH}
"""Parameters by the names that they had in a room's older links"""

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
    "sharpen": "4|16|64",
    "target": r"[^\x00-\x1f]{1,200}",
    "fusion": "mean|max|min",
    "discard": r"0(\.\d{1,4})?",
    "start": r"\d{1,3}",
    "design": r"[A-Za-z0-9_;=./-]{1,300}",
    "change": r"[a-z0-9_:;=,.+*-]{1,4000}",
    "texts": r"[^\x00-\x1f]{1,4000}",
    "text": r"\d{1,2}|all",
    "method": "[a-z_]{1,40}",
    "other_block": r"\d{1,3}",
}
_FORMS |= {name: _FORMS[name.removeprefix("other_").removeprefix("left_")] for name in COMPARED}
_FORMS["other_size"] += f"|{OWN}"

MAX_SETTING_LENGTH = 4000
"""Characters of one setting of a view"""


@dataclass(frozen=True)
class Address:
    """State of the page in its URL; the model or the room replaces an empty string by its default."""

    image: str = ""
    model: str = ""
    weights: str = "trained"
    fit: str = "crop"
    size: str = ""
    """Size of the input in pixels, `384` or `384x512`"""
    room: str = "attention"
    block: str = ""
    head: str = ""
    query: str = ""
    target: str = ""
    """Class that is explained; a person chooses it, as block, head and query, for all rooms"""
    mode: str = ""
    colormap: str = ""
    scale: str = ""
    opacity: str = ""
    smooth: str = ""
    keep: str = ""
    """Share of the mass that the map shows"""
    sharpen: str = ""
    """Number of passes of a sharpened map; `mode` to `sharpen` are empty where the canvases show their defaults"""
    fusion: str = ""
    """Setting of the room Flow, as the next two"""
    discard: str = ""
    start: str = ""
    change: str = ""
    """Changes of the room What if, as `vx.intervene` reads them"""
    other_image: str = ""
    other_model: str = ""
    other_weights: str = ""
    other_fit: str = ""
    other_size: str = ""
    """Size on the right of Compare; an empty `other_` field is as on the left"""
    other_change: str = ""
    """Changes on the right of Compare, as `vx.intervene` reads them"""
    left_change: str = ""
    """Changes on the left of Compare"""
    other_block: str = ""
    """Block on the right of Compare; empty for the block at the same share of the depth"""
    design: str = ""
    """Model that the sliders of the room Size & cost describe"""
    texts: str = ""
    """Texts of the room Words, apart by semicolons"""
    text: str = ""
    """Text whose map that room shows: its number from 1, or `all` for the best text of each patch"""
    method: str = ""
    """Method of that map"""
    opened: int = 0
    """Number of links opened before this one since the page was loaded. A room takes the fields that a person sets in
    the browser from the first address it sees, and again from each new link"""
    language: Language = field(default="en", compare=False)
    """Language of the page; it never changes before the page is loaded again"""

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Address:
        """Read the parameters of a URL, which may be anything; missing ones are those of the page's first picture."""
        valid = _valid(parameters)
        first = {"model": settings().model, "image": next(iter(examples()))}
        first |= _valid(dict(parse_qsl(first_picture(is_free=valid.keys().isdisjoint(("image", "model"))))))
        if "model" in valid:
            first = {"image": first["image"]}  # the other defaults are meant for another model
        return cls(**{**first, **valid})

    @classmethod
    def exactly(cls, **given: str) -> Address:
        """Read the parameters of a script's request, which must all be valid.

        Raises:
            SettingError: a value is invalid; the message names the first.
        """
        stated = {name: value for name, value in given.items() if value}
        valid = _valid(stated)
        for name, value in stated.items():
            if name not in valid:
                message = Text("{name}={value} is not possible.", "{name}={value} 无效。")
                raise SettingError(message.format(name=name, value=repr(value)[:100]))
        return cls(**{"model": settings().model, **stated})

    @property
    def display(self) -> dict[str, Any]:
        """Display of maps, as fields of `CanvasData`; None for what the address does not contain."""
        shares = {"opacity": self.opacity, "keep_mass": self.keep}
        return {
            **{name: getattr(self, name) or None for name in ("mode", "colormap", "scale")},
            **{name: float(share) if share else None for name, share in shares.items()},
            "smooth": True if self.smooth else None,
            "sharpen": int(self.sharpen) if self.sharpen else None,
        }

    @property
    def picture(self) -> Picture:
        """Picture to capture; with the fit "native" the image determines the size."""
        return Picture(self.image, self.model, self.weights, self.fit, "" if self.fit == "native" else self.size)

    @property
    def other(self) -> Picture:
        """Picture on the right of Compare. Without a size it has the left one's, or another model's own."""
        model, fit = self.other_model or self.model, self.other_fit or self.fit
        size = self.other_size or (self.size if model == self.model else OWN)
        return Picture(
            self.other_image or self.image,
            model,
            self.other_weights or self.weights,
            fit,
            "" if size == OWN or fit == "native" else size,
        )

    def in_model(self, model: str) -> Address:
        """Return the address of the same image in another trained model, at that model's own size."""
        fit = "crop" if self.fit == "native" else self.fit
        return replace(self, model=model, weights="trained", fit=fit, size="")

    def parameters(self) -> dict[str, str]:
        """Return the parameters that the browser writes into its URL."""
        return {name: value for name, value in asdict(self).items() if name not in ("opened", "language")}


@dataclass(frozen=True)
class Chosen:
    """Choices of a person, in any room, in place of the defaults, as text; empty for none."""

    query: str = ""
    """Patch as row,col"""
    block: str = ""
    head: str = ""
    """Number of a head"""
    target: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Chosen:
        """Read the fields of an address or of an event."""
        forms = {"query": r"\d+,\d+", "block": r"\d+", "head": r"\d+", "target": _FORMS["target"]}
        texts = {name: str(value) for name, value in given.items() if value is not None}
        return cls(**{name: texts[name] for name, form in forms.items() if re.fullmatch(form, texts.get(name, ""))})


@dataclass(frozen=True)
class SelectedView:
    """View that a browser's address selects in a room, its settings other than the defaults, and the theme."""

    room: str = ""
    view: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    theme: str = "light"
    chosen: Chosen = Chosen()

    @classmethod
    def read(cls, text: str | None) -> SelectedView:
        """Read JSON with `search` and `theme`, which may be anything; a view checks its settings."""
        try:
            sent = read_object(text or "")
            search = str(sent["search"])
            theme = str(sent["theme"])
        except (NoObjectError, KeyError):
            return cls()
        parameters = dict(parse_qsl(search.removeprefix("?")))
        settings = tuple(
            (name.removeprefix("v."), value)
            for name, value in parameters.items()
            if re.fullmatch(r"v\.[a-z_]{1,40}", name) and len(value) <= MAX_SETTING_LENGTH
        )
        view = parameters.get("view", "")
        return cls(
            room=Address.read(parameters).room,
            view=view if re.fullmatch("[a-z_]{1,60}", view) else "",
            settings=settings,
            theme="dark" if theme == "dark" else "light",
            chosen=Chosen.of(parameters),
        )


def _valid(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the known parameters whose values match their pattern; images must be examples or uploads."""
    room = parameters.get("room", "")
    former = FORMER_NAMES.get(room, {})
    renamed = {now: parameters[name] for name, now in former.items() if name in parameters}
    parameters = {**parameters, **renamed, "room": FORMER_ROOMS.get(room, room)}
    valid = {name: value for name, form in _FORMS.items() if re.fullmatch(form, value := parameters.get(name, ""))}
    for name in ("image", "other_image"):
        image = valid.get(name, "")
        if image and image not in examples() and not image.startswith(UPLOAD):
            del valid[name]
    return valid
